// Astro with MDX.
import { type Host, onePage, waysOf } from '../support/host.ts';

export const astro: Host = {
  title: 'Astro',
  node22: true,
  ways: waysOf('mdx', ['script', 'iframe', 'markdown']),
  async build(site) {
    site.write(
      'src/pages/index.mdx',
      `---\nlayout: ../layouts/post.astro\ntitle: A post\n---\n\n${site.post('markdown')}`,
    );
    await site.run('node', ['node_modules/astro/bin/astro.mjs', 'build'], { ASTRO_TELEMETRY_DISABLED: '1' });
    return onePage(site, 'dist', '');
  },
  dark: (dark) => {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  },
};
