import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

export interface ObliqueProjectionInput {
  /** Vectors that span U, in columns: [d, k1]. Dependent ones are allowed. */
  u: Table;
  /** Vectors that span W, in columns: [d, k2]. */
  w: Table;
  /** Errors of x, one per row, [m, d], for noiseGains. Default none. */
  noise?: Table;
}

export interface ObliqueProjection {
  /** [d, d], the projection onto U along W: it gives t back from x = t + p. Undefined when not exact. */
  readonly projector: Table<Float64Array> | undefined;
  /** Whether U and W meet only in 0, at no angle whose sine is 1e-10 or less, 1e-6 for numbers of float32: then recovery is exact. */
  readonly exact: boolean;
  /** The most it can amplify noise: its largest singular value, 1 / sin θ_min. Infinite when not exact. */
  readonly gain: number;
  /** θ_min, the smallest principal angle between U and W, in radians. */
  readonly smallestAngle: number;
  /**
   * The largest entry of |P u − u| and |P w| over the columns of u and w: rounding error. NaN when not exact.
   */
  readonly recoveryError: number;
  /**
   * [m], ‖P ε‖ / ‖ε‖ of each row of `noise`, at most `gain`; NaN for a row of zeros. Empty when not exact.
   */
  readonly noiseGains: Float64Array;
}

export interface ObliqueApi {
  /** Recovery of both summands of x = t + p from their subspaces. In double. */
  obliqueProjection(input: ObliqueProjectionInput): ObliqueProjection;
}

export function obliqueApi(raw: RawModule): ObliqueApi {
  return {
    obliqueProjection(input) {
      check.knownOptions('input', input, { u: true, w: true, noise: true });
      const { u, w, noise } = input;
      check.table('u', u);
      if (u.rows === 0) check.refuseCount('u', 'at least 1 row', 0);
      check.table('w', w, { rows: u.rows });
      const d = u.rows;
      const errors = noise ?? table(new Float64Array(), 0, d);
      check.table('noise', errors, { columns: d });
      check.fits(
        `A projector of ${d} by ${d}`,
        (2 * d * d + 8 * d * (u.columns + w.columns) + u.columns * w.columns + 2 * errors.rows * (d + 1)) * 8,
      );
      const found = raw.obliqueProjection(u, w, errors);
      return { ...found, projector: found.exact ? table(found.projector, d, d) : undefined };
    },
  };
}
