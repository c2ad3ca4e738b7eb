// How a finding says that two numbers which must be equal are so: the gap itself stands in the table.
import { exponent, readable } from './format.js';

/** More than sums of doubles of this page's sizes leave. */
const rounding = 1e-9;

/** “exactly”, or by how much they miss; `most` is what rounding may leave. */
export const howExactly = (gap: number, most = rounding): string =>
  gap === 0 ? 'exactly' : gap <= most ? 'exactly (rounding)' : `to within ${exponent(gap)}`;

/** A change that may be nothing. */
export const changeText = (change: number): string =>
  change !== 0 && change <= rounding ? '0 (rounding)' : readable(change);
