import * as check from '../check.js';
import type { RawModule } from '../module.js';

const ways = ['add', 'concat-wide', 'concat', 'project', 'untied'] as const;

/**
 * The trainer’s schemes that are counted. add: a table as wide as the stream. concat-wide: the stream is
 * [token; position], d_model + d_position wide. concat: the same, but d_model wide in all. project: [token; position]
 * mapped linearly back to d_model. untied: positions have queries and keys of their own, in every layer.
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
  /** From 0 up. */
  layers: number;
  /** r: the feed-forward is r times as wide as the stream; that width must be a whole number. Default 4. */
  ffnRatio?: number;
  /** N, tokens in a sequence, for FLOPs and the key-value cache. Default `positions`. */
  sequence?: number;
  /** d_p, the position's width; required except for add. concat: at most d_model. */
  d_position?: number;
  /** d_pk, the width of position queries and keys in each head; required for untied. */
  d_position_head?: number;
  /** Whether the model ends in BERT's pooler, D² + D parameters. Default true. */
  pooler?: boolean;
}

export interface Cost {
  /** D, the width of the residual stream. */
  readonly width: number;
  /** Whether the heads divide D. If not, no such model can be built. */
  readonly headsDivide: boolean;
  /** Parameters of the token, position and segment tables. */
  readonly tables: number;
  /** `tables` and the LayerNorm over their sum. */
  readonly embedding: number;
  /** Parameters of the map back to d_model; 0 except for project. */
  readonly projection: number;
  /** Parameters of one layer: 4D² + 4D + 2rD² + (r + 1)D + 4D, and untied’s own projections. */
  readonly layer: number;
  /** All parameters. */
  readonly total: number;
  /** Floating-point operations per token of N, all layers; a multiply and an add are two. */
  readonly flopsPerToken: number;
  /** Numbers (not bytes) that all layers keep for N tokens. */
  readonly kvCache: number;
}

export interface CostApi {
  /**
   * What a way of giving a model its positions costs, in this shape. For add with BERT-base's: 109,482,240
   * parameters (Devlin et al. 2019). Exact: RangeError when a result is beyond 2⁵³.
   */
  positionCost(way: PositionCostWay, shape: ModelShape): Cost;
}

const largest = Number.MAX_SAFE_INTEGER;

export function costApi(raw: RawModule): CostApi {
  return {
    positionCost(way, shape) {
      const place = check.placeOf('way', way, ways);
      check.object('shape', shape);
      const whole = (name: keyof ModelShape, low: number, value: unknown = shape[name]) =>
        check.integer(name, value, low, largest);
      const d_model = whole('d_model', 1);
      const checked = {
        vocabulary: whole('vocabulary', 0),
        positions: whole('positions', 0),
        segments: whole('segments', 0, shape.segments ?? 0),
        d_model,
        heads: whole('heads', 1),
        layers: whole('layers', 0),
        ffnRatio: check.number('ffnRatio', shape.ffnRatio ?? 4, 0),
        sequence: whole('sequence', 0, shape.sequence ?? shape.positions),
        d_position: way === 'add' ? 0 : whole('d_position', 0),
        d_position_head: way === 'untied' ? whole('d_position_head', 0) : 0,
        pooler: check.flag('pooler', shape.pooler ?? true),
      };
      if (way === 'concat') check.integer('d_position', checked.d_position, 0, d_model);
      const width = way === 'concat-wide' ? d_model + checked.d_position : d_model;
      if (!Number.isInteger(checked.ffnRatio * width)) {
        throw new RangeError(
          `ffnRatio times the stream's width must be whole; ${checked.ffnRatio} times ${width} is not.`,
        );
      }
      const cost: Cost = raw.positionCost(place, checked);
      for (const [name, value] of Object.entries(cost)) {
        if (value > largest) {
          throw new RangeError(
            `${name} must be at most 2^53 - 1 to be exact; for this shape it is ${value}.`,
          );
        }
      }
      return cost;
    },
  };
}
