import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

export interface DirectionsApi {
  /** ‖row‖ of each row, [rows], in the table's units and in double. */
  rowLengths(table: Table): Float64Array;
  /**
   * The cosine of each row of `first` with each row of `second`, from −1 to 1, [first.rows, second.rows], in
   * double; NaN where either row is all zero. Both tables have the same width. Throws RangeError, TypeError.
   */
  rowCosines(first: Table, second: Table): Table<Float64Array>;
}

export function directionsApi(raw: RawModule): DirectionsApi {
  return {
    rowLengths(input) {
      const { rows, columns } = check.table('table', input);
      check.fits(`A table of ${rows} by ${columns}`, 8 * rows * (columns + 2));
      return raw.rowLengths(input);
    },
    rowCosines(first, second) {
      check.table('first', first);
      check.table('second', second, { columns: first.columns });
      const rows = first.rows + second.rows;
      check.fits(
        `The products of ${first.rows} and ${second.rows} rows`,
        8 * (2 * first.rows * second.rows + rows * (first.columns + 1)),
      );
      return table(raw.rowCosines(first, second), first.rows, second.rows);
    },
  };
}
