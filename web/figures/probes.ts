// Figure "Linear probes": how well regressions that have seen neither read position and token from their sum.
import type { BothModules, Table } from 'superpose';
import { about, readable } from '../plot/format.js';
import { type Area, lineThrough, namedLines, plane } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';

const scales = [0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8, 16];

const controls = {
  against: {
    kind: 'choice',
    label: 'Plotted against',
    options: { scale: 'Position scale ρ', width: 'Width d' },
    initial: 'scale',
    radio: true,
  },
  positions: {
    kind: 'choice',
    label: 'Positions',
    options: { sinusoidal: 'Sinusoidal', random: 'Random, as long' },
    initial: 'sinusoidal',
    radio: true,
  },
  d: { kind: 'steps', label: 'Width d', values: [16, 32, 64, 128], initial: 64 },
  scale: {
    kind: 'steps',
    label: 'Position scale ρ',
    values: scales,
    initial: 1,
  },
  n: { kind: 'steps', more: true, label: 'Positions', values: [64, 128, 256], initial: 256 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Point {
  /** ρ or d. */
  at: number;
  /** Mean |round(ŷ) − y|, in places. */
  positionError: number;
  /** The error of guessing the middle: the same for every point. */
  guessing: number;
  /** Of the token, for tokens and positions that the regression has not seen. */
  rSquared: number;
  cosine: number;
  /** R² of the same regression on [token; position]. */
  concatenated: number;
}

interface Data {
  points: Point[];
  /** The error of guessing the middle. */
  guessing: number;
}

const widths = [8, 16, 32, 64, 128];
const vocabulary = 500;
const streams = { token: 0, position: 1 };
const penalty = 1;

let last: { key: string; points: Point[] } | undefined;

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const superpose = await library.superpose();
  const { against, positions, n, seed } = state;
  const fixed = against === 'scale' ? state.d : state.scale;
  const key = JSON.stringify([against, positions, n, seed, fixed]);
  if (last?.key !== key) {
    const places = against === 'scale' ? scales : widths;
    const points: Point[] = [];
    for (const at of places) {
      job.signal.throwIfAborted();
      const [d, scale] = against === 'scale' ? [state.d, at] : [at, state.scale];
      points.push({ at, ...probed(superpose, state, d, scale) });
      job.progress(points.length / places.length);
      await new Promise((resolve) => setTimeout(resolve));
    }
    last = { key, points };
  }
  return { points: last.points, guessing: last.points[0]?.guessing ?? Number.NaN };
};

function probed(superpose: BothModules, { positions, n, seed }: State, d: number, scale: number) {
  const token = superpose.randomNormal({ rows: vocabulary, columns: d, seed, stream: streams.token });
  const whole =
    positions === 'sinusoidal'
      ? superpose.sinusoidal({ positions: n, d_model: d })
      : superpose.randomNormal({
          rows: n,
          columns: d,
          seed,
          stream: streams.position,
          standardDeviation: Math.SQRT1_2,
        });
  // Each place has a word of its own, so that a held-out row has a word and a place that are both new.
  const words = { data: token.data.subarray(0, n * d), rows: n, columns: d };
  const { sum, summands } = superpose.bertEmbeddings({ token: words, position: whole, positionScale: scale });
  const { position } = summands;
  const place = superpose.positionProbe({ rows: sum, penalty, seed });
  const sampling = { penalty, trainingPairs: 600, testPairs: 300, seed };
  const word = superpose.tokenProbe({ token, position, ...sampling });
  // Adding the two in channels of their own is concatenation.
  const side = superpose.tokenProbe({
    token: widened(token, 0),
    position: widened(position, d),
    ...sampling,
  });
  return {
    positionError: place.meanAbsoluteError,
    guessing: place.guessingError,
    rSquared: word.rSquared,
    cosine: word.meanCosine,
    concatenated: side.rSquared,
  };
}

/** Twice as wide, with zeros in the other half of the channels. */
function widened({ data, rows, columns }: Table<Float64Array>, from: number): Table<Float64Array> {
  const wide = new Float64Array(2 * rows * columns);
  for (let row = 0; row < rows; row++) {
    wide.set(data.subarray(row * columns, (row + 1) * columns), 2 * row * columns + from);
  }
  return { data: wide, rows, columns: 2 * columns };
}

/** Rounded down, so that “at least” is true. */
const threeDown = (value: number) => (Math.floor(1000 * value) / 1000).toFixed(3);
const symbol = ({ against }: State) => (against === 'scale' ? 'ρ' : 'd');

/** A picture this wide has room for names beside its lines. */
const named = 400;
const ofErrors = [
  { label: 'read from the sum', ink: 'position-position' },
  { label: 'guessing the middle', ink: 'quiet', dashed: true },
] as const;
const ofWords = [
  { label: 'R²', ink: 'token-token' },
  { label: 'cosine with it', ink: 'second' },
  { label: 'R², concatenated', ink: 'quiet', dashed: true },
] as const;

export const figure: Figure<typeof controls, Data> = {
  name: 'probes',
  title: 'Reading position and token back with linear probes',
  controls,
  source: () => 'seeded',
  unused: ({ against }) => (against === 'scale' ? ['scale'] : ['d']),

  scene({ points, guessing }, state, width) {
    const { left, right, height } = arrange(width);
    const [errorNames, wordNames] = [namedLines(left, ofErrors, named), namedLines(right, ofWords, named)];
    const list = points.map((_, place) => place);
    const across = {
      from: -0.5,
      to: points.length - 0.5,
      nice: false,
      ticks: points.length,
      label: state.against === 'scale' ? 'position scale ρ' : 'width d',
      // Only every other scale is labelled where there is no room for all.
      print: (tick: number) =>
        points.length > 5 && left.width < 420 && tick % 2 === 1
          ? ''
          : String(points[tick]?.at ?? '').replace(/^0(?=\.)/, ''),
    };
    const errors = plane(errorNames.area, across, {
      from: 0,
      to: 1.25 * guessing,
      label: 'position: mean error, in positions',
    });
    const words = plane(wordNames.area, across, {
      from: Math.min(0, ...points.map(({ rSquared }) => rSquared)),
      to: 1,
      label: 'token: how much of it comes back',
    });
    const line = (on: typeof errors, value: (point: Point) => number, ink: Ink, dashed = false): Mark[] => {
      const values = points.map(value);
      const top = on.y.domain()[1] as number;
      const drawn = values.map((one) => Math.min(one, top));
      return [
        { mark: 'path', d: lineThrough(on, list, drawn), stroke: ink, wide: 2.5, dashed },
        ...(dashed
          ? []
          : [
              {
                mark: 'dots' as const,
                x: list.map((place) => on.x(place)),
                y: drawn.map((one) => on.y(one)),
                radius: 3,
                ink,
              },
            ]),
      ];
    };
    const region = (on: typeof errors) => ({
      ...on.inner,
      pick: 'across' as const,
      rows: 1,
      columns: points.length,
    });
    const end = points.at(-1) as Point;
    return {
      width,
      height,
      marks: [
        ...errors.marks,
        ...line(errors, () => guessing, 'quiet', true),
        ...line(errors, ({ positionError }) => positionError, 'position-position'),
        ...errorNames.names(errors, [end.positionError, guessing].map(errors.y)),
        ...words.marks,
        ...line(words, ({ concatenated }) => concatenated, 'quiet', true),
        ...line(words, ({ rSquared }) => rSquared, 'token-token'),
        ...line(words, ({ cosine }) => cosine, 'second'),
        ...wordNames.names(words, [end.rSquared, end.cosine, end.concatenated].map(words.y)),
      ],
      regions: [region(errors), region(words)],
    };
  },

  describe({ points, guessing }, state) {
    const first = points[0] as Point;
    const end = points.at(-1) as Point;
    const rSquaredOf = ({ rSquared }: Point) => rSquared.toFixed(2).replace('-', '−');
    const way = (from: number, to: number) => (to < from ? 'falls' : 'rises');
    const ends = ({ at }: Point) => `${symbol(state)} = ${at}`;
    const fixed = state.against === 'scale' ? `d = ${state.d}` : `ρ = ${state.scale}`;
    const head = `The position’s error ${way(first.positionError, end.positionError)} from ${about(first.positionError)} to ${about(end.positionError)}, the token’s R² ${way(first.rSquared, end.rSquared)} from ${rSquaredOf(first)} to ${rSquaredOf(end)}.`;
    return `${head} That is at ${fixed}, from ${ends(first)} to ${ends(end)}; guessing the middle misses by ${about(guessing)}. Concatenated, R² is at least ${threeDown(Math.min(...points.map(({ concatenated }) => concatenated)))}.`;
  },

  cells: ({ points }) => ({ rows: 1, columns: points.length }),
  firstCursor: ({ points }) => ({
    i: 0,
    j: Math.max(
      0,
      points.findIndex(({ at }) => at === 1 || at === 64),
    ),
  }),

  readout({ points }, state, { j }) {
    const { at, positionError, rSquared, cosine, concatenated } = points[j] as Point;
    return [
      { text: `${symbol(state)} = ${at}`, strong: true },
      ': position off by ',
      { text: `${readable(positionError)} positions`, ink: 'position-position' },
      '; token: ',
      { text: `R² ${readable(rSquared)}`, ink: 'token-token' },
      ', ',
      { text: `cosine ${readable(cosine)}`, ink: 'second' },
      `; R² concatenated ${readable(concatenated)}`,
    ];
  },

  table: ({ points, guessing }, state) => ({
    columns: [
      symbol(state),
      'position error, positions',
      'error of the middle, positions',
      'token R², held out',
      'token cosine, held out',
      'token R², concatenated',
    ],
    rows: points.map((point) => [
      point.at,
      point.positionError,
      guessing,
      point.rSquared,
      point.cosine,
      point.concatenated,
    ]),
  }),
};

function arrange(width: number): { left: Area; right: Area; height: number } {
  // On a narrow screen the lines' names stand below.
  const key = width < named ? 64 : 16;
  if (width >= 2 * named + 36) {
    const wide = (width - 36) / 2;
    return {
      left: { x: 0, y: 0, width: wide, height: 280 },
      right: { x: wide + 36, y: 0, width: wide, height: 280 },
      height: 280,
    };
  }
  return {
    left: { x: 0, y: 0, width, height: 240 },
    right: { x: 0, y: 240 + key, width, height: 240 },
    height: 2 * (240 + key),
  };
}
