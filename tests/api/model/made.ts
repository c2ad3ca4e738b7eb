// Small made-up weights, in memory: layers of an encoder, and a MiniLM of two of them.
import {
  type EncoderLayer,
  loadMiniLM,
  type MiniLMOptions,
  type Normalization,
  type Superpose,
  type Table,
} from 'superpose';
import { fits, maxBytes } from '../../../build/package/check.js';
import { plain } from '../support/builds.ts';
import { fileOf, wordPieceTokenizer } from '../support/files.ts';

/** Drawn in float32, so that files and both precisions hold the same numbers. */
export function drawn(rows: number, columns: number, seed: number, deviation = 0.5): Table<Float64Array> {
  const asked = { rows, columns, seed, standardDeviation: deviation, precision: 'float32' } as const;
  return { data: Float64Array.from(plain.randomNormal(asked).data), rows, columns };
}

export const linear = (rows: number, columns: number, seed: number) => ({
  weight: drawn(rows, columns, seed),
  bias: drawn(1, rows, seed + 1000).data,
});

export const layerNorm = (d: number, seed: number) => ({
  kind: 'layer_norm' as const,
  gamma: drawn(1, d, seed).data.map((x) => Math.fround(1 + x / 2)),
  beta: drawn(1, d, seed + 1).data,
  epsilon: 1e-12,
});

export const madeLayer = (d: number, inner: number, seed: number): EncoderLayer<Float64Array> => ({
  query: linear(d, d, seed),
  key: linear(d, d, seed + 1),
  value: linear(d, d, seed + 2),
  output: linear(d, d, seed + 3),
  attentionNorm: layerNorm(d, seed + 4),
  up: linear(inner, d, seed + 6),
  down: linear(d, inner, seed + 7),
  mlpNorm: layerNorm(d, seed + 8),
});

/** The bytes that all layers, searches and means hold: what is left of the room is found by what is refused. */
export function heldBytes(): number {
  let [low, high] = [0, maxBytes + 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    try {
      fits('It', middle);
      low = middle;
    } catch {
      high = middle;
    }
  }
  return maxBytes - low;
}

const [d_model, heads, inner, positions, layers] = [4, 2, 6, 140, 2];
/** The first three are markers. */
export const words = [
  ...['[UNK]', '[CLS]', '[SEP]', 'the', 'river', 'bank', 'a', 'cat', 'sat', 'on', 'mat', 'and', 'slept', '.'],
  ...['in', 'of', 'is', 'was', 'it', '##s', 'had', 'to', 'for', 'at'],
];
const rowsPerShard = 10;
export const shape = { d_model, heads, inner, positions, layers, vocabulary: words.length };

export const made = {
  words: drawn(words.length, d_model, 1, 1),
  positions: drawn(positions, d_model, 2, 1),
  segments: drawn(2, d_model, 3),
  embeddingNorm: layerNorm(d_model, 4),
  layers: Array.from({ length: layers }, (_, layer) => madeLayer(d_model, inner, 100 * (layer + 1))),
};

type Tensors = Parameters<typeof fileOf>[0];
const tensor = (data: Float64Array, ...shape: number[]): Tensors[string] => ({
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(Float32Array.from(data).buffer),
});
const tensorOf = ({ data, rows, columns }: Table<Float64Array>) => tensor(data, rows, columns);
const rowsFile = ({ data, columns }: Table<Float64Array>, from: number, to: number) =>
  fileOf({ rows: tensor(data.slice(from * columns, to * columns), to - from, columns) });

function shards(name: string, table: Table<Float64Array>): [string, Uint8Array][] {
  return Array.from({ length: Math.ceil(table.rows / rowsPerShard) }, (_, index) => [
    `${name}-${index}.safetensors`,
    rowsFile(table, index * rowsPerShard, Math.min(table.rows, (index + 1) * rowsPerShard)),
  ]);
}

/** The tensors of a layer's own file. */
export function layerTensors(number: number): Tensors {
  const { query, key, value, output, attentionNorm, up, down, mlpNorm } = made.layers[
    number
  ] as EncoderLayer<Float64Array>;
  const linears = {
    ...(number > 0 && { 'attention.self.query': query, 'attention.self.key': key }),
    'attention.self.value': value,
    'attention.output.dense': output,
    'intermediate.dense': up,
    'output.dense': down,
  };
  const norms = { 'attention.output.LayerNorm': attentionNorm, 'output.LayerNorm': mlpNorm };
  const found: Tensors = {};
  const name = (part: string) => `encoder.layer.${number}.${part}`;
  for (const [part, { weight, bias }] of Object.entries(linears)) {
    found[name(`${part}.weight`)] = tensorOf(weight);
    found[name(`${part}.bias`)] = tensor(bias as Float64Array, weight.rows);
  }
  for (const [part, one] of Object.entries(norms)) {
    const { gamma, beta } = one as Normalization<Float64Array>;
    found[name(`${part}.weight`)] = tensor(gamma as Float64Array, d_model);
    found[name(`${part}.bias`)] = tensor(beta as Float64Array, d_model);
  }
  return found;
}

const [{ query, key }] = made.layers as [EncoderLayer<Float64Array>];
const self = 'encoder.layer.0.attention.self';
const layerFiles = made.layers.map((_, number) => fileOf(layerTensors(number)));
export const manifest = {
  format: 1,
  d_model,
  heads,
  positions,
  vocabulary: words.length,
  epsilon: 1e-12,
  rowsPerShard,
  inner,
  layerBytes: layerFiles.map(({ length }) => length),
};
export const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** The files of the made-up MiniLM, by name. */
export const files: Readonly<Record<string, Uint8Array>> = {
  'manifest.json': json(manifest),
  'tokenizer.json': json(wordPieceTokenizer(Object.fromEntries(words.map((word, id) => [word, id])))),
  'layer-0.safetensors': fileOf({
    'embeddings.token_type_embeddings.weight': tensorOf(made.segments),
    'embeddings.LayerNorm.weight': tensor(made.embeddingNorm.gamma, d_model),
    'embeddings.LayerNorm.bias': tensor(made.embeddingNorm.beta, d_model),
    [`${self}.query.weight`]: tensorOf(query.weight),
    [`${self}.query.bias`]: tensor(query.bias as Float64Array, d_model),
    [`${self}.key.weight`]: tensorOf(key.weight),
    [`${self}.key.bias`]: tensor(key.bias as Float64Array, d_model),
  }),
  ...Object.fromEntries([...shards('words', made.words), ...shards('positions', made.positions)]),
  ...Object.fromEntries(layerFiles.map((bytes, number) => [`encoder-${number}.safetensors`, bytes])),
};

/** The rows of these words, as the file of the corpus has them. */
export const corpusFile = (ids: readonly number[]) => {
  const rows = ids.flatMap((id) => [...made.words.data.subarray(id * d_model, (id + 1) * d_model)]);
  return rowsFile({ data: Float64Array.from(rows), rows: ids.length, columns: d_model }, 0, ids.length);
};

/** The made-up MiniLM; `asked` lists the files that it has read. */
export async function loadMade(
  changed: Readonly<Record<string, Uint8Array>> = {},
  { superpose = plain, ...options }: Omit<MiniLMOptions, 'from'> & { superpose?: Superpose } = {},
) {
  const asked: string[] = [];
  const minilm = await loadMiniLM(superpose, {
    read: async (file) => {
      asked.push(file);
      const bytes = changed[file] ?? files[file];
      if (!bytes) throw new Error(`There is no ${file}.`);
      return bytes;
    },
    ...options,
  });
  return { minilm, asked };
}

/** An encoder of the same weights, put together by hand. The caller deletes it. */
export function madeEncoder() {
  const encoder = plain.encoder({ d_model, heads, precision: 'float64', embeddingNorm: made.embeddingNorm });
  for (const layer of made.layers) encoder.addLayer(layer);
  return encoder;
}
