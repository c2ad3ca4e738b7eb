// The gauge of a decomposition: how much of each summand counts as constant.
import * as check from '../check.js';

/**
 * Terms and shares are not unique: adding a vector to every row of one summand and subtracting it from
 * another's changes no score, but every term of the two. A gauge says which mean is subtracted from each
 * summand and counted as constant.
 *
 * - `raw`: none, so that terms belong to the tables as they are.
 * - `canonical`: the mean over the rows that do not stand apart, each weighted by 1/σ of its LayerNorm. Terms
 *   of two parts then have zero row and column sums, and none depends on a shift of the tables.
 */
export type Gauge = (typeof gaugeNames)[number];

export interface GaugeOptions {
  /** Default `raw`. */
  gauge?: Gauge;
  /**
   * Rows that stand apart: those whose token the model fixes, such as [CLS] at position 0, and padding. No
   * mean includes them, shares leave them out as queries and as keys, and in every gauge except `raw` the
   * whole row counts as constant. Default none.
   */
  apart?: readonly number[];
}

const gaugeNames = ['raw', 'canonical'] as const;

/** A gauge as the module takes it, and its name. */
export function checkedGauge({ gauge = 'raw', apart = [] }: GaugeOptions, rows: number) {
  const list = [...check.integers('apart', apart)];
  check.once('apart', list);
  for (const row of list) check.index('A row of apart', row, rows);
  return { kind: check.oneOf('gauge', gauge, gaugeNames), apart: list };
}

/** Checks the gauge of scores, which may come from another thread or a file. */
export const checkGaugeName = (name: string, value: unknown): Gauge => check.oneOf(name, value, gaugeNames);
