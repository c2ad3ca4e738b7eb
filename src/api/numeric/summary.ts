// Statistics of lists of numbers, and sums and differences of two lists.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import type { Floats } from '../table.js';

/** Statistics in the numbers' unit. All are NaN when there are no numbers. */
export interface Summary {
  /** The mean of all numbers. */
  readonly mean: number;
  /** The mean of |x|. */
  readonly meanSize: number;
  /** The smallest x. */
  readonly least: number;
  /** The middle number, or the mean of the two middle numbers. */
  readonly median: number;
  /** The largest x. */
  readonly largest: number;
  /** The largest |x|. */
  readonly largestSize: number;
  /** The sample standard deviation, which divides by count − 1; NaN for fewer than two numbers. */
  readonly standardDeviation: number;
}

/** @category Draw and summarize numbers */
interface SummaryApi {
  /**
   * Returns mean, median, extremes and spread of a list of numbers, in double. Throws RangeError or
   * TypeError.
   */
  summary(values: Floats): Summary;
  /** Returns the largest |first − second| of two lists of equal length, in double; 0 for empty lists. */
  largestDifference(first: Floats, second: Floats): number;
  /**
   * Returns first − second, number by number, for two lists of equal length, in double. Throws RangeError or
   * TypeError.
   */
  difference(first: Floats, second: Floats): Float64Array;
  /**
   * Returns first + second, number by number, for two lists of equal length, in double. Throws RangeError or
   * TypeError.
   */
  sum(first: Floats, second: Floats): Float64Array;
}

export function summaryApi(raw: RawModule): SummaryApi {
  return {
    summary(values) {
      return raw.summary(check.list('values', values));
    },
    largestDifference(first, second) {
      checkSameLength(first, second);
      return raw.largestDifference(first, second);
    },
    difference(first, second) {
      checkSameLength(first, second);
      return raw.difference(first, second);
    },
    sum(first, second) {
      checkSameLength(first, second);
      return raw.sum(first, second);
    },
  };
}

function checkSameLength(first: Floats, second: Floats): void {
  check.list('first', first);
  check.list('second', second, first.length);
}
