// Attention layers before training, and the embeddings that they would see.
import type { DecomposeInput, SmallSuperpose, Table } from 'superpose';
import type { Library } from './figure.js';

export type Layer = Pick<DecomposeInput<Float64Array>, 'normalization' | 'query' | 'key' | 'heads'>;
export type LayerSummands = Record<'token' | 'position' | 'token_type', Table<Float64Array>>;

/** Of weights and of the segment; tokens and positions have streams 0 and 1 of their seed. */
const streams = { query: 2, key: 3, queryBias: 4, keyBias: 5, segment: 6 };

export interface LayerOptions {
  d: number;
  heads: number;
  seed: number;
  /** Without LayerNorm and biases. */
  bare?: boolean;
}

/** Normal weights, with LayerNorm and biases unless it is bare: then its constant part is zero. */
export function drawnLayer({ kept }: Library, superpose: SmallSuperpose, options: LayerOptions): Layer {
  const { d, heads, seed, bare = false } = options;
  // Drawing the weights takes longer than anything else.
  return kept('drawn layer', [d, heads, seed, bare], () => {
    const rows = heads * Math.max(1, Math.floor(d / heads));
    const linear = (weight: number, bias: number) => ({
      weight: superpose.randomNormal({
        rows,
        columns: d,
        seed,
        stream: weight,
        standardDeviation: 'fan_in',
      }),
      bias: bare
        ? new Float64Array(rows)
        : superpose.randomNormal({ rows: 1, columns: rows, seed, stream: bias, standardDeviation: 0.1 }).data,
    });
    return {
      ...(!bare && { normalization: { kind: 'layer_norm', epsilon: 1e-12 } as const }),
      query: linear(streams.query, streams.queryBias),
      key: linear(streams.key, streams.keyBias),
      heads,
    };
  });
}

/** One segment for all tokens; none in a bare layer. */
export function drawnSegment(
  superpose: SmallSuperpose,
  n: number,
  { d, seed, bare = false }: LayerOptions,
): Table<Float64Array> {
  const data = new Float64Array(n * d);
  if (!bare) {
    const row = superpose.randomNormal({
      rows: 1,
      columns: d,
      seed,
      stream: streams.segment,
      standardDeviation: 0.5,
    }).data;
    for (let token = 0; token < n; token++) data.set(row, token * d);
  }
  return { data, rows: n, columns: d };
}
