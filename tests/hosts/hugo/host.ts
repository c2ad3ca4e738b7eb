// Hugo, with raw HTML in Markdown allowed, and with the shortcode that needs no such permission.
import { type Host, onePage, waysOf } from '../support/host.ts';

export const hugo: Host = {
  title: 'Hugo',
  debian: { hugo: 'hugo' },
  ways: [...waysOf('markdown', ['script', 'iframe', 'markdown']), ...waysOf('hugo', ['script'])],
  async build(site) {
    // Lighthouse measures a post without it, too.
    if (site.pasted.some(({ place }) => place === 'hugo'))
      site.write('layouts/shortcodes/superpose.html', site.piece('hugo', 'script', /shortcodes/));
    site.write('content/post.md', `---\ntitle: A post\n---\n\n${site.post('markdown')}`);
    await site.run('hugo', ['--quiet', '--cleanDestinationDir']);
    return onePage(site, 'public', 'post/');
  },
};
