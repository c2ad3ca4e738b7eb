import * as check from '../check.js';
import type { RawModule } from '../module.js';
import type { Table } from '../table.js';

export interface RanksInput {
  /** Any table, [rows, columns]. */
  table: Table;
  /** Subtract each column's mean first. Default false. */
  centred?: boolean;
  /** The share of the sum of squares that `energy` dimensions must hold; from 0 to 1. Default 0.99. */
  share?: number;
}

/** All ranks are 0 for a table that is all zero or has no rows. */
export interface Ranks {
  /** [min(rows, columns)], largest first. */
  readonly singularValues: Float64Array;
  /**
   * Singular values above 1e-10 · s₁, or above 1e-6 · s₁ where each number of the table is one that float32 holds and
   * not all are whole: what is below may be rounding.
   */
  readonly numerical: number;
  /** Σ s² / s₁² (Rudelson and Vershynin 2007). */
  readonly stable: number;
  /** The least number of leading singular values whose squares hold the share. */
  readonly energy: number;
  /** (Σ s²)² / Σ s⁴: of a centred table, the participation ratio of its covariance's eigenvalues. */
  readonly participationRatio: number;
}

export interface ChannelsApi {
  /** max − min over the rows, for each column: how far each channel moves. Zeros without rows. */
  channelRanges(table: Table): Float64Array;
  /**
   * How many dimensions a table fills, by four measures. A table of 512 by 768 takes seconds when its rank
   * is full. Throws RangeError, TypeError.
   */
  ranks(input: RanksInput): Ranks;
}

export function channelsApi(raw: RawModule): ChannelsApi {
  return {
    channelRanges(input) {
      const { rows, columns } = check.table('table', input);
      check.fits(`A table of ${rows} by ${columns}`, 8 * columns * (rows + 1));
      return raw.channelRanges(input);
    },
    ranks(input) {
      check.knownOptions('input', input, { table: true, centred: true, share: true });
      const { table, centred = false, share = 0.99 } = input;
      const { rows, columns } = check.table('table', table);
      check.flag('centred', centred);
      check.number('share', share, 0, 1);
      check.fits(`The singular values of ${rows} by ${columns}`, 48 * rows * columns);
      return raw.ranks(table, centred, share);
    },
  };
}
