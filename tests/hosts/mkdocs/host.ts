// MkDocs with its own theme.
import { type Host, onePage, waysOf } from '../support/host.ts';

export const mkdocs: Host = {
  title: 'MkDocs',
  debian: { mkdocs: 'mkdocs' },
  ways: waysOf('markdown', ['script', 'iframe', 'markdown']),
  async build(site) {
    site.write('docs/index.md', `# A page\n\n${site.post('markdown')}`);
    await site.run('mkdocs', ['build', '--quiet', '--clean']);
    return onePage(site, 'site', '');
  },
};
