// The registry of score schemes: their formulas, parts, options and costs.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import type { SchemeId } from './schemeInputs.js';

/** A count of rows or columns: times · by · andBy + plus, at least 0. */
export interface SchemeExtent {
  /** A whole number. */
  readonly times: number;
  /** The name of a size, or `one`. */
  readonly by: keyof SchemeShape | 'one';
  /** The name of another size, or `one`. */
  readonly andBy: keyof SchemeShape | 'one';
  /** A whole number. */
  readonly plus: number;
}

/** A part that a scheme takes beside the content, its query and its key. */
export interface SchemePart {
  /** Its name as an option of schemeScores(). */
  readonly name: string;
  /**
   * A table; a linear map; a linear map without bias (weight); a linear map that all heads share or that has
   * rows for each head (shared); a vector; or a table of offsets that is not learned (offsets).
   */
  readonly kind: 'table' | 'linear' | 'weight' | 'shared' | 'vector' | 'offsets';
  /** Its number of rows. */
  readonly rows: SchemeExtent;
  /** Its number of columns, or of values for a vector. */
  readonly columns: SchemeExtent;
  /** How often it counts among a model’s parameters. */
  readonly counted: 'once' | 'each_layer' | 'never';
}

/** The description of a scheme. */
export interface SchemeInfo {
  /** Its id, as schemeScores() takes it. */
  readonly id: SchemeId;
  /** Its usual name. */
  readonly name: string;
  /** TeX: the logit A_ij of one head, as published. */
  readonly formula: string;
  /**
   * TeX: the logit when a query also sees later keys; empty where it does not differ. Only ALiBi's differs:
   * it takes the distance.
   */
  readonly bidirectionalFormula: string;
  /** TeX: the number of parameters that it adds. N layers, H heads, L positions, B buckets. */
  readonly parameters: string;
  /** Paper and equation, or the file of the reference implementation. */
  readonly source: string;
  /** The parts that it takes; missing ones are drawn. */
  readonly parts: readonly SchemePart[];
  /** The other options that it takes. */
  readonly options: readonly string[];
  /** The names of its terms, in order. */
  readonly terms: readonly string[];
  /** Its logits are divided by the square root of the sum of these counts. */
  readonly divisor: readonly SchemeExtent[];
  /** Whether it was published with a causal mask. T5 has one when it is not bidirectional. */
  readonly causal: boolean;
  /** The published k of a scheme that clips distances; 0 for others. */
  readonly clip: number;
}

/** The sizes of a model, from 0 up. Layers and heads are 1 by default, and all others 0. */
export interface SchemeShape {
  /** The width of the stream. */
  d_model?: number;
  /** The number of heads of a layer. */
  heads?: number;
  /** d_h of the content. */
  d_head?: number;
  /**
   * The width of a concatenated table, or per head that of DIET-ABS's tables or of a decoupled rotary part.
   */
  d_position?: number;
  /** The head width of the position's own projections, for block-diagonal weights. */
  d_position_head?: number;
  /** The width of Transformer-XL's sinusoids. Default d_model. */
  d_offset?: number;
  /** The number of rows of a table of absolute positions. */
  positions?: number;
  /** k of Shaw, DeBERTa and DIET-REL. */
  clip?: number;
  /** The number of buckets of T5 and TUPE-R. */
  buckets?: number;
  /** The number of layers of the model. */
  layers?: number;
}

/** Evaluates an extent at these sizes. */
export function extent({ times, by, andBy, plus }: SchemeExtent, sizes: SchemeShape): number {
  const size = (name: SchemeExtent['by']) => (name === 'one' ? 1 : (sizes[name] ?? 0));
  return Math.max(0, times * size(by) * size(andBy) + plus);
}

/** @category Compare adding and concatenating */
interface SchemeRegistryApi {
  /** Returns one entry for each scheme: its formula, parameters, source, parts and terms. */
  schemeRegistry(): SchemeInfo[];
  /**
   * Returns the number of parameters that a scheme adds to a model. Tables count once and projections in each
   * layer, except TUPE's, which layers share. Biases of projections are not counted. Throws RangeError or
   * TypeError.
   */
  schemeParameters(id: SchemeId, shape: SchemeShape): number;
}

/** Checks an id that a caller passed under this name, and returns its entry. */
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
      const size = (name: keyof SchemeShape, least: number) =>
        check.integer(name, shape[name] ?? least, least);
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
