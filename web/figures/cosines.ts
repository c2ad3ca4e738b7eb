// Figure "Cosines of random vectors": drawn pairs beside the exact law, and the largest of many.
import { about, readable } from '../plot/format.js';
import { type Area, counts, lineThrough, type Plane, plane, steps } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';

const controls = {
  d: {
    kind: 'steps',
    label: 'Width d',
    values: [2, 3, 4, 8, 16, 32, 64, 128, 256, 384, 512, 768, 1024],
    initial: 512,
  },
  count: { kind: 'steps', label: 'Pairs drawn', values: [100, 200, 400, 1000], initial: 400 },
  pairs: {
    kind: 'steps',
    label: 'Pairs m',
    // 512 positions with BERT's 30,522 word pieces; 1024 with GPT-2's 50,257.
    values: [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 15_627_264, 51_463_168],
    initial: 15_627_264,
  },
  seed: { kind: 'seed', label: 'Seed', initial: 1 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Data {
  sampled: Float64Array;
  /** Mean and largest size of the drawn pairs' cosines. */
  sampledMean: number;
  sampledLargest: number;
  mean: number;
  deviation: number;
  largest: number;
  /** The axis is shown from −near to near; the density is computed at points of it. */
  near: number;
  nearAt: Float64Array;
  nearDensity: Float64Array;
}

const points = 241;
/** The density of d = 2 is infinite at the ends. */
const end = 1 - 1e-9;

// Pairs are drawn once for each width, until the count or the seed changes.
let last: { key: string; sampled: Map<number, Float64Array> } | undefined;

export const compute: Compute<typeof controls, Data> = async (library, { d, count, pairs, seed }) => {
  const superpose = await library.superpose();
  const key = [count, seed].join();
  if (last?.key !== key) last = { key, sampled: new Map() };
  const sampled = last.sampled.get(d) ?? superpose.sampleCosines({ d, count, seed });
  last.sampled.set(d, sampled);
  const { meanSize, largestSize } = superpose.summary(sampled);
  const largest = superpose.largestCosineMedian({ pairs, d });
  const deviation = superpose.cosineDeviation({ d });
  const near = Math.min(1, 1.12 * Math.max(largest, 4 * deviation, largestSize));
  const grid = (limit: number) =>
    Float64Array.from({ length: points }, (_, k) => Math.min(limit, end) * ((2 * k) / (points - 1) - 1));
  const nearAt = grid(near);
  return {
    sampled,
    sampledMean: meanSize,
    sampledLargest: largestSize,
    mean: superpose.cosineMeanSize({ d }),
    deviation,
    largest,
    near,
    nearAt,
    nearDensity: nearAt.map((t) => superpose.cosineDensity({ t, d })),
  };
};

const bins = 40;
const heightsOf = ({ sampled }: Data, limit: number): number[] =>
  counts(sampled, -limit, limit, bins).map((found) => (found * bins) / (2 * limit * sampled.length));

const marked = (
  data: Data,
  { pairs }: State,
  narrow: boolean,
): { label: string; value: number; ink: Ink }[] => [
  {
    label: `${narrow ? 'largest' : `largest of ${whole(pairs)} ${pairs === 1 ? 'pair' : 'pairs'}`}: ${readable(data.largest)}`,
    value: data.largest,
    ink: 'warning',
  },
  {
    label: `deviation${narrow ? '' : ', 1/√d'}: ${readable(data.deviation)}`,
    value: data.deviation,
    ink: 'second',
  },
  { label: `mean size: ${readable(data.mean)}`, value: data.mean, ink: 'third' },
];

const whole = (count: number) => count.toLocaleString('en');

export const figure: Figure<typeof controls, Data> = {
  name: 'cosines',
  title: 'Cosines of random vectors',
  controls,
  source: () => 'seeded',

  scene(data, state, width) {
    const narrow = width < 560;
    const area: Area = { x: 0, y: labelled, width, height: narrow ? 240 : 280 };
    const drawn = law(data, area, narrow);
    const { x, inner } = drawn.plane;
    const entries = marked(data, state, narrow);
    return {
      width,
      height: area.y + area.height,
      marks: [
        ...drawn.marks,
        ...entries.flatMap(({ label, value, ink }, place): Mark[] => {
          const top = 18 * (place + 1);
          // Beside its line, on the side where there is room.
          const right = x(value) + 6 + 6.4 * label.length < width;
          return [
            ...[value, -value].map(
              (at, side): Mark => ({
                mark: 'line',
                x1: x(at),
                x2: x(at),
                y1: side === 0 ? top - 10 : inner.y,
                y2: inner.y + inner.height,
                ink,
                wide: 2,
                dashed: true,
              }),
            ),
            {
              mark: 'text',
              x: x(value) + (right ? 6 : -6),
              y: top,
              text: label,
              anchor: right ? 'start' : 'end',
              ink,
            },
          ];
        }),
        { mark: 'text', x: 0, y: 12, text: `bars: ${state.count} drawn pairs` },
        { mark: 'text', x: 0, y: 29, text: 'curve: exact density', ink: 'ink' },
      ],
      regions: [
        {
          x: x(-data.near),
          y: inner.y,
          width: x(data.near) - x(-data.near),
          height: inner.height,
          pick: 'across',
          rows: 1,
          columns: bins,
        },
      ],
    };
  },

  describe(data, { d, pairs, count }) {
    const many =
      pairs === 1
        ? `Half of all pairs have a cosine larger than ${about(data.largest)}.`
        : `The largest of ${whole(pairs)} pairs has its median at ${about(data.largest)}, ${(data.largest / data.mean).toFixed(1)} times the average size.`;
    return `In ${d} dimensions two random directions have a cosine of size ${about(data.mean)} on average, and one standard deviation is ${about(data.deviation)}. The ${count} drawn pairs average ${about(data.sampledMean)}; the largest of them is ${about(data.sampledLargest)}. ${many}`;
  },

  cells: () => ({ rows: 1, columns: bins }),
  firstCursor: () => ({ i: 0, j: bins / 2 }),

  readout(data, { count }, { j }) {
    const wide = (2 * data.near) / bins;
    const from = -data.near + j * wide;
    const found = counts(data.sampled, -data.near, data.near, bins)[j] ?? 0;
    const middle = Math.round((j + 0.5) * ((points - 1) / bins));
    return [
      'Cosines from ',
      { text: readable(from), strong: true },
      ' to ',
      { text: readable(from + wide), strong: true },
      `: ${found} of the ${count} pairs; the exact density in the middle is ${readable(data.nearDensity[middle] ?? Number.NaN)}.`,
    ];
  },

  table(data) {
    const wide = (2 * data.near) / bins;
    const found = counts(data.sampled, -data.near, data.near, bins);
    return {
      columns: ['from', 'to', 'drawn pairs', 'density of drawn pairs', 'exact density in the middle'],
      rows: heightsOf(data, data.near).map((height, j) => [
        -data.near + j * wide,
        -data.near + (j + 1) * wide,
        found[j] as number,
        height,
        data.nearDensity[Math.round((j + 0.5) * ((points - 1) / bins))] as number,
      ]),
    };
  },
};

/** Room above the plane for the names of three lines. */
const labelled = 44;

/** The histogram and the curve, over the part of the axis that is shown. */
function law(data: Data, area: Area, narrow: boolean): { plane: Plane; marks: Mark[] } {
  const { near, nearAt: at, nearDensity: density } = data;
  const heights = heightsOf(data, near);
  const middle = density[(points - 1) / 2] as number;
  const top = Math.max(1.15 * middle, ...heights);
  const drawn = plane(
    area,
    { from: -near, to: near, label: 'cosine', nice: false, ticks: narrow ? 3 : 5 },
    { from: 0, to: top, label: 'density', ticks: 4 },
  );
  const [, highest] = drawn.y.domain() as [number, number];
  return {
    plane: drawn,
    marks: [
      ...drawn.marks,
      { mark: 'path', d: steps(drawn, heights, -near, near), fill: 'quiet', opacity: 0.35 },
      {
        mark: 'path',
        d: lineThrough(
          drawn,
          at,
          density.map((value) => (value <= highest ? value : Number.NaN)),
        ),
        stroke: 'accent',
        wide: 2,
      },
    ],
  };
}
