// Job: a forward pass through a stack of MiniLM's shape with resident weights, by the library and by
// onnxruntime-web, whose graph has its fused operators. The reference is the library, which tests compare
// with oracles in double.
import { gapOf, libraryEngine, numbers, reference, table, transposed } from './numbers.js';
import { onnxruntime } from './onnx.js';

/** The rows of the input, and layers with all kinds of weights. */
function inputOf({ n, d, heads, layers, inner }) {
  const linear = (out, into, seed) => ({
    weight: table(out, into, seed, Math.sqrt(3 / into)),
    bias: numbers(out, seed + 1, 0.1),
  });
  const norm = (seed) => ({
    kind: 'layer_norm',
    gamma: numbers(d, seed, 0.2).map((value) => 1 + value),
    beta: numbers(d, seed + 1, 0.2),
    epsilon: 1e-5,
  });
  const layerOf = (seed) => ({
    query: linear(d, d, seed),
    key: linear(d, d, seed + 10),
    value: linear(d, d, seed + 20),
    output: linear(d, d, seed + 30),
    attentionNorm: norm(seed + 40),
    up: linear(inner, d, seed + 50),
    down: linear(d, inner, seed + 60),
    mlpNorm: norm(seed + 70),
  });
  return {
    heads,
    summands: { rows: table(n, d, 1) },
    layers: Array.from({ length: layers }, (_, layer) => layerOf(100 * (layer + 1))),
  };
}

async function stackEngine(superpose, { heads, summands, layers }) {
  const stack = superpose.transformerStack({ d_model: summands.rows.columns, heads, norm: 'post' });
  for (const layer of layers) await stack.addLayer(layer);
  return {
    run: async () => (await stack.forward(summands, { scores: false })).state(layers.length).data,
    release: () => stack.delete(),
  };
}

const byOnnxruntime = (ort) =>
  onnxruntime(ort, '', ({ op, constant, matMul, reshape, transpose }, { heads, summands, layers }) => {
    const { rows: n, columns: d } = summands.rows;
    const width = d / heads;
    const linear = (from, { weight, bias }, factor = 1) => {
      const scaled = (values) => values.map((value) => factor * value);
      const across = constant(scaled(transposed(weight)), [weight.columns, weight.rows]);
      return op('Gemm', [from, across, constant(scaled(bias))]);
    };
    const norm = (from, { gamma, beta }) => op('LayerNormalization', [from, constant(gamma), constant(beta)]);
    const headsOf = (rows, perm) => transpose(reshape(rows, [n, heads, width]), perm);
    const output = layers.reduce((state, layer) => {
      const query = headsOf(linear(state, layer.query, 1 / Math.sqrt(width)), [1, 0, 2]);
      const key = headsOf(linear(state, layer.key), [1, 2, 0]);
      const value = headsOf(linear(state, layer.value), [1, 0, 2]);
      const mixed = matMul(op('Softmax', [matMul(query, key)]), value);
      const written = linear(reshape(transpose(mixed, [1, 0, 2]), [n, d]), layer.output);
      const middle = norm(op('Add', [state, written]), layer.attentionNorm);
      const wide = op('Gelu', [linear(middle, layer.up)]);
      return norm(op('Add', [middle, linear(wide, layer.down)]), layer.mlpNorm);
    }, 'rows');
    return [output];
  });

export const forward = {
  name: 'Six layers of MiniLM’s shape',
  // Rounding accumulates in float over six layers.
  allowed: 2.5e-5,
  shapes: [16, 64, 128].map((n) => ({ n, d: 384, heads: 12, layers: 6, inner: 1536 })),
  small: [{ n: 5, d: 12, heads: 3, layers: 2, inner: 17 }],
  inputOf,
  enginesOf: ({ superpose, ort }) => [
    ...superpose.map((build) => libraryEngine(build, stackEngine)),
    byOnnxruntime(ort),
  ],
  referenceOf: (input, modules) => reference(modules, stackEngine, input),
  errorOf: (answer, exact) => gapOf(Array.isArray(answer) ? answer[0] : answer, exact),
};
