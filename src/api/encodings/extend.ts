import * as check from '../check.js';
import type { RawSecond } from '../module.js';
import { type Floats, rounded, type Table, table } from '../table.js';

const howNames = ['copied', 'tiled', 'interpolated'] as const;

export interface ExtendTableInput<A extends Floats = Floats> {
  /** A learned table of positions, [n, d], n from 1 up. */
  table: Table<A>;
  /** Rows wanted, from 1 up. Up to n, they are the first ones. */
  rows: number;
  /** copied: the last row for all beyond. tiled: row p mod n. interpolated: all rows spread evenly, linear in between. */
  how: (typeof howNames)[number];
}

export interface ExtendApi {
  /** Rows for positions that a learned table has none for, [rows, d]. Throws RangeError, TypeError. */
  extendTable<A extends Floats>(input: ExtendTableInput<A>): Table<A>;
}

export function extendApi(raw: RawSecond): ExtendApi {
  return {
    extendTable<A extends Floats>(input: ExtendTableInput<A>): Table<A> {
      check.object('input', input);
      const given = check.table('table', input.table);
      if (given.rows === 0) check.refuseCount('table', 'at least 1 row', 0);
      const rows = check.integer('rows', input.rows, 1);
      const how = check.placeOf('how', input.how, howNames);
      check.fits(`${rows} rows of ${given.columns} channels`, 24 * (rows + given.rows) * given.columns);
      const longer = raw.extendTable(given, rows, how);
      return table(rounded<A>(longer, check.isSingle(given.data)), rows, given.columns);
    },
  };
}
