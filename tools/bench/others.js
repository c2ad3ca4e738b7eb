// What the bench times besides the four terms, with the library alone. Sizes vary n and d in turn, so that
// growth can be fitted. Each answer is compared with plain loops in double, or with angles known by
// construction.
import { numbers, rowsTimesRows } from './job.js';

const table = (rows, columns, seed) => ({ data: numbers(rows * columns, seed, 1), rows, columns });

/** Shapes in a cross: every n at one width, and every width at one n. */
const cross = (ns, n, ds, d) => [
  ...ns.map((one) => ({ n: one, d })),
  ...ds.filter((one) => one !== d).map((one) => ({ n, d: one })),
];

/** The largest gap as a share of the largest value. Infinite when lengths differ, NaN when a value is NaN. */
function gapOf(found, exact) {
  if (found.length !== exact.length) return Number.POSITIVE_INFINITY;
  const size = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return size(exact.map((value, at) => value - found[at])) / size(exact);
}

const encoding = {
  name: 'sinusoidal encoding',
  allowed: 1e-6,
  shapes: cross([64, 128, 256, 512], 128, [192, 384, 768], 384),
  small: [{ n: 7, d: 10 }],
  inputOf: (shape) => shape,
  prepare: (superpose, { n, d }) => ({
    run: () => superpose.sinusoidal({ positions: n, d_model: d, precision: 'float32' }).data,
  }),
  referenceOf: ({ n, d }) =>
    Float64Array.from({ length: n * d }, (_, at) => {
      const channel = at % d;
      const angle = Math.floor(at / d) * 10000 ** (-(channel - (channel % 2)) / d);
      return channel % 2 ? Math.cos(angle) : Math.sin(angle);
    }),
  errorOf: (_, found, exact) => gapOf(found, exact),
};

const rotary = {
  name: 'rotary encoding of 12 heads',
  allowed: 1e-6,
  shapes: encoding.shapes.map((shape) => ({ ...shape, heads: 12 })),
  small: [{ n: 7, d: 12, heads: 3 }],
  inputOf: ({ n, d, heads }) => ({ rows: table(n, d, 1), heads }),
  prepare: (superpose, input) => ({ run: () => superpose.rotate(input).data }),
  referenceOf: ({ rows: { data, columns }, heads }) =>
    Float64Array.from(data, (value, at) => {
      const width = columns / heads;
      const odd = at % 2;
      const angle = Math.floor(at / columns) * 10000 ** (-((at % width) - odd) / width);
      return value * Math.cos(angle) + (odd ? data[at - 1] : -data[at + 1]) * Math.sin(angle);
    }),
  errorOf: (_, found, exact) => gapOf(found, exact),
};

const products = {
  name: 'dot products, added and concatenated',
  allowed: 2e-5,
  shapes: cross([64, 128, 256], 128, [192, 384, 768], 384),
  small: [{ n: 7, d: 10 }],
  inputOf: ({ n, d }) => ({ token: table(n, d, 1), position: table(n, d, 2) }),
  prepare: (superpose, input) => ({ run: () => superpose.dotProducts(input) }),
  referenceOf({ token, position }) {
    const { rows: n, columns: d } = token;
    const gram = (rows) => rowsTimesRows(rows, rows, d, new Float64Array(n * n));
    const [tokens, positions] = [gram(token.data), gram(position.data)];
    return {
      added: gram(Float64Array.from(token.data, (value, at) => value + position.data[at])),
      concatenated: tokens.map((value, at) => value + positions[at]),
    };
  },
  errorOf: (_, found, exact) =>
    Math.max(...Object.entries(exact).map(([name, values]) => gapOf(found[name], values))),
};

const layers = {
  name: '16 terms, with shares',
  allowed: 2e-5,
  shapes: cross([64, 128, 256], 128, [192, 384, 768], 384).map((shape) => ({ ...shape, heads: 12 })),
  small: [{ n: 7, d: 12, heads: 3 }],
  inputOf: ({ n, d, heads }) => ({
    summands: { token: table(n, d, 1), position: table(n, d, 2), token_type: table(n, d, 3) },
    normalization: { kind: 'layer_norm', gamma: numbers(d, 4, 1), beta: numbers(d, 5, 1), epsilon: 1e-12 },
    query: { weight: table(d, d, 6), bias: numbers(d, 7, 1) },
    key: { weight: table(d, d, 8), bias: numbers(d, 9, 1) },
    heads,
  }),
  prepare: (superpose, input) => ({ run: () => superpose.decompose(input) }),
  /** The last head's terms, logits and shares. */
  referenceOf(input) {
    const { queries, keys, n, width } = lastHeadOf(input);
    const scores = (query, key) =>
      rowsTimesRows(query, key, width, new Float64Array(n * n), 1 / Math.sqrt(width));
    const terms = queries.flatMap((query) => keys.map((key) => scores(query, key)));
    const whole = (parts) => parts[0].map((_, at) => parts.reduce((sum, part) => sum + part[at], 0));
    const logits = scores(whole(queries), whole(keys));
    const centred = centredRows(logits, n);
    const along = (rows) => rows.reduce((sum, value, at) => sum + value * centred[at], 0);
    const shares = terms.map((term) => along(centredRows(term, n)) / along(centred));
    return {
      terms: Float64Array.from(terms.flatMap((term) => [...term])),
      logits,
      shares: Float64Array.from(shares),
    };
  },
  errorOf: (_, found, exact) =>
    Math.max(
      ...Object.entries(exact).map(([name, values]) => gapOf(found[name].slice(-values.length), values)),
    ),
};

function centredRows(rows, columns) {
  const centred = Float64Array.from(rows);
  for (let at = 0; at < rows.length; at += columns) {
    const row = centred.subarray(at, at + columns);
    const mean = row.reduce((sum, value) => sum + value, 0) / columns;
    for (let c = 0; c < columns; c++) row[c] -= mean;
  }
  return centred;
}

/** The parts of the last head's queries and keys, [n, d_h] each, the constant last. */
function lastHeadOf({ summands, normalization, query, key, heads }) {
  const tables = Object.values(summands);
  const { rows: n, columns: d } = tables[0];
  const { gamma, beta, epsilon } = normalization;
  const parts = tables.map(({ data }) => centredRows(data, d));
  for (let i = 0; i < n; i++) {
    let squares = 0;
    for (let at = i * d; at < (i + 1) * d; at++)
      squares += parts.reduce((sum, part) => sum + part[at], 0) ** 2;
    const deviation = Math.sqrt(squares / d + epsilon);
    for (const part of parts) for (let c = 0; c < d; c++) part[i * d + c] *= gamma[c] / deviation;
  }
  const width = d / heads;
  const projected = ({ weight, bias }) => {
    const last = weight.data.subarray((d - width) * d);
    const constant = rowsTimesRows(beta, last, d, new Float64Array(width));
    return [
      ...parts.map((part) => rowsTimesRows(part, last, d, new Float64Array(n * width))),
      Float64Array.from(
        { length: n * width },
        (_, at) => constant[at % width] + bias[d - width + (at % width)],
      ),
    ];
  };
  return { queries: projected(query), keys: projected(key), n, width };
}

const angles = {
  name: 'principal angles',
  allowed: 1e-12,
  shapes: cross([16, 32, 64], 32, [192, 384, 768], 384),
  small: [{ n: 5, d: 16 }],
  // Row i of the first table is e_i, and of the second cos θ_i e_i + sin θ_i e_{n+i}. Then both are mirrored
  // and their rows mixed, which changes no angle.
  inputOf({ n, d }) {
    const given = Float64Array.from({ length: n }, (_, i) => ((i + 0.5) / n) * (Math.PI / 2));
    const mirror = numbers(d, 1, 1);
    const length = mirror.reduce((sum, value) => sum + value ** 2, 0);
    const spanning = (turned, seed) => {
      const rows = new Float64Array(n * d);
      given.forEach((angle, i) => {
        rows[i * d + i] = turned ? Math.cos(angle) : 1;
        rows[i * d + n + i] = turned ? Math.sin(angle) : 0;
      });
      for (let i = 0; i < n; i++) {
        const row = rows.subarray(i * d, (i + 1) * d);
        const along = row.reduce((sum, value, c) => sum + value * mirror[c], 0);
        for (let c = 0; c < d; c++) row[c] -= ((2 * along) / length) * mirror[c];
      }
      const mix = numbers(n * n, seed, 1 / n).map((value, at) => value + (at % (n + 1) === 0 ? 1 : 0));
      const columns = Float64Array.from(rows, (_, at) => rows[(at % n) * d + Math.floor(at / n)]);
      return { data: rowsTimesRows(mix, columns, n, new Float64Array(n * d)), rows: n, columns: d };
    };
    return { given, first: spanning(false, 2), second: spanning(true, 3) };
  },
  prepare: (superpose, { first, second }) => ({ run: () => superpose.principalAngles({ first, second }) }),
  referenceOf: ({ given }) => given,
  errorOf: (_, found, exact) => gapOf(found, exact),
};

const positions = 16;
const words = (n) => Math.min(64, n);
const collisionInput = ({ n, d }) => ({ tokens: table(n, d, 1), positions: table(positions, d, 2) });

/** Some words' smallest margins at each position, ½‖e_b − e_a‖² − ⟨e_b − e_a, p_i⟩ over b ≠ a. */
function marginsOf({ tokens, positions: { data: places } }) {
  const { data, rows: V, columns: d } = tokens;
  const dot = (a, i, b, j) => {
    let sum = 0;
    for (let c = 0; c < d; c++) sum += a[i * d + c] * b[j * d + c];
    return sum;
  };
  const squares = Float64Array.from({ length: V }, (_, b) => dot(data, b, data, b));
  const shifts = rowsTimesRows(data, places, d, new Float64Array(V * positions));
  return [0, words(V) - 1].map((word) => {
    const margins = new Float64Array(positions).fill(Number.POSITIVE_INFINITY);
    for (let b = 0; b < V; b++) {
      if (b === word) continue;
      const half = (squares[b] + squares[word]) / 2 - dot(data, word, data, b);
      for (let i = 0; i < positions; i++) {
        const margin = half - shifts[b * positions + i] + shifts[word * positions + i];
        margins[i] = Math.min(margins[i], margin);
      }
    }
    return { word, margins };
  });
}

const collisions = {
  name: 'collisions, 64 words of a vocabulary of n at 16 positions',
  allowed: 2e-5,
  shapes: cross([7500, 15000, 30522], 15000, [192, 384], 384),
  small: [{ n: 40, d: 6 }],
  inputOf: collisionInput,
  prepare(superpose, input) {
    const search = superpose.collisionSearch(input);
    return {
      run: () => search.nearestTokens(0, words(input.tokens.rows)).margins,
      release: () => search.delete(),
    };
  },
  referenceOf: marginsOf,
  errorOf: (_, found, exact) =>
    Math.max(
      ...exact.map(({ word, margins }) =>
        gapOf(found.slice(word * positions, (word + 1) * positions), margins),
      ),
    ),
};

/** The search as the page asks for it. It takes most of a minute, so the fastest build is timed once. */
const vocabulary = {
  ...collisions,
  name: 'collisions, the whole vocabulary of n at 16 positions',
  once: true,
  shapes: [{ n: 30522, d: 384 }],
  prepare(superpose, input) {
    const search = superpose.collisionSearch(input);
    return {
      run: async () => (await search.allWords({ slice: 256 })).smallestMargins,
      release: () => search.delete(),
    };
  },
  errorOf: (_, found, exact) =>
    Math.max(...exact.map(({ word, margins }) => gapOf([found[word]], [Math.min(...margins)]))),
};

export const otherJobs = [encoding, rotary, products, layers, angles, collisions, vocabulary];
