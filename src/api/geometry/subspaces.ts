// How far two subspaces overlap, and how far random subspaces overlap by chance.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import type { Table } from '../table.js';

/** Two uniformly random subspaces, of k1 and k2 dimensions, of a space of d. */
export interface SubspaceSizes {
  /** The dimensions of the space, from 1 up. */
  d: number;
  /** The dimensions of the first subspace, from 0 to d. */
  k1: number;
  /** The dimensions of the second subspace, from 0 to d. */
  k2: number;
}

export interface ChanceAngles {
  /** |√(α(1−β)) − √(β(1−α))|, α = k1/d, β = k2/d: Wachter's lower edge of the cosines for large d. */
  readonly lowestCosine: number;
  /** √(α(1−β)) + √(β(1−α)), the upper edge. It excludes cosines that must be 1. */
  readonly highestCosine: number;
  /** The expected Σ cos², which is exactly k1·k2/d. */
  readonly cosineSquares: number;
  /** max(0, k1 + k2 − d), the number of angles that are 0 for any two such subspaces. */
  readonly zeroAngles: number;
  /** 1 if zeroAngles is above 0, otherwise highestCosine. */
  readonly largestCosine: number;
}

export interface AngleCosines {
  /** The cosine of each angle. */
  readonly cosines: Float64Array;
  /** Σ cos²: roughly the number of dimensions that the two subspaces share. */
  readonly squares: number;
}

export interface OverlapInput {
  /** Token embeddings, [V, d]. */
  tokens: Table;
  /** Position embeddings, [L, d]. */
  positions: Table;
}

export interface OverlapCurve {
  /** [d], from 0 to 1: the part of the tokens' j-th principal direction that lies in the positions' space. */
  readonly shares: Float64Array;
  /** The dimensions of the positions' space: k, or the rank of `positions` if that is less. */
  readonly dimensions: number;
  /** dimensions / d: the mean share, and the expected share of a random direction. */
  readonly chance: number;
  /**
   * [d], the sum of shares 0 to j divided by `dimensions`: the part of the positions' space that the tokens'
   * principal directions 0 to j span.
   */
  readonly reached: Float64Array;
}

/** @category Measure geometry */
interface SubspacesApi {
  /**
   * Draws two independent, uniformly random subspaces and returns their min(k1, k2) principal angles in
   * radians, ascending; `seed` is from 0 to 2³²−1. Accurate to about 1e-15 at both ends (Knyazev and
   * Argentati 2002, algorithm 3.1). Throws RangeError, TypeError.
   */
  randomPrincipalAngles(options: SubspaceSizes & { seed: number }): Float64Array;
  /**
   * Returns the cosines of angles in radians, and the sum of their squares. Throws RangeError or TypeError.
   */
  angleCosines(angles: Float64Array): AngleCosines;
  /** Returns the angles to expect between two random subspaces. */
  chanceAngles(options: SubspaceSizes): ChanceAngles;
  /**
   * Returns the overlap of two tables' directions, weighted by energy. It is A = d tr(C_E C_P) / (tr C_E tr
   * C_P) of their second moments or, if `centred` (default false), their covariances. It is 0 when the
   * tables are orthogonal, and 1 is expected when one of them is rotated at random. It is NaN when either is
   * all zero or has no rows.
   */
  energyOverlap(input: OverlapInput & { centred?: boolean }): number;
  /**
   * Returns which part of each principal direction of the tokens lies in the positions' space. For the
   * directions v_j, largest first, it is |P v_j|², where P projects onto the first k right singular vectors
   * of the positions; k is from 0 to d. Throws RangeError or TypeError.
   */
  overlapCurve(input: OverlapInput & { k: number }): OverlapCurve;
}

const sizeNames: check.OptionNames<SubspaceSizes> = { d: true, k1: true, k2: true };
const tableNames: check.OptionNames<OverlapInput> = { tokens: true, positions: true };

export function subspacesApi(raw: RawModule): SubspacesApi {
  const sizes = (options: SubspaceSizes): [number, number, number] => {
    const d = check.integer('d', options.d, 1);
    return [d, check.integer('k1', options.k1, 0, d), check.integer('k2', options.k2, 0, d)];
  };
  const overlap = (input: OverlapInput): [Table, Table] => {
    const { tokens, positions } = input;
    check.table('tokens', tokens);
    check.table('positions', positions, { columns: tokens.columns });
    const d = tokens.columns;
    check.requireMemory(
      `The overlap of ${tokens.rows} and ${positions.rows} rows of ${d} columns`,
      raw.overlapBytes(tokens.rows, positions.rows, d),
    );
    return [tokens, positions];
  };
  return {
    angleCosines(angles) {
      return raw.angleCosines(check.list('angles', angles));
    },
    randomPrincipalAngles(options) {
      check.knownOptions('options', options, { ...sizeNames, seed: true });
      const [d, k1, k2] = sizes(options);
      check.seed('seed', options.seed);
      check.requireMemory(
        `Subspaces of ${k1} and ${k2} of ${d} dimensions`,
        raw.randomAnglesBytes(d, k1, k2),
      );
      return raw.randomAngles(d, k1, k2, options.seed);
    },
    chanceAngles(options) {
      check.knownOptions('options', options, sizeNames);
      return raw.chanceAngles(...sizes(options));
    },
    energyOverlap(input) {
      check.knownOptions('input', input, { ...tableNames, centred: true });
      const tables = overlap(input);
      const { centred = false } = input;
      check.flag('centred', centred);
      return raw.energyOverlap(...tables, centred);
    },
    overlapCurve(input) {
      check.knownOptions('input', input, { ...tableNames, k: true });
      const tables = overlap(input);
      const k = check.integer('k', input.k, 0, input.tokens.columns);
      return raw.overlapCurve(...tables, k);
    },
  };
}
