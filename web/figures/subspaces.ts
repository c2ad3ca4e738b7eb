// Figure "Angles between random subspaces": planes meet at far smaller angles than single vectors do.
import { about, counted, readable } from '../plot/format.js';
import { type Area, horizontal, lineKey, lineThrough, plane } from '../plot/parts.js';
import type { Controls } from './controls.js';
import { drawnRows } from './drawnRows.js';
import type { Compute, Figure } from './figure.js';

/** With more, one step of a slider takes most of a second. */
const widest = 192;

const controls = {
  d: { kind: 'steps', label: 'Width d', values: [16, 32, 64, 128, 256, 384, 512, 768], initial: 512 },
  k1: { kind: 'range', label: 'Dimension k₁', min: 1, max: widest, step: 1, initial: 64 },
  k2: { kind: 'range', label: 'Dimension k₂', min: 1, max: widest, step: 1, initial: 64 },
  seed: { kind: 'seed', label: 'Seed', initial: 1 },
} as const satisfies Controls;

interface Data {
  /** The principal angles in radians, smallest first, ... */
  angles: Float64Array;
  /** ... and their cosines. */
  cosines: Float64Array;
  sum: number;
  lowest: number;
  highest: number;
  expectedSum: number;
  zeroAngles: number;
  /** Mean |cos| of two random vectors. */
  vectors: number;
  /** What is expected as k₁ grows while k₂ stays: each k₁, and the largest cosine with it. */
  sizes: number[];
  largest: number[];
}

export const compute: Compute<typeof controls, Data> = async (library, { d, k1, k2, seed }) => {
  const superpose = await library.superpose();
  const chance = superpose.chanceAngles({ d, k1, k2 });
  const angles = library.own
    ? superpose.principalAngles({
        first: drawnRows(library, superpose, 'token', { rows: k1, columns: d, seed }),
        second: drawnRows(library, superpose, 'position', { rows: k2, columns: d, seed }),
      })
    : superpose.randomPrincipalAngles({ d, k1, k2, seed });
  const { cosines, squares } = superpose.angleCosines(angles);
  const sizes = Array.from({ length: Math.min(d, widest) }, (_, k) => k + 1);
  return {
    angles,
    cosines,
    sum: squares,
    lowest: chance.lowestCosine,
    highest: chance.highestCosine,
    expectedSum: chance.cosineSquares,
    zeroAngles: chance.zeroAngles,
    vectors: superpose.cosineMeanSize({ d }),
    sizes,
    largest: sizes.map((k) => superpose.chanceAngles({ d, k1: k, k2 }).largestCosine),
  };
};

export const figure: Figure<typeof controls, Data> = {
  name: 'subspaces',
  title: 'Angles between random subspaces',
  controls,
  source: () => 'seeded',

  /** No subspace has more dimensions than the space. */
  settle: (state) => ({ ...state, k1: Math.min(state.k1, state.d), k2: Math.min(state.k2, state.d) }),

  scene(data, { k1, k2 }, width) {
    const { angles, growth, key, height } = arrange(width);
    const { cosines } = data;
    const n = cosines.length;
    const first = plane(
      angles,
      {
        from: 0.5,
        to: n + 0.5,
        label: 'pair of directions, best match first',
        nice: false,
        ticks: Math.min(n, 5),
      },
      { from: 0, to: 1, label: 'cosine of the pair', nice: false },
    );
    const places = Float64Array.from(cosines, (_, k) => first.x(k + 1));
    const level = (value: number, ink: 'warning' | 'third', within = first) =>
      horizontal(within, within.y(value), { ink, wide: 2, dashed: true });
    const second = plane(
      growth,
      { from: 1, to: data.sizes.length, label: `k₁, with k₂ = ${k2}`, nice: false },
      { from: 0, to: 1, label: 'largest cosine to expect', nice: false },
    );
    const now = second.x(k1);
    const expected = data.largest[k1 - 1] as number;
    return {
      width,
      height,
      marks: [
        ...first.marks,
        level(data.vectors, 'third'),
        level(data.highest, 'warning'),
        ...(data.lowest > 0 ? [level(data.lowest, 'warning')] : []),
        {
          mark: 'dots',
          x: places,
          y: Float64Array.from(cosines, (cosine) => first.y(cosine)),
          radius: n > 100 ? 1.75 : 2.5,
          ink: 'accent',
        },
        ...second.marks,
        level(data.vectors, 'third', second),
        {
          mark: 'path',
          d: lineThrough(second, data.sizes, data.largest),
          stroke: 'warning',
          wide: 2,
        },
        {
          mark: 'line',
          x1: now,
          x2: now,
          y1: second.y(0),
          y2: second.y(expected),
          ink: 'quiet',
          dashed: true,
        },
        { mark: 'dots', x: [now], y: [second.y(expected)], radius: 4.5, ink: 'warning' },
        {
          mark: 'dots',
          x: [key.x + 4, key.x + 11, key.x + 18],
          y: [key.y + 8, key.y + 8, key.y + 8],
          radius: 2.5,
          ink: 'accent',
        },
        {
          mark: 'text',
          x: key.x + 28,
          y: key.y + 12,
          text: 'cosines of one pair of subspaces',
          ink: 'ink',
        },
        ...lineKey(key.x, key.y + 18, [
          { label: 'theory, for large d', ink: 'warning', dashed: true },
          { label: 'two single vectors, mean |cosine|', ink: 'third', dashed: true },
        ]),
      ],
      regions: [
        {
          x: first.inner.x,
          y: first.inner.y,
          width: first.inner.width,
          height: first.inner.height,
          pick: 'across',
          rows: 1,
          columns: n,
        },
      ],
    };
  },

  describe(data, { d, k1, k2 }) {
    const forced =
      data.zeroAngles > 0
        ? ` Because k₁ + k₂ = ${k1 + k2} is more than ${d}, ${counted(data.zeroAngles, 'direction is', 'directions are')} shared whatever is drawn.`
        : '';
    return `Random subspaces of ${k1} and ${k2} dimensions in ${d} have directions with a cosine of ${cosine(data.cosines[0])}; theory expects up to ${cosine(data.highest)} ${data.zeroAngles > 0 ? 'of the others ' : ''}for large d, and two single vectors have ${about(data.vectors)} on average. The squared cosines add up to ${about(data.sum)}; the mean over draws is k₁k₂/d = ${about(data.expectedSum)}.${forced}`;
  },

  cells: ({ cosines }) => ({ rows: 1, columns: cosines.length }),

  readout({ angles, cosines }, _, { j }) {
    const found = cosines[j] ?? Number.NaN;
    return [
      `Principal angle ${j + 1} of ${cosines.length}: cosine `,
      { text: readable(found), strong: true },
      `, ${((180 / Math.PI) * (angles[j] ?? Number.NaN)).toFixed(1)}°.`,
    ];
  },

  table: ({ cosines, lowest, highest, vectors }) => ({
    columns: ['principal angle', 'cosine', 'lower edge', 'upper edge', 'mean |cosine| of two vectors'],
    rows: Array.from(cosines, (value, k) => [k + 1, value, lowest, highest, vectors]),
  }),
};

const cosine = (value: number | undefined) => about(value ?? Number.NaN);

function arrange(width: number): {
  angles: Area;
  growth: Area;
  key: { x: number; y: number };
  height: number;
} {
  const keyHeight = 3 * 18;
  if (width >= 640) {
    const panel = (width - 28) / 2;
    return {
      angles: { x: 0, y: 0, width: panel, height: 300 },
      growth: { x: panel + 28, y: 0, width: panel, height: 300 },
      key: { x: 0, y: 310 },
      height: 310 + keyHeight,
    };
  }
  return {
    angles: { x: 0, y: 0, width, height: 250 },
    growth: { x: 0, y: 264, width, height: 210 },
    key: { x: 0, y: 484 },
    height: 484 + keyHeight,
  };
}
