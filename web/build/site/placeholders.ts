// Gives each figure of a page the picture of its first view, made by its own code, and each card its summary.
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import type { State } from '../../figures/controls.js';
import type { AnyFigure } from '../../figures/figure.js';
import type { Rendered } from '../../node/render.js';
import { captionOf } from '../../plot/format.js';
import type { Mark } from '../../plot/scene.js';
import { escaped } from '../../plot/svg.js';
import { figureNames, headless, type MadeFigure, madeFigure } from './figures.js';

/** Widths that a card's picture is tried in: the one that comes nearest to four by three shows all of it. */
const cardWidths = [350, 420, 500, 600, 700, 800, 900, 1048];

/** Swatches of keys stand before their words. */
const isSwatch = (mark: Mark, next: Mark | undefined): boolean =>
  next?.mark === 'text' &&
  ((mark.mark === 'line' && mark.x2 - mark.x1 === 22) || (mark.mark === 'box' && mark.width === 14));

/** A figure's picture without words and their swatches: in a card its letters would be too small to read. */
function wordless({ figure, ...rendered }: Rendered): Rendered {
  const scene: AnyFigure['scene'] = (...asked) => {
    const { marks, ...rest } = figure.scene(...asked);
    return { ...rest, marks: marks.filter((one, k) => one.mark !== 'text' && !isSwatch(one, marks[k + 1])) };
  };
  return { ...rendered, figure: { ...figure, scene } };
}

/** What a closed card shows: a picture made for it, what it finds, and the title. */
function summaryOf({ name, rendered: { figure, data, state } }: MadeFigure): string {
  const width = cardWidth(figure, data, state);
  const { height } = figure.scene(data, state, width);
  const [found] = captionOf(figure.describe(data, state));
  return `<img src="./pictures/${name}-card.svg" width="${width}" height="${Math.round(height)}" loading="lazy" alt="" /><span class="found">${escaped(found)}</span><h4>${escaped(figure.title)}</h4>`;
}

function cardWidth(figure: AnyFigure, data: unknown, state: State): number {
  const off = (width: number) => Math.abs(Math.log((0.75 * width) / figure.scene(data, state, width).height));
  return [...cardWidths].sort((one, other) => off(one) - off(other))[0] as number;
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
        const { placeholder, rendered } = await madeFigure(name);
        const { pictures } = placeholder;
        const { figure, data, state } = rendered;
        const { toSvg } = await headless();
        pictures[`${name}-card.svg`] = await toSvg(
          wordless(rendered),
          cardWidth(figure, data, state),
          'auto',
        );
        for (const [file, svg] of Object.entries(pictures)) writeFileSync(resolve(out, file), svg);
      }
    },
  };
}
