import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

export interface SinusoidalOptions {
  /** Rows of the table, from 0 up. */
  positions: number;
  /** Channels, from 1 up. An odd width has one left over: a sine if interleaved, zeros if concatenated. */
  d_model: number;
  /** Channels of a frequency's sine and cosine: 2i and 2i+1, or i and ⌊d/2⌋+i. Default interleaved. */
  layout?: 'interleaved' | 'concatenated';
  /**
   * How frequencies fall: base^(-2i/d) (Vaswani et al. 2017, section 3.5) or base^(-i/(⌊d/2⌋-1))
   * (tensor2tensor, get_timing_signal_1d). Default d_model.
   */
  spacing?: 'd_model' | 'timescales';
  /** Ratio of the longest to the shortest timescale, above 0. Default 10000. */
  base?: number;
  /** Position of the first row. Default 0. */
  firstPosition?: number;
}

/** A sinusoidal encoding without its positions. */
export type SpectrumOptions = Pick<SinusoidalOptions, 'd_model' | 'layout' | 'spacing' | 'base'>;

export interface SinusoidalApi {
  /** The table [positions, d_model] of sinusoidal position encodings. Throws RangeError, TypeError. */
  sinusoidal(options: SinusoidalOptions): Table<Float64Array>;
  /** The frequencies in radians per position, fastest first. */
  sinusoidalFrequencies(options: SpectrumOptions): Float64Array;
}

export const spectrumNames: check.OptionNames<SpectrumOptions> = {
  d_model: true,
  layout: true,
  spacing: true,
  base: true,
};
export const encodingNames: check.OptionNames<SinusoidalOptions> = {
  positions: true,
  ...spectrumNames,
  firstPosition: true,
};

/** As the binding takes them, of a table without rows. */
export function spectrumArguments(options: SpectrumOptions) {
  const { d_model, layout = 'interleaved', spacing = 'd_model', base = 10000 } = options;
  return {
    positions: 0,
    d_model: check.integer('d_model', d_model, 1),
    layout: check.oneOf('layout', layout, ['interleaved', 'concatenated']),
    spacing: check.oneOf('spacing', spacing, ['d_model', 'timescales']),
    base: check.positive('base', base),
    firstPosition: 0,
  };
}

/** The same with positions. */
export function encodingArguments(options: SinusoidalOptions) {
  const spectrum = spectrumArguments(options);
  const positions = check.integer('positions', options.positions, 0);
  return {
    ...spectrum,
    positions,
    firstPosition: check.number('firstPosition', options.firstPosition ?? 0),
  };
}

export function sinusoidalApi(raw: RawModule): SinusoidalApi {
  return {
    sinusoidal(options) {
      check.knownOptions('options', options, encodingNames);
      const encoding = encodingArguments(options);
      const { positions, d_model } = options;
      check.fits(`A table of ${positions} positions by ${d_model} channels`, 8 * positions * d_model);
      return table(raw.sinusoidal(encoding), positions, d_model);
    },
    sinusoidalFrequencies(options) {
      check.knownOptions('options', options, spectrumNames);
      return raw.sinusoidalFrequencies(spectrumArguments(options));
    },
  };
}
