// The part of MiniLM that one state of a figure needs, small enough to go into a page: the rows of the
// state's words and positions, the first layer, and a tokenizer that knows only those words. It also holds
// the recorded runs that the figure opens with.
import type { MiniLM, Sentence } from 'add-or-concatenate';
import { filesOfPiece, type Manifest } from '../../build/package/model/pieces.js';
import type { Library } from '../figures/figure.js';

/** Gives a file of the model by its name; see MiniLMOptions. */
export type ReadFile = (file: string) => Promise<Uint8Array>;

export interface ModelExcerpt {
  /** Texts that can be cut into tokens. */
  texts: string[];
  /** Pieces that can be named. */
  pieces: number[];
  /** Files by name, base64. */
  files: Record<string, string>;
  /** Rows of the tables, by table: their indices, and their bytes one after another, base64. */
  rows: Record<string, { at: number[]; bytes: string }>;
  /** Runs that were trained beforehand, by name. */
  recorded?: Record<string, unknown>;
}

/** The error for a request for something that is not in the excerpt. */
export class NotInExcerpt extends Error {}

const rowFile = /^(words|positions)-(\d+)\.bin$/;
/** The most bytes of a model that a page may carry. */
const mostBytes = 3_000_000;

/** Bytes as base64, and back; in Node and in browsers alike. */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** The manifest with a file for each row of the tables. */
const inRows = ({ files, ...others }: Manifest) => ({
  ...others,
  files: Object.fromEntries(
    Object.entries(files).map(([file, pieces]) => [
      file,
      pieces.map((piece) => (piece.rows ? { ...piece, rows: 1 } : piece)),
    ]),
  ),
});

const json = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes));
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** Reads a model's tables as files of one row each, and records what was read. */
export function excerptRecorder(read: ReadFile) {
  const files = new Map<string, Uint8Array>();
  const rows = new Map<string, Map<number, Uint8Array>>();
  const texts = new Set<string>();
  const ids = new Set<number>();
  const runs = new Map<string, unknown>();
  let bytes = 0;
  let loadingManifest: Promise<Manifest> | undefined;
  // Read only when somebody awaits the manifest; otherwise a failure would go unnoticed.
  const manifest = () => {
    loadingManifest ??= read('manifest.json').then(json);
    return loadingManifest;
  };
  const count = (more: number) => {
    bytes += more;
    if (bytes > mostBytes)
      throw new NotInExcerpt('This state needs more of the model than a page can carry.');
  };

  const readRow = async (table: string, row: number) => {
    const pieces = Object.values((await manifest()).files).flat();
    const piece = pieces.find(({ name }) => name === `${table}-#.bin`);
    const offset = row * (piece?.row ?? 0);
    const file = piece && filesOfPiece(piece).find(({ end }) => offset < end);
    if (!file) throw new NotInExcerpt(`The table ${table} has no row ${row}.`);
    const rowBytes = (await read(file.name)).slice(
      offset - file.begin,
      offset - file.begin + (piece.row ?? 0),
    );
    const known = rows.get(table) ?? new Map();
    rows.set(table, known);
    if (!known.has(row)) count(rowBytes.length);
    known.set(row, rowBytes);
    if (table === 'words') ids.add(row);
    return rowBytes;
  };

  return {
    async read(file: string): Promise<Uint8Array> {
      const [, table, row] = file.match(rowFile) ?? [];
      if (table) return readRow(table, Number(row));
      const fileBytes = file === 'manifest.json' ? bytesOf(inRows(await manifest())) : await read(file);
      if (!files.has(file) && file !== 'tokenizer.json') count(fileBytes.length);
      files.set(file, fileBytes);
      return fileBytes;
    },
    /** Records which recorded runs are read. */
    recorded: (give: Library['recorded']): Library['recorded'] =>
      give &&
      (async (name) => {
        runs.set(name, await give(name));
        return runs.get(name);
      }),
    /** Records the texts and the pieces that the model is asked for. */
    watched: (model: MiniLM): MiniLM =>
      guarded(model, {
        text(text, sentence) {
          texts.add(text);
          for (const id of sentence.ids) ids.add(id);
        },
        pieces: (read) => {
          for (const id of read) ids.add(id);
        },
      }),
    /** Everything so far; undefined when there is nothing to carry. */
    excerpt(): ModelExcerpt | undefined {
      if (files.size === 0 && runs.size === 0) return undefined;
      const tokenizer = files.get('tokenizer.json');
      if (tokenizer) {
        const fewer = bytesOf(reduced(json(tokenizer), ids));
        const changed = json(files.get('manifest.json') as Uint8Array);
        changed.files['tokenizer.json'][0].bytes = fewer.length;
        files.set('tokenizer.json', fewer).set('manifest.json', bytesOf(changed));
      }
      return {
        texts: [...texts],
        pieces: [...ids].sort((a, b) => a - b),
        files: Object.fromEntries([...files].map(([name, content]) => [name, toBase64(content)])),
        rows: Object.fromEntries([...rows].map(([table, known]) => [table, packed(known)])),
        ...(runs.size > 0 && { recorded: Object.fromEntries(runs) }),
      };
    },
  };
}

/** The indices of the rows, and the rows' bytes one after another. */
function packed(rows: ReadonlyMap<number, Uint8Array>): { at: number[]; bytes: string } {
  const at = [...rows.keys()].sort((a, b) => a - b);
  const all = at.map((row) => rows.get(row) as Uint8Array);
  const size = all[0]?.length ?? 0;
  const bytes = new Uint8Array(at.length * size);
  for (const [place, row] of all.entries()) bytes.set(row, place * size);
  return { at, bytes: toBase64(bytes) };
}

/** The tokenizer with only the words asked for. Being greedy, it cuts the same texts the same way. */
function reduced(tokenizer: { model: { vocab: Record<string, number> } }, ids: ReadonlySet<number>) {
  const vocab = Object.fromEntries(
    // The first thousand are markers, letters and signs.
    Object.entries(tokenizer.model.vocab).filter(([, id]) => id < 1000 || ids.has(id)),
  );
  return { ...tokenizer, model: { ...tokenizer.model, vocab } };
}

interface Guards {
  text(text: string, sentence: Sentence): void;
  pieces(ids: readonly number[]): void;
}

/** A model that reports which texts and pieces it is asked for, before it answers. */
function guarded(model: MiniLM, { text: tell, pieces: tellPieces }: Guards): MiniLM {
  const tokenize: MiniLM['tokenize'] = async (text, most) => {
    const sentence = await model.tokenize(text, most);
    tell(text, sentence);
    return sentence;
  };
  const pieces: MiniLM['pieces'] = async (ids) => {
    tellPieces(Array.from(ids, Number));
    return model.pieces(ids);
  };
  return {
    ...model,
    pieces,
    tokenize,
    decompose: async (text, options) =>
      model.decompose(typeof text === 'string' ? await tokenize(text) : text, options),
  };
}

/** The excerpt’s files, for loadMiniLM(). */
export function excerptReader(excerpt: ModelExcerpt): ReadFile {
  const places = new Map(
    Object.entries(excerpt.rows).map(([table, { at }]) => [
      table,
      new Map(at.map((row, place) => [row, place])),
    ]),
  );
  const decoded = new Map<string, Uint8Array>();
  return async (file) => {
    const content = excerpt.files[file];
    if (content !== undefined) return fromBase64(content);
    const [, table = '', row] = file.match(rowFile) ?? [];
    const place = places.get(table)?.get(Number(row));
    const rows = excerpt.rows[table];
    if (place === undefined || !rows) throw new NotInExcerpt(`${file} is not in the excerpt.`);
    const all = decoded.get(table) ?? fromBase64(rows.bytes);
    decoded.set(table, all);
    const size = all.length / rows.at.length;
    return all.slice(place * size, (place + 1) * size);
  };
}

/** Refuses texts that the excerpt was not made for, because its tokenizer would cut them wrongly. */
export const onlyExcerpt = (model: MiniLM, { texts, pieces }: ModelExcerpt): MiniLM => {
  const known = new Set(texts);
  const ids = new Set(pieces);
  return guarded(model, {
    text(text) {
      if (!known.has(text)) throw new NotInExcerpt('This text is not in the excerpt.');
    },
    pieces(read) {
      if (read.some((id) => id >= 1000 && !ids.has(id)))
        throw new NotInExcerpt('This token is not in the excerpt.');
    },
  });
};

/** A library whose model is watched. */
export const watchedLibrary = (library: Library, watch: (model: MiniLM) => MiniLM): Library => ({
  ...library,
  miniLM: async () => watch(await library.miniLM()),
});
