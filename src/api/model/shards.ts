// Finds the weights of one model among several files: one file, or the shards that an index names.
import * as check from '../check.js';
import { jsonOf, type Slices } from './slices.js';

export interface Weights {
  /** The files to read. */
  readonly shards: readonly Slices[];
  /** Which file has which tensor, if an index says it. */
  readonly index: readonly (readonly [tensor: string, shard: string])[];
}

const indexName = /\.safetensors\.index\.json$/;
const plainName = /^[^/\\]+\.safetensors$/;

/**
 * The weights of the file `named`, or else of the only model among the files. Throws RangeError if there is
 * none or several.
 */
export async function weightsOf(
  files: ReadonlyMap<string, Slices>,
  named: string | undefined,
): Promise<Weights> {
  const names = [...files.keys()];
  if (named === undefined) refuseSeveral(names);
  const index = named === undefined ? names.find((name) => indexName.test(name)) : named;
  if (index !== undefined && indexName.test(index)) return shardsOf(files, index, named === undefined);
  const weights = names.filter((name) => name.endsWith('.safetensors'));
  const only = named ?? (weights.includes('model.safetensors') ? 'model.safetensors' : weights[0]);
  if (only === undefined) {
    throw new RangeError(
      'There is no .safetensors file; give one, with config.json and tokenizer.json beside it where there are such.',
    );
  }
  if (named === undefined && weights.length > 1 && only !== 'model.safetensors') {
    throw new RangeError(
      `There are ${weights.length} .safetensors files and no index of them; give one of ${firstFive(weights)}.`,
    );
  }
  return { shards: [files.get(only) as Slices], index: [] };
}

/**
 * The shards that an index names. If the caller did not name the index (`isInFolder`), another model may lie
 * beside it.
 */
async function shardsOf(
  files: ReadonlyMap<string, Slices>,
  index: string,
  isInFolder: boolean,
): Promise<Weights> {
  const { weight_map } = ((await jsonOf(files, index)) ?? {}) as { weight_map?: unknown };
  const entries: [string, unknown][] =
    typeof weight_map === 'object' && weight_map !== null ? Object.entries(weight_map) : [];
  const isShard = (entry: [string, unknown]): entry is [string, string] =>
    typeof entry[1] === 'string' && plainName.test(entry[1]);
  if (entries.length === 0 || !entries.every(isShard)) {
    throw new RangeError(
      `“${index}” must have a weight_map from tensors to the names of .safetensors files beside it; it does not.`,
    );
  }
  const shards = [...new Set(entries.map(([, shard]) => shard))];
  if (isInFolder && files.has('model.safetensors') && !shards.includes('model.safetensors')) {
    throw new RangeError(
      `There are model.safetensors and “${index}”, which names other files: two models. Pass one of the two.`,
    );
  }
  const missing = shards.filter((name) => !files.has(name));
  if (missing.length > 0) {
    const which = missing.length === 1 ? 'this one is' : `these ${missing.length} are`;
    throw new RangeError(
      `Of the ${check.counted(shards.length, 'shard')} that “${index}” names, ${which} not beside it: ${firstFive(missing)}. Put all of them there.`,
    );
  }
  return { shards: shards.map((name) => files.get(name) as Slices), index: entries };
}

const firstFive = (names: readonly string[]) => names.slice(0, 5).join(', ') + (names.length > 5 ? ' …' : '');

/** Throws RangeError if the names of a folder's files leave open which model is meant. */
function refuseSeveral(names: readonly string[]): void {
  const indices = names.filter((name) => indexName.test(name));
  if (indices.length > 1) {
    throw new RangeError(`There are ${indices.length} indices; give one of ${firstFive(indices)}.`);
  }
  if (names.includes('adapter_config.json')) {
    throw new RangeError(
      'There is an adapter_config.json: an adapter (LoRA) changes these weights. Merge it into them, or give the file of weights alone.',
    );
  }
}

/**
 * Refuses a file whose name says that it is one of several shards: alone, it would run with fewer layers
 * than the model has.
 */
export function refuseShard(name: string): void {
  const [, count = '1'] = name.match(/-\d+-of-(\d+)\.safetensors$/) ?? [];
  if (Number(count) > 1) {
    throw new RangeError(
      `By its name “${name}” is one of ${Number(count)} shards of a model. Give their index, whose name ends in .safetensors.index.json, with all of them beside it.`,
    );
  }
}
