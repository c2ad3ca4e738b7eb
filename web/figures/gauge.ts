// Figure "Two mistakes with terms": shares that are taken raw swing with the tables' means, while scores and
// canonical shares stand still; and parts that are normalized one by one do not add up to the scores.
import { extent } from 'd3-array';
import {
  type CombinedTerms,
  type GaugeOptions,
  logitsOf,
  type SmallSuperpose,
  type Superpose,
  type Table,
  termOf,
} from 'superpose';
import { about, aboutPercent, minus, percent, readable } from '../plot/format.js';
import { changeText, howExactly } from '../plot/gap.js';
import { type Area, bars, lineThrough, namedLines, plane, vertical } from '../plot/parts.js';
import type { Cursor, Mark, Scene } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, DataTable, Figure, Job, Library, ReadoutPiece } from './figure.js';
import { apartOf, gaugeControl } from './gaugeControl.js';
import { queryAndKey } from './pairs.js';
import { type Layer, type LayerSummands, seededLayer } from './seededLayer.js';
import {
  fetching,
  headControl,
  mostTokens,
  nothingToShare,
  sentenceControl,
  sentenceRemark,
  trainedOrSeeded,
  weightsControl,
} from './sentence.js';
import { groups, kindOf, ofSixteen, termKinds, terms } from './terms.js';

const most = 2;
const step = 0.1;

const controls = {
  of: {
    kind: 'choice',
    label: 'Mistake',
    options: { gauge: 'Shares taken raw', parts: 'Parts normalized one by one' },
    initial: 'gauge',
    radio: true,
  },
  amount: {
    kind: 'range',
    label: 'Mean rows moved',
    min: -most,
    max: most,
    step,
    initial: 1,
  },
  weights: weightsControl,
  head: { ...headControl, initial: 9 },
  gauge: { ...gaugeControl, more: true },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 16 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  centred: { kind: 'toggle', more: true, label: 'Centre each row', initial: false },
  text: sentenceControl,
} as const satisfies Controls;

type State = StateOf<typeof controls>;

/** A head's shares as the tables' means are moved. */
interface Turned {
  tokens: readonly string[];
  dropped: number;
  /** How many mean rows each place of the slider moves. */
  amounts: number[];
  /** [amounts][kinds], in both gauges from the same tables. */
  raw: number[][];
  canonical: number[][];
  /** [amounts], the largest change of a score. */
  changes: number[];
}

interface Matrix {
  sum: Float64Array;
  centred: Float64Array;
}

/** A head's scores as they are, and of parts that are normalized one by one. */
interface Parts {
  tokens: readonly string[];
  dropped: number;
  n: number;
  /** Computed from whole queries and keys. */
  direct: Matrix;
  /** The sixteen terms of the normalized sum, added up. */
  exact: Matrix;
  /** The same for parts that are normalized one by one. */
  separate: Matrix;
  /** The largest |sum of the terms − direct score|. */
  residuals: { exact: number; separate: number };
  /** Queries whose largest score belongs to another key when the parts are normalized one by one. */
  winners: number;
  /** For each of the five kinds of terms: its share of the scores as they are, and of what softmax sees. */
  uncentred: number[];
  shares: number[];
}

type Data = Turned | Parts;

const isTurned = (data: Data): data is Turned => 'amounts' in data;

const amounts = Array.from({ length: 2 * Math.round(most / step) + 1 }, (_, place) =>
  Number((step * place - most).toFixed(1)),
);
const placeOf = ({ amount }: State): number => amounts.indexOf(Number(amount.toFixed(1)));

// All places of the slider are computed at once; moving it computes nothing. Nor does centring.
export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const { of, weights, text, head, gauge, n, seed } = state;
  const drawn = of === 'parts' && weights === 'seeded';
  const key = [of, head, ...(of === 'parts' ? [gauge] : []), ...(drawn ? [n, seed] : [text])];
  return library.kept('gauge', key, () => computed(library, state, job));
};

async function computed(library: Library, state: State, job: Job): Promise<Data> {
  const { of, weights, text, head, gauge } = state;
  const drawn = of === 'parts' && weights === 'seeded';
  const given = drawn ? seeded(library, await library.small(), state) : await trained(library, text);
  const { tokens, dropped, summands } = given;
  const layer: HeadOfLayer = { ...given.layer, only: [head] };
  return of === 'gauge'
    ? { tokens, dropped, amounts, ...(await turn(await library.superpose(), summands, layer, job)) }
    : {
        tokens,
        dropped,
        ...compare(await library.small(), summands, layer, { gauge, apart: apartOf(gauge, weights) }),
      };
}

interface SentenceLayer {
  tokens: readonly string[];
  dropped: number;
  summands: LayerSummands;
  layer: Layer;
}

async function trained(library: Library, text: string): Promise<SentenceLayer> {
  const model = await library.miniLM();
  const sentence = model.tokenize(text, mostTokens);
  const { tokens, dropped } = sentence;
  return { tokens, dropped, summands: await model.summands(sentence), layer: model.layer() };
}

function seeded(library: Library, superpose: SmallSuperpose, { n, seed }: State): SentenceLayer {
  const tokens = Array.from({ length: n }, (_, place) => `token ${place}`);
  return { tokens, dropped: 0, ...seededLayer(library, superpose, n, seed) };
}

type HeadOfLayer = Layer & { only: [number] };

async function turn(superpose: Superpose, summands: LayerSummands, layer: HeadOfLayer, job: Job) {
  const { token, position, token_type } = summands;
  const mean = meanRows(superpose, position);
  const plus = (table: Table<Float64Array>, positionScale: number) =>
    superpose.bertEmbeddings({ token: table, position: mean, positionScale }).sum;
  const found: Pick<Turned, 'raw' | 'canonical' | 'changes'> = { raw: [], canonical: [], changes: [] };
  const held = superpose.layer(layer);
  try {
    const unmoved = held.decompose({ summands }).logits;
    for (const amount of amounts) {
      job.signal.throwIfAborted();
      const moved = { token: plus(token, amount), position: plus(position, -amount), token_type };
      for (const gauge of ['raw', 'canonical'] as const) {
        const apart = gauge === 'canonical' ? [0] : [];
        const scores = held.decompose({ summands: moved, groups, gauge, apart });
        found[gauge].push(Array.from(superpose.poolShares([scores], kindOf).heads));
        if (gauge === 'raw') found.changes.push(superpose.largestDifference(scores.logits, unmoved));
      }
      job.progress(found.raw.length / amounts.length);
      await new Promise((resolve) => setTimeout(resolve));
    }
    return found;
  } finally {
    held.delete();
  }
}

/** The mean of the sentence's position rows, repeated for each of them. */
function meanRows(superpose: Superpose, position: Table<Float64Array>): Table<Float64Array> {
  const { rows, columns } = position;
  const alike = Array<number>(rows).fill(0);
  const { global } = superpose.meanDecomposition({
    rows: position,
    positionOf: alike,
    positions: 1,
    tokenOf: alike,
    tokens: 1,
  });
  const data = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row++) data.set(global, row * columns);
  return { data, rows, columns };
}

const panels = [
  { gauge: 'raw', title: 'raw shares, %' },
  { gauge: 'canonical', title: 'canonical shares, %' },
] as const;

const names = ['token', 'position', 'token_type'] as const;
const count = (names.length + 1) ** 2;

function compare(
  superpose: SmallSuperpose,
  summands: LayerSummands,
  layer: HeadOfLayer,
  gauge: GaugeOptions<Float64Array>,
) {
  const [head] = layer.only;
  const scores = superpose.decompose({ summands, ...layer, ...gauge });
  const { n } = scores;
  const shown = ({ sum, centred }: Matrix): Matrix => ({ sum, centred });
  const every = Array.from({ length: count }, () => true);
  const masks = terms.map((term) => every.map((_, number) => ofSixteen[term].includes(number)));
  const [exact, ...combined] = superpose.combineTerms(scores, head, [every, ...masks]) as [
    CombinedTerms<Float64Array>,
    ...CombinedTerms<Float64Array>[],
  ];
  const separate = superpose.combineTerms(
    { ...scores, terms: separateTerms(superpose, summands, layer) },
    head,
    every,
  );
  const logits = logitsOf(scores, head);
  // The direct scores as a single term, to have them centred.
  const direct = superpose.combineTerms({ ...scores, parts: ['all'], terms: logits }, head, [true]);
  return {
    n,
    direct: shown(direct),
    exact: shown(exact),
    separate: shown(separate),
    residuals: {
      exact: scores.residuals[0] as number,
      separate: superpose.largestDifference(logits, separate.sum),
    },
    winners: Array.from({ length: n }, (_, i) => i).filter(
      (i) => winner(logits, i, n) !== winner(separate.sum, i, n),
    ).length,
    uncentred: combined.map(({ uncentredShare }) => uncentredShare),
    shares: combined.map(({ share }) => share),
  };
}

const at = (values: ArrayLike<number>, place: number) => values[place] ?? Number.NaN;

/** Stacks the parts' rows in one table, so LayerNorm takes each by itself. Terms are in the usual order. */
function separateTerms(superpose: SmallSuperpose, summands: LayerSummands, layer: HeadOfLayer) {
  const { rows: n, columns } = summands.token;
  const stacked = new Float64Array(names.length * n * columns);
  names.forEach((name, part) => {
    stacked.set(summands[name].data, part * n * columns);
  });
  const rows = names.length * n;
  const scores = superpose.decomposeTerms({
    summands: { part: { data: stacked, rows, columns } },
    ...layer,
  });
  const [head] = layer.only;
  const [both, query, key, constant] = [
    termOf(scores, head, 'part', 'part'),
    termOf(scores, head, 'part', 'constant'),
    termOf(scores, head, 'constant', 'part'),
    termOf(scores, head, 'constant', 'constant'),
  ];
  const terms = new Float64Array(count * n * n);
  let cell = 0;
  for (let s = 0; s <= names.length; s++) {
    for (let r = 0; r <= names.length; r++) {
      const term = s < names.length ? (r < names.length ? both : query) : r < names.length ? key : constant;
      // A constant side has the same values for every part, so the first part's are taken.
      const [down, across] = [s % names.length, r % names.length];
      for (let i = 0; i < n; i++) {
        const from = (down * n + i) * rows + across * n;
        terms.set(term.subarray(from, from + n), cell);
        cell += n;
      }
    }
  }
  return terms;
}

/** The key that a query scores highest. */
function winner(scores: Float64Array, query: number, n: number): number {
  const row = scores.subarray(query * n, (query + 1) * n);
  return row.indexOf(Math.max(...row));
}

const values = (matrix: Matrix, { centred }: State) => (centred ? matrix.centred : matrix.sum);

export const figure: Figure<typeof controls, Data> = {
  name: 'gauge',
  title: 'Two mistakes: raw shares, and parts normalized one by one',
  controls,
  source: ({ of, weights }) => (of === 'gauge' ? 'trained' : weights),
  waiting: fetching,
  unused: (state) =>
    state.of === 'gauge'
      ? ['weights', 'gauge', 'n', 'seed', 'centred']
      : ['amount', ...trainedOrSeeded.unused(state)],

  scene: (data, state, width) =>
    isTurned(data) ? turnedScene(data, state, width) : partsScene(data, state, width),

  /** A line from what the terms should add up to, to what the separately normalized ones do. */
  focus(data, state, { i, j }, width) {
    if (isTurned(data)) return [];
    const { x, y } = planeOf(data, state, arrangeParts(width).scatter);
    const cell = i * data.n + j;
    const across = x(at(values(data.direct, state), cell));
    const [y1, y2] = [data.exact, data.separate].map((matrix) => y(at(values(matrix, state), cell))) as [
      number,
      number,
    ];
    if (!Number.isFinite(across + y1 + y2)) return [];
    return [{ mark: 'line', x1: across, x2: across, y1, y2, ink: 'warning', wide: 2.5 }];
  },

  describe: (data, state) => (isTurned(data) ? turnedFinding(data, state) : partsFinding(data, state)),

  cells: (data) =>
    isTurned(data) ? { rows: 1, columns: amounts.length } : { rows: data.n, columns: data.n },
  firstCursor: (data, state) => (isTurned(data) ? { i: 0, j: placeOf(state) } : farthest(data)),

  readout(data, state, { i, j }) {
    if (isTurned(data)) {
      const of = (gauge: 'raw' | 'canonical') =>
        termKinds.flatMap(({ label, term }, kind): ReadoutPiece[] => [
          { text: `${label} ${percent(data[gauge][j]?.[kind] as number)}`, term },
          kind === termKinds.length - 1 ? '. ' : ', ',
        ]);
      return [
        {
          text: `${minus(String(data.amounts[j]))} × the mean position row moved to the tokens`,
          strong: true,
        },
        `: scores change by ${changeText(data.changes[j] as number)}. Raw: `,
        ...of('raw'),
        'Canonical: ',
        ...of('canonical'),
      ];
    }
    const cell = i * data.n + j;
    const shown = (matrix: Matrix) => readable(at(values(matrix, state), cell));
    return [
      ...queryAndKey(data.tokens, { i, j }),
      `score ${shown(data.direct)}${state.centred ? ' above its row’s mean' : ''}; `,
      { text: `sum of the terms ${shown(data.exact)}`, ink: 'accent' },
      '; ',
      { text: `parts normalized one by one ${shown(data.separate)}`, ink: 'warning' },
      '.',
    ];
  },

  tokens: (data, state) => (isTurned(data) ? undefined : trainedOrSeeded.tokens(data, state)),
  remark: (data, state) =>
    isTurned(data) ? sentenceRemark(data.tokens, data.dropped) : trainedOrSeeded.remark(data, state),

  table: (data, state) => (isTurned(data) ? turnedTable(data) : partsTable(data, state)),
};

function turnedFinding(data: Turned, state: State): string {
  const { raw, canonical, changes, tokens } = data;
  if (!canonical.flat().every(Number.isFinite)) {
    return nothingToShare({ gauge: 'canonical' }, tokens.length);
  }
  const swings = termKinds.map((_, kind) => spread(raw, kind));
  const widest = swings.indexOf(Math.max(...swings));
  const shares = raw.map((found) => found[widest] as number);
  const still = Math.max(...termKinds.map((_, kind) => spread(canonical, kind)));
  return `Raw shares swing; scores and canonical shares stand still. Move up to ${most} times the mean position row from the positions to the tokens, or back: the scores of head ${state.head} change by ${changeText(Math.max(...changes))}. Its raw share of ${termKinds[widest]?.label} runs from ${aboutPercent(Math.min(...shares))} to ${aboutPercent(Math.max(...shares))}; the canonical shares change by ${changeText(still)}.`;
}

function turnedTable(data: Turned): DataTable {
  return {
    columns: [
      '× mean position row moved',
      ...panels.flatMap(({ gauge }) => termKinds.map(({ label }) => `${label}, ${gauge}`)),
      'largest change of a score',
    ],
    rows: amounts.map((_, place) => [
      data.amounts[place] as number,
      ...(data.raw[place] as number[]),
      ...(data.canonical[place] as number[]),
      data.changes[place] as number,
    ]),
  };
}

function turnedScene(data: Turned, state: State, width: number): Scene {
  const { areas, named, height } = arrangePanels(width);
  const at = placeOf(state);
  const shares = [...data.raw, ...data.canonical].flat().filter(Number.isFinite);
  const [from, to] = [Math.min(0, ...shares), Math.max(1, ...shares)];
  const drawn = panels.map(({ title }, place) =>
    plane(
      areas[place] as Area,
      { from: -most, to: most, label: '× mean position row moved', nice: false },
      { from, to, label: title, print: (tick) => `${Math.round(100 * tick)}`.replace('-', '−') },
    ),
  );
  const marks: Mark[] = panels.flatMap(({ gauge }, place): Mark[] => {
    const on = drawn[place] as (typeof drawn)[0];
    const { x, inner } = on;
    const now = x(data.amounts[at] as number);
    return [
      ...on.marks,
      vertical({ inner }, now, { ink: 'quiet', dashed: true }),
      ...termKinds.map(({ term }, kind): Mark => {
        const values = data[gauge].map((found) => found[kind] as number);
        return { mark: 'path', d: lineThrough(on, data.amounts, values), stroke: term, wide: 2, term };
      }),
      ...termKinds.flatMap(({ term }, kind): Mark[] => {
        const value = data[gauge][at]?.[kind] as number;
        if (!Number.isFinite(value)) return [];
        return [{ mark: 'dots', x: [now], y: [on.y(value)], radius: 4, ink: term, term }];
      }),
    ];
  });
  return {
    width,
    height,
    marks: [
      ...marks,
      ...named.names(
        drawn.at(-1) as (typeof drawn)[0],
        termKinds.map((_, kind) => drawn[0]?.y(data.canonical.at(-1)?.[kind] ?? Number.NaN) as number),
      ),
    ],
    // Each amount is in the middle of its column.
    regions: drawn.map(({ inner }) => {
      const half = inner.width / (2 * data.amounts.length - 2);
      return {
        ...inner,
        x: inner.x - half,
        width: inner.width + 2 * half,
        pick: 'across' as const,
        rows: 1,
        columns: data.amounts.length,
      };
    }),
  };
}

/** From the smallest to the largest of a kind's shares. */
function spread(shares: number[][], kind: number): number {
  const values = shares.map((found) => found[kind] as number);
  return Math.max(...values) - Math.min(...values);
}

/** In two columns, or one above the other. The names stand once, at the ends of the lines on the right. */
function arrangePanels(width: number) {
  const high = 280;
  const least = 640;
  const wide = width >= least;
  const named = namedLines(
    { x: 0, y: 0, width, height: wide ? high : 2 * high + 16 },
    termKinds.map(({ label, term }) => ({ label, ink: term, term })),
    least,
  );
  const { area } = named;
  const each = wide ? (area.width - 24) / 2 : width;
  const areas: Area[] = [0, 1].map((place) => ({
    x: wide ? place * (each + 24) : 0,
    y: wide ? 0 : place * (high + 16),
    width: each,
    height: high,
  }));
  return { areas, named, height: area.height + named.below };
}

function partsFinding({ n, direct, residuals, winners, uncentred, shares }: Parts, state: State): string {
  const [low = 0, high = 0] = extent(direct.sum) as [number?, number?];
  const apart = `The terms add up only if their whole sum is normalized. In head ${state.head}, the terms of the normalized sum add up to the scores ${howExactly(residuals.exact)}. With each part normalized by itself they miss by up to ${about(residuals.separate)}, where the scores run from ${about(low)} to ${about(high)}, and ${winners} of ${n} tokens ${winners === 1 ? 'attends' : 'attend'} most to a different one.`;
  if (!shares.every(Number.isFinite)) return `${apart} ${nothingToShare(state, n)}`;
  const gaps = shares.map((share, place) => Math.abs(share - at(uncentred, place)));
  const place = gaps.indexOf(Math.max(...gaps));
  return `${apart} In the ${state.gauge} gauge, what centring changes most is the share of ${termKinds[place]?.label}: ${aboutPercent(at(uncentred, place))} of the scores as they are, ${aboutPercent(at(shares, place))} of what softmax sees.`;
}

function partsTable(data: Parts, state: State): DataTable {
  const columns = [data.direct, data.exact, data.separate].map((matrix) => values(matrix, state));
  const unit = state.centred ? ', row centred' : '';
  const pairs = Array.from(data.direct.sum, (_, cell) => {
    const [i, j] = [Math.floor(cell / data.n), cell % data.n];
    return [`${i} ${data.tokens[i]}`, `${j} ${data.tokens[j]}`, ...columns.map((column) => at(column, cell))];
  });
  return {
    columns: [
      'query, or term',
      'key, or kind of share',
      `score${unit}, or share of the scores`,
      `sum of the terms${unit}, or centred share`,
      `of parts normalized one by one${unit}`,
    ],
    rows: [
      ...termKinds.map(({ label }, place) => [
        label,
        `share, ${state.gauge} gauge`,
        at(data.uncentred, place),
        at(data.shares, place),
        '',
      ]),
      ...pairs,
      ['largest |difference from the score|', '', '', data.residuals.exact, data.residuals.separate],
    ],
  };
}

function partsScene(data: Parts, state: State, width: number): Scene {
  const { scatter, shares, key, height } = arrangeParts(width);
  const { x, y, marks } = planeOf(data, state, scatter);
  const [direct, exact, separate] = [data.direct, data.exact, data.separate].map((matrix) =>
    values(matrix, state),
  ) as [Float64Array, Float64Array, Float64Array];
  const across = Float32Array.from(direct, (value) => x(value));
  const up = (matrix: Float64Array) => Float32Array.from(matrix, (value) => y(value));
  const few = direct.length < 1000;
  const cursors: Cursor[] = Array.from(direct, (_, cell) => ({
    i: Math.floor(cell / data.n),
    j: cell % data.n,
  }));
  const wrong = up(separate);
  const right = up(exact);
  const [from, to] = lineEnds(x.domain() as [number, number], y.domain() as [number, number]);
  const [opacity, radius] = few ? [0.75, 2.2] : [0.35, 1.4];
  const list = [data.uncentred, data.shares];
  const finite = list.flat().filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...finite), Math.max(1, ...finite)];
  const texts = list.map((found) => found.map(percent));
  // All padded to the longest, so that both lists have their zero at the same place.
  const longest = Math.max(...texts.flat().map(({ length }) => length));
  const titles = [`Share of the scores, ${state.gauge} gauge`, 'The same with each row centred'];
  return {
    width,
    height,
    marks: [
      ...marks,
      {
        mark: 'line',
        x1: x(from),
        y1: y(from),
        x2: x(to),
        y2: y(to),
        ink: 'quiet',
        dashed: true,
        wide: 1.5,
      },
      { mark: 'dots', x: across, y: wrong, radius, ink: 'warning', opacity },
      { mark: 'dots', x: across, y: right, radius, ink: 'accent', opacity },
      ...dotKey(key.x, key.y, 'accent', 'terms of the sum, normalized as a whole'),
      ...dotKey(key.x, key.y + 18, 'warning', 'terms of parts normalized one by one'),
      ...list.flatMap((found, place): Mark[] => {
        const area = shares[place] as Area;
        return [
          { mark: 'text', x: area.x, y: area.y + 13, text: titles[place] as string, ink: 'ink', size: 13 },
          ...bars(
            { ...area, y: area.y + 22, height: area.height - 22 },
            termKinds.map(({ label, term }, row) => ({
              label,
              value: at(found, row),
              text: texts[place]?.[row]?.padStart(longest, '\u2007') ?? '',
              ink: term,
              term,
            })),
            low,
            high,
          ),
        ];
      }),
    ],
    regions: [
      { ...scatter, pick: { points: { x: across, y: wrong, cursors } }, rows: data.n, columns: data.n },
    ],
  };
}

/** The scatter beside the shares, or above them. */
function arrangeParts(width: number) {
  const block = 22 + 5 * 23;
  if (width >= 700) {
    const size = Math.round(0.52 * width);
    const scatter: Area = { x: 0, y: 44, width: size, height: 380 };
    const x = size + 40;
    return {
      scatter,
      key: { x: 0, y: 0 },
      shares: [
        { x, y: 60, width: width - x, height: block },
        { x, y: 60 + block + 36, width: width - x, height: block },
      ],
      height: 428,
    };
  }
  const high = Math.min(380, width);
  const below = 44 + high + 24;
  return {
    scatter: { x: 0, y: 44, width, height: high },
    key: { x: 0, y: 0 },
    shares: [
      { x: 0, y: below, width, height: block },
      { x: 0, y: below + block + 24, width, height: block },
    ],
    height: below + 2 * block + 28,
  };
}

function planeOf(data: Parts, state: State, scatter: Area) {
  const [from = 0, to = 1] = extent(values(data.direct, state)) as [number?, number?];
  const [low = 0, high = 1] = extent(
    [data.direct, data.exact, data.separate].flatMap(
      (matrix) => extent(values(matrix, state)) as [number, number],
    ),
  ) as [number?, number?];
  return plane(
    scatter,
    { from, to, label: 'score, computed directly (logit)' },
    { from: low, to: high, label: 'sum of the sixteen terms (logit)' },
  );
}

/** Where the line of equality enters and leaves the plane. */
const lineEnds = ([left, right]: [number, number], [low, high]: [number, number]) =>
  [Math.max(left, low), Math.min(right, high)] as const;

const dotKey = (x: number, y: number, ink: 'accent' | 'warning', label: string): Mark[] => [
  { mark: 'dots', x: [x + 6], y: [y + 8], radius: 4, ink },
  { mark: 'text', x: x + 18, y: y + 12, text: label, ink: 'ink' },
];

/** The score that normalizing the parts misses by most. */
function farthest({ n, direct, separate }: Parts): Cursor {
  let most = -1;
  let cell = 0;
  direct.sum.forEach((value, place) => {
    const gap = Math.abs(at(separate.sum, place) - value);
    if (gap > most) [most, cell] = [gap, place];
  });
  return { i: Math.floor(cell / n), j: cell % n };
}
