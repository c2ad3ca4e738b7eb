// Rows of tokens and of positions: drawn from a seed, or the reader's own in their place; and the sinusoidal encodings
// in use, which differ in the order of the channels and in how the frequencies fall.
import type { SinusoidalOptions, SmallSuperpose, Table } from 'superpose';
import type { Steps } from './controls.js';
import type { Library } from './figure.js';

export const sinusoidNames = {
  interleaved: '2017 paper',
  tensor2tensor: 'tensor2tensor’s',
  transformerXl: 'Transformer-XL’s',
} as const;

export type Sinusoid = keyof typeof sinusoidNames;

export const sinusoids: Record<Sinusoid, Required<Pick<SinusoidalOptions, 'layout' | 'spacing'>>> = {
  interleaved: { layout: 'interleaved', spacing: 'd_model' },
  tensor2tensor: { layout: 'concatenated', spacing: 'timescales' },
  transformerXl: { layout: 'concatenated', spacing: 'd_model' },
};

/** The ratio of the longest wavelength to the shortest. Links of before it could be set mean the papers'. */
export const bases: Steps = {
  kind: 'steps',
  label: 'Base',
  values: [10, 100, 1000, 10_000, 100_000, 1_000_000],
  initial: 10_000,
};

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
): Table<Float64Array> =>
  own?.[kind]?.(drawn.rows) ?? superpose.randomNormal({ ...drawn, stream: streams[kind] });

/** Positions: a sinusoid, or drawn: of the same squared length as a sinusoidal row, d/2, so that encodings can be compared. */
export const positionRows = (
  library: Pick<Library, 'own'>,
  superpose: SmallSuperpose,
  kind: Sinusoid | 'random',
  rows: number,
  columns: number,
  seed: number,
): Table<Float64Array> =>
  kind === 'random'
    ? drawnRows(library, superpose, 'position', {
        rows,
        columns,
        seed,
        standardDeviation: Math.SQRT1_2,
      })
    : superpose.sinusoidal({ positions: rows, d_model: columns, ...sinusoids[kind] });

/** What a row of tokens is called. */
export const rowName = ({ own }: Pick<Library, 'own'>, place: number, what = 'token'): string =>
  own?.words?.[place] ?? `${what} ${place}`;
