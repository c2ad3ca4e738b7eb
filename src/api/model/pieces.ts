// A file that is published in pieces, each of which is fetched once and as a whole.
import type { Watch } from '../files.js';
import { joined } from '../table.js';
import type { Slices } from './slices.js';
import { shared } from './watch.js';

/** A part of a file, published as one file or as several. */
export interface Piece {
  /** The name of its file; for several files, # stands for their numbers. */
  name: string;
  /** How many bytes it has in all. */
  bytes: number;
  /** The bytes of a row, for a table in several files. */
  row?: number;
  /** How many rows each of those files has: one number for all, or a list. The last file has the rest. */
  rows?: number | readonly number[];
}

/** The list of a model's files and their pieces, which is published beside them. */
export interface Manifest {
  /** The version of these files. */
  format: number;
  /** The pieces of each file of the model. */
  files: Readonly<Record<string, readonly Piece[]>>;
}

/** The version of the files that is written and read. */
export const manifestFormat = 4;

/** The files of a piece, and which of its bytes each of them has. */
export function filesOfPiece({ name, bytes, row, rows }: Piece) {
  const files: { name: string; begin: number; end: number }[] = [];
  for (let begin = 0; begin < bytes; begin = files.at(-1)?.end ?? bytes) {
    const count = typeof rows === 'object' ? rows[files.length] : rows;
    const length = (row ?? 0) * (count ?? 0);
    const end = length > 0 ? Math.min(bytes, begin + length) : bytes;
    files.push({ name: name.replace('#', String(files.length)), begin, end });
  }
  return files;
}

/** Reads a file of this name and length. */
export type ReadPiece = (name: string, bytes: number, watch: Watch) => Promise<Uint8Array>;

/**
 * In bytes. A larger piece belongs to a layer, whose tensors are read once, so only the last such piece is
 * memoized.
 */
const mostMemoized = 2 ** 20;

/** The file whose bytes are those of the pieces, one after another. */
export function inPieces(name: string, pieces: readonly Piece[], read: ReadPiece): Slices {
  let size = 0;
  const parts = pieces.flatMap((piece) => {
    const first = size;
    size += piece.bytes;
    return filesOfPiece(piece).map(({ name, begin, end }) => ({
      name,
      begin: first + begin,
      end: first + end,
      // The bytes of a table are counted when rows are taken from it, all others as they arrive.
      countsOnArrival: piece.rows === undefined,
    }));
  });
  type Part = (typeof parts)[number];
  const readerOf = ({ name, begin, end, countsOnArrival }: Part) => {
    /** The watch that counts this piece's bytes as they arrive. */
    let countedBy: Watch | undefined;
    const bytes = shared((watch: Watch, signal) => {
      if (!countsOnArrival) return read(name, end - begin, { signal });
      countedBy = watch;
      return read(name, end - begin, { ...watch, signal });
    });
    return { bytes, isCountedBy: (watch: Watch) => watch === countedBy };
  };
  const readers = new Map<string, ReturnType<typeof readerOf>>();
  let lastLarge: string | undefined;
  const memoizedReader = (part: Part) => {
    const { name, begin, end } = part;
    const reader = readers.get(name) ?? readerOf(part);
    readers.set(name, reader);
    if (end - begin > mostMemoized && lastLarge !== name) {
      if (lastLarge) readers.delete(lastLarge);
      lastLarge = name;
    }
    return reader;
  };
  return {
    name,
    size,
    counts: true,
    async read(offset, length, watch = {}) {
      const end = offset + length;
      const overlapping = parts.filter((part) => part.begin < end && offset < part.end);
      return joined(
        await Promise.all(
          overlapping.map(async (part) => {
            const { bytes, isCountedBy } = memoizedReader(part);
            const piece = await bytes(watch);
            const needed = piece.subarray(Math.max(offset - part.begin, 0), end - part.begin);
            if (!isCountedBy(watch)) watch.received?.(needed.length);
            return needed;
          }),
        ),
      );
    },
  };
}
