import * as check from '../check.js';
import type { Raw } from '../module.js';
import type { Floats } from '../table.js';

/** In the numbers' unit; all are NaN without numbers. */
export interface Summary {
  /** Of all numbers, ... */
  readonly mean: number;
  /** ... and of their sizes |x|. */
  readonly meanSize: number;
  /** The smallest x. */
  readonly least: number;
  /** The middle one, or the mean of the two in the middle. */
  readonly median: number;
  /** The largest x, ... */
  readonly largest: number;
  /** ... and the largest |x|. */
  readonly largestSize: number;
  /** Of a sample, over count − 1; NaN for fewer than two. */
  readonly standardDeviation: number;
}

export interface SummaryApi {
  /** What a list of numbers is like, in double. Throws RangeError, TypeError. */
  summary(values: Floats): Summary;
  /** The largest |first − second| of two lists of the same length, in double; 0 of empty ones. */
  largestDifference(first: Floats, second: Floats): number;
}

export function summaryApi(raw: Raw): SummaryApi {
  return {
    summary(values) {
      return raw.summary(check.list('values', values));
    },
    largestDifference(first, second) {
      check.list('second', second, check.list('first', first).length);
      return raw.largestDifference(first, second);
    },
  };
}
