// Input of any shape for a decomposition.
import type { DecomposeInput } from 'superpose';
import { plain } from './builds.ts';

/** Three summands of n tokens and a LayerNorm, with sizes that are not multiples of a SIMD register. */
export function randomInput(
  n: number,
  d: number,
  heads: number,
  headWidth: number,
): DecomposeInput<Float64Array> {
  let stream = 0;
  const draw = (rows: number, columns: number, standardDeviation: number) =>
    plain.randomNormal({ rows, columns, standardDeviation, seed: 1000 * n + d, stream: stream++ });
  const linear = () => ({
    weight: draw(heads * headWidth, d, 1 / Math.sqrt(d)),
    bias: draw(1, heads * headWidth, 0.3).data,
  });
  return {
    summands: { token: draw(n, d, 1), position: draw(n, d, 0.7), token_type: draw(n, d, 0.2) },
    normalization: {
      kind: 'layer_norm',
      gamma: draw(1, d, 0.5).data,
      beta: draw(1, d, 0.5).data,
      epsilon: 1e-5,
    },
    query: linear(),
    key: linear(),
    heads,
  };
}
