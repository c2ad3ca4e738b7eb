// Figure "Longer than trained": models that look back one place, trained on sixteen tokens and asked about more, by
// scheme; and what is done about places that were not trained, with RoPE and with a learned table.
import type { First } from 'superpose';
import { aboutPercent, percent } from '../plot/format.js';
import { lineThrough, namedLines, plane, vertical } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import { type CellJob, type CellRun, type Opening, type Over, over, seedsOf, trainedCells } from './cells.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';
import { listed } from './lists.js';
import { bases } from './sinusoids.js';
import {
  divergedRemark,
  evaluationSequences,
  every,
  firstRun,
  n,
  rightAxis,
  runControls,
  type SchemeOption,
  schemeOptions,
  seedAfter,
  trainedAs,
} from './tasks.js';
import type { LongerWay } from './trainingRun.js';

/** The first view, apart from the settings: what computes carries no labels. */
const first = { of: 'schemes', length: 32, base: bases.initial, layers: 'one' } as const;

const controls = {
  of: {
    kind: 'choice',
    label: 'What is compared',
    options: { schemes: 'Schemes', rope: 'RoPE, stretched', table: 'A table, extended' },
    initial: first.of,
    radio: true,
  },
  length: {
    kind: 'steps',
    more: true,
    label: 'Asked about',
    values: [32, 64],
    initial: first.length,
  },
  base: { ...bases, more: true },
  layers: {
    kind: 'choice',
    label: 'Layers',
    options: { one: 'One, two heads', two: 'Two, four heads each' },
    initial: first.layers,
    radio: true,
  },
  ...runControls,
} as const satisfies Controls;

type State = StateOf<typeof controls>;

/** Places whose accuracy is measured together. */
const together = 4;
const trainedParts = n / together;
/** The accuracy beyond the trained places from which a scheme counts as holding. */
const holds = 0.9;

type Scheme = SchemeOption | 'concat-sinusoid';

const schemes: Scheme[] = ['add', 'add-sinusoid', 'concat-sinusoid', 'untied', 'rope', 't5', 'alibi', 'none'];
/** A model as short as this has no pairs that turn 32 times: between a tenth of a turn and a whole one. */
const ramp = { trained: n, alpha: 0.1, beta: 1 };
/** What is done with one model's rows or turns. */
const waysOf = ({ of, length }: Pick<State, 'of' | 'length'>): LongerWay[] => {
  if (of === 'table') return [{}, { extend: 'copied' }, { extend: 'tiled' }, { extend: 'interpolated' }];
  const factor = length / n;
  return [
    {},
    { stretch: { way: 'interpolate', factor } },
    { stretch: { way: 'ntk', factor } },
    { stretch: { way: 'parts', factor, ...ramp } },
    { stretch: { way: 'yarn', factor, ...ramp } },
  ];
};

interface Line {
  label: string;
  ink: Ink;
  dashed?: true;
}

/** In the order of the schemes, or of the ways. */
const linesOf: Record<State['of'], Line[]> = {
  schemes: [
    { label: schemeOptions.add, ink: 'accent' },
    { label: schemeOptions['add-sinusoid'], ink: 'accent', dashed: true },
    { label: 'Concatenated, sinusoid', ink: 'warning', dashed: true },
    { label: schemeOptions.untied, ink: 'third' },
    { label: schemeOptions.rope, ink: 'second' },
    { label: schemeOptions.t5, ink: 'second', dashed: true },
    { label: schemeOptions.alibi, ink: 'third', dashed: true },
    { label: schemeOptions.none, ink: 'quiet', dashed: true },
  ],
  rope: [
    { label: 'As it is', ink: 'quiet' },
    { label: 'Interpolated', ink: 'warning' },
    { label: 'NTK-aware base', ink: 'third' },
    { label: 'By parts', ink: 'second' },
    { label: 'YaRN', ink: 'accent', dashed: true },
  ],
  table: [
    { label: 'Rows as drawn', ink: 'quiet' },
    { label: 'Last row copied', ink: 'warning' },
    { label: 'Rows tiled', ink: 'accent' },
    { label: 'Rows interpolated', ink: 'second' },
  ],
};

interface Curve {
  runs: (CellRun | undefined)[];
  /** The accuracy in each group of places. */
  along: (Over | undefined)[];
  /** The accuracy at the places that were trained on, and at those beyond them. */
  within: Over | undefined;
  beyond: Over | undefined;
}

interface Data {
  /** By line. */
  curves: Curve[];
}

const askedOf = (scheme: Scheme, state: State, more: number): CellJob => {
  const { of, layers, length, base, steps, sigma, seed } = state;
  return {
    options: {
      ...trainedAs(scheme),
      ...(layers === 'two' ? { layers: 2, heads: 4 } : { layers: 1, heads: 2 }),
      task: 'prev',
      n,
      symbols: n,
      positions: length,
      causal: true,
      steps,
      sigma,
      seed: seedAfter(seed, more),
      evaluationSequences,
      ...(of === 'rope' && { base }),
    },
    looks: {
      every,
      longer: { n: length, places: together, ...(of !== 'schemes' && { ways: waysOf(state) }) },
    },
  };
};

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const superpose = await library.first();
  const asked = allAsked(state);
  const own = state.of === 'schemes';
  const shown = (runs: readonly (CellRun | undefined)[]): Data => ({
    curves: (own ? schemes : waysOf(state)).map((_, k) => {
      const parts = state.length / together;
      const from = own ? k * state.seeds : 0;
      const start = own ? 0 : k * parts;
      const of = runs.slice(from, from + state.seeds);
      return curveOf(
        superpose,
        of.map((run) => run && { ...run, along: run.along.slice(start, start + parts) }),
        parts,
      );
    }),
  });
  return shown(await trainedCells(library, asked, job, shown, opening()));
};

/** Of one model but for schemes: its lines differ in what is done with it. */
const allAsked = (state: State): CellJob[] => {
  const asked: Record<State['of'], Scheme[]> = { schemes, rope: ['rope'], table: ['add'] };
  return asked[state.of].flatMap((scheme) =>
    Array.from({ length: state.seeds }, (_, more) => askedOf(scheme, state, more)),
  );
};

export const opening = (): Opening => ({ name: 'longer', asked: allAsked({ ...first, ...firstRun }) });

function curveOf(superpose: Pick<First, 'summary'>, runs: Curve['runs'], parts: number): Curve {
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
  unused: ({ of }) => (of === 'rope' ? [] : ['base']),

  scene({ curves }, state, width) {
    const { length } = state;
    const [lines, parts] = [linesOf[state.of], length / together];
    const wide = width >= 640;
    const named = namedLines({ x: 0, y: 0, width, height: wide ? 320 : 280 }, lines);
    const { area } = named;
    const drawn = plane(area, { from: 0, to: length, label: 'position', nice: false, ticks: 4 }, rightAxis);
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
    const ends = curves.map(({ along }) => drawn.y(along.at(-1)?.mean ?? Number.NaN));
    return {
      width,
      height: area.height + named.below,
      marks: [
        ...drawn.marks,
        vertical({ inner }, end, { ink: 'quiet', dashed: true, wide: 1.5 }),
        { mark: 'text', x: end + 6, y: area.y + 10, text: 'not trained on →', ink: 'ink' },
        ...marks,
        ...named.names(drawn, ends),
      ],
      regions: [{ ...inner, pick: 'across', rows: 1, columns: parts }],
    };
  },

  describe({ curves }, state) {
    const { steps, seeds, length, of, base } = state;
    const lines = linesOf[of];
    if (of !== 'schemes') {
      const each = lines.map(
        ({ label }, k) =>
          `${label.toLowerCase().replace('ntk', 'NTK').replace('yarn', 'YaRN')} ${rightOf(curves[k]?.beyond)}`,
      );
      const what = of === 'rope' ? `RoPE of base ${base}` : 'Added, learned';
      const how =
        of === 'rope'
          ? ` Parts and YaRN: between ${ramp.alpha} turns and ${ramp.beta} within the trained length.`
          : '';
      const best = Math.max(...curves.map(({ beyond }) => beyond?.mean ?? Number.NaN));
      const first = lines.find((_, k) => curves[k]?.beyond?.mean === best);
      const head = first ? `${first.label} does best beyond the trained length. ` : '';
      return `${head}${what}, right at positions ${n} to ${length - 1}: ${listed(each)}. Trained on ${n} tokens for ${steps} steps, ${seedsOf(seeds)}.${how}`;
    }
    const all = lines.flatMap(({ label }, k) => {
      const { beyond } = curves[k] as Curve;
      return beyond ? [{ name: label, right: beyond.mean }] : [];
    });
    const trained = `Trained on ${n} tokens for ${steps} steps, ${seedsOf(seeds)}.`;
    const [hold, fail] = [
      all.filter(({ right }) => right >= holds),
      all.filter(({ right }) => right < holds),
    ];
    const best = Math.max(...fail.map(({ right }) => right));
    const held = `At positions ${n} to ${length - 1} ${listed(hold.map(({ name }) => name)) || 'none'} ${hold.length > 1 ? 'stay' : 'stays'} at least ${aboutPercent(holds)} right`;
    const others =
      fail.length === 0 ? '' : `; of the other ${fail.length}, the best has ${aboutPercent(best)}`;
    const head = `Beyond the trained length ${hold.length} of ${all.length} ${hold.length === 1 ? 'stays' : 'stay'} right.`;
    return `${head} ${held}${others}. ${trained}`;
  },

  cells: (_, { length }) => ({ rows: 1, columns: length / together }),
  firstCursor: () => ({ i: 0, j: trainedParts }),

  readout: ({ curves }, { of }, { j }) => [
    { text: `Positions ${placesOf(j)}`, strong: true },
    `: ${linesOf[of].map(({ label }, k) => `${label} ${rightOf(curves[k]?.along[j])}`).join('; ')}.`,
  ],

  remark: ({ curves }) =>
    curves.some(({ runs }) => runs.some((run) => run?.diverged)) ? divergedRemark : '',

  table: ({ curves }, state) => ({
    columns: ['scheme', 'seed', 'first position', 'last position', 'right answers'],
    rows: linesOf[state.of].flatMap(({ label }, k) =>
      (curves[k] as Curve).runs.flatMap((run, more) =>
        Array.from({ length: state.length / together }, (_, part) => [
          label,
          seedAfter(state.seed, more),
          part * together,
          (part + 1) * together - 1,
          run?.along[part] ?? '',
        ]),
      ),
    ),
  }),
};
