import { expect, test } from 'vitest';
import * as probes from '../../web/figures/probes.ts';
import { expectSoundPictures, expectToStopMidway, run } from './support.ts';

interface Point {
  at: number;
  positionError: number;
  rSquared: number;
  cosine: number;
  concatenated: number;
}

test('louder positions are read better, the word worse, and concatenating costs nothing', async () => {
  const result = await run(probes);
  expectSoundPictures(result);
  const { points, guessing } = result.data as { points: Point[]; guessing: number };
  // With an even number of places, the middle is off by n/4.
  expect(guessing).toBe(64);
  const errors = points.map(({ positionError }) => positionError);
  expect(errors).toEqual([...errors].sort((a, b) => b - a));
  const read = points.map(({ rSquared }) => rSquared);
  expect(read).toEqual([...read].sort((a, b) => b - a));
  for (const { rSquared, cosine, concatenated } of points) {
    expect(concatenated).toBeGreaterThan(0.999);
    expect(rSquared).toBeLessThan(concatenated);
    expect(cosine).toBeLessThanOrEqual(1);
    // A projection that keeps R² of the squared length has the cosine √R², up to sampling error.
    expect(Math.abs(cosine - Math.sqrt(Math.max(0, rSquared)))).toBeLessThan(0.03);
  }
});

test('positions of next to no size leave the word whole, whatever the encoding', async () => {
  for (const positions of ['sinusoidal', 'random']) {
    const { data } = await run(probes, { positions, d: 16, n: 64 });
    expect(data.points[0]?.rSquared).toBeGreaterThan(0.99);
  }
});

test('a random position that was never seen cannot be read', async () => {
  const result = await run(probes, { positions: 'random', seed: 3 });
  expectSoundPictures(result);
  for (const { positionError } of result.data.points as Point[])
    expect(positionError).toBeGreaterThan(0.9 * result.data.guessing);
});

test.each([
  { against: 'width', scale: 0.0625, n: 64, seed: 4294967295 },
  { against: 'width', scale: 16, positions: 'random' },
  { d: 128, n: 64 },
])('%o is drawn', async (settings) => {
  const result = await run(probes, settings);
  expectSoundPictures(result);
  expect(result.figure.table(result.data, result.state).rows).toHaveLength(result.data.points.length);
});

test('it says how far it is and stops midway', () => expectToStopMidway(probes));
