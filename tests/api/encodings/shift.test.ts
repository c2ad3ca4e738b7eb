import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { dot, largestDifference, rowOf, rowsOf } from '../support/numbers.ts';

const encodings = [
  { layout: 'interleaved', spacing: 'd_model' },
  { layout: 'concatenated', spacing: 'timescales' },
  { layout: 'concatenated', spacing: 'd_model' },
] as const;

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test.each(encodings)('one matrix shifts every position: $layout, $spacing', (encoding) => {
    const options = { positions: 40, d_model: 12, ...encoding };
    const operator = superpose.shiftOperator({ ...options, offset: 5 });
    expect([operator.rows, operator.columns]).toEqual([12, 12]);
    const rows = rowsOf(superpose.sinusoidal(options));
    for (let p = 0; p + 5 < 40; p++) {
      const moved = rowsOf(operator).map((row) => dot(row, rows[p] as Float64Array));
      expect(largestDifference(moved, rows[p + 5] as Float64Array)).toBeLessThan(2e-14);
    }
    expect(superpose.shiftError({ ...options, offset: 5 })).toBeLessThan(2e-14);
    // Angles are rounded to 2^-53 of their size, which is at most 2 · 1024 together.
    const long = { ...options, positions: 1017, d_model: 64 };
    expect(superpose.shiftError({ ...long, offset: 7 })).toBeLessThan(2048 * 2 ** -53 + 1e-15);
  });

  test('a quarter turn of the fastest pair', () => {
    const { data } = superpose.shiftOperator({ d_model: 2, offset: Math.PI / 2 });
    expect(largestDifference(data, [0, 1, -1, 0])).toBeLessThan(1e-15);
  });

  test('the lone sine of an odd width cannot be shifted; the zeros of the other layout can', () => {
    const options = { positions: 9, d_model: 5, offset: 4 };
    expect(superpose.shiftError(options)).toBeGreaterThan(1e-3);
    expect(superpose.shiftError({ ...options, layout: 'concatenated' })).toBeLessThan(1e-14);
  });

  test('no positions, no error; no offset, the identity', () => {
    expect(superpose.shiftError({ positions: 0, d_model: 4, offset: 1 })).toBe(0);
    const identity = superpose.shiftOperator({ d_model: 3, offset: 0 });
    expect(Array.from(rowOf(identity, 2))).toEqual([0, 0, 1]);
  });
});
