// Job: training steps of the small model that the page trains, with one layer of attention and no MLP, on
// batches that are made beforehand. An engine's answer is its losses over the first steps, from the same
// parameters. Each further run is one more step.
import { gapOf, libraryEngine, numbers, reference, table } from './numbers.js';

const steps = 40;

/** The learning rate of step s, from 1, as in the library's optimizer. */
const rateOf = (s) =>
  5e-3 * Math.min(1, s / 20) * (0.1 + 0.45 * (1 + Math.cos((Math.PI * Math.min(s, 200)) / 200)));
const weightDecay = 0.01;

/** Uniform numbers with this standard deviation. */
const spread = (rows, columns, seed, deviation) => table(rows, columns, seed, deviation * Math.sqrt(3));
const ones = (columns) => ({ data: new Float32Array(columns).fill(1), rows: 1, columns });

/** The parameters in the library's order, and batches of the task 'lookup'. */
function inputOf({ n, d, heads }) {
  const sequences = 32;
  const places = sequences * n;
  const digits = numbers(16 * places, 9, 0.5).map((value) => Math.floor((value + 0.5) * n) % n);
  const batches = Array.from({ length: 16 }, (_, at) => {
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
  return { n, d, heads, sequences, parameters, batches };
}

/** An engine over step(), which takes one step and returns the loss before it. */
function stepEngine(step, release) {
  const losses = Float64Array.from({ length: steps }, step);
  const run = () => {
    step();
    return losses;
  };
  return { run, release };
}

function trainerEngine(superpose, { n, d, heads, parameters, batches }) {
  const trainer = superpose.trainer({
    evaluation: batches[0],
    vocabulary: n,
    classes: n,
    d_model: d,
    heads,
  });
  trainer.setParameters(parameters);
  return stepEngine(
    () => trainer.step(batches[trainer.steps % batches.length])[0],
    () => trainer.delete(),
  );
}

/**
 * The model as one would write it with TensorFlow.js: autograd over products with one-hot rows, because the
 * backend has no kernel for the gradient of gather, and TensorFlow.js's Adam after decay and clipping.
 */
const byTensorFlow = (tf) => ({
  name: 'tfjs-backend-wasm, one-hot products',
  async prepare({ n, d, heads, sequences, batches, parameters }) {
    const places = sequences * n;
    const tensors = Object.values(parameters).map(({ data, rows, columns }) =>
      tf.tensor2d(data, [rows, columns]),
    );
    const [embedding, position, gain, qkv, output, lastGain, unembedding] = tensors;
    const weights = [embedding, position, ...tf.split(qkv, 3, 1), output, unembedding];
    const all = [...weights, gain, lastGain].map((weight) => tf.variable(weight));
    tf.dispose([...tensors, ...weights]);
    const [e, p, q, k, v, o, u, g1, gf] = all;
    const oneHot = (ids) => tf.tidy(() => tf.oneHot(ids, n).cast('float32'));
    const oneHotBatches = batches.map(({ tokens, targets }) => [oneHot(tokens), oneHot(targets)]);

    const norm = (x, gain) => {
      const centred = x.sub(x.mean(-1, true));
      return centred.mul(centred.square().mean(-1, true).add(1e-5).rsqrt()).mul(gain);
    };
    const byHead = (x) => x.reshape([sequences, n, heads, d / heads]).transpose([0, 2, 1, 3]);
    const lossOf = ([tokens, targets]) => {
      const x = tokens.matMul(e).reshape([sequences, n, d]).add(p).reshape([places, d]);
      const h = norm(x, g1);
      const scores = tf
        .matMul(byHead(h.matMul(q)), byHead(h.matMul(k)), false, true)
        .mul(1 / Math.sqrt(d / heads));
      const mixed = tf.matMul(tf.softmax(scores), byHead(h.matMul(v)));
      const out = x.add(mixed.transpose([0, 2, 1, 3]).reshape([places, d]).matMul(o));
      return tf.losses.softmaxCrossEntropy(targets, norm(out, gf).matMul(u));
    };

    const adam = tf.train.adam(rateOf(1), 0.9, 0.98, 1e-8);
    let stepCount = 0;
    const step = () =>
      tf.tidy(() => {
        const { value, grads } = tf.variableGrads(
          () => lossOf(oneHotBatches[stepCount % oneHotBatches.length]),
          all,
        );
        const squares = Object.values(grads).map((gradient) => gradient.square().sum());
        const clip = tf.minimum(1, tf.div(1, squares.reduce((sum, square) => sum.add(square)).sqrt()));
        stepCount++;
        adam.learningRate = rateOf(stepCount);
        for (const weight of all.slice(0, weights.length))
          weight.assign(weight.mul(1 - adam.learningRate * weightDecay));
        const clipped = Object.entries(grads).map(([name, gradient]) => [name, gradient.mul(clip)]);
        adam.applyGradients(Object.fromEntries(clipped));
        return value.dataSync()[0];
      });
    return stepEngine(step, () => {
      adam.dispose();
      tf.dispose([all, oneHotBatches]);
    });
  },
});

export const training = {
  name: 'One step of training',
  allowed: 1e-3,
  shapes: [{ n: 16, d: 32, heads: 2, calls: 10 }],
  small: [{ n: 8, d: 16, heads: 2 }],
  inputOf,
  enginesOf: ({ superpose, tf }) => [
    ...superpose.map((build) => libraryEngine(build, trainerEngine)),
    byTensorFlow(tf),
  ],
  referenceOf: (input, modules) => reference(modules, trainerEngine, input),
  /** The error of each loss relative to the exact one, because losses fall. */
  errorOf: (losses, exact) =>
    gapOf(
      losses.map((loss, at) => loss / exact[at]),
      exact.map(() => 1),
    ),
};
