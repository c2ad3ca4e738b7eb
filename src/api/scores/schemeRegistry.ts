import * as check from '../check.js';
import type { Raw } from '../module.js';
import { type SchemeId, schemeIds } from './schemeTerms.js';

/** The description of a scheme. */
export interface SchemeInfo {
  /** As schemeScores takes it. */
  readonly id: SchemeId;
  /** Its usual name. */
  readonly name: string;
  /** TeX: the logit A_ij of one head, as published. */
  readonly formula: string;
  /** TeX: the same when a query also sees later keys. Only ALiBi's differs: it takes the distance. */
  readonly bidirectionalFormula: string;
  /** TeX: the parameters it adds. N layers, H heads, L positions, B buckets. */
  readonly parameters: string;
  /** Paper and equation, or the file of the reference implementation. */
  readonly source: string;
  /** Whether its logits are also computed from whole queries and keys, independently of the terms. */
  readonly whole: boolean;
  /** k as published, of a scheme that clips distances; 0 of others. */
  readonly clip: number;
}

/** Sizes, from 0; by default 0, but layers and heads 1. */
export interface SchemeShape {
  /** Width of the stream. */
  d_model?: number;
  /** Heads of a layer. */
  heads?: number;
  /** d_h of the content. */
  d_head?: number;
  /** Width of a concatenated table; per head, of DIET-ABS's tables or of a decoupled rotary part. */
  d_position?: number;
  /** Block-diagonal: the head width of the position's own projections. */
  d_position_head?: number;
  /** Rows of a table of absolute positions. */
  positions?: number;
  /** k of Shaw, DeBERTa and DIET-REL. */
  clip?: number;
  /** Buckets of T5 and TUPE-R. */
  buckets?: number;
  /** Layers of the model. */
  layers?: number;
}

export interface SchemeRegistryApi {
  /** One entry for each scheme. */
  schemeRegistry(): SchemeInfo[];
  /**
   * The parameters that a scheme adds to a model. Tables count once and projections in each layer, except
   * TUPE's, which layers share. Biases of its projections are not counted.
   */
  schemeParameters(id: SchemeId, shape: SchemeShape): number;
}

export function schemeRegistryApi(raw: Raw): SchemeRegistryApi {
  return {
    schemeRegistry: () => raw.schemeRegistry(),
    schemeParameters(id, shape) {
      check.oneOf('id', id, schemeIds);
      check.object('shape', shape);
      const size = (name: keyof SchemeShape, usual: number) =>
        check.integer(name, shape[name] ?? usual, usual);
      return raw.schemeParameters(id, {
        d_model: size('d_model', 0),
        heads: size('heads', 1),
        d_head: size('d_head', 0),
        d_position: size('d_position', 0),
        d_position_head: size('d_position_head', 0),
        positions: size('positions', 0),
        clip: size('clip', 0),
        buckets: size('buckets', 0),
        layers: size('layers', 1),
      });
    },
  };
}
