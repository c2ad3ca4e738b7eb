// How exactly one matrix shifts all positions of a sinusoidal table.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { encodingArguments, encodingNames, type SinusoidalOptions } from './sinusoidal.js';

/** @category Encode positions */
interface ShiftApi {
  /**
   * Returns the error of shifting every position of a sinusoidal table by k with one matrix. The offset k is
   * any finite number of positions, and the error is the largest |PE(p + k) − M_k PE(p)|, where M_k rotates
   * each frequency's sine and cosine by [[cos kw, sin kw], [−sin kw, cos kw]]. It is only the rounding error
   * of the angles, about 1e-13 at 1024 positions, unless an interleaved width is odd: then the last sine has
   * no cosine, and no matrix shifts it. Throws RangeError or TypeError. Source: Vaswani et al. 2017, section
   * 3.5.
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
      check.requireMemory(
        `Shifting ${positions} positions of ${d_model} channels`,
        raw.shiftErrorBytes(positions, d_model),
      );
      return raw.shiftError(encoding, offset);
    },
  };
}
