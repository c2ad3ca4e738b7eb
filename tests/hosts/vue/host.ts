// A Vue app built by Vite, with superpose/embed from the package, type-checked.
import { type Host, onePage, waysOf } from '../support/host.ts';

export const vue: Host = {
  title: 'Vue',
  ways: waysOf('vue', ['script']),
  async build(site) {
    site.putPackage();
    site.write(
      'src/superpose.ts',
      site.piece('vue', 'script', /module/).replace('superpose/embed', 'superpose/embed/vue'),
    );
    const plugin = site.piece('vue', 'script', /vite/);
    site.write(
      'vite.config.mjs',
      `import vue from '@vitejs/plugin-vue';\nexport default { plugins: [\n${plugin}] };\n`,
    );
    site.write(
      'src/Post.vue',
      `<script setup lang="ts">
import type { FigureChange } from 'superpose/embed/vue';

const heard = (event: CustomEvent<FigureChange>) => document.body.setAttribute('data-heard', String(event.detail.state.n));
</script>
<template><main><h1>A post</h1>
${site.post('html').replace('<superpose-figure ', '<superpose-figure @change="heard" ')}
</main></template>
`,
    );
    site.write(
      'src/main.ts',
      `import './superpose';\nimport { createApp } from 'vue';\nimport Post from './Post.vue';\n\ncreateApp(Post).mount('#app');\n`,
    );
    await site.run('node', ['node_modules/vue-tsc/bin/vue-tsc.js', '-p', '.']);
    await site.run('node', ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn']);
    return onePage(site, 'dist', '');
  },
};
