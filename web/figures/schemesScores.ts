// The settings of the figure "schemes", and the scores of every scheme for the same tokens.

import type {
  SchemeId as Id,
  OffsetMeans,
  SchemeInfo,
  SchemeInput,
  SchemeScores,
  Superpose,
  Table,
} from 'add-or-concatenate';
import { extent } from 'd3-array';
import { largestMagnitude } from '../plot/parts.js';
import { type Controls as AnyControls, labelled, type StateOf } from './controls.js';
import type { Library } from './figure.js';
import { type AnovaTerm, kinds } from './schemeTexts.js';

// Marked as pure, so that the worker's bundle, which draws nothing, leaves the texts out.
export const ids = /* @__PURE__ */ Object.keys(kinds) as Id[];

const names = /* @__PURE__ */ labelled(ids, (id) => kinds[id].name);

export const controls = {
  scheme: {
    kind: 'choice',
    label: 'Scheme',
    options: names,
    initial: 'add',
  },
  words: {
    kind: 'choice',
    label: 'Tokens',
    options: { same: 'One token, repeated', many: 'All different' },
    initial: 'same',
    radio: true,
  },
  common: { kind: 'toggle', more: true, label: 'As much common to all as apart', initial: false },
  causal: { kind: 'toggle', more: true, label: 'Causal', initial: false },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
} as const satisfies AnyControls;

export type Controls = typeof controls;
export type State = StateOf<Controls>;

/** What a map depends on: nothing, the offset alone, or also the two places. */
type Depends = 'nothing' | 'offset' | 'places';

/** A map, [n, n], and how much of its variation the offset explains. */
export interface OffsetMap {
  values: Float64Array;
  /**
   * `kernel`, [2n − 1], is the mean at each offset j − i from −(n − 1) on; `share` is how much of the
   * variation the offset explains.
   */
  offsets: OffsetMeans;
  /** The largest distance of a value from the mean of all. */
  limit: number;
  depends: Depends;
}

export interface Data {
  n: number;
  /** Shares of the variation over the keys, by `anovaTerms`; NaN if nothing varies. */
  schemes: Record<Id, { logits: OffsetMap; softmax: Float64Array; shares: Float64Array }>;
  /** The chosen scheme's terms, without those that are 0 everywhere. */
  terms: (OffsetMap & { name: AnovaTerm })[];
  name: string;
  tex: string;
  parameters: number;
}

/** A difference below this fraction of a map's largest value is rounding. */
export const mapRounding = 1e-9;

/** The shape of BERT-base, for which parameters are counted. Its sequences have 512 tokens. */
export const shape = { d_model: 768, heads: 12, d_head: 64, layers: 12, positions: 512, buckets: 32 };

/**
 * Widths of positions that differ from d_model: DIET’s default, and half a head of RoPE, as in DeepSeek-V2.
 */
export const positionWidths: Partial<Record<Id, number>> = { 'diet-abs': 64, 'decoupled-rope': 32 };

const d_model = 64;
/** How many tokens there are. */
export const n = 24;

const heads = 8;

/**
 * Schemes computed for all heads: each head has its own table or slope, or all heads' numbers are drawn at
 * once.
 */
const ofAllHeads: ReadonlySet<Id> = new Set<Id>(['t5', 'alibi', 'tupe-r', 'diet-abs', 'diet-rel']);

const streams = { content: 0, query: 1, key: 2, positionQuery: 3, positionKey: 4, common: 5 };

interface Computed {
  scores: SchemeScores;
  shown: Data['schemes'][Id];
}

/** The scores of all schemes. Memoized, so that choosing another scheme computes none again. */
export const scoresOfAll = (
  library: Library,
  superpose: Superpose,
  schemes: readonly SchemeInfo[],
  state: State,
): Record<Id, Computed> =>
  library.memoize('schemes', [state.words, state.common, state.causal, state.seed], () => {
    const content = contentOf(superpose, state);
    const computed = ({ id }: SchemeInfo): [Id, Computed] => {
      const scores = superpose.schemeScores(inputOf(library, superpose, id, content, state));
      const logits = offsetMap(superpose, scores.logits);
      return [id, { scores, shown: { logits, softmax: scores.weights, shares: scores.shares } }];
    };
    return Object.fromEntries(schemes.map(computed)) as Record<Id, Computed>;
  });

/** The weights of all heads, and those of the first head. */
const weightsOf = ({ memoize }: Library, superpose: Superpose, seed: number) =>
  memoize('schemes: weights', seed, () => {
    const weights = Object.values(streams).map((stream) =>
      superpose.randomNormal({
        rows: d_model,
        columns: d_model,
        seed,
        stream,
        standardDeviation: 'fan_in',
      }),
    );
    const rows = d_model / heads;
    const first = weights.map(({ data, columns }) => ({
      data: data.slice(0, rows * columns),
      rows,
      columns,
    }));
    return { weights, first };
  });

function contentOf(superpose: Superpose, { words, common, seed }: State): Table<Float64Array> {
  const stream = streams.content;
  if (words === 'many') {
    const drawn = superpose.randomNormal({ rows: n, columns: d_model, seed, stream });
    if (!common) return drawn;
    const row = superpose.randomNormal({ rows: 1, columns: d_model, seed, stream: streams.common }).data;
    const data = drawn.data.map((value, at) => value + (row[at % d_model] as number));
    return { ...drawn, data };
  }
  const word = superpose.randomNormal({ rows: 1, columns: d_model, seed, stream }).data;
  const data = new Float64Array(n * d_model);
  for (let row = 0; row < n; row++) data.set(word, row * d_model);
  return { data, rows: n, columns: d_model };
}

/**
 * The input for a scheme's first head. All schemes have the same weights for words; other heads are left out
 * where that is possible.
 */
function inputOf(
  library: Library,
  superpose: Superpose,
  scheme: Id,
  content: Table<Float64Array>,
  { seed, causal }: State,
): SchemeInput {
  const { weights: all, first } = weightsOf(library, superpose, seed);
  // Raw concatenation has no weights, so all heads are the same.
  const raw = scheme === 'concat-raw';
  const weights = raw || ofAllHeads.has(scheme) ? all : first;
  const linear = (stream: number) => ({ weight: weights[stream] as Table<Float64Array> });
  const words = { query: linear(streams.query), key: linear(streams.key) };
  const places = {
    positionQuery: linear(streams.positionQuery),
    positionKey: linear(streams.positionKey),
  };
  const positions = () => ({ position: superpose.sinusoidal({ positions: n, d_model }) });
  // A scheme's input has only the positions and weights that it uses; others would be refused.
  const positionInputs: Partial<Record<Id, () => object>> = {
    add: positions,
    'concat-raw': positions,
    'concat-full': () => ({ ...positions(), ...places }),
    'concat-block-diagonal': () => ({ ...positions(), ...places }),
    'transformer-xl': () => ({
      offsetKey: places.positionKey,
      // Sinusoids of i − j, as Transformer-XL has them.
      offsets: superpose.sinusoidal({
        positions: 2 * n - 1,
        d_model,
        layout: 'concatenated',
        firstPosition: 1 - n,
      }),
    }),
    t5: () => ({ bidirectional: !causal }),
    deberta: () => ({ ...places, clip: n }),
    'tupe-a': () => places,
    'tupe-r': () => places,
  };
  const weightHeads = ofAllHeads.has(scheme) ? heads : 1;
  return {
    scheme,
    content,
    ...words,
    heads: weightHeads,
    only: [0],
    causal,
    seed,
    standardDeviation: 1,
    terms: 'anova',
    ...positionInputs[scheme]?.(),
  } as SchemeInput;
}

/** A map with what it depends on, apart from rounding. */
export function offsetMap(superpose: Superpose, values: Float64Array): OffsetMap {
  const offsets = superpose.offsetMeans({ data: values, rows: n, columns: n });
  const [least = 0, largest = 0] = extent(values);
  const size = mapRounding * Math.max(-least, largest, Number.MIN_VALUE);
  const varies = largestMagnitude([offsets.kernel]) > size;
  const depends = offsets.maxDeviation > size ? 'places' : varies ? 'offset' : 'nothing';
  return { values, offsets, limit: Math.max(largest - offsets.mean, offsets.mean - least), depends };
}
