// What chance gives, in the figure “overlap”: random vectors and random subspaces.
import { load } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import * as overlap from '../../web/figures/overlap.ts';
import { expectSoundPictures, run } from './support.ts';

const vectors = (settings: Record<string, number> = {}) => run(overlap, { of: 'vectors', ...settings });
const spaces = (settings: Record<string, number> = {}) => run(overlap, { of: 'subspaces', ...settings });

test.each([
  { of: 'vectors', d: 2 },
  { of: 'vectors', d: 3 },
  { of: 'vectors', d: 1024, seed: 4294967295 },
  { of: 'subspaces', d: 2, k1: 192, k2: 1 },
  { of: 'subspaces', d: 16, k1: 1, k2: 1 },
  { of: 'subspaces', d: 768, k1: 192, k2: 30, seed: 4294967295 },
  { of: 'subspaces' },
])('%o is drawn', async (settings) => {
  const result = await run(overlap, settings);
  expectSoundPictures(result);
  const { figure, data, state } = result;
  const { of, k1, k2 } = state as Record<'of', string> & Record<'k1' | 'k2', number>;
  const all = of === 'vectors' ? 400 : Math.min(k1, k2);
  expect(data.cosines).toHaveLength(all);
  // Every bin says how many it has, and no cosine is in none.
  let counted = 0;
  for (let j = 0; j < figure.cells(data, state).columns; j++) {
    const readout = figure
      .readout(data, state, { i: 0, j })
      .map((piece) => (typeof piece === 'string' ? piece : piece.text))
      .join('');
    expect(readout).not.toMatch(/NaN|undefined/);
    counted += Number(readout.match(/: (\d+) of /)?.[1]);
  }
  expect(counted).toBe(all);
});

test('the largest of all pairs is where they have a chance of one half to stay below', async () => {
  const superpose = await load();
  const { data, figure, state } = await vectors({ d: 768 });
  // The pairs of 512 positions with 30,522 words.
  const tail = superpose.cosineTail({ epsilon: data.largest, d: 768 });
  expect(512 * 30_522 * tail).toBeCloseTo(Math.LN2, 6);
  expect(data.largest.toFixed(3)).toBe('0.196');
  expect(figure.describe(data, state)).toContain(
    `15,627,264 pairs has its median at ${data.largest.toPrecision(2)}`,
  );
});

test('64 and 64 in 512: near the edge, far above two single vectors', async () => {
  const largest = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (seed) => (await spaces({ seed })).data.cosines[0] as number),
  );
  const mean = largest.reduce((total, cosine) => total + cosine, 0) / largest.length;
  // Twice √(α(1−α)) with α = 1/8: √7/4 = 0.661; at this size it is a few hundredths lower.
  const { data, figure, state } = await spaces();
  expect([...data.cosines]).toEqual([...data.cosines].sort((a, b) => b - a));
  expect(data.largest).toBeCloseTo(Math.sqrt(7) / 4, 12);
  expect(Math.abs(mean - Math.sqrt(7) / 4)).toBeLessThan(0.03);
  expect(data.mean).toBeLessThan(mean / 15);
  expect(figure.describe(data, state)).toContain('64 and 64 dimensions in 512');
});

test('k₁ + k₂ over d: so many shared directions, exactly', async () => {
  const { data, figure, state } = await spaces({ d: 128, k1: 100, k2: 60 });
  expect(data.spaces.shared).toBe(32);
  expect([...data.cosines].filter((cosine) => cosine > 1 - 1e-12)).toHaveLength(32);
  expect(figure.describe(data, state)).toContain('32 directions are shared');
});
