// Tables minus their mean rows.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

export interface MoveMeanInput {
  /** The rows whose mean is moved, [n, d]; n is from 1 up. */
  from: Table;
  /** The rows to which the mean row is added, [n, d]. */
  to: Table;
  /** How many times the mean row is moved; any finite number. */
  amount: number;
}

/** @category Measure geometry */
interface MeansApi {
  /**
   * Returns each row minus the mean row, in double. Rows that are all equal become exactly zero. For ranks()
   * with `centred`, pass the original table: in a table that is already centred, the rounding errors of
   * float32 numbers would count as directions.
   */
  centred(table: Table): Table<Float64Array>;
  /**
   * Subtracts `amount` times the mean row of `from` from each of its rows, and adds it to each row of `to`,
   * in double. The sum of a row of `from` and the same row of `to` does not change, so a layer that reads
   * these sums cannot tell. Throws RangeError or TypeError.
   */
  moveMean(input: MoveMeanInput): { from: Table<Float64Array>; to: Table<Float64Array> };
}

export function meansApi(raw: RawModule): MeansApi {
  return {
    centred(input) {
      const { rows, columns } = check.table('table', input);
      check.requireMemory(`A table of ${rows} rows by ${columns} columns`, raw.centredBytes(rows, columns));
      return table(raw.centred(input), rows, columns);
    },
    moveMean(input) {
      check.knownOptions('input', input, { from: true, to: true, amount: true });
      const { from, to, amount } = input;
      const { rows, columns } = check.table('from', from);
      if (rows === 0) check.refuseCount('from', 'at least 1 row', 0);
      check.table('to', to, { rows, columns });
      check.number('amount', amount);
      check.requireMemory(
        `Two tables of ${rows} rows by ${columns} columns`,
        raw.moveMeanBytes(rows, columns),
      );
      const moved = raw.moveMean(from, to, amount);
      return { from: table(moved.from, rows, columns), to: table(moved.to, rows, columns) };
    },
  };
}
