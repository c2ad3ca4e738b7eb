// Rows of tokens and of positions that are drawn from a seed, or the rows of the reader's tables in their place.
import type { SmallSuperpose, Table } from 'superpose';
import type { Library } from './figure.js';

/** Streams of one seed, so that more positions do not change the tokens. */
const streams = { token: 0, position: 1 };

interface Drawn {
  rows: number;
  columns: number;
  seed: number;
  standardDeviation?: number;
}

/** [rows, columns]; a reader's table may have fewer rows. */
export const drawnRows = (
  { own }: Pick<Library, 'own'>,
  superpose: SmallSuperpose,
  kind: keyof typeof streams,
  drawn: Drawn,
): Table<Float64Array> =>
  own?.[kind]?.(drawn.rows) ?? superpose.randomNormal({ ...drawn, stream: streams[kind] });

/** The name of a row: its word in the reader's table, or its number. */
export const rowName = ({ own }: Pick<Library, 'own'>, place: number, what = 'token'): string =>
  own?.words?.[place] ?? `${what} ${place}`;
