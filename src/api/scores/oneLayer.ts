// A linear layer that reads the same vectors added and concatenated.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { type Table, table } from '../table.js';

/** The input of a linear layer. Rows are vectors: the layer maps a to aW. */
export interface OneLayerInput {
  /** The tables that are added or concatenated: tokens, positions and perhaps segments, each [n, d]. */
  parts: readonly Table[];
  /** W₁, W₂ and so on, one for each part, each [d, m]. When the parts are added, W₁ reads their sum. */
  weights: readonly Table[];
  /** t, from 0 to 1, with which the weights from the second on become (1 − t)Wₖ + tW₁. Default 0. */
  pull?: number;
  /** ρ, the factor of the second part; any finite number. Default 1. */
  positionScale?: number;
  /** Whether the second weight is divided by ρ, which then must not be 0. Default false. */
  undoes?: boolean;
  /** The norm before the weights: LayerNorm with ε = 10⁻⁵ and without weights, or none. Default none. */
  norm?: 'none' | 'layer_norm';
}

export interface OneLayer {
  /** The weights after `pull` and `undoes`, each [d, m]. */
  readonly weights: readonly Table<Float64Array>[];
  /** (a₁ + a₂ + …)W₁, [n, m]. */
  readonly added: Float64Array;
  /** [a₁, a₂, …] times W₁ over W₂ and so on, [n, m]. */
  readonly concatenated: Float64Array;
  /** What each part adds to the concatenated output, each [n, m]. */
  readonly contributions: readonly Float64Array[];
  /** The largest |concatenated − added|. */
  readonly difference: number;
  /** ‖concatenated − added‖ / ‖added‖ over all numbers; NaN where all are 0. */
  readonly relativeDifference: number;
  /** The least ‖c · concatenated − added‖ / ‖added‖ for one number c. */
  readonly miss: number;
  /** [n], ‖concatenated‖ / ‖added‖ of each row; NaN where both are 0. */
  readonly lengthRatios: Float64Array;
  /**
   * The least relative distance between what one matrix for both parts can give and what W₁ gave at ρ = 1:
   * |1 − ρ| / √(2(1 + ρ²)), for independent parts that spread alike.
   */
  readonly sharedMiss: number;
}

/** @category Compare adding and concatenating */
interface OneLayerApi {
  /**
   * Returns the output of a linear layer for vectors that are added, and for the same vectors concatenated.
   * The layer adds either way: [x, p] times W₁ over W₂ is xW₁ + pW₂, and with W₂ = W₁ that is (x + p)W₁. With
   * a norm in between, each row is a multiple of the row that adding gives. Throws RangeError or TypeError.
   */
  oneLayer(input: OneLayerInput): OneLayer;
}

const norms = ['none', 'layer_norm'] as const;

export function oneLayerApi(raw: RawModule): OneLayerApi {
  return {
    oneLayer(input) {
      check.knownOptions('input', input, {
        parts: true,
        weights: true,
        pull: true,
        positionScale: true,
        undoes: true,
        norm: true,
      });
      const { parts, weights, pull = 0, positionScale = 1, undoes = false, norm = 'none' } = input;
      const [first, ...later] = tables('parts', parts);
      const rows = { rows: first.rows, columns: first.columns };
      later.forEach((part, k) => {
        check.table(`parts[${k + 1}]`, part, rows);
      });
      const [shared, ...laterWeights] = tables('weights', weights, parts.length);
      const shape = { rows: first.columns, columns: shared.columns };
      [shared, ...laterWeights].forEach((weight, k) => {
        check.table(`weights[${k}]`, weight, shape);
      });
      check.number('pull', pull, 0, 1);
      check.number('positionScale', positionScale);
      if (check.flag('undoes', undoes) && positionScale === 0)
        check.refuse('positionScale', 'other than 0 to be undone', positionScale);
      const { rows: n, columns: d } = first;
      check.requireMemory(
        `A layer that reads ${n} rows`,
        raw.oneLayerBytes(n, d, shared.columns, parts.length),
      );
      const settings = { pull, scale: positionScale, undoes, norm: check.oneOf('norm', norm, norms) };
      const result = raw.oneLayer(parts, weights, settings);
      return { ...result, weights: result.weights.map((data) => table(data, d, shared.columns)) };
    },
  };
}

/** Checks a list of at least one table, or of `count` tables. */
function tables(name: string, value: readonly Table[], count?: number): [Table, ...Table[]] {
  if (!Array.isArray(value)) check.refuse(name, 'an array of tables', value, false);
  if (value.length !== (count ?? value.length) || value.length === 0)
    check.refuseCount(
      name,
      count === undefined ? 'at least 1 entry' : check.counted(count, 'entry', 'entries'),
      value.length,
    );
  check.table(`${name}[0]`, value[0]);
  return value as [Table, ...Table[]];
}
