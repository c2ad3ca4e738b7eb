// A Svelte app built by Vite, with superpose/embed from the package, type-checked.
import { type Host, onePage, waysOf } from '../support/host.ts';

export const svelte: Host = {
  title: 'Svelte',
  node22: true,
  ways: waysOf('svelte', ['script']),
  async build(site) {
    site.putPackage();
    site.write(
      'src/superpose.ts',
      site.piece('svelte', 'script', /module/).replace('superpose/embed', 'superpose/embed/svelte'),
    );
    site.write(
      'src/Post.svelte',
      `<script lang="ts">
import type { FigureChange } from 'superpose/embed/svelte';

const heard = (event: CustomEvent<FigureChange>) => document.body.setAttribute('data-heard', String(event.detail.state.n));
</script>
<main><h1>A post</h1>
${site.post('html').replace('<superpose-figure ', '<superpose-figure onchange={heard} ')}
</main>
`,
    );
    site.write(
      'src/main.ts',
      `import './superpose';
import { mount } from 'svelte';
import Post from './Post.svelte';

mount(Post, { target: document.getElementById('app') as HTMLElement });
`,
    );
    await site.run('node', ['node_modules/svelte-check/bin/svelte-check', '--fail-on-warnings']);
    await site.run('node', ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn']);
    return onePage(site, 'dist', '');
  },
};
