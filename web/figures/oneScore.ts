// Figure "One score asks four questions": a head's scores for a sentence through MiniLM, or for tables and a layer
// that are drawn in chosen sizes, and the terms that add up to them.
import {
  type CombinedTerms,
  type Floats,
  logitsOf,
  type Scores,
  type SmallSuperpose,
  type Table,
} from 'superpose';
import { about, aboutPercent, percent, readable, signed } from '../plot/format.js';
import { howExactly } from '../plot/gap.js';
import { type Area, bars, colourKey, largestMagnitude, map, multiples, titleHeight } from '../plot/parts.js';
import type { Mark, Region, Scene, Term } from '../plot/scene.js';
import { sizeWithin } from '../plot/within.js';
import type { Controls, StateOf } from './controls.js';
import { drawnRows, randomPositions, rowName } from './drawnRows.js';
import type { Compute, DataTable, Figure, Library, ReadoutPiece } from './figure.js';
import { apartOf, gaugeControl, withGauge } from './gaugeControl.js';
import { sharedOut } from './heads.js';
import { fromQueryToKey, queryAndKey } from './pairs.js';
import { drawnLayer, drawnSegment, type Layer, type LayerSummands } from './seededLayer.js';
import {
  fetching,
  headControl,
  mostTokens,
  nothingToShare,
  oneScoreTitle,
  sentenceControl,
  wordsWhen,
} from './sentence.js';
import { groups, ofSixteen, termKinds, termLabels, terms } from './terms.js';

const controls = {
  weights: {
    kind: 'choice',
    label: 'Tables and weights',
    options: {
      trained: 'Your sentence, MiniLM’s weights',
      mixed: 'Your sentence, random weights',
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
      paper: 'Sines, 2017 paper',
      tensor2tensor: 'Sines, tensor2tensor',
      'transformer-xl': 'Sines, Transformer-XL',
      fairseq: 'Sines, fairseq',
      learned: 'Random, as small as learned ones begin',
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
  weightSeed: { kind: 'seed', more: true, label: 'Seed of weights', initial: 1 },
  text: { ...sentenceControl, more: true },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Panel {
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
interface Tables {
  d: number;
  rows: Record<'token' | 'position' | 'sum', Float64Array>;
  products: Record<'concatenated' | 'added', Float64Array>;
  correlation: number;
}

type Data = OneScore;

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
const fourPanels: PanelKind[] = termKinds.map((kind) => ({ ...kind, question: questions[kind.term] }));

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

const kindsOf = ({ view, gauge }: State): PanelKind[] =>
  view === 'sixteen' ? sixteenPanels : gauge === 'raw' ? rawFourPanels : fourPanels;

/** By panel, the numbers of the terms that it adds up. */
const termsOf = ({ view }: State): number[][] =>
  view === 'sixteen'
    ? Array.from({ length: 16 }, (_, number) => [number])
    : terms.map((term) => ofSixteen[term]);

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

function positionsOf(
  library: Library,
  superpose: SmallSuperpose,
  { positions, seed }: State,
  n: number,
  d_model: number,
): Table {
  switch (positions) {
    case 'own':
    case 'paper':
      return superpose.sinusoidal({ positions: n, d_model });
    case 'tensor2tensor':
      return superpose.sinusoidal({ positions: n, d_model, layout: 'concatenated', spacing: 'timescales' });
    case 'transformer-xl':
      return superpose.sinusoidal({ positions: n, d_model, layout: 'concatenated' });
    case 'fairseq': {
      // Its first two rows are for places before the text, one of them for padding.
      const { data } = superpose.fairseqSinusoidal({ positions: n, d_model });
      return { data: data.slice(2 * d_model), rows: n, columns: d_model };
    }
    case 'learned':
      return superpose.learnedPositions({ positions: n, d_model, seed, stream: 1 });
    case 'random':
      return randomPositions(library, superpose, n, d_model, seed);
  }
}

async function given(library: Library, state: State): Promise<SentenceLayer> {
  const superpose = await library.small();
  const { weights, text, heads, layer, weightSeed, seed } = state;
  const drawn = (d: number) => ({ d, heads, seed: weightSeed, bare: layer === 'bare' });
  if (weights === 'seeded') {
    const token = drawnRows(library, superpose, 'token', { rows: state.n, columns: state.d, seed });
    const { rows: n, columns: d } = token;
    const position = positionsOf(library, superpose, state, n, d);
    return {
      tokens: Array.from({ length: n }, (_, place) => rowName(library, place)),
      dropped: 0,
      summands: {
        token: doubles(token),
        position: doubles(position),
        token_type: drawnSegment(superpose, n, drawn(d)),
      },
      layer: drawnLayer(library, superpose, drawn(d)),
    };
  }
  const model = await library.miniLM();
  const { tokens, dropped, ...sentence } = model.tokenize(text, mostTokens);
  const summands = await model.summands({ tokens, dropped, ...sentence });
  const { rows: n, columns: d } = summands.token;
  const options = drawn(d);
  return {
    tokens,
    dropped,
    summands: {
      ...summands,
      ...(state.positions !== 'own' && {
        position: doubles(positionsOf(library, superpose, state, n, d)),
      }),
      ...(weights === 'mixed' && options.bare && { token_type: drawnSegment(superpose, n, options) }),
    },
    layer: weights === 'trained' ? await model.layer() : drawnLayer(library, superpose, options),
  };
}

interface SplitScores extends SentenceLayer {
  scores: Scores<Float64Array>;
}

/** What the scores depend on beside the head. */
const keyOf = (
  { own }: Library,
  { weights, text, gauge, n, d, heads, seed, weightSeed, positions, scale, layer }: State,
) => [
  own?.key,
  ...[weights, gauge, positions, scale, seed],
  ...(weights === 'seeded' ? [n, d] : [text]),
  ...(weights === 'trained' ? [] : [heads, weightSeed, layer]),
];

/** Switching a term off and on must not take the scores apart again, nor choosing a head all heads. */
async function takeApart(library: Library, state: State): Promise<{ taken: SplitScores; heads: number[][] }> {
  const superpose = await library.small();
  const key = keyOf(library, state);
  const { how, given: layer } = await library.kept('one-score: rows', key, async () => {
    const { summands, ...other } = await given(library, state);
    const { token, position, token_type } = summands;
    const scaled = superpose.bertEmbeddings({ token, position, positionScale: state.scale }).summands;
    const { gauge, weights } = state;
    const apart = apartOf(gauge, weights === 'seeded' ? 'seeded' : 'trained');
    return {
      given: other,
      how: { summands: { token, position: scaled.position, token_type }, gauge, apart },
    };
  });
  const taken = library.kept('one-score: head', [state.head, key], () => {
    const scores = superpose.decompose({ ...how, ...layer.layer, only: [state.head] });
    return { ...layer, summands: how.summands, scores };
  });
  const heads = library.kept('one-score: heads', key, () =>
    // Of the rows for each head, the mean and all pooled, the heads'.
    sharedOut(superpose, [superpose.decompose({ ...how, ...layer.layer, groups })])
      .slice(0, -2)
      .map(({ shares }) => shares),
  );
  return { taken, heads };
}

function tablesOf(superpose: SmallSuperpose, { token, position }: LayerSummands): Tables {
  const { sum } = superpose.bertEmbeddings({ token, position });
  const { concatenated, added, correlation } = superpose.dotProducts({ token, position });
  return {
    d: token.columns,
    rows: { token: token.data, position: position.data, sum: sum.data },
    products: { concatenated, added },
    correlation,
  };
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const { taken, heads } = await takeApart(library, state);
  const superpose = await library.small();
  const { scores, tokens, dropped } = taken;
  const shown = ({ sum, centred, share }: Panel): Panel => ({ sum, centred, share });
  const every = Array.from({ length: scores.parts.length ** 2 }, (_, term) => term);
  const on = state.on.flatMap((term) => ofSixteen[term]);
  const chosen = [every, on, ...termsOf(state)];
  const masks = chosen.map((terms) => every.map((term) => terms.includes(term)));
  const [all, kept, ...panels] = superpose.combineTerms(scores, state.head, masks) as [
    CombinedTerms<Float64Array>,
    CombinedTerms<Float64Array>,
    ...CombinedTerms<Float64Array>[],
  ];
  return {
    tokens,
    dropped,
    n: scores.n,
    panels: panels.map(shown),
    logits: { ...shown(all), sum: logitsOf(scores, state.head).slice() },
    kept,
    residual: scores.residuals[0] as number,
    heads,
    ...(state.tables && { tables: tablesOf(superpose, taken.summands) }),
  };
};

/** The share of all maps' values that lies within the ends of their scale. */
const part = 0.99;

/** A bar for each head, of what its scores vary by; a click chooses the head. */
function stripOf(heads: number[][], chosen: number, width: number): Scene {
  if (heads.length === 0) return { width, height: 0, marks: [], regions: [] };
  const [top, high, gap] = [20, 40, 6];
  const wide = Math.min(64, (width - gap * (heads.length - 1)) / heads.length);
  const marks: Mark[] = [
    {
      mark: 'text',
      x: 0,
      y: 13,
      text: width < 400 ? 'Heads: click one' : 'Heads: click one. Its bar is what its scores vary by',
      ink: 'ink',
      size: 13,
    },
  ];
  const regions = heads.map((shares, head): Region => {
    const x = head * (wide + gap);
    let y = top + high;
    shares.forEach((share, kind) => {
      // What is below zero, or above one because of it, has no room.
      const part = Math.min(y - top, high * Math.max(0, Number.isFinite(share) ? share : 0));
      y -= part;
      const term = terms[kind] as Term;
      marks.push({ mark: 'box', x, y, width: wide, height: part, fill: term, term });
    });
    marks.push({
      mark: 'text',
      x: x + wide / 2,
      y: top + high + 15,
      text: String(head),
      anchor: 'middle',
      ink: head === chosen ? 'ink' : 'quiet',
    });
    return {
      x,
      y: top,
      width: wide,
      height: high + 18,
      pick: 'nothing',
      rows: 1,
      columns: 1,
      sets: { head },
    };
  });
  const { x } = regions[chosen] as Region;
  marks.push({
    mark: 'box',
    x: x - 1,
    y: top - 2,
    width: wide + 2,
    height: high + 4,
    stroke: 'ink',
    wide: 2,
  });
  return { width, height: top + high + 28, marks, regions };
}

const isDrawn = (positions: State['positions']) => positions === 'random' || positions === 'learned';

const values = (panel: Panel, { centred }: State) => (centred ? panel.centred : panel.sum);

export const figure: Figure<typeof controls, Data> = {
  name: 'one-score',
  title: oneScoreTitle,
  controls,
  module: 'small',
  source: ({ weights, positions }) => (weights === 'trained' && isDrawn(positions) ? 'mixed' : weights),
  waiting: fetching,
  unused: ({ weights, positions }) => [
    ...(weights === 'seeded' ? (['text'] as const) : (['d', 'n'] as const)),
    ...(weights === 'trained' ? (['layer', 'heads', 'weightSeed'] as const) : []),
    ...(weights === 'seeded' || isDrawn(positions) ? [] : (['seed'] as const)),
  ],
  /** The head must be one that there is. */
  settle: (state) => ({
    ...state,
    head: Math.min(state.head, (state.weights === 'trained' ? 12 : state.heads) - 1),
  }),
  ...wordsWhen<State>(({ weights }) => weights !== 'seeded'),

  scene(data, state, width) {
    const kinds = kindsOf(state);
    const { n } = data;
    const sixteen = state.view === 'sixteen';
    const narrow = width < 640;
    const at = arrange(data, state, width);
    const shown = [...data.panels, data.logits].map((panel) => values(panel, state));
    const limit = sizeWithin(shown, part) || largestMagnitude(shown);
    const strip = stripOf(data.heads, state.head, width);
    const marks: Mark[] = [...strip.marks];
    const regions: Region[] = [...strip.regions];
    if (data.tables && at.tables) {
      const drawn = drawTables(data.tables, n, at.tables);
      marks.push(...drawn.marks);
      regions.push(...drawn.regions);
    }
    kinds.forEach(({ label, question, term }, place) => {
      const on = state.on.includes(term);
      const { share } = data.panels[place] as Panel;
      const drawn = map(at.term(place), {
        values: values(data.panels[place] as Panel, state),
        rows: n,
        columns: n,
        low: -limit,
        high: limit,
        scale: 'diverging',
        title: at.short ? shortened(label, sixteen ? 3 : 5) : label,
        ...(sixteen
          ? {}
          : { subtitle: on ? (narrow ? percent(share) : question) : narrow ? 'off' : 'off: click to add' }),
        term,
        faint: !on,
      });
      marks.push(...drawn.marks);
      regions.push({
        ...drawn.region,
        sets: { on: terms.filter((one) => (one === term ? !on : state.on.includes(one))) },
      });
      const { x: left, y: top, height } = drawn.region;
      if (!sixteen && !narrow && place > 0) marks.push(signAt(left - 7, top + height / 2 + 5, '+'));
    });
    const results = [
      {
        sign: '=',
        title: 'the score',
        array: values(data.logits, state),
        low: -limit,
        high: limit,
        scale: 'diverging',
      },
      {
        sign: '→',
        title: narrow ? 'attention' : 'attention, terms on',
        array: data.kept.softmax,
        low: 0,
        high: 1,
        scale: 'sequential',
      },
    ] as const;
    results.forEach(({ sign, title, array, low, high, scale }, place) => {
      const area = at.result(place);
      const drawn = map(area, { values: array, rows: n, columns: n, low, high, scale, title });
      marks.push(...drawn.marks);
      const { x, y, height } = drawn.region;
      if (!narrow) marks.push(signAt(x - at.between / 2, y + height / 2 + 5, sign));
      regions.push(drawn.region);
    });
    const list = kinds.map(({ label, term }, place) => {
      const { share } = data.panels[place] as Panel;
      return { label, value: share, text: percent(share), ink: term, term };
    });
    const found = list.map(({ value }) => value).filter(Number.isFinite);
    const unit = state.centred ? 'logit minus its row’s mean' : 'logit';
    marks.push(
      {
        mark: 'text',
        x: at.shares.x,
        y: at.shares.y - 12,
        text: `Shares of variation, ${state.gauge} gauge`,
        ink: 'ink',
        size: 13,
      },
      ...bars(at.shares, list, Math.min(0, ...found), Math.max(1, ...found)),
      ...colourKey(at.keys.x, at.keys.y, {
        low: -limit,
        high: limit,
        scale: 'diverging',
        label: at.keys.short ? `${state.centred ? 'less row mean' : unit}, 99 %` : `${unit}, 99 % inside`,
        print: readable,
      }),
      ...colourKey(at.keys.x, at.keys.y + keyHeight, {
        low: 0,
        high: 1,
        scale: 'sequential',
        label: at.keys.short ? 'weight' : 'weight; queries down, keys across',
      }),
    );
    return { width, height: at.height, marks, regions } satisfies Scene;
  },

  describe(data, state) {
    if (!Number.isFinite(data.panels[0]?.share ?? Number.NaN)) {
      return nothingToShare(state, data.n);
    }
    const ranked = kindsOf(state)
      .map(({ label }, place) => ({ label, share: data.panels[place]?.share as number }))
      .sort((a, b) => b.share - a.share);
    const [first, second] = ranked as [(typeof ranked)[0], (typeof ranked)[0]];
    const lowest = ranked.at(-1) as (typeof ranked)[0];
    const against =
      lowest.share < 0 ? ` ${lowest.label} pulls the other way, with ${aboutPercent(lowest.share)}.` : '';
    const head =
      first.share >= 0.5
        ? `Head ${state.head} is mostly ${first.label}.`
        : `Head ${state.head} mixes ${first.label} and ${second.label}.`;
    const whose = state.weights === 'trained' ? 'For this sentence' : 'With these random weights';
    const alike = data.tables ? ` ${correlated(data.tables)}` : '';
    return `${head} ${whose}, in the ${state.gauge} gauge, ${first.label} makes up ${aboutPercent(first.share)} of the variation in head ${state.head}’s scores, and ${second.label} ${aboutPercent(second.share)}.${against} The terms add up to the score ${howExactly(data.residual)}.${alike}`;
  },

  ...fromQueryToKey,

  readout(data, state, { i, j }) {
    const cell = i * data.n + j;
    const at = (panel: Panel) => values(panel, state)[cell] ?? Number.NaN;
    const pieces = kindsOf(state).flatMap(({ label, term }, place): ReadoutPiece[] => [
      { text: `${signed(at(data.panels[place] as Panel))} ${state.view === 'four' ? label : ''}`, term },
      ' ',
    ]);
    const { products } = data.tables ?? {};
    return [
      ...queryAndKey(data.tokens, { i, j }),
      ...(products
        ? [
            `concatenated ${readable(products.concatenated[cell] as number)}, added ${readable(products.added[cell] as number)}; `,
          ]
        : []),
      ...pieces,
      `= score ${readable(at(data.logits))}. Softmax ${
        state.on.length === fourPanels.length ? '' : 'of the terms on '
      }gives it ${percent(data.kept.softmax[cell] ?? Number.NaN)} of the attention.`,
    ];
  },

  table(data, state) {
    const kinds = kindsOf(state);
    if (data.tables) return withGauge(longTable(data, data.tables, state), state.gauge);
    const rows: (string | number)[][] = [];
    for (let i = 0; i < data.n; i++) {
      for (let j = 0; j < data.n; j++) {
        const cell = i * data.n + j;
        rows.push([
          i,
          j,
          data.tokens[i] as string,
          data.tokens[j] as string,
          ...data.panels.map((panel) => values(panel, state)[cell] as number),
          values(data.logits, state)[cell] as number,
          data.kept.softmax[cell] as number,
        ]);
      }
    }
    const blank = kinds.map(() => '');
    rows.push(['largest |sum of the terms − score|', '', '', '', ...blank, data.residual, '']);
    const found = {
      columns: [
        'query',
        'key',
        'query token',
        'key token',
        ...kinds.map(({ label }) => label),
        'score',
        'attention from ticked terms',
      ],
      rows,
    };
    return withGauge(found, state.gauge);
  },
};

const correlated = ({ correlation }: Tables): string =>
  Number.isNaN(correlation)
    ? 'There are too few tokens, or their dot products are too much alike, for a correlation.'
    : `Added and concatenated dot products correlate at ${about(correlation)}.`;

const rowKinds = [
  { name: 'token', label: 'tokens x' },
  { name: 'position', label: 'positions ρp' },
  { name: 'sum', label: 'x + ρp' },
] as const;
const productKinds = [
  { name: 'concatenated', subtitle: 'x·x′ + ρ²p·p′' },
  { name: 'added', subtitle: '(x+ρp)·(x′+ρp′)' },
] as const;

/** A scale that maps share. A few values, such as an outlier, may lie beyond its ends. */
function endsOf(all: readonly ArrayLike<number>[]) {
  const limit = sizeWithin(all, part) || largestMagnitude(all) || 1;
  return { low: -limit, high: limit, scale: 'diverging' } as const;
}

function drawTables(
  { d, rows, products }: Tables,
  n: number,
  at: TablesAt,
): { marks: Mark[]; regions: Region[] } {
  const entries = endsOf(Object.values(rows));
  const dots = endsOf(Object.values(products));
  const drawn = [
    ...rowKinds.map(({ name, label }, place) =>
      map(at.cell(place), {
        values: rows[name],
        rows: n,
        columns: d,
        ...entries,
        title: label,
        subtitle: `${d} channels`,
      }),
    ),
    ...productKinds.map(({ name, subtitle }, place) =>
      map(at.cell(rowKinds.length + place), {
        values: products[name],
        rows: n,
        columns: n,
        ...dots,
        title: name,
        subtitle,
      }),
    ),
  ];
  const key = (ends: ReturnType<typeof endsOf>, label: string, { x, y }: Corner) =>
    colourKey(x, y, { ...ends, label, print: readable });
  return {
    marks: [
      ...drawn.flatMap(({ marks }) => marks),
      ...key(entries, 'entry', at.keys[0]),
      ...key(dots, 'product', at.keys[1]),
    ],
    regions: drawn.map(({ region }, place) => ({
      ...region,
      pick: place < rowKinds.length ? 'rows' : 'cells',
    })),
  };
}

/** A row for each value, of tables that have channels and of maps that have keys. */
function longTable(data: Data, { d, rows, products }: Tables, state: State): DataTable {
  const all: [label: string, values: Floats, columns: number][] = [
    ...rowKinds.map(({ name, label }) => [label, rows[name], d] as [string, Floats, number]),
    ...productKinds.map(({ name }) => [name, products[name], data.n] as [string, Floats, number]),
    ...kindsOf(state).map(
      ({ label }, place) =>
        [label, values(data.panels[place] as Panel, state), data.n] as [string, Floats, number],
    ),
    ['score', values(data.logits, state), data.n],
    ['attention from ticked terms', data.kept.softmax, data.n],
  ];
  return {
    columns: ['map', 'query, or token', 'key, or channel', 'value'],
    rows: [
      ...all.flatMap(([label, of, columns]) =>
        Array.from(of, (value, cell) => [label, Math.floor(cell / columns), cell % columns, value]),
      ),
      ['largest |sum of the terms − score|', '', '', data.residual],
    ],
  };
}

const keyHeight = 28;

interface TablesAt {
  cell(place: number): Area;
  /** Of entries, and of products. */
  keys: readonly [Corner, Corner];
}

interface Corner {
  x: number;
  y: number;
}

/** “position → position” with words of so many letters. */
const shortened = (label: string, letters: number) =>
  label
    .replaceAll('position', letters > 3 ? 'pos.' : 'pos')
    .replace(/[a-z]+/g, (word) => word.slice(0, letters));

const signAt = (x: number, y: number, text: string): Mark => ({
  mark: 'text',
  x,
  y,
  text,
  anchor: 'middle',
  ink: 'ink',
  size: 16,
});

/**
 * Heads, terms, what they add up to, and the shares beside it. On a phone the score is the cell after the terms, so
 * that the equation is in sight at once.
 */
function arrange({ heads, tables: shown }: Data, state: State, width: number) {
  const sixteen = state.view === 'sixteen';
  const kinds = kindsOf(state).length;
  const narrow = width < 640;
  const grid = narrow
    ? multiples(width, sixteen ? 60 : 84, sixteen ? 4 : 3, sixteen ? 6 : 10)
    : sixteen
      ? multiples(width, 70, 8, 12)
      : multiples(width, 100, 5);
  const titled = titleHeight(!sixteen);
  const cell = titled + grid.width + 12;
  const strip = stripOf(heads, state.head, width).height;
  const first = multiples(width, narrow ? 84 : 100, narrow ? 3 : 5, narrow ? 10 : 14);
  const firstCell = titleHeight(true) + first.width + 12;
  const keysY = strip + Math.ceil((rowKinds.length + productKinds.length) / first.columns) * firstCell;
  const stacked = width < 340;
  const tables: TablesAt | undefined = shown && {
    cell(place) {
      const { row, x } = first.at(place);
      return { x, y: strip + row * firstCell, width: first.width, height: firstCell - 12 };
    },
    keys: [
      { x: 0, y: keysY },
      stacked ? { x: 0, y: keysY + keyHeight } : { x: Math.min(190, width - 170), y: keysY },
    ],
  };
  const top = shown ? keysY + (stacked ? 2 : 1) * keyHeight + 14 : strip;
  const cellAt = (place: number, title: number): Area => {
    const { row, x } = grid.at(place);
    return { x, y: top + row * cell + titled - title, width: grid.width, height: title + grid.width };
  };
  const below = (cells: number) => top + Math.ceil(cells / grid.columns) * cell;
  const barsHeight = (sixteen ? 13 : narrow ? 24 : 18) * kinds;
  const term = (place: number) => cellAt(place, titled);
  if (narrow) {
    const shares = { x: 0, y: below(kinds + 2) + 2 * keyHeight + 28, width, height: barsHeight };
    return {
      short: true,
      tables,
      between: 0,
      term,
      result: (place: number) => cellAt(kinds + place, titleHeight()),
      keys: { x: 0, y: below(kinds + 2), short: true },
      shares,
      height: shares.y + barsHeight + 4,
    };
  }
  const y = below(kinds);
  const between = 26;
  const size = Math.min(154, 0.24 * width);
  const right = 2 * (size + between) + 16;
  const shares = { x: right, y: y + 26, width: width - right, height: barsHeight };
  const keys = { x: right, y: shares.y + barsHeight + 8, short: shares.width < 390 };
  return {
    short: grid.width < 125,
    tables,
    between,
    term,
    result: (place: number): Area => ({
      x: between + place * (size + between),
      y,
      width: size,
      height: titleHeight() + size,
    }),
    keys,
    shares,
    height: Math.max(y + titleHeight() + size, keys.y + 2 * keyHeight) + 2,
  };
}
