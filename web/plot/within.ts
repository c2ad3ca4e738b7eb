// Ends of a scale that a few outliers must not blank.
import { quantile } from 'd3-array';

/** The size that this share of the values stays within; undefined when there are none. */
export const sizeWithin = (all: readonly ArrayLike<number>[], part: number): number | undefined =>
  quantile(
    all.flatMap((values) => Array.from(values, Math.abs)),
    part,
  );
