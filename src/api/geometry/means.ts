import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

export interface MoveMeanInput {
  /** Rows [n, d] whose mean is moved; n from 1 up. */
  from: Table;
  /** Rows [n, d] that get it. */
  to: Table;
  /** How many mean rows, any finite number. */
  amount: number;
}

export interface MeansApi {
  /**
   * Each row minus the mean row, in double; rows that are all equal leave exactly nothing. What rounding left in
   * float32 numbers would count as directions here: ranks() takes such a table itself, with `centred`.
   */
  centred(table: Table): Table<Float64Array>;
  /**
   * Moves `amount` times the mean row of one table to each row of another: the sums of their rows stay, so a layer
   * that reads the sums cannot tell. In double.
   */
  moveMean(input: MoveMeanInput): { from: Table<Float64Array>; to: Table<Float64Array> };
}

export function meansApi(raw: RawModule): MeansApi {
  return {
    centred(input) {
      const { rows, columns } = check.table('table', input);
      check.fits(`A table of ${rows} rows by ${columns} columns`, 32 * rows * columns);
      return table(raw.centred(input), rows, columns);
    },
    moveMean(input) {
      check.knownOptions('input', input, { from: true, to: true, amount: true });
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
