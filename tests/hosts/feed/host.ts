// What a feed reader leaves of a post: sanitize-html's defaults, and pictures. No script, frame or element.
import { type Host, onePage } from '../support/host.ts';

export const feed: Host = {
  title: 'Feed reader',
  ways: [
    { place: 'html', kind: 'script', expected: 'picture' },
    { place: 'html', kind: 'iframe', expected: 'link' },
    { place: 'html', kind: 'svg', expected: 'picture' },
  ],
  async build(site) {
    const [, , picture] = site.pasted;
    // The picture is a file beside the post, which a feed links with its full address.
    const post = site
      .post('html')
      .replace(`src="${picture?.figure}.svg"`, `src="${site.home}pictures/${picture?.figure}-wide.svg"`);
    site.write('post.html', post);
    await site.run('node', ['strip.mjs']);
    return onePage(site, 'public', '');
  },
};
