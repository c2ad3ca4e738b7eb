// Writes a study as arrays of float32, the type that scores are computed in: one array as .npy, all as
// .safetensors.
import type { Scores } from 'add-or-concatenate';
import { safetensorsHeader } from '../../../build/package/model/encodeSafetensors.js';
import type { Piece, Study } from './study.js';
import { headerOf } from './studyTables.js';

type Pieces = AsyncIterable<Piece>;

const parts = ['query part', 'key part'];

/** What each axis of each array counts. */
export const axes = {
  shares: ['sentence', 'layer', 'head', ...parts],
  covariances: ['sentence', 'layer', 'head', ...parts],
  variances: ['sentence', 'layer', 'head'],
  residuals: ['sentence', 'layer', 'head'],
  terms: ['layer', 'head', ...parts, 'query', 'key'],
  logits: ['layer', 'head', 'query', 'key'],
};

const summaries = ['shares', 'covariances', 'variances', 'residuals'] as const;

/** The extents of an array; those of terms and logits are of one sentence, of `n` tokens. */
export function shapeOf(
  name: keyof typeof axes,
  { sentences, layers }: Study,
  scores: Pick<Scores, 'heads' | 'parts'>,
  n = 0,
): number[] {
  const extents: Record<string, number> = {
    sentence: sentences.length,
    layer: layers.length,
    head: scores.heads.length,
    'query part': scores.parts.length,
    'key part': scores.parts.length,
    query: n,
    key: n,
  };
  return axes[name].map((axis) => extents[axis] as number);
}

function bytesOf(numbers: Float32Array | Float64Array): Uint8Array {
  const { buffer, byteOffset, byteLength } =
    numbers instanceof Float32Array ? numbers : Float32Array.from(numbers);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Yields a header, which depends on the first piece's scores, and then the bytes of every piece. */
async function* afterHeader(
  pieces: Pieces,
  header: (scores: Scores) => Uint8Array,
  bytes: (piece: Piece) => Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const piece of pieces) {
    if (isFirst) yield header(piece.scores);
    isFirst = false;
    yield* bytes(piece);
  }
}

/** One array: the shares of all sentences, or with --head the terms of the only one. */
export function npyStudy(study: Study, pieces: Pieces): AsyncGenerator<Uint8Array> {
  const name = study.hasTerms ? 'terms' : 'shares';
  return afterHeader(
    pieces,
    (scores) => npyHeader(shapeOf(name, study, scores, scores.n)),
    ({ scores }) => [bytesOf(scores[name])],
  );
}

/** The header of version 1.0 of NumPy's format, padded to a multiple of 64 bytes. */
function npyHeader(shape: readonly number[]): Uint8Array {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`;
  const length = Math.ceil((10 + text.length + 1) / 64) * 64 - 10;
  const bytes = new TextEncoder().encode(`\u0000NUMPY\u0001\u0000\u0000\u0000${text.padEnd(length - 1)}\n`);
  bytes[0] = 0x93;
  new DataView(bytes.buffer).setUint16(8, length, true);
  return bytes;
}

/** All arrays; `terms.0` and `logits.0` are those of the first sentence. */
export async function* safetensorsStudy(study: Study, pieces: Pieces): AsyncGenerator<Uint8Array> {
  const rows = summaries.map((name) => ({ name, bytes: [] as Uint8Array[] }));
  const logits: Uint8Array[] = [];
  yield* afterHeader(
    pieces,
    (scores) => safetensorsHeader(tensorsOf(study, scores), metadataOf(study, scores)),
    ({ scores }) => {
      for (const { name, bytes } of rows) bytes.push(bytesOf(scores[name]));
      if (!study.hasTerms) return [];
      logits.push(bytesOf(scores.logits));
      // The logits of a sentence follow the terms of its last layer.
      const ofSentence = logits.length === study.layers.length ? logits.splice(0) : [];
      return [bytesOf(scores.terms), ...ofSentence];
    },
  );
  for (const { bytes } of rows) yield* bytes;
}

function tensorsOf(study: Study, scores: Scores): Parameters<typeof safetensorsHeader>[0] {
  const tensor = (name: string, shape: readonly number[]) => {
    const length = shape.reduce((count, extent) => count * extent, 4);
    return { name, dtype: 'F32', shape, bytes: { length } };
  };
  const ofSentences = study.sentences.flatMap(({ ids }, place) =>
    (['terms', 'logits'] as const).map((name) =>
      tensor(`${name}.${place}`, shapeOf(name, study, scores, ids.length)),
    ),
  );
  return [
    ...(study.hasTerms ? ofSentences : []),
    ...summaries.map((name) => tensor(name, shapeOf(name, study, scores))),
  ];
}

/** The metadata of the file. The format allows only texts, so everything else is written as JSON. */
function metadataOf(study: Study, scores: Scores): Record<string, string> {
  const values = { superpose: 'decompose', ...headerOf(study, scores), axes };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}
