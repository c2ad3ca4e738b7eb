// Eleventy, whose Markdown is markdown-it.
import { type Host, onePage, waysOf } from '../support/host.ts';

export const eleventy: Host = {
  title: 'Eleventy',
  ways: waysOf('markdown', ['script', 'iframe', 'markdown']),
  async build(site) {
    site.write('src/index.md', `---\ntitle: A post\nlayout: post.html\n---\n\n${site.post('markdown')}`);
    await site.run('node', [
      'node_modules/@11ty/eleventy/cmd.cjs',
      '--input=src',
      '--output=_site',
      '--quiet',
    ]);
    return onePage(site, '_site', '');
  },
};
