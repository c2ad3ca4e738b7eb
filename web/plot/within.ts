// Ends for a scale that a few outliers must not wash out.
import { quantileSorted } from 'd3-array';

/**
 * The magnitude that this share of the values stays within; undefined if there are none. A slider's step asks for
 * it with thousands: sorted natively they take a third of the time of d3's `quantile`.
 */
export function sizeWithin(all: readonly ArrayLike<number>[], part: number): number | undefined {
  const sizes = new Float64Array(all.reduce((sum, { length }) => sum + length, 0));
  let count = 0;
  for (const values of all) {
    for (let k = 0; k < values.length; k++) {
      const size = Math.abs(values[k] as number);
      if (size >= 0) sizes[count++] = size;
    }
  }
  return quantileSorted(sizes.subarray(0, count).sort() as ArrayLike<number> as number[], part);
}
