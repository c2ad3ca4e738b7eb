// An attention layer of MiniLM's shapes before training, and the embeddings that it would see.
import type { DecomposeInput, First, Table } from 'superpose';

export type Layer = Pick<DecomposeInput<Float64Array>, 'normalization' | 'query' | 'key' | 'heads'>;
export type LayerSummands = Record<'token' | 'position' | 'token_type', Table<Float64Array>>;

const d_model = 384;

// Drawing the weights takes longer than anything else, and a seed always gives the same.
let last: { seed: number; layer: Layer } | undefined;

/** Normal weights, a sinusoid, one segment. */
export function seededLayer(
  superpose: First,
  n: number,
  seed: number,
): { summands: LayerSummands; layer: Layer } {
  const normal = (rows: number, stream: number, standardDeviation: number | 'fan_in') =>
    superpose.randomNormal({ rows, columns: d_model, seed, stream, standardDeviation });
  const weight = (stream: number) => ({
    weight: normal(d_model, stream, 'fan_in'),
    bias: normal(1, stream + 1, 0.1).data,
  });
  if (last?.seed !== seed) {
    const normalization = { kind: 'layer_norm', epsilon: 1e-12 } as const;
    last = { seed, layer: { normalization, query: weight(1), key: weight(3), heads: 12 } };
  }
  const segment = normal(1, 6, 0.5).data;
  const repeated = new Float64Array(n * d_model);
  for (let row = 0; row < n; row++) repeated.set(segment, row * d_model);
  return {
    summands: {
      token: normal(n, 0, 1),
      position: superpose.sinusoidal({ positions: n, d_model }),
      token_type: { data: repeated, rows: n, columns: d_model },
    },
    layer: last.layer,
  };
}

/** The layer with one head alone, so that a step of the slider does not hand over all heads' weights. */
export function ofHead(layer: Layer, head: number): Layer {
  const rowsOf = ({ weight, bias }: Layer['query']) => {
    const rows = weight.rows / layer.heads;
    const from = head * rows;
    const data = weight.data.subarray(from * weight.columns, (from + rows) * weight.columns);
    return { weight: { ...weight, data, rows }, bias: bias?.subarray(from, from + rows) };
  };
  return { ...layer, query: rowsOf(layer.query), key: rowsOf(layer.key), heads: 1 };
}
