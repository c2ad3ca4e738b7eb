import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';
import {
  type EncodingOptions,
  encodingArguments,
  type SpectrumOptions,
  spectrumArguments,
} from './sinusoidal.js';

export interface ShiftApi {
  /**
   * M_k, [d_model, d_model], with PE(p + k) = M_k PE(p) at every position p: a rotation
   * [[cos kw, sin kw], [−sin kw, cos kw]] of each frequency's sine and cosine. `offset` is k, in positions,
   * any finite number. The last channel of an odd width is left as it is. That is right for concatenated
   * tables, where it is zero, but not for interleaved ones, where it is a sine without its cosine, which no
   * matrix shifts. Throws RangeError, TypeError. Source: Vaswani et al. 2017, section 3.5.
   */
  shiftOperator(options: SpectrumOptions & { offset: number }): Table<Float64Array>;
  /**
   * The largest |PE(p + k) − M_k PE(p)| over the table's positions and channels. It is the rounding of
   * angles, about 1e-13 at 1024 positions. Throws RangeError, TypeError.
   */
  shiftError(options: EncodingOptions & { offset: number }): number;
}

export function shiftApi(raw: RawModule): ShiftApi {
  return {
    shiftOperator(options) {
      const spectrum = spectrumArguments(options);
      const { d_model, offset } = options;
      check.number('offset', offset);
      check.fits(`A shift operator of ${d_model} by ${d_model}`, 16 * d_model * d_model);
      return table(raw.shiftOperator(spectrum, offset), d_model, d_model);
    },
    shiftError(options) {
      const encoding = encodingArguments(options);
      const { positions, d_model, offset } = options;
      check.number('offset', offset);
      check.fits(
        `Shifting ${positions} positions of ${d_model} channels`,
        8 * d_model * (4 * positions + d_model),
      );
      return raw.shiftError(encoding, offset);
    },
  };
}
