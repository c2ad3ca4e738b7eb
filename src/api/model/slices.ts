// Files that are read in slices: from disk in Node (disk.ts), or those that a reader chose in a browser.
// Nothing is uploaded, and only what is needed is read.
import * as check from '../check.js';
import type { Files, Slices, Watch } from '../files.js';

export type { Slices };

/**
 * Where a model or a table comes from: in Node the path of a file or folder; in a browser a file, or all
 * files of a folder; anywhere an object of your own that reads slices. If files lie in several folders,
 * those beside the weights are read.
 */
export type Source = string | URL | Blob | Slices | readonly (Blob | Slices)[];

/** The largest JSON file that is read, in bytes. Those beside the weights are small. */
const mostJsonBytes = 64 * 2 ** 20;

/** The files of a source. Throws RangeError, TypeError, and Error if they cannot be read. */
export async function filesOf(source: Source): Promise<Files> {
  if (typeof source === 'string' || source instanceof URL) {
    const isNode = typeof process === 'object' && typeof process.versions?.node === 'string';
    if (!isNode) {
      throw new Error('A path can be read in Node alone; in a browser give the file that the reader chose.');
    }
    return (await import('./disk.js')).filesOnDisk(source);
  }
  const list = Array.isArray(source) ? source : [source as Blob | Slices];
  if (list.length === 0) check.refuseCount('source', 'at least 1 file', 0);
  const files = list.map((file, at) => slicesOf(file, list.length === 1 ? 'source' : `source[${at}]`));
  const byName = new Map(files.map((file) => [file.name, file]));
  const names = [...byName.keys()];
  // Few sources have folders or two files of one name, so pages fetch the code for these only when it is
  // needed.
  const isPlain = names.length === files.length && !names.some((name) => name.includes('/'));
  const chosen = isPlain ? byName : (await import('./folders.js')).filesOfOneFolder(files);
  const [first = ''] = chosen.keys();
  return { files: chosen, ...(files.length === 1 && { named: first }) };
}

function slicesOf(file: unknown, name: string): Slices {
  if (typeof Blob === 'function' && file instanceof Blob) {
    return {
      name: pathOf(file),
      size: file.size,
      read: async (offset, length) => new Uint8Array(await file.slice(offset, offset + length).arrayBuffer()),
    };
  }
  check.object(name, file);
  const slices = file as Slices;
  if (typeof slices.name !== 'string' || typeof slices.read !== 'function') {
    check.refuse(name, 'a path, a Blob, or an object with name, size and read', file, false);
  }
  check.integer(`${name}.size`, slices.size, 0, Number.MAX_SAFE_INTEGER);
  return slices;
}

/** A file's name, with the folder that the reader chose if the browser gives it. */
const pathOf = (file: Blob & Partial<Pick<File, 'name' | 'webkitRelativePath'>>): string =>
  file.webkitRelativePath || String(file.name ?? 'model.safetensors');

/**
 * The bytes that a caller's read() returned, in whatever kind of buffer; undefined if it returned no buffer.
 */
export function bytesIn(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  // In a frame or in node:vm, ArrayBuffer is another class.
  const isBuffer = Object.prototype.toString.call(value) === '[object ArrayBuffer]';
  return isBuffer ? new Uint8Array(value as ArrayBuffer) : undefined;
}

/** Reads exactly these bytes of a file. Throws Error if the file has become shorter. */
export async function slice(
  file: Slices,
  offset: number,
  length: number,
  watch?: Watch,
): Promise<Uint8Array> {
  const result = await file.read(offset, length, watch);
  const bytes = bytesIn(result);
  if (!bytes) {
    check.refuse(`What read() of “${file.name}” gives`, 'a Uint8Array or an ArrayBuffer', result, false);
  }
  if (bytes.length !== length) {
    throw new Error(
      `“${file.name}” ended at byte ${offset + bytes.length} while it was read; it is truncated or was changed.`,
    );
  }
  return bytes;
}

/** The contents of a small JSON file; undefined if it is missing. Throws RangeError. */
export async function jsonOf(files: ReadonlyMap<string, Slices>, name: string): Promise<unknown> {
  const file = files.get(name);
  if (!file) return undefined;
  if (file.size > mostJsonBytes) {
    throw new RangeError(
      `“${name}” has ${file.size} bytes; at most ${mostJsonBytes} are read of such a file.`,
    );
  }
  const bytes = await slice(file, 0, file.size);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new RangeError(`“${name}” is not UTF-8.`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw (await import('./json.js')).notJson(`“${name}”`, text, cause);
  }
}

/**
 * A short digest of bytes, to tell files apart: FNV-1a in two lanes of 32 bits with different initial
 * values, as 16 hexadecimal digits. It does not resist deliberate collisions.
 */
export function digestOf(parts: Iterable<Uint8Array>): string {
  let first = 0x811c9dc5;
  let second = 0x01000193;
  for (const part of parts) {
    for (const byte of part) {
      first = Math.imul(first ^ byte, 0x01000193);
      second = Math.imul(second ^ byte, 0x01000193) + (first >>> 15);
    }
  }
  return [first, second].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
}
