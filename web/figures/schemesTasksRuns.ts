// The runs of figure "Schemes against tasks": which there are, what can be asked for, and what comes of them.
import type { SmallSuperpose } from 'superpose';
import { type CellJob, type CellRun, type Opening, type Over, over, trainedCells } from './cells.js';
import { type Controls, labelled, type StateOf } from './controls.js';
import type { Compute } from './figure.js';
import {
  aim,
  asker,
  every,
  firstRun,
  fourTasks,
  layersControl,
  modelOptions,
  seedAfter,
  sigmaControl,
} from './tasks.js';
import { type WayName, wayIn, waysIn } from './waysIn.js';

const tasks = [...fourTasks, { task: 'where', term: 'token-where token is' } as const];
const taskNames = tasks.map(({ task }) => task);
export type Task = (typeof taskNames)[number];

/** Two sizes: the first screen's, and that of the other figures with trained models. */
const sizes = {
  small: { n: 10, d_model: 16, evaluationSequences: 128 },
  large: { n: 16, d_model: 32, evaluationSequences: 64 },
} as const;

/** The table's rows, from the top. */
const allRows = [
  ...(['add', 'concat', 'concat-wide', 'wider', 'apart', 'cut', 'untied', 'add-sinusoid'] as const),
  ...(['concat-8', 'concat-4', 'rope', 'alibi', 't5', 'none', 'transformer', 'unscaled'] as const),
  ...(['qk', 'project', 'multiply', 'zero'] as const),
] as const satisfies WayName[];
export type Row = (typeof allRows)[number];
export const rowsOf = (names: readonly Row[]) => allRows.filter((row) => names.includes(row));

/** Tasks in which tokens ask about positions, or positions about tokens. */
export const mixed: readonly Task[] = ['lookup', 'roll'];

export const rowName = (row: Row, { size }: Pick<State, 'size'>) => wayIn(row).name(sizes[size].d_model);
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
  layers: firstRun.layers,
  seed: 1,
  sigma: firstRun.sigma,
  schemes: ['add', 'concat', 'concat-wide', 'wider', 'apart', 'cut', 'untied', 'zero'],
  tasks: ['badge', 'lookup', 'roll', 'prev'],
} as const;

export const controls = {
  seeds: { kind: 'steps', more: true, label: 'Seeds', values: [1, 2, 3, 5, 10], initial: first.seeds },
  size: {
    kind: 'choice',
    label: 'Size',
    options: { small: '10 tokens, 16 wide', large: '16 tokens, 32 wide' },
    initial: first.size,
  },
  layers: layersControl,
  seed: { kind: 'seed', label: 'First seed', initial: first.seed, more: true },
  sigma: { ...sigmaControl, more: true },
  schemes: {
    kind: 'several',
    label: 'Positions',
    options: labelled(allRows, (row) => waysIn[row].name(sizes.small.d_model)),
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

/** Models large enough that some seeds do not fail by chance. */
export const others = {
  size: 'large',
  schemes: ['add', 'qk', 'project', 'multiply', 'zero'],
  tasks: ['badge', 'lookup', 'roll', 'prev', 'where'],
} as const satisfies Partial<State>;

export interface Cell {
  row: Row;
  task: Task;
  /** [seeds], undefined for those that are still to come. */
  runs: (CellRun | undefined)[];
  /** Over the runs that are done; undefined if none is. */
  accuracy: Over | undefined;
  /** Steps to 99 %, over the runs that reached it. */
  first: Over | undefined;
  /** How long position rows are beside token rows, before and after; empty if that is not asked. */
  loud: Over[];
}

export interface Data {
  /** [rows][tasks] */
  cells: Cell[][];
}

function askedOf(row: Row, task: Task, state: State, seed: number): CellJob {
  const { n, d_model, evaluationSequences } = sizes[state.size];
  return {
    options: {
      ...modelOptions(task, 'add', { ...state, seed }),
      n,
      d_model,
      evaluationSequences,
      ...wayIn(row).options(d_model),
    },
    looks: {
      // As often as the figures look that a click opens.
      ...(state.size === 'large' && { every }),
      ...(wayIn(row).loudness && { loudness: true }),
    },
  };
}

export const tasksOf = (state: State): Task[] => taskNames.filter((task) => state.tasks.includes(task));

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const superpose = await library.small();
  const rows = rowsOf(state.schemes);
  const columns = tasksOf(state);
  const asked = allAsked(state);
  const shown = (runs: readonly (CellRun | undefined)[]): Data => ({
    cells: rows.map((row, i) =>
      columns.map((task, j) => {
        const at = (i * columns.length + j) * state.seeds;
        return cellOf(superpose, row, task, runs.slice(at, at + state.seeds));
      }),
    ),
  });
  return shown(await trainedCells(library, asked, job, shown, opening()));
};

const allAsked = (state: State): CellJob[] =>
  rowsOf(state.schemes).flatMap((row) =>
    tasksOf(state).flatMap((task) =>
      Array.from({ length: state.seeds }, (_, k) => askedOf(row, task, state, seedAfter(state.seed, k))),
    ),
  );

/** What claims and the page’s text lead to, beside what the other views have. */
const claimed = [
  { schemes: ['concat', 'cut', 'concat-4', 'add-sinusoid', 'none'] },
  { schemes: ['transformer', 'unscaled'], tasks: ['badge', 'prev'] },
  { schemes: ['rope'], tasks: ['lookup', 'prev'] },
  { schemes: ['zero', 'none', 'add'], tasks: ['prev'], layers: 'causal' },
] as const satisfies Partial<State>[];

/** The first view with more layers. */
const deeper = [{ layers: 'two' }, { layers: 'causal' }] as const satisfies Partial<State>[];

/** The first view, with more layers too, that of the other ways in, and those that claims lead to. */
export const opening = (): Opening => ({
  name: 'schemesTasks',
  asked: [first, ...deeper, others, ...claimed.map((one) => ({ size: 'large', ...one }) as const)].flatMap(
    (one) => allAsked({ ...first, ...one }),
  ),
});

const cellOf = (
  superpose: Pick<SmallSuperpose, 'summary'>,
  row: Row,
  task: Task,
  runs: Cell['runs'],
): Cell => ({
  row,
  task,
  runs,
  accuracy: over(superpose, runs, (run) => run.accuracy),
  first: over(superpose, runs, (run) => run.stepsToAim),
  loud: [0, 1].flatMap((end) => over(superpose, runs, ({ loudness }) => loudness?.[end]) ?? []),
});

export const learned = ({ accuracy }: Cell): boolean => accuracy !== undefined && accuracy.mean >= aim;
export const thereOf = ({ runs }: Cell) => runs.flatMap((run) => run ?? []);
