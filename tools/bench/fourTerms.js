// Job: the four-term decomposition of a sum of two embeddings, by every engine. From X, P [n, d] and W_Q,
// W_K [d, d] it computes, for every head, what decompose() returns: the logits of X + P, their terms
// (W_Q a)(W_K b)' / √d_h for a and b each x or p, each term's share of the logits' variation over keys, and
// the residual, the largest |sum of terms - logit|.
import { gapOf, libraryEngine, table, transposed } from './numbers.js';
import { onnxruntime } from './onnx.js';

const shapesOf = (...shapes) => shapes.map(([n, d, heads]) => ({ n, d, heads }));

const inputOf = ({ n, d, heads }) => ({
  summands: { token: table(n, d, 1), position: table(n, d, 2, 0.5) },
  query: { weight: table(d, d, 3, 1 / Math.sqrt(d)) },
  key: { weight: table(d, d, 4, 1 / Math.sqrt(d)) },
  heads,
});

/** Nothing has a bias, so the constant is zero. It joins the tokens, so that there are four terms. */
const groups = { token: ['token', 'constant'], position: ['position'] };

/** Weights are packed once, as the peers' are. */
function decompositionEngine(superpose, { summands, ...weights }) {
  const layer = superpose.layer(weights);
  return {
    run() {
      const { terms, logits, shares, residuals } = layer.decompose({ summands, groups, gauge: 'raw' });
      return { terms, logits, shares, residuals };
    },
    release: () => layer.delete(),
  };
}

/**
 * The input of a peer's graph: sizes, and weights that are already transposed and scaled, made by the peer's
 * `constant`.
 */
function peerInput({ summands, query, key, heads }, constant) {
  const { rows: n, columns: d } = summands.token;
  const width = d / heads;
  const scaled = transposed(query.weight).map((value) => value / Math.sqrt(width));
  const weights = [scaled, transposed(key.weight)].map((weight) => constant(weight, [d, d]));
  return { n, d, heads, width, weights };
}

const kinds = ['unstacked', 'stacked', 'wide'];

/**
 * The outputs of a peer's graph, with operators that onnxruntime-web and TensorFlow.js share: the terms, as
 * four outputs or one, and then logits, shares and residuals. `parts` are X and P.
 */
function graphOf(kind, operators, parts, { n, heads, width, weights }) {
  const { matMul, concat, reshape, transpose, add, sub, div, abs, sum, mean, max } = operators;
  const [query, key] = weights;
  const project = (rows, weight, split, perm) => transpose(reshape(matMul(rows, weight), split), perm);
  const logitsOf = (rows) => {
    const q = project(rows, query, [n, heads, width], [1, 0, 2]);
    return matMul(q, project(rows, key, [n, heads, width], [1, 2, 0]));
  };
  const termsOf = () => {
    if (kind === 'unstacked') {
      const queries = parts.map((rows) => project(rows, query, [n, heads, width], [1, 0, 2]));
      const keys = parts.map((rows) => project(rows, key, [n, heads, width], [1, 2, 0]));
      return queries.flatMap((q) => keys.map((k) => matMul(q, k)));
    }
    const stacked = concat(parts);
    if (kind === 'stacked') {
      const q = project(stacked, query, [2, 1, n, heads, width], [0, 1, 3, 2, 4]);
      const k = project(stacked, key, [1, 2, n, heads, width], [0, 1, 3, 4, 2]);
      return [reshape(matMul(q, k), [4, heads, n, n])];
    }
    const q = project(stacked, query, [2 * n, heads, width], [1, 0, 2]);
    const k = project(stacked, key, [2 * n, heads, width], [1, 2, 0]);
    const joined = transpose(reshape(matMul(q, k), [heads, 2, n, 2, n]), [1, 3, 0, 2, 4]);
    return [reshape(joined, [4, heads, n, n])];
  };
  const logits = logitsOf(add(...parts));
  const terms = termsOf();
  const total = terms.length === 1 ? sum(terms[0], [0]) : terms.reduce((left, right) => add(left, right));
  const residuals = max(abs(sub(total, logits)), [1, 2]);
  // A centred row sums to zero, so its product with a term is the same as with the term's centred row.
  const centred = reshape(sub(logits, reshape(mean(logits, [2]), [heads, n, 1])), [heads, n * n, 1]);
  const covariance = (matrices, dims) =>
    reshape(matMul(reshape(matrices, [...dims, 1, n * n]), centred), dims);
  const dims = terms.length === 1 ? [4, heads] : [heads];
  const shares = terms.map((term) => div(covariance(term, dims), covariance(centred, [heads])));
  return [...terms, logits, ...shares, residuals];
}

const byOnnxruntime = (ort, kind) =>
  onnxruntime(ort, ` ${kind}`, (graph, input) => {
    return graphOf(kind, graph, Object.keys(input.summands), peerInput(input, graph.constant));
  });

const byTensorFlow = (tf, name, kind) => ({
  name: `tfjs-backend-wasm ${name}`,
  async prepare(input) {
    const sizes = peerInput(input, tf.tensor2d);
    const terms = () => {
      const parts = Object.values(input.summands).map(({ data }) => tf.tensor2d(data, [sizes.n, sizes.d]));
      return graphOf(kind, tf, parts, sizes);
    };
    return {
      run() {
        const tensors = tf.tidy(terms);
        const outputs = tensors.map((tensor) => tensor.dataSync());
        tf.dispose(tensors);
        return outputs;
      },
      release: () => tf.dispose(sizes.weights),
    };
  },
});

/** Puts heads before terms in a list of one or four outputs, of `size` numbers for each term and head. */
function headsFirst(outputs, heads, size) {
  const reordered = new Float32Array(4 * heads * size);
  const pieces = outputs.flatMap((output) =>
    Array.from({ length: output.length / size }, (_, at) => output.subarray(at * size, (at + 1) * size)),
  );
  for (const [at, piece] of pieces.entries())
    reordered.set(piece, ((at % heads) * 4 + Math.floor(at / heads)) * size);
  return reordered;
}

/** A peer's answer in the form of the library's. */
function peerAnswer(outputs, { summands, heads }) {
  const residuals = outputs.at(-1);
  const count = (outputs.length - 2) / 2;
  const terms = headsFirst(outputs.slice(0, count), heads, summands.token.rows ** 2);
  const shares = headsFirst(outputs.slice(count + 1, -1), heads, 1);
  return { terms, logits: outputs[count], shares, residuals };
}

export const fourTerms = {
  name: 'Four-term decomposition',
  // The rounding error in float of sums of d and then d/heads products; a wrong term or layout is off by
  // about 1.
  allowed: 2e-5,
  shapes: [
    { n: 32, d: 64, heads: 4, calls: 50 },
    ...shapesOf([128, 384, 12], [128, 768, 12], [512, 768, 12], [512, 1024, 16]),
  ],
  small: shapesOf([5, 12, 3], [32, 64, 4], [17, 40, 1]),
  inputOf,
  enginesOf: ({ superpose, ort, tf }) => [
    ...superpose.map((build) => libraryEngine(build, decompositionEngine)),
    ...kinds.map((kind) => byOnnxruntime(ort, kind)),
    byTensorFlow(tf, 'unstacked', 'unstacked'),
    byTensorFlow(tf, 'stacked', 'wide'),
  ],
  /** The same in double, as those of a scheme. */
  referenceOf: ({ summands: { token, position }, ...weights }, { superpose: [first] }) =>
    first.schemeScores({ scheme: 'add', content: token, position, ...weights }),
  errorOf(answer, exact, input) {
    const { residuals, ...parts } = Array.isArray(answer) ? peerAnswer(answer, input) : answer;
    const largest = exact.terms.reduce((most, term) => Math.max(most, Math.abs(term)), 0);
    // The peers add up the n² products of a share in float, which may cost a digit.
    const gaps = Object.entries(parts).map(
      ([name, part]) => gapOf(part, exact[name]) / (name === 'shares' ? 10 : 1),
    );
    return Math.max(...gaps, ...residuals.map((residual) => Math.abs(residual) / largest));
  },
};
