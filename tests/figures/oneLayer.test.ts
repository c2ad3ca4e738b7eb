// The figure "one-layer": its numbers, against the library; and what is read, dragged and pointed at.
import { load } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import * as oneLayer from '../../web/figures/oneLayer.ts';
import { aboutPercent, readable } from '../../web/plot/format.ts';
import { type BoxMark, cursorAt, cursorMarks, type RasterMark } from '../../web/plot/scene.ts';
import { expectSoundPictures, run } from './support.ts';

const row = '0.5 -0.25 1 -1';

/**
 * Checks the ends of the shown ratios: of what LayerNorm divides by, σ of the sum over σ of both, for the 256
 * pairs that the first view draws.
 */
async function lengthsOf(shown: { least: number; largest: number }) {
  const superpose = await load();
  const [token, position] = [6, 7].map(
    (stream) =>
      superpose.randomNormal({ rows: 256, columns: 8, seed: 35, stream, standardDeviation: 0.8 }).data,
  ) as [Float64Array, Float64Array];
  const spread = (row: number[]) => {
    const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
    return Math.sqrt(row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length + 1e-5);
  };
  const ratios = Array.from({ length: 256 }, (_, k) => {
    const [t, p] = [token, position].map((part) => [...part.subarray(8 * k, 8 * k + 8)]) as [
      number[],
      number[],
    ];
    return spread(t.map((value, c) => value + (p[c] as number))) / spread([...t, ...p]);
  });
  const ends = [Math.min(...ratios), Math.max(...ratios)];
  expect(shown.least).toBeCloseTo(ends[0] as number, 12);
  expect(shown.largest).toBeCloseTo(ends[1] as number, 12);
  return { normed: ends.map((end) => end.toFixed(2)).join(' to ') };
}

test.each([
  {},
  { d: 4, pull: 1, segments: 'yes' },
  { d: 16, scale: 4, undoes: 'yes', way: 'wider' },
  { norm: 'yes', pull: 1, way: 'divided', segments: 'yes' },
  { d: 16, pull: 0.5, segments: 'yes', norm: 'yes' },
  { pull: 0.98 },
])('%o: pictures', async (settings) => {
  const result = await run(oneLayer, settings);
  expectSoundPictures(result);
});

test('dragged all the way, concatenating has become adding, whatever the rows', async () => {
  for (const settings of [{}, { scale: 4 }, { segments: 'yes' }, { d: 4, token: row, position: row }]) {
    const { figure, data, state } = await run(oneLayer, { pull: 1, ...settings });
    const rows = new Map(figure.table(data, state).rows.map((row) => [row[0], row.at(-1)]));
    expect(rows.get('largest difference of the outputs')).toBeLessThan(1e-14);
  }
});

test('with a norm between, the figure says how far lengths differ, and that directions do not', async () => {
  const { figure, data, state } = await run(oneLayer, { pull: 1, norm: 'yes' });
  const { normed } = await lengthsOf(data.lengths);
  expect(figure.describe(data, state)).toContain(
    `over 256 random pairs it is ${normed} (median ${data.lengths.median.toFixed(2)}) at width 8`,
  );
  const { least, median, largest } = data.wideLengths;
  expect(figure.describe(data, state)).toContain(
    `${least.toFixed(2)} to ${largest.toFixed(2)} (median ${median.toFixed(2)}) at width 768`,
  );
  // In many channels the spread of a sum of two is √2 times that of each, give or take.
  expect(median).toBeCloseTo(Math.SQRT2, 1);
  expect(least).toBeGreaterThan(1.2);
  expect(largest).toBeLessThan(1.6);
  // Without a norm, equal outputs are equally long.
  const bare = await run(oneLayer, { pull: 1 });
  for (const times of [bare.data.length, bare.data.lengths.least, bare.data.lengths.largest])
    expect(times).toBeCloseTo(1, 12);
});

test('rows that are typed or dragged are those that are read, and others are said to be drawn', async () => {
  const typed = await run(oneLayer, { d: 4, token: row });
  expect([...typed.data.parts[0]]).toEqual([0.5, -0.25, 1, -1]);
  const { figure, data, state } = await run(oneLayer, { d: 5, token: row, position: 'x y z' });
  expect(figure.remark?.(data, state)).toBe(
    'Enter exactly 5 numbers. Using random values for token and position.',
  );
  // The grip of the token's second channel, dragged to the upper end of the bars, which stands for their
  // largest sum.
  const drawnAt = (result: typeof typed, cursor: { i: number; j: number }) =>
    result.figure.scene(result.data, result.state, 350, undefined, cursor);
  const strip = (scene: ReturnType<typeof drawnAt>, i: number) =>
    scene.regions.find(({ pick }) => typeof pick === 'object' && pick.points.cursors[0]?.i === i) ??
    expect.fail();
  const gripIn = (scene: ReturnType<typeof drawnAt>) =>
    scene.handles?.find(({ size }) => !size) ?? expect.fail();
  const edited = await run(oneLayer, { d: 4, token: row, position: row });
  const scene = drawnAt(edited, { i: 0, j: 1 });
  const grip = gripIn(scene);
  expect(grip.setting).toBe('token');
  expect(grip.at(grip.x, strip(scene, 0).y)).toBe('0.5 2 1 -1');
  // The position's bar is drawn ρ times as high, but the value that is set is the one without ρ.
  const loud = await run(oneLayer, { d: 4, token: row, position: row, scale: 2 });
  const high = drawnAt(loud, { i: 5, j: 1 });
  expect(gripIn(high).at(0, strip(high, 5).y)).toBe('0.5 1.5 1 -1');
  // A cell of a matrix and an output have no grip.
  for (const cursor of [
    { i: 1, j: 1 },
    { i: 10, j: 1 },
  ])
    expect(drawnAt(typed, cursor).handles).toHaveLength(1);
});

test.each([350, 800, 1048])(
  'the card that is dragged stays under the pointer, and snaps: %i',
  async (width) => {
    for (const settings of [{}, { segments: 'yes' }, { d: 16, pull: 0.3 }]) {
      const { figure, data, state } = await run(oneLayer, settings);
      const handles = figure.scene(data, state, width).handles ?? [];
      expect(handles).toHaveLength('segments' in settings ? 2 : 1);
      for (const [k, { x, y, size, at, snap }] of handles.entries()) {
        expect(at(x, y)).toBeCloseTo(state.pull as number, 12);
        const to = at(x - 40, y) as number;
        const moved = figure.scene(data, { ...state, pull: to }, width).handles?.[k] ?? expect.fail();
        // The next card may cover more of this one, but its left edge is where the pointer took it.
        const left = (handle: typeof moved) => handle.x - (handle.size?.width ?? 0) / 2;
        expect(left(moved)).toBeCloseTo(x - (size?.width ?? 0) / 2 - 40, 9);
        expect(snap).toEqual([0.96, 1]);
      }
    }
  },
);

test('every number of a matrix is drawn once, and hidden where the card lies on it', async () => {
  for (const pull of [0, 0.35, 0.7, 0.97, 1]) {
    const { figure, data, state } = await run(oneLayer, { pull });
    const cells = figure
      .scene(data, state, 1048)
      .marks.flatMap((mark) => (mark.mark === 'raster' && mark.rows === 8 ? [mark] : []));
    const [first, second] = [cells.slice(0, -1), cells.at(-1) ?? expect.fail()];
    expect(Array.from(second.values)).toEqual([...data.weights[1]]);
    // The visible part of W₁: whole columns, and the column that the card cuts.
    for (const { x, width, columns, values } of first) {
      expect(x + width).toBeLessThanOrEqual(second.x);
      const from = Math.round((x - (first[0]?.x ?? 0)) / (second.width / 8));
      for (let row = 0; row < 8; row++)
        for (let column = 0; column < columns; column++)
          expect(values[row * columns + column]).toBe(data.weights[0][row * 8 + from + column]);
    }
    const seen = first.reduce((sum, { width }) => sum + width, 0);
    expect(seen).toBeCloseTo(Math.max(0, Math.min(second.width, second.x - 6 - 7)), 0);
  }
});

test('a cell names its number and what it multiplies; outputs are the sum of their parts', async () => {
  const { figure, data, state } = await run(oneLayer, {});
  const superpose = await load();
  const text = (i: number, j: number) =>
    figure
      .readout(data, state, { i, j })
      .map((piece) => (typeof piece === 'string' ? piece : piece.text))
      .join('');
  expect(figure.cells(data, state)).toEqual({ rows: 19, columns: 8 });
  // W₂'s row 2 is output 2, its column 3 reads channel 3 of the position.
  const drawn = superpose.randomNormal({
    rows: 8,
    columns: 8,
    seed: 35,
    stream: 4,
    standardDeviation: 'fan_in',
  });
  expect(data.weights[1][2 * 8 + 3]).toBe(drawn.data[3 * 8 + 2]);
  expect(text(12, 3)).toBe(
    `W₂, row 2, column 3: ${readable(data.weights[1][19])}. It multiplies channel 3 of the position, ${readable(data.parts[1][3])}, for output 2.`,
  );
  expect(text(9, 3)).toBe(`position, channel 3: ${readable(data.parts[1][3])}`);
  const product = data.parts[1].reduce(
    (sum: number, value: number, c: number) => sum + value * (data.weights[1][2 * 8 + c] as number),
    0,
  );
  expect(data.contributions[1][2]).toBeCloseTo(product, 12);
  expect(data.contributions[0][2] + data.contributions[1][2]).toBeCloseTo(data.concatenated[2], 12);
  expect(text(18, 2)).toContain(
    `= token ${readable(data.contributions[0][2])} + position ${readable(product)}`,
  );
});

test('a cell that is pointed at lights up with its bar and its output', async () => {
  const { figure, data, state } = await run(oneLayer, {});
  const scene = figure.scene(data, state, 1048);
  const second = scene.marks.filter((mark) => mark.mark === 'raster' && mark.rows === 8).at(-1) as RasterMark;
  const cell = second.width / 8;
  const at = (row: number, column: number) =>
    [second.x + (column + 0.5) * cell, second.y + (row + 0.5) * cell] as const;
  const cursor = cursorAt(scene, ...at(2, 3))?.cursor ?? expect.fail();
  expect(cursor).toEqual({ i: 12, j: 3 });
  // A row, a column and the cell, in this matrix alone.
  const marks = cursorMarks(scene, cursor) as BoxMark[];
  expect(marks).toHaveLength(3);
  for (const { x, width } of marks) {
    expect(x).toBeGreaterThanOrEqual(second.x - 1e-9);
    expect(x + width).toBeLessThanOrEqual(second.x + second.width + 1e-9);
  }
  const [bar, output] = (figure.focus?.(data, state, cursor, 1048) ?? []) as BoxMark[];
  expect(bar).toMatchObject({ x: second.x + 3 * cell, y: 30, width: cell, height: 128 });
  expect(output).toMatchObject({ y: second.y + 2 * cell, height: cell });
  expect(output?.x).toBeGreaterThan(second.x + second.width);
  // A bar lights up its column; an output its row of both matrices.
  expect(figure.focus?.(data, state, { i: 9, j: 3 }, 1048)).toMatchObject([
    { x: second.x + 3 * cell, y: second.y, width: cell, height: second.height },
  ]);
  expect(figure.focus?.(data, state, { i: 18, j: 2 }, 1048)).toHaveLength(2);
  // Under the card nothing is pointed at, and nothing lights up.
  const half = figure.scene(data, { ...state, pull: 0.5 }, 1048);
  expect(cursorMarks(half, { i: 1, j: 7 })).toEqual([]);
  expect(figure.focus?.(data, { ...state, pull: 0.5 }, { i: 0, j: 7 }, 1048)).toEqual([]);
});

test('how far the outputs are from each other stands above them', async () => {
  const texts = async (settings: Record<string, string | number>) => {
    const { figure, data, state } = await run(oneLayer, settings);
    const { marks } = figure.scene(data, state, 1048);
    return { data, texts: marks.flatMap((mark) => (mark.mark === 'text' ? mark.text : [])) };
  };
  const start = await texts({});
  expect(start.texts).toContain(aboutPercent(start.data.relativeDifference));
  expect((await texts({ pull: 1 })).texts).toEqual(
    expect.arrayContaining(['0\u202f%', 'W₁ (token + position)']),
  );
  const normed = await texts({ pull: 1, norm: 'yes' });
  expect(normed.texts).toContain(`×${normed.data.length.toFixed(2)}`);
  expect(normed.texts).toContain('as long, in the same direction');
});

test('what BERT-base costs in five ways', async () => {
  const { figure, data, state } = await run(oneLayer, { way: 'wider' });
  const texts = figure
    .scene(data, state, 350)
    .marks.flatMap((mark) => (mark.mark === 'text' ? mark.text : []));
  expect(texts.filter((text) => text.startsWith('×') && text !== '×')).toEqual([
    '×1.000',
    '×0.98',
    '×1.003',
    '×1.007',
    '×1.13',
    '×3.34',
  ]);
  expect(figure.describe(data, state)).toContain('BERT-base is 832 wide and has 124 million weights, ×1.13');
  expect(data.costs.add.total).toBe(109_482_240);
});

test('ρ is undone by W₂/ρ, and a shared matrix misses by what least squares finds', async () => {
  const { data } = await run(oneLayer, { scale: 2, undoes: 'yes' });
  const plain = await run(oneLayer, {});
  const superpose = await load();
  expect(superpose.largestDifference(data.concatenated, plain.data.concatenated)).toBeLessThan(1e-14);
  expect(data.undone).toBeLessThan(1e-14);
  expect(data.sharedMiss).toBeCloseTo(1 / Math.sqrt(10), 14);
});
