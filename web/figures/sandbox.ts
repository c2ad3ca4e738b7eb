// Figure "Sandbox": tables, dot products, terms and attention for one choice of words, positions and weights.
import { type DotProducts, type First, logitsOf, type Scores, sharesOf, type Table } from 'superpose';
import { about, aboutPercent, percent, readable, signed } from '../plot/format.js';
import { howExactly } from '../plot/gap.js';
import {
  type Area,
  colourKey,
  largestMagnitude,
  map,
  multiples,
  tickText,
  titleHeight,
} from '../plot/parts.js';
import type { Mark, Region, Scene, Term } from '../plot/scene.js';
import { sizeWithin } from '../plot/within.js';
import type { Controls, StateOf } from './controls.js';
import { drawnRows, randomPositions, rowName } from './drawnRows.js';
import type { Compute, Figure, Library, Said } from './figure.js';
import { withGauge } from './gaugeControl.js';
import { fromQueryToKey, queryAndKey } from './pairs.js';
import { fetching, mostTokens, sentenceControl, sentenceRemark, tokensControl } from './sentence.js';
import { terms as allTerms, termLabels } from './terms.js';

const controls = {
  tokens: tokensControl,
  weights: {
    kind: 'choice',
    label: 'Weights',
    options: { seeded: 'Random', trained: 'MiniLM’s' },
    initial: 'seeded',
    radio: true,
  },
  positions: {
    kind: 'choice',
    label: 'Positions',
    options: {
      paper: 'Sines, 2017 paper',
      tensor2tensor: 'Sines, tensor2tensor',
      'transformer-xl': 'Sines, Transformer-XL',
      fairseq: 'Sines, fairseq',
      learned: 'Learned',
      random: 'Random, as long as sines',
    },
    initial: 'paper',
  },
  scale: { kind: 'range', label: 'Position scale ρ', min: 0, max: 4, step: 0.05, initial: 1 },
  d: { kind: 'steps', more: true, label: 'Width d', values: [4, 8, 16, 32, 64, 128, 256], initial: 64 },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 24 },
  heads: { kind: 'steps', more: true, label: 'Heads', values: [1, 2, 4, 8], initial: 4 },
  head: { kind: 'range', label: 'Head shown', min: 0, max: 11, step: 1, initial: 0 },
  seed: { kind: 'seed', more: true, label: 'Seed of tables', initial: 1 },
  weightSeed: { kind: 'seed', more: true, label: 'Seed of weights', initial: 1 },
  text: sentenceControl,
} as const satisfies Controls;

type State = StateOf<typeof controls>;
type Maps = 'concatenated' | 'added' | 'score' | 'softmax';

interface TermMap {
  term: Term;
  values: Float32Array;
  share: number;
}

interface Data {
  n: number;
  d: number;
  words: readonly string[];
  dropped: number;
  /** [n, d]: the tokens, the positions as they are scaled, and their sum. */
  tables: Record<'token' | 'position' | 'sum', Float32Array>;
  maps: Record<Maps, Float32Array>;
  terms: TermMap[];
  correlation: number;
  /** The largest |sum of all terms − score|. */
  residual: number;
}

interface Tables {
  token: Table<Float32Array>;
  position: Table<Float32Array>;
  /** BERT’s third summand, which only a sentence has. */
  token_type?: Table<Float32Array>;
  words: readonly string[];
  dropped: number;
}

const precision = 'float32';
const streams = { position: 1, query: 2, key: 3 };

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.first();
  const tables =
    state.tokens === 'seeded' ? seededTables(library, superpose, state) : await ofSentence(library, state);
  const { token, words, dropped } = tables;
  const { rows: n, columns: d } = token;
  const { scale: positionScale } = state;
  const { sum, summands } = superpose.bertEmbeddings({ token, position: tables.position, positionScale });
  const { position } = summands;
  const products: DotProducts<Float32Array> = superpose.dotProducts({ token, position });
  const scores =
    state.weights === 'trained'
      ? await trainedScores(library, { ...tables, position }, state.head)
      : seededScores(superpose, token, position, state);
  const head = scores.heads[0] as number;
  const size = scores.parts.length;
  const combine = (chosen: (term: number) => boolean) =>
    superpose.combineTerms(
      scores,
      head,
      Array.from({ length: size * size }, (_, term) => chosen(term)),
    );
  const four = [0, 1, size, size + 1];
  const shares = sharesOf(scores, head);
  const terms = four.map((index, place) => ({
    term: allTerms[place] as Term,
    values: combine((term) => term === index).sum,
    share: shares[index] as number,
  }));
  if (size > 2) {
    const rest = combine((term) => !four.includes(term));
    terms.push({ term: 'rest', values: rest.sum, share: rest.share });
  }
  return {
    n,
    d,
    words,
    dropped,
    tables: { token: token.data, position: position.data, sum: sum.data },
    maps: {
      concatenated: products.concatenated,
      added: products.added,
      score: logitsOf(scores, head).slice(),
      softmax: combine(() => true).softmax,
    },
    terms,
    correlation: products.correlation,
    residual: scores.residuals[0] as number,
  };
};

function seededTables(library: Library, superpose: First, state: State): Tables {
  const { n, d, seed } = state;
  return {
    token: drawnRows(library, superpose, 'token', { rows: n, columns: d, seed }),
    position: positionsOf(library, superpose, state, n, d),
    words: Array.from({ length: n }, (_, place) => rowName(library, place)),
    dropped: 0,
  };
}

async function ofSentence(library: Library, state: State): Promise<Tables> {
  const model = await library.miniLM();
  const sentence = model.tokenize(state.text, mostTokens);
  const { token, position, token_type } = await model.summands(sentence, precision);
  const own = state.positions === 'learned';
  return {
    token,
    position: own ? position : positionsOf(library, await library.first(), state, token.rows, token.columns),
    token_type,
    words: sentence.tokens,
    dropped: sentence.dropped,
  };
}

function positionsOf(
  library: Library,
  superpose: First,
  { positions, seed }: State,
  n: number,
  d_model: number,
): Table<Float32Array> {
  switch (positions) {
    case 'paper':
      return superpose.sinusoidal({ positions: n, d_model, precision });
    case 'tensor2tensor':
      return superpose.tensor2tensorSinusoidal({ extents: [n], d_model, precision });
    case 'transformer-xl':
      return superpose.sinusoidal({ positions: n, d_model, layout: 'concatenated', precision });
    case 'fairseq': {
      // Its first two rows are for places before the text, one of them for padding.
      const { data } = superpose.fairseqSinusoidal({ positions: n, d_model, precision });
      return { data: data.slice(2 * d_model), rows: n, columns: d_model };
    }
    case 'learned':
      return superpose.learnedPositions({ positions: n, d_model, seed, stream: streams.position, precision });
    case 'random':
      return randomPositions(library, superpose, n, d_model, seed);
  }
}

// A slider over positions or words must not draw the weights again.
let drawn: { key: string; query: Table<Float32Array>; key_: Table<Float32Array> } | undefined;

function seededScores(
  superpose: First,
  token: Table<Float32Array>,
  position: Table<Float32Array>,
  { heads, head, weightSeed }: State,
): Scores<Float32Array> {
  const d = token.columns;
  const rows = heads * Math.max(1, Math.floor(d / heads));
  const key = JSON.stringify([rows, d, weightSeed]);
  if (drawn?.key !== key) {
    const weight = (stream: number) =>
      superpose.randomNormal({
        rows,
        columns: d,
        seed: weightSeed,
        stream,
        standardDeviation: 'fan_in',
        precision,
      });
    drawn = { key, query: weight(streams.query), key_: weight(streams.key) };
  }
  return superpose.decompose({
    summands: { token, position },
    query: { weight: drawn.query },
    key: { weight: drawn.key_ },
    heads,
    only: [head],
    // Without biases and LayerNorm the constant part is zero.
    groups: { token: ['token', 'constant'], position: ['position'] },
  });
}

async function trainedScores(library: Library, tables: Tables, head: number): Promise<Scores<Float32Array>> {
  const [superpose, model] = [await library.first(), await library.miniLM()];
  const { token, position, token_type } = tables as Required<Tables>;
  return superpose.decompose({
    ...(await model.layer(precision)),
    summands: { token, position, token_type },
    only: [head],
    groups: { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] },
  });
}

const tableKinds = [
  { name: 'token', label: 'tokens x' },
  { name: 'position', label: 'positions ρp' },
  { name: 'sum', label: 'their sum x + ρp' },
] as const;

/** The most that rounding leaves in single precision, in which this figure is computed. */
const singlePrecision = 1e-4;

const mapKinds: { name: Maps; label: string; subtitle(state: State): string }[] = [
  { name: 'concatenated', label: 'concatenated', subtitle: () => 'x·x′ + ρ²p·p′' },
  { name: 'added', label: 'added', subtitle: () => '(x+ρp)·(x′+ρp′)' },
  { name: 'score', label: 'score', subtitle: ({ head }) => `of head ${head}` },
  { name: 'softmax', label: 'softmax', subtitle: () => 'of the score' },
];

export const figure: Figure<typeof controls, Data> = {
  name: 'sandbox',
  title: 'Sandbox: from tables to attention',
  controls,
  source: ({ tokens, weights, positions }) => {
    if (tokens === 'seeded') return 'seeded';
    return weights === 'seeded' || positions === 'random' ? 'mixed' : 'trained';
  },
  waiting: fetching,

  unused: ({ tokens, weights, positions }) => [
    ...(tokens === 'seeded' ? (['text', 'weights'] as const) : (['d', 'n'] as const)),
    ...(weights === 'trained' ? (['heads', 'weightSeed'] as const) : []),
    ...(tokens === 'sentence' && positions !== 'random' ? (['seed'] as const) : []),
  ],

  /** Trained weights go only with a sentence, and the head must be one that there is. */
  settle(state, changed) {
    const weights = state.tokens === 'seeded' ? 'seeded' : state.weights;
    const heads = weights === 'trained' ? 12 : state.heads;
    const positions = changed === 'tokens' && state.tokens === 'sentence' ? 'learned' : state.positions;
    return { ...state, weights, positions, head: Math.min(state.head, heads - 1) };
  },

  scene(data, state, width) {
    const { n, d, tables, maps, terms } = data;
    const at = arrange(data, width);
    const marks: Mark[] = [];
    const regions: Region[] = [];
    const put = (drawn: { marks: Mark[]; region: Region }, pick: 'cells' | 'rows' = 'cells') => {
      marks.push(...drawn.marks);
      regions.push({ ...drawn.region, pick });
    };
    const entries = ends(Object.values(tables));
    const products = ends([maps.concatenated, maps.added]);
    const logits = ends([maps.score, ...terms.map(({ values }) => values)]);
    // Attention that is the same for all keys stays pale.
    const weights = {
      low: 0,
      high: Math.max(largestMagnitude([maps.softmax]), Math.min(1, 4 / n)),
      scale: 'sequential',
    } as const;
    tableKinds.forEach(({ name, label }, place) => {
      put(
        map(at.table(place), { values: tables[name], rows: n, columns: d, ...entries, title: label }),
        'rows',
      );
    });
    const scales = { concatenated: products, added: products, score: logits, softmax: weights };
    mapKinds.forEach(({ name, label, subtitle }, place) => {
      put(
        map(at.square(place), {
          values: maps[name],
          rows: n,
          columns: n,
          ...scales[name],
          title: label,
          subtitle: subtitle(state),
        }),
      );
    });
    terms.forEach(({ term, values, share }, place) => {
      put(
        map(at.square(mapKinds.length + place), {
          values,
          rows: n,
          columns: n,
          ...logits,
          title: termLabels[term],
          subtitle: `raw share ${percent(share)}`,
          term,
        }),
      );
    });
    const keys = [
      { ...entries, label: 'entry (99 % inside)' },
      { ...products, label: 'product (99 % inside)' },
      { ...logits, label: 'logit (99 % inside)' },
      { ...weights, label: 'softmax weight' },
    ];
    keys.forEach((key, place) => {
      const print = (value: number) =>
        key.scale === 'diverging' ? readable(value) : tickText(Number(value.toPrecision(2)));
      const { x, y } = at.key(place);
      marks.push(...colourKey(x, y, { ...key, print }));
    });
    return { width, height: at.height, marks, regions } satisfies Scene;
  },

  describe({ terms, correlation, residual, n }, { head }) {
    const alike = Number.isNaN(correlation)
      ? `${n} tokens are too few, or their products too much alike, for a correlation.`
      : `Added and concatenated dot products correlate at ${about(correlation)}.`;
    if (terms.some(({ share }) => !Number.isFinite(share))) {
      return `${alike} The scores do not vary along their rows, so there is nothing to share out.`;
    }
    const shares = terms.map(({ term, share }) => `${termLabels[term]} ${aboutPercent(share)}`).join(', ');
    return `${alike} Of the variation in head ${head}’s scores, in the raw gauge, the terms make up: ${shares}. They add up to the score ${howExactly(residual, singlePrecision)}.`;
  },

  ...fromQueryToKey,

  readout({ n, words, maps, terms }, _, { i, j }) {
    const at = (values: Float32Array) => values[i * n + j] ?? Number.NaN;
    const pieces = terms.flatMap(({ term, values }): Said[] => [
      { text: `${signed(at(values))} ${termLabels[term]}`, term },
      ' ',
    ]);
    return [
      ...queryAndKey(words, { i, j }),
      `concatenated ${readable(at(maps.concatenated))}, added ${readable(at(maps.added))}; `,
      ...pieces,
      `= score ${readable(at(maps.score))}; softmax ${percent(at(maps.softmax))}`,
    ];
  },

  tokens: ({ words }, { tokens }) => (tokens === 'sentence' ? words : undefined),
  remark: ({ words, dropped }, { tokens }) => (tokens === 'sentence' ? sentenceRemark(words, dropped) : ''),

  table({ n, d, tables, maps, terms, residual }) {
    const rows: (string | number)[][] = [];
    const add = (label: string, values: Float32Array, columns: number) => {
      values.forEach((value, cell) => {
        rows.push([label, Math.floor(cell / columns), cell % columns, value]);
      });
    };
    for (const { name, label } of mapKinds) add(label, maps[name], n);
    for (const { term, values } of terms) add(termLabels[term], values, n);
    for (const { name, label } of tableKinds) add(label, tables[name], d);
    rows.push(['largest |sum of the terms − score|', '', '', residual]);
    return withGauge({ columns: ['map', 'query, or token', 'key, or channel', 'value'], rows }, 'raw');
  },
};

/** A scale that all the maps share. A few values, such as an outlier, may lie beyond its ends. */
function ends(all: readonly ArrayLike<number>[]) {
  const part = 0.99;
  const limit = sizeWithin(all, part) || largestMagnitude(all) || 1;
  return { low: -limit, high: limit, scale: 'diverging' } as const;
}

/** Tables beside the maps, all on one screen; on a phone everything is one below the other. */
function arrange({ terms }: Data, width: number) {
  const beside = width >= 800;
  const left = beside ? 300 : width;
  const tables = multiples(left, 200, 3);
  const grid = multiples(beside ? width - left - 24 : width, 130, terms.length);
  const square = titleHeight(true) + grid.width;
  const firstRows = Math.ceil(mapKinds.length / grid.columns);
  const squares = (firstRows + Math.ceil(terms.length / grid.columns)) * (square + 12);
  const tableHeight = titleHeight() + 112;
  const tablesHeight = Math.ceil(tableKinds.length / tables.columns) * (tableHeight + 12);
  const squaresY = beside ? 0 : tablesHeight + 8;
  const keysY = Math.max(tablesHeight, squaresY + squares) + 4;
  const keys = multiples(width, 250, 4);
  return {
    table(place: number): Area {
      const { row, x } = tables.at(place);
      return { x, y: row * (tableHeight + 12), width: tables.width, height: tableHeight };
    },
    /** The terms begin on a new row. */
    square(place: number): Area {
      const isTerm = place >= mapKinds.length;
      const { row, x } = grid.at(isTerm ? place - mapKinds.length : place);
      return {
        x: beside ? left + 24 + x : x,
        y: squaresY + (row + (isTerm ? firstRows : 0)) * (square + 12),
        width: grid.width,
        height: square,
      };
    },
    key(place: number) {
      const { row, x } = keys.at(place);
      return { x, y: keysY + 40 * row };
    },
    height: keysY + 40 * Math.ceil(4 / keys.columns),
  };
}
