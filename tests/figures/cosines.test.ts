import { load } from 'superpose';
import { expect, test } from 'vitest';
import * as cosines from '../../web/figures/cosines.ts';
import { expectSoundPictures, run } from './support.ts';

test.each([
  { d: 2, count: 100, pairs: 1 },
  { d: 3, count: 400, pairs: 1000 },
  { d: 1024, count: 1000, pairs: 51463168, seed: 4294967295 },
  {},
])('%o is drawn', async (settings) => {
  const result = await run(cosines, settings);
  expectSoundPictures(result);
  const { rows } = result.figure.table(result.data, result.state);
  const found = (rows as number[][]).reduce((total, [, , drawn]) => total + (drawn as number), 0);
  expect(found).toBe(result.state.count);
  for (let j = 0; j < rows.length; j++) {
    const said = result.figure.readout(result.data, result.state, { i: 0, j }).join('');
    expect(said).not.toMatch(/NaN|undefined/);
  }
});

// In three dimensions a cosine is uniform on [−1, 1] (Archimedes).
test('in three dimensions the density is ½ and the mean size ½', async () => {
  const { data } = await run(cosines, { d: 3, pairs: 1 });
  for (const value of data.nearDensity) expect(value).toBeCloseTo(0.5, 12);
  expect(data.mean).toBeCloseTo(0.5, 12);
  expect(data.largest).toBeCloseTo(1 - Math.LN2, 9);
});

test('the curve has area 1 and variance 1/d, by the trapezium rule', async () => {
  for (const d of [8, 64, 512]) {
    const { data } = await run(cosines, { d });
    const [area, variance] = [0, 2].map((power) => {
      let total = 0;
      for (let k = 1; k < data.nearAt.length; k++) {
        const at = (place: number) => data.nearAt[place] as number;
        const height = (place: number) => (data.nearDensity[place] as number) * at(place) ** power;
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
    expect(pairs * superpose.cosineTail({ epsilon: data.largest, d: 768 })).toBeCloseTo(Math.LN2, 6);
    expect(figure.describe(data, state)).toContain(data.largest.toPrecision(2));
  }
  // 512 positions with 30,522 words.
  expect(512 * 30_522).toBe(15_627_264);
  expect(1024 * 50_257).toBe(51_463_168);
  const { data } = await run(cosines, { d: 768, pairs: 15627264 });
  expect(data.largest.toFixed(3)).toBe('0.196');
});
