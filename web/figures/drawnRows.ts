// Rows of tokens and of positions that are drawn from a seed, or the rows of the reader's own tables.
import type { SmallSuperpose, Table } from 'add-or-concatenate';
import type { Library } from './figure.js';

/** Separate streams of one seed, so that drawing more positions does not change the tokens. */
const streams = { token: 0, position: 1 };

interface Drawn {
  rows: number;
  columns: number;
  seed: number;
  standardDeviation?: number;
}

export const drawnRows = (
  superpose: SmallSuperpose,
  kind: keyof typeof streams,
  drawn: Drawn,
): Table<Float64Array> => superpose.randomNormal({ ...drawn, stream: streams[kind] });

/** Rows of the reader's own table, at most as many as it has. */
export function userRows(
  { userTables }: Pick<Library, 'userTables'>,
  kind: 'token' | 'position',
  rows: number,
): Table<Float64Array> {
  const first = userTables?.[kind];
  if (!first) throw new Error('There is no table open; open its file again.');
  return first(rows);
}

/** The name of a row: its word in the reader's own table, if that has words, or its number. */
export const rowName = (words: readonly string[] | undefined, place: number, what = 'token'): string =>
  words?.[place] ?? `${what} ${place}`;
