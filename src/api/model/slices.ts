// Files read in slices: from disk in Node, from the reader's choice in a browser. Nothing is uploaded, and
// only what is asked for is read.
import * as check from '../check.js';
import { Unreadable, type Watch } from '../files.js';

/** A file that can be read in parts. */
export interface Slices {
  /** Its name, without a folder. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The bytes from `offset` on, `length` of them or up to the file’s end. `watch` may end the read. */
  read(offset: number, length: number, watch?: Watch): Promise<Uint8Array>;
  /** Whether read() tells `watch` of bytes as they arrive; otherwise they are counted when they are there. */
  readonly counts?: boolean;
}

/**
 * Where a model or a table comes from: in Node the path of a file or folder, in a browser a file or all files
 * of a folder, anywhere an object of your own that reads slices.
 */
export type Source = string | URL | Blob | Slices | readonly (Blob | Slices)[];

const nodeFiles = 'node:fs/promises';
const nodeUrl = 'node:url';

/** The largest JSON file that is read: those beside the weights are small. */
const longestText = 64 * 2 ** 20;

/** The files of a source, by name; `named` if the source was a single file. */
export async function filesOf(source: Source): Promise<{ files: Map<string, Slices>; named?: string }> {
  if (typeof source === 'string' || source instanceof URL) return onDisk(source);
  const list = Array.isArray(source) ? source : [source as Blob | Slices];
  if (list.length === 0) check.refuseCount('source', 'at least 1 file', 0);
  const files = list.map((one, place) => slicesOf(one, list.length === 1 ? 'source' : `source[${place}]`));
  const [first] = files;
  return {
    files: new Map(files.map((one) => [one.name, one])),
    ...(files.length === 1 && first && { named: first.name }),
  };
}

function slicesOf(file: unknown, name: string): Slices {
  if (typeof Blob === 'function' && file instanceof Blob) {
    return {
      name: 'name' in file ? String(file.name) : 'model.safetensors',
      size: file.size,
      read: async (offset, length) => new Uint8Array(await file.slice(offset, offset + length).arrayBuffer()),
    };
  }
  check.object(name, file);
  const slices = file as Slices;
  if (typeof slices.name !== 'string' || typeof slices.read !== 'function')
    check.refuse(name, 'a path, a Blob, or an object with name, size and read', file, false);
  check.integer(`${name}.size`, slices.size, 0, Number.MAX_SAFE_INTEGER);
  return slices;
}

async function onDisk(source: string | URL): Promise<{ files: Map<string, Slices>; named?: string }> {
  const isNode = typeof process === 'object' && typeof process.versions?.node === 'string';
  if (!isNode) {
    throw new Error('A path can be read in Node alone; in a browser give the file that the reader chose.');
  }
  // A computed name keeps bundlers from putting a substitute for it into pages.
  const { open, readdir, stat }: typeof import('node:fs/promises') = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ nodeFiles
  );
  if (source instanceof URL && source.protocol !== 'file:')
    throw new RangeError(
      `source is the address ${check.shown(source.href)}; models and tables are read from disk: give a file: address, a path, or a Blob of what you fetched.`,
    );
  const { fileURLToPath }: typeof import('node:url') = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ nodeUrl
  );
  const path = source instanceof URL ? fileURLToPath(source) : source;
  const reading = async <T>(at: string, work: Promise<T>): Promise<T> =>
    work.catch((cause: NodeJS.ErrnoException) => {
      throw new Unreadable(`“${at}” could not be read (${cause.code}).`, { cause });
    });
  const found = (at: string) => reading(at, stat(at));
  const cut = (whole: string): [string, string] => {
    const at = whole.replace(/[\\/]+$/, '');
    const slash = Math.max(at.lastIndexOf('/'), at.lastIndexOf('\\'));
    return slash < 0 ? ['.', at] : [at.slice(0, slash) || '/', at.slice(slash + 1)];
  };
  const isFolder = (await found(path)).isDirectory();
  const [folder, named] = isFolder ? [path, undefined] : cut(path);
  const files = new Map<string, Slices>();
  for (const entry of await reading(folder, readdir(folder, { withFileTypes: true }))) {
    if (!wanted.test(entry.name) && entry.name !== named) continue;
    const at = `${folder}/${entry.name}`;
    const status = await found(at);
    const { size } = status;
    const bytesOf = async (offset: number, length: number) => {
      const file = await open(at);
      try {
        const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
        let filled = 0;
        while (filled < bytes.length) {
          const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, offset + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return bytes.subarray(0, filled);
      } finally {
        await file.close();
      }
    };
    files.set(entry.name, {
      name: entry.name,
      size,
      async read(offset, length) {
        // A pipe would wait for somebody who writes to it.
        if (!status.isFile())
          throw new Unreadable(
            `“${at}” could not be read: it is ${status.isDirectory() ? 'a folder' : 'a pipe or a device'}, and must be a file.`,
          );
        return reading(at, bytesOf(offset, length));
      },
    });
  }
  return { files, ...(named !== undefined && { named }) };
}

/** The files of a folder that a model may need. */
const wanted = /\.safetensors(\.index\.json)?$|^(config|tokenizer|tokenizer_config|adapter_config)\.json$/;

/** Exactly these bytes of a file; throws if the file has become shorter. */
export async function slice(
  file: Slices,
  offset: number,
  length: number,
  watch?: Watch,
): Promise<Uint8Array> {
  const bytes = await file.read(offset, length, watch);
  if (!(bytes instanceof Uint8Array) || bytes.length !== length)
    throw new Error(
      `“${file.name}” ended at byte ${offset + (bytes?.length ?? 0)} while it was read; it is truncated or was changed.`,
    );
  return bytes;
}

/** The contents of a small JSON file; undefined if it is missing. */
export async function jsonOf(files: ReadonlyMap<string, Slices>, name: string): Promise<unknown> {
  const file = files.get(name);
  if (!file) return undefined;
  if (file.size > longestText)
    throw new RangeError(`“${name}” has ${file.size} bytes; at most ${longestText} are read of such a file.`);
  const bytes = await slice(file, 0, file.size);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new RangeError(`“${name}” is not JSON.`, { cause });
  }
}

/**
 * A short digest of bytes, to tell files apart: FNV-1a over two lanes of 32 bits with different beginnings, 16
 * hexadecimal digits. It does not resist deliberate collisions.
 */
export function digestOf(parts: Iterable<Uint8Array>): string {
  let [one, other] = [0x811c9dc5, 0x01000193];
  for (const part of parts) {
    for (const byte of part) {
      one = Math.imul(one ^ byte, 0x01000193);
      other = Math.imul(other ^ byte, 0x01000193) + (one >>> 15);
    }
  }
  return [one, other].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
}
