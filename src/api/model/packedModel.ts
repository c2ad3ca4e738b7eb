// MiniLM over the files that the build makes of it: a BERT whose names and sizes nobody has to recognize. Its tensors lie
// one after another in a few files; those of tables in pieces of some rows.
import type { SmallSuperpose } from '../small.js';
import type { Superpose } from '../whole.js';
import { bert } from './family.js';
import type { Model } from './firstLayer.js';
import { modelOver } from './modelOver.js';
import {
  jsonIn,
  type Manifest,
  type MiniLMOptions,
  type PackedFile,
  type ReadParsed,
} from './packedFiles.js';
import type { SafetensorsEntry } from './safetensors.js';
import { corpusIds } from './sentence.js';
import { type Tensors, tensorRows } from './tensorRows.js';
import { type CountedWatch, counted } from './watch.js';
import { type TokenizerFile, wordPieces } from './wordPieces.js';

/** A tensor, and the file it is in. */
interface Packed extends SafetensorsEntry {
  readonly file: PackedFile;
}

function packedTensors(superpose: SmallSuperpose, read: ReadParsed, { files, dtype }: Manifest): Tensors {
  const tensors = new Map<string, Packed>();
  const sizes = new Map<PackedFile, number>();
  const add = (file: PackedFile) => {
    let begin = 0;
    for (const [name, shape] of Object.entries(file.tensors)) {
      const size = (dtype === 'F16' ? 2 : 4) * shape.reduce((all, extent) => all * extent, 1);
      tensors.set(name, { name, dtype, shape, begin, end: begin + size, file });
      begin += size;
    }
    sizes.set(file, begin);
  };
  files.forEach(add);
  const pieces = new Map<string, { bytes: Promise<Uint8Array>; by: CountedWatch }>();
  let layer: string | undefined;
  /** Bytes of a piece. Each piece is read once, and counted as it comes. */
  const ofPiece = async (name: string, size: number, from: number, to: number, watch: CountedWatch) => {
    let found = pieces.get(name);
    if (found && found.by !== watch) watch.received(to - from);
    if (!found) {
      // Of layers, which are large, the last one is kept.
      if (isLayer(name)) {
        if (layer) pieces.delete(layer);
        layer = name;
      }
      const bytes = read(
        `${name}.bin`,
        (all) => {
          if (all.length !== size) throw new Error(`It has ${all.length} bytes instead of ${size}.`);
          return all;
        },
        watch,
      );
      found = { bytes, by: watch };
      pieces.set(name, found);
      // Forget a failure, so that the next sentence tries again.
      bytes.catch(() => pieces.delete(name));
    }
    return (await found.bytes).subarray(from, to);
  };
  const bytesOf = async ({ file }: Packed, offset: number, length: number, watch: CountedWatch) => {
    const all = sizes.get(file) as number;
    const { name, each = all } = file;
    const end = offset + length;
    const parts: Promise<Uint8Array>[] = [];
    for (let place = Math.floor(offset / each); place * each < end; place++) {
      const from = place * each;
      const size = Math.min(each, all - from);
      const piece = file.each === undefined ? name : `${name}-${place}`;
      parts.push(ofPiece(piece, size, Math.max(0, offset - from), Math.min(size, end - from), watch));
    }
    const found = await Promise.all(parts);
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const part of found) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  };
  const own = tensorRows(superpose, tensors, bytesOf);
  /** The corpus’s words, which are in a file of their own. */
  let corpus: ReadonlyMap<number, number> | undefined;
  return {
    ...own,
    async rows(name, wanted, watch) {
      if (corpus && name === words && wanted.every((id) => corpus?.has(id)))
        return own.rows(
          'corpus',
          wanted.map((id) => corpus?.get(id) as number),
          watch,
        );
      const entry = tensors.get(name) as Packed;
      if (!entry.file.each) return own.rows(name, wanted, watch);
      const quiet = { ...counted({}), signal: watch.signal };
      const rowBytes = (entry.end - entry.begin) / (entry.shape[0] as number);
      // All pieces at once.
      await Promise.all(wanted.map((row) => bytesOf(entry, row * rowBytes, rowBytes, quiet)));
      return own.rows(name, wanted, quiet);
    },
    async corpusRows(ids, watch) {
      const all = corpusIds([ids]);
      add({ name: 'corpus', tensors: { corpus: [all.length, tensors.get(words)?.shape[1] as number] } });
      await own.rows('corpus', [0], watch);
      corpus = new Map(all.map((id, place) => [id, place]));
    },
  };
}

const words = `${bert.tables.token}.weight`;
const places = `${bert.tables.position}.weight`;
const segments = `${bert.tables.segment}.weight`;

export async function packedModel(
  superpose: SmallSuperpose,
  read: ReadParsed,
  manifest: Manifest,
  { rest }: MiniLMOptions,
) {
  const checkpoint = packedTensors(superpose, read, manifest);
  const extents = (name: string) => checkpoint.tensors.get(name)?.shape as [number, number];
  const [vocabulary, d_model] = extents(words);
  const [positions] = extents(places);
  const [tokenizer] = await Promise.all([
    read('tokenizer.json', (bytes) => wordPieces(jsonIn(bytes) as TokenizerFile)),
    // It is in the file of the first scores, which every reader needs.
    checkpoint.rows(segments, [0], counted({})),
  ]);
  const { heads, epsilon } = manifest;
  const model: Model = {
    ...{ superpose, checkpoint, heads, epsilon, config: {} },
    layout: {
      ...{ family: 'bert', facts: bert, prefix: '', d_model, vocabulary, positions, padding: undefined },
      tables: { token: words, position: places, segment: segments },
      apart: [0],
    },
    layers: layersOf(manifest).length,
    whole: rest ?? (async () => superpose as Superpose),
    isSmall: true,
    readsText: true,
    tokenizer: async () => tokenizer,
  };
  const layerBytes = layersOf(manifest).map(({ tensors }) =>
    Object.keys(tensors).reduce((all, name) => {
      const { begin, end } = checkpoint.tensors.get(name) as SafetensorsEntry;
      return all + end - begin;
    }, 0),
  );
  return { ...modelOver(model), heads, layerBytes };
}

const isLayer = (name: string) => name.startsWith('encoder-');
const layersOf = ({ files }: Manifest) => files.filter(({ name }) => isLayer(name));
