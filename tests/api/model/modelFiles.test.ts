// What loadMiniLM() says of files that are missing, damaged or another version's. The files are made up,
// but for the tokenizer, so that nothing here needs the real weights.
import { cp, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadMiniLM } from 'superpose';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { fileOf } from '../support/safetensors.ts';

const d_model = 4;
const halves = (rows: number, columns: number) => ({
  dtype: 'F16',
  shape: [rows, columns],
  bytes: new Uint8Array(Uint16Array.from({ length: rows * columns }, (_, i) => 0x3c00 + i).buffer),
});

const manifest = {
  format: 1,
  d_model,
  heads: 2,
  positions: 6,
  vocabulary: 6,
  epsilon: 1e-12,
  rowsPerShard: 4,
};

const tokenizer = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: ['[UNK]', '[CLS]', '[SEP]'].map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })),
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [
      { SpecialToken: { id: '[CLS]', type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { SpecialToken: { id: '[SEP]', type_id: 0 } },
    ],
    pair: [],
    special_tokens: {
      '[CLS]': { id: '[CLS]', ids: [1], tokens: ['[CLS]'] },
      '[SEP]': { id: '[SEP]', ids: [2], tokens: ['[SEP]'] },
    },
  },
  decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: { '[UNK]': 0, '[CLS]': 1, '[SEP]': 2, river: 3, bank: 4, the: 5 },
  },
};

const attention = 'encoder.layer.0.attention.self';
const files: Record<string, Uint8Array | string> = {
  'manifest.json': JSON.stringify(manifest),
  'tokenizer.json': JSON.stringify(tokenizer),
  'layer-0.safetensors': fileOf({
    'embeddings.token_type_embeddings.weight': halves(2, d_model),
    'embeddings.LayerNorm.weight': { ...halves(1, d_model), shape: [d_model] },
    'embeddings.LayerNorm.bias': { ...halves(1, d_model), shape: [d_model] },
    [`${attention}.query.weight`]: halves(d_model, d_model),
    [`${attention}.query.bias`]: { ...halves(1, d_model), shape: [d_model] },
    [`${attention}.key.weight`]: halves(d_model, d_model),
    [`${attention}.key.bias`]: { ...halves(1, d_model), shape: [d_model] },
  }),
  // Shards of four rows; the last of each table has the two that are left.
  'words-0.safetensors': fileOf({ rows: halves(4, d_model) }),
  'words-1.safetensors': fileOf({ rows: halves(2, d_model) }),
  'positions-0.safetensors': fileOf({ rows: halves(4, d_model) }),
  'positions-1.safetensors': fileOf({ rows: halves(2, d_model) }),
};

const made: string[] = [];
let folder = '';
let from: URL;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'superpose-model-'));
  made.push(folder);
  from = pathToFileURL(`${folder}/`);
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
});

afterAll(async () => {
  for (const each of made) await rm(each, { recursive: true });
});

const load = () => loadMiniLM(plain, { from });
const sentence = (promise: Promise<unknown>) =>
  promise.then(
    () => 'It did not fail.',
    (error: Error) => error.message,
  );

test('a sound folder loads, and rows come from their shards', async () => {
  const model = await load();
  const { ids, tokens } = model.tokenize('The river bank');
  expect(ids).toEqual([1, 5, 3, 4, 2]);
  expect(tokens).toEqual(['[CLS]', 'the', 'river', 'bank', '[SEP]']);
  const { token } = await model.summands({ ids, tokens, dropped: 0 });
  // Rows 5 and 4 are rows 1 and 0 of the second shard, which holds the same numbers as the first.
  expect(token.data.subarray(4, 8)).toEqual(token.data.subarray(0, 4));
  expect((await model.decompose('the river')).n).toBe(4);
});

test('the folder may be given as text', async () => {
  expect((await loadMiniLM(plain, { from: from.href })).heads).toBe(2);
});

test('no folder', async () => {
  const missing = loadMiniLM(plain, { from: new URL('missing/', from) });
  expect(await sentence(missing)).toMatch(
    /^The MiniLM files are not there\. They are made by `npm run build` .*\.$/,
  );
});

test.each(['tokenizer.json', 'layer-0.safetensors'])('no %s', async (name) => {
  await rm(join(folder, name));
  expect(await sentence(load())).toMatch(new RegExp(`^The MiniLM file ${name} could not be read .*\\.$`));
});

test('a manifest of another format', async () => {
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, format: 2 }));
  expect(await sentence(load())).toBe('The MiniLM files have format 2; this version reads 1. Build again.');
});

test.each(['null', '{}', '[1]', '"format"'])('a manifest that is %s', async (content) => {
  await writeFile(join(folder, 'manifest.json'), content);
  expect(await sentence(load())).toMatch(
    /^The MiniLM files have format undefined; this version reads 1\. Build again\.$/,
  );
});

test.each(['manifest.json', 'tokenizer.json', 'layer-0.safetensors'])('half of %s', async (name) => {
  await truncate(join(folder, name), 20);
  expect(await sentence(load())).toMatch(/^The MiniLM files? .*\.$/);
});

test('a layer that lacks a tensor', async () => {
  await writeFile(join(folder, 'layer-0.safetensors'), fileOf({ other: halves(1, 1) }));
  const model = await load();
  expect(() => model.layer()).toThrow(/^The MiniLM files lack the tensor .*\.weight; build them again\.$/);
});

test('a shard that is cut short is told, and tried again once it is whole', async () => {
  const model = await load();
  const shard = join(folder, 'words-1.safetensors');
  await truncate(shard, 60);
  expect(await sentence(model.decompose('the river'))).toMatch(
    /^The MiniLM file words-1\.safetensors is damaged; .*\.$/,
  );
  await writeFile(shard, files['words-1.safetensors'] as Uint8Array);
  expect((await model.decompose('the river')).n).toBe(4);
});

test('a missing shard is told, and tried again once it is there; the others work meanwhile', async () => {
  const model = await load();
  const shard = join(folder, 'words-1.safetensors');
  await rm(shard);
  expect(await sentence(model.decompose('the river'))).toMatch(
    /^The MiniLM file words-1\.safetensors could not be read .*\.$/,
  );
  expect((await model.decompose('river')).n).toBe(3);
  await writeFile(shard, files['words-1.safetensors'] as Uint8Array);
  expect((await model.decompose('the river')).n).toBe(4);
});

test('a shard of another build, with fewer rows, is no silent zeros', async () => {
  await cp(join(folder, 'words-1.safetensors'), join(folder, 'words-0.safetensors'));
  const model = await load();
  expect(await sentence(model.decompose('river'))).toMatch(
    /^The MiniLM files disagree: row 3 of words .*\.$/,
  );
});
