// Random draws, and summaries of numbers.

import { describe, expect, test } from 'vitest';
import { builds, oneBuild, plain, relaxed } from '../support/builds.ts';
import { deviation, largestDifference, mean, rowOf } from '../support/numbers.ts';
import { draws } from '../support/oracles.ts';

describe('random', () => {
  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    // The oracle has the numbers of the core built with g++ and libstdc++; this build uses libc++.
    test.each(draws.cases)(
      'seed $seed, stream $stream',
      ({ seed, stream, uniforms, thousandth, normals }) => {
        const uniform = superpose.randomUniform({ rows: 1, columns: 1000, seed, stream }).data;
        expect([...uniform.subarray(0, uniforms.length)]).toEqual(uniforms);
        expect(uniform[999]).toBe(thousandth);

        const normal = superpose.randomNormal({ rows: 1, columns: normals.length, seed, stream });
        expect(largestDifference(normal.data, normals)).toBeLessThan(1e-14);
      },
    );

    test('the stream is 0 and the deviation 1 unless given', () => {
      const table = { rows: 3, columns: 5, seed: 42 };
      expect(superpose.randomNormal(table)).toEqual(
        superpose.randomNormal({ ...table, stream: 0, standardDeviation: 1 }),
      );
    });

    test('the deviation scales every draw', () => {
      const table = { rows: 3, columns: 5, seed: 42 };
      const doubled = superpose.randomNormal(table).data.map((value) => 2 * value);
      expect(superpose.randomNormal({ ...table, standardDeviation: 2 }).data).toEqual(doubled);
      expect(
        superpose.randomNormal({ ...table, standardDeviation: 0 }).data.every((value) => value === 0),
      ).toBe(true);
    });

    test('the deviation of a projection is 1/√columns', () => {
      const size = { rows: 3, columns: 16, seed: 4 };
      expect(superpose.randomNormal({ ...size, standardDeviation: 'fan_in' })).toEqual(
        superpose.randomNormal({ ...size, standardDeviation: 0.25 }),
      );
    });

    test('a table is filled row by row, so that more rows do not change the first', () => {
      const short = superpose.randomNormal({ rows: 4, columns: 6, seed: 9 });
      const long = superpose.randomNormal({ rows: 40, columns: 6, seed: 9 });
      expect([short.rows, short.columns]).toEqual([4, 6]);
      expect(rowOf(long, 3)).toEqual(rowOf(short, 3));
    });

    test('another seed or stream gives other numbers', () => {
      const of = (seed: number, stream: number) =>
        superpose.randomUniform({ rows: 1, columns: 4, seed, stream }).data;
      expect(of(0, 0)).not.toEqual(of(1, 0));
      expect(of(0, 0)).not.toEqual(of(0, 1));
      expect(of(0, 1)).not.toEqual(of(1, 0));
    });

    // Five standard errors: 1/sqrt(N) for a mean, 1/sqrt(2N) for a deviation.
    test('normals have mean 0 and the deviation asked for', () => {
      const { data } = superpose.randomNormal({ rows: 200, columns: 500, seed: 3, standardDeviation: 3 });
      expect(Math.abs(mean(data) / 3)).toBeLessThan(5 / Math.sqrt(data.length));
      expect(Math.abs(deviation(data) / 3 - 1)).toBeLessThan(5 / Math.sqrt(2 * data.length));
    });

    test('uniforms are multiples of 2⁻⁵³ in [0, 1)', () => {
      const { data } = superpose.randomUniform({ rows: 100, columns: 100, seed: 11 });
      expect(data.every((value) => value >= 0 && value < 1 && Number.isInteger(value * 2 ** 53))).toBe(true);
    });

    test('no rows are an empty table', () => {
      expect(superpose.randomNormal({ rows: 0, columns: 3, seed: 1 }).data).toEqual(new Float64Array());
    });
  });

  test.skipIf(oneBuild)('both builds give the same bits', () => {
    const table = { rows: 30, columns: 31, seed: 77 };
    expect(relaxed.randomNormal(table)).toEqual(plain.randomNormal(table));
    expect(relaxed.randomUniform(table)).toEqual(plain.randomUniform(table));
  });
});

describe('summary', () => {
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

    test('a difference and a sum, number by number', () => {
      const [first, second] = [Float64Array.of(1, 2, 3), Float32Array.of(1, 6, 2)];
      expect(superpose.difference(first, second)).toEqual(Float64Array.of(0, -4, 1));
      expect(superpose.sum(first, second)).toEqual(Float64Array.of(2, 8, 5));
    });

    test('the largest difference', () => {
      expect(superpose.largestDifference(Float64Array.of(1, 2, 3), Float32Array.of(1, 6, 2))).toBe(4);
    });
  });
});
