import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { tableOf } from '../support/numbers.ts';

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test('numerical rank counts singular values above the tolerance', () => {
    const diagonal = tableOf([
      [5, 0, 0],
      [0, 1e-3, 0],
      [0, 0, 1e-12],
    ]);
    expect([0, 1e-10, 1e-2].map((tolerance) => superpose.numericalRank(diagonal, tolerance))).toEqual([
      3, 2, 1,
    ]);
    expect(superpose.numericalRank(diagonal)).toBe(2);
    expect(superpose.numericalRank({ data: new Float64Array(), rows: 0, columns: 2 })).toBe(0);
  });

  test('d_h for adding and concatenating, both head widths when untied', () => {
    const widths = { d_token: 24, d_position: 24, d_head: 8, d_position_head: 8 };
    expect(superpose.scoreRanks({ n: 32, ...widths })).toEqual({ added: 8, concatenated: 8, untied: 16 });
    expect(superpose.scoreRanks({ n: 12, ...widths }).untied).toBe(12);
  });
});
