// A sentence's embedding rows after its positions are replaced or moved, or its words reordered. A first token that
// the model fixes, such as [CLS], and position 0 only ever occur together, so a shift leaves them together.
import * as check from '../check.js';
import { type Table, table } from '../table.js';

/** These rows of the position table, [count, d]. */
export type PositionRows = (rows: readonly number[]) => Promise<Rows>;

type Rows = Table<Float64Array>;

export type PositionChange =
  /**
   * Every row is replaced by one row: `sentence`, the mean of the rows that are replaced, which keeps the result
   * independent of a shift of the tables, and leaves row 0 alone where the model fixes the first token; or `table`, the
   * mean of all rows.
   */
  | { mean: 'sentence' | 'table' }
  /**
   * Rows are taken so many places further down the table, from 0. Where the model fixes the first token, row 0 stays.
   */
  | { shift: number }
  /** [n]: position i gets the token that was at order[i]. */
  | { order: readonly number[] };

/** Both tables [n, d] after a change. The model fixes so many tokens at the beginning. */
export async function changedRows(
  token: Rows,
  position: Rows,
  change: PositionChange,
  rowsOf: PositionRows,
  positions: number,
  fixed: number,
): Promise<{ token: Rows; position: Rows }> {
  check.object('change', change);
  const { rows: n, columns: d } = position;
  if ('order' in change) {
    const order = check.integers('order', change.order, n - 1, n);
    check.once('order', order);
    return { token: picked(token, order), position };
  }
  if ('shift' in change) {
    const by = check.integer('shift', change.shift, 0, positions - n);
    const places = Array.from({ length: n }, (_, row) => (row < fixed ? row : row + by));
    return { token, position: await rowsOf(places) };
  }
  const kind = check.oneOf('mean', change.mean, ['sentence', 'table']);
  const among =
    kind === 'sentence'
      ? table(position.data.subarray(fixed * d), n - fixed, d)
      : await rowsOf(Array.from({ length: positions }, (_, row) => row));
  const mean = meanRow(among);
  const data = position.data.slice();
  for (let row = kind === 'table' ? 0 : fixed; row < n; row++) data.set(mean, row * d);
  return { token, position: table(data, n, d) };
}

function picked({ data, rows, columns }: Rows, order: readonly number[]): Rows {
  const moved = data.slice();
  order.forEach((from, to) => {
    moved.set(data.subarray(from * columns, (from + 1) * columns), to * columns);
  });
  return table(moved, rows, columns);
}

function meanRow({ data, rows, columns }: Rows): Float64Array {
  const mean = new Float64Array(columns);
  for (let at = 0; at < rows * columns; at++)
    mean[at % columns] = (mean[at % columns] as number) + (data[at] as number);
  return mean.map((sum) => sum / rows);
}
