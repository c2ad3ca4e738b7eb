// The tensors of a model’s files, one file or several shards: listed by their headers, read in slices.
import * as check from '../check.js';
import type { SmallSuperpose } from '../small.js';
import type { SafetensorsEntry } from './safetensors.js';
import { digestOf, jsonOf, type Slices, slice } from './slices.js';
import { type Tensors, tensorRows } from './tensorRows.js';
import { quoted } from './tensors.js';
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

const indexName = /\.safetensors\.index\.json$/;
const plainName = /^[^/\\]+\.safetensors$/;

/** Lists the tensors of the files that exist: of the file `named`, or of the model in a folder. */
export async function checkpointOf(
  superpose: SmallSuperpose,
  files: ReadonlyMap<string, Slices>,
  named: string | undefined,
  watch: SlicesWatch = {},
): Promise<Checkpoint> {
  const { shards, listed } = await shardsOf(files, named);
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
        `The index has the tensor ${quoted(name)} in “${shard}”, which lacks it. Get the index and its shards anew, from one place.`,
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

/** The files to read, and by an index which tensor is in which of them. */
async function shardsOf(
  files: ReadonlyMap<string, Slices>,
  named: string | undefined,
): Promise<{ shards: Slices[]; listed: [tensor: string, shard: string][] }> {
  const names = [...files.keys()];
  if (named === undefined) refuseSeveral(names);
  const index = named === undefined ? names.find((name) => indexName.test(name)) : named;
  if (index !== undefined && indexName.test(index)) {
    const { weight_map } = ((await jsonOf(files, index)) ?? {}) as { weight_map?: unknown };
    const listed: [string, unknown][] =
      typeof weight_map === 'object' && weight_map !== null ? Object.entries(weight_map) : [];
    const isShard = (entry: [string, unknown]): entry is [string, string] =>
      typeof entry[1] === 'string' && plainName.test(entry[1]);
    if (listed.length === 0 || !listed.every(isShard))
      throw new RangeError(
        `“${index}” must have a weight_map from tensors to the names of .safetensors files beside it; it has not.`,
      );
    const shards = [...new Set(listed.map(([, shard]) => shard))];
    if (named === undefined && files.has('model.safetensors') && !shards.includes('model.safetensors'))
      throw new RangeError(
        `There are model.safetensors and “${index}” of other files: two models. Give one of the two.`,
      );
    const missing = shards.filter((name) => !files.has(name));
    if (missing.length > 0)
      throw new RangeError(
        `Of the ${check.counted(shards.length, 'shard')} that “${index}” names, ${missing.length === 1 ? 'this one is' : `these ${missing.length} are`} not beside it: ${firstFive(missing)}. Put all of them there.`,
      );
    return { shards: shards.map((name) => files.get(name) as Slices), listed };
  }
  const weights = names.filter((name) => name.endsWith('.safetensors'));
  const only = named ?? (weights.includes('model.safetensors') ? 'model.safetensors' : weights[0]);
  if (only === undefined)
    throw new RangeError(
      'There is no .safetensors file; give one, with config.json and tokenizer.json beside it where there are such.',
    );
  if (named === undefined && weights.length > 1 && only !== 'model.safetensors')
    throw new RangeError(
      `There are ${weights.length} .safetensors files and no index of them; give one of ${firstFive(weights)}.`,
    );
  return { shards: [files.get(only) as Slices], listed: [] };
}

const firstFive = (names: readonly string[]) => names.slice(0, 5).join(', ') + (names.length > 5 ? ' …' : '');

/** Throws where the names of a folder's files leave open which model is meant. */
function refuseSeveral(names: readonly string[]): void {
  const indices = names.filter((name) => indexName.test(name));
  if (indices.length > 1)
    throw new RangeError(`There are ${indices.length} indices; give one of ${firstFive(indices)}.`);
  if (names.includes('adapter_config.json'))
    throw new RangeError(
      'There is an adapter_config.json: an adapter (LoRA) changes these weights. Merge it into them, or give the file of weights alone.',
    );
}

/** The length and the header, not the rest of the file. */
async function headerOf(file: Slices): Promise<Uint8Array> {
  const beginning = await slice(file, 0, Math.min(8, file.size));
  if (beginning.length < 8) return beginning;
  const length = new DataView(beginning.buffer, beginning.byteOffset).getBigUint64(0, true);
  // The header reader refuses an impossible length, and needs no more than the length for that.
  const most = Math.min(file.size, 8 + 100_000_000);
  return slice(file, 0, length > BigInt(most) ? 8 : Math.min(most, 8 + Number(length)));
}
