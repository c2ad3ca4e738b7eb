// Rows of tensors, read in slices wherever their bytes are: in files that somebody opened, or in the build's own.
import * as check from '../check.js';
import type { SmallSuperpose } from '../small.js';
import { type Table, table } from '../table.js';
import type { SafetensorsEntry } from './safetensors.js';
import { breath, type CountedWatch } from './watch.js';

/** Rows from one number up to, not including, another. */
type Run = readonly [from: number, to: number];

/** The tensors of a model. */
export interface Tensors {
  /** By name. */
  readonly tensors: ReadonlyMap<string, SafetensorsEntry>;
  /** These rows of a table, in this order. The last extent is the width of a row. */
  rows(name: string, wanted: readonly number[], watch: CountedWatch): Promise<Table<Float64Array>>;
  /** All its rows, block by block; `from` is a block’s first row. */
  blocks(
    name: string,
    watch: CountedWatch,
    visit: (block: Table<Float64Array>, from: number) => void,
  ): Promise<void>;
  /** From now on, reads these rows of a table, ascending, from the tensor `corpus` if it has them together. */
  together(name: string, wanted: readonly number[]): void;
}

/** How many numbers are decoded between two looks at the signal. */
const mostAtOnce = 2 ** 20;

/** `bytesOf` reads so many bytes from `offset` on, a place in the file that an entry has, and counts them. */
export function tensorRows<Entry extends SafetensorsEntry>(
  superpose: SmallSuperpose,
  tensors: ReadonlyMap<string, Entry>,
  bytesOf: (entry: Entry, offset: number, length: number, watch: CountedWatch) => Promise<Uint8Array>,
): Tensors {
  /** A table of the file, whose dtype can be decoded; the width of others’ rows is unknown. */
  const tableIn = (name: string) => {
    const entry = tensors.get(name) as Entry;
    const { shape, dtype, begin, end } = entry;
    const columns = shape.at(-1) as number;
    const none = { name, dtype, shape: [0, columns], begin: 0, end: 0 };
    superpose.decodeSafetensors(none, new Uint8Array());
    const rows = shape.slice(0, -1).reduce((all, extent) => all * extent, 1);
    return { entry, rows, columns, rowBytes: (end - begin) / rows };
  };
  let sinceBreath = 0;
  /** Neighbouring rows, read after a look at the signal. */
  const decoded = async (
    { entry, columns, rowBytes }: ReturnType<typeof tableIn>,
    [from, to]: Run,
    watch: CountedWatch,
  ): Promise<Table<Float64Array>> => {
    sinceBreath += (to - from) * columns;
    // Reading alone may let no abort through.
    if (sinceBreath > mostAtOnce) {
      sinceBreath = 0;
      await breath();
    }
    watch.signal?.throwIfAborted();
    const { name, dtype, begin } = entry;
    const bytes = await bytesOf(entry, begin + from * rowBytes, (to - from) * rowBytes, watch);
    const own = { name, dtype, shape: [to - from, columns], begin: 0, end: bytes.length };
    const found = superpose.decodeSafetensors(own, bytes);
    check.floats(`Tensor ${check.shown(name)}`, found.data);
    return found;
  };
  const read: Tensors['rows'] = async (name, wanted, watch) => {
    const own = tableIn(name);
    const { columns, rowBytes } = own;
    check.fits(`${wanted.length} rows of ${columns} columns`, wanted.length * (rowBytes + 8 * columns));
    const data = new Float64Array(wanted.length * columns);
    const sorted = [...new Set(wanted)].sort((a, b) => a - b);
    const places = new Map<number, number[]>();
    for (const [place, row] of wanted.entries()) places.set(row, [...(places.get(row) ?? []), place]);
    watch.wanted(sorted.length * rowBytes);
    const runs = runsOf(sorted, rowsAtOnce(columns));
    // Several at once, as they may come from afar; but not of a large table, nor so many that all files are open.
    const several = sorted.length > rowsAtOnce(columns) ? 1 : 16;
    for (let at = 0; at < runs.length; at += several) {
      await Promise.all(
        runs.slice(at, at + several).map(async (run) => {
          const { data: values } = await decoded(own, run, watch);
          const [from, to] = run;
          for (let row = from; row < to; row++) {
            const at = (row - from) * columns;
            for (const place of places.get(row) as number[])
              data.set(values.subarray(at, at + columns), place * columns);
          }
        }),
      );
    }
    return table(data, wanted.length, columns);
  };
  let near: { name: string; places: ReadonlyMap<number, number> } | undefined;
  return {
    tensors,
    rows(name, wanted, watch) {
      const there = name === near?.name && wanted.every((row) => near?.places.has(row));
      if (!there) return read(name, wanted, watch);
      return read(
        'corpus',
        wanted.map((row) => near?.places.get(row) as number),
        watch,
      );
    },
    together(name, wanted) {
      if (tensors.get('corpus')?.shape[0] === wanted.length)
        near = { name, places: new Map(wanted.map((row, place) => [row, place])) };
    },
    async blocks(name, watch, visit) {
      const own = tableIn(name);
      const { rows, columns, rowBytes } = own;
      watch.wanted(rows * rowBytes);
      const most = rowsAtOnce(columns);
      for (let from = 0; from < rows; from += most)
        visit(await decoded(own, [from, Math.min(rows, from + most)], watch), from);
    },
  };
}

/** In eights, as the module packs them. */
const rowsAtOnce = (columns: number) => Math.max(1, 8 * Math.floor(mostAtOnce / columns / 8));

/** Neighbouring rows are read together, so many at most. */
function runsOf(sorted: readonly number[], most: number): Run[] {
  const runs: [number, number][] = [];
  for (const row of sorted) {
    const last = runs.at(-1);
    if (last && last[1] === row && row - last[0] < most) last[1] = row + 1;
    else runs.push([row, row + 1]);
  }
  return runs;
}
