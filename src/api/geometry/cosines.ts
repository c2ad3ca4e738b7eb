// The cosine of two random vectors in many dimensions.
import * as check from '../check.js';
import type { RawModule } from '../module.js';

/** @category Measure geometry */
interface CosinesApi {
  /**
   * Draws cosines of `count` independent pairs of N(0, I) vectors in d dimensions, [count]; their mean is 0
   * and their variance 1/d. `seed` is from 0 to 2³² − 1. Throws RangeError or TypeError.
   */
  sampleCosines(options: { d: number; count: number; seed: number }): Float64Array;
  /**
   * Returns the density of the cosine of two random vectors at t, from −1 to 1. For d from 2 up it is (1 −
   * t²)^((d−3)/2) / B(½, (d−1)/2). It is infinite at ±1 when d = 2. Source: Muirhead 1982, theorem 1.5.7.
   */
  cosineDensity(options: { t: number; d: number }): number;
  /**
   * Returns the mean absolute value of the cosine of two random vectors, E|t| = Γ(d/2) / (√π Γ((d+1)/2)),
   * about √(2/(πd)).
   */
  cosineMeanSize(options: { d: number }): number;
  /** Returns the standard deviation of the cosine of two random vectors, 1/√d. */
  cosineDeviation(options: { d: number }): number;
  /**
   * Returns the probability that the cosine t of two random vectors is larger than epsilon in absolute
   * value, P(|t| > epsilon). Epsilon is from 0 to 1, and the result is the regularized incomplete beta
   * function I_{1−ε²}((d−1)/2, ½).
   */
  cosineTail(options: { epsilon: number; d: number }): number;
  /**
   * Returns the median of the largest |t| among the cosines of `pairs` pairs of random vectors. There is at
   * least 1 pair, and the pairs are treated as independent: the median is the τ with pairs · P(|t| > τ) = ln
   * 2. To leading order it is √(2 ln(pairs) / d).
   */
  largestCosineMedian(options: { pairs: number; d: number }): number;
}

export function cosinesApi(raw: RawModule): CosinesApi {
  const width = <Options extends { d: number }>(
    options: Options,
    names: check.OptionNames<Options>,
    low = 1,
  ): number => {
    check.knownOptions('options', options, names);
    return check.integer('d', options.d, low);
  };
  const dOnly = { d: true } as const;
  return {
    sampleCosines(options) {
      const d = width(options, { d: true, count: true, seed: true });
      const { count, seed } = options;
      check.integer('count', count, 0);
      check.seed('seed', seed);
      check.requireMemory(`${count} pairs of vectors of ${d} dimensions`, raw.sampleCosinesBytes(d, count));
      return raw.sampleCosines(d, count, seed);
    },
    cosineDensity(options) {
      const d = width(options, { d: true, t: true }, 2);
      return raw.cosineDensity(check.number('t', options.t, -1, 1), d);
    },
    cosineMeanSize: (options) => raw.cosineMeanSize(width(options, dOnly)),
    cosineDeviation: (options) => raw.cosineDeviation(width(options, dOnly)),
    cosineTail(options) {
      const d = width(options, { d: true, epsilon: true });
      return raw.cosineTail(check.number('epsilon', options.epsilon, 0, 1), d);
    },
    largestCosineMedian(options) {
      const d = width(options, { d: true, pairs: true });
      return raw.largestCosineMedian(check.number('pairs', options.pairs, 1), d);
    },
  };
}
