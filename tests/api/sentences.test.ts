// Refusals of single functions, word for word: which argument, what it must be, what it is. Wrong arguments of every kind
// are in wrongArguments.test.ts.
import { type Scores, schemeTermOf, type Table, termOf } from 'superpose';
import { describe, expect, test } from 'vitest';
import { plain } from './support/builds.ts';

// biome-ignore lint/suspicious/noExplicitAny: wrong arguments are what this file is about.
type Anything = any;

const drawn = (rows: number, columns: number) => plain.randomNormal({ rows, columns, seed: 3 });
const single = (rows: number, columns: number) =>
  plain.randomNormal({ rows, columns, seed: 3, precision: 'float32' as const });
const none = (columns: number): Table => ({ data: new Float64Array(), rows: 0, columns });
const linear = (rows: number, columns: number) => ({ weight: drawn(rows, columns) });

const three = drawn(3, 4);
const right = { token: three, position: three };
const weights = { query: linear(4, 4), key: linear(4, 4), heads: 2 };
const layer = { ...weights, value: linear(4, 4), output: linear(4, 4) };
const attention = (change: object) => () =>
  plain.permutationEffect({
    input: three,
    layers: [{ ...layer, ...change }],
    causal: false,
    permutation: [2, 0, 1],
  });
const scores = plain.decompose({ summands: right, ...weights, apart: [2] });
const blocks = {
  ...{ tokenQuery: drawn(4, 4), tokenKey: drawn(4, 4), heads: 2 },
  ...{ positionQuery: drawn(2, 5), positionKey: drawn(2, 5) },
};
const mixture = (name: string, other: string) =>
  new TypeError(`${name} is a Float32Array where ${other} is a Float64Array; use one of them throughout.`);

const refused: [call: () => unknown, error: Error][] = [
  [
    () => plain.maeSinusoidal({ grid: 2, d_model: 6 }),
    new RangeError('d_model must be a multiple of 4, a sine and a cosine for each axis; it is 6.'),
  ],
  [
    () => plain.tensor2tensorSinusoidal({ extents: Array(9).fill(1), d_model: 32 }),
    new RangeError('extents must name 1 to 8 dimensions; it names 9.'),
  ],
  [
    () => plain.bertEmbeddings({ token: three, position: drawn(3, 5) }),
    new RangeError('position must have 4 columns; it has 5.'),
  ],
  [
    () => plain.bertEmbeddings({ token: three, position: single(3, 4) as Anything }),
    mixture('position.data', 'token.data'),
  ],
  [
    () => plain.bertEmbeddings({ ...right, token_type: single(2, 4) as Anything }),
    mixture('token_type.data', 'token.data'),
  ],
  [
    () =>
      plain.vitEmbeddings({
        patches: three,
        classToken: new Float32Array(4) as Anything,
        position: drawn(4, 4),
      }),
    mixture('classToken', 'patches.data'),
  ],
  [
    () =>
      plain.vitEmbeddings({
        patches: three,
        classToken: new Float64Array(4),
        position: single(4, 4) as Anything,
      }),
    mixture('position.data', 'patches.data'),
  ],
  [() => plain.offsetMeans(three), new RangeError('square must have 3 columns; it has 4.')],
  [() => plain.t5Buckets({ n: -1 }), new RangeError('n must be a whole number from 0 to 4194304; it is -1.')],
  [
    () => plain.rotate({ rows: drawn(3, 6), heads: 2 }),
    new RangeError('The width of a head must be even, for pairs of channels; it is 3.'),
  ],
  [
    () => plain.rotate({ rows: three, heads: 3 }),
    new RangeError('heads must divide the 4 columns of rows; 3 does not.'),
  ],
  [
    () => plain.collisionSearch({ tokens: single(3, 4), positions: single(2, 5) }),
    new RangeError('positions must have 4 columns; it has 5.'),
  ],
  [
    () => plain.collisionSearch({ tokens: single(3, 4), positions: single(2, 4), positionScale: 1e39 }),
    new RangeError('positionScale must be at most 3.4e38 in float32; it is 1e+39. Use float64 for more.'),
  ],
  [
    () => plain.closestAcrossPositions(three, drawn(2, 5), 1),
    new RangeError('positions must have 4 columns; it has 5.'),
  ],
  [
    // 400 · 399 tokens in order, and as many positions, halved.
    () => plain.closestAcrossPositions(drawn(400, 1), drawn(400, 1), 0),
    new RangeError(
      '400 tokens at 400 positions are 12736080000 pairs; at most 10000000000 are compared. Give fewer tokens.',
    ),
  ],
  [
    () =>
      plain.meanDecomposition({
        ...{ rows: three, positionOf: [0, 1, 0], positions: 2 },
        ...{ tokenOf: [0, 2, 1], tokens: 2 },
      }),
    new RangeError('an entry of tokenOf must be a whole number from 0 to 1; it is 2.'),
  ],
  [
    () => plain.obliqueProjection({ u: none(1), w: none(1) }),
    new RangeError('u must have at least 1 row; it has 0.'),
  ],
  [
    () => plain.obliqueProjection({ u: drawn(3, 1), w: drawn(3, 1), tolerance: 1 }),
    new RangeError('tolerance must be below 1; it is 1.'),
  ],
  [
    () => plain.tokenProbe({ token: three, position: drawn(3, 5) }),
    new RangeError('position must have 4 columns; it has 5.'),
  ],
  [
    () =>
      plain.concatenateBlockDiagonal({
        token: three,
        position: drawn(3, 5),
        ...blocks,
        positionQuery: drawn(2, 4),
      }),
    new RangeError('positionQuery must have 5 columns; it has 4.'),
  ],
  [
    () => plain.decompose({ summands: right, ...weights, gauge: 5 as Anything }),
    new TypeError("gauge must be 'raw', 'canonical' or an object with means; it is 5."),
  ],
  [
    () => plain.decompose({ summands: right, ...weights, gauge: 'mean' as Anything }),
    new RangeError("gauge must be 'raw', 'canonical' or an object with means; it is \"mean\"."),
  ],
  [
    () => plain.decompositionLayer({ summands: 'token' as Anything, ...weights }),
    new TypeError('summands must be a list of names; it is "token".'),
  ],
  [
    () =>
      plain.permutationEffect({ input: three, layers: 5 as Anything, causal: false, permutation: [0, 1, 2] }),
    new TypeError('layers must be an array of attention layers; it is 5.'),
  ],
  [
    () => plain.permutationEffect({ input: three, layers: [layer], causal: false, permutation: [0, 0, 1] }),
    new RangeError('permutation must name each once; 0 is there twice.'),
  ],
  [
    attention({ query: linear(4, 5) }),
    new RangeError('layers[0].query.weight must have 4 columns; it has 5.'),
  ],
  [attention({ key: linear(6, 4) }), new RangeError('layers[0].key.weight must have 4 rows; it has 6.')],
  [attention({ key: linear(4, 5) }), new RangeError('layers[0].key.weight must have 4 columns; it has 5.')],
  [
    attention({ value: linear(4, 5) }),
    new RangeError('layers[0].value.weight must have 4 columns; it has 5.'),
  ],
  [
    attention({ output: linear(5, 4) }),
    new RangeError('layers[0].output.weight must have 4 rows; it has 5.'),
  ],
  [
    attention({ output: linear(4, 5) }),
    new RangeError('layers[0].output.weight must have 4 columns; it has 5.'),
  ],
  [attention({ heads: 3 }), new RangeError('heads must divide the 4 rows of layers[0].query; 3 does not.')],
  [
    attention({ value: linear(5, 4), output: linear(4, 5) }),
    new RangeError('heads must divide the 5 rows of layers[0].value; 2 does not.'),
  ],
  [
    () => plain.scoreRanks({ n: -1, d_token: 1, d_position: 1, d_head: 1, d_position_head: 1 }),
    new RangeError('n must be a whole number from 0 to 4194304; it is -1.'),
  ],
  [
    () => schemeTermOf(plain.schemeScores({ scheme: 'none', content: three, heads: 1 }), 0, 'position'),
    new RangeError('A term must be one of content-content; it is "position".'),
  ],
  [
    () => termOf(scores, 0, 'segment', 'token'),
    new RangeError('A part must be one of token, position, constant; it is "segment".'),
  ],
  [
    () => termOf(scores, 0, 'token', 'segment'),
    new RangeError('A part must be one of token, position, constant; it is "segment".'),
  ],
  [
    () => plain.combineTerms({ ...scores, apart: [3] }, 0, Array<boolean>(9).fill(true)),
    new RangeError('an entry of scores.apart must be a whole number from 0 to 2; it is 3.'),
  ],
  [
    () => plain.poolShares('all' as Anything, []),
    new TypeError('scores must be an array of at least one; it is "all".'),
  ],
  [
    () => plain.poolShares([], []),
    new TypeError('scores must be an array of at least one; it is an array of 0.'),
  ],
  [
    () => plain.poolShares([{ ...scores, covariances: new Float64Array(17) }], Array(9).fill(0)),
    new RangeError('covariances must have 18 values; it has 17.'),
  ],
  [
    () => plain.poolShares([scores, { ...scores, variances: new Float64Array(3) }], Array(9).fill(0)),
    new RangeError('variances must have 2 values; it has 3.'),
  ],
  [
    () => plain.poolShares([scores], [0, 1, 2, 3, 4, 5, 6, 7, 9]),
    new RangeError('an entry of groupOf must be a whole number from 0 to 8; it is 9.'),
  ],
];

test.each(refused.map(([call, error]) => [error.message, error, call] as const))('%s', (_, error, call) => {
  expect(call).toThrow(error);
});

describe('what an object in memory is asked for', () => {
  const input = { tokens: single(7, 4), positions: single(3, 4) };

  test.each([
    ['nearestTokens', [7], 'first must be a whole number from 0 to 6; it is 7.'],
    ['nearestTokens', [8, 0], 'first must be a whole number from 0 to 7; it is 8.'],
    ['nearestTokens', [5, 3], 'words must be a whole number from 0 to 2; it is 3.'],
    ['neighbours', [7, 0, 1], 'word must be a whole number from 0 to 6; it is 7.'],
    ['neighbours', [0, 3, 1], 'position must be a whole number from 0 to 2; it is 3.'],
    ['neighbours', [0, 0, -1], 'count must be a whole number from 0 to 4194304; it is -1.'],
    ['collisionMargin', [7, 0, 0], 'a must be a whole number from 0 to 6; it is 7.'],
    ['collisionMargin', [0, 7, 0], 'b must be a whole number from 0 to 6; it is 7.'],
    ['collisionMargin', [0, 0, 3], 'position must be a whole number from 0 to 2; it is 3.'],
  ])('%s%j: %s', (name, args, sentence) => {
    using search = plain.collisionSearch(input);
    expect(() => (search as Anything)[name](...args)).toThrow(new RangeError(sentence));
  });

  test('a job over all words', async () => {
    using search = plain.collisionSearch(input);
    await expect(search.allWords({ slice: 0 })).rejects.toThrow(
      new RangeError('slice must be a whole number from 1 to 4194304; it is 0.'),
    );
    await expect(search.allWords({ words: 8 })).rejects.toThrow(
      new RangeError('words must be a whole number from 0 to 7; it is 8.'),
    );
    const told: number[][] = [];
    await search.allWords({ words: 6, slice: 3, onProgress: (...at) => told.push(at) });
    expect(told).toEqual([
      [3, 6],
      [6, 6],
    ]);
    // Without a position a token is nearest to itself.
    expect(search.neighbours(2, undefined, 1)).toEqual({
      tokens: Int32Array.of(2),
      distances: Float64Array.of(0),
    });
  });

  test('a search that is deleted', () => {
    const search = plain.collisionSearch(input);
    search.delete();
    expect(() => search.nearestTokens(0)).toThrow(
      new Error('This collision search has been deleted; make another one.'),
    );
  });

  test('a layer', () => {
    using made = plain.decompositionLayer({ summands: ['token', 'position'], ...weights });
    expect(() => made.terms(null as Anything)).toThrow(
      new TypeError('summands must be an object; it is null.'),
    );
    expect(() => made.terms(right, { factors: null as Anything })).toThrow(
      new TypeError('factors must be an object; it is null.'),
    );
  });
});

describe('what is allowed at the edge', () => {
  test('eight dimensions, and a class token before the patches', () => {
    const { rows, columns } = plain.tensor2tensorSinusoidal({ extents: Array(8).fill(1), d_model: 16 });
    expect([rows, columns]).toEqual([1, 16]);
    const found = plain.vitEmbeddings({
      patches: three,
      classToken: new Float64Array(4),
      position: drawn(4, 4),
    });
    expect([found.rows, found.columns, found.data.length]).toEqual([4, 4, 16]);
  });

  test('the last row stands apart, and of heads of any number the parts are pooled', () => {
    const all = plain.combineTerms(scores as Scores<Float64Array>, 1, Array<boolean>(9).fill(true));
    expect(all.share).toBeCloseTo(1, 12);
    const groupOf = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    const pooled = plain.poolShares([scores], groupOf);
    expect(pooled.mean).toHaveLength(9);
    expect([...pooled.mean].reduce((sum, share) => sum + share)).toBeCloseTo(1, 12);
  });

  test('positions wider than the model, side by side; the ratio is of the whole stream', () => {
    const shape = { vocabulary: 9, positions: 4, d_model: 8, heads: 2, layers: 1 };
    expect(plain.positionCost('wide', { ...shape, d_position: 9 }).width).toBe(17);
    expect(() => plain.positionCost('wide', { ...shape, d_position: 9, ffnRatio: 0.5 })).toThrow(
      new RangeError("ffnRatio times the stream's width must be whole; 0.5 times 17 is not."),
    );
    expect(plain.positionCost('project', { ...shape, d_position: 9, ffnRatio: 0.5 }).width).toBe(8);
    expect(() => plain.positionCost('narrow', { ...shape, d_position: 9 })).toThrow(
      new RangeError('d_position must be a whole number from 0 to 8; it is 9.'),
    );
  });

  test('a count of 2^53 − 1 is exact, and one more is refused', () => {
    // One channel: each token is a number, and LayerNorm has two.
    const shape = { positions: 0, d_model: 1, heads: 1, layers: 0, pooler: false };
    const most = Number.MAX_SAFE_INTEGER;
    expect(plain.positionCost('add', { ...shape, vocabulary: most - 2 }).total).toBe(most);
    expect(() => plain.positionCost('add', { ...shape, vocabulary: most - 1 })).toThrow(
      new RangeError(`embedding must be at most 2^53 - 1 to be exact; for this shape it is ${most + 1}.`),
    );
  });

  test('one bias, or a gauge, makes a constant part', () => {
    const biased = { ...weights.query, bias: new Float64Array(4) };
    const partsOf = (change: object) => {
      using made = plain.decompositionLayer({ summands: ['token', 'position'], ...weights, ...change });
      return made.parts;
    };
    const two = ['token', 'position'];
    expect(partsOf({})).toEqual(two);
    for (const change of [{ query: biased }, { key: biased }, { gauge: 'canonical' }])
      expect(partsOf(change)).toEqual([...two, 'constant']);
  });

  test('one head after another from the same layer', () => {
    using made = plain.decompositionLayer({ summands: ['token', 'position'], ...weights });
    for (const head of [0, 1, 0]) {
      const found = made.terms(right, { only: [head] });
      expect(found.heads).toEqual([head]);
      expect(found.terms).toEqual(plain.decomposeTerms({ summands: right, ...weights, only: [head] }).terms);
    }
  });

  test('layers that are deleted leave their room to the next', () => {
    const wide = { query: linear(256, 256), key: linear(256, 256), heads: 1 };
    const make = (times: number) => {
      for (let k = 0; k < times; k++) plain.decompositionLayer({ summands: ['token'], ...wide }).delete();
      return plain.memoryBytes();
    };
    const before = make(2);
    expect(make(40)).toBe(before);
  });
});
