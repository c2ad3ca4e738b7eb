// A whole encoder of MiniLM's shape, layer by layer, on weights that stay: by the library, by onnxruntime-web
// with a graph of its fused operators, and by plain loops in double as the reference.
import { numbers } from './job.js';
import { floats, integers, model, node } from './onnx.js';

const epsilon = 1e-5;

const weightsOf = (rows, columns, seed) => numbers(rows * columns, seed, Math.sqrt(3 / columns));

/** Rows, and each layer's weights [out, in] and biases. */
export function forwardInput({ n, d, heads, layers, inner }) {
  const linear = (out, into, seed) => ({
    out,
    into,
    weight: weightsOf(out, into, seed),
    bias: numbers(out, seed + 1, 0.1),
  });
  const norm = (seed) => ({
    gamma: numbers(d, seed, 0.2).map((one) => 1 + one),
    beta: numbers(d, seed + 1, 0.2),
  });
  const all = Array.from({ length: layers }, (_, layer) => {
    const seed = 100 * (layer + 1);
    return {
      query: linear(d, d, seed),
      key: linear(d, d, seed + 10),
      value: linear(d, d, seed + 20),
      output: linear(d, d, seed + 30),
      attentionNorm: norm(seed + 40),
      gate: linear(inner, d, seed + 45),
      up: linear(inner, d, seed + 50),
      down: linear(d, inner, seed + 60),
      mlpNorm: norm(seed + 70),
    };
  });
  return { n, d, heads, inner, x: numbers(n * d, 1, 1), layers: all };
}

/** Layers beside MiniLM's: with norms before them, `share` query heads to a key head, a gate. */
const kinds = {
  'pre-norm': { pre: true },
  'grouped keys': { pre: true, share: 3 },
  gated: { pre: true, gated: true },
};

/** A layer of a kind, of the weights that all kinds have together. */
function layerOf({ gate, ...layer }, { share = 1, gated = false }) {
  const some = ({ out, into, weight, bias }) => {
    const rows = out / share;
    return { out: rows, into, weight: weight.subarray(0, rows * into), bias: bias.subarray(0, rows) };
  };
  return { ...layer, key: some(layer.key), value: some(layer.value), ...(gated && { gate }) };
}

/** Multiplications and additions of a layer, in its products. */
export function operations({ n, d, layers, inner }, name) {
  const { share = 1, gated = false } = kinds[name] ?? {};
  return layers * 2 * n * (2 * d * d + (2 * d * d) / share + (gated ? 3 : 2) * d * inner + 2 * n * d);
}

/** With `way`, also splits what all heads of each layer write; of a kind of layer, MiniLM's unless given. */
const ours = (superpose, way, name) => ({
  name: `superpose ${superpose.simd}${way ? `, with values by ${way}` : ''}${name ? `, ${name}` : ''}`,
  kind: name,
  async prepare({ n, d, heads, x, layers: whole }) {
    const kind = kinds[name] ?? {};
    const layers = whole.map((layer) => layerOf(layer, kind));
    const encoder = superpose.encoder({
      d_model: d,
      heads,
      keyHeads: heads / (kind.share ?? 1),
      norm: kind.pre ? 'pre' : 'post',
    });
    const linear = ({ out, into, weight, bias }) => ({
      weight: { data: weight, rows: out, columns: into },
      bias,
    });
    const norm = (one) => ({ kind: 'layer_norm', ...one, epsilon });
    for (const { attentionNorm, mlpNorm, ...rest } of layers) {
      const linears = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, linear(one)]));
      encoder.addLayer({ ...linears, attentionNorm: norm(attentionNorm), mlpNorm: norm(mlpNorm) });
    }
    const summands = { token: { data: x, rows: n, columns: d } };
    const split = (run) => {
      for (let layer = 0; layer < layers.length; layer++) {
        const { residuals } = run.headOutputs({ layer, way, gauge: 'canonical', apart: [0] });
        if (!(Math.max(...residuals) < 1e-5)) throw new Error('The values do not add up.');
      }
      return run;
    };
    return {
      run: () => {
        const run = encoder.forward(summands, { scores: way !== undefined });
        return (way ? split(run) : run).state(layers.length).data;
      },
      release: () => encoder.delete(),
    };
  },
});

function graphOf({ n, d, heads, layers }) {
  const width = d / heads;
  const nodes = [];
  const values = [integers('split', [n, heads, width]), integers('join', [n, d])];
  const across = ({ out, into, weight }) =>
    Float32Array.from(weight, (_, at) => weight[(at % out) * into + Math.floor(at / out)]);
  let last = 'x';
  layers.forEach((layer, number) => {
    const named = (name) => `${name}${number}`;
    const step = (type, inputs, name, attributes) => {
      nodes.push(node(type, inputs, named(name), attributes));
      return named(name);
    };
    const linear = (from, name, factor = 1) => {
      const { out, into, bias } = layer[name];
      const scaled = (all) => (factor === 1 ? all : all.map((one) => factor * one));
      values.push(floats(named(`${name}_w`), [into, out], scaled(across(layer[name]))));
      values.push(floats(named(`${name}_b`), [out], scaled(bias)));
      return step('Gemm', [from, named(`${name}_w`), named(`${name}_b`)], name);
    };
    const headsOf = (rows, name, perm) =>
      step('Transpose', [step('Reshape', [rows, 'split'], `${name}_split`)], `${name}_heads`, { perm });
    const norm = (from, name) => {
      values.push(
        floats(named(`${name}_g`), [d], layer[name].gamma),
        floats(named(`${name}_be`), [d], layer[name].beta),
      );
      return step('LayerNormalization', [from, named(`${name}_g`), named(`${name}_be`)], name);
    };
    const query = headsOf(linear(last, 'query', 1 / Math.sqrt(width)), 'query', [1, 0, 2]);
    const key = headsOf(linear(last, 'key'), 'key', [1, 2, 0]);
    const value = headsOf(linear(last, 'value'), 'value', [1, 0, 2]);
    const attention = step('Softmax', [step('MatMul', [query, key], 'scores')], 'attention');
    const mixed = step('Transpose', [step('MatMul', [attention, value], 'mixed')], 'mixed_rows', {
      perm: [1, 0, 2],
    });
    const written = linear(step('Reshape', [mixed, 'join'], 'context'), 'output');
    const middle = norm(step('Add', [last, written], 'after_attention'), 'attentionNorm');
    const wide = step('Gelu', [linear(middle, 'up')], 'wide');
    last = norm(step('Add', [middle, linear(wide, 'down')], 'after_mlp'), 'mlpNorm');
  });
  // Gelu is an operator from opset 20 on.
  return model(nodes, values, { x: [n, d] }, { [last]: [n, d] }, 20);
}

const onnxruntime = (ort) => ({
  name: 'onnxruntime-web',
  peer: true,
  async prepare(input) {
    const session = await ort.InferenceSession.create(graphOf(input), {
      executionProviders: ['wasm'],
      graphOptimizationLevel: 'all',
    });
    const feeds = { x: new ort.Tensor('float32', input.x, [input.n, input.d]) };
    return {
      run: async () => Object.values(await session.run(feeds))[0].data,
      release: () => session.release(),
    };
  },
});

/** erf by its series; above |x| = 5 it is ±1 to all digits. */
function erf(x) {
  const z = Math.abs(x);
  if (z > 5) return Math.sign(x);
  let term = (2 / Math.sqrt(Math.PI)) * z * Math.exp(-z * z);
  let total = term;
  for (let k = 1; term > 1e-18 * total; k++) {
    term *= (2 * z * z) / (2 * k + 1);
    total += term;
  }
  return Math.sign(x) * total;
}

function reference({ n, d, heads, x, layers }, kind = {}) {
  const linear = (rows, { out, into, weight, bias }) => {
    const result = new Float64Array(n * out);
    for (let i = 0; i < n; i++) {
      for (let o = 0; o < out; o++) {
        let sum = bias[o];
        for (let c = 0; c < into; c++) sum += rows[i * into + c] * weight[o * into + c];
        result[i * out + o] = sum;
      }
    }
    return result;
  };
  const norm = (rows, { gamma, beta }) =>
    rows.map((_, at) => {
      const row = rows.subarray(at - (at % d), at - (at % d) + d);
      const mean = row.reduce((sum, one) => sum + one, 0) / d;
      const variance = row.reduce((sum, one) => sum + (one - mean) ** 2, 0) / d;
      return ((rows[at] - mean) / Math.sqrt(variance + epsilon)) * gamma[at % d] + beta[at % d];
    });
  const width = d / heads;
  let state = Float64Array.from(x);
  const before = (rows, its) => (kind.pre ? norm(rows, its) : rows);
  const after = (rows, its) => (kind.pre ? rows : norm(rows, its));
  const gelu = (one) => 0.5 * one * (1 + erf(one * Math.SQRT1_2));
  for (const whole of layers) {
    const layer = layerOf(whole, kind);
    const read = before(state, layer.attentionNorm);
    const [q, k, v] = ['query', 'key', 'value'].map((name) => linear(read, layer[name]));
    const of = layer.key.out;
    const context = new Float64Array(n * d);
    for (let h = 0; h < heads; h++) {
      const from = Math.floor(h / (kind.share ?? 1)) * width;
      for (let i = 0; i < n; i++) {
        const weights = Float64Array.from({ length: n }, (_, j) => {
          let sum = 0;
          for (let c = 0; c < width; c++) sum += q[i * d + h * width + c] * k[j * of + from + c];
          return Math.exp(sum / Math.sqrt(width));
        });
        const total = weights.reduce((sum, one) => sum + one, 0);
        for (let j = 0; j < n; j++) {
          for (let c = 0; c < width; c++)
            context[i * d + h * width + c] += (weights[j] / total) * v[j * of + from + c];
        }
      }
    }
    const written = linear(context, layer.output);
    const middle = after(
      state.map((one, at) => one + written[at]),
      layer.attentionNorm,
    );
    const fed = before(middle, layer.mlpNorm);
    const wide = linear(fed, layer.up);
    const inner = layer.gate
      ? linear(fed, layer.gate).map((one, at) => gelu(one) * wide[at])
      : wide.map(gelu);
    const out = linear(inner, layer.down);
    state = after(
      middle.map((one, at) => one + out[at]),
      layer.mlpNorm,
    );
  }
  return state;
}

const furthest = (found, exact) =>
  found.length === exact.length
    ? found.reduce((most, one, at) => Math.max(most, Math.abs(one - exact[at])), 0)
    : Number.POSITIVE_INFINITY;

const minilm = { d: 384, heads: 12, layers: 6, inner: 1536 };

export const forward = {
  name: 'six layers',
  // States are about 1, and sums run over six layers in float.
  allowed: 1e-4,
  shapes: [16, 64, 128].map((n) => ({ n, ...minilm })),
  small: [{ n: 5, d: 12, heads: 3, layers: 2, inner: 17 }],
  inputOf: forwardInput,
  enginesOf: ({ superpose, ort }) => [
    ...[undefined, 'direct', 'streams'].flatMap((way) => superpose.map((one) => ours(one, way))),
    ...(ort ? [onnxruntime(ort)] : []),
  ],
  referenceOf: (input) => reference(input),
  errorOf: (_, found, exact) => furthest(found, exact),
};

/** The rate of a forward by kind of layer. */
export const rates = {
  name: 'kinds of layer',
  // Residuals of layers with norms before them grow to about 10.
  allowed: 1e-3,
  shapes: [384, 768].map((d) => ({ n: 128, d, heads: 12, layers: 2, inner: 4 * d })),
  small: [{ n: 5, d: 12, heads: 3, layers: 2, inner: 17 }],
  inputOf: forwardInput,
  enginesOf: ({ superpose }) =>
    [undefined, ...Object.keys(kinds)].flatMap((name) => superpose.map((one) => ours(one, undefined, name))),
  referenceOf: (input) =>
    Object.fromEntries(
      [undefined, ...Object.keys(kinds)].map((name) => [name, reference(input, kinds[name])]),
    ),
  errorOf: (_, found, exact, { kind }) => furthest(found, exact[kind]),
};
