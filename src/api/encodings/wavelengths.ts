// The wavelengths of a sinusoidal encoding, compared with the length in use.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { evenWidth } from './rotary.js';
import { type SpectrumOptions, spectrumArguments, spectrumNames } from './sinusoidal.js';

export interface WavelengthsOptions extends SpectrumOptions {
  /** n, the length in use, from 1 to 1,000,001. */
  positions: number;
}

/** How a sinusoid's wavelengths compare with the length in use, and how p · p′ falls with the distance. */
export interface Wavelengths {
  /** [d/2], the wavelength 2π/wᵢ of each pair of channels, in positions, fastest first. */
  readonly lengths: Float64Array;
  /**
   * The number of pairs that make less than one turn in n positions; about (d/2) (1 − ln(n/2π) / ln base).
   */
  readonly belowOneTurn: number;
  /**
   * p · p′ / |p|² at each distance k, from 0 to 20,000 or to n − 1 if that is larger: the mean of cos(wᵢ k)
   * over the pairs of channels.
   */
  readonly similarity: Float64Array;
  /** The least |p − p′| / |p| of any two of the n positions; about √(0.48 / ln base). NaN when n is 1. */
  readonly nearest: number;
  /** The distance of the two positions that `nearest` is about; 0 when n is 1. */
  readonly nearestOffset: number;
  /** The distance up to which p · p′ falls strictly. */
  readonly fallsTo: number;
  /** The smallest distance at which `similarity` is below 0; 0 if there is none. */
  readonly firstNegative: number;
}

/** @category Encode positions */
interface WavelengthsApi {
  /**
   * Measures how well a sinusoidal encoding tells positions apart, given its base, its width and the length
   * in use. The width d_model must be even, and base above 1 and at most 10¹². For RoPE, pass the width of a
   * head. Throws RangeError or TypeError.
   */
  wavelengths(options: WavelengthsOptions): Wavelengths;
}

export function wavelengthsApi(raw: RawModule): WavelengthsApi {
  return {
    wavelengths(options) {
      check.knownOptions('options', options, { ...spectrumNames, positions: true });
      const spectrum = spectrumArguments(options);
      const { d_model, base } = spectrum;
      evenWidth('d_model', d_model);
      if (base <= 1 || base > 1e12) {
        check.refuse('base', 'above 1 and at most 10¹², for wavelengths that grow', base);
      }
      const positions = check.integer('positions', options.positions, 1, 1_000_001);
      return raw.wavelengths({ ...spectrum, positions }, Math.max(20_000, positions - 1));
    },
  };
}
