// Builds figures/NAME/: each figure as a page in one file, for frames and for saving.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { escaped } from '../../plot/svg.js';
import { siteAddress } from './address.js';
import { figureNames, headless, renderFigure } from './figures.js';
import { singlePage } from './singlePage.js';

const root = resolve(import.meta.dirname, '../../..');
const card = { width: 1200, height: 630 };

export function figurePages(dist: string): Plugin {
  return {
    name: 'figure-pages',
    apply: 'build',
    async writeBundle() {
      const script = readFileSync(resolve(root, 'build/single/single.js'), 'utf8');
      for (const name of await figureNames()) {
        const { rendered, excerpt, placeholder } = await renderFigure(name);
        const folder = resolve(dist, 'figures', name);
        mkdirSync(folder, { recursive: true });
        const { title } = rendered.figure;
        const finding = rendered.figure.describe(rendered.data, rendered.state);
        const picture = (size: string) => placeholder.pictures[`${name}-${size}.svg`] as string;
        const html = singlePage({
          title: `${title} · Superpose`,
          description: finding,
          page: { figure: name, settings: [], module: rendered.figure.module, home: '../../', excerpt },
          pictures: { narrow: picture('narrow'), wide: picture('wide') },
          finding,
          script,
          ...(await cardHead(name, title, finding, folder)),
        });
        writeFileSync(resolve(folder, 'index.html'), html);
      }
    },
  };
}

/** The canonical link and the tags of its card for the head; nothing without the site's address. */
async function cardHead(name: string, title: string, finding: string, folder: string) {
  const home = siteAddress();
  if (!home) return {};
  const { rasterised, toSvg } = await headless();
  const { rendered } = await renderFigure(name);
  const address = `${home}figures/${name}/`;
  const svg = await toSvg(rendered, card.width, 'light');
  const png = await rasterised(svg, 1);
  if (png) writeFileSync(resolve(folder, 'card.png'), png);
  const height = Math.round(rendered.figure.scene(rendered.data, rendered.state, card.width).height);
  return {
    head: `
    <link rel="canonical" href="${address}" />
    ${cardTags(address, title, finding, png && { address: `${address}card.png`, width: card.width, height })}`,
  };
}

/** Sizes are in pixels, and missing where they are not known. */
interface CardPicture {
  address: string;
  width?: number;
  height?: number;
}

export function cardTags(
  address: string,
  title: string,
  description: string,
  picture?: CardPicture | undefined,
): string {
  const tags = [
    ['og:type', 'website'],
    ['og:url', address],
    ['og:title', title],
    ['og:description', description],
    ...(picture ? [['og:image', picture.address]] : []),
    ...(picture?.width ? [['og:image:width', `${picture.width}`]] : []),
    ...(picture?.height ? [['og:image:height', `${picture.height}`]] : []),
  ].map(([property, content = '']) => `<meta property="${property}" content="${escaped(content)}" />`);
  return [...tags, `<meta name="twitter:card" content="summary_large_image" />`].join('\n    ');
}
