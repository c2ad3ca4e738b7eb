// How far rounding may move a result, from shapes and the unit roundoff alone, so that no tolerance
// between precisions or builds is a guess.
//
// Roundings are practically independent of each other (Higham & Mary 2019, SIAM J. Sci. Comput. 41), so
// m of them add up to about sqrt(m) of one, relative to the root of the sum of squares of the
// addends. The worst case, m times the sum of absolute values, is larger by a factor of 10,000 at these
// sizes and would hide real mistakes.
import type { DecomposeInput, Linear, Table } from 'add-or-concatenate';
import { deviation, largest, mean, norm, type Precision, rowOf, sumOf } from './numbers.ts';

const unitRoundoff: Record<Precision, number> = { float32: 2 ** -24, float64: 2 ** -53 };
/** The allowed error, as a multiple of the expected one. */
const margin = 4;

/** The relative error that `count` roundings can add up to. */
export const roundings = (count: number, precision: Precision): number =>
  margin * Math.sqrt(count) * unitRoundoff[precision];

const absolute = (values: ArrayLike<number>) => Float64Array.from(values, Math.abs);
const products = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Float64Array.from(a, (value, c) => value * (b[c] as number));

/**
 * The size to which a projection's roundings are relative: the root of the sum of squares of its addends.
 */
function magnitude({ weight, bias }: Linear, input: Float64Array, beta?: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: weight.rows }, (_, k) => {
    const row = rowOf(weight, k);
    return Math.hypot(norm(products(row, input)), beta ? norm(products(row, beta)) : 0, bias?.[k] ?? 0);
  });
}

/**
 * The largest error of any term or logit of decompose(), which computes in float32. Every term is computed
 * from the numbers of the logit or from fewer, so one bound holds for all.
 *
 * With A = sum_s |t_s| (and its mean, for centring), a normalized summand is at most gamma A / sigma.
 * Relative to that, its error is the roundings of the centring and those of sigma, which the cancellation in
 * |Cx| magnifies by |A| / (sqrt(d) sigma).
 */
export function scoreBound(input: DecomposeInput): number {
  const { normalization, query, key, heads } = input;
  const tables = Object.values(input.summands) as Table[];
  const { rows: n, columns: d } = tables[0] as Table;
  const error = roundings(3 * d + 2 * tables.length + 12, 'float32');

  const tokens = Array.from({ length: n }, (_, i) => {
    const rows = tables.map((table) => rowOf(table, i));
    const sizes = sumOf(rows.map(absolute));
    if (!normalization) return { input: sizes, beta: undefined, error };
    const { kind, gamma, beta, epsilon } = normalization;
    const x = sumOf(rows);
    const centred = kind === 'layer_norm';
    const a = centred ? sizes.map((value) => value + mean(sizes)) : sizes;
    const sigma = Math.sqrt((centred ? deviation(x) ** 2 : mean(products(x, x))) + epsilon);
    return {
      input: a.map((value, c) => (value * (gamma?.[c] ?? 1)) / sigma),
      beta,
      error: error + error * (norm(a) / (Math.sqrt(d) * sigma)),
    };
  });
  const sides = tokens.map((token) => ({
    query: magnitude(query, token.input, token.beta),
    key: magnitude(key, token.input, token.beta),
    error: token.error,
  }));
  return pairBound(sides, heads, input.scale ?? Math.sqrt(heads / query.weight.rows));
}

/** A bound for queries and keys of known sizes and relative errors. */
function pairBound(
  sides: readonly { query: Float64Array; key: Float64Array; error: number }[],
  heads: number,
  scale: number,
): number {
  const width = (sides[0]?.query.length ?? 0) / heads;
  let worst = 0;
  for (const i of sides) {
    for (const j of sides) {
      for (let head = 0; head < heads; head++) {
        const of = (row: Float64Array) => row.subarray(head * width, (head + 1) * width);
        const size = Math.abs(scale) * norm(products(of(i.query), of(j.key)));
        worst = Math.max(worst, size * (i.error + j.error + roundings(width + 4, 'float32')));
      }
    }
  }
  return worst;
}

/** A bound is useful only if it is far below the numbers to which it applies. */
export const isTight = (bound: number, values: ArrayLike<number>): boolean => bound < 1e-3 * largest(values);
