// The gauge of a decomposition: how much of each summand counts as constant.
import * as check from '../check.js';
import { type Floats, type Table, table } from '../table.js';

/**
 * Terms and shares are not unique: adding a vector to every row of one summand and subtracting it from
 * another's changes no score, but every term of the two. A gauge says which mean is subtracted from each
 * summand and counted as constant.
 *
 * - `raw`: none, so that terms belong to the tables as they are.
 * - `canonical`: the mean over the rows that do not stand apart, each weighted by 1/σ of its LayerNorm. Terms
 *   of two parts then have zero row and column sums, and none depends on a shift of the tables.
 * - `means`: the caller's, a vector [d] for each summand, by name.
 */
export type Gauge<A extends Floats = Floats> = 'raw' | 'canonical' | { means: Readonly<Record<string, A>> };

/** The gauge's name, as scores record it. */
export type GaugeName = (typeof gaugeNames)[number];

export interface GaugeOptions<A extends Floats = Floats> {
  /** Default `raw`. */
  gauge?: Gauge<A>;
  /**
   * Rows that stand apart: those whose token the model fixes, such as [CLS] at position 0, and padding. No
   * mean includes them, shares leave them out as queries and as keys, and in every gauge except `raw` the
   * whole row counts as constant. Default none.
   */
  apart?: readonly number[];
}

const gaugeNames = ['raw', 'canonical', 'means'] as const;

/** A checked gauge, as the module takes it. */
export interface CheckedGauge {
  /** The name that scores record. */
  name: GaugeName;
  /** Its number in the order of names. */
  kind: number;
  /** [summands, d], only for the caller's means. */
  means: Table | undefined;
  /** Rows that stand apart. */
  apart: number[];
}

/** Checks a gauge for summands of width d, in the element type of `like`, with `rows` rows if known. */
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

/** Checks the gauge of scores, which may come from another thread or a file. */
export const checkGaugeName = (name: string, value: unknown): GaugeName =>
  check.oneOf(name, value, gaugeNames);

/** Refuses rows that stand apart but do not exist. */
export function checkApart(apart: readonly number[], rows: number): void {
  for (const row of apart) check.index('A row of apart', row, rows);
}
