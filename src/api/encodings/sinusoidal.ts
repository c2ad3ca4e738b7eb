import * as check from '../check.js';
import type { Raw } from '../module.js';
import { type Floats, type FloatsOf, type Precision, type Table, table } from '../table.js';

export interface SinusoidalOptions<P extends Precision = Precision> {
  /** Rows of the table, from 0 up. */
  positions: number;
  /** Channels, from 1 up. An odd width leaves one over: interleaved, a sine; concatenated, zeros. */
  d_model: number;
  /** Where a frequency's sine and cosine stand: 2i and 2i+1, or i and ⌊d/2⌋+i. Default interleaved. */
  layout?: 'interleaved' | 'concatenated';
  /**
   * How frequencies fall off: base^(-2i/d) (Vaswani et al. 2017, section 3.5) or base^(-i/(⌊d/2⌋-1))
   * (tensor2tensor, get_timing_signal_1d). Default d_model.
   */
  spacing?: 'd_model' | 'timescales';
  /** Ratio of the longest to the shortest timescale, above 0. Default 10000. */
  base?: number;
  /** Position of the first row. Default 0. */
  firstPosition?: number;
  /** Default float64. Angles are formed in double either way. */
  precision?: P;
}

export interface SinusoidalApi {
  /** The table [positions, d_model] of sinusoidal position encodings. Throws RangeError, TypeError. */
  sinusoidal<P extends Precision = 'float64'>(options: SinusoidalOptions<P>): Table<FloatsOf<P>>;
  /** The frequencies in radians per position, fastest first. */
  sinusoidalFrequencies(
    options: Pick<SinusoidalOptions, 'd_model' | 'layout' | 'spacing' | 'base'>,
  ): Float64Array;
}

export function sinusoidalApi(raw: Raw): SinusoidalApi {
  const spectrum = (options: Pick<SinusoidalOptions, 'd_model' | 'layout' | 'spacing' | 'base'>) => {
    check.object('options', options);
    const { d_model, layout = 'interleaved', spacing = 'd_model', base = 10000 } = options;
    check.integer('d_model', d_model, 1);
    return {
      d_model,
      layout: check.placeOf('layout', layout, ['interleaved', 'concatenated']),
      spacing: check.placeOf('spacing', spacing, ['d_model', 'timescales']),
      base: check.positive('base', base),
    };
  };
  return {
    sinusoidal<P extends Precision = 'float64'>(options: SinusoidalOptions<P>) {
      const { d_model, layout, spacing, base } = spectrum(options);
      const { positions, firstPosition = 0, precision = 'float64' } = options;
      check.integer('positions', positions, 0);
      check.number('firstPosition', firstPosition);
      const single = check.precision(precision) === 'float32';
      check.fits(
        `A table of ${positions} positions by ${d_model} channels`,
        positions * d_model * (single ? 4 : 8),
      );
      const data: Floats = raw[single ? 'sinusoidalF32' : 'sinusoidalF64'](
        positions,
        d_model,
        layout,
        spacing,
        base,
        firstPosition,
      );
      return table(data as FloatsOf<P>, positions, d_model);
    },
    sinusoidalFrequencies(options) {
      const { d_model, layout, spacing, base } = spectrum(options);
      return raw.sinusoidalFrequencies(d_model, layout, spacing, base);
    },
  };
}
