// Dot products of tokens, with positions added and with positions concatenated.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import type { Table } from '../table.js';

export interface DotProductsInput {
  /** Token embeddings, [n, d_t]. */
  token: Table;
  /** Position embeddings, [n, d_p]. With d_p ≠ d_t they can only be concatenated. */
  position: Table;
  /** ρ, the factor of the positions; any finite number. Default 1. */
  positionScale?: number;
}

/** Each matrix is [n, n], row by row; row i belongs to the first token of a pair. */
export interface DotProducts {
  /** x_i · x_j */
  'token-token': Float64Array;
  /** ρ x_i · p_j. Empty when the widths differ; so are position-token and added. */
  'token-position': Float64Array;
  /** ρ p_i · x_j */
  'position-token': Float64Array;
  /** ρ² p_i · p_j */
  'position-position': Float64Array;
  /** (x_i + ρp_i) · (x_j + ρp_j), computed from the summed rows, not from the terms. */
  added: Float64Array;
  /** [x_i; ρp_i] · [x_j; ρp_j], computed from the joined rows, not from the terms. */
  concatenated: Float64Array;
  /**
   * The mean and standard deviation over the pairs i < j, of each of the six products and of the sum of the
   * two cross terms, by which added and concatenated differ. NaN without pairs.
   */
  moments: Record<DotProductName | 'crossTerms', PairMoments>;
  /** Pearson correlation of added and concatenated over the pairs i < j; NaN when undefined. */
  correlation: number;
}

/** The six dot products of two tokens. */
export type DotProductName =
  | 'token-token'
  | 'token-position'
  | 'position-token'
  | 'position-position'
  | 'added'
  | 'concatenated';

export interface PairMoments {
  /** The mean over the pairs i < j. */
  mean: number;
  /** The standard deviation over the same pairs; the sum of squares is divided by the number of pairs. */
  deviation: number;
}

/** @category Compare adding and concatenating */
interface DotProductsApi {
  /**
   * Returns the dot products of all pairs of tokens, with positions added and with positions concatenated,
   * and the terms that they consist of. For all pairs, added = concatenated + token-position +
   * position-token. Throws RangeError or TypeError.
   */
  dotProducts(input: DotProductsInput): DotProducts;
}

export function dotProductsApi(raw: RawModule): DotProductsApi {
  return {
    dotProducts(input) {
      check.knownOptions('input', input, { token: true, position: true, positionScale: true });
      const { token, position, positionScale = 1 } = input;
      check.table('token', token);
      check.table('position', position, { rows: token.rows });
      check.number('positionScale', positionScale);
      const n = token.rows;
      check.requireMemory(
        `The dot products of ${n} tokens`,
        raw.dotProductsBytes(n, token.columns, position.columns),
      );
      const { products, moments, correlation } = raw.dotProducts(token, position, positionScale);
      const { crossTerms } = moments;
      return { ...named(products), moments: { ...named(moments), crossTerms }, correlation };
    },
  };
}

interface ByProduct<T> {
  tokenToken: T;
  tokenPosition: T;
  positionToken: T;
  positionPosition: T;
  added: T;
  concatenated: T;
}

/** Gives the module's products the names that they have in the API. */
const named = <T>(products: ByProduct<T>): Record<DotProductName, T> => ({
  'token-token': products.tokenToken,
  'token-position': products.tokenPosition,
  'position-token': products.positionToken,
  'position-position': products.positionPosition,
  added: products.added,
  concatenated: products.concatenated,
});
