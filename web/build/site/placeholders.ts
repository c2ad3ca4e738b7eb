// Puts into each figure of a page the picture of its first view, drawn by the figure's own code, and into
// each card its summary.
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { captionOf } from '../../plot/format.js';
import { escaped } from '../../plot/svg.js';
import { upFrom } from '../places.js';
import { figureNames, type RenderedFigure, renderFigure } from './figures.js';

/**
 * What a closed card shows: the figure's finding and title. In a card with a bet, the part of the finding
 * after a semicolon answers the bet: page.css hides that part until the bet is made.
 */
function summaryOf({ rendered: { figure, data, state } }: RenderedFigure, hasBet: boolean): string {
  const finding = escaped(captionOf(figure.describe(data, state))[0]);
  const shown = hasBet ? finding.replace(/; .*(?=\.$)/, '<span class="after-bet">$&</span>') : finding;
  return `<span class="card-finding">${shown}</span><h4>${escaped(figure.title)}</h4>`;
}

export function placeholders(dist: string, version: string): Plugin {
  return {
    name: 'placeholders',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      async handler(html, { path }) {
        const empty = /<superpose-figure name="([a-z0-9-]+)"([^>]*)><\/superpose-figure>/g;
        const inside = new Map<string, string>();
        const titles = new Map<string, string>();
        const known = await figureNames();
        for (const [, name = ''] of html.matchAll(empty)) {
          if (!known.includes(name)) continue;
          const { placeholder, rendered } = await renderFigure(name);
          inside.set(name, placeholder.html.replaceAll('./pictures/', `${upFrom(path)}pictures/`));
          titles.set(name, `<h3 slot="title">${escaped(rendered.figure.title)}</h3>`);
        }
        const cards = new Map<string, string>();
        for (const [, name = ''] of html.matchAll(/<check-card name="([a-z0-9-]+)">/g)) {
          const hasBet = new RegExp(`<check-card name="${name}">\\s*<div class="bet"`).test(html);
          cards.set(
            name,
            known.includes(name) ? summaryOf(await renderFigure(name), hasBet) : `<h4>${name}</h4>`,
          );
        }
        return html
          .replace(empty, (_, name: string, rest: string) => {
            // In a card, the summary already has the title.
            const title = cards.has(name) ? '' : (titles.get(name) ?? '');
            return `<superpose-figure name="${name}"${rest}>${title}${inside.get(name) ?? ''}</superpose-figure>`;
          })
          .replace(
            /<check-card name="([a-z0-9-]+)">/g,
            (_, name: string) =>
              `<details class="check" id="check-${name}"><summary>${cards.get(name)}</summary>`,
          )
          .replaceAll('</check-card>', '</details>');
      },
    },
    async writeBundle() {
      const out = resolve(dist, 'pictures');
      // Pictures that other pages show are also stored under addresses that later versions leave alone.
      const pinned = resolve(out, version);
      mkdirSync(pinned, { recursive: true });
      for (const name of await figureNames()) {
        const { placeholder } = await renderFigure(name);
        for (const [file, svg] of Object.entries(placeholder.pictures)) {
          writeFileSync(resolve(out, file), svg);
          if (/-(narrow|wide)\.svg$/.test(file)) writeFileSync(resolve(pinned, file), svg);
        }
      }
    },
  };
}
