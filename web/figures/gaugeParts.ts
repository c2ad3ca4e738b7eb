// The parts normalized one by one, and their scores beside the whole: a view of the figure "gauge".
import { extent } from 'd3-array';
import { type CombinedTerms, type GaugeOptions, logitsOf, type SmallSuperpose, termOf } from 'superpose';
import { about, aboutPercent, percent } from '../plot/format.js';
import { howExactly } from '../plot/gap.js';
import { type Area, bars, plane, textAt } from '../plot/parts.js';
import type { Cursor, Mark, Scene } from '../plot/scene.js';
import type { DataTable } from './figure.js';
import { at, type HeadOfLayer, type State } from './gaugeSettings.js';
import type { LayerSummands } from './seededLayer.js';
import { nothingToShare } from './sentence.js';
import { ofSixteen, termKinds, terms } from './terms.js';

export interface Matrix {
  sum: Float64Array;
  centred: Float64Array;
}

/** A head's scores as they are, and of parts that are normalized one by one. */
export interface Parts {
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

const names = ['token', 'position', 'token_type'] as const;

const count = (names.length + 1) ** 2;

export function compare(
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

export const values = (matrix: Matrix, { centred }: State) => (centred ? matrix.centred : matrix.sum);

export function partsFinding(
  { n, direct, residuals, winners, uncentred, shares }: Parts,
  state: State,
): string {
  const [low = 0, high = 0] = extent(direct.sum) as [number?, number?];
  const apart = `The terms add up only if their whole sum is normalized. In head ${state.head}, the terms of the normalized sum add up to the scores ${howExactly(residuals.exact)}. With each part normalized by itself they miss by up to ${about(residuals.separate)}, where the scores run from ${about(low)} to ${about(high)}, and ${winners} of ${n} tokens ${winners === 1 ? 'attends' : 'attend'} most to a different one.`;
  if (!shares.every(Number.isFinite)) return `${apart} ${nothingToShare(state, n)}`;
  const gaps = shares.map((share, place) => Math.abs(share - at(uncentred, place)));
  const place = gaps.indexOf(Math.max(...gaps));
  return `${apart} In the ${state.gauge} gauge, what centring changes most is the share of ${termKinds[place]?.label}: ${aboutPercent(at(uncentred, place))} of the scores as they are, ${aboutPercent(at(shares, place))} of what softmax sees.`;
}

export function partsTable(data: Parts, state: State): DataTable {
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

export function partsScene(data: Parts, state: State, width: number): Scene {
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
          textAt(area.x, area.y + 13, titles[place] as string, { ink: 'ink', size: 13 }),
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
export function arrangeParts(width: number) {
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

export function planeOf(data: Parts, state: State, scatter: Area) {
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
  textAt(x + 18, y + 12, label, { ink: 'ink' }),
];

/** The score that normalizing the parts misses by most. */
export function farthest({ n, direct, separate }: Parts): Cursor {
  let most = -1;
  let cell = 0;
  direct.sum.forEach((value, place) => {
    const gap = Math.abs(at(separate.sum, place) - value);
    if (gap > most) [most, cell] = [gap, place];
  });
  return { i: Math.floor(cell / n), j: cell % n };
}
