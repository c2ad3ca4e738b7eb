import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { largestDifference, sum, tableOf } from '../support/numbers.ts';

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test.each([0, 1e-12, 1e-8, 0.7, 0.9, Math.PI / 2])('two planes that share a line, at %d', (angle) => {
    const first = tableOf([
      [1, 0, 0],
      [2, 3, 0],
      [1, 1, 0],
    ]);
    const second = tableOf([
      [5, 0, 0],
      [1, Math.cos(angle), Math.sin(angle)],
    ]);
    const angles = superpose.principalAngles({ first, second });
    expect(largestDifference(angles, [0, angle])).toBeLessThan(2e-15);
  });

  test.each([
    [768, 30, 30, 0.366, 8],
    [768, 30, 300, 0.757, 4],
    [512, 64, 64, 0.645, 6],
  ])('of %i dimensions, random ones of %i and %i reach a cosine of %d', (d, k1, k2, published, seeds) => {
    const cosines = Array.from({ length: seeds }, (_, seed) =>
      Math.cos(superpose.randomPrincipalAngles({ d, k1, k2, seed })[0] as number),
    );
    const mean = sum(cosines) / seeds;
    expect(Math.abs(mean - published)).toBeLessThan(0.03);
    expect(Math.abs(mean - superpose.chanceAngles({ d, k1, k2 }).highestCosine)).toBeLessThan(0.03);
  });

  test('what chance gives', () => {
    const { lowestCosine, highestCosine, cosineSquares, zeroAngles } = superpose.chanceAngles({
      d: 10,
      k1: 1,
      k2: 4,
    });
    expect(lowestCosine).toBeCloseTo(0.6 - Math.sqrt(0.06), 14);
    expect(highestCosine).toBeCloseTo(0.6 + Math.sqrt(0.06), 14);
    expect([cosineSquares, zeroAngles]).toEqual([0.4, 0]);
    expect(superpose.chanceAngles({ d: 10, k1: 7, k2: 8 }).zeroAngles).toBe(5);
    const angles = superpose.randomPrincipalAngles({ d: 10, k1: 7, k2: 8, seed: 1 });
    expect(angles.filter((angle) => angle < 1e-13)).toHaveLength(5);
    expect(superpose.randomPrincipalAngles({ d: 3, k1: 0, k2: 2, seed: 1 })).toHaveLength(0);
  });

  const tokens = tableOf([
    [0, 5, 0, 0],
    [0, 0, 3, 0],
    [1, 0, 0, 0],
  ]);
  const positions = tableOf([
    [0, 0, 7, 0],
    [0, 0, 0, 2],
  ]);

  test('overlap weighted by energy', () => {
    // Second moments are diagonal: (1, 25, 9, 0) / 3 and (0, 0, 49, 4) / 2.
    expect(superpose.energyOverlap({ tokens, positions })).toBeCloseTo((4 * 9 * 49) / (35 * 53), 14);
    const shifted = { ...tokens, data: tokens.data.map((value) => value + 1) };
    const centred = superpose.energyOverlap({ tokens, positions, centred: true });
    expect(superpose.energyOverlap({ tokens: shifted, positions, centred: true })).toBeCloseTo(centred, 13);
    expect(superpose.energyOverlap({ tokens: positions, positions: positions, centred: true })).toBeCloseTo(
      4,
      14,
    );
    const none = { data: new Float64Array(), rows: 0, columns: 4 };
    expect(superpose.energyOverlap({ tokens: none, positions })).toBeNaN();
    // A tenth three times over three is not a tenth: equal rows minus their mean must still be nothing.
    const equal = tableOf([0, 1, 2].map(() => [0.1, 0.7, -1.3, 0.9]));
    expect(superpose.energyOverlap({ tokens: equal, positions, centred: true })).toBeNaN();
    expect(superpose.overlapCurve({ tokens: none, positions, k: 1 }).shares).toHaveLength(4);
    expect(superpose.principalAngles({ first: none, second: tokens })).toHaveLength(0);
  });

  test('cosines of angles, and what chance forces', () => {
    const { cosines, squares } = superpose.angleCosines(Float64Array.of(0, Math.PI / 3, Math.PI / 2));
    expect(largestDifference(cosines, [1, 0.5, 0])).toBeLessThan(1e-15);
    expect(squares).toBeCloseTo(1.25, 15);
    expect(superpose.chanceAngles({ d: 4, k1: 3, k2: 2 }).largestCosine).toBe(1);
    const { largestCosine, highestCosine } = superpose.chanceAngles({ d: 8, k1: 3, k2: 2 });
    expect(largestCosine).toBe(highestCosine);
  });

  test('the overlap curve finds the shared direction, second of the tokens', () => {
    const { shares, dimensions, chance, reached } = superpose.overlapCurve({ tokens, positions, k: 1 });
    expect(largestDifference(reached, [0, 1, 1, 1])).toBeLessThan(1e-15);
    expect(largestDifference(shares, [0, 1, 0, 0])).toBeLessThan(1e-15);
    expect([dimensions, chance]).toEqual([1, 0.25]);
    expect(superpose.overlapCurve({ tokens, positions, k: 4 }).dimensions).toBe(2);
  });
});
