// A right call of every function: the tests of wrong calls, of memory and of precision start from these. A
// function's example in docs/examples.mjs counts as a right call. This file lists the calls that examples do
// not show: those with every optional argument, those of every kind, and those that are too large.
// complete.test.ts prints what a new function still lacks here and elsewhere.
import type { Table } from 'add-or-concatenate';
import { examples, runExample } from '../../../docs/examples.mjs';
import { plain } from './builds.ts';

export const table = (rows: number, columns: number): Table<Float64Array> =>
  plain.randomNormal({ rows, columns, seed: 1 });
export const linear = (rows: number, columns: number) => ({
  weight: table(rows, columns),
  bias: new Float64Array(rows),
});
const zeros = (rows: number, columns: number): Table<Float64Array> => ({
  data: new Float64Array(rows * columns),
  rows,
  columns,
});

const large = zeros(2 ** 22, 12);
const token = table(3, 4);
const position = table(3, 4);
const projections = { query: linear(4, 4), key: linear(4, 4), heads: 2 };
const normalization = {
  kind: 'layer_norm',
  gamma: new Float64Array(4).fill(1),
  beta: new Float64Array(4),
  epsilon: 1,
};
const spectrum = { d_model: 4, layout: 'interleaved', spacing: 'd_model', base: 10000 };
const encoding = { positions: 3, ...spectrum, firstPosition: 0 };
const entry = { name: 'w', dtype: 'F32', shape: [2], begin: 0, end: 8 };
export const scores = plain.decompose({ summands: { token, position }, ...projections, only: [1] });
const model = {
  vocabulary: 9,
  positions: 8,
  segments: 2,
  d_model: 4,
  heads: 2,
  layers: 2,
  d_position: 4,
  d_position_head: 2,
};
const content = { content: token, ...projections, scale: 1, seed: 1, standardDeviation: 1, causal: true };

/** The ranges of the options of random draws. */
const draws = { seed: [0, 2 ** 32 - 1], stream: [0, 2 ** 32 - 1] } as const;

export interface RightCall {
  /** A right call, with every optional argument. */
  sound: readonly unknown[];
  /**
   * The bytes that the right call needs, computed by hand from the shapes; left out if it allocates nothing
   * that grows.
   */
  bytes?: number;
  /** A call that would not fit; left out if the function takes no size. */
  huge?: readonly unknown[];
  /** Options that are whole numbers: the smallest, and the largest if it is not 2²². */
  integers?: Record<string, readonly [low: number, high?: number]>;
  /** Set for lists of any length: a shorter list is right too, or the error is then about the other list. */
  anyLength?: true;
  /** Set if a list of numbers is accepted in place of a table. */
  alsoLists?: true;
  /** Other right calls, for functions that accept several kinds of input. */
  also?: readonly (readonly unknown[])[];
}

const modelInTraining = {
  scheme: 'concat',
  table: 'learned',
  d_model: 4,
  d_position: 1,
  heads: 2,
  layers: 1,
  layerNorm: true,
  causal: false,
  zeroScores: false,
  fixedTokens: false,
  fixedPositions: false,
  scaleTokens: false,
  sigma: 0.1,
  sigmaTokens: 0.1,
  sigmaPositions: 0.1,
  positions: 6,
  learningRate: 0.01,
  weightDecay: 0.01,
  schedule: 'constant',
  warmUp: 2,
  steps: 4,
  seed: 1,
};
const taskTrainer = {
  ...modelInTraining,
  task: 'prev',
  n: 6,
  sequences: 2,
  evaluationSequences: 3,
};
const ownBatch = { n: 3, tokens: [4, 0, 1], targets: [2, -1, 0] };
const ownTrainer = {
  ...modelInTraining,
  evaluation: ownBatch,
  vocabulary: 5,
  classes: 3,
};
const trainerIntegers: NonNullable<RightCall['integers']> = {
  d_model: [1],
  d_position: [1, 3],
  heads: [1],
  layers: [1, 12],
  warmUp: [0],
  steps: [1],
  n: [1],
  sequences: [1, 2 ** 16],
  evaluationSequences: [1, 2 ** 16],
  vocabulary: [1],
  classes: [1],
  'evaluation.n': [1, 6],
  'evaluation.tokens': [0, 4],
  'evaluation.targets': [-1, 2],
  ...draws,
};

const rightDecomposition = {
  summands: { token, position },
  normalization,
  ...projections,
  scale: 1,
  only: [1],
  gauge: 'canonical',
  excludedRows: [2],
};
const decomposition: RightCall = {
  sound: [rightDecomposition],
  huge: [{ summands: { token: zeros(10_000, 4) }, ...projections }],
  integers: { heads: [1] },
};

const completeCalls: Record<string, RightCall> = {
  sinusoidal: {
    bytes: 96,
    sound: [encoding],
    huge: [{ positions: 2 ** 22, d_model: 512 }],
    integers: { positions: [0], d_model: [1] },
  },
  sinusoidalFrequencies: { sound: [spectrum], integers: { d_model: [1] } },
  randomNormal: {
    bytes: 48,
    sound: [{ rows: 2, columns: 3, seed: 1, stream: 0, standardDeviation: 1 }],
    huge: [{ rows: 2 ** 22, columns: 512, seed: 1 }],
    integers: { rows: [0], columns: [1], ...draws },
  },
  randomUniform: {
    bytes: 48,
    sound: [{ rows: 2, columns: 3, seed: 1, stream: 0 }],
    huge: [{ rows: 2 ** 22, columns: 512, seed: 1 }],
    integers: { rows: [0], columns: [1], ...draws },
  },
  rotate: {
    bytes: 384,
    sound: [{ rows: token, heads: 2, firstPosition: 0, layout: 'interleaved', base: 10000 }],
    huge: [{ rows: zeros(2 ** 22, 10) }],
  },
  dotProducts: {
    bytes: 1512,
    sound: [{ token, position: table(3, 5), positionScale: 1 }],
    also: [[{ token, position }]],
    huge: [{ token: zeros(20_000, 1), position: zeros(20_000, 1) }],
  },
  decompose: {
    bytes: 4256,
    ...decomposition,
    sound: [{ ...rightDecomposition, groups: { all: ['token', 'position', 'constant'] } }],
  },
  layer: { bytes: 320, sound: [projections] },
  transformerStack: {
    sound: [
      {
        d_model: 4,
        heads: 2,
        norm: 'pre',
        activation: 'gelu_tanh',
        causal: true,
        embeddingNorm: normalization,
        finalNorm: normalization,
      },
    ],
    integers: { d_model: [1], heads: [1] },
  },
  combineTerms: { sound: [scores, 1, [Array(9).fill(true)]] },
  poolShares: {
    bytes: 240,
    sound: [
      [
        {
          heads: scores.heads,
          parts: scores.parts,
          gauge: scores.gauge,
          covariances: scores.covariances,
          variances: scores.variances,
        },
      ],
      [0, 1, 2, 0, 1, 2, 0, 1, 2],
    ],
  },
  schemeScores: {
    bytes: 3232,
    sound: [{ ...content, scheme: 'none', only: [1] }],
    huge: [{ scheme: 'none', content: zeros(20_000, 1), heads: 1 }],
    also: [
      [{ ...content, scheme: 'add', position, positionScale: 1 }],
      [{ ...content, scheme: 'concat-raw', position, positionScale: 1, d_position: 4 }],
      [
        {
          ...content,
          scheme: 'concat-full',
          position,
          d_position: 4,
          positionQuery: { weight: table(4, 4) },
          positionKey: { weight: table(4, 4) },
        },
      ],
      [
        {
          ...content,
          scheme: 'concat-block-diagonal',
          position,
          d_position_head: 1,
          positionQuery: linear(2, 4),
          positionKey: linear(2, 4),
        },
      ],
      [{ ...content, scheme: 'concat-block-diagonal', d_position_head: 2 }],
      [{ ...content, query: undefined, scheme: 'shaw', d_head: 2, clip: 2, offsetKeys: table(5, 2) }],
      [
        {
          ...content,
          scheme: 'transformer-xl',
          offsets: table(5, 4),
          offsetKey: linear(4, 4),
          u: new Float64Array(4),
          v: new Float64Array(4),
        },
      ],
      [{ ...content, scheme: 't5', bidirectional: true, buckets: 8, maxDistance: 9, bias: table(8, 2) }],
      [{ ...content, scheme: 'alibi' }],
      [
        {
          ...content,
          scheme: 'deberta',
          clip: 2,
          distances: table(4, 4),
          positionQuery: linear(4, 4),
          positionKey: linear(4, 4),
        },
      ],
      [
        {
          ...content,
          scheme: 'tupe-r',
          buckets: 8,
          maxDistance: 9,
          bias: table(9, 2),
          position: table(4, 4),
          positionQuery: linear(4, 4),
          positionKey: linear(4, 4),
        },
      ],
      [
        {
          ...content,
          scheme: 'diet-abs',
          d_position: 2,
          positionQuery: table(3, 4),
          positionKey: table(3, 4),
        },
      ],
      [{ ...content, scheme: 'diet-abs', d_position: 2 }],
      [{ ...content, scheme: 'diet-rel', clip: 2, bias: table(5, 2) }],
      [{ ...content, scheme: 'rope', layout: 'interleaved', base: 10000 }],
      [{ ...content, scheme: 'decoupled-rope', rotaryQuery: linear(4, 4), rotaryKey: linear(2, 4) }],
      [{ ...content, scheme: 'decoupled-rope', d_rotary: 2 }],
    ],
  },
  schemeParameters: {
    sound: [
      'shaw',
      {
        d_model: 4,
        heads: 2,
        d_head: 2,
        d_position: 2,
        d_position_head: 2,
        positions: 3,
        clip: 2,
        buckets: 4,
        layers: 1,
      },
    ],
  },
  shiftError: {
    bytes: 512,
    sound: [{ ...encoding, offset: 1 }],
    huge: [{ positions: 2 ** 22, d_model: 64, offset: 1 }],
  },
  gram: { bytes: 240, sound: [token], huge: [zeros(20_000, 1)] },
  toeplitzSpread: { bytes: 72, sound: [table(3, 3)], huge: [zeros(12_000, 12_000)] },
  offsetMeans: { bytes: 72, sound: [table(3, 3)], huge: [zeros(12_000, 12_000)] },
  rowLengths: { bytes: 144, sound: [token], huge: [zeros(2 ** 22, 31)] },
  rowCosines: { bytes: 296, sound: [token, table(2, 4)], huge: [zeros(20_000, 1), zeros(20_000, 1)] },
  summary: { bytes: 72, anyLength: true, sound: [new Float64Array(3)], huge: [new Float64Array(2 ** 26)] },
  largestDifference: {
    bytes: 72,
    anyLength: true,
    sound: [new Float64Array(3), new Float64Array(3)],
    huge: [new Float64Array(2 ** 26), new Float64Array(2 ** 26)],
  },
  difference: {
    bytes: 72,
    anyLength: true,
    sound: [new Float64Array(3), new Float64Array(3)],
    huge: [new Float64Array(2 ** 26), new Float64Array(2 ** 26)],
  },
  sum: {
    bytes: 72,
    anyLength: true,
    sound: [new Float64Array(3), new Float64Array(3)],
    huge: [new Float64Array(2 ** 26), new Float64Array(2 ** 26)],
  },
  formGrams: {
    bytes: 1208,
    sound: [{ ...encoding, seed: 1 }],
    huge: [{ positions: 20_000, d_model: 4, seed: 1 }],
  },
  channelRanges: { bytes: 128, sound: [token], huge: [zeros(2 ** 22, 33)] },
  ranks: {
    bytes: 576,
    sound: [{ table: token, centred: true, share: 0.9 }],
    huge: [{ table: zeros(2 ** 22, 6) }],
  },
  sampleCosines: {
    bytes: 240,
    sound: [{ d: 4, count: 3, seed: 1 }],
    huge: [{ d: 512, count: 2 ** 22, seed: 1 }],
  },
  randomPrincipalAngles: {
    bytes: 1248,
    sound: [{ d: 5, k1: 3, k2: 2, seed: 1 }],
    huge: [{ d: 2 ** 14, k1: 2 ** 13, k2: 2 ** 13, seed: 1 }],
  },
  angleCosines: {
    bytes: 48,
    anyLength: true,
    sound: [new Float64Array(2)],
    huge: [new Float64Array(2 ** 26 + 1)],
  },
  energyOverlap: {
    bytes: 1312,
    sound: [{ tokens: token, positions: table(2, 4), centred: true }],
    huge: [{ tokens: zeros(2 ** 22, 8), positions: zeros(2 ** 22, 8) }],
  },
  overlapCurve: {
    bytes: 1312,
    sound: [{ tokens: token, positions: table(2, 4), k: 2 }],
    huge: [{ tokens: zeros(2 ** 22, 8), positions: zeros(2 ** 22, 8), k: 2 }],
  },
  obliqueProjection: {
    bytes: 992,
    sound: [{ u: table(3, 1), w: table(3, 2), noise: table(4, 3) }],
    huge: [{ u: zeros(10_000, 1), w: zeros(10_000, 1) }],
  },
  centred: { bytes: 384, sound: [token], huge: [zeros(2 ** 22, 10)] },
  moveMean: {
    bytes: 672,
    sound: [{ from: position, to: token, amount: 0.5 }],
    huge: [{ from: zeros(2 ** 22, 8), to: zeros(2 ** 22, 8), amount: 1 }],
  },
  collisionSearch: {
    bytes: 416,
    sound: [{ tokens: table(3, 4), positions: table(2, 4), positionScale: 1 }],
    huge: [
      {
        tokens: zeros(2 ** 18, 1),
        positions: zeros(2 ** 12, 1),
      },
    ],
  },
  positionCost: { sound: ['tupe', model] },
  oneLayer: {
    bytes: 976,
    sound: [
      {
        parts: [table(2, 3), table(2, 3)],
        weights: [table(3, 4), table(3, 4)],
        pull: 0.5,
        positionScale: 2,
        undoes: true,
        norm: 'layer_norm',
      },
    ],
    huge: [{ parts: [zeros(2 ** 22, 8), zeros(2 ** 22, 8)], weights: [table(8, 8), table(8, 8)] }],
  },
  trainer: {
    bytes: 66080,
    sound: [taskTrainer],
    also: [[{ ...taskTrainer, scheme: 'add', d_position: undefined }], [ownTrainer]],
    integers: trainerIntegers,
    huge: [{ task: 'prev', n: 20_000 }],
  },
  loudnessRecipes: { sound: [{ d_model: 4 }], integers: { d_model: [1] } },
  taskExamples: {
    bytes: 192,
    sound: [{ task: 'prev', n: 6, sequences: 2, seed: 1 }],
    integers: { n: [1], sequences: [1, 2 ** 16], ...draws },
    huge: [{ task: 'prev', n: 2 ** 20, sequences: 2 ** 10 }],
  },
  taskTargets: {
    bytes: 64,
    sound: [{ task: 'prev', n: 2, tokens: [1, 0, 0, 1] }],
    integers: { n: [1], tokens: [0, 1] },
  },
  encodeSafetensors: {
    bytes: 56,
    alsoLists: true,
    sound: [{ w: table(2, 2), v: table(1, 3) }, { name: 'x' }],
    huge: [{ w: large, v: large, u: large }],
  },
  readSafetensorsHeader: { sound: [new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0x7d]), 10] },
  decodeSafetensors: { bytes: 24, sound: [entry, new Uint8Array(8)] },
};

type Call = (...args: unknown[]) => unknown;

/** The calls that the documentation's examples make of their own functions. */
async function recordedCalls(): Promise<Record<string, RightCall>> {
  const recorded: Record<string, RightCall> = {};
  for (const example of examples as readonly { name: string; code: string }[]) {
    const calls: unknown[][] = [];
    const recording = (...args: unknown[]) => {
      calls.push(args);
      return (plain[example.name as keyof typeof plain] as unknown as Call)(...args);
    };
    await runExample({ ...plain, [example.name]: recording }, example);
    const [sound, ...also] = calls;
    if (sound && !recorded[example.name]) recorded[example.name] = { sound, also };
  }
  return recorded;
}

export const rightCalls: Record<string, RightCall> = { ...(await recordedCalls()), ...completeCalls };
