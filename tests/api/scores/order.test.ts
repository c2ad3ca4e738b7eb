import type { AttentionLayer } from 'superpose';
import { describe, expect, test } from 'vitest';
import { builds, plain } from '../support/builds.ts';
import { largest } from '../support/numbers.ts';

const n = 6;
const d = 8;
const input = plain.randomNormal({ rows: n, columns: d, seed: 1 });
const layer = (seed: number): AttentionLayer => {
  const weight = (stream: number) => ({
    weight: plain.randomNormal({ rows: d, columns: d, seed, stream, standardDeviation: d ** -0.5 }),
  });
  return { query: weight(0), key: weight(1), value: weight(2), output: weight(3), heads: 2 };
};
const layers = [layer(2), layer(3)];
/** Moves every token except the last. */
const permutation = [3, 0, 4, 2, 1, 5];

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  const { permutationEffect } = superpose;
  const bound = (output: Float64Array) => 1e-14 * Math.max(1, largest(output));

  test('bidirectional attention only relabels, at any depth', () => {
    for (const depth of [1, 2]) {
      const found = permutationEffect({ input, layers: layers.slice(0, depth), causal: false, permutation });
      expect(found.equivariance).toBeLessThanOrEqual(bound(found.output));
    }
  });

  test('causal attention knows the order of the prefix from the second layer on', () => {
    const one = permutationEffect({ input, layers: layers.slice(0, 1), causal: true, permutation });
    expect(one.last).toBeLessThanOrEqual(bound(one.output));
    expect(one.equivariance).toBeGreaterThan(1e-3);
    expect(permutationEffect({ input, layers, causal: true, permutation }).last).toBeGreaterThan(1e-3);
  });

  test('one token, and none', () => {
    const one = { data: input.data.slice(0, d), rows: 1, columns: d };
    expect(permutationEffect({ input: one, layers, causal: true, permutation: [0] }).last).toBe(0);
    const none = { data: new Float64Array(), rows: 0, columns: d };
    expect(permutationEffect({ input: none, layers, causal: true, permutation: [] }).output.length).toBe(0);
  });

  test.each([
    ['too few', { permutation: [0, 1] }, /6 numbers; it is an array of 2/],
    ['a row twice', { permutation: [0, 0, 1, 2, 3, 4] }, /0 is there twice/],
    ['a row too many', { permutation: [0, 1, 2, 3, 4, 6] }, /from 0 to 5; it is 6/],
    [
      'heads that do not divide',
      { layers: [{ ...layers[0], heads: 3 } as AttentionLayer] },
      /heads must divide/,
    ],
    ['no boolean', { causal: 1 as unknown as boolean }, /true or false/],
  ])('%s', (_, change, message) => {
    expect(() => permutationEffect({ input, layers, causal: true, permutation, ...change })).toThrow(message);
  });
});
