// Tables for properties, drawn by fast-check: their shape, seed and special features shrink. A failure prints
// the seed and the path that draw the same again.
import * as fc from 'fast-check';
import type { Table } from 'superpose';
import { plain } from './builds.ts';
import { dot, mapTable, norm, rowsOf, tableOf } from './numbers.ts';

/** SUPERPOSE_RUNS sets how often each property is tried, and SUPERPOSE_SEED what is drawn. */
const told = (name: string) =>
  typeof process === 'object' && process.env[name] ? Number(process.env[name]) : undefined;

/** Tries a property; a failure is printed with the seed that repeats it. */
export function holds<Drawn extends [unknown, ...unknown[]]>(
  arbitraries: { [At in keyof Drawn]: fc.Arbitrary<Drawn[At]> },
  predicate: (...drawn: Drawn) => void,
  runs = 25,
): void {
  const seed = told('SUPERPOSE_SEED') ?? 1;
  fc.assert(
    fc.property(fc.tuple(...arbitraries), (drawn) => predicate(...(drawn as Drawn))),
    {
      numRuns: told('SUPERPOSE_RUNS') ?? runs,
      seed,
    },
  );
}

export const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });
export const widths = fc.integer({ min: 1, max: 7 });

export const normal = (rows: number, columns: number, seed: number): Table<Float64Array> =>
  plain.randomNormal({ rows, columns, seed });

/** Normal draws; now and then a row is zero, or equal to another. */
export const tableWith = (rows: fc.Arbitrary<number>, columns: fc.Arbitrary<number>) =>
  fc
    .record({ rows, columns, seed: seeds, special: fc.constantFrom('none', 'none', 'zero', 'twice') })
    .map(({ rows, columns, seed, special }) => {
      const drawn = normal(rows, columns, seed);
      if (special === 'none' || rows < 2) return drawn;
      const first = special === 'zero' ? new Float64Array(columns) : drawn.data.slice(0, columns);
      drawn.data.set(first, (rows - 1) * columns);
      return drawn;
    });

export const tables = tableWith(fc.integer({ min: 2, max: 8 }), widths);

/** Two tables of the same width. */
export const pairs = fc
  .record({ left: fc.integer({ min: 1, max: 8 }), right: fc.integer({ min: 1, max: 8 }), d: widths })
  .chain(({ left, right, d }) =>
    fc.tuple(tableWith(fc.constant(left), fc.constant(d)), tableWith(fc.constant(right), fc.constant(d))),
  );

/** Two tables of the same shape. */
export const twins = fc
  .record({ n: fc.integer({ min: 2, max: 7 }), d: widths })
  .chain(({ n, d }) =>
    fc.tuple(tableWith(fc.constant(n), fc.constant(d)), tableWith(fc.constant(n), fc.constant(d))),
  );

/** A permutation of n things, drawn by a seed. */
export function orderOf(n: number, seed: number): number[] {
  const draws = plain.randomUniform({ rows: 1, columns: Math.max(n, 1), seed }).data;
  return Array.from({ length: n }, (_, i) => i).sort((a, b) => (draws[a] as number) - (draws[b] as number));
}

export const permuted = (table: Table, order: readonly number[]): Table<Float64Array> => ({
  ...table,
  data: Float64Array.from(order.flatMap((row) => [...(rowsOf(table)[row] as Float64Array)])),
});

export const scaled = (table: Table, by: number) => mapTable(table, (value) => value * by);

export const transposed = ({ data, rows, columns }: Table): Table<Float64Array> => ({
  data: Float64Array.from(
    { length: data.length },
    (_, at) => data[(at % rows) * columns + Math.floor(at / rows)] as number,
  ),
  rows: columns,
  columns: rows,
});

/** The product with the other's transpose: rows times rows. */
export const product = (left: Table, right: Table): Table<Float64Array> => ({
  data: Float64Array.from(rowsOf(left).flatMap((row) => rowsOf(right).map((other) => dot(row, other)))),
  rows: left.rows,
  columns: right.rows,
});

/** An orthogonal matrix, a product of random reflections. */
export function orthogonal(d: number, seed: number): Table<Float64Array> {
  let rows = Array.from({ length: d }, (_, i) => Array.from({ length: d }, (_, j) => Number(i === j)));
  for (const mirror of rowsOf(normal(d, d, seed))) {
    const length = norm(mirror);
    rows = rows.map((row) => {
      const along = (2 * dot(row, mirror)) / length ** 2;
      return row.map((value, j) => value - along * (mirror[j] as number));
    });
  }
  return tableOf(rows);
}

/**
 * The largest difference, relative to the largest number or `size`; NaN at the same places counts as equal.
 */
export function gap(a: ArrayLike<number>, b: ArrayLike<number>, size = 0): number {
  if (a.length !== b.length) return Number.NaN;
  let [most, whole] = [0, size];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] as number, b[i] as number];
    if (Object.is(x, y)) continue;
    whole = Math.max(whole, Math.abs(x), Math.abs(y));
    const apart = Math.abs(x - y);
    if (!(apart <= most)) most = apart;
    if (Number.isNaN(most)) return most;
  }
  return whole === 0 ? 0 : most / whole;
}
