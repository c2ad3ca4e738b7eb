// Third-party consumers of oEmbed and cards, unfurl.js and open-graph-scraper, given the link from the Embed
// dialog, and the frame that unfurl.js finds in a page.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { figurePages } from '../../../web/build/site/figurePages.ts';
import { findingOf } from '../../embed/support/figures.ts';
import { type Host, onePage, type Pasted } from '../support/host.ts';

const figure = 'three-concats';

export const oembed: Host = {
  title: 'oEmbed (unfurl.js, open-graph-scraper)',
  ways: [],
  async build(site) {
    // The pages of figures, as a build with SUPERPOSE_URL makes them.
    const hosted = await site.serve('hosted');
    try {
      process.env.SUPERPOSE_URL = hosted.address;
      const { closeBundle } = figurePages(join(site.folder, 'hosted'));
      await (closeBundle as () => Promise<void>)();
      delete process.env.SUPERPOSE_URL;
      const finding = await findingOf(figure);
      const link = `${hosted.address}figures/${figure}/`;
      const said: Said = JSON.parse(await site.run('node', ['consume.mjs', `${link}#v=1&figure=${figure}`]));
      check(
        said,
        hosted.address,
        finding,
        readFileSync(join(site.folder, `hosted/figures/${figure}/card.png`)),
      );
      const pasted: Pasted = {
        place: 'link',
        kind: 'link',
        expected: 'live',
        pieces: [],
        text: said.oEmbed.html,
        figure,
        settings: {},
        finding,
        link,
      };
      site.write(
        'public/index.html',
        `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>A post</title><body><main>${site.post('html', [pasted])}</main>`,
      );
      const { pages, stop } = await onePage(site, 'public', '');
      return {
        pages: pages.map((page) => ({ ...page, ways: [pasted] })),
        stop: async () => {
          await stop();
          await hosted.stop();
        },
      };
    } catch (error) {
      await hosted.stop();
      throw error;
    }
  },
};

interface Said {
  title: string;
  description: string;
  oEmbed: {
    type: string;
    html: string;
    width: number;
    height: number;
    thumbnails: { url: string; width: number; height: number }[];
  };
  open_graph: { url: string; images: { url: string }[] };
  twitter_card: { card: string };
  /** What open-graph-scraper found. */
  card: {
    ogUrl: string;
    ogTitle: string;
    ogDescription: string;
    ogImage: { url: string; width: string; height: string }[];
    twitterCard: string;
  };
}

/** What it found matches the page, and the card is a picture of the stated size. */
function check(said: Said, home: string, finding: string, picture: Buffer): void {
  const { title, oEmbed, open_graph, twitter_card, card } = said;
  const address = `${home}figures/${figure}/`;
  const [thumbnail] = oEmbed.thumbnails;
  // The first block of a PNG has its size.
  const [width, height] = [picture.readUInt32BE(16), picture.readUInt32BE(20)];
  const found = {
    titled: title.endsWith(' · Superpose'),
    rich: oEmbed.type,
    framed: oEmbed.html.includes(`src="${address}"`),
    sized: oEmbed.html.includes(`width="${oEmbed.width}" height="${oEmbed.height}"`),
    canonical: open_graph.url,
    image: open_graph.images[0]?.url,
    thumbnail: thumbnail?.url,
    pixels: [thumbnail?.width, thumbnail?.height],
    card: twitter_card.card,
    other: [card.ogUrl, card.ogTitle, card.ogDescription, card.twitterCard],
    pictures: card.ogImage.map((one) => [one.url, one.width, one.height]),
  };
  const wanted = {
    titled: true,
    rich: 'rich',
    framed: true,
    sized: true,
    canonical: address,
    image: `${address}card.png`,
    thumbnail: `${address}card.png`,
    pixels: [width, height],
    card: 'summary_large_image',
    other: [address, title.replace(' · Superpose', ''), finding, 'summary_large_image'],
    pictures: [[`${address}card.png`, `${width}`, `${height}`]],
  };
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new Error(`They found ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}
