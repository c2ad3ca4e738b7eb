import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { encodingArguments, encodingNames, type SinusoidalOptions } from './sinusoidal.js';

export interface ShiftApi {
  /**
   * How far one matrix is from moving every position of a sinusoidal table by k, any finite number of positions: the
   * largest |PE(p + k) − M_k PE(p)|, with M_k the rotation [[cos kw, sin kw], [−sin kw, cos kw]] of each frequency's sine
   * and cosine. It is the rounding of angles, about 1e-13 at 1024 positions, unless an interleaved width is odd: no
   * matrix shifts its last sine. Throws RangeError, TypeError. Source: Vaswani et al. 2017, section 3.5.
   */
  shiftError(options: SinusoidalOptions & { offset: number }): number;
}

export function shiftApi(raw: RawModule): ShiftApi {
  return {
    shiftError(options) {
      check.knownOptions('options', options, { ...encodingNames, offset: true });
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
