// What each call counts before it allocates: copies of what is given, working memory and results, to the byte. With so
// much left a call is made, and with one byte less it is refused, in a sentence that tells what to delete.
import type { SchemeInput } from 'superpose';
import { describe, expect, test } from 'vitest';
import { fits, hold, maxBytes } from '../../build/package/check.js';
import { plain } from './support/builds.ts';

const drawn = (rows: number, columns: number) => plain.randomNormal({ rows, columns, seed: 7 });
const linear = (rows: number, columns: number) => ({ weight: drawn(rows, columns) });

/** The bytes that are left beside what other tests may still hold. */
function left(): number {
  let [taken, refused] = [0, maxBytes + 1];
  while (refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2);
    try {
      fits('It', middle);
      taken = middle;
    } catch {
      refused = middle;
    }
  }
  return taken;
}

type Call = () => unknown;

function needs(call: Call, bytes: number, what: string) {
  const free = left();
  const release = hold(free - bytes);
  try {
    expect(call).not.toThrow();
  } finally {
    release();
  }
  const more = hold(free - bytes + 1);
  try {
    expect(call).toThrow(
      `${what} would take 1 MB; of the 1,024 MB that fit, layers and searches hold 1,024 MB. Call delete() on those that are not needed.`,
    );
  } finally {
    more();
  }
  expect(left()).toBe(free);
}

const [three, five, token] = [drawn(3, 4), drawn(5, 3), drawn(3, 5)];
const square = drawn(3, 3);
const shared = { query: linear(6, 4), key: linear(6, 4), heads: 2, only: [1] };

const calls: [name: string, bytes: number, what: string, call: Call][] = [
  ['channelRanges', 128, 'A table of 3 by 4', () => plain.channelRanges(three)],
  ['ranks', 576, 'The singular values of 3 by 4', () => plain.ranks({ table: three })],
  [
    'bertEmbeddings',
    1600,
    'The embeddings of 3 tokens',
    () => plain.bertEmbeddings({ token: three, position: drawn(5, 4), token_type: drawn(2, 4) }),
  ],
  [
    'vitEmbeddings',
    768,
    'The embeddings of 3 patches',
    () => plain.vitEmbeddings({ patches: three, classToken: new Float64Array(4), position: drawn(4, 4) }),
  ],
  ['toeplitzSpread', 72, 'A matrix of 3 by 3', () => plain.toeplitzSpread(square)],
  ['gram', 240, 'The Gram matrix of 3 rows', () => plain.gram(three)],
  [
    'gramSpreads',
    1208,
    'The Gram matrices of 3 positions of 4 channels',
    () => plain.gramSpreads({ positions: 3, d_model: 4, seed: 1 }),
  ],
  ['rotate', 384, '3 rows by 4 columns, turned', () => plain.rotate({ rows: three })],
  ['shiftOperator', 256, 'A shift operator of 4 by 4', () => plain.shiftOperator({ d_model: 4, offset: 1 })],
  [
    'shiftError',
    512,
    'Shifting 3 positions of 4 channels',
    () => plain.shiftError({ positions: 3, d_model: 4, offset: 1 }),
  ],
  [
    'closestAcrossPositions',
    552,
    'The products of 3 tokens and 2 positions',
    () => plain.closestAcrossPositions(token, drawn(2, 5), 1),
  ],
  [
    'sampleCosines',
    240,
    '3 pairs of vectors of 4 dimensions',
    () => plain.sampleCosines({ d: 4, count: 3, seed: 1 }),
  ],
  ['rowLengths', 144, 'A table of 3 by 4', () => plain.rowLengths(three)],
  ['rowCosines', 296, 'The products of 3 and 2 rows', () => plain.rowCosines(three, drawn(2, 4))],
  [
    'meanDecomposition',
    960,
    'The means of 2 positions and 4 tokens',
    () =>
      plain.meanDecomposition({
        rows: three,
        positionOf: [0, 1, 0],
        positions: 2,
        tokenOf: [0, 3, 1],
        tokens: 4,
      }),
  ],
  [
    'obliqueProjection',
    3456,
    'A projector of 7 by 7',
    () => plain.obliqueProjection({ u: drawn(7, 2), w: drawn(7, 3), noise: drawn(3, 7) }),
  ],
  ['positionProbe', 2112, 'Regression on 5 by 3', () => plain.positionProbe({ rows: five })],
  ['orderProbe', 5856, 'Classification of 6 pairs', () => plain.orderProbe({ rows: three, pairs: 6 })],
  [
    'tokenProbe',
    5232,
    'Regression on 10 pairs, tested on 6',
    () => plain.tokenProbe({ token: drawn(7, 3), position: five, trainingPairs: 10, testPairs: 6 }),
  ],
  [
    'energyOverlap',
    1296,
    'The overlap of 5 and 4 rows of 3 columns',
    () => plain.energyOverlap({ tokens: five, positions: drawn(4, 3) }),
  ],
  [
    'principalAngles',
    944,
    'The angles between 3 and 2 rows of 4 columns',
    () => plain.principalAngles({ first: three, second: drawn(2, 4) }),
  ],
  [
    'randomPrincipalAngles',
    1248,
    'Subspaces of 3 and 2 of 5 dimensions',
    () => plain.randomPrincipalAngles({ d: 5, k1: 3, k2: 2, seed: 1 }),
  ],
  ['angleCosines', 72, '3 numbers', () => plain.angleCosines(new Float64Array(3))],
  ['summary', 72, '3 numbers', () => plain.summary(new Float64Array(3))],
  ['numericalRank', 384, 'The singular values of 3 by 4', () => plain.numericalRank(three)],
  [
    'permutationEffect',
    2168,
    '1 layers of attention over 3 tokens',
    () => {
      const layer = { ...shared, value: linear(2, 4), output: linear(4, 2) };
      return plain.permutationEffect({ input: three, layers: [layer], causal: true, permutation: [2, 0, 1] });
    },
  ],
  [
    'permutationEffect, the values wider than the queries',
    3704,
    '1 layers of attention over 3 tokens',
    () => {
      const layer = { ...shared, value: linear(10, 4), output: linear(4, 10) };
      return plain.permutationEffect({ input: three, layers: [layer], causal: true, permutation: [2, 0, 1] });
    },
  ],
  [
    'dotProducts',
    1512,
    'The dot products of 3 tokens',
    () => plain.dotProducts({ token: three, position: token }),
  ],
  [
    'concatenateBlockDiagonal',
    6160,
    '1 heads of 4 terms for 3 tokens',
    () => {
      const [tokenQuery, positionQuery] = [drawn(6, 4), drawn(2, 5)];
      const projections = { tokenQuery, tokenKey: tokenQuery, positionQuery, positionKey: positionQuery };
      return plain.concatenateBlockDiagonal({
        token: three,
        position: token,
        ...projections,
        heads: 2,
        only: [1],
      });
    },
  ],
  [
    'taskExamples',
    192,
    '3 sequences of 4 tokens',
    () => plain.taskExamples({ task: 'back', n: 4, symbols: 3, sequences: 3 }),
  ],
  [
    'taskTargets',
    64,
    'The targets of 4 tokens',
    () => plain.taskTargets({ task: 'back', n: 4, symbols: 3, tokens: [0, 1, 2, 0] }),
  ],
];

test.each(calls)('%s needs %i bytes', (_, bytes, what, call) => {
  needs(call, bytes, what);
});

test('shares of three times two heads are pooled in 1440 bytes', () => {
  const [biased, { key, heads }] = [{ ...linear(6, 4), bias: new Float64Array(6) }, shared];
  const scores = plain.decompose({ summands: { token: three, position: three }, query: biased, key, heads });
  expect(scores.parts).toHaveLength(3);
  const groupOf = Array(9).fill(0);
  needs(() => plain.poolShares([scores, scores, scores], groupOf), 1440, '6 heads of 9 terms');
});

const weights = { d_head: 3, heads: 2, only: [1], content: three };
const bucketed = { buckets: 8, maxDistance: 9 } as const;
const schemes: [options: SchemeInput, terms: number, bytes: number][] = [
  [{ ...weights, scheme: 'none' }, 1, 4224],
  [{ ...weights, scheme: 'added' }, 4, 13_152],
  [{ ...weights, scheme: 'concatenated-raw', d_position: 5 }, 2, 26_592],
  [{ ...weights, scheme: 'concatenated-full', d_position: 5 }, 4, 16_416],
  [{ ...weights, scheme: 'concatenated-block-diagonal', d_position: 5, d_position_head: 3 }, 2, 22_752],
  [{ ...weights, scheme: 'shaw', clip: 2 }, 2, 6432],
  [{ ...weights, scheme: 'transformer-xl' }, 4, 11_968],
  [{ ...weights, scheme: 'transformer-xl', offsets: drawn(5, 5) }, 4, 12_320],
  [{ ...weights, scheme: 't5', ...bucketed }, 2, 5024],
  [{ ...weights, scheme: 'alibi' }, 2, 4512],
  [{ ...weights, scheme: 'deberta', clip: 2 }, 3, 10_304],
  [{ ...weights, scheme: 'tupe-a', ...bucketed }, 2, 9248],
  [{ ...weights, scheme: 'tupe-r', ...bucketed }, 3, 10_112],
  [{ ...weights, scheme: 'diet-abs', d_position: 2 }, 2, 5280],
  [{ ...weights, scheme: 'diet-rel', clip: 2 }, 2, 4832],
  [{ ...weights, scheme: 'diet-rel', clip: 2, segmentBias: drawn(4, 2), segmentIds: [0, 1, 0] }, 3, 5120],
  [{ ...weights, scheme: 'rope', d_head: 4 }, 1, 5216],
  [{ ...weights, scheme: 'decoupled-rope', d_rotary: 2 }, 2, 9696],
];

test.each(schemes.map(([options, ...of]) => [options.scheme, of, options] as const))(
  'the scores of %s, of %j terms and bytes',
  (_, [terms, bytes], options) => {
    needs(() => plain.schemeScores(options), bytes, `1 heads of ${terms} terms for 3 tokens`);
  },
);

describe('what is held', () => {
  const layerOf = () =>
    plain.decompositionLayer({ summands: ['token', 'position'], ...shared, query: shared.query });
  const summands = { token: three, position: three };

  test('a layer holds three times its weights, and needs twice that to be made', () => {
    needs(() => layerOf().delete(), 1152, 'W_Q and W_K');
    const free = left();
    const layer = layerOf();
    expect(free - left()).toBe(3 * 2 * 6 * 4 * 8);
    needs(() => layer.terms(summands, { only: [1] }), 5568, '1 heads of 9 terms for 3 tokens');
    needs(() => layer.terms(summands), 6432, '2 heads of 9 terms for 3 tokens');
    layer.delete();
    expect(left()).toBe(free);
  });

  test('a search holds what it needs', () => {
    const single = (rows: number) =>
      plain.randomNormal({ rows, columns: 5, seed: 1, precision: 'float32' as const });
    const input = { tokens: single(3), positions: single(2) };
    const make = () => plain.collisionSearch(input);
    needs(() => make().delete(), 248, 'A vocabulary of 3 tokens with 2 positions');
    const free = left();
    const search = make();
    expect(free - left()).toBe(248);
    needs(() => search.nearestTokens(1, 2), 120, '2 words against 3 tokens');
    search.delete();
    expect(left()).toBe(free);
  });

  test('a trainer holds its parameters, their gradients and the work of a step', () => {
    const evaluation = { n: 4, tokens: [0, 1, 2, 6], targets: [0, 1, 2, -1] };
    const sizes = { evaluation, vocabulary: 7, classes: 3, positions: 5, d_model: 4, heads: 2 } as const;
    const make = (options: object) => plain.trainer({ ...sizes, batches: () => evaluation, ...options });
    const deep = { layers: 3, mlp: true, precision: 'float64' } as const;
    needs(() => make(deep).delete(), 223_560, 'A model of 4 channels, 3 layers and 5 positions');
    needs(() => make({ layers: 3 }).delete(), 73_524, 'A model of 4 channels, 3 layers and 5 positions');
    const wide = { scheme: 'wide_concat' };
    needs(() => make(wide).delete(), 85_940, 'A model of 8 channels, 1 layers and 5 positions');
    const free = left();
    const trainer = make(wide);
    expect(free - left()).toBe(85_940);
    const batch = { n: 3, tokens: [0, 1, 2], targets: [0, 1, 2] };
    needs(() => trainer.evaluate(batch), 48, '3 tokens');
    needs(() => trainer.step(), 64, '4 tokens');
    needs(() => trainer.logits(batch), 192, 'Logits of 3 tokens');
    needs(() => trainer.attention(batch), 336, 'Attention of 3 tokens');
    needs(() => trainer.coordinates(drawn(2, 8)), 912, 'Coordinates along 2 directions');
    trainer.delete();
    expect(left()).toBe(free);
  });

  test('a call that makes a layer or a trainer for itself lets it go', async () => {
    const free = left();
    plain.decomposeTerms({ summands, ...shared });
    expect(left()).toBe(free);
    const options = { task: 'prev', n: 2, symbols: 2, d_model: 2, heads: 1 } as const;
    for await (const _ of plain.train({ ...options, sequences: 1, evaluationSequences: 1, steps: 2 })) {
      expect(left()).toBeLessThan(free);
    }
    expect(left()).toBe(free);
    for await (const _ of plain.train(options)) break;
    expect(left()).toBe(free);
  });
});
