// A file that lies in pieces, each of them fetched whole and once.
import type { Watch } from '../files.js';
import { joined } from '../table.js';
import type { Slices } from './slices.js';
import { shared } from './watch.js';

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
  const kept = new Map<string, ReturnType<typeof pieceOf>>();
  let large: string | undefined;
  const pieceOf = ({ name, begin, end, flows }: (typeof parts)[number]) => {
    /** Who hears of its bytes as they come. */
    let hearer: Watch | undefined;
    const bytes = shared((watch: Watch, signal) => {
      if (!flows) return read(name, end - begin, { signal });
      hearer = watch;
      return read(name, end - begin, { ...watch, signal });
    });
    return { bytes, isHeardBy: (watch: Watch) => watch === hearer };
  };
  const found = (part: (typeof parts)[number]) => {
    const { name, begin, end } = part;
    const piece = kept.get(name) ?? pieceOf(part);
    kept.set(name, piece);
    if (end - begin > mostKept && large !== name) {
      if (large) kept.delete(large);
      large = name;
    }
    return piece;
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
            const { bytes, isHeardBy } = found(part);
            const own = (await bytes(watch)).subarray(Math.max(offset - part.begin, 0), end - part.begin);
            if (!isHeardBy(watch)) watch.received?.(own.length);
            return own;
          }),
        ),
      );
    },
  };
}
