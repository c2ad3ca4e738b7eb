import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

export interface MeanDecompositionInput {
  /** Vectors, [n, d]. */
  rows: Table;
  /** [n], the position of each row, below `positions`. */
  positionOf: readonly number[];
  /** How many positions there are, from 1 up. */
  positions: number;
  /** [n], the token of each row, below `tokens`. */
  tokenOf: readonly number[];
  /** How many tokens there are, from 1 up. */
  tokens: number;
}

export interface MeanDecomposition {
  /** [d], the mean of all rows. */
  readonly global: Float64Array;
  /** [positions, d], the mean at each position minus the global mean; zeros where a position has no rows. */
  readonly position: Float64Array;
  /** [tokens, d], the same for each token. */
  readonly token: Float64Array;
  /** [n, d], what is left. */
  readonly residual: Float64Array;
  /** The positions’ share of ‖h − global‖² over all rows; NaN when that is 0. */
  readonly positionShare: number;
  /** The tokens’ share of it. */
  readonly tokenShare: number;
  /** The share that neither explains. */
  readonly residualShare: number;
  /** 1 minus the three shares: 0 when every token occurs equally often at each position. */
  readonly overlap: number;
}

export interface MoveMeanInput {
  /** Rows [n, d] whose mean is moved; n from 1 up. */
  from: Table;
  /** Rows [n, d] that get it. */
  to: Table;
  /** How many mean rows, any finite number. */
  amount: number;
}

export interface MeanDecompositionApi {
  /**
   * h = global + position + token + residual, by means (Song & Zhong 2023, arXiv 2310.04861). For x = t + p
   * with the same tokens at each position, `position` is p_t minus the mean position. In double.
   */
  meanDecomposition(input: MeanDecompositionInput): MeanDecomposition;
  /**
   * Moves `amount` times the mean row of one table to each row of another: the sums of their rows stay, so a layer
   * that reads the sums cannot tell. In double.
   */
  moveMean(input: MoveMeanInput): { from: Table<Float64Array>; to: Table<Float64Array> };
}

export function meanDecompositionApi(raw: RawModule): MeanDecompositionApi {
  return {
    meanDecomposition(input) {
      check.object('input', input);
      const { rows, positionOf, positions, tokenOf, tokens } = input;
      check.table('rows', rows);
      check.integer('positions', positions, 1);
      check.integer('tokens', tokens, 1);
      check.integers('positionOf', positionOf, positions - 1, rows.rows);
      check.integers('tokenOf', tokenOf, tokens - 1, rows.rows);
      check.fits(
        `The means of ${positions} positions and ${tokens} tokens`,
        (4 * rows.rows + 2 * (positions + tokens)) * (rows.columns + 1) * 8,
      );
      return raw.meanDecomposition(rows, positionOf, positions, tokenOf, tokens);
    },
    moveMean(input) {
      check.object('input', input);
      const { from, to, amount } = input;
      const { rows, columns } = check.table('from', from);
      if (rows === 0) check.refuseCount('from', 'at least 1 row', 0);
      check.table('to', to, { rows, columns });
      check.number('amount', amount);
      check.fits(`Two tables of ${rows} rows by ${columns} columns`, 7 * rows * columns * 8);
      const moved = raw.moveMean(from, to, amount);
      return { from: table(moved.from, rows, columns), to: table(moved.to, rows, columns) };
    },
  };
}
