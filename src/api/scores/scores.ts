// The results of every way of combining token and position: scores, head by head, and the terms that add up to them. Plain
// objects, so that they can be posted between threads.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Floats, type Linear, type Table, table } from '../table.js';
import { checkGaugeName, type Gauge } from './gauge.js';

/** The four terms of a score of tokens and positions: the query's part, then the key's. */
export const pairTerms = ['token-token', 'token-position', 'position-token', 'position-position'] as const;

/**
 * The terms of the analysis of variance, by one rule for all schemes: the four pairs; tokens with tokens by their
 * offset; a key alone, which every query prefers wherever it stands; and a query alone, which is the same for every
 * key, so softmax ignores it.
 */
export const anovaTerms = [...pairTerms, 'token-offset', 'key', 'query'] as const;

export type AnovaTerm = (typeof anovaTerms)[number];

/** The terms of attention scores. Arrays are flat, the last index running fastest. */
export interface Terms {
  /** Tokens. */
  readonly n: number;
  /** The heads returned, in the order of the arrays below. */
  readonly heads: readonly number[];
  /** The parts of a query or key; term s * parts.length + r is query part s times key part r. */
  readonly parts: readonly string[];
  /** The gauge of the terms: they depend on it as well as on the logits; see Gauge. */
  readonly gauge: Gauge;
  /** The rows that shares leave out. */
  readonly excludedRows: readonly number[];
  /** Whether a query sees no later key, which shares leave out too. Default false. */
  readonly causal?: boolean;
  /** [heads, parts², n, n], queries in rows; scaled like the logits. In float, as they are computed. */
  readonly terms: Float32Array;
}

/** Attention scores taken apart. */
export interface Scores extends Terms {
  /** [heads, n, n], from the whole queries and keys, not from the terms. */
  readonly logits: Float32Array;
  /** [heads], the largest |sum of terms − logits|: what rounding to float leaves. */
  readonly residuals: Float64Array;
  /**
   * [heads, parts²], covariance shares: how much of the logits' variation over keys each term accounts for.
   * Rows are centred, because softmax ignores their means. Shares depend on the gauge, sum to 1 and may be
   * negative. All are NaN when the logits vary along no row by more than their rounding, for example with
   * fewer than two rows that are not excluded; covariances and variances are then 0.
   */
  readonly shares: Float64Array;
  /**
   * [heads, parts²], ⟨T̃, Ã⟩ of each term with the logits. Pooled shares are their sum over that of
   * variances.
   */
  readonly covariances: Float64Array;
  /** [heads], ‖Ã‖² of the logits. */
  readonly variances: Float64Array;
}

/** Logits of a scheme taken apart into named terms. Arrays are flat, the last index running fastest. */
export interface SchemeScores extends Pick<Scores, 'n' | 'heads' | 'residuals' | 'variances'> {
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
  /** [heads, terms], as in Scores, over the keys that each query sees. */
  readonly shares: Float64Array;
  /** [heads, terms], for pooling shares: add these up and divide by the sum of variances. */
  readonly covariances: Float64Array;
}

function checkHeads(scores: { readonly heads: readonly number[] }): void {
  check.object('scores', scores);
  check.integers('scores.heads', scores.heads);
}

/** The place of a head in `scores.heads`. Throws RangeError when it was not computed. */
function placeOf(scores: { readonly heads: readonly number[] }, head: number): number {
  checkHeads(scores);
  return check.placeIn('head', head, scores.heads);
}

const block = <A extends Floats>(place: number, data: A, size: number): A =>
  data.subarray(place * size, (place + 1) * size) as A;

/** One term of one head, [n, n], by the names of its query part and key part; a view, not a copy. */
export function termOf(scores: Terms, head: number, queryPart: string, keyPart: string): Float32Array {
  const place = placeOf(scores, head);
  const { n, parts, terms } = scores;
  const index =
    check.placeIn('A part', queryPart, parts) * parts.length + check.placeIn('A part', keyPart, parts);
  return block(place * parts.length ** 2 + index, terms, n * n);
}

/** One term of one head, [n, n], by its name; a view, not a copy. */
export function schemeTermOf(scores: SchemeScores, head: number, name: string): Float64Array {
  const place = placeOf(scores, head);
  const { n, termNames, terms } = scores;
  const start = (place * termNames.length + check.placeIn('A term', name, termNames)) * n * n;
  return terms.subarray(start, start + n * n);
}

/** The logits of one head, [n, n]; a view, not a copy. */
export const logitsOf = (scores: Scores, head: number): Float32Array =>
  block(placeOf(scores, head), scores.logits, scores.n ** 2);

/** The shares of one head's terms, [parts²]; a view, not a copy. */
export const sharesOf = (scores: Scores, head: number): Float64Array =>
  block(placeOf(scores, head), scores.shares, scores.parts.length ** 2);

/** The sum of some of a head's terms; each matrix is [n, n]. */
export interface CombinedTerms {
  /** The included terms, added up. */
  readonly sum: Float64Array;
  /**
   * The sum minus the mean of each row: the part that softmax sees, unless it is of capped scores. NaN at keys that the
   * query does not see.
   */
  readonly centred: Float64Array;
  /**
   * Softmax of the sum, over the keys that a query sees: what the model would attend to with these terms alone. Without
   * terms, the same for all of them.
   */
  readonly softmax: Float64Array;
  /**
   * Its share of the logits' variation over keys, without excluded rows; NaN when they do not vary.
   */
  readonly share: number;
}

/** The part of scores that shares are pooled from. */
export type PoolableScores = Pick<Scores, 'heads' | 'parts' | 'gauge' | 'covariances' | 'variances'>;

/**
 * Shares of groups of terms, which sum to 1 over the groups. A head whose scores do not vary has none: its own are NaN,
 * and the others' mean and pooled shares are without it. If no head varies, all are NaN.
 */
export interface PooledShares {
  /** [heads, groups], each head over all the scores. */
  readonly heads: Float64Array;
  /** [groups], the mean over the heads that vary: each of them counts the same. */
  readonly mean: Float64Array;
  /** [groups], all heads together: each counts by how much its scores vary. */
  readonly pooled: Float64Array;
}

export interface ScoresApi {
  /** For each mask, [parts²], adds up the terms of one head whose entry is true. */
  combineTerms(scores: Scores, head: number, masks: readonly (readonly boolean[])[]): CombinedTerms[];
  /**
   * Covariance shares over several scores, such as those of several sentences, with the same heads, parts and
   * gauge. Scores without variation, whose own shares are NaN, add nothing. groupOf, [parts²], gives each
   * term's group, from 0. Throws RangeError, TypeError.
   */
  poolShares(scores: readonly PoolableScores[], groupOf: readonly number[]): PooledShares;
}

export function scoresApi(raw: RawModule): ScoresApi {
  return {
    combineTerms(scores, head, masks) {
      const place = placeOf(scores, head);
      const count = scores.parts.length ** 2;
      if (!Array.isArray(masks)) check.refuse('masks', 'an array of masks', masks, false);
      for (const mask of masks) {
        if (Array.isArray(mask) && mask.length === count) continue;
        const must = `${count} booleans, one for each term`;
        check.refuse('an entry of masks', must, mask, Array.isArray(mask));
      }
      // Scores may come from another thread or a file, and the module trusts the lengths. NaN is allowed: a
      // sum without variation gives it under epsilon 0.
      const each = check.integer('scores.n', scores.n, 0) ** 2 * scores.heads.length;
      check.array('scores.terms', scores.terms, each * count);
      check.array('scores.logits', scores.logits, each);
      const { n } = scores;
      const causal = check.flag('scores.causal', scores.causal ?? false);
      checkGaugeName('scores.gauge', scores.gauge);
      check.integers('scores.excludedRows', scores.excludedRows, Math.max(0, n - 1));
      const terms = block(place, scores.terms, count * n ** 2);
      const logits = table(logitsOf(scores, head), n, n);
      return raw.combineTerms(
        table(terms, count, n ** 2),
        logits,
        table(Float64Array.from(masks.flat(), Number), masks.length, count),
        scores.excludedRows,
        causal,
      );
    },
    poolShares(scores, groupOf) {
      if (!Array.isArray(scores) || scores.length === 0) {
        check.refuse('scores', 'an array of at least one', scores, false);
      }
      for (const one of scores) checkHeads(one);
      const [{ heads, parts, gauge }] = scores as [PoolableScores, ...PoolableScores[]];
      const other = scores.find((one) => checkGaugeName('gauge', one.gauge) !== gauge);
      if (other) {
        throw new RangeError(
          `Scores must be in one gauge to be pooled; here are ${check.shown(gauge)} and ${check.shown(other.gauge)}.`,
        );
      }
      const terms = parts.length ** 2;
      const rows = scores.length * heads.length;
      check.fits(`${rows} heads of ${terms} terms`, 24 * rows * (terms + 1));
      // NaN is allowed in both, as in combineTerms.
      for (const { covariances, variances } of scores) {
        check.array('covariances', covariances, heads.length * terms);
        check.array('variances', variances, heads.length);
      }
      const groups = 1 + Math.max(...check.integers('groupOf', groupOf, terms - 1, terms));
      return raw.poolShares(scores, heads.length, terms, groupOf, groups);
    },
  };
}

/** Refuses scores that would not fit; `width` is that of all heads' queries together. */
export function fitsScores(
  n: number,
  parts: number,
  heads: number,
  width: number,
  ...weights: (Linear | Table)[]
): void {
  const perHead = (parts ** 2 + 3) * n * n;
  check.fits(
    `${heads} heads of ${parts ** 2} terms for ${n} tokens`,
    4 * (heads + 1) * perHead + 32 * (parts + 1) * n * width,
    ...weights,
  );
}
