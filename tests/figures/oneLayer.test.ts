import { load } from 'superpose';
import { expect, test } from 'vitest';
import * as oneLayer from '../../web/figures/oneLayer.ts';
import { expectSoundPictures, run } from './support.ts';

const row = '0.5 -0.25 1 -1';

/** What LayerNorm divides by: σ of the sum over σ of both, of the 256 pairs that the first view draws. */
async function lengthsOf(shown: readonly number[]) {
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
  for (const [k, end] of ends.entries()) expect(shown[k]).toBeCloseTo(end, 12);
  return { normed: ends.map((end) => end.toFixed(2)).join(' to ') };
}

test.each([
  {},
  { d: 4, pull: 1, segments: 'yes' },
  { d: 16, scale: 4, undoes: 'yes', way: 'wider' },
  { norm: 'yes', pull: 1, way: 'divided', segments: 'yes' },
])('%o: pictures', async (settings) => {
  const result = await run(oneLayer, settings);
  expectSoundPictures(result);
});

test('pulled all the way, concatenating has become adding, whatever the rows', async () => {
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
    `Over 256 drawn pairs the concatenated one is ${normed} times as long`,
  );
  // Without a norm, equal outputs are equally long.
  const bare = await run(oneLayer, { pull: 1 });
  for (const times of bare.data.lengths) expect(times).toBeCloseTo(1, 12);
});

test('rows that are typed or dragged are those that are read, and others are said to be drawn', async () => {
  const typed = await run(oneLayer, { d: 4, token: row });
  expect([...typed.data.parts[0]]).toEqual([0.5, -0.25, 1, -1]);
  const { figure, data, state } = await run(oneLayer, { d: 5, token: row, position: 'x y z' });
  expect(figure.remark?.(data, state)).toBe(
    'Enter exactly 5 numbers. Using random values for token and position.',
  );
  // The second channel of the token, dragged to the upper end of its field.
  const field = typed.figure.scene(typed.data, typed.state, 350).handles?.[0];
  const { x, y, size = { width: 0, height: 0 }, setting, at } = field ?? expect.fail();
  const to = at(x - size.width / 8, y - size.height / 2);
  expect({ setting, to }).toEqual({ setting: 'token', to: '0.5 1.5 1 -1' });
  // The position's is drawn ρ times as high, and set to what it is without ρ.
  const loud = await run(oneLayer, { d: 4, token: row, position: row, scale: 2 });
  const high = loud.figure.scene(loud.data, loud.state, 350).handles?.[1] ?? expect.fail();
  expect(high.at(x + (high.x - x) - size.width / 8, high.y - size.height / 2)).toBe('0.5 1 1 -1');
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
