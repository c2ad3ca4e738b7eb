// Rows of tokens and of positions: drawn from a seed, or the reader's own in their place.
import type { SmallSuperpose, Table } from 'superpose';
import type { Library } from './figure.js';
import { type Sinusoid, sinusoids } from './sinusoids.js';

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

/** A model’s rows, in single precision as drawn ones are. */
export const inSingle = ({ data, ...rows }: Table): Table<Float32Array> => ({
  ...rows,
  data: new Float32Array(data),
});

/**
 * Positions: a sinusoid, or drawn: of the same squared length as a sinusoidal row, d/2, so that encodings can be
 * compared, or as small as learned ones begin.
 */
export const positionRows = (
  library: Pick<Library, 'own'>,
  superpose: SmallSuperpose,
  kind: Sinusoid | 'random' | 'small',
  rows: number,
  columns: number,
  seed: number,
): Table<Float32Array> =>
  kind === 'random' || kind === 'small'
    ? drawnRows(library, superpose, 'position', {
        rows,
        columns,
        seed,
        standardDeviation: kind === 'random' ? Math.SQRT1_2 : 0.02,
      })
    : superpose.sinusoidal({
        positions: rows,
        d_model: columns,
        ...sinusoids[kind],
        precision: 'float32',
      });

/** What a row of tokens is called. */
export const rowName = ({ own }: Pick<Library, 'own'>, place: number, what = 'token'): string =>
  own?.words?.[place] ?? `${what} ${place}`;
