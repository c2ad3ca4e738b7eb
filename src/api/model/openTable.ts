// A reader's own table: NumPy arrays, comma-separated values, tensors of a safetensors file. Files are read from the beginning, no further than the rows that are needed.
import * as check from '../check.js';
import type { SmallSuperpose } from '../small.js';
import { type Table, table } from '../table.js';
import { checkpointOf } from './checkpoint.js';
import {
  type CsvLayout,
  type CsvOptions,
  type CsvRecord,
  type CsvSeparator,
  decimals,
  type Fault,
  isBlank,
  lineEnds,
  numbersIn,
  readingOf,
  recordAt,
  sampled,
  separators,
} from './csv.js';
import { digestOf, filesOf, type Slices, type Source, slice } from './slices.js';
import { counted, type SlicesWatch } from './watch.js';

/** The format of a file. */
export type TableFormat = 'safetensors' | 'npy' | 'csv';

/** Separator, decimal, header and labels are for comma-separated values; other formats say themselves what they hold. */
export interface OpenTableOptions extends SlicesWatch, CsvOptions {
  /** Default: by the file’s name and first bytes. */
  format?: TableFormat;
  /** How many rows to read, from the first, from 1 up. Default 1000. */
  rows?: number;
  /** Which tensor of a safetensors file; by default the only one of two dimensions. */
  tensor?: string;
}

export interface OpenedTable {
  /** The format of the file. */
  readonly format: TableFormat;
  /** The rows that were read. */
  readonly table: Table<Float64Array>;
  /** The word of each row, where the file gives it. */
  readonly words: readonly string[] | undefined;
  /** Whether the file has more rows. */
  readonly more: boolean;
  /** How comma-separated values were read; undefined for other formats. */
  readonly layout: CsvLayout | undefined;
  /**
   * Sixteen hexadecimal digits that tell this table from others: a digest of the file’s size, the columns and
   * the first MB of the numbers that were read.
   */
  readonly digest: string;
}

/** What the reader of a format returns: values row by row. */
interface Found {
  values: number[] | Float64Array;
  columns: number;
  words?: string[];
  more: boolean;
  layout?: CsvLayout;
}

const formats: readonly TableFormat[] = ['safetensors', 'npy', 'csv'];
const widest = 2 ** 16;
const longestLine = 2 ** 21;
const chunkBytes = 2 ** 18;
/** The most numbers that go into a digest. */
const digested = 2 ** 17;

/**
 * Reads a table, from the same sources as openModel(): a .safetensors, .npy, .csv or .tsv file. A truncated or invalid file is a RangeError that names the line
 * or row and says what was expected there.
 */
export async function openTable(
  superpose: SmallSuperpose,
  source: Source,
  options: OpenTableOptions = {},
): Promise<OpenedTable> {
  check.reading(superpose, options);
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
  const format =
    options.format === undefined ? await formatOf(file) : check.oneOf('format', options.format, formats);
  const watch = { signal, progress };
  const found =
    format === 'safetensors'
      ? await ofTensor(superpose, files, file, rows, tensor, watch)
      : await readers[format](new Bytes(file, watch), rows, csv, superpose);
  const { values, columns, words, more, layout } = found;
  const data = Float64Array.from(values);
  check.floats(`“${file.name}”`, data);
  const told = Float64Array.from([file.size, columns, ...values.slice(0, digested)]);
  const digest = digestOf([new Uint8Array(told.buffer)]);
  return { format, table: table(data, values.length / columns, columns), words, more, layout, digest };
}

/** First bytes of files that are no tables yet, and what makes them tables. */
const others: readonly (readonly [number[], string])[] = [
  [[0x50, 0x4b, 3, 4], 'an archive (.npz or .xlsx); save one of its tables as .npy or .csv.'],
  [[0x1f, 0x8b], 'compressed with gzip; unpack it first.'],
  [[0xff, 0xfe], 'in UTF-16; save it in UTF-8.'],
  [[0xfe, 0xff], 'in UTF-16; save it in UTF-8.'],
];

async function formatOf(file: Slices): Promise<TableFormat> {
  const first = await slice(file, 0, Math.min(64, file.size));
  if (first[0] === 0x93 && String.fromCharCode(...first.subarray(1, 6)) === 'NUMPY') return 'npy';
  const other = others.find(([bytes]) => bytes.every((byte, at) => first[at] === byte))?.[1];
  if (other) throw new RangeError(`“${file.name}” is ${other}`);
  if (file.name.endsWith('.safetensors')) return 'safetensors';
  if (file.name.endsWith('.npy')) return 'npy';
  if (/\.(csv|tsv)$/.test(file.name)) return 'csv';
  throw new RangeError(
    `“${file.name}” is no table that is read here: .csv, .tsv and .npy files are, and tensors of .safetensors files. Give the option format if it is one of them under another name.`,
  );
}

/** A file read from its beginning, a chunk at a time. */
class Bytes {
  at = 0;
  private held: Uint8Array = new Uint8Array();
  constructor(
    readonly file: Slices,
    private readonly watch: SlicesWatch,
  ) {}

  /** Reads until `count` bytes are held, or the file ends. */
  private async fill(count: number): Promise<void> {
    while (this.held.length < count) {
      this.watch.signal?.throwIfAborted();
      const from = this.at + this.held.length;
      const length = Math.min(Math.max(chunkBytes, count - this.held.length), this.file.size - from);
      if (length === 0) return;
      const more = await slice(this.file, from, length);
      const both = new Uint8Array(this.held.length + more.length);
      both.set(this.held);
      both.set(more, this.held.length);
      this.held = both;
      this.watch.progress?.(from + length, this.file.size);
    }
  }

  private drop(count: number): Uint8Array {
    const taken = this.held.subarray(0, count);
    this.held = this.held.subarray(count);
    this.at += count;
    return taken;
  }

  /** Takes up to so many bytes. */
  async take(count: number): Promise<Uint8Array> {
    await this.fill(count);
    return this.drop(Math.min(count, this.held.length));
  }
}

function refuse(file: Slices, where: string, expected: string, given: string): never {
  throw new RangeError(`“${file.name}”, ${where}: expected ${expected}; found ${given}.`);
}

/** Words from a file go into error sentences; a hostile one must not fill the screen. */
const brief = (text: string) => check.shown(text);

function refuseLine(file: Slices, { line, expected, found }: Fault): never {
  refuse(file, `line ${line}`, expected, found);
}

/** The records of a file: the first ones as a separator cuts them, and then one after the other. */
async function recordsIn(from: Bytes) {
  const { file } = from;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let at = 0;
  let line = 1;
  let whole = false;
  const fill = async () => {
    const bytes = await from.take(chunkBytes);
    whole = from.at >= file.size;
    try {
      text = text.slice(at) + decoder.decode(bytes, { stream: !whole });
    } catch {
      refuseLine(file, {
        line: line + lineEnds(text.slice(at)),
        expected: 'text in UTF-8',
        found: 'other bytes',
      });
    }
    at = 0;
    if (text.length > longestLine && lineEnds(text) === 0)
      refuseLine(file, { line, expected: `at most ${longestLine} characters`, found: 'more without an end' });
  };
  do await fill();
  while (!whole && lineEnds(text) <= sampled);
  const said = text.match(/^"?sep=(.)"?[\r\n]/i)?.[0].trim();
  if (said !== undefined)
    refuseLine(file, {
      line,
      expected: 'a row or names',
      found: `${brief(said)}; delete the line, and give separator`,
    });

  const cut = (separator: CsvSeparator) => {
    const records: CsvRecord[] = [];
    let place = { from: 0, line: 1 };
    while (place.from < text.length && records.length < sampled) {
      const found = recordAt(text, { ...place, separator, whole });
      if (!found) break;
      if ('found' in found) return found;
      if (!isBlank(found)) records.push(found);
      place = { from: found.end, line: found.after };
    }
    return records;
  };

  /** The next record that is not empty. */
  const next = async (separator: CsvSeparator): Promise<CsvRecord | undefined> => {
    for (;;) {
      if (at >= text.length && whole) return undefined;
      const found = recordAt(text, { from: at, line, separator, whole });
      if (!found) {
        if (text.length - at > longestLine)
          refuseLine(file, {
            line,
            expected: `at most ${longestLine} characters`,
            found: 'a cell without an end',
          });
        await fill();
        continue;
      }
      if ('found' in found) refuseLine(file, found);
      [at, line] = [found.end, found.after];
      if (!isBlank(found)) return found;
    }
  };
  return { cut, next };
}

const readers: Record<
  Exclude<TableFormat, 'safetensors'>,
  (from: Bytes, rows: number, options: CsvOptions, superpose: SmallSuperpose) => Promise<Found>
> = {
  async csv(from, most, options) {
    const { file } = from;
    const { cut, next } = await recordsIn(from);
    const reading = readingOf(cut, options);
    if (typeof reading === 'string') throw new RangeError(`“${file.name}” ${reading}`);
    if ('found' in reading) refuseLine(file, reading);
    const { separator, decimal, labels } = reading;
    const header = reading.header ? (await next(separator))?.cells : undefined;
    const values: number[] = [];
    const words: string[] = [];
    let columns = 0;
    let one = await next(separator);
    for (let count = 0; one && count < most; count += 1) {
      if (count === 0) {
        columns = one.cells.length - (labels ? 1 : 0);
        if (columns < 1 || columns > widest)
          refuseLine(file, { line: one.line, expected: `1 to ${widest} numbers`, found: `${columns}` });
        check.fits(`${most} rows of ${columns} columns`, 16 * most * columns);
      }
      const numbers = numbersIn(one, reading, columns);
      if (!Array.isArray(numbers)) refuseLine(file, numbers);
      for (const number of numbers) values.push(number);
      if (labels) words.push(one.cells[0] as string);
      one = await next(separator);
    }
    const layout = { separator, decimal, header: header?.slice(-columns), labels };
    return { values, columns, ...(labels && { words }), more: one !== undefined, layout };
  },

  async npy(from, most, _, superpose) {
    const { file } = from;
    const start = await from.take(8);
    const version = start[6] ?? 0;
    if (
      start.length < 8 ||
      String.fromCharCode(...start.subarray(0, 6)) !== '\u0093NUMPY' ||
      version < 1 ||
      version > 3
    )
      refuse(file, 'byte 0', 'the beginning of a .npy file of version 1 to 3', 'something else');
    const lengthBytes = await from.take(version === 1 ? 2 : 4);
    const length = lengthBytes.reduceRight((sum, byte) => sum * 256 + byte, 0);
    if (length > 2 ** 16 || lengthBytes.length < 2)
      refuse(file, 'byte 8', `a header of at most ${2 ** 16} bytes`, `one of ${length}`);
    const header = new TextDecoder().decode(await from.take(length));
    const [, order, kind, size] = header.match(/'descr':\s*'([<>|=])([a-z])(\d)'/) ?? [];
    const [, extents] = header.match(/'shape':\s*\(([^)]*)\)/) ?? [];
    const shape =
      extents
        ?.split(',')
        .filter((one) => one.trim())
        .map(Number) ?? [];
    const width = Number(size);
    if (kind !== 'f' || ![2, 4, 8].includes(width) || order === '|')
      refuse(
        file,
        'its header',
        "dtype float16, float32 or float64 ('<f2', '<f4', '<f8')",
        brief(header.trim()),
      );
    if (/'fortran_order':\s*True/.test(header))
      refuse(
        file,
        'its header',
        "rows one after another ('fortran_order': False)",
        'columns; save np.ascontiguousarray of it',
      );
    const [count, columns] = shape.length === 1 ? [1, shape[0] as number] : (shape as [number, number]);
    const whole = shape.every((extent) => Number.isSafeInteger(extent) && extent > 0);
    if (shape.length < 1 || shape.length > 2 || !whole || columns > widest)
      refuse(
        file,
        'its header',
        `a shape of 1 or 2 extents, with 1 to ${widest} columns`,
        brief(`(${extents ?? ''})`),
      );
    const wanted = Math.min(most, count);
    check.fits(`${wanted} rows of ${columns} columns`, 24 * wanted * columns);
    const bytes = await from.take(wanted * columns * width);
    if (bytes.length < wanted * columns * width) {
      const row = Math.floor(bytes.length / (columns * width)) + 1;
      refuse(file, `row ${row} of ${count}`, `${columns * width} bytes of numbers`, 'the end of the file');
    }
    const rest = wanted === count ? file.size - from.at : 0;
    if (rest > 0)
      refuse(
        file,
        `after row ${count}`,
        'the end of the file, as its shape says',
        `${rest} ${rest === 1 ? 'byte' : 'bytes'} more`,
      );
    // The other order of bytes is turned around.
    for (let at = 0; order === '>' && at < bytes.length; at += width)
      bytes.subarray(at, at + width).reverse();
    const entry = {
      name: file.name,
      dtype: `F${8 * width}`,
      shape: [wanted, columns],
      begin: 0,
      end: bytes.length,
    };
    const { data: values } = superpose.decodeSafetensors(entry, bytes);
    return { values, columns, more: wanted < count };
  },
};

async function ofTensor(
  superpose: SmallSuperpose,
  files: ReadonlyMap<string, Slices>,
  file: Slices,
  most: number,
  name: string | undefined,
  watch: SlicesWatch,
): Promise<Found> {
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
  const wanted = Math.min(most, count);
  const rows = Array.from({ length: wanted }, (_, row) => row);
  const { data } = await checkpoint.rows(tensor.name, rows, counted(watch));
  return { values: data, columns, more: wanted < count };
}
