// Native code, Node and browsers give the same figures: tests/reference/figures.json was made from seeds
// with the core as g++ builds it, and this test compares both builds with that file, wherever it runs.
//
// Uniform draws are the same bits everywhere. Logarithms, sines and cosines may be rounded differently by
// another libm, and fused multiply-adds round less often. For each figure, the test counts the roundings
// that lead to it. No factor is added for growth, so a figure that lost digits by cancelling or dividing
// would fail.
import { expect, test } from 'vitest';
import figures from '../reference/figures.json' with { type: 'json' };
import { roundings } from './support/bounds.ts';
import { builds } from './support/builds.ts';
import { largest, largestDifference, type Precision } from './support/numbers.ts';

test.each(builds)('the figures of every platform, $simd SIMD', ({ superpose }) => {
  const token = superpose.randomNormal({ rows: 9, columns: 8, seed: 1 });
  const position = superpose.sinusoidal({ positions: 9, d_model: 8 });
  const weight = (seed: number) => ({ weight: superpose.randomNormal({ rows: 8, columns: 8, seed }) });
  const scores = superpose.decompose({
    summands: { token, position },
    normalization: { kind: 'layer_norm', epsilon: 1e-12 },
    query: weight(2),
    key: weight(3),
    heads: 2,
    only: [1],
    scale: 0.5,
    gauge: 'raw',
  });
  const { centred, sines, randomForm } = superpose.formGrams({ positions: 64, d_model: 32, seed: 1 });
  const ranks = superpose.ranks({ table: superpose.sinusoidal({ positions: 128, d_model: 64 }) });
  const ours: Record<keyof typeof figures, [ArrayLike<number>, roundings: number, precision?: Precision]> = {
    // Three products of width 8 after a LayerNorm of width 8.
    'decompose.logits': [scores.logits, 4 * 8, 'float32'],
    // The same roundings, and those of sums over 81 pairs.
    'decompose.shares': [scores.shares, 4 * 8 + 2 * 81, 'float32'],
    // Angles of up to 64 radians, each off by 64 roundings; the width; a random form of 32 by 32.
    gramSpreads: [[centred, sines, randomForm].map(superpose.toeplitzSpread), 64 ** 2 + 32 * 32],
    sampleCosines: [superpose.sampleCosines({ d: 16, count: 5, seed: 1 }), 3 * 16],
    // Logarithms of gamma functions of 256, which are about 1000, so an error there is 1000 times as large.
    cosineTail: [[superpose.cosineTail({ epsilon: 0.1, d: 512 })], 1000 ** 2],
    randomPrincipalAngles: [superpose.randomPrincipalAngles({ d: 64, k1: 3, k2: 3, seed: 1 }), 6 * 64],
    energyOverlap: [[superpose.energyOverlap({ tokens: token, positions: position })], 3 * 64],
    // Angles of up to 128 radians, and a factorization of 128 by 64.
    ranks: [[ranks.stable, ranks.participationRatio], 128 ** 2 + 128 * 64],
  };
  const names = Object.keys(figures) as (keyof typeof figures)[];
  expect(Object.keys(ours).sort()).toEqual(names.sort());
  for (const name of names) {
    const [values, count, precision = 'float64'] = ours[name];
    const bound = roundings(count, precision) * Math.max(1, largest(figures[name]));
    expect({ name, difference: largestDifference(values, figures[name]), bound }).toSatisfy(
      ({ difference }: { difference: number }) => difference <= bound,
    );
    // A looser bound would let a wrong figure pass.
    expect(bound).toBeLessThan(precision === 'float32' ? 1e-4 : 1e-10);
  }
});
