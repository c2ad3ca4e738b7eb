// How a finding says that two numbers are equal, as they must be. The gap itself is in the table.
import { exponent, readable } from './format.js';

/** More than the rounding error of any sum on this page. */
const rounding = 1e-9;

/** How exactly two numbers are equal; a gap up to `most` counts as rounding. */
export const howExactly = (gap: number, most = rounding): string =>
  gap === 0 ? 'exactly' : gap <= most ? 'to machine precision' : `to within ${exponent(gap)}`;

/** A change that may be only rounding. */
export const changeText = (change: number): string =>
  change !== 0 && change <= rounding ? '0 (rounding)' : readable(change);
