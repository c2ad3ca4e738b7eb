import * as check from '../check.js';
import { type Handle, held } from '../handle.js';
import type { Raw } from '../module.js';
import { type Floats, suffixOf, type Table } from '../table.js';
import {
  checkedDecomposition,
  checkedLayer,
  checkedNames,
  checkedTables,
  type DecomposeInput,
} from './decompose.js';
import { type CheckedGauge, checkApart, checkedGauge, type GaugeOptions } from './gauge.js';
import { fitsScores, type Terms } from './scores.js';

export interface DecompositionLayerInput<A extends Floats = Floats>
  extends Pick<DecomposeInput<A>, 'normalization' | 'query' | 'key' | 'heads' | 'scale'>,
    GaugeOptions<A> {
  /** The names of the summands, at least one; `constant` is reserved. */
  summands: readonly string[];
}

export interface LayerTermsOptions {
  /** Factor of each table, any finite number; default 1. */
  factors?: Record<string, number>;
  /** Which heads to return, in this order. Default all. */
  only?: readonly number[] | undefined;
}

/**
 * W_Q and W_K in the module's memory, for one set of tables after another. A call costs only what has changed
 * since the last one: unchanged rows of a table are not projected again, and terms of two unchanged parts are
 * not computed again. Call delete() when done with it, or declare it with `using`.
 */
export interface DecompositionLayer<A extends Floats = Floats> extends Handle {
  /** The summands and, when there is a bias, a beta or a gauge other than `raw`, `constant`. */
  readonly parts: readonly string[];
  /**
   * The terms of decompose() for these tables, [n, d] each. The layer owns the array of terms: while tokens
   * and heads stay the same, the next call overwrites it. Do not write into it, and copy what you want to
   * keep. Throws as decompose() does.
   */
  terms(summands: Record<string, Table<A>>, options?: LayerTermsOptions): Terms<A>;
}

export interface DecompositionLayerApi {
  /** Keeps the weights of an attention layer, to take scores apart repeatedly. */
  decompositionLayer<A extends Floats>(input: DecompositionLayerInput<A>): DecompositionLayer<A>;
  /**
   * The terms of decompose() alone, without logits, residuals and shares: faster, for many tokens or heads.
   * The part `constant` is there only with a bias, a beta or a gauge other than `raw`, since it is zero
   * otherwise. Throws as decompose() does.
   */
  decomposeTerms<A extends Floats>(input: Omit<DecomposeInput<A>, 'groups'>): Terms<A>;
}

type Checked = ReturnType<typeof checkedLayer>;

/** A layer over arguments that were checked; its terms() checks nothing. */
function layerOver<A extends Floats>(
  raw: Raw,
  names: readonly string[],
  heads: number,
  { norm, scale, query, key }: Checked,
  gauge: CheckedGauge,
) {
  const suffix = suffixOf(query.weight.data);
  const constant = query.bias || key.bias || norm.beta || gauge.name !== 'raw';
  const parts = constant ? [...names, 'constant'] : [...names];
  /** The result of the last call. */
  let last: Terms<A> | undefined;
  const layer = held(
    raw,
    'layer',
    3 * (query.weight.data.byteLength + key.weight.data.byteLength),
    () => raw[`decompositionLayer${suffix}`](norm, query, key, heads, scale, names.length, gauge),
    (address) => {
      last = undefined;
      raw[`deleteDecompositionLayer${suffix}`](address);
    },
  );
  return {
    parts,
    layer,
    terms(
      n: number,
      tables: Record<string, Table<A>>,
      factors: readonly number[],
      only: readonly number[],
    ): Terms<A> {
      const count = only.length * parts.length ** 2 * n * n;
      const address = layer.address();
      // A transferred array has length 0, so it is not reused.
      const kept = last?.n === n && String(last.heads) === String(only) && last.terms.length === count;
      if (!kept || !last) {
        const terms = new (query.weight.data.constructor as new (length: number) => A)(count);
        last = { n, heads: [...only], parts, gauge: gauge.name, apart: gauge.apart, terms };
      }
      const arrays = names.map((name) => (tables[name] as Table<A>).data);
      raw[`layerTerms${suffix}`](address, n, arrays, factors, only, kept, last.terms);
      return last;
    },
  };
}

export function decompositionLayerApi(raw: Raw): DecompositionLayerApi {
  return {
    decompositionLayer<A extends Floats>(input: DecompositionLayerInput<A>): DecompositionLayer<A> {
      check.object('input', input);
      const { summands, query, heads } = input;
      if (!Array.isArray(summands)) {
        check.refuse('summands', 'a list of names', summands, false);
      }
      for (const name of summands) {
        if (typeof name !== 'string') {
          throw new TypeError(`summands must hold names; one is ${check.shown(name)}.`);
        }
      }
      check.once('summands', summands);
      const names = checkedNames([...summands]);
      check.linear('query', query);
      const { columns: d, rows: width, data } = query.weight;
      const checked = checkedLayer(input, d, undefined);
      check.fits('W_Q and W_K', 6 * width * d * data.BYTES_PER_ELEMENT);
      const gauge = checkedGauge(input, names, d, data);
      const { parts, layer, terms } = layerOver<A>(raw, names, heads, checked, gauge);
      const all = check.chosenHeads(undefined, heads);
      return {
        parts,
        terms(tables, { factors = {}, only } = {}) {
          layer.address();
          check.object('summands', tables);
          const first = checkedTables(tables, names, d);
          check.samePrecision({ 'query.weight.data': data, summands: first.data });
          checkApart(gauge.apart, first.rows);
          check.object('factors', factors);
          for (const name of Object.keys(factors)) check.oneOf('a name in factors', name, names);
          const scales = names.map((name) =>
            check.representable(
              `factors.${name}`,
              Object.hasOwn(factors, name) ? factors[name] : 1,
              check.isSingle(data),
            ),
          );
          const chosen = only === undefined ? all : check.chosenHeads(only, heads);
          fitsScores(first.rows, names.length + 1, chosen.length, width + d, data);
          return terms(first.rows, tables, scales, chosen);
        },
        ...layer.handle,
      };
    },

    decomposeTerms(input) {
      const { names, only, gauge, ...checked } = checkedDecomposition(input);
      const { layer, terms } = layerOver<(typeof checked.first)['data']>(
        raw,
        names,
        input.heads,
        checked,
        gauge,
      );
      try {
        const factors = names.map(() => 1);
        return terms(checked.first.rows, input.summands, factors, only);
      } finally {
        layer.handle.delete();
      }
    },
  };
}
