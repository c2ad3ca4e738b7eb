import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { evenWidth } from './rotary.js';
import { type SpectrumOptions, spectrumArguments, spectrumNames } from './sinusoidal.js';

export interface WavelengthsOptions extends SpectrumOptions {
  /** n, the length in use, from 1. */
  positions: number;
}

/** How a sinusoid's wavelengths lie against the length in use, and how p · p′ falls with the distance. */
export interface Wavelengths {
  /** [d/2], the wavelength 2π/wᵢ of each pair of channels, in positions, fastest first. */
  readonly lengths: Float64Array;
  /** The pairs that make less than one turn in n positions; near (d/2) (1 − ln(n/2π) / ln base). */
  readonly belowOneTurn: number;
  /** p · p′ / |p|² at each distance from 0 to 20,000 or n − 1: the mean of cos(wᵢ k). */
  readonly similarity: Float64Array;
  /** The least |p − p′| / |p| of any two of the n positions; near √(0.48 / ln base). NaN when n is 1. */
  readonly nearest: number;
  /** How many positions those two are apart; 0 when n is 1. */
  readonly nearestOffset: number;
  /** p · p′ falls strictly up to this distance. */
  readonly fallsTo: number;
  /** The least distance at which p · p′ is below 0; 0 if there is none among these. */
  readonly firstNegative: number;
}

export interface WavelengthsApi {
  /**
   * What a sinusoid's base buys: d_model even, base above 1 and at most 10¹². RoPE's are those of its head's
   * width. Throws RangeError, TypeError.
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
        check.refuse('base', 'above 1, for wavelengths that grow, and at most 10¹²; 10000 is usual', base);
      }
      const positions = check.integer('positions', options.positions, 1, 1_000_001);
      return raw.wavelengths({ ...spectrum, positions }, Math.max(20_000, positions - 1));
    },
  };
}
