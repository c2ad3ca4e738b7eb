// A file that lies in pieces, each of them fetched whole and once.
import type { Watch } from '../files.js';
import { joined } from '../table.js';
import type { Slices } from './slices.js';

/** A part of a file, in a file of its own or in several. */
export interface Piece {
  /** Where it is; of several, each has its number in the place of #. */
  name: string;
  /** How many there are in all. */
  bytes: number;
  /** The bytes of a row, for a table that is in several files. */
  row?: number;
  /** How many rows each of those has, but the last. */
  rows?: number;
}

/** Reads a file of so many bytes. */
export type ReadPiece = (name: string, bytes: number, watch: Watch) => Promise<Uint8Array>;

/** A larger piece is of a layer, whose tensors are read once: of those the last is kept. */
const mostKept = 2 ** 20;

/** The file whose bytes are those of the pieces, one after another. */
export function inPieces(name: string, pieces: readonly Piece[], read: ReadPiece): Slices {
  let size = 0;
  const parts = pieces.flatMap(({ name, bytes, row, rows }) => {
    const first = size;
    size += bytes;
    const each = row && rows ? row * rows : bytes;
    return Array.from({ length: Math.ceil(bytes / each) }, (_, at) => ({
      name: name.replace('#', String(at)),
      begin: first + at * each,
      end: Math.min(size, first + (at + 1) * each),
      // One of rows counts as they do, others as they come.
      flows: rows === undefined,
    }));
  });
  const kept = new Map<string, { bytes: Promise<Uint8Array>; by: Watch | undefined }>();
  let large: string | undefined;
  const fetched = ({ name, begin, end, flows }: (typeof parts)[number], watch: Watch) => {
    if (end - begin > mostKept) {
      if (large) kept.delete(large);
      large = name;
    }
    const bytes = read(name, end - begin, flows ? watch : { signal: watch.signal });
    const found = { bytes, by: flows ? watch : undefined };
    kept.set(name, found);
    // Forget a failure, so that the next sentence tries again.
    bytes.catch(() => kept.delete(name));
    return found;
  };
  return {
    name,
    size,
    counts: true,
    async read(offset, length, watch = {}) {
      const end = offset + length;
      const asked = parts.filter((part) => part.begin < end && offset < part.end);
      return joined(
        await Promise.all(
          asked.map(async (part) => {
            const { bytes, by } = kept.get(part.name) ?? fetched(part, watch);
            const own = (await bytes).subarray(Math.max(offset - part.begin, 0), end - part.begin);
            if (by !== watch) watch.received?.(own.length);
            return own;
          }),
        ),
      );
    },
  };
}
