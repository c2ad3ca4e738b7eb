// Ends for a scale that a few outliers must not wash out.
import { quantile } from 'd3-array';

/** The magnitude that this share of the values stays within; undefined if there are none. */
export const sizeWithin = (all: readonly ArrayLike<number>[], part: number): number | undefined =>
  quantile(
    all.flatMap((values) => Array.from(values, Math.abs)),
    part,
  );
