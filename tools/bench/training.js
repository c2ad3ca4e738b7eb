// The bench's other contest: training steps of the small model that the page trains, one layer of attention
// and no MLP, on batches made beforehand. An engine's answer is its losses over the first steps, from the
// same parameters; each further run is one step more.
import { numbers } from './job.js';

const steps = 40;
const batchCount = 16;
const optimizer = {
  learningRate: 5e-3,
  weightDecay: 0.01,
  warmUp: 20,
  steps: 200,
  beta1: 0.9,
  beta2: 0.98,
  epsilon: 1e-8,
};

/** lr_s, s from 1. */
const rateOf = (s) =>
  optimizer.learningRate *
  Math.min(1, s / optimizer.warmUp) *
  (0.1 + 0.45 * (1 + Math.cos((Math.PI * Math.min(s, optimizer.steps)) / optimizer.steps)));

/** Uniform numbers with this standard deviation. */
const spread = (rows, columns, seed, deviation) => ({
  data: numbers(rows * columns, seed, deviation * Math.sqrt(3)),
  rows,
  columns,
});
const ones = (columns) => ({ data: new Float32Array(columns).fill(1), rows: 1, columns });

/** The parameters in the library's order, and whole batches of lookups. */
function inputOf({ n, d, heads }) {
  const sequences = 32;
  const places = sequences * n;
  const digits = numbers(batchCount * places, 9, 0.5).map((value) => Math.floor((value + 0.5) * n) % n);
  const batches = Array.from({ length: batchCount }, (_, at) => {
    const tokens = Int32Array.from(digits.subarray(at * places, (at + 1) * places));
    const targets = tokens.map((token, place) => tokens[place - (place % n) + token]);
    return { n, tokens, targets };
  });
  const parameters = {
    E: spread(n, d, 1, 0.1),
    P: spread(n, d, 2, 0.1),
    'layers.0.g1': ones(d),
    'layers.0.W_qkv': spread(d, 3 * d, 3, 1 / Math.sqrt(d)),
    'layers.0.W_o': spread(d, d, 4, 1 / Math.sqrt(2 * d)),
    gf: ones(d),
    W_u: spread(d, n, 5, 0.02),
  };
  return { n, d, heads, sequences, batches, parameters, steps };
}

/** For an engine that takes steps: one step, and the loss before it. */
function counted(step, release) {
  const losses = Float64Array.from({ length: steps }, step);
  const run = () => {
    step();
    return losses;
  };
  return { run, release };
}

const trainerOf = (superpose, { n, d, heads, batches, parameters }, precision) => {
  const trainer = superpose.trainer({
    batches: (step) => batches[step % batches.length],
    evaluation: batches[0],
    vocabulary: n,
    classes: n,
    d_model: d,
    heads,
    ...optimizer,
    precision,
  });
  trainer.setParameters(parameters);
  return trainer;
};

const ours = (superpose) => ({
  name: `superpose ${superpose.simd}`,
  prepare: async (input) => {
    const trainer = trainerOf(superpose, input, 'float32');
    return counted(
      () => trainer.step()[0],
      () => trainer.delete(),
    );
  },
});

/**
 * As one would write it with TensorFlow.js: autograd over products with one-hot rows, since the backend has
 * no kernel for the gradient of gather; and AdamW from its operations, because its own Adam has neither decay
 * nor clipping.
 */
const byTensorFlow = (tf) => ({
  name: 'tfjs-backend-wasm, one-hot products',
  peer: true,
  async prepare({ n, d, heads, sequences, batches, parameters }) {
    const width = d / heads;
    const places = sequences * n;
    const variable = ({ data, rows, columns }) => tf.variable(tf.tensor2d(data, [rows, columns]));
    const { E, P, gf, W_u, ...layer } = parameters;
    const w_qkv = layer['layers.0.W_qkv'];
    const part = (at) => {
      const data = Float32Array.from(
        { length: d * d },
        (_, k) => w_qkv.data[Math.floor(k / d) * 3 * d + at * d + (k % d)],
      );
      return variable({ data, rows: d, columns: d });
    };
    const theta = {
      e: variable(E),
      p: variable(P),
      g1: variable(layer['layers.0.g1']),
      q: part(0),
      k: part(1),
      v: part(2),
      o: variable(layer['layers.0.W_o']),
      gf: variable(gf),
      u: variable(W_u),
    };
    const all = Object.values(theta);
    const gains = [theta.g1, theta.gf];
    const zeros = () => all.map((one) => tf.variable(tf.zerosLike(one)));
    const [firsts, seconds] = [zeros(), zeros()];
    const oneHot = (ids) => {
      const data = new Float32Array(ids.length * n);
      ids.forEach((id, row) => {
        data[row * n + id] = 1;
      });
      return tf.tensor2d(data, [ids.length, n]);
    };
    const made = batches.map(({ tokens, targets }) => ({ x: oneHot(tokens), y: oneHot(targets) }));

    const norm = (x, gain) => {
      const centred = x.sub(x.mean(-1, true));
      return centred.mul(centred.square().mean(-1, true).add(1e-5).rsqrt()).mul(gain);
    };
    const byHead = (x) => x.reshape([sequences, n, heads, width]).transpose([0, 2, 1, 3]);
    const lossOf = ({ x: hot, y }) => {
      const { e, p, g1, q, k, v, o, gf: g, u } = theta;
      const x = hot.matMul(e).reshape([sequences, n, d]).add(p).reshape([places, d]);
      const h = norm(x, g1);
      const scores = tf
        .matMul(byHead(h.matMul(q)), byHead(h.matMul(k)), false, true)
        .mul(1 / Math.sqrt(width));
      const mixed = tf.matMul(tf.softmax(scores), byHead(h.matMul(v)));
      const out = x.add(mixed.transpose([0, 2, 1, 3]).reshape([places, d]).matMul(o));
      return tf.losses.softmaxCrossEntropy(y, norm(out, g).matMul(u));
    };

    let done = 0;
    const step = () =>
      tf.tidy(() => {
        const { value, grads } = tf.variableGrads(() => lossOf(made[done % made.length]), all);
        const gradients = all.map((one) => grads[one.name]);
        const squares = gradients.map((g) => g.square().sum());
        const clip = tf.minimum(1, tf.div(1, squares.reduce((sum, one) => sum.add(one)).sqrt()));
        done++;
        const rate = rateOf(done);
        const { beta1, beta2, epsilon, weightDecay } = optimizer;
        all.forEach((one, at) => {
          const g = gradients[at].mul(clip);
          const first = firsts[at].mul(beta1).add(g.mul(1 - beta1));
          const second = seconds[at].mul(beta2).add(g.square().mul(1 - beta2));
          firsts[at].assign(first);
          seconds[at].assign(second);
          const root = second
            .mul(1 / (1 - beta2 ** done))
            .sqrt()
            .add(epsilon);
          const keep = gains.includes(one) ? 1 : 1 - rate * weightDecay;
          one.assign(one.mul(keep).sub(first.mul(rate / (1 - beta1 ** done)).div(root)));
        });
        return value.dataSync()[0];
      });
    return counted(step, () => {
      for (const one of [...all, ...firsts, ...seconds]) one.dispose();
      for (const { x, y } of made) tf.dispose([x, y]);
    });
  },
});

/** The model written directly with Eigen's products (straight.cpp), in an instance of its module. */
const straight = (instantiate) => ({
  name: 'straight Eigen',
  peer: true,
  async prepare({ n, d, heads, sequences, batches, parameters }) {
    const { exports } = await instantiate();
    const all = Object.values(parameters);
    const count = all.reduce((sum, { data }) => sum + data.length, 0);
    const at = exports.begin(n, d, heads, sequences, batches.length);
    const numbersThere = new Float32Array(exports.memory.buffer, at, count);
    all.reduce((place, { data }) => {
      numbersThere.set(data, place);
      return place + data.length;
    }, 0);
    const places = sequences * n;
    const ids = new Int32Array(exports.memory.buffer, exports.ids(), 2 * batches.length * places);
    batches.forEach(({ tokens, targets }, batch) => {
      ids.set(tokens, 2 * batch * places);
      ids.set(targets, (2 * batch + 1) * places);
    });
    return counted(() => exports.step());
  },
});

export const training = {
  name: 'training',
  allowed: 1e-3,
  // Milliseconds of consecutive steps: of many short stretches, other programs leave some undisturbed.
  stretch: 3,
  shapes: [{ n: 16, d: 32, heads: 2 }],
  small: [{ n: 8, d: 16, heads: 2 }],
  inputOf,
  enginesOf: ({ superpose, tf, straight: module }) => [
    ...superpose.map(ours),
    ...(tf ? [byTensorFlow(tf)] : []),
    ...(module ? [straight(module)] : []),
  ],
  /** The reference is the library in double, which tests compare with tests/reference/training.py. */
  referenceOf(input, { superpose }) {
    const trainer = trainerOf(superpose[0], input, 'float64');
    const losses = trainer.step(steps);
    trainer.delete();
    return losses;
  },
  errorOf: (_, found, exact) =>
    found.reduce(
      (most, loss, at) => {
        const gap = Math.abs(loss / exact[at] - 1);
        return gap > most || Number.isNaN(gap) ? gap : most;
      },
      found.length === exact.length ? 0 : Number.POSITIVE_INFINITY,
    ),
};

/** The input of native code: sizes, parameters and batches, as bytes one after another. */
export function bytesOf({ batches, parameters }) {
  const arrays = [
    ...Object.values(parameters).map(({ data }) => data),
    ...batches.flatMap(({ tokens, targets }) => [tokens, targets]),
  ];
  return arrays.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength));
}
