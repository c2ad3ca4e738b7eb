// Lengths of rows, and cosines between rows.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

/** @category Measure geometry */
interface DirectionsApi {
  /** Returns the length ‖row‖ of each row, [rows], in the table's units and in double. */
  rowLengths(table: Table): Float64Array;
  /**
   * Returns the cosine of each row of `first` with each row of `second`, from −1 to 1, [first.rows,
   * second.rows], in double; NaN where either row is all zero. Both tables must have the same width. Throws
   * RangeError or TypeError.
   */
  rowCosines(first: Table, second: Table): Table<Float64Array>;
}

export function directionsApi(raw: RawModule): DirectionsApi {
  return {
    rowLengths(input) {
      const { rows, columns } = check.table('table', input);
      check.requireMemory(`A table of ${rows} by ${columns}`, raw.rowLengthsBytes(rows, columns));
      return raw.rowLengths(input);
    },
    rowCosines(first, second) {
      check.table('first', first);
      check.table('second', second, { columns: first.columns });
      check.requireMemory(
        `The products of ${first.rows} and ${second.rows} rows`,
        raw.rowCosinesBytes(first.rows, second.rows, first.columns),
      );
      return table(raw.rowCosines(first, second), first.rows, second.rows);
    },
  };
}
