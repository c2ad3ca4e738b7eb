import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { largestDifference, tableOf } from '../support/numbers.ts';

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test('by hand: singular values 4, 2, 2, 0', () => {
    const table = tableOf([
      [0, 4, 0, 0],
      [2, 0, 0, 0],
      [0, 0, 0, 2],
      [0, 0, 0, 0],
    ]);
    const ranks = superpose.ranks({ table, share: 0.67 });
    expect(largestDifference(ranks.singularValues, [4, 2, 2, 0])).toBeLessThan(1e-15);
    expect([ranks.numerical, ranks.energy]).toEqual([3, 2]);
    expect(ranks.stable).toBeCloseTo(1.5, 14);
    expect(ranks.participationRatio).toBeCloseTo(2, 14);
    expect(superpose.ranks({ table, tolerance: 0.6 }).numerical).toBe(1);
  });

  test('nothing has rank 0', () => {
    const empty = { data: new Float32Array(), rows: 0, columns: 3 };
    expect(superpose.channelRanges(empty)).toEqual(new Float64Array(3));
    const { numerical, stable, energy, participationRatio } = superpose.ranks({ table: empty });
    expect([numerical, stable, energy, participationRatio]).toEqual([0, 0, 0, 0]);
  });

  test('rows that are equal have no rank once their mean is taken away', () => {
    const table = tableOf([0, 1, 2].map(() => [0.1, 0.7, -1.3]));
    const { numerical, stable, energy } = superpose.ranks({ table, centred: true });
    expect([numerical, stable, energy]).toEqual([0, 0, 0]);
  });
});
