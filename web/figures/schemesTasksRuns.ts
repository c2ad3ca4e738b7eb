// The runs of figure "Schemes against tasks": its rows and settings, and the results of each cell.
import type { SmallSuperpose } from 'add-or-concatenate';
import { type Controls, labelled, type StateOf } from './controls.js';
import type { Compute } from './figure.js';
import { type CellRuns, type CountedSummary, runRequests, summaryOver, trainedCells } from './runs/cells.js';
import { type CellRun, recordedRuns } from './runs/recordedRuns.js';
import {
  aim,
  firstRun,
  fourTasks,
  layersControl,
  normControl,
  questionOf,
  sigmaControl,
  stepsControl,
} from './runs/tasks.js';
import { accuracyAt } from './runs/trainingRun.js';
import { type WayName, wayIn, wayNames, waysIn } from './runs/ways.js';

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
/** A row's name within a sentence. */
export const lowerName = (row: Row, state: Pick<State, 'size'>) =>
  rowName(row, state)
    .replace(/:.*/, '')
    .replace(/^[A-Z](?=[a-z]+ )/, (letter) => letter.toLowerCase());

export const questionOfTask = (name: Task) =>
  questionOf(tasks.find(({ task }) => task === name) as (typeof tasks)[number]);

/** The initial settings, to which a button returns. */
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
    options: labelled(taskNames, (task) => `${questionOfTask(task)}: ${task}`),
    initial: first.tasks,
    more: true,
  },
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export const otherWaysIn = {
  norm: 'with',
  schemes: ['add', 'add-to-queries-keys', 'project', 'multiply', 'uniform-attention'],
  tasks: ['badge', 'lookup', 'roll', 'prev', 'where'],
} as const satisfies Partial<State>;

export interface Cell {
  row: Row;
  task: Task;
  /** [seeds], undefined for those that are still to come. */
  runs: CellRuns;
  /** The step that is shown: the requested one, or the one at which the runs ended. */
  step: number;
  /** Over the runs that are done, at that step; undefined if none is. */
  accuracy: CountedSummary | undefined;
  /** Steps to 99 %, over the runs that reached it. */
  first: CountedSummary | undefined;
  /**
   * The length of position rows over that of token rows, before and after training; empty if it is not
   * measured.
   */
  loudness: CountedSummary[];
}

export interface Data {
  /** [rows][tasks] */
  cells: Cell[][];
  /** Sentences about recorded runs that could not be read. */
  faults: string[];
}

export const tasksOf = (state: State): Task[] => taskNames.filter((task) => state.tasks.includes(task));

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const superpose = await library.small();
  const places = rowsOf(state.schemes).map((row) => tasksOf(state).map((task) => ({ row, task })));
  const { faults } = await recordedRuns(library);
  const requests = places
    .flat()
    .map(({ row, task }) =>
      runRequests({ ...state, task, way: row, shape: { ...state, ...sizes[state.size] } }),
    );
  const shown = (runs: readonly CellRuns[]): Data => ({
    cells: places.map((places, i) =>
      places.map((place, j) =>
        cellOf(superpose, { ...place, runs: runs[i * places.length + j] as CellRuns }, state),
      ),
    ),
    faults,
  });
  return shown(await trainedCells(library, requests, job, shown));
};

function cellOf(
  superpose: Pick<SmallSuperpose, 'summary'>,
  cell: Pick<Cell, 'row' | 'task' | 'runs'>,
  { steps }: State,
): Cell {
  const { runs } = cell;
  const step = Math.min(steps, ...runs.flatMap((run) => run?.steps ?? []));
  const overRuns = (numberOf: (run: CellRun) => number | null | undefined) =>
    summaryOver(superpose, runs, numberOf);
  return {
    ...cell,
    step,
    accuracy: overRuns((run) => accuracyAt(run, step)),
    first: overRuns(({ stepsToAim }) => (stepsToAim !== null && stepsToAim <= step ? stepsToAim : null)),
    loudness: [0, 1].flatMap((end) => overRuns(({ loudness }) => loudness?.[end]) ?? []),
  };
}

export const learned = ({ accuracy }: Cell): boolean => accuracy !== undefined && accuracy.mean >= aim;
export const finishedOf = ({ runs }: Cell) => runs.flatMap((run) => run ?? []);
