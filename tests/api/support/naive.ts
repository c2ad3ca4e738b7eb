// The score of summed embeddings straight from the formula, in double and one number at a time: the
// reference for the fast version on shapes that the oracles do not have, and inputs of any such shape.
import type { CombinedTerms, DecomposeInput, Linear, Scores, Superpose, Table } from 'add-or-concatenate';
import { plain } from './builds.ts';
import { dot, mean, rowOf, sumOf } from './numbers.ts';

/** LayerNorm, RMSNorm or neither, of one row. */
export function normalized(row: ArrayLike<number>, norm: DecomposeInput['normalization']): Float64Array {
  const values = Float64Array.from(row);
  if (!norm) return values;
  const centre = norm.kind === 'layer_norm' ? mean(values) : 0;
  const sigma = Math.sqrt(mean(values.map((x) => (x - centre) ** 2)) + norm.epsilon);
  return values.map((x, c) => (norm.gamma?.[c] ?? 1) * ((x - centre) / sigma) + (norm.beta?.[c] ?? 0));
}

/** W x + b for one row. */
export const apply = ({ weight, bias }: Linear, row: ArrayLike<number>): Float64Array =>
  Float64Array.from({ length: weight.rows }, (_, k) => dot(rowOf(weight, k), row) + (bias?.[k] ?? 0));

/** [heads, n, n], queries in rows. */
export function naiveLogits({
  summands,
  normalization,
  query,
  key,
  heads,
  scale,
}: DecomposeInput): Float64Array {
  const tables = Object.values(summands) as Table[];
  const n = tables[0]?.rows ?? 0;
  const inputs = Array.from({ length: n }, (_, i) =>
    normalized(sumOf(tables.map((table) => rowOf(table, i))), normalization),
  );
  return headLogits(
    inputs.map((x) => apply(query, x)),
    inputs.map((x) => apply(key, x)),
    heads,
    scale,
  );
}

/**
 * Logits from queries and keys [n][heads * d_h], where head h has the columns from h * d_h on; scale is
 * 1/sqrt(d_h) by default.
 */
export function headLogits(
  queries: readonly Float64Array[],
  keys: readonly Float64Array[],
  heads: number,
  scale?: number,
): Float64Array {
  const width = (queries[0]?.length ?? 0) / heads;
  const of = (row: Float64Array, head: number) => row.subarray(head * width, (head + 1) * width);
  return Float64Array.from(
    Array.from({ length: heads }, (_, head) =>
      queries.flatMap((q) =>
        keys.map((k) => (scale ?? 1 / Math.sqrt(width)) * dot(of(q, head), of(k, head))),
      ),
    ).flat(),
  );
}

/**
 * Three summands of n tokens and a LayerNorm, in the raw gauge, with sizes that are not multiples of a SIMD
 * register.
 */
export function randomInput(n: number, d: number, heads: number, headWidth: number): DecomposeInput {
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
    gauge: 'raw',
  };
}

/** The terms of one mask, added up. */
export const combined = (superpose: Superpose, scores: Scores, head: number, mask: readonly boolean[]) =>
  superpose.combineTerms(scores, head, [mask])[0] as CombinedTerms;
