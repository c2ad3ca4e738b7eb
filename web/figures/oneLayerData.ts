// What can be set in the figure "one-layer", and what is computed of it.
import type { Cost, ModelShape, PositionCostWay, Table } from 'superpose';
import type { Controls, StateOf } from './controls.js';
import type { Compute } from './figure.js';

/** Ways to give BERT-base its positions, and what each does. */
export const ways = {
  add: ['add', 'added'],
  divided: ['concat', 'as wide: 704 + 64'],
  projected: ['project', 'projected back'],
  scores: ['tupe', 'in queries and keys'],
  wider: ['concat-wide', '64 wider'],
  widest: ['concat-wide', '768 wider'],
} as const satisfies Record<string, readonly [PositionCostWay, string]>;
export type Way = keyof typeof ways;

export const controls = {
  pull: { kind: 'range', label: 'Pull W₂ to W₁', min: 0, max: 1, step: 0.05, initial: 0 },
  norm: { kind: 'toggle', label: 'LayerNorm between, as in BERT', initial: false },
  way: {
    kind: 'choice',
    label: 'Price in BERT-base',
    options: {
      none: 'choose one',
      divided: '704 + 64',
      projected: 'projected back',
      scores: 'queries, keys',
      wider: '64 wider',
      widest: '768 wider',
    },
    initial: 'none',
  },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 35 },
  d: { kind: 'range', more: true, label: 'Width d', min: 4, max: 16, step: 1, initial: 8 },
  segments: { kind: 'toggle', more: true, label: 'A third row: segment', initial: false },
  scale: {
    kind: 'steps',
    more: true,
    label: 'ρ: positions times',
    values: [0.25, 0.5, 1, 2, 4],
    initial: 1,
  },
  undoes: { kind: 'toggle', more: true, label: 'W₂ divided by ρ', initial: false },
  token: { kind: 'text', more: true, label: 'Token: d numbers; none: drawn', longest: 160, initial: '' },
  position: {
    kind: 'text',
    more: true,
    label: 'Position: d numbers; none: drawn',
    longest: 160,
    initial: '',
  },
} as const satisfies Controls;
export type State = StateOf<typeof controls>;

/** What a token, a position and a segment are called, in the order of their rows. */
export const names = ['token', 'position', 'segment'] as const;

export interface Data {
  /** [d] each: token, position and perhaps segment. */
  parts: Float64Array[];
  /** Which of them the reader's text could not give. */
  unread: string[];
  /** [d, d] each, as the layer that reads both has them. */
  weights: Float64Array[];
  added: Float64Array;
  concatenated: Float64Array;
  difference: number;
  apart: number;
  /** Over many drawn pairs, after the best rescaling. */
  miss: number;
  /** How many times as long as the added output the concatenated one is: the least and the most of those pairs. */
  lengths: [number, number];
  sharedMiss: number;
  /** The largest change of the concatenated output by ρ, once W₂ is divided by it and no norm is between. */
  undone: number;
  /** The largest output, pulled or not. */
  largest: number;
  costs: Record<Way, Cost>;
}

export const pairs = 256;
const spread = 0.8;

/** Numbers between spaces or commas; undefined unless there are as many as channels. */
export function rowOf(text: string, d: number): Float64Array | undefined {
  const numbers = text.split(/[\s,]+/).filter((word) => word !== '');
  const row = Float64Array.from(numbers, Number);
  return row.length === d && row.every((one) => Math.abs(one) <= 100) ? row : undefined;
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.small();
  const { d, seed, pull, scale, undoes, segments, norm } = state;
  const of = segments ? names : names.slice(0, 2);
  const draw = (stream: number, rows: number, standardDeviation: number | 'fan_in'): Table<Float64Array> =>
    superpose.randomNormal({ rows, columns: d, seed, stream, standardDeviation });
  const texts = [state.token, state.position, ''];
  const parts = of.map((_, k): Table<Float64Array> => {
    const given = rowOf(texts[k] as string, d);
    return given ? { data: given, rows: 1, columns: d } : draw(k, 1, spread);
  });
  const weights = of.map((_, k) => draw(3 + k, d, 'fan_in'));
  const layer = { weights, pull, positionScale: scale, undoes, norm: norm ? 'layer_norm' : 'none' } as const;
  const shown = superpose.oneLayer({ ...layer, parts });
  const many = superpose.oneLayer({ ...layer, parts: of.map((_, k) => draw(6 + k, pairs, spread)) });
  const [long, short] = [many.concatenated, many.added].map((data) =>
    superpose.rowLengths({ data, rows: pairs, columns: d }),
  ) as [Float64Array, Float64Array];
  const times = superpose.summary(long.map((length, k) => length / (short[k] as number)));
  const bare = { parts, weights, pull };
  const ends = [0, 1].map((pull) => superpose.oneLayer({ ...layer, parts, pull }));
  return {
    parts: parts.map(({ data }) => data),
    unread: of.filter((_, k) => texts[k] !== '' && !rowOf(texts[k] as string, d)),
    weights: shown.weights.map(({ data }) => data),
    added: shown.added,
    concatenated: shown.concatenated,
    difference: shown.difference,
    apart: shown.apart,
    miss: many.miss,
    lengths: [times.least, times.largest],
    sharedMiss: shown.sharedMiss,
    undone: superpose.largestDifference(
      superpose.oneLayer({ ...bare, positionScale: scale, undoes: true }).concatenated,
      superpose.oneLayer(bare).concatenated,
    ),
    largest: Math.max(
      ...ends.flatMap(({ added, concatenated }) =>
        [added, concatenated].map((list) => superpose.summary(list).largestSize),
      ),
    ),
    costs: costsOf((way, shape) => superpose.positionCost(way, shape)),
  };
};

function costsOf(cost: (way: PositionCostWay, shape: ModelShape) => Cost): Record<Way, Cost> {
  const bert = { vocabulary: 30522, positions: 512, segments: 2, d_model: 768, layers: 12 };
  const entries = Object.entries(ways).map(([name, [way]]): [string, Cost] => {
    const d_position = name === 'widest' ? 768 : 64;
    // 12 heads do not divide 832 channels.
    const heads = name === 'wider' ? 13 : 12;
    return [name, cost(way, { ...bert, heads, d_position, d_position_head: 64 })];
  });
  return Object.fromEntries(entries) as Record<Way, Cost>;
}

/** ×0.979: the weights beside those of adding. */
export const times = ({ costs }: Data, way: Way): string => {
  const ratio = costs[way].total / costs.add.total;
  return `×${Math.abs(ratio - 1) < 0.01 ? ratio.toFixed(3) : ratio.toFixed(2)}`;
};
