// Figure "Cosines of random vectors": drawn pairs beside the exact law, and the largest of many.
import { readable } from '../plot/format.js';
import { type Area, counts, lineKey, lineThrough, type Plane, plane, steps } from '../plot/parts.js';
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
  /** Of the drawn pairs. */
  sampledMean: number;
  sampledLargest: number;
  mean: number;
  deviation: number;
  largest: number;
  /** Where the density is known, from −1 to 1, and the density there. */
  at: Float64Array;
  density: Float64Array;
  /** The same for the part of the axis where the cosines are. */
  near: number;
  nearAt: Float64Array;
  nearDensity: Float64Array;
}

const points = 241;
/** The density of d = 2 is infinite at the ends. */
const end = 1 - 1e-9;

// What is drawn for a width is drawn once, until the count or the seed is another one.
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
  const [at, nearAt] = [grid(1), grid(near)];
  return {
    sampled,
    sampledMean: meanSize,
    sampledLargest: largestSize,
    mean: superpose.cosineMeanSize({ d }),
    deviation,
    largest,
    at,
    density: at.map((t) => superpose.cosineDensity({ t, d })),
    near,
    nearAt,
    nearDensity: nearAt.map((t) => superpose.cosineDensity({ t, d })),
  };
};

const bins = 40;
const heightsOf = ({ sampled }: Data, limit: number): number[] =>
  counts(sampled, -limit, limit, bins).map((found) => (found * bins) / (2 * limit * sampled.length));

const marked = (data: Data, { pairs }: State): { label: string; value: number; ink: Ink }[] => [
  { label: `mean size of a cosine: ${readable(data.mean)}`, value: data.mean, ink: 'third' },
  { label: `standard deviation, 1/√d: ${readable(data.deviation)}`, value: data.deviation, ink: 'second' },
  {
    label: `largest of ${whole(pairs)} ${pairs === 1 ? 'pair' : 'pairs'}: ${readable(data.largest)}`,
    value: data.largest,
    ink: 'warning',
  },
];

const whole = (count: number) => count.toLocaleString('en');

export const figure: Figure<typeof controls, Data> = {
  name: 'cosines',
  title: 'Cosines of random vectors',
  controls,
  source: () => 'seeded',

  scene(data, state, width) {
    const { whole: all, near, key, height } = arrange(width);
    const drawnAll = law(data, all, 1, 'cosine, the whole range');
    const drawnNear = law(data, near, data.near, 'cosine, where the pairs are');
    const { x, inner } = drawnNear.plane;
    const entries = marked(data, state);
    return {
      width,
      height,
      marks: [
        ...drawnAll.marks,
        ...drawnNear.marks,
        ...[drawnAll.plane, drawnNear.plane].flatMap((one, panel) =>
          // On the whole range only the largest is apart from the others.
          entries.slice(panel === 0 ? -1 : 0).flatMap(({ value, ink }): Mark[] =>
            [value, -value].map((at) => ({
              mark: 'line',
              x1: one.x(at),
              x2: one.x(at),
              y1: one.inner.y,
              y2: one.inner.y + one.inner.height,
              ink,
              wide: 2,
              dashed: true,
            })),
          ),
        ),
        ...lineKey(key.x, key.y, [
          { label: `cosines of ${state.count} drawn pairs`, ink: 'quiet' },
          { label: 'exact density', ink: 'accent' },
          ...entries.map(({ label, ink }) => ({ label, ink, dashed: true })),
        ]),
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
        ? `Half of all pairs have a cosine larger than ${readable(data.largest)}.`
        : `The largest of ${whole(pairs)} pairs has its median at ${readable(data.largest)}, ${(data.largest / data.mean).toFixed(1)} times the average size.`;
    return `In ${d} dimensions two random directions have a cosine of size ${readable(data.mean)} on average, and one standard deviation is ${readable(data.deviation)}. The ${count} drawn pairs average ${readable(data.sampledMean)}; the largest of them is ${readable(data.sampledLargest)}. ${many}`;
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

/** The histogram and the curve, on an axis from −limit to limit. */
function law(data: Data, area: Area, limit: number, label: string): { plane: Plane; marks: Mark[] } {
  const [at, density] = limit === 1 ? [data.at, data.density] : [data.nearAt, data.nearDensity];
  const heights = heightsOf(data, limit);
  const middle = density[(points - 1) / 2] as number;
  const top = Math.max(1.15 * middle, ...heights);
  const drawn = plane(
    area,
    { from: -limit, to: limit, label, nice: false, ticks: area.width < 330 ? 3 : 5 },
    { from: 0, to: top, label: 'density', ticks: 4 },
  );
  const [, highest] = drawn.y.domain() as [number, number];
  return {
    plane: drawn,
    marks: [
      ...drawn.marks,
      { mark: 'path', d: steps(drawn, heights, -limit, limit), fill: 'quiet', opacity: 0.35 },
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

/** Two panels side by side, or one above the other, and their key below. */
function arrange(width: number): { whole: Area; near: Area; key: { x: number; y: number }; height: number } {
  const keyHeight = 5 * 18;
  if (width >= 640) {
    const panel = (width - 28) / 2;
    return {
      whole: { x: 0, y: 0, width: panel, height: 280 },
      near: { x: panel + 28, y: 0, width: panel, height: 280 },
      key: { x: 0, y: 290 },
      height: 290 + keyHeight,
    };
  }
  return {
    whole: { x: 0, y: 0, width, height: 190 },
    near: { x: 0, y: 204, width, height: 230 },
    key: { x: 0, y: 444 },
    height: 444 + keyHeight,
  };
}
