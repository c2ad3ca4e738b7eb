// A right call of every function: the tests of wrong calls start from it. A function's example in the
// documentation is one. Listed here are calls that an example does not show: with every optional argument, of
// every kind, and too large.
import type { Table } from 'superpose';
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

/** Ranges of the options of what is drawn. */
const draws = { seed: [0, 2 ** 32 - 1], stream: [0, 2 ** 32 - 1] } as const;

export interface RightCall {
  /** A right call, with every optional argument. */
  sound: readonly unknown[];
  /** A call that would not fit; left out if the function takes no size. */
  huge?: readonly unknown[];
  /** Options that are whole numbers: the smallest, and the largest if it is not 2²². */
  whole?: Record<string, readonly [low: number, high?: number]>;
  /** For a list of any length: a shorter one is right too, or what is wrong is then the other list. */
  anyLength?: true;
  /** Where it takes a table, it takes a list of numbers as well. */
  alsoLists?: true;
  /** Other right calls, for functions with several kinds. */
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
const trainerWhole: NonNullable<RightCall['whole']> = {
  ...{ d_model: [1], d_position: [1, 3], heads: [1], layers: [1, 12], warmUp: [0], steps: [1] },
  ...{ n: [1], sequences: [1, 2 ** 16], evaluationSequences: [1, 2 ** 16] },
  ...{ vocabulary: [1], classes: [1], 'evaluation.n': [1, 6] },
  ...{ 'evaluation.tokens': [0, 4], 'evaluation.targets': [-1, 2], ...draws },
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
  whole: { heads: [1] },
};

const completeCalls: Record<string, RightCall> = {
  sinusoidal: {
    sound: [encoding],
    huge: [{ positions: 2 ** 22, d_model: 512 }],
    whole: { positions: [0], d_model: [1] },
  },
  sinusoidalFrequencies: { sound: [spectrum], whole: { d_model: [1] } },
  randomNormal: {
    sound: [{ rows: 2, columns: 3, seed: 1, stream: 0, standardDeviation: 1 }],
    huge: [{ rows: 2 ** 22, columns: 512, seed: 1 }],
    whole: { rows: [0], columns: [1], ...draws },
  },
  randomUniform: {
    sound: [{ rows: 2, columns: 3, seed: 1, stream: 0 }],
    huge: [{ rows: 2 ** 22, columns: 512, seed: 1 }],
    whole: { rows: [0], columns: [1], ...draws },
  },
  rotate: {
    sound: [{ rows: token, heads: 2, firstPosition: 0, layout: 'interleaved', base: 10000 }],
    huge: [{ rows: zeros(2 ** 22, 10) }],
  },
  dotProducts: {
    sound: [{ token, position, positionScale: 1 }],
    huge: [{ token: zeros(20_000, 1), position: zeros(20_000, 1) }],
  },
  decompose: {
    ...decomposition,
    sound: [{ ...rightDecomposition, groups: { all: ['token', 'position', 'constant'] } }],
  },
  transformerStack: {
    sound: [
      {
        ...{ d_model: 4, heads: 2, norm: 'pre', activation: 'gelu_tanh', causal: true },
        ...{ embeddingNorm: normalization, finalNorm: normalization },
      },
    ],
    whole: { d_model: [1], heads: [1] },
  },
  combineTerms: { sound: [scores, 1, [Array(9).fill(true)]] },
  poolShares: {
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
    sound: [{ ...encoding, offset: 1 }],
    huge: [{ positions: 2 ** 22, d_model: 64, offset: 1 }],
  },
  gram: { sound: [token], huge: [zeros(20_000, 1)] },
  toeplitzSpread: { sound: [table(3, 3)], huge: [zeros(12_000, 12_000)] },
  offsetMeans: { sound: [table(3, 3)], huge: [zeros(12_000, 12_000)] },
  rowLengths: { sound: [token], huge: [zeros(2 ** 22, 31)] },
  rowCosines: { sound: [token, position], huge: [zeros(20_000, 1), zeros(20_000, 1)] },
  summary: { anyLength: true, sound: [new Float64Array(3)], huge: [new Float64Array(2 ** 26)] },
  largestDifference: {
    anyLength: true,
    sound: [new Float64Array(3), new Float64Array(3)],
    huge: [new Float64Array(2 ** 26), new Float64Array(2 ** 26)],
  },
  difference: {
    anyLength: true,
    sound: [new Float64Array(3), new Float64Array(3)],
    huge: [new Float64Array(2 ** 26), new Float64Array(2 ** 26)],
  },
  sum: {
    anyLength: true,
    sound: [new Float64Array(3), new Float64Array(3)],
    huge: [new Float64Array(2 ** 26), new Float64Array(2 ** 26)],
  },
  formGrams: { sound: [{ ...encoding, seed: 1 }], huge: [{ positions: 20_000, d_model: 4, seed: 1 }] },
  channelRanges: { sound: [token], huge: [zeros(2 ** 22, 33)] },
  ranks: {
    sound: [{ table: token, centred: true, share: 0.9 }],
    huge: [{ table: zeros(2 ** 22, 6) }],
  },
  sampleCosines: { sound: [{ d: 4, count: 3, seed: 1 }], huge: [{ d: 512, count: 2 ** 22, seed: 1 }] },
  randomPrincipalAngles: {
    sound: [{ d: 4, k1: 2, k2: 2, seed: 1 }],
    huge: [{ d: 2 ** 14, k1: 2 ** 13, k2: 2 ** 13, seed: 1 }],
  },
  angleCosines: {
    anyLength: true,
    sound: [new Float64Array(2)],
    huge: [new Float64Array(2 ** 26 + 1)],
  },
  energyOverlap: {
    sound: [{ tokens: token, positions: position, centred: true }],
    huge: [{ tokens: zeros(2 ** 22, 8), positions: zeros(2 ** 22, 8) }],
  },
  overlapCurve: {
    sound: [{ tokens: token, positions: position, k: 2 }],
    huge: [{ tokens: zeros(2 ** 22, 8), positions: zeros(2 ** 22, 8), k: 2 }],
  },
  obliqueProjection: {
    sound: [{ u: table(3, 1), w: table(3, 1), noise: table(2, 3) }],
    huge: [{ u: zeros(10_000, 1), w: zeros(10_000, 1) }],
  },
  centred: { sound: [token], huge: [zeros(2 ** 22, 10)] },
  moveMean: {
    sound: [{ from: position, to: token, amount: 0.5 }],
    huge: [{ from: zeros(2 ** 22, 8), to: zeros(2 ** 22, 8), amount: 1 }],
  },
  collisionSearch: {
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
    sound: [taskTrainer],
    also: [[{ ...taskTrainer, scheme: 'add', d_position: undefined }], [ownTrainer]],
    whole: trainerWhole,
    huge: [{ task: 'prev', n: 20_000 }],
  },
  loudnessRecipes: { sound: [{ d_model: 4 }], whole: { d_model: [1] } },
  taskExamples: {
    sound: [{ task: 'prev', n: 6, sequences: 2, seed: 1 }],
    whole: { n: [1], sequences: [1, 2 ** 16], ...draws },
    huge: [{ task: 'prev', n: 2 ** 20, sequences: 2 ** 10 }],
  },
  taskTargets: {
    sound: [{ task: 'prev', n: 2, tokens: [1, 0, 0, 1] }],
    whole: { n: [1], tokens: [0, 1] },
  },
  encodeSafetensors: {
    alsoLists: true,
    sound: [{ w: table(2, 2), v: table(1, 3) }, { name: 'x' }],
    huge: [{ w: large, v: large, u: large }],
  },
  readSafetensorsHeader: { sound: [new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0x7d]), 10] },
  decodeSafetensors: { sound: [entry, new Uint8Array(8)] },
};

type Call = (...args: unknown[]) => unknown;

/** The calls that the documentation's examples make of their own functions. */
async function recordedCalls(): Promise<Record<string, RightCall>> {
  const found: Record<string, RightCall> = {};
  for (const example of examples as readonly { name: string; code: string }[]) {
    const calls: unknown[][] = [];
    const own = (...args: unknown[]) => {
      calls.push(args);
      return (plain[example.name as keyof typeof plain] as unknown as Call)(...args);
    };
    await runExample({ ...plain, [example.name]: own }, example);
    const [sound, ...also] = calls;
    if (sound && !found[example.name]) found[example.name] = { sound, also };
  }
  return found;
}

export const rightCalls: Record<string, RightCall> = { ...(await recordedCalls()), ...completeCalls };
