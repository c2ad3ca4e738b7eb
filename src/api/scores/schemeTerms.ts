// The names of terms and the shape of scores: what a page needs before anything is computed.
import * as check from '../check.js';

/** The four terms of a score of tokens and positions: the query's part, then the key's. */
export const pairTerms = ['token-token', 'token-position', 'position-token', 'position-position'] as const;

/**
 * What terms ask about, by one rule for all schemes: the four pairs; tokens with tokens at a distance; a key alone, which
 * is liked by every query, wherever it stands; and a query alone, which is the same for every key, so softmax ignores
 * it.
 */
export const askedTerms = [...pairTerms, 'token-offset', 'key', 'query'] as const;

export type AskedTerm = (typeof askedTerms)[number];

/** Logits taken apart into named terms. Arrays are flat, the last index running fastest. */
export interface SchemeScores {
  /** Tokens. */
  readonly n: number;
  /** The heads returned, in the order of the arrays below. */
  readonly heads: readonly number[];
  /** The names of the terms: content-content and, for example, content-position or bias. */
  readonly termNames: readonly string[];
  /** [heads, terms, n, n], queries in rows, for all pairs: no causal mask is applied. */
  readonly terms: Float64Array;
  /**
   * [heads, n, n], for all pairs, computed independently of the terms: from whole queries and keys where the
   * scheme has them, pair by pair otherwise.
   */
  readonly logits: Float64Array;
  /** [heads, n, n], the softmax over the keys that each query sees. */
  readonly weights: Float64Array;
  /** [heads], the largest |sum of terms − logits|. */
  readonly residuals: Float64Array;
  /** [heads, terms], as in Scores, over the keys that each query sees. */
  readonly shares: Float64Array;
  /** [heads, terms], for pooling shares: add these up and divide by the sum of variances. */
  readonly covariances: Float64Array;
  /** [heads] */
  readonly variances: Float64Array;
}

export function checkHeads(scores: { readonly heads: readonly number[] }): void {
  check.object('scores', scores);
  check.integers('scores.heads', scores.heads);
}

/** The place of a head in `scores.heads`. Throws RangeError when it was not computed. */
export function placeOf(scores: { readonly heads: readonly number[] }, head: number): number {
  checkHeads(scores);
  return check.placeIn('head', head, scores.heads);
}

/** One term of one head, [n, n], by its name; a view, not a copy. */
export function schemeTermOf(scores: SchemeScores, head: number, name: string): Float64Array {
  const place = placeOf(scores, head);
  const { n, termNames, terms } = scores;
  const start = (place * termNames.length + check.placeIn('A term', name, termNames)) * n * n;
  return terms.subarray(start, start + n * n);
}
