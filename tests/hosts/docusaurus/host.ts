// Docusaurus: MDX, React, and a switch that sets an attribute.
import { type Host, onePage, waysOf } from '../support/host.ts';

export const docusaurus: Host = {
  title: 'Docusaurus',
  ways: waysOf('mdx', ['script', 'iframe', 'markdown']),
  async build(site) {
    site.write('docs/index.mdx', `---\nslug: /\n---\n\n# A page\n\n${site.post('markdown')}`);
    await site.run('node', ['node_modules/@docusaurus/core/bin/docusaurus.mjs', 'build'], { CI: 'true' });
    return onePage(site, 'build', '');
  },
  dark: (dark) => {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  },
};
