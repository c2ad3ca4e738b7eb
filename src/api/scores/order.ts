import * as check from '../check.js';
import type { RawSecond } from '../module.js';
import type { Linear, Table } from '../table.js';

/** y = x + W_O concat_h softmax(q_h k_hᵀ / √d_h) v_h; no LayerNorm, no feed-forward. */
export interface AttentionLayer {
  /** [heads · d_h, d] */
  query: Linear;
  /** [heads · d_h, d] */
  key: Linear;
  /** [heads · d_v, d] */
  value: Linear;
  /** [d, heads · d_v] */
  output: Linear;
  /** Divides the rows of query, key and value. */
  heads: number;
}

export interface PermutationEffectInput {
  /** Token vectors without positions, [n, d]. */
  input: Table;
  /** From the bottom up; no layers are the identity. */
  layers: readonly AttentionLayer[];
  /** Whether token i attends to tokens 0 … i alone. */
  causal: boolean;
  /** Each of 0 … n − 1 once: row i of the permuted input is row permutation[i] of the given one. */
  permutation: readonly number[];
}

export interface PermutationEffect {
  /** The output for the input as it is, [n, d]. */
  readonly output: Float64Array;
  /** The output for the permuted input, [n, d]. */
  readonly permuted: Float64Array;
  /** The largest |permuted − output in the same permutation|: about 0 when order only relabels the tokens. */
  readonly equivariance: number;
  /**
   * The largest |permuted − output| in the last row. If the permutation keeps the last token in place, this
   * is how much its output knows of the order before it.
   */
  readonly last: number;
}

export interface OrderApi {
  /**
   * How permuting the tokens changes a small attention network without positions. A bidirectional one is
   * equivariant at any depth. In a causal one, the last output knows the order of its prefix from the second
   * layer on (Haviv et al. 2022, arXiv 2203.16634). In double. Throws RangeError, TypeError.
   */
  permutationEffect(input: PermutationEffectInput): PermutationEffect;
}

export function orderApi(raw: RawSecond): OrderApi {
  return {
    permutationEffect(options) {
      check.object('options', options);
      const { input, layers, causal, permutation } = options;
      check.table('input', input);
      const { rows: n, columns: d } = input;
      if (!Array.isArray(layers)) check.refuse('layers', 'an array of attention layers', layers, false);
      check.flag('causal', causal);
      let widest = d;
      let weights = 0;
      (layers as AttentionLayer[]).forEach((layer, l) => {
        const name = `layers[${l}]`;
        check.object(name, layer);
        const { query, key, value, output, heads } = layer;
        check.linear(`${name}.query`, query, { columns: d });
        check.linear(`${name}.key`, key, { rows: query.weight.rows, columns: d });
        check.linear(`${name}.value`, value, { columns: d });
        check.linear(`${name}.output`, output, { rows: d, columns: value.weight.rows });
        check.headWidth(heads, query.weight.rows, `${name}.query`);
        check.headWidth(heads, value.weight.rows, `${name}.value`);
        widest = Math.max(widest, query.weight.rows, value.weight.rows);
        for (const { weight } of [query, key, value, output]) weights += weight.rows * (weight.columns + 1);
      });
      check.integers('permutation', permutation, n - 1, n);
      check.once('permutation', permutation);
      check.fits(
        `${layers.length} layers of attention over ${n} tokens`,
        (n * n + 10 * n * widest + weights) * 8,
      );
      return raw.permutationEffect(input, layers, causal, permutation);
    },
  };
}
