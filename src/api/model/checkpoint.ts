// The tensors of a model’s files, one file or several shards: listed by their headers, read in slices.
import * as check from '../check.js';
import type { SmallSuperpose } from '../small.js';
import type { SafetensorsEntry } from './safetensors.js';
import type { Weights } from './shards.js';
import { digestOf, type Slices, slice } from './slices.js';
import { type Tensors, tensorRows } from './tensorRows.js';
import type { SlicesWatch } from './watch.js';

/** A tensor, and the file it is in. */
export interface Held extends SafetensorsEntry {
  /** The file. */
  readonly file: Slices;
}

/** Those of files that somebody opened. */
export interface Checkpoint extends Tensors {
  /** By name. */
  readonly tensors: ReadonlyMap<string, Held>;
  /** The names of its files. */
  readonly files: readonly string[];
  /** The bytes of all its files. */
  readonly size: number;
  /** A digest of the headers, the files' sizes and the first bytes of these tensors. */
  digest(names: readonly string[]): Promise<string>;
}

/** The most bytes of a tensor that go into the digest. */
const digested = 2 ** 20;

/** Lists the tensors of the files that exist: of the file `named`, or of the model in a folder. */
export async function checkpointOf(
  superpose: SmallSuperpose,
  files: ReadonlyMap<string, Slices>,
  named: string | undefined,
  watch: SlicesWatch = {},
): Promise<Checkpoint> {
  const { shards, listed } = await weightsIn(files, named);
  const tensors = new Map<string, Held>();
  const read: Uint8Array[] = [];
  for (const file of shards) {
    watch.signal?.throwIfAborted();
    const header = await headerOf(file);
    read.push(header, new TextEncoder().encode(String(file.size)));
    for (const [name, entry] of superpose.readSafetensorsHeader(header, file.size)) {
      if (tensors.has(name))
        throw new RangeError(
          `Two of the files have a tensor ${check.shown(name)}; give one model at a time.`,
        );
      tensors.set(name, { ...entry, file });
    }
  }
  for (const [name, shard] of listed)
    if (tensors.get(name)?.file.name !== shard)
      throw new RangeError(
        `The index has the tensor ${check.shown(name)} in “${shard}”, which lacks it. Get the index and its shards anew, from one place.`,
      );
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
        const { begin, end, file } = tensors.get(name) as Held;
        return slice(file, begin, Math.min(end - begin, digested));
      });
      return digestOf([...read, ...(await Promise.all(parts))]);
    },
  };
}

/** The files to read. Most models are one, and pages fetch what chooses among several where there are such. */
async function weightsIn(files: ReadonlyMap<string, Slices>, named: string | undefined): Promise<Weights> {
  const [only = '', ...others] = [...files.keys()].filter((name) => isOfWeights.test(name));
  const file = files.get(only);
  if (file && others.length === 0 && only.endsWith('.safetensors') && (named ?? only) === only)
    return { shards: [file], listed: [] };
  return (await import('./shards.js')).weightsOf(files, named);
}

const isOfWeights = /\.safetensors(\.index\.json)?$|^adapter_config\.json$/;

/** The length and the header, not the rest of the file. */
async function headerOf(file: Slices): Promise<Uint8Array> {
  const beginning = await slice(file, 0, Math.min(8, file.size));
  if (beginning.length < 8) return beginning;
  const length = new DataView(beginning.buffer, beginning.byteOffset).getBigUint64(0, true);
  // The header reader refuses an impossible length, and needs no more than the length for that.
  const most = Math.min(file.size, 8 + 100_000_000);
  return slice(file, 0, length > BigInt(most) ? 8 : Math.min(most, 8 + Number(length)));
}
