// What the bench times besides, with the library alone. Sizes vary n and d in turn, so that growth can be fitted.
// An answer is compared with the library's in double, or with plain loops.
import { alone } from './library.js';
import { gapOf, numbers, rowsTimesRows, table } from './numbers.js';

/** Shapes in a cross: every n at one width, and every width at one n. */
const cross = (ns, n, ds, d) => [
  ...ns.map((one) => ({ n: one, d })),
  ...ds.filter((one) => one !== d).map((one) => ({ n, d: one })),
];
const encodings = cross([64, 128, 256, 512], 128, [192, 384, 768], 384);
const scores = cross([64, 128, 256], 128, [192, 384, 768], 384);
const twelveHeads = (shape) => ({ ...shape, heads: 12 });

const encoding = alone({
  name: 'sinusoidal encoding',
  allowed: 1e-6,
  shapes: encodings,
  small: [{ n: 7, d: 10 }],
  inputOf: ({ n, d }) => ({ positions: n, d_model: d, precision: 'float32' }),
  call: (superpose, input) => superpose.sinusoidal(input).data,
});

const rotary = alone({
  name: 'rotary encoding of 12 heads',
  allowed: 1e-6,
  shapes: encodings.map(twelveHeads),
  small: [{ n: 7, d: 12, heads: 3 }],
  inputOf: ({ n, d, heads }) => ({ rows: table(n, d, 1), heads }),
  call: (superpose, input) => superpose.rotate(input).data,
});

const products = alone({
  name: 'dot products, added and concatenated',
  allowed: 2e-5,
  shapes: scores,
  small: [{ n: 7, d: 10 }],
  inputOf: ({ n, d }) => ({ token: table(n, d, 1), position: table(n, d, 2) }),
  call: (superpose, input) => superpose.dotProducts(input),
  fields: ['added', 'concatenated'],
});

const layers = alone({
  name: '16 terms, with shares',
  allowed: 2e-5,
  shapes: scores.map(twelveHeads),
  small: [{ n: 7, d: 12, heads: 3 }],
  inputOf: ({ n, d, heads }) => ({
    summands: { token: table(n, d, 1), position: table(n, d, 2), token_type: table(n, d, 3) },
    normalization: { kind: 'layer_norm', gamma: numbers(d, 4), beta: numbers(d, 5), epsilon: 1e-12 },
    query: { weight: table(d, d, 6), bias: numbers(d, 7) },
    key: { weight: table(d, d, 8), bias: numbers(d, 9) },
    heads,
  }),
  call: (superpose, input) => superpose.decompose(input),
  fields: ['terms', 'logits', 'shares'],
});

const angles = alone({
  name: 'principal angles',
  allowed: 1e-12,
  shapes: cross([16, 32, 64], 32, [192, 384, 768], 384),
  small: [{ n: 5, d: 16 }],
  inputOf: ({ n, d }) => ({ first: table(n, d, 1), second: table(n, d, 2) }),
  call: (superpose, input) => superpose.principalAngles(input),
});

const places = 16;
const words = (tokens) => Math.min(64, tokens.rows);

/** A word's smallest margin, ½‖e_b − e_a‖² − ⟨e_b − e_a, p_i⟩, over b ≠ a and all positions. */
function marginOf({ tokens: { data, rows, columns: d }, positions }, a) {
  let margin = Number.POSITIVE_INFINITY;
  for (let b = 0; b < rows; b++) {
    if (b === a) continue;
    const apart = Float64Array.from({ length: d }, (_, c) => data[b * d + c] - data[a * d + c]);
    const [square] = rowsTimesRows(apart, apart, d, new Float64Array(1));
    const shifts = rowsTimesRows(positions.data, apart, d, new Float64Array(positions.rows));
    margin = Math.min(margin, square / 2 - Math.max(...shifts));
  }
  return margin;
}

/** A search in a vocabulary for what `ask` asks. The smallest margins of the first word and of the 64th are compared. */
const search = (job, ask) =>
  alone({
    allowed: 2e-5,
    small: [{ n: 40, d: 6 }],
    inputOf: ({ n, d }) => ({ tokens: table(n, d, 1), positions: table(places, d, 2) }),
    referenceOf: (input) => [0, words(input.tokens) - 1].map((word) => marginOf(input, word)),
    errorOf: (found, exact, { tokens }) => gapOf([found[0], found[words(tokens) - 1]], exact),
    prepare(superpose, input) {
      const vocabulary = superpose.collisionSearch(input);
      return { run: () => ask(vocabulary, words(input.tokens)), release: () => vocabulary.delete() };
    },
    ...job,
  });

const collisions = search(
  {
    name: 'collisions, 64 words of a vocabulary of n at 16 positions',
    shapes: cross([7500, 15000, 30522], 15000, [192, 384], 384),
    errorOf: (found, exact) =>
      gapOf(
        [found.subarray(0, places), found.subarray(-places)].map((margins) => Math.min(...margins)),
        exact,
      ),
  },
  (vocabulary, count) => vocabulary.nearestTokens(0, count).margins,
);

/** As the page asks for it. It takes most of a minute, so the fastest build is timed once. */
const vocabulary = search(
  {
    name: 'collisions, the whole vocabulary of n at 16 positions',
    once: true,
    shapes: [{ n: 30522, d: 384 }],
  },
  async (vocabulary) => (await vocabulary.allWords({ slice: 256 })).smallestMargins,
);

export const others = [encoding, rotary, products, layers, angles, collisions, vocabulary];
