// The figure "encoding", against formulas and published counts of the channels that move.
import { expect, inject, test } from 'vitest';
import { readState } from '../../web/figures/controls.ts';
import * as dotProducts from '../../web/figures/dotProducts.ts';
import * as encoding from '../../web/figures/encoding.ts';
import { encodingLabels } from '../../web/figures/encodings.ts';
import * as gram from '../../web/figures/gram.ts';
import { column, expectSoundPictures, run } from './support.ts';

test.each([
  { positions: 16, d: 16, threshold: 1.5 },
  { encoding: 'random', positions: 16, d: 512, seed: 4294967295 },
  { encoding: 'interleaved', positions: 512, d: 16 },
  { encoding: 'transformerXl', positions: 64, d: 128, threshold: 0.001 },
  {},
])('%o is drawn', async (settings) => expectSoundPictures(await run(encoding, settings)));

// How many channels move by more than 0.5, 0.1 and 0.01 over L positions.
const published: [string, number, number[]][] = [
  ['tensor2tensor', 128, [286, 355, 445]],
  ['tensor2tensor', 512, [363, 432, 483]],
  ['interleaved', 128, [287, 356, 445]],
];
test.each(published)('%s, %i positions: the channels that move', async (name, positions, expected) => {
  for (const [place, threshold] of [0.5, 0.1, 0.01].entries()) {
    const { data, figure, state } = await run(encoding, { encoding: name, positions, threshold });
    expect(figure.describe(data, state)).toContain(
      `${expected[place]} of 512 channels move by more than ${threshold}`,
    );
  }
});

test('values and ranges by the formula', async () => {
  const { data, figure, state } = await run(encoding, { positions: 64, d: 32 });
  const w = (i: number) => 10000 ** (-i / 15);
  const column = (c: number) =>
    Array.from({ length: 64 }, (_, p) => (c < 16 ? Math.sin(p * w(c)) : Math.cos(p * w(c - 16))));
  const { rows } = figure.table(data, state);
  expect(rows).toHaveLength(64 * 32);
  for (const [p, c, value, range] of rows as [number, number, number, number][]) {
    const values = column(c);
    expect(value).toBeCloseTo(values[p] as number, 6);
    expect(range).toBeCloseTo(Math.max(...values) - Math.min(...values), 9);
  }
});

test.runIf(inject('withModel'))('MiniLM’s positions', async () => {
  const result = await run(encoding, { encoding: 'learned', positions: 512 });
  expectSoundPictures(result);
  expect(result.figure.cells(result.data, result.state)).toEqual({ rows: 512, columns: 384 });
  const values = column(result, 'value') as number[];
  // Row 0, the outlier, has length 2.362; the others have 0.474 on average.
  const length = (row: number) => Math.hypot(...values.slice(row * 384, (row + 1) * 384));
  expect(length(0).toFixed(3)).toBe('2.362');
  expect(length(100)).toBeLessThan(1);
});

test('the ends of both halves: a slow sine moves as sin 0.0127, its cosine as 1 − cos 0.0127', async () => {
  const { figure, data, state } = await run(encoding);
  expect(Math.sin(127e-4).toPrecision(2)).toBe('0.013');
  expect((1 - Math.cos(127e-4)).toExponential(1)).toBe('8.1e-5');
  expect(figure.describe(data, state)).toContain(
    'Channels 0, 255, 256 and 511 move by 2.0, 0.013, 2.0 and 8.1\u00a0×\u00a010⁻⁵.',
  );
});

test.each([512, 128])('of a table %i wide, the channel that is quoted has its number', async (d) => {
  const result = await run(encoding, { d });
  const { figure, data, state } = result;
  const values = column(result, 'value') as number[];
  const [first, second] = [63, 127].map((p) => (values[p * d + d - 16] as number).toFixed(7));
  expect(figure.describe(data, state)).toContain(
    `Channel ${d - 16}, the 16th from the end, has ${first} at position 63 and ${second} at 127.`,
  );
});

const bought = (settings: Record<string, string | number> = {}) =>
  run(encoding, { of: 'base', encoding: 'interleaved', positions: 512, ...settings });

test.each([
  { base: 10, positions: 16, d: 16 },
  { base: 10, positions: 512 },
  { base: 1_000_000 },
  { encoding: 'tensor2tensor', base: 1000, d: 64 },
])('what the base buys is drawn: %o', async (settings) => expectSoundPictures(await bought(settings)));

test.each([
  [
    10,
    ['falls up to distance 6', 'is below 0 at distance 5 already', '0 of 256 pairs', '0.46 of a row’s norm'],
  ],
  [
    10_000,
    [
      'falls up to distance 43',
      'positive up to distance 3,283, beyond',
      '133 of 256 pairs',
      '0.23 of a row’s norm',
    ],
  ],
  [
    1_000_000,
    [
      'falls up to distance 24',
      'positive up to distance 20,000 at least',
      '174 of 256 pairs',
      '0.19 of a row’s norm',
    ],
  ],
])('base %i over 512 positions of 512 channels, in words', async (base, phrases) => {
  const { data, figure, state } = await bought({ base });
  for (const part of phrases) expect(figure.describe(data, state)).toContain(part);
});

test('axes stay where they are while the base moves', async () => {
  const ticks = async (base: number) => {
    const { data, figure, state } = await bought({ base });
    const { marks, regions } = figure.scene(data, state, 700);
    const grid = marks.filter((mark) => mark.mark === 'line' && !mark.ink && !mark.dashed);
    return { grid, regions };
  };
  const reference = await ticks(10_000);
  expect(reference.grid.length).toBeGreaterThan(12);
  for (const base of [10, 1000, 1_000_000]) expect(await ticks(base)).toEqual(reference);
});

test('wavelengths and likeness in the table, by their formulas', async () => {
  const { data, figure, state } = await bought({ base: 100, d: 64 });
  const { rows } = figure.table(data, state);
  for (const [pair, length, distance, value] of rows as (number | '')[][]) {
    if (pair !== '') {
      expect(length).toBeCloseTo(2 * Math.PI * 100 ** ((pair as number) / 32), 9);
      continue;
    }
    let sum = 0;
    for (let i = 0; i < 32; i++) sum += Math.cos((distance as number) * 100 ** (-i / 32));
    expect(value).toBeCloseTo(sum / 32, 9);
  }
  expect(rows.length).toBeGreaterThan(300);
});

test('the image of another base, and none of a table that has no base', async () => {
  const { data, figure, state } = await run(encoding, {
    base: 10,
    positions: 16,
    d: 16,
    encoding: 'interleaved',
  });
  const { rows } = figure.table(data, state);
  const at = (p: number, c: number) => (rows[16 * p + c] as number[])[2];
  expect(at(7, 14)).toBeCloseTo(Math.sin(7 * 10 ** (-14 / 16)), 6);
  const drawn = await run(encoding, { of: 'base', encoding: 'random', positions: 16, d: 16 });
  expect(drawn.figure.unused?.(drawn.state)).toEqual(['of', 'base']);
  expectSoundPictures(drawn);
});

test('a base that cannot be set is refused', () => {
  const impossible = readState(encoding.figure.controls, [['base', '0.5']]);
  expect(impossible.refused[0]).toContain('takes one of 10, 100, 1000, 10000, 100000, 1000000');
});

test.runIf(inject('withModel')).each(Object.keys(encodingLabels))(
  '%s is offered and drawn by each figure of positions, and by gram if it has wavelengths',
  async (name) => {
    const result = await run(encoding, { encoding: name, positions: 16, d: 16 });
    expectSoundPictures(result);
    const positions =
      result.figure.source(result.state) === 'trained' ? { tokens: 'sentence' } : { n: 4, d: 16 };
    expectSoundPictures(await run(dotProducts, { ...positions, positions: name }));
    const hasWavelengths = !result.figure.unused?.(result.state).includes('base');
    expect(name in gram.figure.controls.encoding.options).toBe(hasWavelengths);
    if (hasWavelengths) expectSoundPictures(await run(gram, { encoding: name, positions: 8 }));
  },
);
