// The tensors of a model, in one file or several shards. The headers list them; their shapes are checked,
// and their values are read in slices, a few rows at a time.
import * as check from '../check.js';
import type { SmallSuperpose } from '../smallModule.js';
import { type Table, table } from '../table.js';
import type { SafetensorsEntry } from './safetensors.js';
import type { Weights } from './shards.js';
import { digestOf, type Slices, slice } from './slices.js';
import { breath, type CountedWatch, type SlicesWatch } from './watch.js';

/** The tensors of a model. */
export interface Tensors {
  /** By name. */
  readonly tensors: ReadonlyMap<string, SafetensorsEntry>;
  /** Reads these rows of a table, in this order. The last extent of the tensor is the width of a row. */
  rows(name: string, rows: readonly number[], watch: CountedWatch): Promise<Table<Float64Array>>;
  /** Reads a whole table block by block; `from` is the first row of a block. */
  blocks(
    name: string,
    watch: CountedWatch,
    visit: (block: Table<Float64Array>, from: number) => void,
  ): Promise<void>;
  /**
   * From now on, reads these rows of a table, ascending, from the tensor `corpus`, if the file has that copy
   * of the rows.
   */
  useCorpusRows(name: string, rows: readonly number[]): void;
}

/** A tensor, and the file that has it. */
export interface FileTensor extends SafetensorsEntry {
  /** The file that has the tensor. */
  readonly file: Slices;
}

/** The tensors of opened files. */
export interface Checkpoint extends Tensors {
  /** The tensors of all files by their names. */
  readonly tensors: ReadonlyMap<string, FileTensor>;
  /** The names of the files. */
  readonly files: readonly string[];
  /** The bytes of all files. */
  readonly size: number;
  /** A digest of the headers, the files' sizes and the first 2²⁰ bytes of each of these tensors. */
  digest(names: readonly string[]): Promise<string>;
}

/** The most bytes of a tensor that go into the digest. */
const mostDigested = 2 ** 20;

/** How many numbers are decoded between two checks of the signal. */
const mostAtOnce = 2 ** 20;

/** Lists the tensors of a model: those of the file `named`, or else of the only model among the files. */
export async function checkpointOf(
  superpose: SmallSuperpose,
  files: ReadonlyMap<string, Slices>,
  named: string | undefined,
  watch: SlicesWatch = {},
): Promise<Checkpoint> {
  const { shards, index } = await weightsIn(files, named);
  const tensors = new Map<string, FileTensor>();
  const headers: Uint8Array[] = [];
  for (const file of shards) {
    watch.signal?.throwIfAborted();
    const header = await headerOf(file);
    headers.push(header, new TextEncoder().encode(String(file.size)));
    for (const [name, entry] of superpose.readSafetensorsHeader(header, file.size)) {
      if (tensors.has(name)) {
        throw new RangeError(
          `Two of the files have a tensor ${check.shown(name)}; give one model at a time.`,
        );
      }
      tensors.set(name, { ...entry, file });
    }
  }
  for (const [name, shard] of index) {
    if (tensors.get(name)?.file.name !== shard) {
      throw new RangeError(
        `The index has the tensor ${check.shown(name)} in “${shard}”, which lacks it. Get the index and its shards anew, from one place.`,
      );
    }
  }
  return {
    ...tensorRows(superpose, tensors, async ({ file }, offset, length, watch) => {
      const bytes = await slice(file, offset, length, watch);
      if (!file.counts) watch.received(length);
      return bytes;
    }),
    tensors,
    files: shards.map(({ name }) => name),
    size: shards.reduce((sum, { size }) => sum + size, 0),
    async digest(names) {
      const parts = names.map((name) => {
        const { begin, end, file } = tensors.get(name) as FileTensor;
        return slice(file, begin, Math.min(end - begin, mostDigested));
      });
      return digestOf([...headers, ...(await Promise.all(parts))]);
    },
  };
}

/**
 * The files to read. Most models have a single file; the code that chooses among several is fetched only
 * when there are several.
 */
async function weightsIn(files: ReadonlyMap<string, Slices>, named: string | undefined): Promise<Weights> {
  const [only = '', ...others] = [...files.keys()].filter((name) => isOfWeights.test(name));
  const file = files.get(only);
  if (file && others.length === 0 && only.endsWith('.safetensors') && (named ?? only) === only) {
    return { shards: [file], index: [] };
  }
  return (await import('./shards.js')).weightsOf(files, named);
}

const isOfWeights = /\.safetensors(\.index\.json)?$|^adapter_config\.json$/;

/** The beginning of a file: the length of the header and the header. */
async function headerOf(file: Slices): Promise<Uint8Array> {
  const beginning = await slice(file, 0, Math.min(8, file.size));
  if (beginning.length < 8) return beginning;
  const length = new DataView(beginning.buffer, beginning.byteOffset).getBigUint64(0, true);
  // The header reader refuses an impossible length, and for that it needs only the length itself.
  const most = Math.min(file.size, 8 + 100_000_000);
  return slice(file, 0, length > BigInt(most) ? 8 : Math.min(most, 8 + Number(length)));
}

/** Names, dtypes and shapes of a model's tensors, which is all that is known before values are read. */
export type Header = ReadonlyMap<string, Pick<SafetensorsEntry, 'name' | 'dtype' | 'shape'>>;

/** A known extent, or the name that an error gives to an unknown one. */
type Extent = number | string;

/** Names come from the file; a hostile name must not fill the screen. */
export const quoted = (name: string) => `“${name.length > 80 ? `${name.slice(0, 80)}…` : name}”`;

/** The entry of a tensor. Throws RangeError if the file lacks it. */
export function present<T>(tensors: ReadonlyMap<string, T>, name: string): T {
  const entry = tensors.get(name);
  if (!entry) throw new RangeError(`The file lacks the tensor ${quoted(name)}.`);
  return entry;
}

/**
 * The shape of a tensor. Throws RangeError if the file lacks it, if it cannot be decoded, or if it has other
 * extents where `extents` has numbers.
 */
export function shapeOf(tensors: Header, name: string, extents: readonly Extent[]): readonly number[] {
  const { shape, dtype } = present(tensors, name);
  if (!['F64', 'F32', 'F16', 'BF16'].includes(dtype)) {
    throw new RangeError(
      `Tensor ${quoted(name)} has dtype ${quoted(dtype)}; F64, F32, F16 and BF16 can be read.`,
    );
  }
  const fits = (extent: Extent, at: number) =>
    typeof extent === 'number' ? shape[at] === extent : (shape[at] ?? 0) > 0;
  if (shape.length !== extents.length || !extents.every(fits)) {
    throw new RangeError(
      `Tensor ${quoted(name)} must have shape [${extents.join(', ')}] to fit the other tensors; it has [${shape.join(', ')}].`,
    );
  }
  return shape;
}

/** Rows from `from` up to, not including, `to`. */
type RowRange = readonly [from: number, to: number];

/**
 * Reads rows of tensors, wherever their bytes are. `bytesOf` reads `length` bytes of the file that has the
 * tensor, from `offset` on, and counts them.
 */
export function tensorRows<Entry extends SafetensorsEntry>(
  superpose: SmallSuperpose,
  tensors: ReadonlyMap<string, Entry>,
  bytesOf: (entry: Entry, offset: number, length: number, watch: CountedWatch) => Promise<Uint8Array>,
): Tensors {
  /**
   * Finds a table in the file. Throws for a dtype that cannot be decoded, since the width of a number is
   * then unknown.
   */
  const tableIn = (name: string) => {
    const entry = tensors.get(name) as Entry;
    const { shape, dtype, begin, end } = entry;
    const columns = shape.at(-1) as number;
    const noRows = { name, dtype, shape: [0, columns], begin: 0, end: 0 };
    superpose.decodeSafetensors(noRows, new Uint8Array());
    const rows = shape.slice(0, -1).reduce((all, extent) => all * extent, 1);
    return { entry, rows, columns, rowBytes: (end - begin) / rows };
  };
  let numbersSinceBreath = 0;
  /** Checks the signal, then reads and decodes neighbouring rows. */
  const decoded = async (
    { entry, columns, rowBytes }: ReturnType<typeof tableIn>,
    [from, to]: RowRange,
    watch: CountedWatch,
  ): Promise<Table<Float64Array>> => {
    numbersSinceBreath += (to - from) * columns;
    // Reads alone may never yield to the task that would abort the signal.
    if (numbersSinceBreath > mostAtOnce) {
      numbersSinceBreath = 0;
      await breath();
    }
    watch.signal?.throwIfAborted();
    const { name, dtype, begin } = entry;
    const bytes = await bytesOf(entry, begin + from * rowBytes, (to - from) * rowBytes, watch);
    const rows = superpose.decodeSafetensors(
      { name, dtype, shape: [to - from, columns], begin: 0, end: bytes.length },
      bytes,
    );
    check.floats(`Tensor ${check.shown(name)}`, rows.data);
    return rows;
  };
  const readRows: Tensors['rows'] = async (name, rows, watch) => {
    const source = tableIn(name);
    const { columns, rowBytes } = source;
    check.requireMemory(`${rows.length} rows of ${columns} columns`, rows.length * (rowBytes + 8 * columns));
    const data = new Float64Array(rows.length * columns);
    const sorted = [...new Set(rows)].sort((a, b) => a - b);
    const placesOf = new Map<number, number[]>();
    for (const [place, row] of rows.entries()) placesOf.set(row, [...(placesOf.get(row) ?? []), place]);
    watch.willRead(sorted.length * rowBytes);
    const ranges = rangesOf(sorted, rowsAtOnce(columns));
    // Several ranges are read at once, because they may come over a network. But of a large table only one
    // is read at a time, and never so many that too many files are open.
    const several = sorted.length > rowsAtOnce(columns) ? 1 : 16;
    for (let at = 0; at < ranges.length; at += several) {
      await Promise.all(
        ranges.slice(at, at + several).map(async (range) => {
          const { data: values } = await decoded(source, range, watch);
          const [from, to] = range;
          for (let row = from; row < to; row++) {
            const begin = (row - from) * columns;
            for (const place of placesOf.get(row) as number[]) {
              data.set(values.subarray(begin, begin + columns), place * columns);
            }
          }
        }),
      );
    }
    return table(data, rows.length, columns);
  };
  /** The table of which the tensor `corpus` has some rows, and the place of each of these rows there. */
  let corpus: { name: string; places: ReadonlyMap<number, number> } | undefined;
  return {
    tensors,
    rows(name, rows, watch) {
      if (name !== corpus?.name) return readRows(name, rows, watch);
      const places = rows.map((row) => corpus?.places.get(row));
      if (places.includes(undefined)) return readRows(name, rows, watch);
      return readRows('corpus', places as number[], watch);
    },
    useCorpusRows(name, rows) {
      if (tensors.get('corpus')?.shape[0] === rows.length) {
        corpus = { name, places: new Map(rows.map((row, place) => [row, place])) };
      }
    },
    async blocks(name, watch, visit) {
      const source = tableIn(name);
      const { rows, columns, rowBytes } = source;
      watch.willRead(rows * rowBytes);
      const most = rowsAtOnce(columns);
      for (let from = 0; from < rows; from += most) {
        visit(await decoded(source, [from, Math.min(rows, from + most)], watch), from);
      }
    },
  };
}

/** A multiple of eight, because the module packs rows in groups of eight. */
const rowsAtOnce = (columns: number) => Math.max(1, 8 * Math.floor(mostAtOnce / columns / 8));

/** Neighbouring rows are read together, at most `most` of them. */
function rangesOf(sorted: readonly number[], most: number): RowRange[] {
  const ranges: [number, number][] = [];
  for (const row of sorted) {
    const last = ranges.at(-1);
    if (last && last[1] === row && row - last[0] < most) last[1] = row + 1;
    else ranges.push([row, row + 1]);
  }
  return ranges;
}
