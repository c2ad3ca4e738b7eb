// Figure "The narrowest stream": accuracy in a task at each width, with tables that are learned and with
// tables frozen as they were drawn, added and concatenated.
import { aboutPercent, counted, listed, percent } from '../plot/format.js';
import { curve, evenlySpacedAxis, namedLines, plane } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';
import {
  type CellRuns,
  type CountedSummary,
  partlyAnew,
  remarkOf,
  runRequests,
  seedsOf,
  summaryOver,
  trainedCells,
} from './runs/cells.js';
import { recordedRuns } from './runs/recordedRuns.js';
import { accuracyAxis, aim, n, runControls, seedAfter, taskOptions } from './runs/tasks.js';
import { accuracyAt } from './runs/trainingRun.js';
import type { WayName } from './runs/ways.js';

/** The initial task. */
const first = 'lookup';

const controls = {
  task: { kind: 'choice', label: 'Task', options: taskOptions, initial: first },
  ...runControls,
} as const satisfies Controls;

type State = StateOf<typeof controls>;

const widths = [8, 12, 16, 24];

const models = [
  'add',
  'concat-half',
  'add-fixed',
  'concat-fixed',
  'uniform-attention',
] as const satisfies WayName[];
/** In the order of `models`. */
const lines: { label: string; ink: Ink; dashed?: true }[] = [
  { label: 'learned and added', ink: 'ink' },
  { label: 'learned and concatenated', ink: 'concatenated' },
  { label: 'frozen and added', ink: 'ink', dashed: true },
  { label: 'frozen and concatenated', ink: 'concatenated', dashed: true },
  { label: 'all scores 0', ink: 'quiet' },
];

interface Point {
  runs: CellRuns;
  accuracy: CountedSummary | undefined;
}

interface Data {
  /** [models][widths] */
  points: Point[][];
  /**
   * The step that is shown: the requested one or, if earlier, the first at which a run ended without having
   * learned the task.
   */
  step: number;
  /** Sentences about recorded runs that could not be read. */
  faults: string[];
}

/**
 * The requested step or, if earlier, the first at which a run with scores ended without having learned the
 * task.
 */
function stepOf(points: readonly (readonly CellRuns[])[], { steps }: State): number {
  const unlearned = points
    .slice(0, models.indexOf('uniform-attention'))
    .flat(2)
    .filter((run) => run && accuracyAt(run, run.steps) < aim);
  return Math.min(steps, ...unlearned.flatMap((run) => run?.steps ?? []));
}

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const superpose = await library.small();
  const { faults } = await recordedRuns(library);
  // Width by width, so that the lines grow together.
  const requests = widths.flatMap((d_model) =>
    models.map((way) =>
      runRequests({ ...state, way, shape: { n, d_model, layers: 'one', norm: 'with', sigma: state.sigma } }),
    ),
  );
  const shown = (cells: readonly CellRuns[]): Data => {
    const points = models.map((_, model) =>
      widths.map((_, width) => cells[width * models.length + model] as CellRuns),
    );
    const step = stepOf(points, state);
    return {
      points: points.map((line) =>
        line.map((runs) => ({
          runs,
          accuracy: summaryOver(superpose, runs, (run) => accuracyAt(run, step)),
        })),
      ),
      step,
      faults,
    };
  };
  return shown(await trainedCells(library, requests, job, shown));
};

const runsOf = (points: Point[][], line: number, width: number): Point['runs'] =>
  points[line]?.[width]?.runs ?? [];
const rightOf = ({ accuracy }: Point): string => (accuracy ? percent(accuracy.mean) : 'not trained yet');

/** The accuracy of every line at a width. */
const allRight = (points: Point[][], width: number): string =>
  lines.map(({ label }, k) => `${label} ${rightOf(points[k]?.[width] as Point)}`).join('; ');

export const figure: Figure<typeof controls, Data> = {
  name: 'narrow',
  title: 'The narrowest stream',
  controls,
  source: () => 'seeded',
  live: { looks: () => [], button: 'Run it here' },

  scene({ points, step }, _, width) {
    const wide = width >= 640;
    const named = namedLines({ x: 0, y: 0, width, height: wide ? 320 : 280 }, lines);
    const { area } = named;
    const drawn = plane(area, evenlySpacedAxis(widths, 'width d'), accuracyAxis);
    const marks = lines.flatMap(({ ink, dashed = false }, k): Mark[] => {
      const line = points[k] as Point[];
      // The lines are set a little apart, so that dots of equal height can be told apart.
      const at = widths.map((_, place) => place + (k - 2) * 0.025);
      const dots = line.flatMap(({ runs }, place) =>
        runs.flatMap((run) =>
          run ? [[drawn.x(at[place] as number), drawn.y(accuracyAt(run, step))] as const] : [],
        ),
      );
      const means = line.map(({ accuracy }) => accuracy?.mean ?? Number.NaN);
      return [
        curve(drawn, at, means, { stroke: ink, wide: 2, dashed }),
        { mark: 'dots', x: dots.map(([x]) => x), y: dots.map(([, y]) => y), radius: 3.2, ink },
      ];
    });
    const ends = points.map((line) => drawn.y(line.at(-1)?.accuracy?.mean ?? Number.NaN));
    return {
      width,
      height: area.height + named.below,
      marks: [...drawn.marks, ...marks, ...named.names(drawn, ends)],
      regions: [{ ...drawn.inner, pick: 'across', rows: 1, columns: widths.length }],
    };
  },

  describe({ points, step }, { task, seeds }) {
    const widest = widths[widths.length - 1] as number;
    const runs = points.flat().flatMap((point) => point.runs);
    const missing = runs.filter((run) => !run).length;
    // Nothing is said of widths before all runs are there.
    if (missing > 0) return `${missing} of ${counted(runs.length, 'run')} still to come, or to be asked for.`;
    const partly = partlyAnew(runs);
    if (partly) return partly;
    const [added, joined, frozenAdded, frozenJoined] = points.slice(0, -1).map((line) => {
      const place = line.findIndex(({ accuracy }) => accuracy && accuracy.mean >= aim);
      return place < 0 ? `more than ${widest}` : String(widths[place]);
    });
    const head =
      added === joined
        ? `Learned tables did with ${added} dimensions, added or concatenated.`
        : `Learned tables did with ${added} dimensions added, ${joined} concatenated.`;
    // The grid of widths is too coarse to tell which of the two came nearer, so the sentence gives the
    // accuracies, too.
    const [frozen, beside] = [points[2] ?? [], points[3] ?? []];
    const below = widths.flatMap((width, place) => {
      const [sum, joint] = [frozen[place]?.accuracy?.mean ?? 1, beside[place]?.accuracy?.mean ?? 1];
      if (Math.max(sum, joint) >= aim) return [];
      return [`${aboutPercent(sum)} and ${aboutPercent(joint)} at ${width}`];
    });
    const nearer = below.length > 0 ? ` Frozen, added and concatenated, they got ${listed(below)}.` : '';
    return `${head} To get ${task} 99\u202f% right within ${step.toLocaleString('en')} steps, frozen tables needed ${frozenAdded} added; concatenated, ${frozenJoined}.${nearer} Widths tried: ${listed(widths.map(String))}; ${seedsOf(seeds)}, with LayerNorm.`;
  },

  cells: () => ({ rows: 1, columns: widths.length }),
  firstCursor: () => ({ i: 0, j: 1 }),

  readout: ({ points }, _, { j }) => [
    { text: `d = ${widths[j]}`, strong: true },
    `: ${allRight(points, j)}.`,
  ],

  remark: ({ points, faults }) =>
    remarkOf(
      faults,
      points.flat().flatMap(({ runs }) => runs),
    ),

  table: ({ points, step }, { seed }) => ({
    columns: ['tables', 'd', 'seed', 'right answers', 'first at 99 %, step'],
    rows: lines.flatMap(({ label }, k) =>
      widths.flatMap((d, place) =>
        runsOf(points, k, place).map((run, more) => [
          label,
          d,
          seedAfter(seed, more),
          run ? accuracyAt(run, step) : '',
          run?.stepsToAim ?? '',
        ]),
      ),
    ),
  }),
};
