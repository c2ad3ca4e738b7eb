// Opens a reader's own table: a .npy, .csv or .tsv file, or a tensor of a .safetensors file. Only the rows
// that are needed are read.
import * as check from '../check.js';
import type { SmallSuperpose } from '../smallModule.js';
import { type Table, table } from '../table.js';
import { checkpointOf } from './checkpoint.js';
import { type CsvLayout, type CsvOptions, decimals, readCsv, separators } from './csv.js';
import { type FirstRows, firstRowsOf, refuse } from './firstRows.js';
import { isNpy, readNpy } from './npy.js';
import { digestOf, filesOf, type Slices, type Source, slice } from './slices.js';
import { type SlicesWatch, watchNames } from './watch.js';

/** The format of a file. */
export type TableFormat = 'safetensors' | 'npy' | 'csv';

/** The options separator, decimal, header and labels are for .csv and .tsv files; other formats need none. */
export interface OpenTableOptions extends SlicesWatch, CsvOptions {
  /** How many rows to read from the beginning, from 1 up. Default 1000. */
  rows?: number;
  /** The name of a tensor of a safetensors file. By default, the only tensor of two dimensions. */
  tensor?: string;
}

export interface OpenedTable {
  /** The format, which the file’s name and first bytes tell. */
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
const digestedNumbers = 2 ** 17;

/**
 * Reads a table, from the same sources as openModel(): a .safetensors, .npy, .csv or .tsv file. CsvOptions
 * says how the last two are read. A truncated, invalid or ambiguous file is a RangeError that names the line
 * and column, or the row, and says what was expected there.
 *
 * @category Read and write files
 */
export async function openTable(
  superpose: SmallSuperpose,
  source: Source,
  options: OpenTableOptions = {},
): Promise<OpenedTable> {
  check.superposeArgument(superpose);
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
  check.signalAndProgress(signal, progress);
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
  const readers: Record<TableFormat, () => Promise<FirstRows & { layout?: CsvLayout }>> = {
    safetensors: () => readTensor(superpose, files, file, rows, tensor, watch),
    npy: () => readNpy(superpose, file, rows, watch),
    csv: () => readCsv(file, rows, csv, watch),
  };
  const { data, columns, words, more, layout } = await readers[format]();
  const identifying = Float64Array.from([file.size, columns, ...data.subarray(0, digestedNumbers)]);
  const digest = digestOf([new Uint8Array(identifying.buffer)]);
  return { format, table: table(data, data.length / columns, columns), words, more, layout, digest };
}

/** The first bytes of files that are not tables yet, and how to make tables of them. */
const otherFormats: readonly (readonly [number[], string])[] = [
  [[0x50, 0x4b, 3, 4], 'an archive (.npz or .xlsx); save one of its tables as .npy or .csv.'],
  [[0x1f, 0x8b], 'compressed with gzip; unpack it first.'],
  [[0xff, 0xfe], 'in UTF-16; save it in UTF-8.'],
  [[0xfe, 0xff], 'in UTF-16; save it in UTF-8.'],
];

async function formatOf(file: Slices): Promise<TableFormat> {
  const first = await slice(file, 0, Math.min(64, file.size));
  if (isNpy(first)) return 'npy';
  const other = otherFormats.find(([bytes]) => bytes.every((byte, at) => first[at] === byte))?.[1];
  if (other) throw new RangeError(`“${file.name}” is ${other}`);
  if (file.name.endsWith('.safetensors')) return 'safetensors';
  if (file.name.endsWith('.npy')) return 'npy';
  if (/\.(csv|tsv)$/.test(file.name)) return 'csv';
  throw new RangeError(
    `“${file.name}” is not a table in a known format. Pass a .csv, .tsv, .npy or .safetensors file; if it is one of these, give it that name.`,
  );
}

/** Reads a tensor of two dimensions: the one that is named, or the only one. */
async function readTensor(
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
  const tensor = tables.find((table) => table.name === chosen);
  if (!tensor) {
    const names = tables.slice(0, 5).map((table) => check.shown(table.name));
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
      `tensor ${check.shown(tensor.name)}`,
      'at least one row and one column',
      `[${tensor.shape.join(', ')}]`,
    );
  return firstRowsOf(checkpoint, tensor.name, most, watch);
}
