import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test('a list written out, in either precision', () => {
    for (const values of [Float64Array.of(-7, 2, 1, 5), Float32Array.of(-7, 2, 1, 5)]) {
      expect(superpose.summary(values)).toEqual({
        mean: 0.25,
        meanSize: 3.75,
        least: -7,
        median: 1.5,
        largest: 5,
        largestSize: 7,
        // Squares of 7.25, 1.75, 0.75 and 4.75 from the mean.
        standardDeviation: expect.closeTo(Math.sqrt(26.25), 13),
      });
    }
    expect(superpose.summary(Float64Array.of(3, 9, 4)).median).toBe(4);
  });

  test('of nothing there is none', () => {
    for (const value of Object.values(superpose.summary(new Float64Array()))) expect(value).toBeNaN();
    expect(superpose.largestDifference(new Float64Array(), new Float64Array())).toBe(0);
  });

  test('a difference, number by number', () => {
    const found = superpose.difference(Float64Array.of(1, 2, 3), Float32Array.of(1, 6, 2));
    expect(found).toEqual(Float64Array.of(0, -4, 1));
    expect(() => superpose.difference(new Float64Array(2), new Float64Array(3))).toThrow(
      new RangeError('second must have 2 values; it has 3.'),
    );
  });

  test('the largest difference; other lengths are refused', () => {
    expect(superpose.largestDifference(Float64Array.of(1, 2, 3), Float32Array.of(1, 6, 2))).toBe(4);
    const differ = (first: number, second: number) => () =>
      superpose.largestDifference(new Float64Array(first), new Float64Array(second));
    expect(differ(2, 3)).toThrow(new RangeError('second must have 2 values; it has 3.'));
    expect(differ(3, 2)).toThrow(new RangeError('second must have 3 values; it has 2.'));
  });
});
