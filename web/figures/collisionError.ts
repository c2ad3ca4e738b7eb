// Figure "How many words are lost": the share of words that are no longer their own nearest word once a
// position is added, against the width, for three sizes of positions.
import type { Superpose } from 'superpose';
import { aboutPercent, exponent } from '../plot/format.js';
import { lineKey, lineThrough, plane } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Controls } from './controls.js';
import { drawnRows } from './drawnRows.js';
import type { Compute, Figure, Library } from './figure.js';
import { inTurn } from './lists.js';

const controls = {
  vocabulary: { kind: 'steps', label: 'Vocabulary', values: [500, 1000, 2000, 5000], initial: 5000 },
  words: {
    kind: 'choice',
    label: 'Words looked up',
    options: { some: 'The first 100', all: 'All of them (slow)' },
    initial: 'some',
    radio: true,
  },
  bound: { kind: 'toggle', label: 'What chance allows at most', initial: false, before: true },
  seed: { kind: 'seed', label: 'Seed', initial: 1 },
} as const satisfies Controls;

export interface Point {
  /** The share of the words looked up that is lost, mean over all positions. */
  share: number;
  /** At the kindest and the harshest position. */
  lowest: number;
  highest: number;
  /** The expected number of other words that are nearer. It is no smaller than the expected share. */
  bound: number;
}

export interface Data {
  looked: number;
  widths: readonly number[];
  scales: readonly number[];
  /** [widths][scales] */
  points: Point[][];
}

/** The view that was computed last: what only changes the picture computes nothing. */
let last: { key: string; data: Data } | undefined;

const widths = [4, 8, 16, 32, 64, 128, 256];
const scales = [0.5, 1, 2];
const inks: Ink[] = ['third', 'accent', 'second'];
/** How many random positions there are at each scale. */
const positions = 64;
const sample = 100;

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const superpose = await library.superpose();
  const key = JSON.stringify([state.vocabulary, state.words, state.seed]);
  if (last?.key === key) return last.data;
  const looked = state.words === 'all' ? state.vocabulary : Math.min(sample, state.vocabulary);
  const points: Point[][] = [];
  for (const [place, d] of widths.entries()) {
    job.signal.throwIfAborted();
    const { vocabulary, seed } = state;
    const tokens = drawnRows(library, superpose, 'token', { rows: vocabulary, columns: d, seed });
    const search = superpose.collisionSearch({ tokens, positions: scaled(library, superpose, d, seed) });
    try {
      const { lost } = await search.allWords({
        words: looked,
        slice: state.words === 'all' ? 64 : 25,
        signal: job.signal,
        onProgress: (done, total) => job.progress((place + done / total) / widths.length),
      });
      points.push(
        scales.map((scale, row) => {
          const of = superpose.summary(lost.subarray(row * positions, (row + 1) * positions));
          return {
            share: of.mean / looked,
            lowest: of.least / looked,
            highest: of.largest / looked,
            bound: superpose.randomCollisions({ d, scale, vocabulary }).expected,
          };
        }),
      );
    } finally {
      search.delete();
    }
  }
  last = { key, data: { looked, widths, scales, points } };
  return last.data;
};

/** The same random positions at each scale, one below the other. */
function scaled(library: Library, superpose: Superpose, d: number, seed: number) {
  const data = new Float32Array(scales.length * positions * d);
  scales.forEach((standardDeviation, row) => {
    const drawn = drawnRows(library, superpose, 'position', {
      rows: positions,
      columns: d,
      standardDeviation,
      seed,
    });
    data.set(drawn.data, row * positions * d);
  });
  return { data, rows: scales.length * positions, columns: d };
}

const count = (number: number) => number.toLocaleString('en');
const few = (share: number) =>
  share !== 0 && share < 0.001 ? `${(100 * share).toPrecision(1)}\u202f%` : aboutPercent(share);
const pointOf = ({ points }: Data, place: number, row: number) => (points[place] as Point[])[row] as Point;
const at = (data: Data, width: number, scale: number) =>
  pointOf(data, widths.indexOf(width), scales.indexOf(scale));

export const figure: Figure<typeof controls, Data> = {
  name: 'collision-error',
  title: 'Words that are lost once a position is added',
  controls,
  source: () => 'seeded',
  waiting: 'Moving words to 64 positions, in seven widths…',

  scene(data, { bound }, width) {
    const { points } = data;
    const narrow = width < 560;
    const area = { x: 0, y: 0, width, height: narrow ? 260 : 320 };
    const { x, y, inner, marks } = plane(area, inTurn(widths, 'width d'), {
      from: 0,
      to: 1,
      label: 'words lost',
      print: (tick) => `${Math.round(100 * tick)} %`,
    });
    const list = widths.map((_, place) => place);
    const lines = scales.flatMap((_, row): Mark[] => {
      const ink = inks[row] as Ink;
      const of = (value: (point: Point) => number) => points.map((scaleRow) => value(scaleRow[row] as Point));
      // Beside each other, so that the three ranges can be told apart.
      const beside = (row - 1) * (narrow ? 3 : 6);
      const bounds = of(({ bound }) => (bound > 1 ? Number.NaN : bound));
      return [
        ...list.map(
          (place): Mark => ({
            mark: 'line',
            x1: x(place) + beside,
            x2: x(place) + beside,
            y1: y(pointOf(data, place, row).lowest),
            y2: y(pointOf(data, place, row).highest),
            ink,
            wide: 1.5,
          }),
        ),
        ...(bound
          ? [
              {
                mark: 'path',
                d: lineThrough({ x, y }, list, bounds),
                stroke: ink,
                dashed: true,
                wide: 1.5,
              } as const,
            ]
          : []),
        {
          mark: 'path',
          d: lineThrough(
            { x, y },
            list,
            of(({ share }) => share),
          ),
          stroke: ink,
          wide: 2.5,
        },
        {
          mark: 'dots',
          x: list.map((place) => x(place)),
          y: of(({ share }) => share).map((share) => y(share)),
          radius: 3,
          ink,
        },
      ];
    });
    const keyTop = area.height + 6;
    return {
      width,
      height: keyTop + (bound ? 92 : 76),
      marks: [
        ...marks,
        ...lines,
        ...lineKey(
          0,
          keyTop,
          scales.map((scale, row) => ({
            label: `positions of ${scale === 1 ? 'the words’ norm' : scale < 1 ? 'half the norm' : 'twice the norm'}: ρ = ${scale}`,
            ink: inks[row] as Ink,
          })),
        ),
        { mark: 'line', x1: 11, x2: 11, y1: keyTop + 55, y2: keyTop + 70, ink: 'quiet', wide: 1.5 },
        {
          mark: 'text',
          x: 28,
          y: keyTop + 66,
          text: `from the kindest to the harshest of ${positions}${width < 345 ? '' : ' positions'}`,
        },
        ...(bound
          ? lineKey(0, keyTop + 72, [
              { label: 'at most this is expected by chance', ink: 'quiet', dashed: true },
            ])
          : []),
      ],
      regions: [{ ...inner, pick: 'across', rows: 1, columns: widths.length }],
    };
  },

  describe(data, { vocabulary, bound }) {
    const chance = bound
      ? ` At d\u00a0=\u00a0128 and ρ\u00a0=\u00a01, the expected share is at most ${exponent(at(data, 128, 1).bound)}.`
      : '';
    const said = [8, 16, 32, 64].map((d) => `${few(at(data, d, 1).share)} at d\u00a0=\u00a0${d}`);
    return `Of ${count(vocabulary)} random words, with random positions of the same norm (ρ\u00a0=\u00a01): ${said.join(', ')} are lost. With positions of twice the norm, ${few(at(data, 64, 2).share)} are at d\u00a0=\u00a064.${chance}`;
  },

  cells: () => ({ rows: 1, columns: widths.length }),
  firstCursor: () => ({ i: 0, j: widths.indexOf(32) }),

  readout: (data, _, { j }) => [
    { text: `d = ${widths[j]}`, strong: true },
    ': lost ',
    ...scales.flatMap((scale, row) => {
      const { share, lowest, highest } = pointOf(data, j, row);
      return [
        { text: `${few(share)} at ρ = ${scale}`, ink: inks[row] as Ink },
        ` (${few(lowest)} to ${few(highest)} by position)${row === scales.length - 1 ? '.' : ', '}`,
      ];
    }),
  ],

  table: (data, { vocabulary }) => ({
    columns: [
      'words',
      'looked up',
      'd',
      'ρ',
      'share lost',
      'at the kindest position',
      'at the harshest',
      'expected number of nearer words',
    ],
    rows: widths.flatMap((d, place) =>
      scales.map((scale, row) => {
        const { share, lowest, highest, bound } = pointOf(data, place, row);
        return [vocabulary, data.looked, d, scale, share, lowest, highest, bound];
      }),
    ),
  }),
};
