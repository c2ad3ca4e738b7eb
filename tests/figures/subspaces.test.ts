import { expect, test } from 'vitest';
import * as subspaces from '../../web/figures/subspaces.ts';
import { expectSoundPictures, run } from './support.ts';

test.each([
  { d: 16, k1: 1, k2: 1 },
  { d: 16, k1: 192, k2: 192 },
  { d: 768, k1: 192, k2: 30, seed: 4294967295 },
  {},
])('%o is drawn', async (settings) => {
  const result = await run(subspaces, settings);
  expectSoundPictures(result);
  const { data, state } = result;
  expect(data.cosines).toHaveLength(Math.min(state.k1 as number, state.k2 as number));
  expect([...data.cosines]).toEqual([...data.cosines].sort((a, b) => b - a));
});

test('64 and 64 in 512: near the edge, far above two single vectors', async () => {
  const largest = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (seed) => (await run(subspaces, { seed })).data.cosines[0] as number),
  );
  const mean = largest.reduce((total, cosine) => total + cosine, 0) / largest.length;
  // Twice √(α(1−α)) with α = 1/8: √7/4 = 0.661; at this size it is a few hundredths lower.
  const { data, figure, state } = await run(subspaces);
  expect(data.highest).toBeCloseTo(Math.sqrt(7) / 4, 12);
  expect(Math.abs(mean - Math.sqrt(7) / 4)).toBeLessThan(0.03);
  expect(data.vectors).toBeLessThan(mean / 15);
  expect(figure.describe(data, state)).toContain('64 and 64 dimensions in 512');
});

test('Σcos² is k₁k₂/d on average', async () => {
  const sums = await Promise.all(
    Array.from(
      { length: 24 },
      async (_, seed) => (await run(subspaces, { d: 64, k1: 12, k2: 20, seed })).data.sum,
    ),
  );
  const mean = sums.reduce((total, sum) => total + sum, 0) / sums.length;
  const spread = Math.sqrt(sums.reduce((total, sum) => total + (sum - mean) ** 2, 0) / (sums.length - 1));
  expect(Math.abs(mean - (12 * 20) / 64)).toBeLessThan((4 * spread) / Math.sqrt(sums.length));
});

test('k₁ + k₂ over d: so many shared directions, exactly', async () => {
  const { data, figure, state } = await run(subspaces, { d: 128, k1: 100, k2: 60 });
  expect(data.zeroAngles).toBe(32);
  expect([...data.cosines].filter((cosine) => cosine > 1 - 1e-12)).toHaveLength(32);
  expect(figure.describe(data, state)).toContain('32 directions are shared');
  // Where k₁ grows beyond 68, the largest cosine is 1.
  expect(data.largest[68]).toBe(1);
  expect(data.largest[40]).toBeLessThan(1);
});
