// The gauge of a decomposition, which says how much of each summand counts as constant.
import * as check from '../check.js';

/**
 * Terms and shares are not unique: adding a vector to every row of one summand and subtracting it from every
 * row of another changes no score, but changes every term of the two. A gauge says which mean is subtracted
 * from each summand and counted as constant.
 *
 * - `raw`: none, so that terms belong to the tables unchanged.
 * - `canonical`: the mean over the rows that are not excluded, each weighted by 1/σ of its LayerNorm. Terms
 *   of two parts then have zero row and column sums, and none depends on a shift of the tables.
 */
export type Gauge = (typeof gaugeNames)[number];

export interface GaugeOptions {
  /** Default `canonical`. */
  gauge?: Gauge;
  /**
   * Rows whose token the model fixes, such as [CLS] at position 0, and padding. In either gauge, shares
   * exclude them as queries and as keys. In `canonical`, no mean includes them, and the entire row counts as
   * constant. By default they are, in both gauges, the `excludedRows` of an opened model (row 0 of MiniLM,
   * its [CLS]), and none where no model is opened. Pass [] to include all rows.
   */
  excludedRows?: readonly number[];
}

const gaugeNames = ['raw', 'canonical'] as const;

export const gaugeOptionNames: check.OptionNames<GaugeOptions> = { gauge: true, excludedRows: true };

/** Checks a gauge and the rows that it excludes, and returns them as the binding takes them. */
export function checkedGauge({ gauge = 'canonical', excludedRows = [] }: GaugeOptions, rows: number) {
  const list = [...check.integers('excludedRows', excludedRows)];
  check.distinct('excludedRows', list);
  for (const row of list) check.index('A row of excludedRows', row, rows);
  return { kind: check.oneOf('gauge', gauge, gaugeNames), excludedRows: list };
}

/** Checks the gauge of scores, which may come from another thread or a file. */
export const checkGaugeName = (name: string, value: unknown): Gauge => check.oneOf(name, value, gaugeNames);
