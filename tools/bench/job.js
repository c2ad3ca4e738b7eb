// The job that every engine does: the four-term decomposition of a sum of two embeddings. From X, P [n, d]
// and W_Q, W_K [d, d] come the term logits of every head, (W_Q a)(W_K b)' / √d_h for a and b each x or p.

/** Numbers that are the same everywhere, from a linear congruential generator, centred. */
export function numbers(count, seed, size) {
  const values = new Float32Array(count);
  let state = seed >>> 0;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = (state / 2 ** 31 - 1) * size;
  }
  return values;
}

export function inputOf({ n, d, heads }) {
  return {
    n,
    d,
    heads,
    x: numbers(n * d, 1, 1),
    p: numbers(n * d, 2, 0.5),
    wq: numbers(d * d, 3, 1 / Math.sqrt(d)),
    wk: numbers(d * d, 4, 1 / Math.sqrt(d)),
  };
}

/** rows [n, k] times rows [m, k]', as [n, m]; in the precision of `into`. */
export function rowsTimesRows(a, b, k, into, scale = 1) {
  const n = a.length / k;
  const m = b.length / k;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      let sum = 0;
      for (let c = 0; c < k; c++) sum += a[i * k + c] * b[j * k + c];
      into[i * m + j] = sum * scale;
    }
  }
  return into;
}

/** One head's columns of rows [n, d], as rows [n, d_h]. */
export function headOf(rows, { n, d, heads }, head, into) {
  const width = d / heads;
  const out = into ?? new rows.constructor(n * width);
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < width; c++) out[i * width + c] = rows[i * d + head * width + c];
  }
  return out;
}

/**
 * [heads, 4, n, n] in plain loops, in the precision of Floats: the reference in double, an engine in float.
 */
export function plainly(input, Floats) {
  const { n, d, heads, x, p, wq, wk } = input;
  const width = d / heads;
  const project = (rows, weight) => rowsTimesRows(rows, weight, d, new Floats(n * d));
  const queries = [project(x, wq), project(p, wq)];
  const keys = [project(x, wk), project(p, wk)];
  const terms = new Floats(heads * 4 * n * n);
  for (let head = 0; head < heads; head++) {
    const k = keys.map((key) => headOf(key, input, head));
    for (let s = 0; s < 2; s++) {
      const q = headOf(queries[s], input, head);
      for (let r = 0; r < 2; r++) {
        const place = (head * 4 + s * 2 + r) * n * n;
        rowsTimesRows(q, k[r], width, terms.subarray(place, place + n * n), 1 / Math.sqrt(width));
      }
    }
  }
  return terms;
}

/** Reference values at a few places, so that checking a large shape does not take hours of plain loops. */
export function referenceAt(input, places) {
  const { d, heads, x, p, wq, wk } = input;
  const width = d / heads;
  const projected = (rows, weight, i, c) => {
    let sum = 0;
    for (let k = 0; k < d; k++) sum += rows[i * d + k] * weight[c * d + k];
    return sum;
  };
  return places.map(({ head, s, r, i, j }) => {
    let sum = 0;
    for (let c = head * width; c < (head + 1) * width; c++) {
      sum += projected(s ? p : x, wq, i, c) * projected(r ? p : x, wk, j, c);
    }
    return sum / Math.sqrt(width);
  });
}

/** Places all over the terms: in each head and term, at corners and between. */
export function placesOf({ n, heads }) {
  const places = [];
  for (let at = 0; at < 16 * heads; at++) {
    const head = at % heads;
    const turn = Math.floor(at / heads);
    const row = (turn * 7919 + head * 31) % n;
    places.push({
      head,
      s: turn & 1,
      r: (turn >> 1) & 1,
      i: turn < 4 ? n - 1 : row,
      j: (row * 13 + turn) % n,
    });
  }
  return places;
}

/** The largest gap between an engine's terms and the reference, as a share of the largest reference value. */
export function errorOf(input, terms, order, reference = referenceAt(input, placesOf(input))) {
  const { n, heads } = input;
  if (terms.length !== 4 * heads * n * n) return Number.POSITIVE_INFINITY;
  let largest = 0;
  let error = 0;
  placesOf(input).forEach(({ head, s, r, i, j }, at) => {
    const term = 2 * s + r;
    const matrix = order === 'terms first' ? term * heads + head : head * 4 + term;
    const gap = Math.abs(terms[(matrix * n + i) * n + j] - reference[at]);
    error = gap > error || Number.isNaN(gap) ? gap : error;
    largest = Math.max(largest, Math.abs(reference[at]));
  });
  return error / largest;
}

/**
 * Bounds rounding in float of sums of d and then d/heads products; a wrong term or layout is off by about 1.
 */
export const allowedError = 2e-5;
