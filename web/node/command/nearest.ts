// The nearest other row of each row, by the library's cosines of a block with a block: those of all with all would not
// fit in memory.
import type { Superpose, Table } from 'superpose';

/** Eight megabytes of cosines. */
const inBlock = 1024;

export interface Nearest {
  row: number;
  cosine: number;
}

/** The first of the nearest where several are; undefined for a row that is alone. `done` is told how many rows are. */
export function nearestRows(
  superpose: Pick<Superpose, 'rowCosines'>,
  rows: readonly Float32Array[],
  done: (rows: number) => void = () => {},
): (Nearest | undefined)[] {
  const best: (Nearest | undefined)[] = rows.map(() => undefined);
  const blocks: { start: number; table: Table<Float32Array> }[] = [];
  for (let start = 0; start < rows.length; start += inBlock)
    blocks.push({ start, table: tableOf(rows.slice(start, start + inBlock)) });
  for (const { start, table } of blocks) {
    for (const { start: otherStart, table: others } of blocks) {
      const { data } = superpose.rowCosines(table, others);
      for (let row = 0; row < table.rows; row++) {
        let found = best[start + row];
        for (let other = 0; other < others.rows; other++) {
          const cosine = data[row * others.rows + other] as number;
          if (start + row === otherStart + other || !(cosine > (found?.cosine ?? -Infinity))) continue;
          found = { row: otherStart + other, cosine };
        }
        best[start + row] = found;
      }
    }
    done(start + table.rows);
  }
  return best;
}

function tableOf(rows: readonly Float32Array[]): Table<Float32Array> {
  const columns = rows[0]?.length ?? 0;
  const data = new Float32Array(rows.length * columns);
  for (const [row, values] of rows.entries()) data.set(values, row * columns);
  return { data, rows: rows.length, columns };
}
