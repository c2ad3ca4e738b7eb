// The first rows of a reader's own table, which every file format returns, and the error for a file that
// cannot be read.

import type { Tensors } from './checkpoint.js';
import type { Slices } from './slices.js';
import { counted, type SlicesWatch } from './watch.js';

/** The first rows of a table. */
export interface FirstRows {
  /** [rows, columns], one row after another. */
  data: Float64Array;
  /** How many numbers a row has. */
  columns: number;
  /** The names of the rows, if the file gives them. */
  words?: string[];
  /** Whether the file has more rows. */
  more: boolean;
}

/** The widest row, in numbers. */
export const mostColumns = 2 ** 16;

/** Refuses a file with an error that says what was expected at a place in it, and what was found there. */
export function refuse(file: Slices, place: string, expected: string, actual: string): never {
  throw new RangeError(`“${file.name}”, ${place}: expected ${expected}; found ${actual}.`);
}

/** Reads the first rows of a tensor, at most `most`. */
export async function firstRowsOf(
  tensors: Tensors,
  name: string,
  most: number,
  watch: SlicesWatch,
): Promise<FirstRows> {
  const [count = 0, columns = 0] = tensors.tensors.get(name)?.shape ?? [];
  const rows = Array.from({ length: Math.min(most, count) }, (_, row) => row);
  const { data } = await tensors.rows(name, rows, counted(watch));
  return { data, columns, more: rows.length < count };
}
