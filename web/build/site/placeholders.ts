// Gives each figure of a page the picture of its first view, made by its own code, and each card its summary.
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { widths } from '../../node/placeholder.js';
import { escaped } from '../../plot/svg.js';
import { figureNames, type MadeFigure, madeFigure } from './figures.js';

/** Pixels of a picture that a card shows whole, and beside others in a wide window; see page.css. */
const mostShown = { tall: 290, taller: 370 };

/** What a closed card shows: the picture and the title. */
function summaryOf({ name, rendered: { figure, data, state } }: MadeFigure): string {
  const { height } = figure.scene(data, state, widths.narrow);
  const classes = Object.entries(mostShown).flatMap(([name, most]) => (height > most ? [name] : []));
  const tall = classes.length > 0 ? ` class="${classes.join(' ')}"` : '';
  return `<img${tall} src="./pictures/${name}-narrow.svg" width="${widths.narrow}" height="${Math.round(height)}" loading="lazy" alt="" /><h4>${escaped(figure.title)}</h4>`;
}

export function placeholders(dist: string): Plugin {
  return {
    name: 'placeholders',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      async handler(html) {
        const empty = /<superpose-figure name="([a-z0-9-]+)"([^>]*)><\/superpose-figure>/g;
        const inside = new Map<string, string>();
        const titles = new Map<string, string>();
        const known = await figureNames();
        for (const [, name = ''] of html.matchAll(empty)) {
          if (!known.includes(name)) continue;
          const { placeholder, rendered } = await madeFigure(name);
          inside.set(name, placeholder.html);
          titles.set(name, `<h3 slot="title">${escaped(rendered.figure.title)}</h3>`);
        }
        const cards = new Map<string, string>();
        for (const [, name = ''] of html.matchAll(/<check-card name="([a-z0-9-]+)">/g)) {
          cards.set(name, known.includes(name) ? summaryOf(await madeFigure(name)) : `<h4>${name}</h4>`);
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
      mkdirSync(out, { recursive: true });
      for (const name of await figureNames()) {
        const { pictures } = (await madeFigure(name)).placeholder;
        for (const [file, svg] of Object.entries(pictures)) writeFileSync(resolve(out, file), svg);
      }
    },
  };
}
