// Scores, head by head, and the terms that add up to them: the results of every way of combining tokens and
// positions. They are plain objects, so that threads can post them.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Floats, table } from '../table.js';
import { checkGaugeName, type Gauge } from './gauge.js';

/**
 * Names the four terms of a score of tokens and positions: the query's part, then the key's.
 *
 * @category Decompose scores
 */
export const pairTerms = ['token-token', 'token-position', 'position-token', 'position-position'] as const;

/**
 * Names the terms of the analysis of variance, which follow one rule for all schemes. They are the four
 * pairs; tokens with tokens by their offset; a key alone, which every query prefers wherever it stands; and a
 * query alone, which is the same for every key, so softmax ignores it.
 *
 * @category Compare adding and concatenating
 */
export const anovaTerms = [...pairTerms, 'token-offset', 'key', 'query'] as const;

/** The terms of attention scores. Arrays are flat, the last index running fastest. */
export interface Terms {
  /** The number of tokens. */
  readonly n: number;
  /** The indices of the heads, in the order of the arrays below. */
  readonly heads: readonly number[];
  /** The parts of a query or key; term s * parts.length + r is query part s times key part r. */
  readonly parts: readonly string[];
  /** The gauge of the terms, which depend on it; see Gauge. */
  readonly gauge: Gauge;
  /** The rows that shares exclude. */
  readonly excludedRows: readonly number[];
  /** Whether a query sees no later key; shares then exclude those pairs. Default false. */
  readonly causal?: boolean;
  /**
   * [heads, parts², n, n], queries in rows. Like the logits, they have no unit: they are scaled, usually by
   * 1/√d_head, and come before the softmax. In float, in which they are computed.
   */
  readonly terms: Float32Array;
}

/** Attention scores, decomposed into terms. */
export interface Scores extends Terms {
  /** [heads, n, n], before the softmax, computed from queries and keys, not from the terms. */
  readonly logits: Float32Array;
  /** [heads], the largest |sum of terms − logits|, which is the rounding error of float. */
  readonly residuals: Float64Array;
  /**
   * [heads, parts²], covariance shares: the part of the logits' variation over keys for which each term
   * accounts. Rows are centred, because softmax ignores their means. Shares depend on the gauge, sum to 1 and
   * may be negative. All are NaN when the logits vary along no row by more than their rounding error, for
   * example with fewer than two rows that are not excluded; covariances and variances are then 0.
   */
  readonly shares: Float64Array;
  /**
   * [heads, parts²], ⟨T̃, Ã⟩ of each term with the logits. Pooled shares are the sum of these divided by the
   * sum of `variances`.
   */
  readonly covariances: Float64Array;
  /** [heads], ‖Ã‖² of the logits. */
  readonly variances: Float64Array;
}

/** Logits of a scheme, decomposed into named terms. Arrays are flat, the last index running fastest. */
export interface SchemeScores extends Pick<Scores, 'n' | 'heads' | 'residuals' | 'variances'> {
  /** The names of the terms: content-content and, for example, content-position or bias. */
  readonly termNames: readonly string[];
  /** [heads, terms, n, n], queries in rows, for all pairs: no causal mask is applied. */
  readonly terms: Float64Array;
  /**
   * [heads, n, n], for all pairs, computed independently of the terms: from queries and keys where the scheme
   * has them, and pair by pair otherwise.
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

/** Returns the index of a head in `scores.heads`. Throws RangeError when it was not computed. */
function placeOf(scores: { readonly heads: readonly number[] }, head: number): number {
  checkHeads(scores);
  return check.placeIn('head', head, scores.heads);
}

const block = <A extends Floats>(place: number, data: A, size: number): A =>
  data.subarray(place * size, (place + 1) * size) as A;

/**
 * Returns one term of one head, [n, n], by the names of its query part and key part; a view, not a copy.
 *
 * @category Decompose scores
 */
export function termOf(scores: Terms, head: number, queryPart: string, keyPart: string): Float32Array {
  const place = placeOf(scores, head);
  const { n, parts, terms } = scores;
  const index =
    check.placeIn('A part', queryPart, parts) * parts.length + check.placeIn('A part', keyPart, parts);
  return block(place * parts.length ** 2 + index, terms, n * n);
}

/**
 * Returns one term of one head of schemeScores(), [n, n], by its name; a view, not a copy.
 *
 * @category Compare adding and concatenating
 */
export function schemeTermOf(scores: SchemeScores, head: number, name: string): Float64Array {
  const place = placeOf(scores, head);
  const { n, termNames, terms } = scores;
  const start = (place * termNames.length + check.placeIn('A term', name, termNames)) * n * n;
  return terms.subarray(start, start + n * n);
}

/**
 * Returns the logits of one head, [n, n]; a view, not a copy.
 *
 * @category Decompose scores
 */
export const logitsOf = (scores: Scores, head: number): Float32Array =>
  block(placeOf(scores, head), scores.logits, scores.n ** 2);

/**
 * Returns the shares of one head's terms, [parts²]; a view, not a copy.
 *
 * @category Decompose scores
 */
export const sharesOf = (scores: Scores, head: number): Float64Array =>
  block(placeOf(scores, head), scores.shares, scores.parts.length ** 2);

/** The sum of some of a head's terms; each matrix is [n, n]. */
export interface CombinedTerms {
  /** The included terms, added up. */
  readonly sum: Float64Array;
  /**
   * The sum minus the mean of each row, which is the part that softmax sees unless scores are capped. NaN at
   * keys that the query does not see.
   */
  readonly centred: Float64Array;
  /**
   * The softmax of the sum over the keys that a query sees: the attention of a model with these terms alone.
   * Without terms, it is equal for all keys.
   */
  readonly softmax: Float64Array;
  /**
   * The sum's share of the logits' variation over keys, without excluded rows; NaN when the logits do not
   * vary.
   */
  readonly share: number;
}

/** The part of scores from which shares are pooled. */
export type PoolableScores = Pick<Scores, 'heads' | 'parts' | 'gauge' | 'covariances' | 'variances'>;

/**
 * Shares of groups of terms, which sum to 1 over the groups. The shares of a head whose scores do not vary
 * are NaN, and the mean and pooled shares leave it out. If no head varies, all are NaN.
 */
export interface PooledShares {
  /** [heads, groups], of each head over all the scores. */
  readonly heads: Float64Array;
  /** [groups], the mean over the heads that vary, each of which counts the same. */
  readonly mean: Float64Array;
  /** [groups], of all heads together, each of which counts by how much its scores vary. */
  readonly pooled: Float64Array;
}

/** @category Decompose scores */
interface ScoresApi {
  /**
   * Adds up any subset of one head's terms, and returns its sum, softmax and share. Each mask, [parts²], is
   * true for the terms of a subset. Throws RangeError or TypeError.
   */
  combineTerms(scores: Scores, head: number, masks: readonly (readonly boolean[])[]): CombinedTerms[];
  /**
   * Returns covariance shares over several scores, such as those of several sentences, which must have the
   * same heads, parts and gauge. Scores that do not vary add nothing. groupOf, [parts²], has the index of
   * each term's group. Throws RangeError or TypeError.
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
      // Scores may come from another thread or a file, and the module relies on the lengths. NaN is allowed,
      // because a summed row that does not vary gives NaN when epsilon is 0.
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
      for (const item of scores) checkHeads(item);
      const [{ heads, parts, gauge }] = scores as [PoolableScores, ...PoolableScores[]];
      const other = scores.find((item) => checkGaugeName('gauge', item.gauge) !== gauge);
      if (other) {
        throw new RangeError(
          `Scores must be in one gauge to be pooled; here are ${check.shown(gauge)} and ${check.shown(other.gauge)}.`,
        );
      }
      const terms = parts.length ** 2;
      const rows = scores.length * heads.length;
      check.requireMemory(`${rows} heads of ${terms} terms`, raw.poolSharesBytes(rows, terms));
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

/**
 * Refuses scores that would not fit. `width` counts the channels of a projected row together with those of
 * all heads' queries; `more` counts the bytes of what is allocated beside the scores.
 */
export function fitsScores(
  raw: RawModule,
  n: number,
  parts: number,
  heads: number,
  width: number,
  more = 0,
): void {
  check.requireMemory(
    `${check.counted(heads, 'head')} of ${check.counted(parts ** 2, 'term')} for ${check.counted(n, 'token')}`,
    raw.decompositionBytes(n, parts, heads, width) + more,
    'Decompose fewer heads at a time with `only`, or add parts up with `groups`.',
  );
}
