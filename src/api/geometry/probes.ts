import * as check from '../check.js';
import type { RawSecond } from '../module.js';
import type { Table } from '../table.js';

export interface FoldOptions {
  /** From 2 to the number of items. Default 5. */
  folds?: number;
  /** Whether items are shuffled before they are split; otherwise folds are contiguous. Default true. */
  shuffled?: boolean;
  /** Whole number, 0 to 2³² − 1. Default 0. */
  seed?: number;
}

export interface PositionProbeInput extends FoldOptions {
  /** [n, d], n from 2 up. */
  rows: Table;
  /** [n], the position of each row; left out, 0, 1, 2, … */
  index?: readonly number[];
  /** The weight of the squared coefficients, from 0 up. Default 0: least squares. */
  penalty?: number;
}

export interface PositionProbe {
  /** [n], each predicted by the regression that did not see it. */
  readonly predicted: Float64Array;
  /** Mean |round(ŷ) − y|, in positions. */
  readonly meanAbsoluteError: number;
  /** The same error for a guess: the rounded mean of all positions, every time. */
  readonly guessingError: number;
}

export interface OrderProbeInput extends FoldOptions {
  /** One row for each position, [L, d], L from 2 up. */
  rows: Table;
  /** Random pairs of different positions, which are what is split into folds. Default 512. */
  pairs?: number;
  /** Half of it weighs the squared coefficients; above 0. Default 1. */
  penalty?: number;
}

export interface OrderProbe {
  /** [pairs], one position of each pair. */
  readonly first: Int32Array;
  /** [pairs], the other position of each pair. */
  readonly second: Int32Array;
  /** [pairs], 1 where the classifier that had not seen the pair puts it in the wrong order. */
  readonly wrong: Int32Array;
  /** The share of wrong pairs. */
  readonly error: number;
  /**
   * Whether the regression of every fold reached its optimum. Separable pairs under almost no penalty have no
   * optimum within reach; `error` is then that of the last step.
   */
  readonly converged: boolean;
}

export interface TokenProbeInput {
  /** [V, d]; at least two rows. */
  token: Table;
  /** [L, d]; at least two rows. */
  position: Table;
  /** The weight of the squared coefficients, above 0. Default 1. */
  penalty?: number;
  /** The share of tokens and of positions kept for testing, between 0 and 1. Default 0.2. */
  heldOut?: number;
  /** Sampled sums to learn from. Default 1000. */
  trainingPairs?: number;
  /** Sampled sums to test on. Default 1000. */
  testPairs?: number;
  /** Whole number, 0 to 2³² − 1. Default 0. */
  seed?: number;
}

export interface TokenProbe {
  /** 1 − ‖t̂ − t‖² / ‖t − mean‖² on held-out tokens at held-out positions. */
  readonly rSquared: number;
  /** The same on the pairs it learned from. */
  readonly trainingRSquared: number;
  /** Mean cosine of t̂ and t on the test pairs. */
  readonly meanCosine: number;
  /** Held-out rows of `token`, ascending. */
  readonly heldOutTokens: Int32Array;
  /** Held-out rows of `position`, ascending. */
  readonly heldOutPositions: Int32Array;
}

/** Linear probes, in double. The same seed gives the same splits everywhere. */
export interface ProbesApi {
  /** Regression of the position (Wang & Chen 2020; MiuLab/PE-Study, absolute.py). */
  positionProbe(input: PositionProbeInput): PositionProbe;
  /** Logistic regression on [p_a; p_b] of whether b > a (Wang & Chen 2020; MiuLab/PE-Study, relative.py). */
  orderProbe(input: OrderProbeInput): OrderProbe;
  /** Ridge regression of t from x = t + p, held out over both tokens and positions. */
  tokenProbe(input: TokenProbeInput): TokenProbe;
}

function folds(options: FoldOptions, items: number) {
  const { folds = 5, shuffled = true, seed = 0 } = options;
  check.integer('folds', folds, 2, items);
  check.seed('seed', seed);
  check.flag('shuffled', shuffled);
  return { folds, shuffled, seed };
}

function atLeastTwo(name: string, value: Table): void {
  check.table(name, value);
  if (value.rows < 2) check.refuseCount(name, 'at least 2 rows', value.rows);
}

export function probesApi(raw: RawSecond): ProbesApi {
  return {
    positionProbe(input) {
      check.object('input', input);
      const { rows, index, penalty = 0 } = input;
      atLeastTwo('rows', rows);
      const { rows: n, columns: d } = rows;
      if (index !== undefined) check.numbers('index', index, check.number, n);
      check.number('penalty', penalty, 0);
      const options = { penalty, ...folds(input, n) };
      check.fits(`Regression on ${n} by ${d}`, (14 * n * d + Math.min(n, d) ** 2 * 6) * 8);
      const positions = Float64Array.from(index ?? Array.from({ length: n }, (_, i) => i));
      return raw.positionProbe(rows, positions, options);
    },

    orderProbe(input) {
      check.object('input', input);
      const { rows, pairs = 512, penalty = 1 } = input;
      atLeastTwo('rows', rows);
      check.integer('pairs', pairs, 2);
      check.positive('penalty', penalty);
      const options = { penalty, ...folds(input, pairs) };
      check.fits(
        `Classification of ${pairs} pairs`,
        (rows.rows * rows.columns + 18 * pairs * rows.columns + 8 * pairs * pairs) * 8,
      );
      return raw.orderProbe(rows, pairs, options);
    },

    tokenProbe(input) {
      check.object('input', input);
      const { token, position, penalty = 1, heldOut = 0.2 } = input;
      const { trainingPairs = 1000, testPairs = 1000, seed = 0 } = input;
      atLeastTwo('token', token);
      atLeastTwo('position', position);
      check.table('position', position, { columns: token.columns });
      check.positive('penalty', penalty);
      check.number('heldOut', heldOut, 0, 1);
      check.integer('trainingPairs', trainingPairs, 1);
      check.integer('testPairs', testPairs, 1);
      check.seed('seed', seed);
      const d = token.columns;
      check.fits(
        `Regression on ${trainingPairs} pairs, tested on ${testPairs}`,
        ((2 * token.rows + 2 * position.rows + 14 * trainingPairs + 4 * testPairs) * d +
          4 * d * d +
          6 * Math.min(trainingPairs, d) ** 2) *
          8,
      );
      const options = { penalty, heldOut, trainingPairs, testPairs, seed };
      return raw.tokenProbe(token, position, options);
    },
  };
}
