// Everything that does the four-term decomposition, in any runtime. prepare(input) takes what stays the same
// (weights, graphs, memory) and returns run(), which does the job once and returns its terms in JavaScript
// arrays, and release().
import { plainly } from './job.js';
import { floats, integers, model, node } from './onnx.js';

const transposed = (matrix, d) =>
  Float32Array.from(matrix, (_, at) => matrix[(at % d) * d + Math.floor(at / d)]);

/** The builds of the library that the runtime can run; the fastest is the last. */
export const everyBuild = ({ load, supportedSimd }) =>
  Promise.all(
    (supportedSimd() === 'relaxed' ? ['plain', 'relaxed'] : ['plain']).map((simd) => load({ simd })),
  );

/** A build of the library: the terms alone, which the figure of the gauge uses. */
export const ours = (superpose) => ({
  name: `superpose ${superpose.simd}`,
  order: 'heads first',
  async prepare({ n, d, heads, x, p, wq, wk }) {
    const table = (data, rows) => ({ data, rows, columns: d });
    const input = {
      summands: { token: table(x, n), position: table(p, n) },
      query: { weight: table(wq, d) },
      key: { weight: table(wk, d) },
      heads,
    };
    return { run: () => superpose.decomposeTerms(input).terms };
  },
});

const plainJs = {
  name: 'plain JS',
  order: 'heads first',
  // Large shapes would take most of the bench's time.
  takes: ({ n, d }) => n * d * d < 2e7,
  prepare: async (input) => ({ run: () => plainly(input, Float32Array) }),
};

/** Three graphs for onnxruntime-web. Weights are initializers, already transposed and scaled. */
function ortGraph(kind, { n, d, heads, wq, wk }) {
  const width = d / heads;
  const scaled = transposed(wq, d).map((value) => value / Math.sqrt(width));
  const weights = [floats('wq', [d, d], scaled), floats('wk', [d, d], transposed(wk, d))];
  const inputs = { x: [n, d], p: [n, d] };
  if (kind === 'unstacked') {
    const rows = ['x', 'p'].flatMap((part) => [
      node('MatMul', [part, 'wq'], `${part}q`),
      node('Reshape', [`${part}q`, 'split'], `${part}qs`),
      node('Transpose', [`${part}qs`], `${part}qt`, { perm: [1, 0, 2] }),
      node('MatMul', [part, 'wk'], `${part}k`),
      node('Reshape', [`${part}k`, 'split'], `${part}ks`),
      node('Transpose', [`${part}ks`], `${part}kt`, { perm: [1, 2, 0] }),
    ]);
    const pairs = ['x', 'p'].flatMap((q) => ['x', 'p'].map((k) => [q, k]));
    const terms = pairs.map(([q, k]) => node('MatMul', [`${q}qt`, `${k}kt`], q + k));
    const outputs = Object.fromEntries(pairs.map(([q, k]) => [q + k, [heads, n, n]]));
    return model([...rows, ...terms], [...weights, integers('split', [n, heads, width])], inputs, outputs);
  }
  const stack = [
    node('Concat', ['x', 'p'], 'xp', { axis: 0 }),
    node('MatMul', ['xp', 'wq'], 'q'),
    node('MatMul', ['xp', 'wk'], 'k'),
  ];
  if (kind === 'stacked') {
    const nodes = [
      ...stack,
      node('Reshape', ['q', 'splitq'], 'qs'),
      node('Transpose', ['qs'], 'qt', { perm: [0, 1, 3, 2, 4] }),
      node('Reshape', ['k', 'splitk'], 'ks'),
      node('Transpose', ['ks'], 'kt', { perm: [0, 1, 3, 4, 2] }),
      node('MatMul', ['qt', 'kt'], 'terms'),
    ];
    const splits = [integers('splitq', [2, 1, n, heads, width]), integers('splitk', [1, 2, n, heads, width])];
    return model(nodes, [...weights, ...splits], inputs, { terms: [2, 2, heads, n, n] });
  }
  const nodes = [
    ...stack,
    node('Reshape', ['q', 'split'], 'qs'),
    node('Transpose', ['qs'], 'qt', { perm: [1, 0, 2] }),
    node('Reshape', ['k', 'split'], 'ks'),
    node('Transpose', ['ks'], 'kt', { perm: [1, 2, 0] }),
    node('MatMul', ['qt', 'kt'], 'wide'),
    node('Reshape', ['wide', 'blocks'], 'b'),
    node('Transpose', ['b'], 'terms', { perm: [1, 3, 0, 2, 4] }),
  ];
  const splits = [integers('split', [2 * n, heads, width]), integers('blocks', [heads, 2, n, 2, n])];
  return model(nodes, [...weights, ...splits], inputs, { terms: [2, 2, heads, n, n] });
}

function onnxruntime(ort, kind) {
  return {
    name: `onnxruntime-web ${kind}`,
    peer: true,
    order: 'terms first',
    async prepare(input) {
      const session = await ort.InferenceSession.create(ortGraph(kind, input), {
        executionProviders: ['wasm'],
        graphOptimizationLevel: 'all',
      });
      const { n, d, heads } = input;
      const feeds = {
        x: new ort.Tensor('float32', input.x, [n, d]),
        p: new ort.Tensor('float32', input.p, [n, d]),
      };
      return {
        run: async () => {
          const outputs = await session.run(feeds);
          if (outputs.terms) return outputs.terms.data;
          return { parts: ['xx', 'xp', 'px', 'pp'].map((name) => outputs[name].data), each: heads * n * n };
        },
        release: () => session.release(),
      };
    },
  };
}

function tensorflow(tf, kind) {
  return {
    name: `tfjs-backend-wasm ${kind}`,
    peer: true,
    order: 'terms first',
    async prepare({ n, d, heads, x, p, wq, wk }) {
      const width = d / heads;
      const query = tf.tensor2d(
        transposed(wq, d).map((value) => value / Math.sqrt(width)),
        [d, d],
      );
      const key = tf.tensor2d(transposed(wk, d), [d, d]);
      const kept = [query, key];
      const split = (rows, count, columns) =>
        tf.transpose(tf.reshape(rows, [count, heads, width]), columns ? [1, 2, 0] : [1, 0, 2]);
      const one = () =>
        tf.tidy(() => {
          const [tx, tp] = [tf.tensor2d(x, [n, d]), tf.tensor2d(p, [n, d])];
          if (kind === 'unstacked') {
            const q = [tx, tp].map((rows) => split(tf.matMul(rows, query), n, false));
            const k = [tx, tp].map((rows) => split(tf.matMul(rows, key), n, true));
            return q.flatMap((a) => k.map((b) => tf.matMul(a, b)));
          }
          const both = tf.concat([tx, tp]);
          const q = split(tf.matMul(both, query), 2 * n, false);
          const k = split(tf.matMul(both, key), 2 * n, true);
          const blocks = tf.reshape(tf.matMul(q, k), [heads, 2, n, 2, n]);
          return [tf.transpose(blocks, [1, 3, 0, 2, 4])];
        });
      return {
        run: () => {
          const tensors = one();
          const parts = tensors.map((tensor) => tensor.dataSync());
          tf.dispose(tensors);
          return parts.length === 1 ? parts[0] : { parts, each: heads * n * n };
        },
        release: () => tf.dispose(kept),
      };
    },
  };
}

/** An engine's answer as one array, for checking; several outputs stay separate while the clock runs. */
export function inOne(answer) {
  if (!answer.parts) return answer;
  const whole = new Float32Array(answer.parts.length * answer.each);
  answer.parts.forEach((part, at) => {
    whole.set(part, at * answer.each);
  });
  return whole;
}

/** All engines of a runtime: `superpose` is a list of builds; `ort` and `tf` may be missing. */
export const fourTermEngines = ({ superpose, ort, tf }) => [
  ...superpose.map(ours),
  ...(ort ? ['unstacked', 'stacked', 'wide'].map((kind) => onnxruntime(ort, kind)) : []),
  ...(tf ? ['unstacked', 'stacked'].map((kind) => tensorflow(tf, kind)) : []),
  plainJs,
];
