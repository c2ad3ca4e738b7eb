import { load } from 'superpose';
import { expect, test } from 'vitest';
import * as cosines from '../../web/figures/cosines.ts';
import { expectSoundPictures, run } from './support.ts';

test.each([
  { d: 2, count: 100, pairs: 1 },
  { d: 3, count: 400, pairs: 1000 },
  { d: 1024, count: 1000, pairs: 51463168, seed: 4294967295 },
  {},
  { of: 'subspaces', d: 2, k1: 192, k2: 1 },
  { of: 'subspaces', d: 16, k1: 1, k2: 1 },
  { of: 'subspaces', d: 768, k1: 192, k2: 30, seed: 4294967295 },
  { of: 'subspaces' },
])('%o is drawn', async (settings) => {
  const result = await run(cosines, settings);
  expectSoundPictures(result);
  const { figure, data, state } = result;
  const { of, count, k1, k2 } = state as Record<'of', string> & Record<'count' | 'k1' | 'k2', number>;
  const all = of === 'vectors' ? count : Math.min(k1, k2);
  expect(data.cosines).toHaveLength(all);
  // Every bin says how many it has, and no cosine is in none.
  let found = 0;
  for (let j = 0; j < figure.cells(data, state).columns; j++) {
    const said = figure
      .readout(data, state, { i: 0, j })
      .map((piece) => (typeof piece === 'string' ? piece : piece.text))
      .join('');
    expect(said).not.toMatch(/NaN|undefined/);
    found += Number(said.match(/: (\d+) of /)?.[1]);
  }
  expect(found).toBe(all);
});

// In three dimensions a cosine is uniform on [−1, 1] (Archimedes).
test('in three dimensions the density is ½ and the mean size ½', async () => {
  const { data } = await run(cosines, { d: 3, pairs: 1 });
  for (const value of data.density) expect(value).toBeCloseTo(0.5, 12);
  expect(data.mean).toBeCloseTo(0.5, 12);
  expect(data.largest[data.now]).toBeCloseTo(1 - Math.LN2, 9);
});

test('the curve has area 1 and variance 1/d, by the trapezium rule', async () => {
  for (const d of [8, 64, 512]) {
    const { data } = await run(cosines, { d });
    const [area, variance] = [0, 2].map((power) => {
      let total = 0;
      for (let k = 1; k < data.at.length; k++) {
        const at = (place: number) => data.at[place] as number;
        const height = (place: number) => (data.density[place] as number) * at(place) ** power;
        total += ((height(k - 1) + height(k)) / 2) * (at(k) - at(k - 1));
      }
      return total;
    }) as [number, number];
    expect(area).toBeCloseTo(1, 3);
    expect(variance * d).toBeCloseTo(1, 2);
    expect(data.deviation ** 2 * d).toBeCloseTo(1, 12);
  }
});

test('the largest of m pairs is where m pairs have a chance of one half to stay below', async () => {
  const superpose = await load();
  for (const pairs of [1000, 15_627_264]) {
    const { data, figure, state } = await run(cosines, { d: 768, pairs });
    const largest = data.largest[data.now];
    expect(data.sizes[data.now]).toBe(pairs);
    expect(pairs * superpose.cosineTail({ epsilon: largest, d: 768 })).toBeCloseTo(Math.LN2, 6);
    expect(figure.describe(data, state)).toContain(largest.toPrecision(2));
  }
  // 512 positions with 30,522 words.
  expect(512 * 30_522).toBe(15_627_264);
  expect(1024 * 50_257).toBe(51_463_168);
  const { data } = await run(cosines, { d: 768, pairs: 15627264 });
  expect(data.largest[data.now].toFixed(3)).toBe('0.196');
});

const spaces = (settings: Record<string, number> = {}) => run(cosines, { of: 'subspaces', ...settings });

test('64 and 64 in 512: near the edge, far above two single vectors', async () => {
  const largest = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (seed) => (await spaces({ seed })).data.cosines[0] as number),
  );
  const mean = largest.reduce((total, cosine) => total + cosine, 0) / largest.length;
  // Twice √(α(1−α)) with α = 1/8: √7/4 = 0.661; at this size it is a few hundredths lower.
  const { data, figure, state } = await spaces();
  expect([...data.cosines]).toEqual([...data.cosines].sort((a, b) => b - a));
  expect(data.spaces.highest).toBeCloseTo(Math.sqrt(7) / 4, 12);
  expect(Math.abs(mean - Math.sqrt(7) / 4)).toBeLessThan(0.03);
  expect(data.mean).toBeLessThan(mean / 15);
  expect(figure.describe(data, state)).toContain('64 and 64 dimensions in 512');
});

test('Σcos² is k₁k₂/d on average', async () => {
  const sums = await Promise.all(
    Array.from(
      { length: 24 },
      async (_, seed) => (await spaces({ d: 64, k1: 12, k2: 20, seed })).data.spaces.sum,
    ),
  );
  const mean = sums.reduce((total, sum) => total + sum, 0) / sums.length;
  const spread = Math.sqrt(sums.reduce((total, sum) => total + (sum - mean) ** 2, 0) / (sums.length - 1));
  expect(Math.abs(mean - (12 * 20) / 64)).toBeLessThan((4 * spread) / Math.sqrt(sums.length));
});

test('k₁ + k₂ over d: so many shared directions, exactly', async () => {
  const { data, figure, state } = await spaces({ d: 128, k1: 100, k2: 60 });
  expect(data.spaces.shared).toBe(32);
  expect([...data.cosines].filter((cosine) => cosine > 1 - 1e-12)).toHaveLength(32);
  expect(figure.describe(data, state)).toContain('32 directions are shared');
  // Where k₁ grows beyond 68, the largest cosine is 1.
  expect(data.largest[68]).toBe(1);
  expect(data.largest[40]).toBeLessThan(1);
});
