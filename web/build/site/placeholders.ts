// Gives each figure of a page the picture of its first view, made by its own code, and each card its summary.
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
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

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Where marks have ink, and a little more: what is around it would be a blank part of a card. */
function inkedBox(marks: readonly Mark[]): Box {
  const points = marks.flatMap((mark): [number, number][] => {
    switch (mark.mark) {
      case 'line':
        return [
          [mark.x1, mark.y1],
          [mark.x2, mark.y2],
        ];
      case 'box':
      case 'raster':
        return [
          [mark.x, mark.y],
          [mark.x + mark.width, mark.y + mark.height],
        ];
      case 'dots':
        return Array.from(mark.x, (x, k): [number, number] => [x, mark.y[k] as number]);
      case 'path':
        return pathPoints(mark.d);
      default:
        return [];
    }
  });
  const ends = (values: number[]) => [Math.min(...values) - 2, Math.max(...values) + 2] as const;
  const [left, right] = ends(points.map(([x]) => x));
  const [top, bottom] = ends(points.map(([, y]) => y));
  return { left, top, width: right - left, height: bottom - top };
}

/** A path's points, and those that its curves bend to. Pictures use these commands alone. */
function pathPoints(d: string): [number, number][] {
  let [x, y] = [0, 0];
  return [...d.matchAll(/([MLChv])([-\d., ]+)/g)].flatMap(([, command, rest = '']) => {
    const numbers = rest.match(/-?[\d.]+/g)?.map(Number) ?? [];
    if (command === 'h') x += numbers[0] as number;
    else if (command === 'v') y += numbers[0] as number;
    else
      return numbers.flatMap((to, k): [number, number][] => {
        if (k % 2 === 0) x = to;
        else y = to;
        return k % 2 === 0 ? [] : [[x, y]];
      });
    return [[x, y]];
  });
}

/** A figure's picture without words and their swatches: in a card its letters would be too small to read. */
function wordless({ figure, ...rendered }: Rendered): Rendered {
  const scene: AnyFigure['scene'] = (...asked) => {
    const { marks, ...rest } = figure.scene(...asked);
    return { ...rest, marks: marks.filter((one, k) => one.mark !== 'text' && !isSwatch(one, marks[k + 1])) };
  };
  return { ...rendered, figure: { ...figure, scene } };
}

/** What a closed card shows: a picture made for it, what it finds, and the title. */
function summaryOf({ name, rendered }: MadeFigure): string {
  const { figure, data, state } = rendered;
  const { width, height } = cardOf(rendered).box;
  const [found] = captionOf(figure.describe(data, state));
  return `<img src="./pictures/${name}-card.svg" width="${Math.round(width)}" height="${Math.round(height)}" loading="lazy" alt="" /><span class="found">${escaped(found)}</span><h4>${escaped(figure.title)}</h4>`;
}

function cardOf(rendered: Rendered): { width: number; box: Box } {
  const { figure, data, state } = wordless(rendered);
  const tried = cardWidths.map((width) => {
    const box = inkedBox(figure.scene(data, state, width).marks);
    const wider = Math.log((0.75 * box.width) / box.height);
    // One that is higher leaves half of a card blank.
    return { width, box, off: wider < 0 ? -2 * wider : wider };
  });
  return tried.reduce((best, one) => (one.off < best.off ? one : best));
}

export function placeholders(dist: string, version: string): Plugin {
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
      // Those that other pages show, again under addresses that a later version leaves alone.
      const pinned = resolve(out, version);
      mkdirSync(pinned, { recursive: true });
      for (const name of await figureNames()) {
        const { placeholder, rendered } = await madeFigure(name);
        const { pictures } = placeholder;
        const { toSvg } = await headless();
        const { width, box } = cardOf(rendered);
        pictures[`${name}-card.svg`] = (await toSvg(wordless(rendered), width, 'auto')).replace(
          / width="[^"]*" height="[^"]*" viewBox="[^"]*"/,
          ` width="${box.width}" height="${box.height}" viewBox="${box.left} ${box.top} ${box.width} ${box.height}"`,
        );
        for (const [file, svg] of Object.entries(pictures)) {
          writeFileSync(resolve(out, file), svg);
          if (/-(narrow|wide)\.svg$/.test(file)) writeFileSync(resolve(pinned, file), svg);
        }
      }
    },
  };
}
