// Figure "Turn the gauge": what moving the mean position row to the words does to a head's shares, raw and
// canonical, while its scores stand still.
import type { Superpose, Table } from 'superpose';
import { aboutPercent, minus, percent } from '../plot/format.js';
import { changeText } from '../plot/gap.js';
import { type Area, lineKey, lineThrough, plane, vertical } from '../plot/parts.js';
import type { Mark } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure, Job, Said } from './figure.js';
import { type Layer, type LayerSummands, ofHead } from './seededLayer.js';
import { fetching, mostTokens, nothingToShare, sentenceControl, sentenceRemark } from './sentence.js';
import { groups, kindOf, termLabels, terms } from './terms.js';

const most = 2;
const step = 0.1;

const controls = {
  amount: {
    kind: 'range',
    label: 'Mean rows moved',
    min: -most,
    max: most,
    step,
    initial: 1,
  },
  head: { kind: 'range', label: 'Head of first layer', min: 0, max: 11, step: 1, initial: 9 },
  text: sentenceControl,
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Data {
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

const kinds = terms.map((term) => ({ label: termLabels[term], term }));

const amounts = Array.from({ length: 2 * Math.round(most / step) + 1 }, (_, place) =>
  Number((step * place - most).toFixed(1)),
);
const places = amounts.map((_, place) => place);
const placeOf = ({ amount }: State): number => amounts.indexOf(Number(amount.toFixed(1)));

// All places of the slider are computed at once; moving it computes nothing.
let last: { key: string; data: Data } | undefined;

export const compute: Compute<typeof controls, Data> = async (library, { text, head }, job) => {
  const key = JSON.stringify([text, head]);
  if (last?.key === key) return last.data;
  const superpose = await library.superpose();
  const model = await library.miniLM();
  const sentence = model.tokenize(text, mostTokens);
  const summands = await model.summands(sentence);
  const { tokens, dropped } = sentence;
  const turned = await turn(superpose, summands, ofHead(model.layer(), head), job);
  const data = { tokens, dropped, amounts, ...turned };
  last = { key, data };
  return data;
};

async function turn(superpose: Superpose, summands: LayerSummands, layer: Layer, job: Job) {
  const { token, position, token_type } = summands;
  const mean = meanRows(superpose, position);
  const plus = (table: Table<Float64Array>, positionScale: number) =>
    superpose.bertEmbeddings({ token: table, position: mean, positionScale }).sum;
  const found: Pick<Data, 'raw' | 'canonical' | 'changes'> = { raw: [], canonical: [], changes: [] };
  const unmoved = superpose.decompose({ summands, ...layer }).logits;
  for (const amount of amounts) {
    job.signal.throwIfAborted();
    const moved = { token: plus(token, amount), position: plus(position, -amount), token_type };
    for (const gauge of ['raw', 'canonical'] as const) {
      const apart = gauge === 'canonical' ? [0] : [];
      const scores = superpose.decompose({ summands: moved, ...layer, groups, gauge, apart });
      found[gauge].push(Array.from(superpose.poolShares([scores], kindOf).heads));
      if (gauge === 'raw') found.changes.push(superpose.largestDifference(scores.logits, unmoved));
    }
    job.progress(found.raw.length / amounts.length);
    await new Promise((resolve) => setTimeout(resolve));
  }
  return found;
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

export const figure: Figure<typeof controls, Data> = {
  name: 'gauge',
  title: 'Turn the gauge: raw shares swing, canonical ones stay',
  controls,
  source: () => 'trained',
  waiting: fetching,

  scene(data, state, width) {
    const { areas, key, height } = arrange(width);
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
        ...kinds.map(({ term }, kind): Mark => {
          const values = data[gauge].map((found) => found[kind] as number);
          return { mark: 'path', d: lineThrough(on, data.amounts, values), stroke: term, wide: 2, term };
        }),
        ...kinds.flatMap(({ term }, kind): Mark[] => {
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
        ...kinds.flatMap(({ label, term }, place) =>
          lineKey(place * key.right, key.y + place * key.down, [{ label, ink: term, term }]),
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
  },

  describe(data, state) {
    const { raw, canonical, changes, tokens } = data;
    if (!canonical.flat().every(Number.isFinite)) {
      return nothingToShare({ gauge: 'canonical' }, tokens.length);
    }
    const swings = kinds.map((_, kind) => spread(raw, kind));
    const widest = swings.indexOf(Math.max(...swings));
    const shares = raw.map((found) => found[widest] as number);
    const still = Math.max(...kinds.map((_, kind) => spread(canonical, kind)));
    return `Move up to ${most} times the mean position row from the positions to the words, or back: the scores of head ${state.head} change by ${changeText(Math.max(...changes))}. Its raw share of ${kinds[widest]?.label} runs from ${aboutPercent(Math.min(...shares))} to ${aboutPercent(Math.max(...shares))}; the canonical shares change by ${changeText(still)}.`;
  },

  cells: (data) => ({ rows: 1, columns: data.amounts.length }),
  firstCursor: (_, state) => ({ i: 0, j: placeOf(state) }),

  readout(data, _, { j }) {
    const of = (gauge: 'raw' | 'canonical') =>
      kinds.flatMap(({ label, term }, kind): Said[] => [
        { text: `${label} ${percent(data[gauge][j]?.[kind] as number)}`, term },
        kind === kinds.length - 1 ? '. ' : ', ',
      ]);
    return [
      { text: `${minus(String(data.amounts[j]))} × the mean position row moved to the words`, strong: true },
      `: scores change by ${changeText(data.changes[j] as number)}. Raw: `,
      ...of('raw'),
      'Canonical: ',
      ...of('canonical'),
    ];
  },

  remark: ({ tokens, dropped }) => sentenceRemark(tokens, dropped),

  table: (data) => ({
    columns: [
      '× mean position row moved',
      ...panels.flatMap(({ gauge }) => kinds.map(({ label }) => `${label}, ${gauge}`)),
      'largest change of a score',
    ],
    rows: places.map((place) => [
      data.amounts[place] as number,
      ...(data.raw[place] as number[]),
      ...(data.canonical[place] as number[]),
      data.changes[place] as number,
    ]),
  }),
};

/** From the smallest to the largest of a kind's shares. */
function spread(shares: number[][], kind: number): number {
  const values = shares.map((found) => found[kind] as number);
  return Math.max(...values) - Math.min(...values);
}

/** Side by side, or one above the other. */
function arrange(width: number): {
  areas: Area[];
  key: { y: number; right: number; down: number };
  height: number;
} {
  const high = 280;
  if (width >= 640) {
    const each = (width - 24) / 2;
    return {
      areas: [
        { x: 0, y: 0, width: each, height: high },
        { x: each + 24, y: 0, width: each, height: high },
      ],
      key: { y: high + 14, right: width / kinds.length, down: 0 },
      height: high + 14 + 18 + 6,
    };
  }
  return {
    areas: [
      { x: 0, y: 0, width, height: high },
      { x: 0, y: high + 16, width, height: high },
    ],
    key: { y: 2 * high + 30, right: 0, down: 18 },
    height: 2 * high + 30 + 18 * kinds.length + 6,
  };
}
