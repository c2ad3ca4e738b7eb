// Figure "Schemes against tasks": which way of giving a model its positions learns which task, in a table
// that fills in as one model after another is trained.
import type { First } from 'superpose';
import { percent } from '../plot/format.js';
import type { Area } from '../plot/parts.js';
import type { Mark } from '../plot/scene.js';
import { type Asked, type CellRun, type Opening, type Over, over, seedsOf, trainedCells } from './cells.js';
import { type Controls, initialState, type StateOf } from './controls.js';
import type { Compute, Figure } from './figure.js';
import { figure as oneRun } from './fourTasks.js';
import { listed } from './lists.js';
import {
  divergedRemark,
  every,
  fourTasks,
  layersControl,
  modelOptions,
  rev,
  type SchemeOption,
  schemeOptions,
  seedAfter,
  sigmaControl,
  steps,
} from './tasks.js';

const tasks = [...fourTasks, rev];
type Task = (typeof tasks)[number]['task'];

/** In the order of the table, with the names that fit beside it on a phone. */
const shortNames = {
  zero: 'all scores 0',
  none: 'none',
  add: 'added',
  cut: 'added, cut',
  sinusoid: 'sinusoid',
  concat: 'concat 16+16',
  'concat-8': 'concat 24+8',
  'concat-24': 'concat 8+24',
  'concat-4': 'concat 28+4',
  untied: 'untied',
  rope: 'RoPE',
  alibi: 'ALiBi',
  t5: 'T5 bias',
} as const;
type Row = keyof typeof shortNames;
const rowNames: Record<Row, string> = {
  ...schemeOptions,
  zero: 'All scores 0: the floor',
  cut: 'Added, without cross terms',
};
const rowsOf = (names: readonly Row[]) =>
  (Object.keys(shortNames) as Row[]).filter((row) => names.includes(row));

const controls = {
  seeds: { kind: 'steps', label: 'Seeds', values: [1, 2, 3, 5, 10], initial: 1 },
  seed: { kind: 'seed', label: 'First seed', initial: 1 },
  layers: layersControl,
  sigma: sigmaControl,
  schemes: {
    kind: 'several',
    label: 'Positions',
    options: Object.fromEntries(Object.keys(shortNames).map((row) => [row, rowNames[row as Row]])) as Record<
      Row,
      string
    >,
    initial: [
      'zero',
      'none',
      'add',
      'sinusoid',
      'concat',
      'concat-8',
      'concat-24',
      'untied',
      'rope',
      'alibi',
      't5',
    ],
    more: true,
  },
  tasks: {
    kind: 'several',
    label: 'Tasks',
    options: Object.fromEntries(tasks.map(({ task }) => [task, task])) as Record<Task, string>,
    initial: ['badge', 'lookup', 'roll', 'prev', 'rev'],
    more: true,
  },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Cell {
  row: Row;
  task: Task;
  /** [seeds], undefined for those that are still to come. */
  runs: (CellRun | undefined)[];
  /** Over the runs that are done; undefined if none is. */
  accuracy: Over | undefined;
  /** Steps to 99 %, over the runs that reached it. */
  first: Over | undefined;
}

interface Data {
  /** [rows][tasks] */
  cells: Cell[][];
}

const optionsOf = (row: Row, task: Task, state: State, seed: number): Asked['options'] => {
  const of = (scheme: SchemeOption) => modelOptions(task, scheme, { ...state, seed });
  if (row === 'zero') return { ...of('add'), zeroScores: true };
  if (row === 'cut') return { ...of('add'), cuts: ['token_position', 'position_token'] };
  return of(row);
};

const tasksOf = (state: State): Task[] =>
  tasks.map(({ task }) => task).filter((task) => state.tasks.includes(task));

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const superpose = await library.first();
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

const allAsked = (state: State): Asked[] =>
  rowsOf(state.schemes).flatMap((row) =>
    tasksOf(state).flatMap((task) =>
      Array.from({ length: state.seeds }, (_, k) => ({
        options: optionsOf(row, task, state, seedAfter(state.seed, k)),
        looks: { every },
      })),
    ),
  );

export const opening = (): Opening => ({ name: 'schemesTasks', asked: allAsked(initialState(controls)) });

const cellOf = (superpose: Pick<First, 'summary'>, row: Row, task: Task, runs: Cell['runs']): Cell => ({
  row,
  task,
  runs,
  accuracy: over(superpose, runs, (run) => run.accuracy),
  first: over(superpose, runs, (run) => run.stepsToAim),
});

const learned = ({ accuracy }: Cell): boolean => accuracy !== undefined && accuracy.mean >= 0.99;
const thereOf = ({ runs }: Cell) => runs.flatMap((run) => run ?? []);
/** The accuracy of a cell, and how much seeds differ. */
function meanOf({ accuracy }: Cell): string {
  if (accuracy === undefined) return 'not trained yet';
  const { mean, standardDeviation, count } = accuracy;
  return count > 1
    ? `${(100 * mean).toFixed(1)} ± ${(100 * standardDeviation).toFixed(1)}\u202f%`
    : percent(mean);
}

/** Up to this many rows are described one by one, more of them task by task. */
const fewRows = 3;

export const figure: Figure<typeof controls, Data> = {
  name: 'schemes-tasks',
  title: 'Schemes against tasks',
  controls,
  source: () => 'seeded',
  runs: { looks: () => [], button: 'Run it here' },

  scene(data, { schemes, tasks: chosen }, width) {
    const rows = rowsOf(schemes);
    const wide = width >= 640;
    const left = wide ? 190 : 92;
    const size = { width: (width - left) / Math.max(1, chosen.length), height: 36 };
    const top = 22;
    const marks = data.cells.flatMap((cells, i) =>
      cells.flatMap((cell, j) =>
        drawCell(cell, { x: left + j * size.width, y: top + i * size.height, ...size }),
      ),
    );
    const heads = (data.cells[0] ?? []).map(
      ({ task }, j): Mark => ({
        mark: 'text',
        x: left + (j + 0.5) * size.width,
        y: 13,
        text: task,
        anchor: 'middle',
        ink: 'ink',
        bold: true,
      }),
    );
    const names = rows.map(
      (row, i): Mark => ({
        mark: 'text',
        x: 0,
        y: top + i * size.height + 22,
        text: wide ? rowNames[row] : shortNames[row],
        ink: row === 'zero' ? 'quiet' : 'ink',
      }),
    );
    const bottom = top + rows.length * size.height;
    return {
      width,
      height: bottom + 44,
      marks: [
        ...heads,
        ...names,
        ...marks,
        { mark: 'text', x: 0, y: bottom + 18, text: '% right, bold from 99 on.' },
        { mark: 'text', x: 0, y: bottom + 34, text: 'A dot per seed, 0 to 100 across each cell.' },
      ],
      regions:
        rows.length * chosen.length > 0
          ? [
              {
                x: left,
                y: top,
                width: width - left,
                height: bottom - top,
                pick: 'cells',
                rows: rows.length,
                columns: chosen.length,
              },
            ]
          : [],
    };
  },

  describe({ cells }, { seeds }) {
    const all = cells.flat();
    if (all.length === 0) return 'Choose positions and a task.';
    const missing = all.filter((cell) => thereOf(cell).length < seeds).length;
    const still =
      missing > 0 ? ` ${missing} of ${all.length} cells ${missing === 1 ? 'is' : 'are'} still to come.` : '';
    if (cells.length <= fewRows) {
      const said = cells.map((row) => {
        const name = rowNames[(row[0] as Cell).row];
        const firsts = row.map((cell) => `${cell.task} ${firstOf(cell)}`);
        return `${name}: ${row.map((cell) => `${cell.task} ${meanOf(cell)}`).join(', ')}. First at 99\u202f%: ${firsts.join(', ')}.`;
      });
      return `Right after ${steps} steps, ${seedsOf(seeds)}. ${said.join(' ')}${still}`;
    }
    const schemes = cells.filter(([first]) => first?.row !== 'zero');
    // Tasks that the same schemes learn are named together. If fewer schemes fail, those are named instead.
    const by = new Map<string, string[]>();
    (cells[0] ?? []).forEach(({ task }, j) => {
      const names = (wanted: boolean) =>
        schemes.flatMap((row) =>
          learned(row[j] as Cell) === wanted ? [shortNames[(row[j] as Cell).row]] : [],
        );
      const [those, others] = [names(true), names(false)];
      const whom =
        others.length < those.length
          ? `all ${others.length > 0 ? `but ${listed(others)}` : schemes.length}`
          : listed(those) || 'none';
      by.set(whom, [...(by.get(whom) ?? []), task]);
    });
    const said = [...by].map(([whom, tasks]) => `${listed(tasks)} by ${whom}`);
    return `After ${steps} steps, ${seedsOf(seeds)}, 99\u202f% and more are right: ${said.join('; ')}.${still}`;
  },

  cells: ({ cells }) => ({ rows: Math.max(1, cells.length), columns: Math.max(1, cells[0]?.length ?? 0) }),

  readout({ cells }, { seeds }, { i, j }) {
    const cell = cells[i]?.[j];
    if (!cell) return [];
    return [
      { text: `${rowNames[cell.row]}, ${cell.task}`, strong: true },
      `: ${meanOf(cell)} right, ${seedsOf(seeds)}; first at 99\u202f%: ${firstOf(cell)}.`,
    ];
  },

  opens({ cells }, { seed, sigma, layers }, { i, j }) {
    const cell = cells[i]?.[j];
    if (!cell) return undefined;
    const first = initialState(oneRun.controls);
    // There is no run with all scores 0 there; the run with added positions shows that floor.
    const scheme = cell.row === 'zero' || cell.row === 'cut' ? 'add' : cell.row;
    const fourth = cell.task === 'rev' ? 'rev' : 'prev';
    const cut = cell.row === 'cut' ? { when: 'during', terms: ['token-token', 'position-position'] } : {};
    return { figure: oneRun, state: { ...first, ...cut, seed, sigma, layers, scheme, fourth } };
  },

  remark: ({ cells }) =>
    cells.flat().some((cell) => thereOf(cell).some((run) => run.diverged)) ? divergedRemark : '',

  table: ({ cells }, { seed }) => ({
    columns: ['positions', 'task', 'seed', 'right answers', 'first at 99 %, step'],
    rows: cells
      .flat()
      .flatMap(({ row, task, runs }) =>
        runs.map((run, k) => [
          rowNames[row],
          task,
          seedAfter(seed, k),
          run?.accuracy ?? '',
          run?.stepsToAim ?? '',
        ]),
      ),
  }),
};

/** The mean step at which seeds reached 99 %, and how many did. */
function firstOf(cell: Cell): string {
  const there = thereOf(cell);
  if (!cell.first) return 'never';
  const few = there.length > 1 ? ` in ${cell.first.count} of ${there.length}` : '';
  return `step ${Number(cell.first.mean.toFixed(1))}${few}`;
}

/** The number of a cell, and a dot for each seed on a line from 0 to 1. */
function drawCell(cell: Cell, { x, y, width, height }: Area): Mark[] {
  const inside = { x: x + 2, y: y + 2, width: width - 4, height: height - 4 };
  const there = thereOf(cell);
  if (!cell.accuracy) return [{ mark: 'box', ...inside, stroke: 'line' }];
  const from = inside.x + 6;
  const long = inside.width - 12;
  const level = y + height - 10;
  return [
    { mark: 'box', ...inside, fill: 'field' },
    {
      mark: 'text',
      x: x + width / 2,
      y: y + 16,
      text: `${Math.round(100 * cell.accuracy.mean)}`,
      anchor: 'middle',
      ink: learned(cell) ? 'ink' : 'quiet',
      bold: learned(cell),
    },
    { mark: 'line', x1: from, x2: from + long, y1: level, y2: level },
    // Not dot marks, which are drawn on the canvas below all boxes.
    {
      mark: 'path',
      d: there.map((run) => disc(from + long * run.accuracy, level)).join(''),
      fill: learned(cell) ? 'accent' : 'second',
    },
  ];
}

const disc = (x: number, y: number) => `M${(x - 3).toFixed(2)},${y}a3,3 0 1,0 6,0a3,3 0 1,0 -6,0Z`;
