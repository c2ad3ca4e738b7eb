import * as check from '../check.js';
import type { RawModule } from '../module.js';
import type { SchemeId } from './schemeInputs.js';

/** times · by · andBy + plus, at least 0. */
export interface SchemeExtent {
  /** A whole number. */
  readonly times: number;
  /** A size, or one. */
  readonly by: keyof SchemeShape | 'one';
  /** Likewise. */
  readonly andBy: keyof SchemeShape | 'one';
  /** A whole number. */
  readonly plus: number;
}

/** What a scheme may be given beside the content, its query and its key. */
export interface SchemePart {
  /** As schemeScores takes it. */
  readonly name: string;
  /**
   * A table, a linear map, a linear map without bias (weight), a linear map that all heads share or that has rows for
   * each (shared), a vector, or a table of offsets that is not learned (offsets).
   */
  readonly kind: 'table' | 'linear' | 'weight' | 'shared' | 'vector' | 'offsets';
  /** How many rows it has. */
  readonly rows: SchemeExtent;
  /** How many columns it has; a vector, how many values. */
  readonly columns: SchemeExtent;
  /** How often it is counted among a model’s parameters. */
  readonly counted: 'once' | 'each_layer' | 'never';
}

/** The description of a scheme. */
export interface SchemeInfo {
  /** As schemeScores takes it. */
  readonly id: SchemeId;
  /** Its usual name. */
  readonly name: string;
  /** TeX: the logit A_ij of one head, as published. */
  readonly formula: string;
  /** TeX: the same when a query also sees later keys; empty where it does not differ. Only ALiBi's takes the distance. */
  readonly bidirectionalFormula: string;
  /** TeX: the parameters it adds. N layers, H heads, L positions, B buckets. */
  readonly parameters: string;
  /** Paper and equation, or the file of the reference implementation. */
  readonly source: string;
  /** What it may be given; what is left out is drawn. */
  readonly parts: readonly SchemePart[];
  /** Which other options it takes. */
  readonly options: readonly string[];
  /** The names of its terms, in order. */
  readonly terms: readonly string[];
  /** Its logits are divided by the square root of the sum of these. */
  readonly divisor: readonly SchemeExtent[];
  /** Whether a query sees only the keys up to its own, as published; T5 does so when it is not bidirectional. */
  readonly causal: boolean;
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
  /** Width of Transformer-XL's sinusoids. Default d_model. */
  d_offset?: number;
  /** Rows of a table of absolute positions. */
  positions?: number;
  /** k of Shaw, DeBERTa and DIET-REL. */
  clip?: number;
  /** Buckets of T5 and TUPE-R. */
  buckets?: number;
  /** Layers of the model. */
  layers?: number;
}

/** The same, as they become known. */
export type SchemeSizes = { -readonly [Name in keyof SchemeShape]: number };

/** An extent at these sizes. */
export function extent({ times, by, andBy, plus }: SchemeExtent, sizes: SchemeSizes): number {
  const size = (name: SchemeExtent['by']) => (name === 'one' ? 1 : (sizes[name] ?? 0));
  return Math.max(0, times * size(by) * size(andBy) + plus);
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

/** The entry with the id that a caller gave under a name. */
export function schemeNamed(registry: readonly SchemeInfo[], name: string, id: unknown): SchemeInfo {
  const ids = registry.map((info) => info.id);
  return registry[ids.indexOf(check.oneOf(name, id, ids))] as SchemeInfo;
}

export function schemeRegistryApi(raw: RawModule): SchemeRegistryApi {
  return {
    schemeRegistry: () => raw.schemeRegistry() as SchemeInfo[],
    schemeParameters(id, shape) {
      schemeNamed(raw.schemeRegistry() as SchemeInfo[], 'id', id);
      check.knownOptions('shape', shape, {
        d_model: true,
        heads: true,
        d_head: true,
        d_position: true,
        d_position_head: true,
        d_offset: true,
        positions: true,
        clip: true,
        buckets: true,
        layers: true,
      });
      const size = (name: keyof SchemeShape, usual: number) =>
        check.integer(name, shape[name] ?? usual, usual);
      return raw.schemeParameters(id, {
        d_model: size('d_model', 0),
        heads: size('heads', 1),
        d_head: size('d_head', 0),
        d_position: size('d_position', 0),
        d_position_head: size('d_position_head', 0),
        d_offset: check.integer('d_offset', shape.d_offset ?? shape.d_model ?? 0, 0),
        positions: size('positions', 0),
        clip: size('clip', 0),
        buckets: size('buckets', 0),
        layers: size('layers', 1),
      });
    },
  };
}
