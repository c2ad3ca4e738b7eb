// Rows of tokens and of positions: drawn from a seed, or the reader's own in their place.
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

/** The reader's own may be fewer rows than are asked for. */
export const drawnRows = (
  { own }: Pick<Library, 'own'>,
  superpose: SmallSuperpose,
  kind: keyof typeof streams,
  drawn: Drawn,
): Table<Float32Array> =>
  own?.[kind]?.(drawn.rows) ??
  superpose.randomNormal({ ...drawn, stream: streams[kind], precision: 'float32' });

/** Positions of the same squared length as a sinusoidal row, d/2, so that encodings can be compared. */
export const randomPositions = (
  library: Pick<Library, 'own'>,
  superpose: SmallSuperpose,
  rows: number,
  columns: number,
  seed: number,
) => drawnRows(library, superpose, 'position', { rows, columns, seed, standardDeviation: Math.SQRT1_2 });

/** What a row of tokens is called. */
export const rowName = ({ own }: Pick<Library, 'own'>, place: number, what = 'token'): string =>
  own?.words?.[place] ?? `${what} ${place}`;
