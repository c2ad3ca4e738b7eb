// The encodings of positions that figures offer. A new one is an entry of the table below.
import type { SinusoidalOptions, SmallSuperpose, Table } from 'add-or-concatenate';
import { labelled, type Steps } from './controls.js';
import { drawnRows } from './drawnRows.js';
import type { Library } from './figure.js';

/** The order of a sinusoid's channels, and how its frequencies fall. */
type Sinusoid = Required<Pick<SinusoidalOptions, 'layout' | 'spacing'>>;

/** What the rows of an encoding may depend on. */
interface RowsRequest {
  library: Pick<Library, 'miniLM'>;
  superpose: SmallSuperpose;
  positions: number;
  d_model: number;
  seed: number;
  /** The base of a sinusoid's wavelengths: about the ratio of the longest to the shortest. */
  base?: number;
}

interface Encoding {
  /** The name by which the reader chooses it. */
  label: string;
  /** A formula; random draws, which depend on the seed; or a trained model, which sets the width as well. */
  source: 'exact' | 'seeded' | 'trained';
  /** Only sinusoids have a base, and a wavelength for each pair of channels. */
  sinusoid?: Sinusoid;
  /** [positions, d_model], from position 0 on. */
  rows(request: RowsRequest): Table<Float64Array> | Promise<Table<Float64Array>>;
}

const sinusoidal = (label: string, sinusoid: Sinusoid) => ({
  label,
  source: 'exact' as const,
  sinusoid,
  rows: ({ superpose, positions, d_model, base = bases.initial }: RowsRequest) =>
    superpose.sinusoidal({ positions, d_model, base, ...sinusoid }),
});

/** The base of sinusoids. A link that does not set it means the papers' base. */
export const bases: Steps = {
  kind: 'steps',
  label: 'Base',
  values: [10, 100, 1000, 10_000, 100_000, 1_000_000],
  initial: 10_000,
};

const encodings = {
  interleaved: sinusoidal('Sinusoidal, 2017 paper', { layout: 'interleaved', spacing: 'd_model' }),
  tensor2tensor: sinusoidal('Sinusoidal, tensor2tensor', { layout: 'concatenated', spacing: 'timescales' }),
  transformerXl: sinusoidal('Sinusoidal, Transformer-XL', { layout: 'concatenated', spacing: 'd_model' }),
  random: {
    label: 'Random, of the same length',
    source: 'seeded',
    // The squared length is d/2 on average, like that of sinusoidal rows, so that encodings can be compared.
    rows: ({ superpose, positions, d_model, seed }) =>
      drawnRows(superpose, 'position', {
        rows: positions,
        columns: d_model,
        seed,
        standardDeviation: Math.SQRT1_2,
      }),
  },
  learned: {
    label: 'Learned: MiniLM’s own',
    source: 'trained',
    async rows({ library, positions }) {
      const model = await library.miniLM();
      // The model gives position rows only for a sentence. Any token will do, and [CLS], number 101, is in
      // the first file.
      return (await model.rows({ ids: new Array<number>(positions).fill(101) })).position;
    },
  },
} satisfies Record<string, Encoding>;

export type EncodingName = keyof typeof encodings;

export const encodingOf = (name: EncodingName): Encoding => encodings[name];

/** The names of the encodings that have wavelengths. */
type SinusoidName = {
  [Name in EncodingName]: (typeof encodings)[Name] extends { sinusoid: Sinusoid } ? Name : never;
}[EncodingName];

const names = /* @__PURE__ */ Object.keys(encodings) as EncodingName[];

/** The options of a choice among all encodings, and among sinusoids. */
export const encodingLabels = /* @__PURE__ */ labelled(names, (name) => encodings[name].label);
export const sinusoidLabels = /* @__PURE__ */ labelled(
  names.filter((name): name is SinusoidName => 'sinusoid' in encodings[name]),
  (name) => encodings[name].label,
);

export const sinusoidOf = (name: SinusoidName): Sinusoid => encodings[name].sinusoid;
