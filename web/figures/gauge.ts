// Figure "Shares taken raw": what happens to a head's shares when the mean row of the positions is moved to
// the tokens or back. No score and no canonical share changes, but raw shares do. Both kinds of shares leave
// out the row of [CLS], so that they differ by the gauge alone.
import type { Superpose } from 'add-or-concatenate';
import { aboutPercent, changeText, minus, percent } from '../plot/format.js';
import { type Area, largestMagnitude, lineThrough, namedLines, plane, vertical } from '../plot/parts.js';
import type { Mark, Scene } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure, Job, Library, ReadoutPiece } from './figure.js';
import { groups, kindOf, termKinds } from './terms.js';
import {
  excludedRows,
  fetching,
  firstLayer,
  headControl,
  mostTokens,
  nothingToShare,
  sentenceControl,
  sentenceRemark,
} from './trainedModel.js';

const most = 2;
const step = 0.1;

const controls = {
  amount: { kind: 'range', label: 'Mean rows moved', min: -most, max: most, step, initial: 1 },
  head: { ...headControl, initial: 9 },
  text: sentenceControl,
} as const satisfies Controls;

type State = StateOf<typeof controls>;

const amounts = Array.from({ length: 2 * Math.round(most / step) + 1 }, (_, place) =>
  Number((step * place - most).toFixed(1)),
);
const placeOf = ({ amount }: State): number => amounts.indexOf(Number(amount.toFixed(1)));

/** A head's shares as the tables' means are moved. */
interface Data {
  tokens: readonly string[];
  dropped: number;
  /** How many mean rows each place of the slider moves. */
  amounts: number[];
  /** [amounts][kinds], in both gauges from the same tables and rows. */
  raw: number[][];
  canonical: number[][];
  /** [amounts], the largest change of a score. */
  changes: number[];
  /** The largest changes of a share and of a score that still count as rounding in float32. */
  least: [share: number, score: number];
}

// All places of the slider are computed at once, so that moving it computes nothing.
export const compute: Compute<typeof controls, Data> = async (library, { text, head }, job) => {
  const superpose = await library.superpose();
  return library.memoize('gauge', [text, head], () => sharesByAmount(library, superpose, text, head, job));
};

/** A head's shares at every place of the slider. */
async function sharesByAmount(
  library: Library,
  superpose: Superpose,
  text: string,
  head: number,
  job: Job,
): Promise<Data> {
  const model = await library.miniLM();
  const sentence = await model.tokenize(text, mostTokens);
  const { tokens, dropped } = sentence;
  const { token, position, token_type } = await model.rows(sentence);
  const only = [head];
  const rows = { token, position, token_type };
  const layer = await firstLayer(library);
  const unmoved = layer.decompose({ summands: rows, only }).logits;
  const least: Data['least'] = [1e-6, 1e-6 * largestMagnitude([unmoved])];
  const data: Data = { tokens, dropped, amounts, raw: [], canonical: [], changes: [], least };
  for (const amount of amounts) {
    job.signal.throwIfAborted();
    const { from, to } = superpose.moveMean({ from: position, to: token, amount });
    const summands = { token: to, position: from, token_type };
    for (const gauge of ['raw', 'canonical'] as const) {
      const scores = layer.decompose({ summands, groups, gauge, excludedRows, only });
      data[gauge].push(Array.from(superpose.poolShares([scores], kindOf).heads));
      if (gauge === 'raw') data.changes.push(superpose.largestDifference(scores.logits, unmoved));
    }
    job.progress(data.raw.length / amounts.length);
    await new Promise((resolve) => setTimeout(resolve));
  }
  return data;
}

const panels = [
  { gauge: 'raw', title: 'raw shares, %' },
  { gauge: 'canonical', title: 'canonical shares, %' },
] as const;

export const figure: Figure<typeof controls, Data> = {
  name: 'gauge',
  title: 'Shares taken raw',
  controls,
  source: () => 'trained',
  waiting: fetching,
  scene: sceneOf,

  describe(data, state) {
    const { raw, canonical, changes, tokens, least } = data;
    const unmoved = data.amounts.indexOf(0);
    if (!canonical.flat().every(Number.isFinite)) {
      return nothingToShare(tokens.length);
    }
    const swings = termKinds.map((_, kind) => spread(raw, kind));
    const widest = swings.indexOf(Math.max(...swings));
    const shares = raw.map((kinds) => kinds[widest] as number);
    const still = Math.max(...termKinds.map((_, kind) => spread(canonical, kind)));
    return `Raw shares swing; scores and canonical shares stand still. When up to ${most} times the mean position row is moved from the positions to the tokens, or back, the scores of head ${state.head} change by ${changeText(Math.max(...changes), least[1])}. Its raw share of ${termKinds[widest]?.label} runs from ${aboutPercent(Math.min(...shares))} to ${aboutPercent(Math.max(...shares))}. Unmoved, it is ${aboutPercent(shares[unmoved] as number)}, and the canonical share of the same tokens is ${aboutPercent(canonical[unmoved]?.[widest] as number)}. The canonical shares change by ${changeText(still, least[0])}.`;
  },

  cells: () => ({ rows: 1, columns: amounts.length }),
  firstCursor: (_, state) => ({ i: 0, j: placeOf(state) }),

  readout(data, _, { j }) {
    const of = (gauge: 'raw' | 'canonical') =>
      termKinds.flatMap(({ label, term }, kind): ReadoutPiece[] => [
        { text: `${label} ${percent(data[gauge][j]?.[kind] as number)}`, term },
        kind === termKinds.length - 1 ? '. ' : ', ',
      ]);
    const moved = `${minus(String(data.amounts[j]))} × the mean position row moved to the tokens`;
    return [
      { text: moved, strong: true },
      `: scores change by ${changeText(data.changes[j] as number, data.least[1])}. Raw: `,
      ...of('raw'),
      'Canonical: ',
      ...of('canonical'),
    ];
  },

  remark: ({ tokens, dropped }) => sentenceRemark(tokens, dropped),

  table(data) {
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
  },
};

function sceneOf(data: Data, state: State, width: number): Scene {
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
        const values = data[gauge].map((kinds) => kinds[kind] as number);
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

/** The distance from the smallest to the largest of a kind's shares. */
function spread(shares: number[][], kind: number): number {
  const values = shares.map((kinds) => kinds[kind] as number);
  return Math.max(...values) - Math.min(...values);
}

/** Two panels side by side, or one above the other. The lines are named once, at their ends on the right. */
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
