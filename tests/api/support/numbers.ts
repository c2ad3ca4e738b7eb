// Helpers for numbers in tests: rows, sums, differences, and seeded draws.
import type { Floats, Table } from 'add-or-concatenate';

export type Precision = 'float32' | 'float64';

/** Nested lists of numbers, as the oracles' JSON has them. */
export type Nested = readonly (number | Nested)[];

export const flat = (values: Nested): number[] => (values as unknown[]).flat(Infinity) as number[];

export const floatsOf = (values: ArrayLike<number>, precision: Precision): Floats =>
  precision === 'float32' ? Float32Array.from(values) : Float64Array.from(values);

/** A float64 table of the given rows. */
export function tableOf(rows: readonly (readonly number[])[]): Table<Float64Array> {
  return { data: Float64Array.from(rows.flat()), rows: rows.length, columns: rows[0]?.length ?? 1 };
}

export const mapTable = (
  { data, rows, columns }: Table,
  change: (value: number, row: number, column: number) => number,
): Table<Float64Array> => ({
  data: Float64Array.from(data, (value, at) => change(value, Math.floor(at / columns), at % columns)),
  rows,
  columns,
});

/** The same input with every array of floats in it changed. */
export function eachArray<T>(input: T, change: (values: Floats) => Floats): T {
  if (input instanceof Float32Array || input instanceof Float64Array) return change(input) as T;
  if (typeof input !== 'object' || input === null || ArrayBuffer.isView(input)) return input;
  if (Array.isArray(input)) return input.map((value) => eachArray(value, change)) as T;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, eachArray(value, change)]),
  ) as T;
}

/** The same input with every array in the given precision. Narrowing rounds; widening is exact. */
export const inPrecision = <T>(input: T, precision: Precision): T =>
  eachArray(input, (values) => floatsOf(values, precision));

/** The largest |a − b|. NaN, which is below no bound, when lengths differ or a number is missing. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.NaN;
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs((a[i] as number) - (b[i] as number));
    if (!(difference <= largest)) largest = difference;
    if (Number.isNaN(largest)) return largest;
  }
  return largest;
}

export const largest = (values: ArrayLike<number>): number =>
  largestDifference(values, new Float64Array(values.length));

export const sum = (values: ArrayLike<number>): number => {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i] as number;
  return total;
};

export const mean = (values: ArrayLike<number>): number => sum(values) / values.length;

/** The standard deviation, with the sum of squares divided by the count, not by one less. */
export function deviation(values: ArrayLike<number>): number {
  const centre = mean(values);
  return Math.sqrt(mean(Float64Array.from(values, (value) => (value - centre) ** 2)));
}

export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += (a[i] as number) * (b[i] as number);
  return total;
};

export const norm = (values: ArrayLike<number>): number => Math.sqrt(dot(values, values));

export const rowOf = <A extends Floats>({ data, columns }: Table<A>, row: number): A =>
  data.subarray(row * columns, (row + 1) * columns) as A;

export const rowsOf = <A extends Floats>(table: Table<A>): A[] =>
  Array.from({ length: table.rows }, (_, row) => rowOf(table, row));

/** The sum of arrays of the same length, element by element. */
export function sumOf(arrays: readonly ArrayLike<number>[]): Float64Array {
  const total = new Float64Array(arrays[0]?.length ?? 0);
  for (const array of arrays)
    for (let i = 0; i < total.length; i++) total[i] = (total[i] as number) + (array[i] as number);
  return total;
}

/** [n, n] minus the mean of each row. */
export function rowCentred(matrix: ArrayLike<number>, n: number): Float64Array {
  const centred = Float64Array.from(matrix);
  for (let i = 0; i < n; i++) {
    const row = centred.subarray(i * n, (i + 1) * n);
    const centre = mean(row);
    row.forEach((value, j) => {
      row[j] = value - centre;
    });
  }
  return centred;
}

export function softmaxRows(matrix: ArrayLike<number>, n: number): Float64Array {
  const weights = Float64Array.from(matrix);
  for (let i = 0; i < n; i++) {
    const row = weights.subarray(i * n, (i + 1) * n);
    const top = Math.max(...row);
    row.forEach((value, j) => {
      row[j] = Math.exp(value - top);
    });
    const total = sum(row);
    row.forEach((value, j) => {
      row[j] = value / total;
    });
  }
  return weights;
}

/**
 * Returns a function that draws numbers from 0 up to, not including, 1 (mulberry32). Equal seeds give equal
 * draws.
 */
export function drawing(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
