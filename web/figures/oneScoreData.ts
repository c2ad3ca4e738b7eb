// What can be set in the figure "one-score"; the layer and the rows behind it, MiniLM's or drawn; its scores taken apart.
import type { DecomposeInput, Floats, Scores, SmallSuperpose, Table } from 'superpose';
import type { Term } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import { drawnRows, positionRows, rowName } from './drawnRows.js';
import type { Library } from './figure.js';
import { groups, ofSixteen, sharedOut, termKinds, termLabels, terms } from './terms.js';
import { apartOf, gaugeControl, headControl, mostTokens, sentenceControl } from './trainedModel.js';

export const controls = {
  weights: {
    kind: 'choice',
    label: 'Tables and weights',
    options: {
      trained: 'Your sentence, MiniLM’s weights',
      seeded: 'Random tokens and weights',
    },
    initial: 'trained',
  },
  head: { ...headControl, initial: 2 },
  view: {
    kind: 'choice',
    more: true,
    label: 'Terms',
    options: { four: 'Four questions, and the rest', sixteen: 'All sixteen' },
    initial: 'four',
    radio: true,
  },
  on: {
    kind: 'several',
    more: true,
    label: 'Terms included',
    options: termLabels,
    initial: terms,
  },
  gauge: { ...gaugeControl, more: true },
  centred: { kind: 'toggle', more: true, label: 'Centre each row', initial: true },
  tables: {
    kind: 'toggle',
    more: true,
    label: 'Show the tables and their dot products',
    initial: false,
  },
  positions: {
    kind: 'choice',
    more: true,
    label: 'Positions',
    options: {
      own: 'MiniLM’s; sines for random tokens',
      interleaved: 'Sines, 2017 paper',
      tensor2tensor: 'Sines, tensor2tensor',
      random: 'Random, as long as sines',
    },
    initial: 'own',
  },
  scale: {
    kind: 'range',
    more: true,
    label: 'Position scale ρ',
    min: 0,
    max: 4,
    step: 0.05,
    initial: 1,
  },
  layer: {
    kind: 'choice',
    more: true,
    label: 'Random layer',
    options: { whole: 'With LayerNorm and biases', bare: 'Without' },
    initial: 'whole',
    radio: true,
  },
  d: {
    kind: 'steps',
    more: true,
    label: 'Width d',
    values: [4, 8, 16, 32, 64, 128, 256, 384],
    initial: 384,
  },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 16 },
  heads: { kind: 'steps', more: true, label: 'Heads', values: [1, 2, 4, 8, 12], initial: 12 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  text: { ...sentenceControl, more: true },
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export interface Panel {
  sum: Floats;
  centred: Floats;
  share: number;
}

export interface OneScore {
  tokens: readonly string[];
  dropped: number;
  n: number;
  panels: Panel[];
  /** The direct logits, not the sum of the terms. */
  logits: Panel;
  /** The terms that are on. */
  kept: Panel & { softmax: Floats };
  /** The largest |sum of all terms − logits|. */
  residual: number;
  /** The five shares of each head, to choose one by; empty if only one head was taken apart. */
  heads: number[][];
  /** What the scores are of, if it is shown. */
  tables?: Tables | undefined;
}

/** [n, d]: the tokens, the positions as they are scaled, and their sum; [n, n]: their dot products. */
export interface Tables {
  d: number;
  rows: Record<'token' | 'position' | 'sum', Float64Array>;
  products: Record<'concatenated' | 'added', Float64Array>;
  correlation: number;
}

export type Data = OneScore;

interface PanelKind {
  label: string;
  question: string;
  term: Term;
}

const parts = ['token', 'position', 'segment', 'constant'];

/** The four questions, and all that is left. */
const questions: Record<Term, string> = {
  'token-token': 'Tokens together?',
  'token-position': 'Token asks position?',
  'position-token': 'Position asks token?',
  'position-position': 'Positions together?',
  rest: 'Means, β and biases',
};

export const fourPanels: PanelKind[] = termKinds.map((kind) => ({ ...kind, question: questions[kind.term] }));

const sixteenPanels: PanelKind[] = parts.flatMap((queryPart, s) =>
  parts.map((keyPart, r) => {
    const index = s * parts.length + r;
    const term = terms.find((one) => ofSixteen[one].includes(index)) as Term;
    return { label: `${queryPart} → ${keyPart}`, question: '', term };
  }),
);

/** In the canonical gauge, the segment is only one of the means. */
const rawFourPanels = fourPanels.map((panel) =>
  panel.term === 'rest' ? { ...panel, question: 'Segment, β and biases' } : panel,
);

export const kindsOf = ({ view, gauge }: State): PanelKind[] =>
  view === 'sixteen' ? sixteenPanels : gauge === 'raw' ? rawFourPanels : fourPanels;

/** By panel, the numbers of the terms that it adds up. */
export const termsOf = ({ view }: State): number[][] =>
  view === 'sixteen'
    ? Array.from({ length: 16 }, (_, number) => [number])
    : terms.map((term) => ofSixteen[term]);

export const values = (panel: Panel, { centred }: State) => (centred ? panel.centred : panel.sum);

export type Layer = Pick<DecomposeInput<Float64Array>, 'normalization' | 'query' | 'key' | 'heads'>;
export type LayerSummands = Record<'token' | 'position' | 'token_type', Table<Float64Array>>;

/** Of weights and of the segment; tokens and positions have streams 0 and 1 of their seed. */
const streams = { query: 2, key: 3, queryBias: 4, keyBias: 5, segment: 6 };

export interface LayerOptions {
  d: number;
  heads: number;
  seed: number;
  /** Without LayerNorm and biases. */
  bare?: boolean;
}

/** Normal weights, with LayerNorm and biases unless it is bare: then its constant part is zero. */
export function drawnLayer({ kept }: Library, superpose: SmallSuperpose, options: LayerOptions): Layer {
  const { d, heads, seed, bare = false } = options;
  // Drawing the weights takes longer than anything else.
  return kept('drawn layer', [d, heads, seed, bare], () => {
    const rows = heads * Math.max(1, Math.floor(d / heads));
    const linear = (weight: number, bias: number) => ({
      weight: superpose.randomNormal({
        rows,
        columns: d,
        seed,
        stream: weight,
        standardDeviation: 'fan_in',
      }),
      bias: bare
        ? new Float64Array(rows)
        : superpose.randomNormal({ rows: 1, columns: rows, seed, stream: bias, standardDeviation: 0.1 }).data,
    });
    return {
      ...(!bare && { normalization: { kind: 'layer_norm', epsilon: 1e-12 } as const }),
      query: linear(streams.query, streams.queryBias),
      key: linear(streams.key, streams.keyBias),
      heads,
    };
  });
}

/** One segment for all tokens; none in a bare layer. */
export function drawnSegment(
  superpose: SmallSuperpose,
  n: number,
  { d, seed, bare = false }: LayerOptions,
): Table<Float64Array> {
  const data = new Float64Array(n * d);
  if (!bare) {
    const row = superpose.randomNormal({
      rows: 1,
      columns: d,
      seed,
      stream: streams.segment,
      standardDeviation: 0.5,
    }).data;
    for (let token = 0; token < n; token++) data.set(row, token * d);
  }
  return { data, rows: n, columns: d };
}

/** What is taken apart: rows that are added up, and the layer that reads them. */
interface SentenceLayer {
  tokens: readonly string[];
  dropped: number;
  summands: LayerSummands;
  layer: Layer;
}

const doubles = ({ data, rows, columns }: Table): Table<Float64Array> => ({
  data: Float64Array.from(data),
  rows,
  columns,
});

const positionsOf = (
  library: Library,
  superpose: SmallSuperpose,
  { positions, seed }: State,
  n: number,
  d_model: number,
): Table<Float64Array> =>
  doubles(
    positionRows(library, superpose, positions === 'own' ? 'interleaved' : positions, n, d_model, seed),
  );

async function given(library: Library, state: State): Promise<SentenceLayer> {
  const superpose = await library.small();
  const { weights, text, heads, layer, seed } = state;
  if (weights === 'seeded') {
    const token = drawnRows(library, superpose, 'token', { rows: state.n, columns: state.d, seed });
    const { rows: n, columns: d } = token;
    const drawn = { d, heads, seed, bare: layer === 'bare' };
    const position = positionsOf(library, superpose, state, n, d);
    return {
      tokens: Array.from({ length: n }, (_, place) => rowName(library, place)),
      dropped: 0,
      summands: {
        token: doubles(token),
        position,
        token_type: drawnSegment(superpose, n, drawn),
      },
      layer: drawnLayer(library, superpose, drawn),
    };
  }
  const model = await library.miniLM();
  const sentence = await model.tokenize(text, mostTokens);
  const { tokens, dropped } = sentence;
  const summands = await model.rows(sentence);
  const { rows: n, columns: d } = summands.token;
  return {
    tokens,
    dropped,
    summands: {
      ...summands,
      ...(state.positions !== 'own' && {
        position: positionsOf(library, superpose, state, n, d),
      }),
    },
    layer: await model.layer(),
  };
}

interface SplitScores extends Omit<SentenceLayer, 'layer'> {
  scores: Scores<Float64Array>;
}

/** Switching a term off and on must not take the scores apart again, nor choosing a head all heads. */
export async function takeApart(
  library: Library,
  state: State,
): Promise<{ taken: SplitScores; heads: number[][] }> {
  const superpose = await library.small();
  const { weights, text, gauge, n, d, heads: count, seed, positions, scale, layer: kind } = state;
  const ofWeights = weights === 'trained' ? [] : [count, seed, kind];
  const key = [library.own?.key, weights, gauge, positions, scale, seed, ofWeights];
  key.push(weights === 'seeded' ? [n, d] : text);
  const { how, layer, ...said } = await library.kept('one-score: rows', key, async () => {
    const { summands, ...other } = await given(library, state);
    const { token, position, token_type } = summands;
    const scaled = superpose.bertEmbeddings({ token, position, positionScale: scale }).summands;
    const apart = apartOf(gauge, weights === 'seeded' ? 'seeded' : 'trained');
    return { ...other, how: { summands: { token, position: scaled.position, token_type }, gauge, apart } };
  });
  // Packed once: ρ, the positions and the gauge move no weight.
  const held = library.kept('one-score: layer', [ofWeights, layer.query.weight.columns], () =>
    superpose.layer(layer),
  );
  const taken = library.kept('one-score: head', [state.head, key], () => {
    const scores = held.decompose({ ...how, only: [state.head] });
    return { ...said, summands: how.summands, scores };
  });
  const heads = library.kept('one-score: heads', key, () =>
    // Of the rows for each head, the mean and all pooled, the heads'.
    sharedOut(superpose, [held.decompose({ ...how, groups })])
      .slice(0, -2)
      .map(({ shares }) => shares),
  );
  return { taken, heads };
}

export function tablesOf(superpose: SmallSuperpose, { token, position }: LayerSummands): Tables {
  const { sum } = superpose.bertEmbeddings({ token, position });
  const { concatenated, added, correlation } = superpose.dotProducts({ token, position });
  return {
    d: token.columns,
    rows: { token: token.data, position: position.data, sum: sum.data },
    products: { concatenated, added },
    correlation,
  };
}
