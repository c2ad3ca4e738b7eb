// Ghost's own renderer of its HTML card, in a page without Ghost.
import { type Host, onePage, waysOf } from '../support/host.ts';

export const ghost: Host = {
  title: 'Ghost (its card renderer)',
  node22: true,
  ways: waysOf('ghost', ['script', 'iframe']),
  async build(site) {
    const cards = site.post('html').split(/(?=<h2>)/);
    site.write('cards.json', JSON.stringify(cards));
    await site.run('node', ['render.mjs']);
    return onePage(site, 'public', '');
  },
};
