// Mistakes that only one function can be given: the error's class, the words of its sentence, and that
// nothing was allocated on the way. Mistakes common to every argument of a kind are in
// wrongArguments.test.ts.

import {
  load,
  loadMiniLM,
  logitsOf,
  openModel,
  type Scores,
  type Superpose,
  schemeTermOf,
  sharesOf,
  termOf,
} from 'superpose';
import { describe, expect, test } from 'vitest';
import { builds, plain } from './support/builds.ts';
import { describeModel, model } from './support/model.ts';
import { changed, type ErrorClass, faults } from './support/refusals.ts';
import { linear, rightCalls, scores, single, table } from './support/rightCalls.ts';

/** The change to a right call's options, the error's class, and words in its sentence. */
type Case = [change: Record<string, unknown>, kind: ErrorClass, ...words: string[]];

// biome-ignore lint/suspicious/noExplicitAny: wrong arguments are what this file is about.
type Anything = any;

const onlyCases: Case[] = [
  [{ only: 0 }, TypeError, 'only', 'an array', '0'],
  [{ only: 'all' }, TypeError, 'only', 'an array', '"all"'],
  [{ only: [2] }, RangeError, 'entry of only', '2', 'from 0 to 1'],
  [{ only: [-1] }, RangeError, 'entry of only', '-1', 'from 0 to 1'],
  [{ only: [0.5] }, RangeError, 'entry of only', '0.5'],
  [{ only: ['0'] }, TypeError, 'entry of only', '"0"'],
  // biome-ignore lint/suspicious/noSparseArray: a hole is one of the mistakes.
  [{ only: [, 1] }, TypeError, 'entry of only', 'undefined'],
  [{ only: [1, 0, 1] }, RangeError, 'only', 'once', '1 is there twice'],
];

const headCases = (rows: number, of: string): Case[] => [
  [{ heads: rows - 1 }, RangeError, 'heads', `${rows} rows of ${of}`, `${rows - 1}`],
  [{ heads: 2 * rows }, RangeError, 'heads', `${rows} rows of ${of}`, `${2 * rows}`],
  [{ heads: undefined }, TypeError, 'heads', 'undefined'],
];

const cases: Record<string, Case[]> = {
  sinusoidal: [
    [{ positions: undefined }, TypeError, 'positions', 'undefined'],
    [{ base: 0 }, RangeError, 'base', 'above 0', '0'],
    [{ base: -10 }, RangeError, 'base', 'above 0', '-10'],
  ],
  tensor2tensorSinusoidal: [
    [{ extents: [] }, RangeError, 'extents must name 1 to 8 dimensions', 'it names 0'],
    [{ extents: Array(9).fill(1) }, RangeError, 'extents must name 1 to 8 dimensions', 'it names 9'],
  ],
  bertEmbeddings: [
    [{ position: table(2, 4) }, RangeError, 'position', 'at least 3 rows, one for each token', 'it has 2'],
    [{ token_type: table(2, 3) }, RangeError, 'token_type', '4 columns', 'it has 3'],
  ],
  collisionSearch: [
    [{ tokens: table(3, 4) }, TypeError, 'tokens.data', 'a Float32Array', 'a Float64Array'],
    [{ positions: table(2, 4) }, TypeError, 'positions.data', 'a Float32Array', 'a Float64Array'],
  ],
  sinusoidalFrequencies: [[{ base: 0 }, RangeError, 'base', 'above 0', '0']],
  randomUniform: [[{ seed: undefined }, TypeError, 'seed', 'undefined']],
  randomNormal: [[{ standardDeviation: -1 }, RangeError, 'standardDeviation', 'at least 0', '-1']],
  dotProducts: [
    [{ token: undefined }, TypeError, 'token', 'an object', 'undefined'],
    [{ position: table(2, 4) }, RangeError, 'position', '3 rows', 'it has 2'],
    [
      { position: single(3, 4) },
      TypeError,
      'position.data is a Float32Array',
      'token.data is a Float64Array',
    ],
  ],
  concatenateRaw: [
    [{ position: undefined }, TypeError, 'position', 'an object', 'undefined'],
    [{ position: table(4, 2) }, RangeError, 'position', '3 rows', 'it has 4'],
    [{ position: single(3, 2) }, TypeError, 'position.data is a Float32Array'],
  ],
  concatenateFull: [
    ...headCases(4, 'query.weight'),
    ...onlyCases,
    [{ query: undefined }, TypeError, 'query', 'an object', 'undefined'],
    [{ query: {} }, TypeError, 'query.weight', 'an object', 'undefined'],
    [{ query: linear(4, 4) }, RangeError, 'query.weight', '8 columns', 'it has 4'],
    [{ query: linear(0, 8) }, RangeError, 'query.weight', 'at least 1 row', '0'],
    [{ key: linear(2, 8) }, RangeError, 'key.weight', '4 rows', 'it has 2'],
    [{ key: { ...linear(4, 8), bias: new Float64Array(3) } }, RangeError, 'key.bias', '4 values', 'it has 3'],
    [{ key: { weight: single(4, 8) } }, TypeError, 'key.weight.data is a Float32Array'],
    [{ query: { ...linear(4, 8), bias: new Float32Array(4) } }, TypeError, 'query.bias is a Float32Array'],
  ],
  concatenateBlockDiagonal: [
    ...headCases(4, 'tokenQuery'),
    ...onlyCases,
    [{ tokenQuery: table(4, 2) }, RangeError, 'tokenQuery', '4 columns', 'it has 2'],
    [{ tokenKey: table(2, 4) }, RangeError, 'tokenKey', '4 rows', 'it has 2'],
    [{ positionKey: table(4, 4) }, RangeError, 'positionKey', '2 rows', 'it has 4'],
    [
      { positionQuery: table(3, 4), positionKey: table(3, 4) },
      RangeError,
      'heads',
      '3 rows of positionQuery',
      '2',
    ],
    [{ positionKey: single(2, 4) }, TypeError, 'positionKey.data is a Float32Array'],
    [
      {
        tokenQuery: table(0, 4),
        tokenKey: table(0, 4),
        positionQuery: table(0, 4),
        positionKey: table(0, 4),
      },
      RangeError,
      'tokenQuery',
      'positionQuery',
      '0 rows',
    ],
  ],
  schemeScores: [
    [{ query: { weight: single(4, 4) } }, TypeError, 'query.weight.data is a Float32Array', 'content.data'],
  ],
  decompose: [
    [{ apart: [3] }, RangeError, 'apart', '3', 'from 0 to 2'],
    [{ apart: [1, 1] }, RangeError, 'apart', 'once', '1 is there twice'],
    [{ gauge: 'cannonical' }, RangeError, 'gauge', "'canonical'", 'means', '"cannonical"'],
    [{ gauge: { means: { token: new Float64Array(4) } } }, TypeError, 'gauge.means.position', 'undefined'],
    [
      { gauge: { means: { token: new Float64Array(4), position: new Float64Array(5) } } },
      RangeError,
      'gauge.means.position',
      '5',
    ],
    [
      { gauge: { means: { token: new Float64Array(4), position: new Float32Array(4) } } },
      TypeError,
      'gauge.means.position is a Float32Array',
    ],
    [{ gauge: { means: { segment: new Float64Array(4) } } }, RangeError, 'gauge.means', "'token'", 'segment'],
    [{ summands: undefined }, TypeError, 'summands', 'an object', 'undefined'],
    [{ summands: {} }, RangeError, 'summands', 'at least one', 'empty'],
    [{ summands: { token: undefined } }, TypeError, 'summands.token', 'undefined'],
    [{ summands: { constant: table(3, 4) } }, RangeError, "'constant'"],
    [
      { summands: { token: table(3, 4), position: table(2, 4) } },
      RangeError,
      'summands.position',
      '3 rows',
      'it has 2',
    ],
    [
      { summands: { token: table(3, 4), position: table(3, 5) } },
      RangeError,
      'summands.position',
      '4 columns',
      'it has 5',
    ],
    [
      { summands: { ['__proto__']: table(3, 4), position: table(3, 5) } },
      RangeError,
      'summands.position',
      '5',
    ],
    [{ summands: { token: table(3, 4), ['__proto__']: table(3, 5) } }, RangeError, 'summands.__proto__', '5'],
    [
      { summands: { token: table(3, 4), position: single(3, 4) } },
      TypeError,
      'summands.position.data is a Float32Array',
    ],
    ...headCases(4, 'query.weight'),
    ...onlyCases,
    [{ query: linear(4, 6) }, RangeError, 'query.weight', '4 columns', 'it has 6'],
    [{ key: linear(6, 4) }, RangeError, 'key.weight', '4 rows', 'it has 6'],
    [{ key: null }, TypeError, 'key', 'an object', 'null'],
    [{ normalization: null }, TypeError, 'normalization', 'an object', 'null'],
    ...['LayerNorm', '__proto__', undefined].map(
      (kind): Case => [
        { normalization: { kind, epsilon: 0 } },
        kind ? RangeError : TypeError,
        'normalization.kind',
        "'layer_norm'",
        "'rms_norm'",
        `${kind}`,
      ],
    ),
    ...[Number.NaN, -1e-12, Number.POSITIVE_INFINITY].map(
      (epsilon): Case => [
        { normalization: { kind: 'layer_norm', epsilon } },
        RangeError,
        'normalization.epsilon',
        `${epsilon}`,
      ],
    ),
    [{ normalization: { kind: 'rms_norm' } }, TypeError, 'normalization.epsilon', 'undefined'],
    [
      { normalization: { kind: 'rms_norm', beta: new Float64Array(4), epsilon: 0 } },
      RangeError,
      'normalization.beta',
      'layer_norm',
      'rms_norm',
    ],
    [
      { normalization: { kind: 'layer_norm', gamma: new Float64Array(3), epsilon: 0 } },
      RangeError,
      'normalization.gamma',
      '4 values',
      'it has 3',
    ],
    [
      { normalization: { kind: 'layer_norm', gamma: [1, 1, 1, 1], epsilon: 0 } },
      TypeError,
      'normalization.gamma',
      'an array of 4',
    ],
    [
      { normalization: { kind: 'layer_norm', beta: new Float32Array(4), epsilon: 0 } },
      TypeError,
      'normalization.beta is a Float32Array',
    ],
    [{ groups: 'token' }, TypeError, 'groups', 'an object', '"token"'],
    [{ groups: {} }, RangeError, 'Part token', 'exactly one group', 'in 0'],
    [{ groups: { all: 'token' } }, TypeError, 'groups.all', 'list', '"token"'],
    [
      { groups: { all: [], rest: ['token', 'position', 'constant'] } },
      TypeError,
      'groups.all',
      'at least one',
      'an array of 0',
    ],
    [{ groups: { all: ['token', 'position'] } }, RangeError, 'Part constant', 'exactly one group', 'in 0'],
    [
      { groups: { a: ['token', 'constant'], b: ['token', 'position'] } },
      RangeError,
      'Part token',
      'exactly one group',
      'in 2',
    ],
    [
      { groups: { all: ['token', 'position', 'constant', 'token'] } },
      RangeError,
      'groups.all',
      'once',
      '"token"',
    ],
    [
      { groups: { all: ['token', 'position', 'constant', '__proto__'] } },
      RangeError,
      'groups.all',
      '"__proto__"',
      'token, position, constant',
    ],
    [
      { groups: { all: ['token', 'position', 'constant', 7] } },
      RangeError,
      'groups.all',
      '7',
      'token, position, constant',
    ],
  ],
};

/** Checks that it throws as it should, in one sentence with all the words, without taking memory. */
async function refuses(
  superpose: Superpose,
  call: () => unknown,
  kind: ErrorClass,
  words: readonly string[],
) {
  const before = superpose.memoryBytes();
  let thrown: unknown;
  try {
    await call();
  } catch (error) {
    thrown = error;
  }
  expect(faults(thrown, { kind, words })).toEqual([]);
  expect(superpose.memoryBytes()).toBe(before);
}

const described = (value: unknown): string =>
  JSON.stringify(value, (_, part) => {
    if (ArrayBuffer.isView(part)) return `${part.constructor.name}(${(part as Float64Array).length})`;
    return typeof part === 'number' || typeof part === 'bigint' || part === undefined ? String(part) : part;
  }).replace(/"/g, '');

test('a long text is quoted by its beginning', () => {
  const given = (layout: string) =>
    plain.sinusoidal({ positions: 1, d_model: 2, layout: layout as Anything });
  expect(() => given('x'.repeat(40))).toThrow(`it is "${'x'.repeat(40)}".`);
  expect(() => given('x'.repeat(41))).toThrow(`it is "${'x'.repeat(40)}…".`);
});

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  describe.each(Object.entries(cases))('%s', (name, of) => {
    const call = (superpose as Anything)[name];
    const right = rightCalls[name]?.sound as readonly unknown[];

    test.each(of.map((one) => ({ title: described(one[0]), one })))(
      '$title',
      ({ one: [change, kind, ...words] }) => {
        const args = changed(right, [0], { ...(right[0] as object), ...change });
        return refuses(superpose, () => call(...args), kind, words);
      },
    );
  });

  describe('scores', () => {
    const every = Array<boolean>(9).fill(true);
    const ofScheme = superpose.schemeScores({ scheme: 'none', content: table(3, 4), heads: 2 });
    const { combineTerms } = superpose;
    const changed = (change: Record<string, unknown>) => ({ ...scores, ...change }) as Scores<Float64Array>;

    test.each<[string, () => unknown, ErrorClass, ...string[]]>([
      [
        'a head that was not computed',
        () => combineTerms(scores, 0, every),
        RangeError,
        'head',
        'one of 1',
        '0',
      ],
      ['no head', () => termOf(scores, Number.NaN, 'token', 'token'), RangeError, 'head', 'one of 1', 'NaN'],
      ['a head as text', () => sharesOf(scores, '1' as Anything), TypeError, 'head', 'one of 1', '"1"'],
      [
        'a head of a scheme',
        () => schemeTermOf(ofScheme, 2, 'content'),
        RangeError,
        'head',
        'one of 0, 1',
        '2',
      ],
      ['a term of a scheme', () => schemeTermOf(ofScheme, 1, 'bias'), RangeError, 'one of content', '"bias"'],
      ['a head beyond', () => logitsOf(scores, 12), RangeError, 'head', 'one of 1', '12'],
      [
        'a part that is not there',
        () => termOf(scores, 1, 'token', 'segment'),
        RangeError,
        'token, position, constant',
        '"segment"',
      ],
      [
        'a part named like objects’ own',
        () => termOf(scores, 1, '__proto__', 'token'),
        RangeError,
        'token, position, constant',
        '"__proto__"',
      ],
      [
        'a part by its number',
        () => termOf(scores, 1, 0 as Anything, 'token'),
        TypeError,
        'token, position, constant',
        '0',
      ],
      [
        'too few flags',
        () => combineTerms(scores, 1, every.slice(1)),
        RangeError,
        'included',
        '9 booleans',
        'an array of 8',
      ],
      [
        'no flags',
        () => combineTerms(scores, 1, undefined as Anything),
        TypeError,
        'included',
        '9 booleans',
        'undefined',
      ],
      ['no scores', () => combineTerms(null as Anything, 1, every), TypeError, 'scores', 'an object', 'null'],
      [
        'scores cut short',
        () => combineTerms(changed({ terms: scores.terms.subarray(1) }), 1, every),
        RangeError,
        'scores.terms',
        '81',
        '80',
      ],
      [
        'scores of more tokens than there are',
        () => combineTerms(changed({ n: 1000 }), 1, every),
        RangeError,
        'scores.terms',
        '9000000',
        '81',
      ],
      [
        'half a token',
        () => combineTerms(changed({ n: 1.5 }), 1, every),
        RangeError,
        'scores.n',
        'whole number',
        '1.5',
      ],
      [
        'mixed precision',
        () => combineTerms(changed({ logits: new Float32Array(9) }), 1, every),
        TypeError,
        'scores.logits is a Float32Array',
      ],
    ])('%s', (_, call, kind, ...words) => refuses(superpose, call, kind, words));
  });

  describe('safetensors', () => {
    const { readSafetensorsHeader, decodeSafetensors } = superpose;
    const bytes = new Uint8Array(8);
    const entry = (change: Record<string, unknown>) =>
      ({ name: 'w', dtype: 'F32', shape: [2], begin: 0, end: 8, ...change }) as Anything;

    test.each<[string, () => unknown, ErrorClass, ...string[]]>([
      [
        'no bytes',
        () => readSafetensorsHeader(undefined as Anything),
        TypeError,
        'bytes',
        'Uint8Array',
        'undefined',
      ],
      [
        'a buffer',
        () => readSafetensorsHeader(bytes.buffer as Anything),
        TypeError,
        'bytes',
        'Uint8Array',
        'an object',
      ],
      ['text', () => readSafetensorsHeader('{}' as Anything), TypeError, 'bytes', 'Uint8Array', '"{}"'],
      ['a negative size', () => readSafetensorsHeader(bytes, -1), RangeError, 'fileSize', '-1', 'from 0'],
      ['half a byte', () => readSafetensorsHeader(bytes, 8.5), RangeError, 'fileSize', '8.5', 'whole number'],
      ['a size as text', () => readSafetensorsHeader(bytes, '8' as Anything), TypeError, 'fileSize', '"8"'],
      [
        'no entry',
        () => decodeSafetensors(undefined as Anything, bytes),
        TypeError,
        'entry',
        'an object',
        'undefined',
      ],
      [
        'a dtype without fractions',
        () => decodeSafetensors(entry({ dtype: 'I64' }), bytes),
        RangeError,
        'I64',
        'F64, F32, F16 and BF16',
      ],
      [
        'a dtype like objects’ own',
        () => decodeSafetensors(entry({ dtype: '__proto__' }), bytes),
        RangeError,
        '__proto__',
        'F64, F32, F16 and BF16',
      ],
      [
        'another one',
        () => decodeSafetensors(entry({ dtype: 'constructor' }), bytes),
        RangeError,
        'constructor',
        'F64, F32, F16 and BF16',
      ],
      [
        'no dtype',
        () => decodeSafetensors(entry({ dtype: undefined }), bytes),
        RangeError,
        'undefined',
        'F64, F32, F16 and BF16',
      ],
      [
        'no shape',
        () => decodeSafetensors(entry({ shape: undefined }), bytes),
        TypeError,
        'entry.shape',
        'an array',
        'undefined',
      ],
      [
        'a negative shape',
        () => decodeSafetensors(entry({ shape: [-2, -1] }), bytes),
        RangeError,
        'entry.shape',
        '-2',
      ],
      [
        'a shape of halves',
        () => decodeSafetensors(entry({ shape: [0.5, 4] }), bytes),
        RangeError,
        'entry.shape',
        '0.5',
      ],
      [
        'a shape of text',
        () => decodeSafetensors(entry({ shape: ['2'] }), bytes),
        TypeError,
        'entry.shape',
        '"2"',
      ],
      [
        'too many bytes',
        () => decodeSafetensors(entry({ shape: [1] }), bytes),
        RangeError,
        'Tensor w',
        '4 bytes',
        '8',
      ],
      [
        'too few bytes',
        () => decodeSafetensors(entry({ shape: [2 ** 28, 2 ** 28] }), bytes),
        RangeError,
        'Tensor w',
        '8',
      ],
      [
        'no such precision',
        () => decodeSafetensors(entry({}), bytes, 'float16' as Anything),
        RangeError,
        'precision',
        '"float16"',
        "'float32' or 'float64'",
      ],
    ])('%s', (_, call, kind, ...words) => refuses(superpose, call, kind, words));
  });
});

describe('load', () => {
  test.each<[string, () => unknown, ErrorClass, ...string[]]>([
    [
      'no such build',
      () => load({ simd: 'fast' as Anything }),
      RangeError,
      'simd',
      '"fast"',
      "'plain' or 'relaxed'",
    ],
    [
      'a build like objects’ own',
      () => load({ simd: '__proto__' as Anything }),
      RangeError,
      'simd',
      '"__proto__"',
    ],
    [
      'a build by number',
      () => load({ simd: 1 as Anything }),
      TypeError,
      'simd',
      '1',
      "'plain' or 'relaxed'",
    ],
    ['null', () => load(null as Anything), TypeError, 'options', 'an object', 'null'],
    [
      'no module to load the model for',
      () => loadMiniLM(undefined as Anything),
      TypeError,
      'superpose',
      'undefined',
    ],
    [
      'no options to load the model with',
      () => loadMiniLM(plain, null as Anything),
      TypeError,
      'options',
      'null',
    ],
    [
      'no module to open a model for',
      () => openModel(undefined as Anything, 'model'),
      TypeError,
      'superpose',
      'undefined',
    ],
    ['no file to open', () => openModel(plain, undefined as Anything), TypeError, 'source', 'undefined'],
    [
      'no options to open a model with',
      () => openModel(plain, 'model', null as Anything),
      TypeError,
      'options',
      'null',
    ],
  ])('%s', (_, call, kind, ...words) => refuses(plain, call, kind, words));
});

describeModel('MiniLM', () => {
  test.each<[string, (call: Awaited<ReturnType<typeof model>>) => unknown, ErrorClass, ...string[]]>([
    ['no text', (m) => m.tokenize(undefined as Anything), TypeError, 'text', 'string', 'undefined'],
    ['a number', (m) => m.decompose(7 as Anything), TypeError, 'text', 'string', '7'],
    ['null', (m) => m.decompose(null as Anything), TypeError, 'text', 'string', 'null'],
    ['100,001 characters', (m) => m.tokenize('a'.repeat(100_001)), RangeError, 'at most 100000', '100001'],
    ['room for [CLS] alone', (m) => m.tokenize('a', 1), RangeError, 'most', '1', 'from 2 to 512'],
    ['more room than there is', (m) => m.tokenize('a', 513), RangeError, 'most', '513', 'from 2 to 512'],
    ['half a token', (m) => m.tokenize('a', 2.5), RangeError, 'most', '2.5'],
    [
      'no sentence',
      (m) => m.summands(undefined as Anything),
      TypeError,
      'sentence',
      'an object',
      'undefined',
    ],
    [
      'a sentence without ids',
      (m) => m.decompose({} as Anything),
      TypeError,
      'sentence.ids',
      'an array',
      'undefined',
    ],
    [
      '513 tokens',
      (m) => m.summands({ ids: Array(513).fill(5), tokens: [], dropped: 0 }),
      RangeError,
      '512',
      '513',
    ],
    [
      'an id beyond the vocabulary',
      (m) => m.summands({ ids: [101, 30522], tokens: [], dropped: 0 }),
      RangeError,
      'entry of ',
      '30522',
      'from 0 to 30521',
    ],
    [
      'a negative id',
      (m) => m.summands({ ids: [-1], tokens: [], dropped: 0 }),
      RangeError,
      'entry of ',
      '-1',
    ],
    [
      'no such precision',
      (m) => m.decompose('a', { precision: 'float16' as Anything }),
      RangeError,
      'precision',
      '"float16"',
    ],
    [
      'no such precision of a layer',
      (m) => m.layer('single' as Anything),
      RangeError,
      'precision',
      '"single"',
    ],
    ['head 12', (m) => m.decompose('a', { only: [12] }), RangeError, 'entry of only', '12', 'from 0 to 11'],
    [
      'a part that is not there',
      (m) => m.decompose('a', { groups: { all: ['segment'] } }),
      RangeError,
      '"segment"',
      'token_type',
    ],
  ])('%s', async (_, call, kind, ...words) => {
    const loaded = await model();
    await refuses(plain, () => call(loaded), kind, words);
  });
});
