// Job: the four-term decomposition of a sum of two embeddings, by every engine. From X, P [n, d] and W_Q,
// W_K [d, d] it computes the terms of every head's logits, (W_Q a)(W_K b)' / √d_h for a and b each x or p,
// as [heads, 4, n, n].
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

/**
 * Weights are packed once, as the peers' are. Unlike the peers, decompose() also returns logits, shares and
 * residuals.
 */
function decompositionEngine(superpose, { summands, ...weights }) {
  const layer = superpose.layer(weights);
  return {
    run: () => layer.decompose({ summands, groups, gauge: 'raw' }).terms,
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
 * The outputs of a peer's graph, with operators that onnxruntime-web and TensorFlow.js share. `parts` are X
 * and P.
 */
function graphOf(kind, { matMul, concat, reshape, transpose }, parts, { n, heads, width, weights }) {
  const [query, key] = weights;
  const project = (rows, weight, split, perm) => transpose(reshape(matMul(rows, weight), split), perm);
  if (kind === 'unstacked') {
    const queries = parts.map((rows) => project(rows, query, [n, heads, width], [1, 0, 2]));
    const keys = parts.map((rows) => project(rows, key, [n, heads, width], [1, 2, 0]));
    return queries.flatMap((q) => keys.map((k) => matMul(q, k)));
  }
  const stacked = concat(parts);
  if (kind === 'stacked') {
    const q = project(stacked, query, [2, 1, n, heads, width], [0, 1, 3, 2, 4]);
    const k = project(stacked, key, [1, 2, n, heads, width], [0, 1, 3, 4, 2]);
    return [matMul(q, k)];
  }
  const q = project(stacked, query, [2 * n, heads, width], [1, 0, 2]);
  const k = project(stacked, key, [2 * n, heads, width], [1, 2, 0]);
  return [transpose(reshape(matMul(q, k), [heads, 2, n, 2, n]), [1, 3, 0, 2, 4])];
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

/** Reorders a peer's answer, a list of one or four outputs with terms before heads. */
function headsFirst(outputs, { summands, heads }) {
  const n = summands.token.rows;
  const terms = new Float32Array(4 * heads * n * n);
  const matrices = outputs.flatMap((output) =>
    Array.from({ length: output.length / n ** 2 }, (_, at) => output.subarray(at * n * n, (at + 1) * n * n)),
  );
  for (const [at, matrix] of matrices.entries())
    terms.set(matrix, ((at % heads) * 4 + Math.floor(at / heads)) * n * n);
  return terms;
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
  /** The same terms in double, as those of a scheme. */
  referenceOf: ({ summands: { token, position }, ...weights }, { superpose: [first] }) =>
    first.schemeScores({ scheme: 'add', content: token, position, ...weights }).terms,
  errorOf: (answer, exact, input) => gapOf(Array.isArray(answer) ? headsFirst(answer, input) : answer, exact),
};
