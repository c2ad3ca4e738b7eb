// Opens a reader's own table: a .npy, .csv or .tsv file, or a tensor of a .safetensors file. No more is read than the
// rows that are needed.
import * as check from '../check.js';
import type { SmallSuperpose } from '../small.js';
import { type Table, table } from '../table.js';
import { checkpointOf, type Tensors, tensorRows } from './checkpoint.js';
import {
  type CsvLayout,
  type CsvOptions,
  decimals,
  type FirstRows,
  mostColumns,
  readCsv,
  separators,
} from './csv.js';
import { digestOf, filesOf, type Slices, type Source, slice } from './slices.js';
import { counted, type SlicesWatch, watchNames } from './watch.js';

/** The format of a file. */
export type TableFormat = 'safetensors' | 'npy' | 'csv';

/** The options separator, decimal, header and labels are for .csv and .tsv files; other formats need none. */
export interface OpenTableOptions extends SlicesWatch, CsvOptions {
  /** How many rows to read, from the first, from 1 up. Default 1000. */
  rows?: number;
  /** Which tensor of a safetensors file; by default the only one of two dimensions. */
  tensor?: string;
}

export interface OpenedTable {
  /** By the file’s name and first bytes. */
  readonly format: TableFormat;
  /** The rows that were read. */
  readonly table: Table<Float64Array>;
  /** The name of each row, if the file gives it. */
  readonly words: readonly string[] | undefined;
  /** Whether the file has more rows. */
  readonly more: boolean;
  /** How a .csv or .tsv file was read; undefined for other formats. */
  readonly layout: CsvLayout | undefined;
  /**
   * Sixteen hexadecimal digits that tell this table from others: a digest of the file’s size, the columns and
   * the first MB of the numbers that were read.
   */
  readonly digest: string;
}

/** The most numbers that go into a digest. */
const digested = 2 ** 17;

/**
 * Reads a table, from the same sources as openModel(): a .safetensors, .npy, .csv or .tsv file. CsvOptions says how
 * the last two are read. A truncated, invalid or ambiguous file is a RangeError that names the line and column, or
 * the row, and says what was expected there.
 */
export async function openTable(
  superpose: SmallSuperpose,
  source: Source,
  options: OpenTableOptions = {},
): Promise<OpenedTable> {
  check.reading(superpose);
  check.knownOptions('options', options, {
    rows: true,
    tensor: true,
    separator: true,
    decimal: true,
    header: true,
    labels: true,
    ...watchNames,
  });
  const { rows = 1000, tensor, signal, progress } = options;
  check.integer('rows', rows, 1);
  check.waiting(signal, progress);
  const csv: CsvOptions = {
    ...(options.separator !== undefined && {
      separator: check.oneOf('separator', options.separator, separators),
    }),
    ...(options.decimal !== undefined && { decimal: check.oneOf('decimal', options.decimal, decimals) }),
    ...(options.header !== undefined && { header: check.flag('header', options.header) }),
    ...(options.labels !== undefined && { labels: check.flag('labels', options.labels) }),
  };
  const { files, named } = await filesOf(source);
  const file = files.get(named ?? '') ?? [...files.values()][0];
  if (!file || (named === undefined && files.size !== 1))
    throw new RangeError('A table is read from one file; give that file.');
  const format = await formatOf(file);
  const watch = { signal, progress };
  const { data, columns, words, more, layout } = await {
    safetensors: () => ofTensor(superpose, files, file, rows, tensor, watch),
    npy: () => ofNumpy(superpose, file, rows, watch),
    csv: () => readCsv(file, rows, csv, watch),
  }[format]();
  const told = Float64Array.from([file.size, columns, ...data.subarray(0, digested)]);
  const digest = digestOf([new Uint8Array(told.buffer)]);
  return { format, table: table(data, data.length / columns, columns), words, more, layout, digest };
}

/** First bytes of files that are no tables yet, and what makes them tables. */
const others: readonly (readonly [number[], string])[] = [
  [[0x50, 0x4b, 3, 4], 'an archive (.npz or .xlsx); save one of its tables as .npy or .csv.'],
  [[0x1f, 0x8b], 'compressed with gzip; unpack it first.'],
  [[0xff, 0xfe], 'in UTF-16; save it in UTF-8.'],
  [[0xfe, 0xff], 'in UTF-16; save it in UTF-8.'],
];

const isNumpy = (start: Uint8Array) => String.fromCharCode(...start.subarray(0, 6)) === '\u0093NUMPY';

async function formatOf(file: Slices): Promise<TableFormat> {
  const first = await slice(file, 0, Math.min(64, file.size));
  if (isNumpy(first)) return 'npy';
  const other = others.find(([bytes]) => bytes.every((byte, at) => first[at] === byte))?.[1];
  if (other) throw new RangeError(`“${file.name}” is ${other}`);
  if (file.name.endsWith('.safetensors')) return 'safetensors';
  if (file.name.endsWith('.npy')) return 'npy';
  if (/\.(csv|tsv)$/.test(file.name)) return 'csv';
  throw new RangeError(
    `“${file.name}” is no table that is read here: .csv, .tsv and .npy files are, and tensors of .safetensors files. If it is one of them, give it such a name.`,
  );
}

function refuse(file: Slices, where: string, expected: string, given: string): never {
  throw new RangeError(`“${file.name}”, ${where}: expected ${expected}; found ${given}.`);
}

/** Words from a file go into error sentences; a hostile one must not fill the screen. */
const brief = (text: string) => check.shown(text);

/** A .npy file is one tensor, behind a header of its own. */
async function ofNumpy(
  superpose: SmallSuperpose,
  file: Slices,
  most: number,
  watch: SlicesWatch,
): Promise<FirstRows> {
  const start = await slice(file, 0, Math.min(12, file.size));
  const version = start[6] ?? 0;
  if (start.length < 8 || !isNumpy(start) || version < 1 || version > 3)
    refuse(file, 'byte 0', 'the beginning of a .npy file of version 1 to 3', 'something else');
  const before = version === 1 ? 10 : 12;
  const length = start.subarray(8, before).reduceRight((sum, byte) => sum * 256 + byte, 0);
  if (length > 2 ** 16 || start.length < before)
    refuse(file, 'byte 8', `a header of at most ${2 ** 16} bytes`, `one of ${length}`);
  const begin = before + length;
  const header = new TextDecoder().decode(await slice(file, before, Math.min(begin, file.size) - before));
  const [, order, kind, size] = header.match(/'descr':\s*'([<>|=])([a-z])(\d)'/) ?? [];
  const [, extents = ''] = header.match(/'shape':\s*\(([^)]*)\)/) ?? [];
  const shape = extents
    .split(',')
    .filter((one) => one.trim())
    .map(Number);
  const width = Number(size);
  const wrong = (expected: string, given: string) => refuse(file, 'its header', expected, given);
  if (kind !== 'f' || ![2, 4, 8].includes(width) || order === '|')
    wrong("dtype float16, float32 or float64 ('<f2', '<f4', '<f8')", brief(header.trim()));
  if (/'fortran_order':\s*True/.test(header))
    wrong("rows one after another ('fortran_order': False)", 'columns; save np.ascontiguousarray of it');
  const [count, columns] = shape.length === 1 ? [1, shape[0] as number] : (shape as [number, number]);
  const whole = shape.every((extent) => Number.isSafeInteger(extent) && extent > 0);
  if (shape.length < 1 || shape.length > 2 || !whole || columns > mostColumns)
    wrong(`a shape of 1 or 2 extents, with 1 to ${mostColumns} columns`, brief(`(${extents})`));
  const row = columns * width;
  const end = begin + count * row;
  if (file.size < end) {
    const cut = Math.floor(Math.max(0, file.size - begin) / row) + 1;
    refuse(file, `row ${cut} of ${count}`, `${row} bytes of numbers`, 'the end of the file');
  }
  const rest = file.size - end;
  if (rest > 0)
    refuse(
      file,
      `after row ${count}`,
      'the end of the file, as its shape says',
      `${check.counted(rest, 'byte')} more`,
    );
  const { name } = file;
  const tensors = new Map([[name, { name, dtype: `F${8 * width}`, shape: [count, columns], begin, end }]]);
  const numbers = tensorRows(superpose, tensors, async (_, offset, bytes, { received }) => {
    // A copy: the other order of bytes is turned around.
    const read = (await slice(file, offset, bytes)).slice();
    received(bytes);
    for (let at = 0; order === '>' && at < bytes; at += width) read.subarray(at, at + width).reverse();
    return read;
  });
  return firstRows(numbers, name, most, watch);
}

async function ofTensor(
  superpose: SmallSuperpose,
  files: ReadonlyMap<string, Slices>,
  file: Slices,
  most: number,
  name: string | undefined,
  watch: SlicesWatch,
): Promise<FirstRows> {
  const checkpoint = await checkpointOf(superpose, files, file.name, watch);
  const tables = [...checkpoint.tensors.values()].filter(({ shape }) => shape.length === 2);
  const only = tables.length === 1 ? tables[0]?.name : undefined;
  const chosen = name ?? only;
  const tensor = tables.find((one) => one.name === chosen);
  if (!tensor) {
    const names = tables.slice(0, 5).map((one) => brief(one.name));
    const more = tables.length > 5 ? ', …' : '';
    if (names.length === 0)
      throw new RangeError(`“${file.name}” has no table: none of its tensors has two extents.`);
    throw new RangeError(
      `tensor must name one of the tables in “${file.name}”, ${names.join(', ')}${more}; ${name === undefined ? 'none is named' : `it is ${check.shown(name)}`}.`,
    );
  }
  const [count = 0, columns = 0] = tensor.shape;
  if (count === 0 || columns === 0)
    refuse(
      file,
      `tensor ${brief(tensor.name)}`,
      'at least one row and one column',
      `[${tensor.shape.join(', ')}]`,
    );
  return firstRows(checkpoint, tensor.name, most, watch);
}

async function firstRows(own: Tensors, name: string, most: number, watch: SlicesWatch): Promise<FirstRows> {
  const [count = 0, columns = 0] = own.tensors.get(name)?.shape ?? [];
  const rows = Array.from({ length: Math.min(most, count) }, (_, row) => row);
  const { data } = await own.rows(name, rows, counted(watch));
  return { data, columns, more: rows.length < count };
}
