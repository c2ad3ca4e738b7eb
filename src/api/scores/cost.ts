import * as check from '../check.js';
import type { RawModule } from '../module.js';

const ways = ['add', 'concat-wide', 'concat', 'project', 'tupe'] as const;

/**
 * The trainer’s schemes that are counted. add: a table as wide as the stream. concat-wide: the stream is
 * [token; position], d_model + d_position wide. concat: the same, but d_model wide in all. project: [token; position]
 * mapped linearly back to d_model. tupe: positions have queries and keys of their own, in every layer.
 */
export type PositionCostWay = (typeof ways)[number];

/** A model of BERT's form. Every count is a whole number from 0 up, unless it says from 1 up. */
export interface ModelShape {
  /** V, tokens in the vocabulary. */
  vocabulary: number;
  /** L, positions in the table. */
  positions: number;
  /** S, segments (token types). Default 0. */
  segments?: number;
  /** D before any concatenation, from 1 up. */
  d_model: number;
  /** From 1 up. */
  heads: number;
  /** From 0 up; the feed-forward is four times as wide as the stream. */
  layers: number;
  /** d_p, the position's width; required except for add. concat: at most d_model. */
  d_position?: number;
  /** d_pk, the width of position queries and keys in each head; required for tupe. */
  d_position_head?: number;
}

export interface Cost {
  /** D, the width of the residual stream. */
  readonly width: number;
  /** All parameters. */
  readonly total: number;
}

export interface CostApi {
  /**
   * What a way of giving a model its positions costs, in this shape. For add with BERT-base's: 109,482,240
   * parameters (Devlin et al. 2019). Exact: RangeError when they are beyond 2⁵³.
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
      const whole = (name: keyof ModelShape, low: number, high = largest, value: unknown = shape[name]) =>
        check.integer(name, value, low, high);
      const d_model = whole('d_model', 1);
      const cost = raw.positionCost(way, {
        d_model,
        vocabulary: whole('vocabulary', 0),
        positions: whole('positions', 0),
        segments: whole('segments', 0, largest, shape.segments ?? 0),
        heads: whole('heads', 1),
        layers: whole('layers', 0),
        d_position: way === 'add' ? 0 : whole('d_position', 0, way === 'concat' ? d_model : largest),
        d_position_head: way === 'tupe' ? whole('d_position_head', 0) : 0,
      });
      if (cost.total > largest)
        throw new RangeError(
          `total must be at most 2^53 - 1 to be exact; for this shape it is ${cost.total}.`,
        );
      return cost;
    },
  };
}
