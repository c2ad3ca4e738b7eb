// Runs a figure as a page or Node does, and checks what holds for every picture.
import { expect } from 'vitest';
import { readState, type State } from '../../web/figures/controls.ts';
import type { AnyFigure, Compute, Job, Library } from '../../web/figures/figure.ts';
import type { Mark, TextMark } from '../../web/plot/scene.ts';
import { library as newLibrary } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';

/** The library that `run` computes with. It keeps what was computed for the next call. */
export const loaded = { ...newLibrary(), recorded };

/** Computes a figure in a state; settings are written as in links. */
// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
export async function run<Data = any>(
  // biome-ignore lint/suspicious/noExplicitAny: of any controls and data
  { figure, compute }: { figure: AnyFigure; compute: Compute<any, NoInfer<Data>> },
  settings: Record<string, string | number> = {},
  job: Job = { signal: new AbortController().signal, progress: () => {} },
  library: Library = loaded,
): Promise<{ figure: AnyFigure; data: Data; state: State }> {
  const state = stateOf({ figure }, settings);
  return { figure, data: await compute(library, state, job), state };
}

/** The state that settings of a link lead to. */
export function stateOf({ figure }: { figure: AnyFigure }, settings: Record<string, string | number>): State {
  const texts = Object.entries(settings).map(([name, value]) => [name, String(value)] as const);
  const { state, refused } = readState(figure.controls, texts);
  expect(refused).toEqual([]);
  return figure.settle?.(state, undefined) ?? state;
}

/** A long computation reports progress more than once, and stops when told to. */
export async function expectToStopMidway(
  // biome-ignore lint/suspicious/noExplicitAny: of any controls and data
  figure: { figure: AnyFigure; compute: Compute<any, any> },
  settings: Record<string, string | number> = {},
  library: Library = loaded,
) {
  const controller = new AbortController();
  const fractions: number[] = [];
  const progress = (fraction: number) => {
    fractions.push(fraction);
    if (fractions.length === 2) controller.abort();
  };
  // Unless the settings name a seed, it is one that no other test has used, so that nothing is memoized.
  const job = { signal: controller.signal, progress };
  await expect(run(figure, { seed: 31, ...settings }, job, library)).rejects.toThrow(/abort/i);
  expect(fractions).toHaveLength(2);
  expect(fractions[0]).toBeGreaterThan(0);
  expect(fractions[1]).toBeGreaterThan(fractions[0] as number);
  expect(fractions[1]).toBeLessThan(1);
}

const numbersOf = (mark: Mark): number[] =>
  mark.mark === 'path'
    ? [...mark.d.matchAll(/[MLHV]?-?(\d|NaN|Infinity)[^ ,A-Za-z]*/g)].map(([text]) =>
        Number(text.replace(/^[A-Z]/, '')),
      )
    : mark.mark === 'dots'
      ? [...Array.from(mark.x), ...Array.from(mark.y)]
      : Object.values(mark).filter((value): value is number => typeof value === 'number');

/** The box of a text, taking letters to be half as wide as their size, which is narrower than average. */
function boxOf({ x, y, text, anchor, size }: TextMark) {
  const high: number = size ?? 12;
  const long = 0.5 * high * text.length;
  const left = anchor === 'end' ? x - long : anchor === 'middle' ? x - long / 2 : x;
  return { left, right: left + long, top: y - 0.7 * high, bottom: y };
}

/** Horizontal texts that are drawn over each other. */
function overlaps(marks: readonly Mark[]): string[] {
  const texts = marks.filter(
    (mark): mark is TextMark => mark.mark === 'text' && mark.text !== '' && !mark.turn,
  );
  return texts.flatMap((text, place) =>
    texts.slice(place + 1).flatMap((other) => {
      const [a, b] = [boxOf(text), boxOf(other)];
      const separate = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
      return separate ? [] : [`“${text.text}” is over “${other.text}”`];
    }),
  );
}

/** What is wrong with a mark in a picture of this size. */
function faultsOf(mark: Mark, width: number, height: number): string[] {
  const faults = numbersOf(mark)
    .filter((number) => !Number.isFinite(number))
    .map(String);
  const within = (x: number, y: number) => {
    if (!(x >= -1 && x <= width + 1 && y >= -1 && y <= height + 1)) faults.push(`is at ${x}, ${y}`);
  };
  if (mark.mark === 'box' || mark.mark === 'raster') {
    within(mark.x, mark.y);
    within(mark.x + mark.width, mark.y + mark.height);
  }
  if (mark.mark === 'line') {
    within(mark.x1, mark.y1);
    within(mark.x2, mark.y2);
  }
  if (mark.mark === 'text') {
    // Letters are about 0.58 of their size wide; 0.56 bounds how far a start or an end runs out.
    const long = 0.56 * (mark.size ?? 12) * mark.text.length;
    const from =
      mark.anchor === 'end' ? mark.x - long : mark.anchor === 'middle' ? mark.x - long / 2 : mark.x;
    within(mark.x, mark.y);
    if (!mark.turn && !(from >= -8 && from + long <= width + 8)) {
      faults.push(`goes from ${from} to ${from + long}`);
    }
  }
  if (mark.mark === 'dots')
    for (let k = 0; k < mark.x.length; k++) within(mark.x[k] as number, mark.y[k] as number);
  return faults;
}

interface Shown {
  figure: AnyFigure;
  data: unknown;
  state: State;
}

/** Numbers are finite, marks inside and texts beside each other, from a small phone to the page's column. */
export function expectSoundPictures({ figure, data, state }: Shown) {
  for (const width of [280, 350, 480, 700, 860, 1048]) {
    const scene = figure.scene(data, state, width);
    expect(scene.width).toBe(width);
    expect(scene.height).toBeGreaterThan(0);
    // One expectation for all: a picture can have a hundred thousand numbers.
    const faults = scene.marks.flatMap((mark) =>
      faultsOf(mark, width, scene.height).map(
        (fault) => `${fault}: ${JSON.stringify({ ...mark, values: undefined }).slice(0, 200)}`,
      ),
    );
    expect([...faults, ...overlaps(scene.marks)], `${width} px wide`).toEqual([]);
  }
  const { columns, rows } = figure.table(data, state);
  expect(rows.filter((row) => row.length !== columns.length)).toEqual([]);
  expect(figure.describe(data, state)).not.toMatch(/NaN|undefined|Infinity/);
}

/** A column of a figure's table, by its heading. */
export function column({ figure, data, state }: Shown, heading: string): (string | number)[] {
  const { columns, rows } = figure.table(data, state);
  const place = columns.indexOf(heading);
  expect(place, `${heading} is not among ${columns.join(', ')}`).toBeGreaterThan(-1);
  return rows.map((row) => row[place] as string | number);
}

export const shorter: Record<string, Record<string, string>> = {
  narrow: { steps: '50' },
  'schemes-tasks': { schemes: 'add.tupe', tasks: 'badge.lookup' },
};
