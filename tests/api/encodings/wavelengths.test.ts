import { describe, expect, test } from 'vitest';
import { builds, plain } from '../support/builds.ts';

const options = { d_model: 512, positions: 512 };

/** By a plain sum of cosines. */
const similarityAt = (base: number, d: number, k: number) => {
  let sum = 0;
  for (let i = 0; i < d / 2; i++) sum += Math.cos(k * base ** ((-2 * i) / d));
  return sum / (d / 2);
};

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test.each([
    [10, 0.46, 6, 5, 0],
    [10_000, 0.23, 43, 3284, 133],
    [1_000_000, 0.19, 24, 0, 174],
  ])('what base %i buys at 512 positions of 512 channels', (base, nearest, fallsTo, negative, below) => {
    const found = superpose.wavelengths({ ...options, base });
    expect(found.nearest).toBeCloseTo(nearest, 2);
    expect([found.nearestApart, found.fallsTo, found.firstNegative]).toEqual([1, fallsTo, negative]);
    expect(found.belowOneTurn).toBe(below);
    expect(found.similarity).toHaveLength(20_001);
    for (const k of [0, 1, 43, 512, 20_000])
      expect(found.similarity[k]).toBeCloseTo(similarityAt(base, 512, k), 10);
    // By brute force: every distance within the length, and the first of all that is negative.
    const squares = Array.from({ length: 511 }, (_, k) => 2 - 2 * similarityAt(base, 512, k + 1));
    expect(found.nearest).toBeCloseTo(Math.sqrt(Math.min(...squares)), 10);
    if (negative) {
      expect(similarityAt(base, 512, negative)).toBeLessThan(0);
      for (let k = 1; k < negative; k++) expect(similarityAt(base, 512, k)).toBeGreaterThanOrEqual(0);
    }
    // The closed forms, for many pairs.
    expect(found.nearest).toBeCloseTo(Math.sqrt(0.48 / Math.log(base)), 2);
    const part = Math.max(0, 1 - Math.log(512 / (2 * Math.PI)) / Math.log(base));
    expect(Math.abs(found.belowOneTurn - 256 * part)).toBeLessThan(1);
  });

  test('two wavelengths by hand', () => {
    const { lengths, belowOneTurn } = superpose.wavelengths({ d_model: 4, positions: 100, base: 100 });
    expect(Array.from(lengths)).toEqual([2 * Math.PI, 20 * Math.PI].map((long) => expect.closeTo(long, 12)));
    expect(belowOneTurn).toBe(0);
  });
});

test('similarity is computed up to the given distance, and at least over the length in use', () => {
  const found = plain.wavelengths({ d_model: 8, positions: 3, farthest: 2 });
  expect(found.similarity).toHaveLength(3);
  expect(found.firstNegative).toBe(0);
  expect(plain.wavelengths({ d_model: 2, positions: 30_001 }).similarity).toHaveLength(30_001);
});
