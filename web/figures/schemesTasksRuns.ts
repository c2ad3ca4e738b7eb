// The runs of figure "Schemes against tasks": which there are, what can be asked for, and what comes of them.
import type { SmallSuperpose } from 'superpose';
import { type Over, over, trainedCells } from './cells.js';
import { type Controls, labelled, type StateOf } from './controls.js';
import type { Compute } from './figure.js';
import { type CellRun, recordOf } from './record.js';
import {
  aim,
  asker,
  firstRun,
  fourTasks,
  layersControl,
  modelOptions,
  normControl,
  pageSteps,
  seedAfter,
  sigmaControl,
  stepsControl,
} from './tasks.js';
import { accuracyAt, type CellJob } from './training.js';
import { type WayName, wayIn, wayNames, waysIn } from './waysIn.js';

const tasks = [...fourTasks, { task: 'where', term: 'token-where token is' } as const];
const taskNames = tasks.map(({ task }) => task);
export type Task = (typeof taskNames)[number];

/** Two sizes: the first screen's, and that of the other figures with trained models. */
export const sizes = {
  small: { n: 10, d_model: 16 },
  large: { n: 16, d_model: 32 },
} as const;

/** The table's rows, from the top: all ways, except those that only the figure of narrow widths has. */
export type Row = Exclude<WayName, 'add-fixed' | 'concat-fixed'>;
const isRow = (name: WayName): name is Row => name !== 'add-fixed' && name !== 'concat-fixed';
const allRows: readonly Row[] = wayNames.filter(isRow);
export const rowsOf = (names: readonly Row[]) => allRows.filter((row) => names.includes(row));

export const rowName = (row: Row, { size }: Pick<State, 'size'>) => wayIn(row).label(sizes[size].d_model);
/** Within a sentence. */
export const lowerName = (row: Row, state: Pick<State, 'size'>) =>
  rowName(row, state)
    .replace(/:.*/, '')
    .replace(/^[A-Z](?=[a-z]+ )/, (letter) => letter.toLowerCase());

export const askerOf = (name: Task) =>
  asker(tasks.find(({ task }) => task === name) as (typeof tasks)[number]);

/** The first view, apart from the settings: what computes carries no labels. */
export const first = {
  seeds: 5,
  size: 'small',
  norm: 'without',
  schemes: [
    'add',
    'concat-half',
    'concat-quarter',
    'concat-wide',
    'add-wide',
    'concat-wide-without-cross-terms',
    'add-without-cross-terms',
    'tupe',
    'uniform-attention',
  ],
  tasks: ['badge', 'lookup', 'roll', 'prev'],
} as const;

export const controls = {
  norm: { ...normControl, initial: first.norm },
  layers: layersControl,
  size: {
    kind: 'choice',
    label: 'Size',
    options: { small: '10 tokens, 16 wide', large: '16 tokens, 32 wide' },
    initial: first.size,
  },
  steps: { ...stepsControl, more: true },
  seeds: { kind: 'steps', more: true, label: 'Seeds', values: [1, 2, 3, 5], initial: first.seeds },
  seed: { kind: 'seed', label: 'First seed', initial: firstRun.seed, more: true },
  sigma: { ...sigmaControl, more: true },
  schemes: {
    kind: 'several',
    label: 'Positions',
    options: labelled(allRows, (row) => waysIn[row].label(sizes.small.d_model)),
    initial: first.schemes,
    more: true,
  },
  tasks: {
    kind: 'several',
    label: 'Tasks',
    options: labelled(taskNames, (task) => `${askerOf(task)}: ${task}`),
    initial: first.tasks,
    more: true,
  },
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export const others = {
  norm: 'with',
  schemes: ['add', 'add-to-queries-keys', 'project', 'multiply', 'uniform-attention'],
  tasks: ['badge', 'lookup', 'roll', 'prev', 'where'],
} as const satisfies Partial<State>;

export interface Cell {
  row: Row;
  task: Task;
  /** [seeds], undefined for those that are still to come. */
  runs: (CellRun | undefined)[];
  /** The step that is shown: what was asked for, or where the runs ended. */
  step: number;
  /** Over the runs that are done, at that step; undefined if none is. */
  accuracy: Over | undefined;
  /** Steps to 99 %, over the runs that reached it. */
  first: Over | undefined;
  /** How long position rows are beside token rows, before and after; empty if that is not asked. */
  loud: Over[];
}

export interface Data {
  /** [rows][tasks] */
  cells: Cell[][];
  /** What could not be taken of the recorded runs. */
  faults: string[];
}

const askedOf = (row: Row, task: Task, state: State, seed: number): CellJob => ({
  options: modelOptions(task, row, { ...state, ...sizes[state.size], seed }),
  steps: Math.min(state.steps, pageSteps),
  ...(wayIn(row).loudness && { loudness: true }),
});

export const tasksOf = (state: State): Task[] => taskNames.filter((task) => state.tasks.includes(task));

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const superpose = await library.small();
  const rows = rowsOf(state.schemes);
  const columns = tasksOf(state);
  const { faults } = await recordOf(library);
  const shown = (runs: readonly (CellRun | undefined)[]): Data => ({
    cells: rows.map((row, i) =>
      columns.map((task, j) => {
        const at = (i * columns.length + j) * state.seeds;
        return cellOf(superpose, { row, task, runs: runs.slice(at, at + state.seeds) }, state);
      }),
    ),
    faults,
  });
  return shown(await trainedCells(library, allAsked(state), job, shown));
};

const allAsked = (state: State): CellJob[] =>
  rowsOf(state.schemes).flatMap((row) =>
    tasksOf(state).flatMap((task) =>
      Array.from({ length: state.seeds }, (_, k) => askedOf(row, task, state, seedAfter(state.seed, k))),
    ),
  );

function cellOf(
  superpose: Pick<SmallSuperpose, 'summary'>,
  cell: Pick<Cell, 'row' | 'task' | 'runs'>,
  { steps }: State,
): Cell {
  const { runs } = cell;
  const step = Math.min(steps, ...runs.flatMap((run) => run?.steps ?? []));
  return {
    ...cell,
    step,
    accuracy: over(superpose, runs, (run) => accuracyAt(run, step)),
    first: over(superpose, runs, ({ stepsToAim }) => ((stepsToAim ?? step + 1) > step ? null : stepsToAim)),
    loud: [0, 1].flatMap((end) => over(superpose, runs, ({ loudness }) => loudness?.[end]) ?? []),
  };
}

export const learned = ({ accuracy }: Cell): boolean => accuracy !== undefined && accuracy.mean >= aim;
export const thereOf = ({ runs }: Cell) => runs.flatMap((run) => run ?? []);
