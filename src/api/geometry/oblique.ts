// Recovers two summands from their sum, given the subspaces in which they lie.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

export interface ObliqueProjectionInput {
  /** Vectors that span U, one per column, [d, k1]. They may be linearly dependent. */
  u: Table;
  /** Vectors that span W, one per column, [d, k2]. They may be linearly dependent. */
  w: Table;
  /** Errors of x, one per row, [m, d], for noiseGains. By default there are none. */
  noise?: Table;
}

export interface ObliqueProjection {
  /**
   * [d, d], the projection onto U along W, which recovers t from x = t + p. Undefined when recovery is not
   * exact.
   */
  readonly projector: Table<Float64Array> | undefined;
  /**
   * Whether recovery is exact: U and W meet only in 0, and at no angle whose sine is 1e-10 or less (1e-6 for
   * numbers of float32).
   */
  readonly exact: boolean;
  /**
   * The largest factor by which the projection can amplify noise: its largest singular value, 1 / sin θ_min.
   * Infinite when recovery is not exact.
   */
  readonly gain: number;
  /** θ_min, the smallest principal angle between U and W, in radians. */
  readonly smallestAngle: number;
  /**
   * The rounding error of recovery: the largest entry of |P u − u| and |P w| over the columns of u and w. NaN
   * when recovery is not exact.
   */
  readonly recoveryError: number;
  /**
   * [m], ‖P ε‖ / ‖ε‖ of each row of `noise`, at most `gain`; NaN for a row of zeros. Empty when recovery is
   * not exact.
   */
  readonly noiseGains: Float64Array;
}

/** @category Measure geometry */
interface ObliqueApi {
  /**
   * Finds the projection that recovers both summands of x = t + p from their subspaces, in double. Throws
   * RangeError or TypeError.
   */
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
      check.requireMemory(
        `A projector of ${d} by ${d}`,
        raw.obliqueProjectionBytes(d, u.columns, w.columns, errors.rows),
      );
      const { projector, ...result } = raw.obliqueProjection(u, w, errors);
      return { ...result, projector: result.exact ? table(projector, d, d) : undefined };
    },
  };
}
