// How many parameters a scheme of positions adds to a model.
import * as check from '../check.js';
import type { RawModule } from '../module.js';

const ways = ['add', 'concat-wide', 'concat', 'project', 'tupe'] as const;

/**
 * The trainer’s schemes whose parameters are counted. add: a table as wide as the stream. concat-wide: the
 * stream is [token; position], d_model + d_position wide. concat: the same, but d_model wide in all.
 * project: [token; position] mapped linearly back to d_model. tupe: positions have their own queries and
 * keys in every layer.
 */
export type PositionCostWay = (typeof ways)[number];

/**
 * The shape of a model of BERT's form. Every count is a whole number from 0 up, unless its comment says from
 * 1 up.
 */
export interface ModelShape {
  /** V, the number of tokens in the vocabulary. */
  vocabulary: number;
  /** L, the number of positions in the table. */
  positions: number;
  /** S, the number of segments (token types). Default 0. */
  segments?: number;
  /** The width of a token before any concatenation, from 1 up. */
  d_model: number;
  /** The number of heads, from 1 up. */
  heads: number;
  /** The number of layers, from 0 up. The feed-forward is four times as wide as the stream. */
  layers: number;
  /** d_p, the width of a position; required except for add, and at most d_model for concat. */
  d_position?: number;
  /** d_pk, the width of position queries and keys in each head; required for tupe. */
  d_position_head?: number;
}

export interface Cost {
  /** D, the width of the residual stream. */
  readonly width: number;
  /** The number of all parameters. */
  readonly total: number;
}

/** @category Compare adding and concatenating */
interface CostApi {
  /**
   * Counts the parameters of a model with a given shape and a given scheme of positions. With add and
   * BERT-base's shape there are 109,482,240 (Devlin et al. 2019). The count is exact: it throws RangeError
   * beyond 2⁵³, and TypeError for wrong kinds of values.
   */
  positionCost(way: PositionCostWay, shape: ModelShape): Cost;
}

const largest = Number.MAX_SAFE_INTEGER;

export function costApi(raw: RawModule): CostApi {
  return {
    positionCost(way, shape) {
      check.oneOf('way', way, ways);
      check.knownOptions('shape', shape, {
        vocabulary: true,
        positions: true,
        segments: true,
        d_model: true,
        heads: true,
        layers: true,
        d_position: true,
        d_position_head: true,
      });
      const integer = (name: keyof ModelShape, low: number, high = largest, value: unknown = shape[name]) =>
        check.integer(name, value, low, high);
      const d_model = integer('d_model', 1);
      const cost = raw.positionCost(way, {
        d_model,
        vocabulary: integer('vocabulary', 0),
        positions: integer('positions', 0),
        segments: integer('segments', 0, largest, shape.segments ?? 0),
        heads: integer('heads', 1),
        layers: integer('layers', 0),
        d_position: way === 'add' ? 0 : integer('d_position', 0, way === 'concat' ? d_model : largest),
        d_position_head: way === 'tupe' ? integer('d_position_head', 0) : 0,
      });
      if (cost.total > largest)
        throw new RangeError(
          `total must be at most 2^53 - 1 to be exact; for this shape it is ${cost.total}.`,
        );
      return cost;
    },
  };
}
