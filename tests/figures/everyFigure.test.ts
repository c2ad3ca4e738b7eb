// What holds for every figure, tested on views that are computed once: the opening one, every choice, and
// both ends of its settings.

import { describe, expect, inject, test } from 'vitest';
import { initialState, readState, type State } from '../../web/figures/controls.ts';
import type { AnyFigure, DataTable, ReadoutPiece } from '../../web/figures/figure.ts';
import { figures } from '../../web/figures/index.ts';
import { channelsOf, inks, rasterPixels, type Theme } from '../../web/plot/colour.ts';
import { csvOf } from '../../web/plot/csv.ts';
import { captionOf } from '../../web/plot/format.ts';
import type { Ink, Mark, RasterMark, TextMark } from '../../web/plot/scene.ts';
import { computeOf } from '../../web/worker/answers.ts';
import { loaded, shorter } from './support.ts';

type Colour = number[];

/** Relative luminance and contrast, as WCAG 2.2 defines them. */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
function contrast(first: Colour, second: Colour): number {
  const [high = 0, low = 0] = [luminance(first), luminance(second)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

const over = (top: Colour, opacity: number, under: Colour): Colour =>
  top.map((channel, place) => opacity * channel + (1 - opacity) * (under[place] as number));

/** The colour of a raster's cell at a point. */
function cellAt(raster: RasterMark, x: number, y: number, theme: Theme): Colour {
  const { rows, columns, width, height } = raster;
  const at = (part: number, length: number, count: number) =>
    Math.min(count - 1, Math.floor((part / length) * count));
  const cell = at(y - raster.y, height, rows) * columns + at(x - raster.x, width, columns);
  return [...new Uint8Array(rasterPixels(raster, theme).slice(cell, cell + 1).buffer)].slice(0, 3);
}

/** The colour under a point: the paper, and the boxes and rasters drawn on it before. */
function under(marks: readonly Mark[], end: number, x: number, y: number, theme: Theme): Colour {
  let colour = channelsOf(inks[theme].paper);
  for (const mark of marks.slice(0, end)) {
    if (mark.mark !== 'raster' && (mark.mark !== 'box' || !mark.fill)) continue;
    const inside = x >= mark.x && x <= mark.x + mark.width && y >= mark.y && y <= mark.y + mark.height;
    if (!inside) continue;
    colour =
      mark.mark === 'raster'
        ? over(cellAt(mark, x, y, theme), mark.faint ? 0.15 : 1, colour)
        : over(channelsOf(inks[theme][mark.fill as Ink]), mark.opacity ?? 1, colour);
  }
  return colour;
}

const middleOf = ({ x, y, text, size = 13, anchor }: TextMark): [number, number] => {
  const half = 0.25 * size * text.length;
  return [anchor === 'middle' ? x : anchor === 'end' ? x - half : x + half, y - 0.35 * size];
};

/** Frames, grids and backgrounds carry no number. */
const grounds: Ink[] = ['line', 'field', 'paper'];
/** Marks paler than this are shading beside or below a mark that is not pale. */
const palest = 0.5;

/** The ink of a mark that carries meaning, and its opacity. */
function meaning(mark: Mark): { ink: Ink; opacity: number } | undefined {
  if (mark.mark === 'raster' || mark.mark === 'text') return undefined;
  const ink = mark.mark === 'line' || mark.mark === 'dots' ? mark.ink : (mark.stroke ?? mark.fill);
  const opacity = mark.mark === 'line' ? 1 : (mark.opacity ?? 1);
  return ink && !grounds.includes(ink) && opacity >= palest ? { ink, opacity } : undefined;
}

/** What has too little contrast in a view, on a phone and on the page. */
function palePlaces(figure: AnyFigure, data: unknown, state: State, theme: Theme): string[] {
  const faults = [350, 965].flatMap((width) => {
    const { marks } = figure.scene(data, state, width);
    return marks.flatMap((mark, place) => {
      if (mark.mark === 'text') {
        const [x, y] = middleOf(mark);
        const ratio = contrast(
          channelsOf(inks[theme][mark.ink ?? 'quiet']),
          under(marks, place, x, y, theme),
        );
        return ratio < 4.5 ? [`“${mark.text}” ${mark.ink}: ${ratio.toFixed(2)}`] : [];
      }
      const means = meaning(mark);
      if (!means) return [];
      const paper = channelsOf(inks[theme].paper);
      const ratio = contrast(over(channelsOf(inks[theme][means.ink]), means.opacity, paper), paper);
      return ratio < 3 ? [`${mark.mark} ${means.ink} at ${means.opacity}: ${ratio.toFixed(2)}`] : [];
    });
  });
  return [...new Set(faults)];
}

// Singular and plural agree: no sentence of a figure contains “1 directions”.
/** A 1 that counts something: not part of a longer number, nor the second of two that share a noun. */
const countOfOne = String.raw`(?<!\band |[\d.,^=≈×−–-] ?)\b1 `;
/** A plural noun after such a 1, with up to two words in between. */
const many = new RegExp(
  `${countOfOne}(?:(?!(?:for|of|in|at|on|is|to|with) )[a-z]+ ){0,2}[a-z]{2,}(?<!s|thi|i|wa|les|look)s\\b`,
);
/** A plural verb after such a 1. */
const agrees = new RegExp(
  `${countOfOne}(?:[a-z]+ |of [\\d,]+ [a-z]+ )?(?:hold|are|have|move|attend|stand|vary)\\b`,
);

const textOf = (pieces: ReadoutPiece[]) =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');

/**
 * Whether a figure trains models; at the ends of its settings it would take seconds, so its first settings
 * must do.
 */
const trains = (figure: AnyFigure) => figure.live !== undefined;

/** The numeric settings, at one end. */
function ends(figure: AnyFigure, end: 'smallest' | 'largest'): [string, number][] {
  return Object.entries(figure.controls as Record<string, { kind: string }>).flatMap(([name, control]) => {
    if (control.kind === 'range') {
      const { min, max } = control as unknown as { min: number; max: number };
      return [[name, end === 'smallest' ? min : max] as [string, number]];
    }
    if (control.kind !== 'steps') return [];
    const { values } = control as unknown as { values: number[] };
    return [[name, values.at(end === 'smallest' ? 0 : -1) as number] as [string, number]];
  });
}

/** The opening view, and each choice at both ends of the settings. */
function endStates(figure: AnyFigure): State[] {
  const { state } = readState(figure.controls, Object.entries(shorter[figure.name] ?? {}));
  const first = state as State;
  if (trains(figure)) return [first];
  const choices = Object.entries(figure.controls as Record<string, { kind: string }>).flatMap(
    ([name, control]) =>
      control.kind === 'choice' && name !== 'layers'
        ? Object.keys((control as unknown as { options: object }).options).map((option) => ({
            [name]: option,
          }))
        : [],
  );
  const alone = ends(figure, 'smallest').map(([name, value]) => ({ [name]: value }));
  const smallest = Object.fromEntries(ends(figure, 'smallest'));
  const all = [{}, ...choices].map((choice) => ({ ...choice, ...smallest }));
  const largest = Object.fromEntries(ends(figure, 'largest'));
  // Texts with nothing but markers, with one word, and with one word over and over.
  const texts = Object.entries(figure.controls as Record<string, { kind: string }>).flatMap(
    ([name, { kind }]) =>
      kind === 'text' ? ['', 'a', 'the the the the'].map((text) => ({ [name]: text })) : [],
  );
  const states = [{}, ...alone, ...all, largest, ...texts].map(
    (change) => ({ ...first, ...change }) as State,
  );
  return states.map((state) => (figure.settle?.(state, undefined) ?? state) as State);
}

const settled = (figure: AnyFigure, state: State): State => figure.settle?.(state, undefined) ?? state;

/**
 * Every choice that makes a figure show a model's numbers; layers that must be fetched are tested elsewhere.
 */
function trainedStates(figure: AnyFigure): State[] {
  const first = initialState(figure.controls) as State;
  const all = Object.entries(figure.controls).flatMap(([name, control]) =>
    (control as { kind: string }).kind === 'choice' && name !== 'layers'
      ? Object.keys((control as { options: object }).options).map((option) => ({ ...first, [name]: option }))
      : [],
  );
  return [first, ...all]
    .map((state) => settled(figure, state))
    .filter((state) => ['trained', 'mixed'].includes(figure.source(state)));
}

/**
 * Figures whose numbers do not change when a vector moves from one table to the other, because they show
 * whole states of a sentence.
 */
const ofWholeStates = ['needs-positions'];
const gauges = /\braw\b|\bcanonical\b/i;
const inWords = ({ columns, rows }: DataTable) => [...columns, ...rows.slice(0, 40).flat()].join(' ');

/** Further pictures of figures that have several. */
const pictures: Record<string, Record<string, string>[]> = {
  collisions: [{ of: 'token' }],
  gram: [{ of: 'shift' }],
  overlap: [{ of: 'subspaces' }, { of: 'vectors' }],
  encoding: [{ of: 'base' }],
  'needs-positions': [{ view: 'readers' }],
};

test.runIf(inject('withModel'))('figures of a model are among these', async () => {
  const ofModels: string[] = [];
  for (const [name, load] of Object.entries(figures))
    if (trainedStates(await load()).length > 0) ofModels.push(name);
  expect(ofModels).toEqual(expect.arrayContaining(['overlap', 'heads', 'depth', 'collisions', 'sum']));
  for (const name of ofWholeStates) expect(ofModels).toContain(name);
});

describe.each(Object.keys(figures))('%s', async (name) => {
  const figure = await (figures[name] as () => Promise<AnyFigure>)();
  const compute = await computeOf(name);
  const known = new Map<string, Promise<unknown>>();
  /** What a state shows, computed once. */
  const dataOf = (state: State) => {
    const key = JSON.stringify(state);
    const job = { signal: new AbortController().signal, progress: () => {} };
    const data = known.get(key) ?? Promise.resolve(compute?.(loaded, state as never, job));
    known.set(key, data);
    return data;
  };
  const read = (settings: Record<string, string>) => {
    const { state, refused } = readState(figure.controls, Object.entries(settings));
    expect(refused).toEqual([]);
    return settled(figure, state as State);
  };

  test('its settings can stand in links and attributes', async () => {
    expect(figure.name).toBe(name);
    expect(await computeOf(name)).toBeTypeOf('function');
    for (const setting of Object.keys(figure.controls)) {
      // These names belong to the link itself and to the element.
      expect(['v', 'figure', 'name', 'theme', 'id', 'class', 'style', 'title', 'hidden']).not.toContain(
        setting,
      );
      // CONTRIBUTING.md's spelling of options: a width is d_ and a noun.
      expect(setting).toMatch(/^(d(_[a-z]+)+|[a-z][a-zA-Z0-9]*)$/);
    }
  });

  test.runIf(inject('withModel'))('says first what is found', async () => {
    for (const settings of [{}, ...(pictures[name] ?? [])]) {
      const state = read(settings);
      const [head, rest] = captionOf(figure.describe(await dataOf(state), state));
      expect(head).toMatch(/^\S+\s.+[.!?]$/);
      expect(rest).not.toBe('');
    }
  });

  test.runIf(inject('withModel'))(
    'singular and plural agree in what it says, and every number is one',
    async () => {
      for (const state of endStates(figure)) {
        // What cannot be computed is refused in a sentence.
        const data = await dataOf(state).catch((error: Error) =>
          expect(error.message).toMatch(/^[A-Z“].*\.$/),
        );
        if (data === undefined) continue;
        const { rows, columns } = figure.cells(data, state);
        const first = figure.firstCursor?.(data, state) ?? { i: 0, j: 0 };
        const cursors = [first, { i: 0, j: 0 }, { i: rows - 1, j: columns - 1 }];
        const sentences = [
          figure.describe(data, state),
          ...cursors.map((at) => textOf(figure.readout(data, state, at))),
        ];
        expect(csvOf(figure.table(data, state)), JSON.stringify(state)).not.toMatch(/NaN|Infinity|undefined/);
        for (const sentence of sentences) {
          expect(sentence, JSON.stringify(state)).not.toMatch(many);
          expect(sentence, JSON.stringify(state)).not.toMatch(agrees);
          expect(sentence, JSON.stringify(state)).not.toMatch(/NaN|Infinity|undefined/);
        }
      }
    },
  );

  // Lengths, products and cosines of a model's rows depend on a vector that can move from one table to the
  // other. So these are called raw, and shares name their gauge, in words and in every table.
  test.runIf(inject('withModel') && !ofWholeStates.includes(name))('names the gauge', async () => {
    for (const state of trainedStates(figure)) {
      const data = await dataOf(state);
      const where = JSON.stringify(state);
      const drawn = figure.scene(data, state, 900).marks;
      const picture = drawn.map((mark) => (mark.mark === 'text' ? mark.text : '')).join(' ');
      expect(`${figure.describe(data, state)} ${picture}`, where).toMatch(gauges);
      expect(inWords(figure.table(data, state)), where).toMatch(gauges);
    }
  });

  test.runIf(inject('withModel')).each(['light', 'dark'] as const)('has contrast, %s', async (theme) => {
    const state = read(shorter[name] ?? {});
    expect(palePlaces(figure, await dataOf(state), state, theme)).toEqual([]);
  });
});
