// Jekyll, whose Markdown is kramdown, with a layout that is light whatever the reader prefers.
import { type Host, onePage, waysOf } from '../support/host.ts';

export const jekyll: Host = {
  title: 'Jekyll',
  debian: { jekyll: 'jekyll' },
  ways: [...waysOf('markdown', ['script', 'iframe', 'markdown']), ...waysOf('jekyll', ['script'])],
  async build(site) {
    site.write('_includes/superpose.html', site.piece('jekyll', 'script', /_includes/));
    site.write(
      '_posts/2026-01-01-post.md',
      `---\nlayout: post\ntitle: A post\n---\n\n${site.post('markdown')}`,
    );
    await site.run('jekyll', ['build', '--quiet', '--destination', '_site']);
    return onePage(site, '_site', '2026/01/01/post.html');
  },
};
