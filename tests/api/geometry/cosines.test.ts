import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { mean } from '../support/numbers.ts';

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test('in three dimensions a cosine is uniform', () => {
    for (const t of [0, 0.3, 0.9]) {
      expect(superpose.cosineDensity({ t: -t, d: 3 })).toBeCloseTo(0.5, 14);
      expect(superpose.cosineTail({ epsilon: t, d: 3 })).toBeCloseTo(1 - t, 13);
    }
    expect(superpose.cosineMeanSize({ d: 3 })).toBeCloseTo(0.5, 14);
  });

  test('published values', () => {
    expect(superpose.cosineMeanSize({ d: 512 })).toBeCloseTo(0.0353, 4);
    expect(superpose.cosineMeanSize({ d: 768 })).toBeCloseTo(0.0288, 4);
    const largest = (pairs: number, d: number) => superpose.largestCosineMedian({ pairs, d });
    expect(largest(512 * 30522, 768)).toBeCloseTo(0.196, 3);
    expect(largest(1024 * 50257, 768)).toBeCloseTo(0.203, 3);
    expect(largest((2000 * 1999) / 2, 512)).toBeCloseTo(0.223, 3);
    // Student's two-sided 5% point for 10 degrees of freedom is 2.228.
    expect(superpose.cosineTail({ epsilon: 2.228 / Math.hypot(2.228, Math.sqrt(10)), d: 11 })).toBeCloseTo(
      0.05,
      4,
    );
  });

  test('the variance of samples is 1/d', () => {
    const cosines = superpose.sampleCosines({ d: 64, count: 20_000, seed: 1 });
    expect(Math.abs(64 * mean(cosines.map((t) => t * t)) - 1)).toBeLessThan(0.03);
    expect(superpose.sampleCosines({ d: 64, count: 2, seed: 2 })).not.toEqual(cosines.slice(0, 2));
    expect(superpose.sampleCosines({ d: 64, count: 0, seed: 1 })).toHaveLength(0);
  });

  test('the deviation is 1/√d: that of a uniform in three dimensions', () => {
    expect(superpose.cosineDeviation({ d: 3 })).toBeCloseTo(2 / Math.sqrt(12), 15);
    expect(superpose.cosineDeviation({ d: 1 })).toBe(1);
  });
});
