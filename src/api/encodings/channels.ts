// The range of each channel of a table, and how many dimensions the table fills.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import type { Table } from '../table.js';

export interface RanksInput {
  /** A table of any kind, [rows, columns]. */
  table: Table;
  /** Whether each column's mean is subtracted first. Default false. */
  centred?: boolean;
  /** The share of the sum of squared singular values that `energy` must reach, from 0 to 1. Default 0.99. */
  share?: number;
}

/** Four measures of rank. All are 0 for a table that is all zero or has no rows. */
export interface Ranks {
  /** [min(rows, columns)], largest first. */
  readonly singularValues: Float64Array;
  /**
   * The number of singular values above 1e-10 · s₁, or above 1e-6 · s₁ if float32 can represent every number
   * of the table and not all of them are integers. Smaller values may be rounding errors.
   */
  readonly numerical: number;
  /** Σ s² / s₁² (Rudelson and Vershynin 2007). */
  readonly stable: number;
  /**
   * The smallest number of leading singular values whose squares make up `share` of the sum of all squares.
   */
  readonly energy: number;
  /** (Σ s²)² / Σ s⁴. For a centred table, this is the participation ratio of its covariance's eigenvalues. */
  readonly participationRatio: number;
}

/** @category Measure geometry */
interface ChannelsApi {
  /** Returns the range of each channel, max − min over the rows, [columns]; zeros if there are no rows. */
  channelRanges(table: Table): Float64Array;
  /**
   * Measures how many dimensions a table fills, in four ways. A table of 512 by 768 takes seconds when its
   * rank is full. Throws RangeError or TypeError.
   */
  ranks(input: RanksInput): Ranks;
}

export function channelsApi(raw: RawModule): ChannelsApi {
  return {
    channelRanges(input) {
      const { rows, columns } = check.table('table', input);
      check.requireMemory(`A table of ${rows} by ${columns}`, raw.channelRangesBytes(rows, columns));
      return raw.channelRanges(input);
    },
    ranks(input) {
      check.knownOptions('input', input, { table: true, centred: true, share: true });
      const { table, centred = false, share = 0.99 } = input;
      const { rows, columns } = check.table('table', table);
      check.flag('centred', centred);
      check.number('share', share, 0, 1);
      check.requireMemory(`The singular values of ${rows} by ${columns}`, raw.ranksBytes(rows, columns));
      return raw.ranks(table, centred, share);
    },
  };
}
