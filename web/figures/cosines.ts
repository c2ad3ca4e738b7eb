// Figure "Cosines of random vectors and subspaces": those that were drawn beside what theory expects, and how
// the largest grows: with the number of pairs, or with the dimension.
import { about, counted, readable } from '../plot/format.js';
import { type Area, counts, lineThrough, plane, steps, vertical } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import { drawnRows } from './drawnRows.js';
import type { Compute, Figure } from './figure.js';

/** With more, one step of a slider takes most of a second. */
const widest = 192;

const controls = {
  of: {
    kind: 'choice',
    label: 'Angles between',
    options: { vectors: 'Vectors', subspaces: 'Subspaces' },
    initial: 'vectors',
    radio: true,
  },
  d: {
    kind: 'steps',
    label: 'Width d',
    values: [2, 3, 4, 8, 16, 32, 64, 128, 256, 384, 512, 768, 1024],
    initial: 512,
  },
  pairs: {
    kind: 'steps',
    label: 'Pairs m',
    // 512 positions with BERT's 30,522 word pieces; 1024 with GPT-2's 50,257.
    values: [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 15_627_264, 51_463_168],
    initial: 15_627_264,
  },
  k1: { kind: 'range', label: 'Dimension k₁', min: 1, max: widest, step: 1, initial: 64 },
  k2: { kind: 'range', more: true, label: 'Dimension k₂', min: 1, max: widest, step: 1, initial: 64 },
  count: { kind: 'steps', more: true, label: 'Pairs drawn', values: [100, 200, 400, 1000], initial: 400 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Data {
  /** Of the pairs of vectors that were drawn, or of the principal angles of one pair of subspaces. */
  cosines: Float64Array;
  /** Their mean and largest size. */
  drawnMean: number;
  drawnLargest: number;
  /** Mean |cos| of two random vectors, and its standard deviation. */
  mean: number;
  deviation: number;
  /** The ends of the axis; the exact density of vectors at points of it. */
  ends: readonly [number, number];
  at: Float64Array;
  density: Float64Array;
  /** The largest to expect: of 1, 10, … pairs, or with k₁ = 1, 2, …; and where it is now. */
  sizes: readonly number[];
  largest: number[];
  now: number;
  /** Of subspaces alone: how far theory expects the cosines to reach, Σcos², and directions that are shared. */
  spaces: undefined | { lowest: number; highest: number; sum: number; expectedSum: number; shared: number };
}

const points = 241;
/** The density of d = 2 is infinite at the ends. */
const end = 1 - 1e-9;

// Pairs are drawn once for each width, until the count or the seed changes.
let last: { key: string; sampled: Map<number, Float64Array> } | undefined;

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  const { d, count, pairs, k1, k2, seed } = state;
  const mean = superpose.cosineMeanSize({ d });
  const deviation = superpose.cosineDeviation({ d });
  const found = (cosines: Float64Array) => {
    const { meanSize: drawnMean, largestSize: drawnLargest } = superpose.summary(cosines);
    return { cosines, drawnMean, drawnLargest, mean, deviation };
  };
  if (state.of === 'vectors') {
    const key = [count, seed].join();
    if (last?.key !== key) last = { key, sampled: new Map() };
    const sampled = last.sampled.get(d) ?? superpose.sampleCosines({ d, count, seed });
    last.sampled.set(d, sampled);
    const drawn = found(sampled);
    const sizes: readonly number[] = controls.pairs.values;
    const largest = sizes.map((pairs) => superpose.largestCosineMedian({ pairs, d }));
    const now = sizes.indexOf(pairs);
    const near = Math.min(1, 1.12 * Math.max(largest[now] as number, 4 * deviation, drawn.drawnLargest));
    const at = Float64Array.from(
      { length: points },
      (_, k) => Math.min(near, end) * ((2 * k) / (points - 1) - 1),
    );
    const density = at.map((t) => superpose.cosineDensity({ t, d }));
    return { ...drawn, ends: [-near, near], at, density, sizes, largest, now, spaces: undefined };
  }
  const angles = library.own
    ? superpose.principalAngles({
        first: drawnRows(library, superpose, 'token', { rows: k1, columns: d, seed }),
        second: drawnRows(library, superpose, 'position', { rows: k2, columns: d, seed }),
      })
    : superpose.randomPrincipalAngles({ d, k1, k2, seed });
  const { cosines, squares: sum } = superpose.angleCosines(angles);
  const chance = (k: number) => superpose.chanceAngles({ d, k1: k, k2 });
  const { lowestCosine: lowest, highestCosine: highest, cosineSquares, zeroAngles } = chance(k1);
  const sizes = Array.from({ length: Math.min(d, widest) }, (_, k) => k + 1);
  return {
    ...found(cosines),
    ends: [0, 1],
    at: new Float64Array(),
    density: new Float64Array(),
    sizes,
    largest: sizes.map((k) => chance(k).largestCosine),
    now: k1 - 1,
    spaces: { lowest, highest, sum, expectedSum: cosineSquares, shared: zeroAngles },
  };
};

const binsOf = ({ spaces }: Data) => (spaces ? 20 : 40);
const countsOf = (data: Data) => counts(data.cosines, ...data.ends, binsOf(data));
const binOf = (data: Data, j: number) => {
  const [from, to] = data.ends;
  const wide = (to - from) / binsOf(data);
  return [from + j * wide, from + (j + 1) * wide] as const;
};
/** The exact density in the middle of a bin. */
const densityOf = (data: Data, j: number) =>
  data.density[Math.round((j + 0.5) * ((points - 1) / binsOf(data)))] ?? Number.NaN;

const whole = (count: number) => count.toLocaleString('en');

/** What theory expects, as lines through the picture. */
function marked(data: Data, { pairs }: State, narrow: boolean): { label: string; value: number; ink: Ink }[] {
  const { mean, deviation, spaces } = data;
  const largest = data.largest[data.now] as number;
  const vectors = narrow ? 'vectors' : 'two vectors, mean size';
  const size = {
    label: `${spaces ? vectors : 'mean size'}: ${readable(mean)}`,
    value: mean,
    ink: 'third',
  } as const;
  if (spaces) {
    const { lowest, highest } = spaces;
    const edge = (name: string, value: number) => ({
      label: `${name}${narrow ? '' : ' expected, for large d'}: ${readable(value)}`,
      value,
      ink: 'warning' as const,
    });
    return [edge('largest', highest), ...(lowest > 0 ? [edge('smallest', lowest)] : []), size];
  }
  const of = narrow ? '' : ` of ${whole(pairs)} ${pairs === 1 ? 'pair' : 'pairs'}`;
  return [
    { label: `largest${of}: ${readable(largest)}`, value: largest, ink: 'warning' },
    { label: `deviation${narrow ? '' : ', 1/√d'}: ${readable(deviation)}`, value: deviation, ink: 'second' },
    size,
  ];
}

export const figure: Figure<typeof controls, Data> = {
  name: 'cosines',
  title: 'Angles between random vectors, and between subspaces',
  controls,
  source: () => 'seeded',
  unused: ({ of }) => (of === 'vectors' ? ['k1', 'k2'] : ['count', 'pairs']),

  /** No subspace has more dimensions than the space. */
  settle: (state) => ({ ...state, k1: Math.min(state.k1, state.d), k2: Math.min(state.k2, state.d) }),

  scene(data, state, width) {
    const { law, growth, height } = arrange(width);
    const narrow = law.width < 560;
    const { cosines, ends, at, density, sizes, largest, now, spaces } = data;
    const [from, to] = ends;
    const bins = binsOf(data);
    // Bars as high as the density that they estimate.
    const heights = countsOf(data).map((found) => (found * bins) / ((to - from) * cosines.length));
    const drawn = plane(
      { ...law, y: labelled, height: law.height - labelled },
      { from, to, label: 'cosine', nice: false, ticks: narrow ? 3 : 5 },
      {
        from: 0,
        to: Math.max(1.15 * (density[(points - 1) / 2] ?? 0), ...heights),
        label: spaces ? '' : 'density',
        ticks: 4,
      },
    );
    const { x, y, inner } = drawn;
    const [, highest] = y.domain() as [number, number];
    const lines = marked(data, state, narrow).flatMap(({ label, value, ink }, place): Mark[] => {
      const top = 30 + 16 * place;
      const look = { ink, wide: 2, dashed: true };
      // Beside its line, on the side where there is room.
      const right = x(value) + 6 + 6.4 * label.length < law.x + law.width;
      return [
        { mark: 'line', x1: x(value), x2: x(value), y1: top - 10, y2: inner.y + inner.height, ...look },
        ...(from < 0 ? [vertical(drawn, x(-value), look)] : []),
        {
          mark: 'text',
          x: x(value) + (right ? 6 : -6),
          y: top,
          text: label,
          anchor: right ? 'start' : 'end',
          ink,
        },
      ];
    });
    const grows = plane(
      growth,
      spaces
        ? { from: 1, to: sizes.length, label: `k₁, with k₂ = ${state.k2}`, nice: false }
        : {
            from: 1,
            to: sizes.at(-1) as number,
            label: 'pairs m',
            nice: false,
            logarithmic: true,
            print: short,
          },
      { from: 0, to: 1, label: 'largest cosine to expect', nice: false },
    );
    const [nowX, nowY] = [grows.x(sizes[now] as number), grows.y(largest[now] as number)];
    const bars = spaces
      ? `bars: density of ${counted(cosines.length, 'principal angle')}${narrow ? '' : ' of one pair of subspaces'}`
      : `bars: ${state.count} drawn pairs; curve: ${narrow ? '' : 'exact '}density`;
    return {
      width,
      height,
      marks: [
        ...drawn.marks,
        { mark: 'path', d: steps(drawn, heights, from, to), fill: 'quiet', opacity: 0.35 },
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
        ...lines,
        { mark: 'text', x: 0, y: 12, text: bars },
        ...grows.marks,
        { mark: 'path', d: lineThrough(grows, sizes, largest), stroke: 'warning', wide: 2 },
        { mark: 'line', x1: nowX, x2: nowX, y1: grows.y(0), y2: nowY, ink: 'quiet', dashed: true },
        { mark: 'dots', x: [nowX], y: [nowY], radius: 4.5, ink: 'warning' },
      ],
      regions: [{ ...inner, x: x(from), width: x(to) - x(from), pick: 'across', rows: 1, columns: bins }],
    };
  },

  describe(data, { of, d, pairs, count, k1, k2 }) {
    const { mean, deviation, drawnMean, drawnLargest, spaces } = data;
    const largest = data.largest[data.now] as number;
    if (of === 'vectors' || !spaces) {
      const [head, many] =
        pairs === 1
          ? [`Half of all pairs have a cosine larger than ${about(largest)}.`, '']
          : [
              `The largest of ${whole(pairs)} cosines is ${(largest / mean).toFixed(1)} times the average.`,
              ` The largest of ${whole(pairs)} pairs has its median at ${about(largest)}.`,
            ];
      return `${head} In ${d} dimensions two random directions have a cosine of size ${about(mean)} on average, and one standard deviation is ${about(deviation)}. The ${count} drawn pairs average ${about(drawnMean)}; the largest of them is ${about(drawnLargest)}.${many}`;
    }
    const { highest, sum, expectedSum, shared } = spaces;
    const forced =
      shared > 0
        ? ` Because k₁ + k₂ = ${k1 + k2} is more than ${d}, ${counted(shared, 'direction is', 'directions are')} shared whatever is drawn.`
        : '';
    return `The best pair of directions has ${about(drawnLargest / mean)} times the cosine of two vectors. Random subspaces of ${k1} and ${k2} dimensions in ${d} have directions with a cosine of ${about(drawnLargest)}; theory expects up to ${about(highest)} ${shared > 0 ? 'of the others ' : ''}for large d, and two single vectors have ${about(mean)} on average. The squared cosines add up to ${about(sum)}; the mean over draws is k₁k₂/d = ${about(expectedSum)}.${forced}`;
  },

  cells: (data) => ({ rows: 1, columns: binsOf(data) }),
  firstCursor: (data) => ({
    i: 0,
    j: data.spaces ? countsOf(data).findLastIndex((found) => found > 0) : binsOf(data) / 2,
  }),

  readout(data, { of }, { j }) {
    const [from, to] = binOf(data, j);
    const found = countsOf(data)[j] ?? 0;
    return [
      'Cosines from ',
      { text: readable(from), strong: true },
      ' to ',
      { text: readable(to), strong: true },
      of === 'vectors'
        ? `: ${found} of the ${data.cosines.length} pairs; the exact density in the middle is ${readable(densityOf(data, j))}.`
        : `: ${found} of ${counted(data.cosines.length, 'principal angle')}.`,
    ];
  },

  table(data, { of }) {
    if (of === 'subspaces') {
      const { lowest, highest } = data.spaces as NonNullable<Data['spaces']>;
      return {
        columns: ['principal angle', 'cosine', 'lower edge', 'upper edge', 'mean |cosine| of two vectors'],
        rows: Array.from(data.cosines, (value, k) => [k + 1, value, lowest, highest, data.mean]),
      };
    }
    return {
      columns: ['from', 'to', 'drawn pairs', 'density of drawn pairs', 'exact density in the middle'],
      rows: countsOf(data).map((found, j) => {
        const [from, to] = binOf(data, j);
        return [from, to, found, found / (to - from) / data.cosines.length, densityOf(data, j)];
      }),
    };
  },
};

/** 1,000,000 as 1 M. */
const short = (count: number) =>
  count >= 1e6 ? `${count / 1e6}\u202fM` : count >= 1e3 ? `${count / 1e3}\u202fk` : String(count);

/** Room above the plane for what its bars are and the names of three lines. */
const labelled = 66;

/** Side by side, or one above the other. */
function arrange(width: number): { law: Area; growth: Area; height: number } {
  const high = labelled + 280;
  if (width < 700)
    return {
      law: { x: 0, y: 0, width, height: high },
      growth: { x: 0, y: high + 14, width, height: 200 },
      height: high + 214,
    };
  const wide = Math.round(0.62 * width);
  return {
    law: { x: 0, y: 0, width: wide, height: high },
    growth: { x: wide + 28, y: labelled, width: width - wide - 28, height: 280 },
    height: high,
  };
}
