// A sentence's embedding rows after its positions are replaced or moved, or its words reordered. [CLS] and
// position 0 only ever occur together, so they stay together unless told otherwise.
import * as check from '../check.js';
import { type Floats, type Table, table } from '../table.js';

/** These rows of the position table, [count, d]. */
export type PositionRows<A extends Floats> = (rows: readonly number[]) => Promise<Table<A>>;

export type PositionChange =
  /**
   * Every row from 1 on is replaced by one row: `sentence`, the mean of the sentence’s own rows from 1 on,
   * which keeps the result independent of a shift of the tables; `used`, the mean of rows 1 to 127; or
   * `table`, the mean of all rows, which also replaces row 0.
   */
  | { mean: 'sentence' | 'used' | 'table' }
  /**
   * Rows are taken so many places further down the table, from 0. Row 0 ([CLS]) stays unless `cls` is true.
   */
  | { shift: number; cls?: boolean }
  /** [n]: position i gets this row of the table, from 0. */
  | { rows: readonly number[] }
  /** [n]: position i gets the token that was at order[i]. */
  | { order: readonly number[] };

/** Both tables [n, d] after a change. */
export async function changedRows<A extends Floats>(
  token: Table<A>,
  position: Table<A>,
  change: PositionChange,
  rowsOf: PositionRows<A>,
  positions: number,
): Promise<{ token: Table<A>; position: Table<A> }> {
  check.object('change', change);
  const { rows: n, columns: d } = position;
  if ('order' in change) {
    const order = check.integers('order', change.order, n - 1, n);
    check.once('order', order);
    return { token: picked(token, order), position };
  }
  if ('rows' in change)
    return { token, position: await rowsOf(check.integers('rows', change.rows, positions - 1, n)) };
  if ('shift' in change) {
    const by = check.integer('shift', change.shift, 0, positions - n);
    const cls = check.flag('cls', change.cls ?? false);
    const places = Array.from({ length: n }, (_, row) => (row === 0 && !cls ? 0 : row + by));
    return { token, position: await rowsOf(places) };
  }
  const kind = check.oneOf('mean', change.mean, ['sentence', 'used', 'table']);
  const among =
    kind === 'sentence'
      ? table(position.data.subarray(d) as A, n - 1, d)
      : await rowsOf(range(kind === 'used' ? 1 : 0, kind === 'used' ? Math.min(128, positions) : positions));
  const mean = meanRow(among);
  const data = position.data.slice() as A;
  for (let row = kind === 'table' ? 0 : 1; row < n; row++) data.set(mean, row * d);
  return { token, position: table(data, n, d) };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, place) => from + place);

function picked<A extends Floats>({ data, rows, columns }: Table<A>, order: readonly number[]): Table<A> {
  const moved = data.slice() as A;
  order.forEach((from, to) => {
    moved.set(data.subarray(from * columns, (from + 1) * columns), to * columns);
  });
  return table(moved, rows, columns);
}

function meanRow<A extends Floats>({ data, rows, columns }: Table<A>): Float64Array {
  const mean = new Float64Array(columns);
  for (let at = 0; at < rows * columns; at++)
    mean[at % columns] = (mean[at % columns] as number) + (data[at] as number);
  return mean.map((sum) => sum / rows);
}
