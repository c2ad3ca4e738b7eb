// The gauge of scores taken apart: how much of each summand counts as constant.
import * as check from '../check.js';
import { type Floats, type Table, table } from '../table.js';

/**
 * Terms and shares are not unique: a vector added to every row of one summand and taken from another's changes
 * no score and every term of the two. A gauge says what mean is taken from each summand and counted as
 * constant.
 *
 * - `raw`: none, so that terms are of the tables as they come.
 * - `canonical`: the mean over the rows that do not stand apart, each weighed by 1/σ of its LayerNorm. Terms of
 *   two parts then have zero row and column sums, and none moves when the tables are shifted.
 * - `means`: the caller's, a vector [d] of each summand, by name.
 */
export type Gauge<A extends Floats = Floats> = 'raw' | 'canonical' | { means: Readonly<Record<string, A>> };

/** What scores record of the gauge they are in. */
export type GaugeName = (typeof gaugeNames)[number];

export interface GaugeOptions<A extends Floats = Floats> {
  /** Default `raw`. */
  gauge?: Gauge<A>;
  /**
   * Rows that stand apart: those whose token the model fixes, such as [CLS] at position 0, and padding. They
   * are in no mean, shares leave them out as queries and as keys, and in every gauge but the raw one the whole
   * of such a row counts as constant. Default none.
   */
  apart?: readonly number[];
}

const gaugeNames = ['raw', 'canonical', 'means'] as const;

/** A gauge, checked, as the module takes it. */
export interface CheckedGauge {
  /** What scores say of it. */
  name: GaugeName;
  /** In the order of the names. */
  kind: number;
  /** [summands, d], of kind means. */
  means: Table | undefined;
  /** Rows that stand apart. */
  apart: number[];
}

/** Of summands of width d, in the element type of `like`, with `rows` rows where they are known. */
export function checkedGauge<A extends Floats>(
  { gauge = 'raw', apart = [] }: GaugeOptions<A>,
  names: readonly string[],
  d: number,
  like: A,
  rows?: number,
): CheckedGauge {
  const list = [...check.integers('apart', apart)];
  check.once('apart', list);
  if (rows !== undefined) checkApart(list, rows);
  if (gauge === 'raw' || gauge === 'canonical') {
    return { name: gauge, kind: gaugeNames.indexOf(gauge), means: undefined, apart: list };
  }
  if (gauge === null || typeof gauge !== 'object') {
    const must = "'raw', 'canonical' or an object with means";
    check.refuse('gauge', must, gauge, typeof gauge === 'string');
  }
  const { means } = gauge;
  check.object('gauge.means', means);
  for (const name of Object.keys(means)) check.oneOf('a name in gauge.means', name, names);
  check.samePrecision({
    summands: like,
    ...Object.fromEntries(
      names.map((name) => [`gauge.means.${name}`, check.floats(`gauge.means.${name}`, means[name], d)]),
    ),
  });
  const data = new (like.constructor as new (length: number) => A)(names.length * d);
  names.forEach((name, place) => {
    data.set(means[name] as A, place * d);
  });
  return {
    name: 'means',
    kind: gaugeNames.indexOf('means'),
    means: table(data, names.length, d),
    apart: list,
  };
}

/** Of scores, which may come from another thread or a file. */
export const checkGaugeName = (name: string, value: unknown): GaugeName =>
  check.oneOf(name, value, gaugeNames);

/** Refuses rows that stand apart but are not there. */
export function checkApart(apart: readonly number[], rows: number): void {
  for (const row of apart) check.index('A row of apart', row, rows);
}
