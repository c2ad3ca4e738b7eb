// VitePress: Markdown that becomes a Vue component, with a switch that sets a class.
import { type Host, onePage, waysOf } from '../support/host.ts';

export const vitepress: Host = {
  title: 'VitePress',
  ways: waysOf('vitepress', ['script', 'iframe', 'markdown']),
  async build(site) {
    const script = site.piece('vitepress', 'script', /config/);
    const frame = site.piece('vitepress', 'iframe', /config/);
    // Two snippets have a head each; an author has one head, with both in it.
    const tag = (text: string) => text.match(/^head: \[(.*)\],$/m)?.[1];
    const config = script.replace(/^head:.*$/m, `head: [${tag(script)}, ${tag(frame)}],`);
    site.write(
      '.vitepress/config.mjs',
      `import { defineConfig } from 'vitepress';\nexport default defineConfig({\ntitle: 'Notes',\n${config}});\n`,
    );
    site.write('index.md', `# A page\n\n${site.post('markdown')}`);
    await site.run('node', ['node_modules/vitepress/bin/vitepress.js', 'build']);
    return onePage(site, '.vitepress/dist', '');
  },
  dark: (dark) => document.documentElement.classList.toggle('dark', dark),
};
