// Astro with MDX, whose page has a switch of its own between light and dark.
import { type Host, onePage } from '../support/host.ts';

export const astro: Host = {
  title: 'Astro',
  packages: true,
  ways: ['mdx'],
  async build(site) {
    site.write(
      'src/pages/index.mdx',
      `---\nlayout: ../layouts/post.astro\ntitle: A post\n---\n\n${site.post('markdown')}`,
    );
    await site.run('node', ['node_modules/astro/bin/astro.mjs', 'build']);
    return onePage(site, 'dist');
  },
  dark: (dark) => {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  },
};
