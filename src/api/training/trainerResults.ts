// What a trainer measures.
import type { Table } from '../table.js';

export interface TrainingEvaluation {
  /** Mean cross-entropy over the targets, in nats. */
  readonly loss: number;
  /** The share of targets with the largest logit; of equal logits the first counts. */
  readonly accuracy: number;
  /** How many targets there are. */
  readonly targets: number;
}

export interface TrainingSharesOptions {
  /**
   * 'raw': the rows as training left them. 'canonical': minus each part’s mean over its sequence, so that
   * shares do not depend on the tables’ means. Default 'raw'.
   */
  gauge?: 'raw' | 'canonical';
}

/**
 * Shares of the terms in the variation of the first layer’s scores over keys. Raw ones sum to 1 over the
 * terms. For canonical ones, the rest is terms with constants.
 */
export interface TrainingShares {
  /**
   * [4], the mean over the heads, in the order of the term names: token-token, token-position, position-token,
   * position-position. Null for a scheme whose scores have no terms in this gauge, or scores that do not vary.
   */
  readonly mean: Float64Array | null;
  /** Why there are none, in a sentence; null where there are. */
  readonly reason: string | null;
}

/** Root mean squares of the norms of rows. */
export interface TrainingLoudness {
  /** Of the token rows as they are read. */
  readonly tokens: number;
  /** Of the position rows in use; null under a scheme that has none. */
  readonly positions: number | null;
}

/** A recipe for rows. */
export interface LoudnessRecipe extends TrainingLoudness {
  /**
   * 'transformer': N(0, 1/d) times √d, and a sinusoid (arXiv 1706.03762). 'unscaled': the same without √d.
   * 'pytorch': N(0, 1) twice. 'bert': N(0, 0.02²) twice. 'gpt2': N(0, 0.02²) and N(0, 0.01²).
   */
  readonly name: 'transformer' | 'unscaled' | 'pytorch' | 'bert' | 'gpt2';
  /** Root mean square of a position row’s norm, by closed form. */
  readonly positions: number;
  /** ρ for dotProducts() of tokens from N(0, 1) with a sinusoid: √2 · positions / tokens. */
  readonly positionScale: number;
}

/**
 * How far token rows E and position rows P, each minus their mean row, share directions. Null for a scheme without
 * positions in the stream, or rows that are all equal.
 */
export interface TrainingOverlap {
  /** A = D‖EPᵀ‖² / (‖E‖²‖P‖²): 0 if orthogonal, 1 expected of random rotations. */
  readonly overlap: number | null;
  /** A’s standard deviation over random rotations. */
  readonly chance: number | null;
  /** Why there is none, in a sentence; null where there is. */
  readonly reason: string | null;
}

/** Two directions that show how token and position rows move apart. */
export interface TrainingDirections {
  /**
   * [2, D], of length 1: the leading direction of the token rows, and that of the position rows minus its
   * part along the first. Each is chosen without regard to the other table. The largest entry is positive. Null for a
   * scheme without positions in the stream.
   */
  readonly directions: Table<Float64Array> | null;
  /** Why there are none, in a sentence; null where there are. */
  readonly reason: string | null;
}

/** Rows minus their mean row, along k directions. */
export interface TrainingCoordinates {
  /** [vocabulary, k] */
  readonly tokens: Table<Float64Array>;
  /** [n, k] */
  readonly positions: Table<Float64Array>;
}
