// The whole encoder, in test-only TypeScript and double: six layers of attention and feed-forward, and mean
// pooling. Slow and plain: the library's own forward is compared with it.
import type { Table } from 'superpose';
import { apply, headLogits, normalized } from './naive.ts';
import { dot, norm, rowOf, softmaxRows, sumOf } from './numbers.ts';
import type { Weights } from './weights.ts';

const heads = 12;
const epsilon = 1e-12;

/** The mean over all tokens of the last layer's output, not normalized. */
export function embed(weights: Weights, ids: readonly number[]): Float64Array {
  const last = run(weights, ids).states.at(-1) as Float64Array[];
  return sumOf(last).map((sum) => sum / ids.length);
}

/** Rows of every state, and the logits [heads, n, n] of every layer. */
export function run({ tensor }: Weights, ids: readonly number[]) {
  const states: Float64Array[][] = [];
  const logits: Float64Array[] = [];
  const linear = (name: string) => {
    const layer = { weight: tensor(`${name}.weight`), bias: tensor(`${name}.bias`).data };
    return (rows: Float64Array[]) => rows.map((row) => apply(layer, row));
  };
  const layerNorm = (name: string) => {
    const norm = {
      kind: 'layer_norm' as const,
      gamma: tensor(`${name}.weight`).data,
      beta: tensor(`${name}.bias`).data,
      epsilon,
    };
    return (rows: Float64Array[]) => rows.map((row) => normalized(row, norm));
  };
  const add = (a: Float64Array[], b: Float64Array[]) => a.map((row, i) => sumOf([row, b[i] as Float64Array]));

  const [words, positions, segments] = ['word', 'position', 'token_type'].map((name) =>
    tensor(`embeddings.${name}_embeddings.weight`),
  ) as [Table, Table, Table];
  let x = layerNorm('embeddings.LayerNorm')(
    ids.map((id, i) => sumOf([rowOf(words, id), rowOf(positions, i), rowOf(segments, 0)])),
  );
  states.push(x);
  for (let layer = 0; layer < 6; layer++) {
    const name = `encoder.layer.${layer}`;
    const [query, key, value] = ['query', 'key', 'value'].map((part) =>
      linear(`${name}.attention.self.${part}`)(x),
    ) as [Float64Array[], Float64Array[], Float64Array[]];
    const scores = headLogits(query, key, heads);
    logits.push(scores);
    const mixed = mix(scores, value);
    x = layerNorm(`${name}.attention.output.LayerNorm`)(
      add(x, linear(`${name}.attention.output.dense`)(mixed)),
    );
    const inner = linear(`${name}.intermediate.dense`)(x).map((row) => row.map(gelu));
    x = layerNorm(`${name}.output.LayerNorm`)(add(x, linear(`${name}.output.dense`)(inner)));
    states.push(x);
  }
  return { states, logits };
}

/** Every head's values, averaged with its attention weights. */
function mix(logits: Float64Array, values: Float64Array[]): Float64Array[] {
  const n = values.length;
  const width = (values[0] as Float64Array).length;
  const weights = Array.from({ length: heads }, (_, head) =>
    softmaxRows(logits.subarray(head * n * n, (head + 1) * n * n), n),
  );
  return values.map((_, i) =>
    Float64Array.from({ length: width }, (_, c) => {
      const weight = weights[Math.floor((c * heads) / width)] as Float64Array;
      return dot(
        weight.subarray(i * n, (i + 1) * n),
        values.map((value) => value[c] as number),
      );
    }),
  );
}

/** x Φ(x), exactly: the tanh approximation would show in the third digit of the result. */
const gelu = (x: number) => 0.5 * x * (1 + erf(x / Math.SQRT2));

/** The series for small arguments, the continued fraction for large: Abramowitz & Stegun 7.1.6 and 7.1.14. */
function erf(x: number): number {
  const z = Math.abs(x);
  if (z < 3) {
    let term = (2 / Math.sqrt(Math.PI)) * z * Math.exp(-z * z);
    let total = term;
    for (let n = 1; term > 1e-18 * total; n++) {
      term *= (2 * z * z) / (2 * n + 1);
      total += term;
    }
    return Math.sign(x) * total;
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (z + fraction);
  return Math.sign(x) * (1 - Math.exp(-z * z) / (Math.sqrt(Math.PI) * (z + fraction)));
}

export const unit = (row: Float64Array): Float64Array => {
  const length = norm(row);
  return row.map((x) => x / length);
};
