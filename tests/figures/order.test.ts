import { load } from 'superpose';
import { expect, test } from 'vitest';
import * as order from '../../web/figures/order.ts';
import { expectSoundPictures, run } from './support.ts';

interface Case {
  causal: boolean;
  depth: number;
  last: number;
  any: number;
  outputs: Float64Array;
}

test.each([
  { n: 2, depth: 1, heads: 1 },
  { n: 64, depth: 4, heads: 8, shuffle: 'reversed' },
  { n: 3, shuffle: 'swapped', seed: 4294967295 },
  { shuffle: 'none' },
])('%o is drawn', async (settings) => {
  expectSoundPictures(await run(order, settings));
});

test('what does not change has no bar, and says that it is rounding', async () => {
  const { data, figure, state } = await run(order);
  const marks = figure.scene(data, state, 1048).marks;
  const texts = marks.flatMap((mark) => (mark.mark === 'text' ? [mark.text] : []));
  const kept = (data.cases as Case[]).flatMap(({ last, any }) => [last, any]).filter((one) => one < 1e-10);
  expect(kept.length).toBeGreaterThan(0);
  const rounded = kept.filter((one) => one !== 0);
  expect(texts.filter((text) => text === '0 (rounding)')).toHaveLength(rounded.length);
  const none = marks.filter((mark) => mark.mark === 'box' && mark.width === 0);
  expect(none).toHaveLength(kept.length);
});

test('order shows in a causal network from the second layer on, and nowhere else', async () => {
  for (const shuffle of ['drawn', 'reversed', 'swapped']) {
    for (const seed of [1, 2, 3]) {
      const { data, figure, state } = await run(order, { shuffle, seed, depth: 3 });
      for (const { causal, depth, last, any } of data.cases as Case[]) {
        // Sums of a few dozen doubles of about 1, in another order.
        if (causal && depth > 1) expect(last).toBeGreaterThan(1e-4);
        else expect(last).toBeLessThan(1e-13);
        if (causal) expect(any).toBeGreaterThan(1e-4);
        else expect(any).toBeLessThan(1e-13);
      }
      expect(figure.describe(data, state)).toContain('changes by 0 (rounding) with 1, 2 or 3 layers');
    }
  }
});

test('the outputs and their changes are those of a network run by itself', async () => {
  const { data } = await run(order, { n: 5, heads: 1, seed: 7 });
  const superpose = await load();
  const d = 32;
  const normal = (rows: number, stream: number, standardDeviation: number) =>
    superpose.randomNormal({ rows, columns: d, seed: 7, stream, standardDeviation }).data;
  const weights = Array.from({ length: 8 }, (_, k) => normal(d, 2 + k, 1 / Math.sqrt(d)));
  const times = (weight: Float64Array, row: number[]) =>
    Array.from({ length: d }, (_, out) =>
      row.reduce((sum, value, k) => sum + (weight[out * d + k] as number) * value, 0),
    );
  const layer = (rows: number[][], [q, k, v, o]: Float64Array[], causal: boolean) =>
    rows.map((row, i) => {
      const seen = causal ? rows.slice(0, i + 1) : rows;
      const query = times(q as Float64Array, row);
      const scores = seen.map((other) => {
        const key = times(k as Float64Array, other);
        return key.reduce((sum, value, c) => sum + value * (query[c] as number), 0) / Math.sqrt(d);
      });
      const exponentials = scores.map(Math.exp);
      const total = exponentials.reduce((sum, value) => sum + value, 0);
      const mixed = new Array(d).fill(0);
      seen.forEach((other, j) => {
        times(v as Float64Array, other).forEach((value, c) => {
          mixed[c] += ((exponentials[j] as number) / total) * value;
        });
      });
      return times(o as Float64Array, mixed).map((value, c) => value + (row[c] as number));
    });
  const table = normal(5, 0, 1);
  const input = Array.from({ length: 5 }, (_, row) => [...table.slice(row * d, (row + 1) * d)]);
  const draws = superpose.randomUniform({ rows: 4, columns: 1, seed: 7, stream: 1 }).data;
  const places = [0, 1, 2, 3].sort((a, b) => (draws[a] as number) - (draws[b] as number));
  const shuffled = [...places, 4].map((place) => input[place] as number[]);
  for (const { causal, depth, outputs, last } of data.cases as Case[]) {
    const through = (rows: number[][]) => {
      let above = rows;
      for (let k = 0; k < depth; k++) above = layer(above, weights.slice(4 * k, 4 * k + 4), causal);
      return above[4] as number[];
    };
    const [before, after] = [through(input), through(shuffled)];
    const expected = Math.max(...before.map((value, c) => Math.abs(value - (after[c] as number))));
    before.forEach((value, c) => {
      expect(outputs[c]).toBeCloseTo(value, 10);
    });
    after.forEach((value, c) => {
      expect(outputs[d + c]).toBeCloseTo(value, 10);
    });
    expect(last).toBeCloseTo(expected, 10);
  }
});
