// Figure "Schemes against tasks": which way of giving a model its positions learns which task, in a table
// that opens with runs recorded beforehand, and fills in as one model after another is trained.
import { aboutPercent, counted, listed, percent } from '../plot/format.js';
import { type Area, textAt, wrapped } from '../plot/parts.js';
import type { Mark } from '../plot/scene.js';
import { figure as side } from './addOrConcatenate.js';
import { namesOf } from './addOrConcatenateRuns.js';
import { initialState } from './controls.js';
import type { Figure, Opens } from './figure.js';
import { partlyAnew, remarkOf, seedsOf } from './runs/cells.js';
import { seedAfter } from './runs/tasks.js';
import { accuracyAt } from './runs/trainingRun.js';
import { type WayIn, wayIn } from './runs/ways.js';
import {
  type Cell,
  controls,
  type Data,
  finishedOf,
  first,
  learned,
  lowerName,
  otherWaysIn,
  questionOfTask,
  type Row,
  rowName,
  rowsOf,
  type State,
  sizes,
  tasksOf,
} from './schemesTasksRuns.js';

export { compute } from './schemesTasksRuns.js';

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
  below: true,
  live: { looks: () => [], button: 'Run it here' },
  buttons: ({ schemes }) => [
    schemes.includes('project')
      ? {
          label: 'Added or concatenated',
          sets: { norm: first.norm, schemes: first.schemes, tasks: first.tasks },
        }
      : { label: 'Other ways in', sets: otherWaysIn },
  ],

  scene(data, state, width) {
    const rows = rowsOf(state.schemes);
    const columns = tasksOf(state);
    const beside = width >= 640;
    const left = beside ? 272 : 0;
    const each = (width - left) / Math.max(1, columns.length);
    const above = beside ? 0 : 20;
    const heads = columns.map((task) => wrapped(`${questionOfTask(task)}:`, each));
    const questions = Math.max(0, ...heads.map((lines) => lines.length));
    const top = line * (questions + 1) + 8;
    const pitch = above + cellHeight;
    const marks = data.cells.flatMap((cells, i) => {
      const y = top + i * pitch;
      const numbers = numbersOf(cells);
      const quiet = rows[i] === 'uniform-attention' ? 'quiet' : 'ink';
      const name = rowName(rows[i] as Row, state);
      const named: Mark[] = beside
        ? [
            textAt(0, y + 20, name, { ink: quiet }),
            textAt(0, y + 36, numbers && measured(cells), { ink: 'quiet' }),
          ]
        : [textAt(0, y + 15, name, { ink: quiet })];
      // A long name leaves no room for the numbers.
      if (!beside && 6.8 * name.length + 7.2 * numbers.length < width)
        named.push(textAt(width, y + 15, numbers, { anchor: 'end', ink: 'quiet' }));
      const drawn = cells.flatMap((cell, j) =>
        drawCell(cell, { x: left + j * each, y: y + above, width: each, height: cellHeight }),
      );
      return [...named, ...drawn];
    });
    const headings = columns.flatMap((task, j): Mark[] =>
      [...(heads[j] as string[]), task].map((text, k, { length }) => ({
        mark: 'text',
        x: left + (j + 0.5) * each,
        // The names of the tasks are on one line.
        y: 12 + line * (k + questions + 1 - length),
        text,
        anchor: 'middle',
        ink: k === length - 1 ? 'ink' : 'quiet',
        bold: k === length - 1,
      })),
    );
    const bottom = top + rows.length * pitch;
    const legend = [
      'Right at the end, bold from 99\u202f% on. ✓ the step at which 99\u202f% were right, mean of the seeds that came there; ✗ how many steps were not enough.',
      ...(beside || width < 340 ? [] : ['At the right of a name: how many numbers there are to learn.']),
      'A dot per seed, 0 to 100\u202f% across each cell.',
    ].flatMap((text) => wrapped(text, width));
    return {
      width,
      height: bottom + 8 + line * legend.length,
      marks: [
        ...headings,
        ...marks,
        ...legend.map((text, k): Mark => textAt(0, bottom + 16 + line * k, text)),
      ],
      regions:
        rows.length * columns.length > 0
          ? [
              {
                x: left,
                y: top,
                width: width - left,
                height: bottom - top,
                pick: 'cells',
                rows: rows.length,
                columns: columns.length,
              },
            ]
          : [],
    };
  },

  describe({ cells }, state) {
    const { seeds } = state;
    const all = cells.flat();
    if (all.length === 0) return 'Choose positions and a task.';
    const runs = all.flatMap(({ runs }) => runs);
    const missing = runs.length - all.flatMap(finishedOf).length;
    // Nothing is said of schemes before all runs are there.
    if (missing > 0)
      return `${missing} of ${counted(runs.length, 'run')} still to come, or to be asked for. Each cell shows the mean of those that are there.`;
    const partly = partlyAnew(runs, ', in framed cells');
    if (partly) return partly;
    if (cells.length <= fewRows) {
      const sentences = cells.map((row) => {
        const name = rowName((row[0] as Cell).row, state);
        const firsts = row.map((cell) => `${cell.task} ${firstOf(cell)}`);
        return `${name}: ${row.map((cell) => `${cell.task} ${meanOf(cell)}`).join(', ')}. First at 99\u202f%: ${firsts.join(', ')}.${loudnessIn(row)}`;
      });
      return `${conclusionOfFew(cells)}Right ${afterSteps(all)}, ${seedsOf(seeds)}, ${state.norm} LayerNorm. ${sentences.join(' ')}`;
    }
    const schemes = cells.filter(([first]) => first?.row !== 'uniform-attention');
    const known = conclusion(cells, state);
    if (known && schemes.every(([first]) => wayIn((first as Cell).row).kind))
      return `${known}Learned: 99\u202f% right, ${seedsOf(seeds)}.`;
    // Tasks that the same schemes learn are named together. If fewer schemes fail, those are named instead.
    const tasksByNames = new Map<string, string[]>();
    (cells[0] ?? []).forEach(({ task }, j) => {
      const namesOf = (isLearned: boolean) =>
        schemes.flatMap((row) =>
          learned(row[j] as Cell) === isLearned ? [lowerName((row[j] as Cell).row, state)] : [],
        );
      const [learners, others] = [namesOf(true), namesOf(false)];
      const whom =
        others.length < learners.length
          ? `all ${others.length > 0 ? `but ${listed(others)}` : schemes.length}`
          : listed(learners) || 'none';
      tasksByNames.set(whom, [...(tasksByNames.get(whom) ?? []), task]);
    });
    const sentences = [...tasksByNames].map(([whom, tasks]) => `${listed(tasks)} by ${whom}`);
    return `${known || inModels(state)}${known ? 'At' : 'at'} least 99\u202f% are right ${afterSteps(all)}, ${seedsOf(seeds)}: ${sentences.join('; ')}.`;
  },

  cells: ({ cells }) => ({ rows: Math.max(1, cells.length), columns: Math.max(1, cells[0]?.length ?? 0) }),

  readout({ cells }, state, { i, j }) {
    const cell = cells[i]?.[j];
    if (!cell) return [];
    const numbers = numbersOf([cell]);
    const size = numbers && `, ${numbers} numbers to learn`;
    return [
      { text: `${rowName(cell.row, state)}, ${cell.task}`, strong: true },
      `: ${meanOf(cell)} right ${afterSteps([cell])}, ${seedsOf(finishedOf(cell).length)}${isAnew(cell) ? ', run here' : ''}; first at 99\u202f%: ${firstOf(cell)}${size}.${loudnessIn([cell])}`,
    ];
  },

  opens({ cells }, state, { i, j }) {
    const cell = cells[i]?.[j];
    if (!cell) return undefined;
    return sideBySideOf(cell, state);
  },

  remark: ({ cells, faults }) => remarkOf(faults, cells.flat().flatMap(finishedOf)),

  table: ({ cells }, state) => ({
    columns: [
      'positions',
      'task',
      'numbers to learn',
      'seed',
      'step',
      'right answers',
      'first at 99 %, step',
    ],
    rows: cells
      .flat()
      .flatMap(({ row, task, runs, step }) =>
        runs.map((run, k) => [
          rowName(row, state),
          task,
          run?.numbers ?? '',
          seedAfter(state.seed, k),
          run ? step : '',
          run ? accuracyAt(run, step) : '',
          run?.stepsToAim ?? '',
        ]),
      ),
  }),
};

/**
 * In words, the ratio of row lengths before and after training or, if it was not measured, the number of
 * parameters.
 */
function measured(cells: readonly Cell[]): string {
  const ends = [0, 1].map((end) =>
    between(
      cells.flatMap(({ loudness }) => loudness[end]?.mean ?? []),
      tenths,
    ),
  );
  if (ends[0]) return `positions/tokens ${ends.join(' → ')}`;
  return `${numbersOf(cells)} numbers to learn`;
}

/** Which tasks a few rows learn, or which tell the rows apart. */
function conclusionOfFew(cells: readonly Cell[][]): string {
  const tasks = (cells[0] ?? []).map(({ task }, j) => {
    const count = cells.filter((row) => learned(row[j] as Cell)).length;
    return { task, all: count === cells.length, none: count === 0 };
  });
  const listOf = (isIn: (task: (typeof tasks)[number]) => boolean) =>
    listed(tasks.filter(isIn).map(({ task }) => task));
  const different = listOf(({ all, none }) => !all && !none);
  if (different) return `These ${counts[cells.length]} differ in ${different}. `;
  const learnedByAll = listOf(({ all }) => all);
  return learnedByAll
    ? `Learned to 99\u202f%: ${learnedByAll}. `
    : `Not learned to 99\u202f%: ${listOf(() => true)}. `;
}

const counts = ['no', 'one', 'two', 'three', 'four', 'five'];
const depths = { one: 'one layer', two: 'two layers', causal: 'two causal layers' } as const;
const inWords = (step: number) => step.toLocaleString('en');

/** The settings that a button may have changed, in words. */
const inModels = ({ layers, norm }: State) => `In ${depths[layers]} ${norm} LayerNorm, `;

/** How many steps these runs have taken, in words. */
const afterSteps = (cells: readonly Cell[]): string =>
  `after ${between(
    cells.map(({ step }) => step),
    inWords,
  )} steps`;

/** What the rows show of adding, concatenating and separate scores; empty where they show nothing of it. */
function conclusion(cells: readonly Cell[][], state: State): string {
  const rowsAmong = (kind: WayIn['kind']) =>
    cells.filter(([first]) => first && wayIn(first.row).kind === kind);
  const [added, concatenated, separate] = (['added', 'concatenated', 'separate'] as const).map(rowsAmong) as [
    ...[Cell[][], Cell[][], Cell[][]],
  ];
  const all = (rows: readonly Cell[][]) => rows.length > 0 && rows.flat().every(learned);
  if (!all(added) || !all(concatenated)) return '';
  const tasks = (cells[0] as Cell[]).map(({ task }) => task);
  const bothLearn = `${inModels(state)}adding and concatenating both learn ${
    tasks.length > 2 ? `all ${counts[tasks.length]} tasks` : listed(tasks)
  }. `;
  if (separate.length === 0) return bothLearn;
  const lost = separate.flat().filter((cell) => !learned(cell));
  if (lost.length === 0) return `${bothLearn}So do models with separate scores for token and position. `;
  // Rows that fail at the same tasks are named together.
  const namesByTasks = new Map<string, string[]>();
  for (const row of separate) {
    const tasks = listed(row.filter((cell) => !learned(cell)).map(({ task }) => task));
    if (tasks)
      namesByTasks.set(tasks, [...(namesByTasks.get(tasks) ?? []), lowerName((row[0] as Cell).row, state)]);
  }
  const within = `within ${inWords(Math.min(...lost.map(({ step }) => step)))} steps`;
  // The sentence names the number of tokens, because with four of them one such model comes near.
  const long = `With ${sizes[state.size].n} tokens, `;
  const [[same]] = [...namesByTasks] as [[string, string[]]];
  return namesByTasks.size === 1 && namesByTasks.get(same)?.length === separate.length
    ? `${bothLearn}${long}models with separate scores for token and position did not learn ${same} ${within}. `
    : `${bothLearn}${long}of the models with separate scores for token and position, these were not learned ${within}: ${[...namesByTasks].map(([tasks, names]) => `${tasks} by ${listed(names)}`).join('; ')}. `;
}

/**
 * A link to the figure that trains this model side by side with others; undefined unless it is a small model
 * of one layer in a row and a task that the figure has.
 */
function sideBySideOf({ row, task }: Cell, { size, seed, sigma, layers, norm }: State): Opens | undefined {
  const separate = norm === 'without' ? 'yes' : 'no';
  const isTrainedThere = namesOf({ separate }).some((name) => name === row);
  if (!isTrainedThere || task === 'where' || size !== 'small' || layers !== 'one') return undefined;
  const first = initialState(side.controls);
  const form = Object.hasOwn(side.controls.form.options, row) ? row : first.form;
  return { figure: side, state: { ...first, task, separate, form, seed, sigma } };
}

/**
 * How many numbers the models learn: a range, because this differs with a task's tokens and answers; empty
 * before any is trained.
 */
function numbersOf(cells: readonly Cell[]): string {
  const numbers = cells.flatMap((cell) => finishedOf(cell).map((run) => run.numbers));
  return between(numbers, (number) => number.toLocaleString('en'));
}

/** The least and the largest value, or a single number if both are printed alike. */
function between(values: readonly number[], print: (value: number) => string): string {
  if (values.length === 0) return '';
  return [...new Set([Math.min(...values), Math.max(...values)].map(print))].join('–');
}

const tenths = (ratio: number): string => ratio.toFixed(1);
const hundredths = (ratio: number): string => ratio.toFixed(2);

/** The length of position rows over that of token rows before and after training, task by task. */
function loudnessIn(cells: readonly Cell[]): string {
  const lengths = cells.flatMap(({ task, loudness: [before, after] }) => {
    if (!before || !after) return [];
    const spread = after.count > 1 ? ` ± ${hundredths(after.standardDeviation)}` : '';
    return [`${task} ${hundredths(before.mean)} → ${hundredths(after.mean)}${spread}`];
  });
  return lengths.length > 0 ? ` Length of positions over tokens: ${lengths.join(', ')}.` : '';
}

/** The mean step at which seeds reached 99 %, and how many did. */
function firstOf(cell: Cell): string {
  const count = finishedOf(cell).length;
  if (!cell.first) return `not in ${inWords(cell.step)} steps`;
  const seeds = count > 1 ? ` in ${cell.first.count} of ${count}` : '';
  const { mean, least, largest } = cell.first;
  // From step 400 on, accuracy is measured so rarely that rounding to these steps would move a mean of five.
  return `step ${mean < 400 ? Number(mean.toFixed(1)) : between([least, largest], inWords)}${seeds}`;
}

/** Whether some of the cell's runs were done anew because the reader asked for that. */
const isAnew = (cell: Cell) => finishedOf(cell).some(({ anew }) => anew);

const line = 16;
const cellHeight = 48;

/** A cell: its accuracy, the steps to 99 %, and a dot for each seed on a line from 0 to 1. */
function drawCell(cell: Cell, { x, y, width, height }: Area): Mark[] {
  const inside = { x: x + 2, y: y + 2, width: width - 4, height: height - 4 };
  const runs = finishedOf(cell);
  if (!cell.accuracy) return [{ mark: 'box', ...inside, stroke: 'line' }];
  const from = inside.x + 6;
  const long = inside.width - 12;
  const level = y + height - 9;
  const text = { mark: 'text', x: x + width / 2, anchor: 'middle' } as const;
  const marks: Mark[] = [
    { mark: 'box', ...inside, fill: 'field', ...(isAnew(cell) && { stroke: 'accent' }) },
    {
      ...text,
      y: y + 16,
      text: aboutPercent(cell.accuracy.mean),
      ink: learned(cell) ? 'ink' : 'quiet',
      bold: learned(cell),
    },
    { mark: 'line', x1: from, x2: from + long, y1: level, y2: level },
    // Not dot marks, which are drawn on the canvas below all boxes.
    {
      mark: 'path',
      d: runs.map((run) => disc(from + long * accuracyAt(run, cell.step), level)).join(''),
      fill: learned(cell) ? 'accent' : 'quiet',
    },
  ];
  const reached = cell.first && 2 * cell.first.count > runs.length ? cell.first : undefined;
  const label = reached ? `✓ ${inWords(Math.round(reached.mean))}` : `✗ ${inWords(cell.step)}`;
  if (reached || !learned(cell)) marks.push({ ...text, y: y + 29, text: label, ink: 'quiet' });
  return marks;
}

const disc = (x: number, y: number) => `M${(x - 3).toFixed(2)},${y}a3,3 0 1,0 6,0a3,3 0 1,0 -6,0Z`;
