// What loadMiniLM() says about files that are missing, damaged or of another version. All files except the
// tokenizer are made up, so nothing here needs the real weights.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadMiniLM } from 'superpose';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { fileOf, wordPieceTokenizer } from '../support/files.ts';

const d_model = 4;
const halves = (rows: number, columns: number) => ({
  dtype: 'F16',
  shape: [rows, columns],
  bytes: new Uint8Array(Uint16Array.from({ length: rows * columns }, (_, i) => 0x3c00 + i).buffer),
});

/** A tensor with one value that is NaN or infinite. */
const notFinite = (rows: number, columns: number, bits: number) => {
  const tensor = halves(rows, columns);
  new DataView(tensor.bytes.buffer).setUint16(6, bits, true);
  return tensor;
};

/** A tensor of this shape, in a model that is one channel wider. */
const widened = (shape: number[]) => {
  const wider = shape.map((extent) => (extent === d_model ? d_model + 1 : extent));
  return {
    ...halves(
      1,
      wider.reduce((total, extent) => total * extent, 1),
    ),
    shape: wider,
  };
};

const manifest = {
  format: 1,
  d_model,
  heads: 2,
  positions: 6,
  vocabulary: 6,
  epsilon: 1e-12,
  rowsPerShard: 4,
  inner: 8,
  layerBytes: [],
};

const vocab = { '[UNK]': 0, '[CLS]': 1, '[SEP]': 2, river: 3, bank: 4, the: 5 };

const tokenizer = wordPieceTokenizer(vocab);

const attention = 'encoder.layer.0.attention.self';
const layer = {
  'embeddings.token_type_embeddings.weight': halves(2, d_model),
  'embeddings.LayerNorm.weight': { ...halves(1, d_model), shape: [d_model] },
  'embeddings.LayerNorm.bias': { ...halves(1, d_model), shape: [d_model] },
  [`${attention}.query.weight`]: halves(d_model, d_model),
  [`${attention}.query.bias`]: { ...halves(1, d_model), shape: [d_model] },
  [`${attention}.key.weight`]: halves(d_model, d_model),
  [`${attention}.key.bias`]: { ...halves(1, d_model), shape: [d_model] },
};
const files: Record<string, Uint8Array | string> = {
  'manifest.json': JSON.stringify(manifest),
  'tokenizer.json': JSON.stringify(tokenizer),
  'layer-0.safetensors': fileOf(layer),
  // Shards of four rows; each table's last shard has the two that are left.
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
  const { ids, tokens } = await model.tokenize('The river bank');
  expect(ids).toEqual([1, 5, 3, 4, 2]);
  expect(tokens).toEqual(['[CLS]', 'the', 'river', 'bank', '[SEP]']);
  const { token } = await model.rows({ ids, tokens });
  // Rows 5 and 4 are rows 1 and 0 of the second shard, which has the same numbers as the first.
  expect(token.data.subarray(4, 8)).toEqual(token.data.subarray(0, 4));
  expect((await model.decompose('the river')).n).toBe(4);
});

test('the folder may be given as a path, from where the program runs, whatever letters it has', async () => {
  const odd = join(folder, 'a #1 & 50%', 'model');
  await mkdir(odd, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(odd, name), content);
  const below = relative(process.cwd(), odd);
  for (const path of [`${odd}/`, odd, below, `${below}/`, pathToFileURL(odd), pathToFileURL(odd).href])
    expect((await loadMiniLM(plain, { from: path })).heads, String(path)).toBe(2);
});

test('no folder', async () => {
  const advice = 'Give the folder that `npm run build` fills, build/model/ or a copy of it.';
  for (const [missing, where] of [
    [new URL('missing/', from), join(folder, 'missing/manifest.json')],
    ['./missing/', join(process.cwd(), 'missing/manifest.json')],
  ] as const)
    expect(await sentence(loadMiniLM(plain, { from: missing }))).toBe(
      `The MiniLM files are not there. The MiniLM file manifest.json could not be read (${where}). ${advice}`,
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

const damaged = (name: string, why: string) => `The MiniLM file ${name} is damaged; build it again. ${why}`;

test('a layer that lacks a tensor', async () => {
  await writeFile(join(folder, 'layer-0.safetensors'), fileOf({ other: halves(1, 1) }));
  expect(await sentence(load())).toBe(
    damaged('layer-0.safetensors', 'It lacks the tensor embeddings.token_type_embeddings.weight.'),
  );
});

const withTensor = (name: string, tensor: ReturnType<typeof halves>) => fileOf({ ...layer, [name]: tensor });
const query = `${attention}.query.weight`;
test.each<[string, Uint8Array, string]>([
  [
    'of another width',
    fileOf(Object.fromEntries(Object.entries(layer).map(([name, { shape }]) => [name, widened(shape)]))),
    'Tensor embeddings.token_type_embeddings.weight has shape [2, 5] instead of [2, 4].',
  ],
  [
    'with a tensor of another width',
    withTensor(query, halves(4, 5)),
    `Tensor ${query} has shape [4, 5] instead of [4, 4].`,
  ],
  [
    'with a tensor of no rows',
    withTensor(query, halves(0, 4)),
    `Tensor ${query} has shape [0, 4] instead of [4, 4].`,
  ],
  [
    'with a tensor of one dimension',
    withTensor(query, { ...halves(1, 16), shape: [16] }),
    `Tensor ${query} has shape [16] instead of [4, 4].`,
  ],
  ['with NaN', withTensor(query, notFinite(4, 4, 0x7e00)), `Tensor ${query} must be finite; value 3 is NaN.`],
  [
    'with an infinity',
    withTensor(query, notFinite(4, 4, 0xfc00)),
    `Tensor ${query} must be finite; value 3 is -Infinity.`,
  ],
  [
    'of whole numbers',
    withTensor(query, { ...halves(4, 4), dtype: 'I16' }),
    `Tensor ${query} has dtype I16; only F64, F32, F16 and BF16 can be decoded.`,
  ],
])('a layer %s', async (_, bytes, why) => {
  await writeFile(join(folder, 'layer-0.safetensors'), bytes);
  expect(await sentence(load())).toBe(damaged('layer-0.safetensors', why));
});

test.each<[string, ReturnType<typeof halves>, string]>([
  ['of another width', halves(4, 5), 'Tensor rows has shape [4, 5] instead of [4, 4].'],
  ['of half the width and twice the rows', halves(8, 2), 'Tensor rows has shape [8, 2] instead of [4, 4].'],
  ['of more rows', halves(5, 4), 'Tensor rows has shape [5, 4] instead of [4, 4].'],
  ['without rows', halves(0, 4), 'Tensor rows has shape [0, 4] instead of [4, 4].'],
  ['without columns', halves(4, 0), 'Tensor rows has shape [4, 0] instead of [4, 4].'],
  ['with NaN', notFinite(4, 4, 0x7e00), 'Tensor rows must be finite; value 3 is NaN.'],
])('a shard %s is told, and tried again once it is sound', async (_, rows, why) => {
  for (const name of ['words-0.safetensors', 'positions-0.safetensors']) {
    const model = await load();
    await writeFile(join(folder, name), fileOf({ rows }));
    expect(await sentence(model.decompose('river'))).toBe(damaged(name, why));
    await writeFile(join(folder, name), files[name] as Uint8Array);
    expect((await model.decompose('river')).n).toBe(3);
  }
});

test.each<[string, object, string]>([
  ['without a width', { d_model: undefined }, 'd_model must be a whole number; it is undefined.'],
  ['of width 0', { d_model: 0 }, 'd_model must be a whole number from 1 to 4194304; it is 0.'],
  [
    'with heads that do not divide the width',
    { heads: 3 },
    'heads must divide the 4 channels of d_model; 3 does not.',
  ],
  ['with half a position', { positions: 6.5 }, 'positions must be a whole number; it is 6.5.'],
  ['without positions', { positions: 0 }, 'positions must be a whole number from 2 to 4194304; it is 0.'],
  ['without words', { vocabulary: 0 }, 'vocabulary must be a whole number from 1 to 4194304; it is 0.'],
  [
    'with shards of nothing',
    { rowsPerShard: 0 },
    'rowsPerShard must be a whole number from 1 to 4194304; it is 0.',
  ],
  ['with an epsilon that is text', { epsilon: '1e-12' }, 'epsilon must be a number; it is "1e-12".'],
])('a manifest %s', async (_, change, why) => {
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, ...change }));
  expect(await sentence(load())).toBe(damaged('manifest.json', why));
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
