// Figure "Longer than trained": models that look back one place, trained on sixteen tokens and asked about thirty-two.
import type { First } from 'superpose';
import { aboutPercent, percent } from '../plot/format.js';
import { lineKey, lineThrough, plane, vertical } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import { type Asked, type CellRun, type Opening, type Over, over, seedsOf, trainedCells } from './cells.js';
import { type Controls, initialState, type StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';
import { listed } from './lists.js';
import {
  divergedRemark,
  evaluationSequences,
  every,
  n,
  rightAxis,
  runControls,
  type SchemeOption,
  schemeOptions,
  seedAfter,
  trainedWith,
} from './tasks.js';

const controls = {
  layers: {
    kind: 'choice',
    label: 'Layers',
    options: { one: 'One, two heads', two: 'Two, four heads each' },
    initial: 'one',
    radio: true,
  },
  ...runControls,
} as const satisfies Controls;

type State = StateOf<typeof controls>;

/** Tokens in each sequence that is asked about. */
const long = 2 * n;
/** Places whose accuracy is measured together. */
const together = 4;
const parts = long / together;
const trainedParts = n / together;
/** The accuracy beyond the trained places from which a scheme counts as holding. */
const holds = 0.9;

interface Line {
  scheme: SchemeOption | 'concat-sinusoid';
  ink: Ink;
  dashed?: true;
}

const lines: Line[] = [
  { scheme: 'add', ink: 'accent' },
  { scheme: 'sinusoid', ink: 'accent', dashed: true },
  { scheme: 'concat-sinusoid', ink: 'warning', dashed: true },
  { scheme: 'untied', ink: 'third' },
  { scheme: 'rope', ink: 'second' },
  { scheme: 't5', ink: 'second', dashed: true },
  { scheme: 'alibi', ink: 'third', dashed: true },
  { scheme: 'none', ink: 'quiet', dashed: true },
];
const names = { ...schemeOptions, 'concat-sinusoid': 'Concatenated, sinusoid' };
const nameOf = ({ scheme }: Line): string => names[scheme];

interface Curve {
  runs: (CellRun | undefined)[];
  /** [parts], the accuracy in each group of places. */
  along: (Over | undefined)[];
  /** The accuracy at the places that were trained on, and at those beyond them. */
  within: Over | undefined;
  beyond: Over | undefined;
}

interface Data {
  /** [lines] */
  curves: Curve[];
}

const askedOf = ({ scheme }: Line, { layers, steps, sigma, seed }: State, more: number): Asked => ({
  options: {
    ...(scheme === 'concat-sinusoid' ? { scheme: 'concat', table: 'sinusoid' } : trainedWith[scheme]),
    ...(layers === 'two' ? { layers: 2, heads: 4 } : { layers: 1, heads: 2 }),
    task: 'prev',
    n,
    symbols: n,
    positions: long,
    causal: true,
    steps,
    sigma,
    seed: seedAfter(seed, more),
    evaluationSequences,
  },
  looks: { every, longer: { n: long, places: together } },
});

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const superpose = await library.first();
  const asked = allAsked(state);
  const shown = (runs: readonly (CellRun | undefined)[]): Data => ({
    curves: lines.map((_, k) => curveOf(superpose, runs.slice(k * state.seeds, (k + 1) * state.seeds))),
  });
  return shown(await trainedCells(library, asked, job, shown, opening()));
};

const allAsked = (state: State): Asked[] =>
  lines.flatMap((line) => Array.from({ length: state.seeds }, (_, more) => askedOf(line, state, more)));

export const opening = (): Opening => ({ name: 'longer', asked: allAsked(initialState(controls)) });

function curveOf(superpose: Pick<First, 'summary'>, runs: Curve['runs']): Curve {
  const mean = (from: number, to: number) =>
    over(superpose, runs, ({ along }) => superpose.summary(Float64Array.from(along.slice(from, to))).mean);
  return {
    runs,
    along: Array.from({ length: parts }, (_, part) => over(superpose, runs, ({ along }) => along[part])),
    within: mean(0, trainedParts),
    beyond: mean(trainedParts, parts),
  };
}

const rightOf = (accuracy: Over | undefined): string =>
  accuracy ? percent(accuracy.mean) : 'not trained yet';
const placesOf = (part: number) => `${part * together} to ${(part + 1) * together - 1}`;

export const figure: Figure<typeof controls, Data> = {
  name: 'longer',
  title: 'Longer than trained',
  controls,
  source: () => 'seeded',
  runs: { looks: () => [], button: 'Run it here' },

  scene({ curves }, _, width) {
    const wide = width >= 640;
    const area = { x: 0, y: 0, width, height: wide ? 320 : 280 };
    const drawn = plane(area, { from: 0, to: long, label: 'place', nice: false, ticks: 4 }, rightAxis);
    const { inner } = drawn;
    const end = drawn.x(n);
    const at = Array.from({ length: parts }, (_, part) => (part + 0.5) * together);
    const marks = curves.flatMap(({ runs, along }, k): Mark[] => {
      const { ink, dashed } = lines[k] as Line;
      const means = along.map((accuracy) => accuracy?.mean ?? Number.NaN);
      const dots = runs.flatMap((run) =>
        (run?.along ?? []).map((right, part) => [drawn.x(at[part] as number), drawn.y(right)] as const),
      );
      return [
        {
          mark: 'path',
          d: lineThrough(drawn, at, means),
          stroke: ink,
          wide: 2,
          dashed: dashed ?? false,
        },
        { mark: 'dots', x: dots.map(([x]) => x), y: dots.map(([, y]) => y), radius: 2.4, ink },
      ];
    });
    const keys = wide ? 2 : 1;
    const deep = lines.length / keys;
    return {
      width,
      height: area.height + 18 * deep + 8,
      marks: [
        ...drawn.marks,
        vertical({ inner }, end, { ink: 'quiet', dashed: true, wide: 1.5 }),
        { mark: 'text', x: end + 6, y: area.y + 10, text: 'not trained on →', ink: 'ink' },
        ...marks,
        ...Array.from({ length: keys }, (_, key) =>
          lineKey(
            (key * width) / keys,
            area.height + 4,
            lines.slice(key * deep, (key + 1) * deep).map((line) => ({ ...line, label: nameOf(line) })),
          ),
        ).flat(),
      ],
      regions: [{ ...inner, pick: 'across', rows: 1, columns: parts }],
    };
  },

  describe({ curves }, { steps, seeds }) {
    const all = lines.flatMap((line, k) => {
      const { beyond } = curves[k] as Curve;
      return beyond ? [{ name: nameOf(line), right: beyond.mean }] : [];
    });
    const trained = `Trained on ${n} tokens for ${steps} steps, ${seedsOf(seeds)}.`;
    const [hold, fail] = [
      all.filter(({ right }) => right >= holds),
      all.filter(({ right }) => right < holds),
    ];
    const best = Math.max(...fail.map(({ right }) => right));
    const held = `At places ${n} to ${long - 1}, which they have never seen, ${listed(hold.map(({ name }) => name)) || 'none'} ${hold.length > 1 ? 'stay' : 'stays'} at least ${aboutPercent(holds)} right`;
    const others =
      fail.length === 0 ? '' : `; of the other ${fail.length}, the best has ${aboutPercent(best)}`;
    const head = `Beyond the trained length ${hold.length} of ${all.length} ${hold.length === 1 ? 'stays' : 'stay'} right.`;
    return `${head} ${held}${others}. ${trained}`;
  },

  cells: () => ({ rows: 1, columns: parts }),
  firstCursor: () => ({ i: 0, j: trainedParts }),

  readout: ({ curves }, _, { j }) => [
    { text: `Places ${placesOf(j)}`, strong: true },
    `: ${lines.map((line, k) => `${nameOf(line)} ${rightOf(curves[k]?.along[j])}`).join('; ')}.`,
  ],

  remark: ({ curves }) =>
    curves.some(({ runs }) => runs.some((run) => run?.diverged)) ? divergedRemark : '',

  table: ({ curves }, { seed }) => ({
    columns: ['positions', 'seed', 'first place', 'last place', 'right answers'],
    rows: lines.flatMap((line, k) =>
      (curves[k] as Curve).runs.flatMap((run, more) =>
        Array.from({ length: parts }, (_, part) => [
          nameOf(line),
          seedAfter(seed, more),
          part * together,
          (part + 1) * together - 1,
          run?.along[part] ?? '',
        ]),
      ),
    ),
  }),
};
