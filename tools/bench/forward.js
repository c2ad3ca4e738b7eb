// A whole encoder of MiniLM's shape, layer by layer, on weights that stay: by the library, and by onnxruntime-web
// with a graph of its fused operators. The reference is the library in double, which tests compare with oracles.
import { exactly, ours } from './library.js';
import { gapOf, numbers, table, transposed } from './numbers.js';
import { onnxruntime } from './onnx.js';

/** Rows, and layers with the weights of all kinds. */
function inputOf({ n, d, heads, layers, inner }) {
  const linear = (out, into, seed) => ({
    weight: table(out, into, seed, Math.sqrt(3 / into)),
    bias: numbers(out, seed + 1, 0.1),
  });
  const norm = (seed) => ({
    kind: 'layer_norm',
    gamma: numbers(d, seed, 0.2).map((one) => 1 + one),
    beta: numbers(d, seed + 1, 0.2),
    epsilon: 1e-5,
  });
  const layerOf = (seed) => ({
    query: linear(d, d, seed),
    key: linear(d, d, seed + 10),
    value: linear(d, d, seed + 20),
    output: linear(d, d, seed + 30),
    attentionNorm: norm(seed + 40),
    gate: linear(inner, d, seed + 45),
    up: linear(inner, d, seed + 50),
    down: linear(d, inner, seed + 60),
    mlpNorm: norm(seed + 70),
  });
  return {
    heads,
    precision: 'float32',
    summands: { rows: table(n, d, 1) },
    layers: Array.from({ length: layers }, (_, layer) => layerOf(100 * (layer + 1))),
  };
}

/** MiniLM's layers and others: with norms before them, `share` query heads to a key head, a gate. */
const kinds = {
  'MiniLM’s': { norm: 'post', share: 1, gated: false },
  'pre-norm': { norm: 'pre', share: 1, gated: false },
  'grouped keys': { norm: 'pre', share: 3, gated: false },
  gated: { norm: 'pre', share: 1, gated: true },
};
const minilm = Object.keys(kinds)[0];

/** Multiplications and additions of all layers, in their products. */
export function operations({ n, d, layers, inner }, kind = minilm) {
  const { share, gated } = kinds[kind];
  return layers * 2 * n * (2 * d * d + (2 * d * d) / share + (gated ? 3 : 2) * d * inner + 2 * n * d);
}

/** With `way`, also splits what all heads of each layer write. */
function encoded(superpose, { heads, precision, summands, layers }, { way, kind = minilm } = {}) {
  const { norm, share, gated } = kinds[kind];
  const d = summands.rows.columns;
  const encoder = superpose.encoder({ d_model: d, heads, keyHeads: heads / share, norm, precision });
  const shared = ({ weight, bias }) => ({
    weight: { data: weight.data.subarray(0, (d * d) / share), rows: d / share, columns: d },
    bias: bias.subarray(0, d / share),
  });
  for (const { gate, key, value, ...layer } of layers)
    encoder.addLayer({ ...layer, key: shared(key), value: shared(value), ...(gated && { gate }) });
  return {
    run() {
      const run = encoder.forward(summands, { scores: way !== undefined });
      for (const layer of way ? layers.keys() : []) {
        const { residuals } = run.headOutputs({ layer, way, gauge: 'canonical', apart: [0] });
        if (!(Math.max(...residuals) < 1e-5)) throw new Error('The values do not add up.');
      }
      return run.state(layers.length).data;
    },
    release: () => encoder.delete(),
  };
}

const byOnnxruntime = (ort) =>
  onnxruntime(ort, '', ({ op, constant, matMul, reshape, transpose }, { heads, summands, layers }) => {
    const { rows: n, columns: d } = summands.rows;
    const width = d / heads;
    const linear = (from, { weight, bias }, factor = 1) => {
      const scaled = (values) => values.map((one) => factor * one);
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

const job = {
  small: [{ n: 5, d: 12, heads: 3, layers: 2, inner: 17 }],
  inputOf,
  errorOf: (found, exact) => gapOf(Array.isArray(found) ? found[0] : found, exact),
};

export const forward = {
  ...job,
  name: 'six layers',
  // Sums run over six layers in float.
  allowed: 2.5e-5,
  shapes: [16, 64, 128].map((n) => ({ n, d: 384, heads: 12, layers: 6, inner: 1536 })),
  enginesOf: ({ superpose, ort }) => [
    ...superpose.map((one) => ours(one, encoded)),
    ...['direct', 'streams'].flatMap((way) =>
      superpose.map((one) => ours(one, encoded, `, with values by ${way}`, { way })),
    ),
    ...(ort ? [byOnnxruntime(ort)] : []),
  ],
  referenceOf: (input, modules) => exactly(modules, encoded, input),
};

/** The rate of a forward by kind of layer. */
export const rates = {
  ...job,
  name: 'kinds of layer',
  // Without norms after them, residuals grow.
  allowed: 1e-4,
  shapes: [384, 768].map((d) => ({ n: 128, d, heads: 12, layers: 2, inner: 4 * d })),
  enginesOf: ({ superpose }) =>
    Object.keys(kinds).flatMap((kind) =>
      superpose.map((one) => ours(one, encoded, kind === minilm ? '' : `, ${kind}`, { kind })),
    ),
  referenceOf: (input, modules) =>
    Object.fromEntries(Object.keys(kinds).map((kind) => [kind, exactly(modules, encoded, input, { kind })])),
  errorOf: (found, exact, _, { kind }) => gapOf(found, exact[kind]),
};
