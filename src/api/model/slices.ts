// Files read in slices: from disk in Node (disk.ts), from the reader's choice in a browser. Nothing is uploaded, and
// only what is asked for is read.
import * as check from '../check.js';
import type { Files, Slices, Watch } from '../files.js';

export type { Slices };

/**
 * Where a model or a table comes from: in Node the path of a file or folder, in a browser a file or all files
 * of a folder, anywhere an object of your own that reads slices. Of files in several folders those are read that lie
 * beside the weights.
 */
export type Source = string | URL | Blob | Slices | readonly (Blob | Slices)[];

/** The largest JSON file that is read: those beside the weights are small. */
const longestText = 64 * 2 ** 20;

/** The files of a source. */
export async function filesOf(source: Source): Promise<Files> {
  if (typeof source === 'string' || source instanceof URL) {
    const isNode = typeof process === 'object' && typeof process.versions?.node === 'string';
    if (!isNode)
      throw new Error('A path can be read in Node alone; in a browser give the file that the reader chose.');
    return (await import('./disk.js')).onDisk(source);
  }
  const list = Array.isArray(source) ? source : [source as Blob | Slices];
  if (list.length === 0) check.refuseCount('source', 'at least 1 file', 0);
  const files = list.map((one, place) => slicesOf(one, list.length === 1 ? 'source' : `source[${place}]`));
  const byName = new Map(files.map((one) => [one.name, one]));
  const names = [...byName.keys()];
  // Few are in folders, or alike; pages fetch what chooses among them where it is needed.
  const isPlain = names.length === files.length && !names.some((name) => name.includes('/'));
  const chosen = isPlain ? byName : (await import('./folders.js')).inOneFolder(files);
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
  if (typeof slices.name !== 'string' || typeof slices.read !== 'function')
    check.refuse(name, 'a path, a Blob, or an object with name, size and read', file, false);
  check.integer(`${name}.size`, slices.size, 0, Number.MAX_SAFE_INTEGER);
  return slices;
}

/** With the folder that a reader chose, where the browser says it. */
const pathOf = (file: Blob & Partial<Pick<File, 'name' | 'webkitRelativePath'>>): string =>
  file.webkitRelativePath || String(file.name ?? 'model.safetensors');

/** The bytes that a reader of the caller's own gave, of whatever kind; undefined if these are none. */
export function bytesIn(given: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  // In a frame or in node:vm, ArrayBuffer is another class.
  const isBuffer = Object.prototype.toString.call(given) === '[object ArrayBuffer]';
  return isBuffer ? new Uint8Array(given as ArrayBuffer) : undefined;
}

/** Exactly these bytes of a file; throws if the file has become shorter. */
export async function slice(
  file: Slices,
  offset: number,
  length: number,
  watch?: Watch,
): Promise<Uint8Array> {
  const given = await file.read(offset, length, watch);
  const bytes = bytesIn(given);
  if (!bytes)
    check.refuse(`What read() of “${file.name}” gives`, 'a Uint8Array or an ArrayBuffer', given, false);
  if (bytes.length !== length)
    throw new Error(
      `“${file.name}” ended at byte ${offset + bytes.length} while it was read; it is truncated or was changed.`,
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
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new RangeError(`“${name}” is not UTF-8.`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw (await import('./json.js')).noJson(`“${name}”`, text, cause);
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
