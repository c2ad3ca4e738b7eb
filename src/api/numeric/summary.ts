import * as check from '../check.js';
import type { RawModule } from '../module.js';
import type { Floats } from '../table.js';

/** In the numbers' unit; all NaN without numbers. */
export interface Summary {
  /** The mean of all numbers. */
  readonly mean: number;
  /** The mean of their sizes |x|. */
  readonly meanSize: number;
  /** The smallest x. */
  readonly least: number;
  /** The middle number, or the mean of the two in the middle. */
  readonly median: number;
  /** The largest x. */
  readonly largest: number;
  /** The largest |x|. */
  readonly largestSize: number;
  /** Sample standard deviation, over count − 1; NaN for fewer than two. */
  readonly standardDeviation: number;
}

export interface SummaryApi {
  /** Statistics of a list of numbers, in double. Throws RangeError, TypeError. */
  summary(values: Floats): Summary;
  /** The largest |first − second| of two lists of the same length, in double; 0 for empty ones. */
  largestDifference(first: Floats, second: Floats): number;
  /** first − second, number by number, of two lists of the same length, in double. Throws RangeError, TypeError. */
  difference(first: Floats, second: Floats): Float64Array;
  /** first + second, likewise. */
  sum(first: Floats, second: Floats): Float64Array;
}

export function summaryApi(raw: RawModule): SummaryApi {
  return {
    summary(values) {
      return raw.summary(check.list('values', values));
    },
    largestDifference(first, second) {
      sameLength(first, second);
      return raw.largestDifference(first, second);
    },
    difference(first, second) {
      sameLength(first, second);
      return raw.difference(first, second);
    },
    sum(first, second) {
      sameLength(first, second);
      return raw.sum(first, second);
    },
  };
}

const sameLength = (first: Floats, second: Floats) =>
  check.list('second', second, check.list('first', first).length);
