// The settings and numbers of the figure "one-layer".
import type {
  Cost,
  ModelShape,
  OneLayer,
  PositionCostWay,
  SmallSuperpose,
  Summary,
  Table,
} from 'add-or-concatenate';
import { aboutPercent, rounding } from '../plot/format.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute } from './figure.js';

/**
 * Ways to give BERT-base its positions, by their names in the settings: the name under which the cost is
 * computed, and the label.
 */
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
  pull: {
    kind: 'range',
    label: 'Drag W₂ onto W₁',
    min: 0,
    max: 1,
    step: 0.01,
    initial: 0,
    byHand: true,
  },
  norm: { kind: 'toggle', label: 'And if a LayerNorm comes between?', initial: false },
  way: {
    kind: 'choice',
    more: true,
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

/** The names of the rows, in their order. */
export const names = ['token', 'position', 'segment'] as const;

export interface Data {
  /** [d] for the token, the position and, if it is shown, the segment. */
  parts: Float64Array[];
  /** The rows whose text is not d numbers. They are random instead. */
  unread: string[];
  /**
   * [d, d] for each part, as the layer that reads the concatenation has them: a row for each output, a column
   * for each channel.
   */
  weights: Float64Array[];
  added: Float64Array;
  concatenated: Float64Array;
  /** [d] for each part: what it adds to the concatenated output. */
  contributions: readonly Float64Array[];
  difference: number;
  /** ‖concatenated − added‖ / ‖added‖. */
  relativeDifference: number;
  /** How far the outputs are from each other over many random pairs, after the best rescaling. */
  miss: number;
  /** ‖concatenated‖ / ‖added‖ of the pair that is shown. */
  length: number;
  /**
   * The same ratio over the random pairs and, if there is a LayerNorm, over as many pairs of BERT-base's
   * width.
   */
  lengths: Summary;
  wideLengths: Summary | undefined;
  sharedMiss: number;
  /**
   * The largest difference that ρ makes to the concatenated output when W₂ is divided by ρ and there is no
   * LayerNorm.
   */
  undone: number;
  /** The largest magnitude of an output or of a partial sum of contributions, at either end of the pull. */
  largest: number;
  costs: Record<Way, Cost>;
}

/** The number of random pairs of a token and a position over which lengths are compared. */
export const pairs = 256;
/** The standard deviation of random rows. */
const spread = 0.8;
/** The largest number, in size, that a reader may enter. */
const largestEntry = 100;

/** A row from numbers between spaces or commas; undefined unless there are d of them. */
export function rowOf(text: string, d: number): Float64Array | undefined {
  const numbers = text.split(/[\s,]+/).filter((word) => word !== '');
  const row = Float64Array.from(numbers, Number);
  return row.length === d && row.every((value) => Math.abs(value) <= largestEntry) ? row : undefined;
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.small();
  const { d, seed, pull, scale, undoes, segments, norm } = state;
  const of = segments ? names : names.slice(0, 2);
  const draw = (stream: number, rows: number, standardDeviation: number | 'fan_in'): Table<Float64Array> =>
    superpose.randomNormal({ rows, columns: d, seed, stream, standardDeviation });
  const texts = [state.token, state.position, ''];
  const parts = of.map((_, k): Table<Float64Array> => {
    const entered = rowOf(texts[k] as string, d);
    return entered ? { data: entered, rows: 1, columns: d } : draw(k, 1, spread);
  });
  const weights = of.map((_, k) => draw(3 + k, d, 'fan_in'));
  const layer = { weights, pull, positionScale: scale, undoes, norm: norm ? 'layer_norm' : 'none' } as const;
  const shown = superpose.oneLayer({ ...layer, parts });
  const many = superpose.oneLayer({ ...layer, parts: of.map((_, k) => draw(6 + k, pairs, spread)) });
  const bare = { parts, weights, pull };
  const ends = [0, 1].map((pull) => superpose.oneLayer({ ...layer, parts, pull }));
  return {
    parts: parts.map(({ data }) => data),
    unread: of.filter((_, k) => texts[k] !== '' && !rowOf(texts[k] as string, d)),
    weights: shown.weights.map(transposed),
    added: shown.added,
    concatenated: shown.concatenated,
    contributions: shown.contributions,
    difference: shown.difference,
    relativeDifference: shown.relativeDifference,
    miss: many.miss,
    length: shown.lengthRatios[0] as number,
    lengths: superpose.summary(many.lengthRatios),
    wideLengths: norm
      ? await library.memoize('one-layer wide', { count: of.length, seed, scale }, async () =>
          wideLengths(superpose, of.length, seed, scale),
        )
      : undefined,
    sharedMiss: shown.sharedMiss,
    undone: superpose.largestDifference(
      superpose.oneLayer({ ...bare, positionScale: scale, undoes: true }).concatenated,
      superpose.oneLayer(bare).concatenated,
    ),
    largest: Math.max(...ends.flatMap((end) => sizes(superpose, end))),
    costs: costsOf((way, shape) => superpose.positionCost(way, shape)),
  };
};

/** The numbers of the transposed matrix, row by row. */
const transposed = ({ data, rows, columns }: Table<Float64Array>): Float64Array =>
  data.map((_, at) => data[(at % rows) * columns + Math.floor(at / rows)] as number);

/**
 * The largest magnitudes of what is drawn of an output: of both outputs, and of each partial sum of
 * contributions.
 */
function sizes(superpose: SmallSuperpose, { added, concatenated, contributions }: OneLayer): number[] {
  let sum: Float64Array = new Float64Array(added.length);
  const sums = contributions.map((part) => {
    sum = superpose.sum(sum, part);
    return sum;
  });
  return [added, concatenated, ...sums].map((list) => superpose.summary(list).largestSize);
}

/** BERT-base's width. */
export const bertWidth = 768;

/** The lengths over random pairs of BERT-base's width, with LayerNorm and one matrix for all parts. */
function wideLengths(superpose: SmallSuperpose, count: number, seed: number, positionScale: number): Summary {
  const draw = (stream: number, rows: number, columns: number) =>
    superpose.randomNormal({ rows, columns, seed, stream, standardDeviation: spread });
  const parts = Array.from({ length: count }, (_, k) => draw(9 + k, pairs, bertWidth));
  const weights = parts.map(() => draw(3, bertWidth, 1));
  return superpose.summary(
    superpose.oneLayer({ parts, weights, positionScale, norm: 'layer_norm' }).lengthRatios,
  );
}

function costsOf(cost: (way: PositionCostWay, shape: ModelShape) => Cost): Record<Way, Cost> {
  const bert = { vocabulary: 30522, positions: 512, segments: 2, d_model: 768, layers: 12 };
  const entries = Object.entries(ways).map(([name, [way]]): [string, Cost] => {
    const d_position = name === 'widest' ? 768 : 64;
    // 832 channels cannot be divided among 12 heads.
    const heads = name === 'wider' ? 13 : 12;
    return [name, cost(way, { ...bert, heads, d_position, d_position_head: 64 })];
  });
  return Object.fromEntries(entries) as Record<Way, Cost>;
}

/** Whether one matrix reads all parts. */
export const isOneMatrix = ({ pull, undoes, scale }: State): boolean =>
  pull === 1 && !(undoes && scale !== 1);

/** How far the outputs are from each other: a number, and the words that go with it. */
export function distanceOf(data: Data, state: State): readonly [number: string, words: string] {
  if (state.norm && isOneMatrix(state))
    return [`×${data.length.toFixed(2)}`, 'as long, in the same direction'];
  const words = 'apart, of the added output’s length';
  return [data.difference <= rounding ? `0\u202f%` : aboutPercent(data.relativeDifference), words];
}

/** The number of weights over that of adding, such as ×0.979. */
export const times = ({ costs }: Data, way: Way): string => {
  const ratio = costs[way].total / costs.add.total;
  return `×${Math.abs(ratio - 1) < 0.01 ? ratio.toFixed(3) : ratio.toFixed(2)}`;
};
