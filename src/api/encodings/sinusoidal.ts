// Sinusoidal position encodings.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

export interface SinusoidalOptions {
  /** The number of rows, from 0 up. */
  positions: number;
  /**
   * The number of channels, from 1 up. An odd width has one channel without a partner: a sine if interleaved,
   * zeros if concatenated.
   */
  d_model: number;
  /**
   * Which channels are a frequency's sine and cosine: 2i and 2i+1 (interleaved), or i and ⌊d/2⌋+i
   * (concatenated). Default interleaved.
   */
  layout?: 'interleaved' | 'concatenated';
  /**
   * How frequencies fall with i: base^(-2i/d) (Vaswani et al. 2017, section 3.5) or base^(-i/(⌊d/2⌋-1))
   * (tensor2tensor, get_timing_signal_1d). Default d_model.
   */
  spacing?: 'd_model' | 'timescales';
  /** The ratio of the longest to the shortest timescale, above 0. Default 10000. */
  base?: number;
  /** The position of the first row; any finite number. Default 0. */
  firstPosition?: number;
}

/** A sinusoidal encoding without its positions. */
export type SpectrumOptions = Pick<SinusoidalOptions, 'd_model' | 'layout' | 'spacing' | 'base'>;

/** @category Encode positions */
interface SinusoidalApi {
  /**
   * Returns the table of sinusoidal position encodings, [positions, d_model]. Throws RangeError or TypeError.
   */
  sinusoidal(options: SinusoidalOptions): Table<Float64Array>;
  /**
   * Returns the frequencies of a sinusoidal table in radians per position, fastest first. Throws RangeError
   * or TypeError.
   */
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

/**
 * Checks the options of a spectrum, and returns them as the binding takes them: as those of a table without
 * rows.
 */
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

/** Checks the options of a table, and returns them as the binding takes them. */
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
      check.tableFits(positions, d_model);
      return table(raw.sinusoidal(encoding), positions, d_model);
    },
    sinusoidalFrequencies(options) {
      check.knownOptions('options', options, spectrumNames);
      return raw.sinusoidalFrequencies(spectrumArguments(options));
    },
  };
}
