// What the bench times besides the decomposition, for the library alone, each at several sizes, so that its
// growth with n and d can be fitted.
import { numbers } from './job.js';

export function otherJobs(superpose, load, quick) {
  const table = (rows, columns, seed) => ({ data: numbers(rows * columns, seed, 1), rows, columns });
  const job = (job, n, d, prepare) => ({ about: { job, n, d, heads: 12 }, prepare });
  const sixteen = (n, d) =>
    job('16 terms, with shares', n, d, async () => {
      const input = {
        summands: { token: table(n, d, 1), position: table(n, d, 2), token_type: table(n, d, 3) },
        normalization: {
          kind: 'layer_norm',
          gamma: numbers(d, 4, 1),
          beta: numbers(d, 5, 1),
          epsilon: 1e-12,
        },
        query: { weight: table(d, d, 6), bias: numbers(d, 7, 1) },
        key: { weight: table(d, d, 8), bias: numbers(d, 9, 1) },
        heads: 12,
      };
      return () => superpose.decompose(input);
    });
  const encoding = (n, d) =>
    job(
      'sinusoidal encoding',
      n,
      d,
      async () => () => superpose.sinusoidal({ positions: n, d_model: d, precision: 'float32' }),
    );
  const products = (n, d) =>
    job('dot products, added and concatenated', n, d, async () => {
      const input = { token: table(n, d, 1), position: table(n, d, 2) };
      return () => superpose.dotProducts(input);
    });
  const angles = (n, d) =>
    job('principal angles', n, d, async () => {
      const [first, second] = [table(n, d, 1), table(n, d, 2)];
      return () => superpose.principalAngles(first, second);
    });
  const collisions = (n, d) =>
    job('collisions, 64 words of a vocabulary of n, 16 positions', n, d, async () => {
      const search = superpose.collisionSearch({ tokens: table(n, d, 1), positions: table(16, d, 2) });
      return () => search.nearestTokens(0, 64);
    });
  const start = job('module load, warm', 0, 0, async () => () => load(superpose.simd));
  if (quick) return [sixteen(64, 192), encoding(128, 384), start];
  return [
    ...[
      [64, 384],
      [128, 384],
      [256, 384],
      [128, 192],
      [128, 768],
    ].flatMap(([n, d]) => [sixteen(n, d), encoding(n, d), products(n, d)]),
    ...[
      [16, 384],
      [32, 384],
      [64, 384],
      [32, 192],
      [32, 768],
    ].map(([n, d]) => angles(n, d)),
    ...[
      [7500, 384],
      [15000, 384],
      [30522, 384],
      [15000, 192],
    ].map(([n, d]) => collisions(n, d)),
    start,
  ];
}
