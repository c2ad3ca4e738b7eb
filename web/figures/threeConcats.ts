// Figure "Three ways to concatenate": added scores beside those of raw, fully weighted and block-diagonal
// concatenation, on the same tokens; and for each way to build them, what a model of some shape then costs.
import {
  type Cost,
  logitsOf,
  type ModelShape,
  type PositionCostWay,
  type Scores,
  type Superpose,
  type Table,
  termOf,
} from 'superpose';
import { aboutPercent, exponent, percent, readable, signed } from '../plot/format.js';
import { howExactly } from '../plot/gap.js';
import { type Area, bars, colourKey, largestMagnitude, map, tickText } from '../plot/parts.js';
import type { Mark, Region, Term } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure, Library, ReadoutPiece } from './figure.js';
import { queryAndKey } from './pairs.js';
import { fetching, sentenceControl, tokensControl, wordsWhen } from './sentence.js';
import { termLabels } from './terms.js';

const controls = {
  // The options are `yes` and `no` because links have said so since this was a check box.
  tied: {
    kind: 'choice',
    label: 'Full weights of the position, W₂',
    options: { no: 'its own', yes: 'W₂ = W₁: adds' },
    initial: 'no',
    radio: true,
  },
  tokens: { ...tokensControl, label: 'Tokens; weights are random' },
  d_position: {
    kind: 'steps',
    label: 'Position width dₚ',
    values: [4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024],
    initial: 64,
  },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 24 },
  d: { kind: 'steps', more: true, label: 'Width d', values: [2, 4, 8, 16, 32, 64, 128, 256], initial: 64 },
  d_head: { kind: 'steps', more: true, label: 'Head width', values: [1, 2, 4, 8, 16, 32, 64], initial: 8 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  text: sentenceControl,
  model: {
    kind: 'choice',
    more: true,
    label: 'Model shape',
    options: { bert: 'BERT-base', minilm: 'all-MiniLM-L6-v2', gpt2: 'GPT-2 small', own: 'Your own' },
    initial: 'bert',
  },
  d_model: {
    kind: 'steps',
    more: true,
    label: 'Model’s width',
    values: [64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192],
    initial: 768,
  },
  layers: { kind: 'range', more: true, label: 'Layers', min: 1, max: 128, step: 1, initial: 12 },
  heads: { kind: 'range', more: true, label: 'Heads', min: 1, max: 64, step: 1, initial: 12 },
  vocabulary: {
    kind: 'steps',
    more: true,
    label: 'Vocabulary',
    values: [256, 1000, 8000, 30522, 32000, 50257, 128256, 256000],
    initial: 30522,
  },
  positions: {
    kind: 'steps',
    more: true,
    label: 'Positions',
    values: [128, 256, 512, 1024, 2048, 4096, 8192, 32768, 131072],
    initial: 512,
  },
  context: {
    kind: 'steps',
    more: true,
    label: 'Tokens at once',
    values: [1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 32768, 131072],
    initial: 512,
  },
  segments: { kind: 'range', more: true, label: 'Segments', min: 0, max: 4, step: 1, initial: 2 },
  pooler: { kind: 'toggle', more: true, label: 'BERT’s pooler', initial: true },
} as const satisfies Controls;

type State = StateOf<typeof controls>;
type Rows = Table<Float64Array>;

type Shape = Pick<State, 'd_model' | 'layers' | 'heads' | 'vocabulary' | 'positions' | 'segments' | 'pooler'>;

/** MiniLM's position table has 512 rows, GPT-2's 1024; GPT-2 has neither segments nor a pooler. */
const shapes: Record<string, Shape> = {
  bert: { layers: 12, d_model: 768, heads: 12, vocabulary: 30522, positions: 512, segments: 2, pooler: true },
  minilm: {
    layers: 6,
    d_model: 384,
    heads: 12,
    vocabulary: 30522,
    positions: 512,
    segments: 2,
    pooler: true,
  },
  gpt2: {
    layers: 12,
    d_model: 768,
    heads: 12,
    vocabulary: 50257,
    positions: 1024,
    segments: 0,
    pooler: false,
  },
};

export interface SplitScore {
  logits: Float64Array;
  /** The four terms, in the order of `terms`. */
  terms: Float64Array[];
  shares: number[];
  /** The largest |term| among the two cross terms. */
  cross: number;
  /** Their share together. */
  crossShare: number;
  /** The largest |sum of the terms − logit|. */
  residual: number;
  rank: number;
  /** The largest rank that any weights of these shapes can give. */
  mostRank: number;
}

export interface Data {
  tokens: readonly string[];
  dropped: number;
  n: number;
  /** In the order of `ways`. */
  ways: SplitScore[];
  /** The largest difference between full weights with W₂ = W₁ and adding. */
  tiedGap: number;
  /** In the order of `builds`; a narrower token has none where it has no room. */
  costs: (Cost | undefined)[];
}

const ways = [
  { name: 'added', title: 'Added', formula: '(x + p)ᵀW(x′ + p′)', unit: 'logit' },
  { name: 'raw', title: 'Raw', formula: '[x; p] · [x′; p′]', unit: 'dot product' },
  { name: 'full', title: 'Full weights', formula: '[x; p]ᵀW[x′; p′]', unit: 'logit' },
  { name: 'block-diagonal', title: 'Block-diagonal', formula: 'xᵀW₁x′ + pᵀW₂p′', unit: 'logit' },
] as const;

/** What each way's scores are made of: query part by query part. */
const parts = ['token', 'position'] as const;
const terms: { label: string; term: Term }[] = [
  { label: 'x → x′', term: 'token-token' },
  { label: 'x → p′', term: 'token-position' },
  { label: 'p → x′', term: 'position-token' },
  { label: 'p → p′', term: 'position-position' },
];

/** Ways to build them into a model. */
const buildWays: PositionCostWay[] = ['add', 'concat-wide', 'concat', 'project', 'untied'];
/** In the order of `buildWays`. `scores` is the place in `ways` of what each then scores by; a narrower token has full weights. */
const builds: { short: string; label: string; scores: 0 | 2 | 3 }[] = [
  { short: 'add', label: 'add', scores: 0 },
  { short: 'wide', label: 'concatenate: d + dₚ wide', scores: 2 },
  { short: 'narrow', label: 'concatenate: token narrower', scores: 2 },
  { short: 'back to d', label: 'concatenate, map back to d', scores: 2 },
  { short: 'Q and K', label: 'concatenate in Q and K only', scores: 3 },
];

const measures = [
  { name: 'total', label: 'Parameters', unit: 'parameters' },
  { name: 'flopsPerToken', label: 'Operations a token', unit: 'floating-point operations per token' },
  { name: 'kvCache', label: 'Key–value cache', unit: 'numbers in the key–value cache' },
] as const;

const isOf = (shape: Shape, state: State) =>
  (Object.keys(shape) as (keyof Shape)[]).every((name) => shape[name] === state[name]);

const longestSentence = 64;

/** Short enough to stand on either side of zero under the key. */
const keyText = (value: number) => tickText(Number(value.toPrecision(3)));

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  const { tokens, dropped, token, position } =
    state.tokens === 'seeded' ? seeded(superpose, state) : await fromModel(library, state);
  const { d_head, seed, tied } = state;
  const d = token.columns;
  const draw = (stream: number) =>
    superpose.randomNormal({
      rows: d_head,
      columns: d,
      seed,
      stream,
      standardDeviation: 'fan_in',
    });
  // W_Q and W_K of the token, W_Q and W_K of the position.
  const [query, key, positionQuery, positionKey] = [draw(1), draw(2), draw(3), draw(4)];
  const given = { token, position, heads: 1 };
  const full = (secondQuery: Rows, secondKey: Rows) =>
    superpose.concatenateFull({
      ...given,
      query: { weight: sideBySide(query, secondQuery) },
      key: { weight: sideBySide(key, secondKey) },
    });
  const added = superpose.decompose({
    summands: { token, position },
    query: { weight: query },
    key: { weight: key },
    heads: 1,
    // Without LayerNorm and biases the constant is zero.
    groups: { token: ['token', 'constant'], position: ['position'] },
  });
  const tiedFull = full(query, key);
  const scores: Scores<Float64Array>[] = [
    added,
    superpose.concatenateRaw({ token, position }),
    tied === 'yes' ? tiedFull : full(positionQuery, positionKey),
    superpose.concatenateBlockDiagonal({
      ...given,
      tokenQuery: query,
      tokenKey: key,
      positionQuery,
      positionKey,
    }),
  ];
  const n = token.rows;
  const shapes = { n, d_token: d, d_position: d };
  const most = superpose.scoreRanks({ ...shapes, d_head, d_position_head: d_head });
  // A dot product is a score whose heads are as wide as the tables.
  const { untied: mostRaw } = superpose.scoreRanks({ ...shapes, d_head: d, d_position_head: d });
  const mostRanks = [most.added, mostRaw, most.concatenated, most.untied];
  return {
    tokens,
    dropped,
    n,
    ways: scores.map((one, way) => {
      const logits = logitsOf(one, 0);
      const found = parts.flatMap((query) => parts.map((key) => termOf(one, 0, query, key).slice()));
      return {
        logits: logits.slice(),
        terms: found,
        shares: Array.from(one.shares),
        cross: largestMagnitude(found.slice(1, 3)),
        crossShare: superpose.combineTerms(one, 0, [false, true, true, false]).share,
        residual: one.residuals[0] as number,
        rank: superpose.numericalRank({ data: logits, rows: n, columns: n }),
        mostRank: mostRanks[way] as number,
      };
    }),
    tiedGap: superpose.largestDifference(logitsOf(tiedFull, 0), logitsOf(added, 0)),
    costs: costsOf(superpose, state),
  };
};

function costsOf(superpose: Superpose, state: State): (Cost | undefined)[] {
  const { d_model, heads, context: sequence, d_position } = state;
  // As wide as a head, or as near as whole numbers come.
  const d_position_head = Math.max(1, Math.floor(d_model / heads));
  const { layers, vocabulary, positions, segments, pooler } = state;
  const model = { vocabulary, positions, segments, pooler, d_model, heads, layers };
  const shape: ModelShape = { ...model, sequence, d_position, d_position_head };
  return buildWays.map((way) =>
    way === 'concat' && d_position >= d_model ? undefined : superpose.positionCost(way, shape),
  );
}

const at = (values: ArrayLike<number>, place: number) => values[place] ?? Number.NaN;

/** [A B] */
function sideBySide(left: Rows, right: Rows): Rows {
  const columns = left.columns + right.columns;
  const data = new Float64Array(left.rows * columns);
  for (let row = 0; row < left.rows; row++) {
    data.set(left.data.subarray(row * left.columns, (row + 1) * left.columns), row * columns);
    data.set(
      right.data.subarray(row * right.columns, (row + 1) * right.columns),
      row * columns + left.columns,
    );
  }
  return { data, rows: left.rows, columns };
}

function seeded(superpose: Superpose, { n, d, seed }: State) {
  return {
    tokens: Array.from({ length: n }, (_, place) => `token ${place}`),
    dropped: 0,
    token: superpose.randomNormal({ rows: n, columns: d, seed }),
    position: superpose.sinusoidal({ positions: n, d_model: d }),
  };
}

async function fromModel(library: Library, { text }: State) {
  const model = await library.miniLM();
  const sentence = model.tokenize(text, longestSentence);
  const { token, position } = await model.summands(sentence);
  return { tokens: sentence.tokens, dropped: sentence.dropped, token, position };
}

const ratio = (cost: Cost | undefined, { costs }: Data, name: (typeof measures)[number]['name']) =>
  cost ? cost[name] / ((costs[0] as Cost)[name] || 1) : Number.NaN;

/** A ratio to three digits, or near 1 to three decimals. */
const times = (value: number) => `×${Math.abs(value - 1) < 0.1 ? value.toFixed(3) : value.toPrecision(3)}`;

/** 124 M: three digits and a power of a thousand. */
function short(value: number): string {
  const power = Math.min(5, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return power === 0 ? String(value) : `${readable(value / 1000 ** power)}\u00a0${' kMGTP'[power]}`;
}

export const figure: Figure<typeof controls, Data> = {
  name: 'three-concats',
  title: 'Three ways to concatenate: what meets, and what it costs',
  controls,
  source: ({ tokens }) => (tokens === 'seeded' ? 'seeded' : 'mixed'),
  waiting: fetching,
  unused: ({ tokens }) => (tokens === 'seeded' ? ['text'] : ['n', 'd']),

  /** A named shape sets the numbers; another number makes the shape the reader's own. */
  settle(state, changed) {
    const shape = shapes[state.model];
    let settled: State = state;
    if (shape && !isOf(shape, state)) {
      // A link may name a shape and leave its numbers out.
      const named = changed === 'model' || (changed === undefined && isOf(shapes.bert as Shape, state));
      settled = named ? { ...state, ...shape } : { ...state, model: 'own' };
    }
    // No more tokens at once than there are positions.
    return settled.context > settled.positions ? { ...settled, context: settled.positions } : settled;
  },

  scene(data, { heads }, width) {
    const { ways: found, n } = data;
    const { panels, height: top, narrow } = arrange(width);
    const shares = found.flatMap((way) => way.shares).filter(Number.isFinite);
    const [low, high] = [Math.min(0, ...shares), Math.max(1, ...shares)];
    const marks: Mark[] = [];
    const regions: Region[] = [];
    ways.forEach(({ title, formula, unit }, place) => {
      const way = found[place] as SplitScore;
      const panel = panels[place] as Panel;
      const limit = largestMagnitude([way.logits]) || 1;
      const scale = { low: -limit, high: limit, scale: 'diverging' } as const;
      const drawn = map(panel.map, { values: way.logits, rows: n, columns: n, ...scale });
      const { x, y, width: wide, height: tall } = panel.shares;
      marks.push(
        { mark: 'text', x: panel.title.x, y: panel.title.y, text: title, ink: 'ink', size: 14, bold: true },
        { mark: 'text', x: panel.title.x, y: panel.title.y + 17, text: formula, size: 11.5 },
        ...drawn.marks,
        ...colourKey(panel.key.x, panel.key.y, { ...scale, label: narrow ? '' : unit, print: keyText }),
        ...bars(
          panel.shares,
          terms.map(({ label, term }, row) => ({
            label,
            value: at(way.shares, row),
            text: percent(at(way.shares, row)),
            ink: term,
            term,
          })),
          low,
          high,
        ),
        // A frame around the two cross terms.
        {
          mark: 'box',
          x: x - 3,
          y: y + tall / 4,
          width: wide + 3,
          height: tall / 2,
          stroke: 'ink',
          wide: 1.5,
        },
        {
          mark: 'text',
          x: panel.rank.x,
          y: panel.rank.y,
          text: `rank ${way.rank}, at most ${way.mostRank}`,
          ink: 'ink',
        },
      );
      regions.push(drawn.region);
    });
    const costs = costMarks(data, heads, top + 14, width);
    marks.push(...costs.marks);
    return { width, height: costs.height, marks, regions };
  },

  describe(data, { d_position, heads }) {
    const { ways: found, tiedGap } = data;
    const [added, raw, full, blocks] = found as [SplitScore, SplitScore, SplitScore, SplitScore];
    const cross = ({ crossShare }: SplitScore) => aboutPercent(crossShare);
    const none = [raw, blocks].every((way) => way.cross === 0)
      ? 'every cross term is exactly 0'
      : `cross terms reach ${exponent(Math.max(raw.cross, blocks.cross))}`;
    const wide = data.costs[1] as Cost;
    const odd = wide.headsDivide ? '' : `, which ${heads} heads do not divide`;
    const head = full.cross > 0 ? 'With full weights, concatenating keeps the cross terms. ' : '';
    return `${head}In the raw gauge, the cross terms make up ${cross(added)} of the variation in the added scores, and ${cross(full)} with full weights on [x; p]. Concatenated raw or with block-diagonal weights, ${none}. Full weights with W₂\u00a0=\u00a0W₁ give the added scores ${howExactly(tiedGap)}. With ${d_position} more channels for the position the stream is ${wide.width} wide${odd}, and the model takes ${short(wide.total)}, ${times(ratio(wide, data, 'total'))}.`;
  },

  cells: ({ n }) => ({ rows: n, columns: n }),
  firstCursor: ({ n }) => ({ i: Math.min(3, n - 1), j: Math.min(9, n - 1) }),

  readout({ ways: found, n, tokens }, _, { i, j }) {
    const cell = i * n + j;
    const pieces = found.flatMap((way, place): ReadoutPiece[] => [
      place === 0 ? '' : '; ',
      { text: ways[place]?.name ?? '', strong: true },
      ` ${readable(at(way.logits, cell))}`,
      ...(way.cross === 0
        ? [', no cross terms']
        : [
            ' with cross terms ',
            { text: signed(at(way.terms[1] ?? [], cell)), term: 'token-position' as const },
            ' ',
            { text: signed(at(way.terms[2] ?? [], cell)), term: 'position-token' as const },
          ]),
    ]);
    return [...queryAndKey(tokens, { i, j }), ...pieces, '.'];
  },

  ...wordsWhen<State>(({ tokens }) => tokens === 'sentence'),

  table(data) {
    const { ways: found, n, tokens, tiedGap } = data;
    const rows: (string | number)[][] = [];
    const blank = ['', '', ''];
    const summary = (label: string, of: (way: SplitScore) => (string | number)[]) =>
      rows.push([label, '', ...found.flatMap(of)]);
    summary('share of the variation, raw gauge', (way) => ['', ...way.shares]);
    summary('largest |sum of the terms − score|', (way) => [way.residual, '', ...blank]);
    summary('full with W₂ = W₁ less added, the largest', (way) => [
      way === found[2] ? tiedGap : '',
      '',
      ...blank,
    ]);
    summary('rank, and the most it can be', (way) => [way.rank, way.mostRank, ...blank]);
    for (let cell = 0; cell < n * n; cell++) {
      const [i, j] = [Math.floor(cell / n), cell % n];
      rows.push([
        `${i} ${tokens[i]}`,
        `${j} ${tokens[j]}`,
        ...found.flatMap((way) => [at(way.logits, cell), ...way.terms.map((term) => at(term, cell))]),
      ]);
    }
    const costly = [
      ['stream width', ({ width }: Cost) => width],
      ['heads divide it', ({ headsDivide }: Cost) => (headsDivide ? 'yes' : 'no')],
      ['tables', ({ tables }: Cost) => tables],
      ['map back', ({ projection }: Cost) => projection],
      ['a layer', ({ layer }: Cost) => layer],
    ] as const;
    const columns = 2 + 5 * ways.length;
    const add = (...row: (string | number)[]) =>
      rows.push([...row, ...Array.from({ length: columns - row.length }, () => '')]);
    builds.forEach(({ label }, place) => {
      const cost = data.costs[place];
      if (!cost) add(label, 'no room');
      else {
        for (const [what, of] of costly) add(label, what, of(cost));
        for (const { name, unit } of measures) add(label, unit, cost[name], ratio(cost, data, name));
      }
    });
    return {
      columns: [
        'query, or way',
        'key, or what is counted',
        ...ways.flatMap(({ name }, place) => [
          place === 0 ? `${name}, or how many` : name,
          ...terms.map(
            ({ term }, number) =>
              `${name}: ${termLabels[term]}${place + number === 0 ? ', or times adding' : ''}`,
          ),
        ]),
      ],
      rows,
    };
  },
};

interface Panel {
  title: { x: number; y: number };
  shares: Area;
  rank: { x: number; y: number };
  map: Area;
  key: { x: number; y: number };
}

/** Four columns, shares above maps; or, where they would be narrow, each map beside its shares. */
function arrange(width: number): { panels: Panel[]; height: number; narrow: boolean } {
  const gap = 22;
  const column = (width - 3 * gap) / 4;
  const titled = 38;
  if (column >= 190) {
    const shares = 4 * 20;
    const top = titled + shares + 38;
    const size = Math.min(column, 160);
    const panels = ways.map((_, place): Panel => {
      const x = place * (column + gap);
      return {
        title: { x, y: 14 },
        shares: { x: x + 3, y: titled, width: column - 3, height: shares },
        rank: { x, y: titled + shares + 20 },
        map: { x, y: top, width: size, height: size },
        key: { x, y: top + size + 10 },
      };
    });
    return { panels, height: top + size + 44, narrow: false };
  }
  const size = Math.min(240, Math.round(0.42 * width));
  const step = titled + Math.max(size, 150) + 24;
  const panels = ways.map((_, place): Panel => {
    const y = place * step;
    const x = width - size;
    return {
      title: { x: 0, y: y + 14 },
      shares: { x: 3, y: y + titled, width: x - 19, height: 4 * 22 },
      rank: { x: 0, y: y + titled + 4 * 22 + 20 },
      map: { x, y: y + titled, width: size, height: size },
      key: { x: 0, y: y + titled + 4 * 22 + 32 },
    };
  });
  return { panels, height: ways.length * step, narrow: width < 560 };
}

/** A row for each way to build it: its cross terms, and what it costs, on one scale. */
function costMarks(data: Data, heads: number, y: number, width: number) {
  const narrow = width < 700;
  const names = builds.map(
    ({ label, short: brief }, place) =>
      `${width < 960 ? brief : label}${data.costs[place]?.headsDivide === false ? ' *' : ''}`,
  );
  const ratios = measures.map(({ name }) => data.costs.map((cost) => ratio(cost, data, name) - 1));
  const finite = ratios.flat().filter(Number.isFinite);
  const tall = builds.length * 22;
  const first = narrow ? width : 0.44 * width;
  const column = (width - first) / measures.length - 18;
  const box = (place: number): Area =>
    narrow
      ? { x: 0, y: y + 24 + place * (tall + 30), width, height: tall }
      : place === 0
        ? { x: 0, y: y + 24, width: first, height: tall }
        : { x: first + 18 + (place - 1) * (column + 18), y: y + 24, width: column, height: tall };
  const block = (
    place: number,
    title: string,
    list: { value: number; text: string }[],
    ends: [number, number],
  ) => {
    const area = box(place);
    return [
      { mark: 'text', x: area.x, y: area.y - 8, text: title, ink: 'ink', size: 13, bold: true } as const,
      ...bars(
        area,
        list.map((one, row) => ({
          ...one,
          label: narrow || place === 0 ? (names[row] as string) : '',
          ink: row === 0 ? 'quiet' : 'accent',
        })),
        ...ends,
      ),
    ];
  };
  const crossing = builds.map(({ scores }) => {
    const { cross, crossShare } = data.ways[scores] as SplitScore;
    return { value: crossShare, text: cross === 0 ? 'none' : percent(crossShare) };
  });
  const shares = crossing.map(({ value }) => value).filter(Number.isFinite);
  const marks: Mark[] = block(
    0,
    narrow ? 'Variation from cross terms' : 'In a model: variation from cross terms',
    crossing,
    [Math.min(0, ...shares), Math.max(1, ...shares)],
  );
  const texts = measures.map(({ name }) =>
    data.costs.map((cost) =>
      cost ? `${short(cost[name])}\u2002${times(ratio(cost, data, name))}` : 'no room',
    ),
  );
  // All padded to the longest, so that the blocks have one scale.
  const longest = Math.max(...texts.flat().map(({ length }) => length));
  measures.forEach(({ label }, place) => {
    const list = builds.map((_, row) => ({
      value: ratios[place]?.[row] as number,
      text: texts[place]?.[row]?.padStart(longest, '\u2007') ?? '',
    }));
    marks.push(...block(place + 1, label, list, [Math.min(...finite), Math.max(...finite)]));
  });
  const end = box(measures.length).y + tall;
  const odd = [...new Set(data.costs.filter((one) => one?.headsDivide === false).map((one) => one?.width))];
  const notes = [
    narrow
      ? 'Costs: from what adding takes, ×1'
      : 'Costs: more, or less, than adding takes, which is ×1; one scale for all',
    ...(odd.length > 0 ? [`* ${heads} heads do not divide ${odd.join(' or ')}`] : []),
  ];
  notes.forEach((text, line) => {
    marks.push({ mark: 'text', x: 0, y: end + 20 + 17 * line, text });
  });
  return { marks, height: end + 20 + 17 * 2 };
}
