// Small random weights in memory: layers of a transformer stack, and a MiniLM of two of them.
import {
  corpusSentences,
  loadMiniLM,
  type MiniLMOptions,
  type Normalization,
  type Superpose,
  type Table,
  type TransformerLayer,
} from 'add-or-concatenate';
import { freeBytes, maxBytes } from '../../../build/package/check.js';
import { safetensorsHeader } from '../../../build/package/model/encodeSafetensors.js';
import { wordPieces } from '../../../build/package/model/wordPieces.js';
import { joined } from '../../../build/package/table.js';
import { plain } from '../support/builds.ts';
import { wordPieceTokenizer } from '../support/files.ts';

/** Rounded to float32, so that files and both precisions hold the same numbers. */
export function drawn(rows: number, columns: number, seed: number, deviation = 0.5): Table<Float64Array> {
  const { data } = plain.randomNormal({ rows, columns, seed, standardDeviation: deviation });
  return { data: data.map(Math.fround), rows, columns };
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

export const drawnLayer = (d: number, inner: number, seed: number): TransformerLayer => ({
  query: linear(d, d, seed),
  key: linear(d, d, seed + 1),
  value: linear(d, d, seed + 2),
  output: linear(d, d, seed + 3),
  attentionNorm: layerNorm(d, seed + 4),
  up: linear(inner, d, seed + 6),
  down: linear(d, inner, seed + 7),
  mlpNorm: layerNorm(d, seed + 8),
});

/** The bytes that transformer stacks, layers, searches and means occupy in the module. */
export const residentBytes = (): number => maxBytes - freeBytes();

const [d_model, heads, inner, positions, layers] = [4, 2, 6, 140, 2];
/** The vocabulary. The first three words are special tokens. */
export const words = [
  ...['[UNK]', '[CLS]', '[SEP]', 'the', 'river', 'bank', 'a', 'cat', 'sat', 'on', 'mat', 'and', 'slept', '.'],
  ...['in', 'of', 'is', 'was', 'it', '##s', 'had', 'to', 'for', 'at'],
];
const rowsPerPiece = 10;
export const shape = { d_model, heads, inner, positions, layers, vocabulary: words.length };

export const tiny = {
  words: drawn(words.length, d_model, 1, 1),
  positions: drawn(positions, d_model, 2, 1),
  segments: drawn(2, d_model, 3),
  embeddingNorm: layerNorm(d_model, 4),
  layers: Array.from({ length: layers }, (_, layer) => drawnLayer(d_model, inner, 100 * (layer + 1))),
};

/** The shape and the values of each tensor, by name. */
type Tensors = Record<string, readonly [shape: readonly number[], data: Float64Array]>;
const tensorOf = ({ data, rows, columns }: Table<Float64Array>) => [[rows, columns], data] as const;
const named = (name: string, [weight, bias]: readonly [Tensors[string], Float64Array]): Tensors => ({
  [`${name}.weight`]: weight,
  [`${name}.bias`]: [[bias.length], bias],
});
const mapOf = ({ weight, bias }: { weight: Table; bias?: unknown }) =>
  [tensorOf(weight as Table<Float64Array>), bias as Float64Array] as const;
const normOf = ({ gamma, beta }: Normalization) =>
  [[[d_model], gamma as Float64Array], beta as Float64Array] as const;

/** The tensors of a layer's file. */
export function layerTensors(number: number): Tensors {
  const { query, key, value, output, attentionNorm, up, down, mlpNorm } = tiny.layers[
    number
  ] as TransformerLayer;
  const name = (part: string) => `encoder.layer.${number}.${part}`;
  return {
    ...(number > 0 && {
      ...named(name('attention.self.query'), mapOf(query)),
      ...named(name('attention.self.key'), mapOf(key)),
    }),
    ...named(name('attention.self.value'), mapOf(value)),
    ...named(name('attention.output.dense'), mapOf(output)),
    ...named(name('attention.output.LayerNorm'), normOf(attentionNorm as Normalization)),
    ...named(name('intermediate.dense'), mapOf(up)),
    ...named(name('output.dense'), mapOf(down)),
    ...named(name('output.LayerNorm'), normOf(mlpNorm as Normalization)),
  };
}

export const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const tokenizer = wordPieceTokenizer(Object.fromEntries(words.map((word, id) => [word, id])));
/** The ids of the words that occur in corpusSentences. */
export const ofCorpus = words.flatMap((_, id) =>
  corpusSentences.some((text) => wordPieces(tokenizer).cut(text).ids.includes(id)) ? [id] : [],
);
const [{ query, key }] = tiny.layers as [TransformerLayer];
const self = 'encoder.layer.0.attention.self';
const rowsOfCorpus = ofCorpus.flatMap((id) => [
  ...tiny.words.data.subarray(id * d_model, (id + 1) * d_model),
]);
/** The tensors of each piece. */
const tensors: Record<string, Tensors> = {
  'layer-0.bin': {
    'embeddings.token_type_embeddings.weight': tensorOf(tiny.segments),
    ...named('embeddings.LayerNorm', normOf(tiny.embeddingNorm)),
    ...named(`${self}.query`, mapOf(query)),
    ...named(`${self}.key`, mapOf(key)),
  },
  'words-#.bin': { 'embeddings.word_embeddings.weight': tensorOf(tiny.words) },
  'positions-#.bin': { 'embeddings.position_embeddings.weight': tensorOf(tiny.positions) },
  ...Object.fromEntries(tiny.layers.map((_, number) => [`encoder-${number}.bin`, layerTensors(number)])),
  'corpus.bin': { corpus: [[ofCorpus.length, d_model], Float64Array.from(rowsOfCorpus)] },
};
const bytesOf = (tensors: Tensors) =>
  new Uint8Array(Float32Array.from(Object.values(tensors).flatMap(([, data]) => [...data])).buffer);
export const layerBytes = tiny.layers.map((_, number) => bytesOf(layerTensors(number)).length);

const header = safetensorsHeader(
  Object.values(tensors)
    .flatMap(Object.entries)
    .map(([name, [shape, data]]) => ({ name, shape, dtype: 'F32', bytes: { length: 4 * data.length } })),
  {},
);
const row = 4 * d_model;
const pieces = Object.entries(tensors).map(([name, tensor], place) => {
  const bytes = bytesOf(tensor);
  const content = place === 0 ? joined([header, bytes]) : bytes;
  return { name, content, ...(name.includes('#') && { row, rows: rowsPerPiece }) };
});
const config = {
  model_type: 'bert',
  hidden_size: d_model,
  num_attention_heads: heads,
  num_hidden_layers: layers,
  intermediate_size: inner,
  vocab_size: words.length,
  max_position_embeddings: positions,
  type_vocab_size: 2,
  layer_norm_eps: 1e-12,
  // No id of a word is the padding id.
  pad_token_id: words.length,
};
const texts = { 'config.json': json(config), 'tokenizer.json': json(tokenizer) };
export const manifest = {
  format: 4,
  files: {
    'model.safetensors': pieces.map(({ content, ...piece }) => ({ ...piece, bytes: content.length })),
    ...Object.fromEntries(
      Object.entries(texts).map(([name, { length }]) => [name, [{ name, bytes: length }]]),
    ),
  },
};

/** The weights of the tiny MiniLM as one file. */
export const weights = joined(pieces.map(({ content }) => content));

/** The files of the tiny MiniLM, by name. */
export const files: Readonly<Record<string, Uint8Array>> = {
  'manifest.json': json(manifest),
  ...texts,
  ...Object.fromEntries(
    pieces.flatMap(({ name, content, rows }) => {
      const each = rows ? rows * row : content.length;
      const count = Math.ceil(content.length / each);
      return Array.from({ length: count }, (_, at) => [
        name.replace('#', String(at)),
        content.slice(at * each, (at + 1) * each),
      ]);
    }),
  ),
};

/** The tiny MiniLM; `requests` lists the files that it has read. */
export async function loadTiny(
  changed: Readonly<Record<string, Uint8Array>> = {},
  { superpose = plain, ...options }: Omit<MiniLMOptions, 'from'> & { superpose?: Superpose } = {},
) {
  const requests: string[] = [];
  const minilm = await loadMiniLM(superpose, {
    read: async (file) => {
      requests.push(file);
      const bytes = changed[file] ?? files[file];
      if (!bytes) throw new Error(`There is no ${file}.`);
      return bytes;
    },
    ...options,
  });
  return { minilm, requests };
}

/** A transformer stack of the same weights, put together by hand. The caller deletes it. */
export async function tinyStack() {
  const stack = plain.transformerStack({ d_model, heads, embeddingNorm: tiny.embeddingNorm });
  for (const layer of tiny.layers) await stack.addLayer(layer);
  return stack;
}
