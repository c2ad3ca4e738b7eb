// Reads a table from a .npy file, which is one tensor behind a header of its own.
import * as check from '../check.js';
import type { SmallSuperpose } from '../smallModule.js';
import { tensorRows } from './checkpoint.js';
import { type FirstRows, firstRowsOf, mostColumns, refuse } from './firstRows.js';
import { type Slices, slice } from './slices.js';
import type { SlicesWatch } from './watch.js';

const longestHeader = 2 ** 16;

/** Whether these are the first bytes of a .npy file. */
export const isNpy = (start: Uint8Array) => String.fromCharCode(...start.subarray(0, 6)) === '\u0093NUMPY';

/** Reads the first rows, at most `most`. */
export async function readNpy(
  superpose: SmallSuperpose,
  file: Slices,
  most: number,
  watch: SlicesWatch,
): Promise<FirstRows> {
  const { header, begin } = await headerOf(file);
  const { width, isBigEndian } = numbersOf(file, header);
  const [count, columns] = shapeOf(file, header);
  const bytesOfRow = columns * width;
  const end = begin + count * bytesOfRow;
  if (file.size < end) {
    const last = Math.floor(Math.max(0, file.size - begin) / bytesOfRow) + 1;
    refuse(file, `row ${last} of ${count}`, `${bytesOfRow} bytes of numbers`, 'the end of the file');
  }
  if (file.size > end) {
    const rest = `${check.counted(file.size - end, 'byte')} more`;
    refuse(file, `after row ${count}`, 'the end of the file, as its shape says', rest);
  }
  const { name } = file;
  const tensors = new Map([[name, { name, dtype: `F${8 * width}`, shape: [count, columns], begin, end }]]);
  const numbers = tensorRows(superpose, tensors, async (_, offset, bytes, { received }) => {
    const read = await slice(file, offset, bytes);
    received(bytes);
    return isBigEndian ? inOtherOrder(read, width) : read;
  });
  return firstRowsOf(numbers, name, most, watch);
}

async function headerOf(file: Slices): Promise<{ header: string; begin: number }> {
  const start = await slice(file, 0, Math.min(12, file.size));
  const version = start[6] ?? 0;
  if (start.length < 8 || !isNpy(start) || version < 1 || version > 3) {
    refuse(file, 'byte 0', 'the beginning of a .npy file of version 1 to 3', 'something else');
  }
  const headerStart = version === 1 ? 10 : 12;
  const length = start.subarray(8, headerStart).reduceRight((sum, byte) => sum * 256 + byte, 0);
  if (length > longestHeader || start.length < headerStart) {
    refuse(file, 'byte 8', `a header of at most ${longestHeader} bytes`, `one of ${length}`);
  }
  const begin = headerStart + length;
  const bytes = await slice(file, headerStart, Math.min(begin, file.size) - headerStart);
  return { header: new TextDecoder().decode(bytes), begin };
}

function refuseHeader(file: Slices, expected: string, actual: string): never {
  return refuse(file, 'its header', expected, actual);
}

/** The bytes of a number, and their order. */
function numbersOf(file: Slices, header: string): { width: number; isBigEndian: boolean } {
  const [, order, kind, size] = header.match(/'descr':\s*'([<>|=])([a-z])(\d)'/) ?? [];
  const width = Number(size);
  if (kind !== 'f' || ![2, 4, 8].includes(width) || order === '|') {
    const expected = "dtype float16, float32 or float64 ('<f2', '<f4', '<f8')";
    refuseHeader(file, expected, check.shown(header.trim()));
  }
  return { width, isBigEndian: order === '>' };
}

/** Rows and columns; a vector is one row. */
function shapeOf(file: Slices, header: string): [rows: number, columns: number] {
  if (/'fortran_order':\s*True/.test(header)) {
    const expected = "rows one after another ('fortran_order': False)";
    refuseHeader(file, expected, 'columns; save np.ascontiguousarray of it');
  }
  const [, extents = ''] = header.match(/'shape':\s*\(([^)]*)\)/) ?? [];
  const shape = extents
    .split(',')
    .filter((extent) => extent.trim() !== '')
    .map(Number);
  const [rows, columns] = shape.length === 1 ? [1, shape[0] as number] : (shape as [number, number]);
  const arePositive = shape.every((extent) => Number.isSafeInteger(extent) && extent > 0);
  if (shape.length < 1 || shape.length > 2 || !arePositive || columns > mostColumns) {
    const expected = `a shape of 1 or 2 extents, with 1 to ${mostColumns} columns`;
    refuseHeader(file, expected, check.shown(`(${extents})`));
  }
  return [rows, columns];
}

/** A copy with the bytes of each number reversed. */
function inOtherOrder(bytes: Uint8Array, width: number): Uint8Array {
  const copy = bytes.slice();
  for (let at = 0; at < copy.length; at += width) copy.subarray(at, at + width).reverse();
  return copy;
}
