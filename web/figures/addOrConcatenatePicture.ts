// The picture of figure "Added or concatenated?": the models side by side, or one below the other.
import { aboutPercent } from '../plot/format.js';
import { largestMagnitude, textAt, wrapped } from '../plot/parts.js';
import type { Mark, Region, Scene } from '../plot/scene.js';
import {
  answersOf,
  arcsOf,
  chartOf,
  middleOf,
  type Page,
  type Row,
  tokensOf,
  vectorOf,
} from './addOrConcatenateParts.js';
import {
  lookAt,
  numbersOf,
  rightAt,
  type State,
  shownNames,
  shownOf,
  stepAt,
  type Task,
  taskOf,
  titles,
  widths,
  withoutAttention,
} from './addOrConcatenateRuns.js';
import {
  type Data,
  firstAsking,
  modelOf,
  type ShownName,
  seeds,
  stepsOf,
  type TaskName,
} from './smallModels.js';
import { aim } from './tasks.js';

const questions: Record<TaskName, string> = {
  lookup: 'Each digit names a position: answer with the digit that stands there.',
  roll: 'Position 0 asks for letter A, position 1 for B, and so on: answer with its sign.',
  badge: 'A letter with a question mark asks for the sign that this letter wears.',
  prev: 'Each position asks for the digit one position before it.',
};
/** The example in words: who asks, what is there, what is right. */
function exampleOf(data: Data, task: Task): string {
  const place = firstAsking(data.targets);
  const { tokens } = data;
  const token = (at: number) => task.token(tokens[at] as number, tokens.length);
  const at = task.looksAt(tokens, place);
  const answer = task.answer(data.targets[place] as number);
  const asker = task.term.startsWith('token') ? token(place) : `position ${place}`;
  const found = task.term.endsWith('token') ? token(at) : `position ${at}`;
  // On one line.
  return `${asker} → ${found} → ${answer}`.replaceAll(' ', '\u00a0');
}

/** The picture, and where what can be pointed at is. */
export function picture(data: Data, state: State, width: number): Scene {
  const page: Page = { data, state, task: taskOf(state), limit: limitOf(data, state) };
  return width >= sideBySide ? inColumns(page, width) : inRows(page, width);
}

/** Where each model's row of tokens is. */
export const rowsOf = (data: Data, state: State, width: number): Row[] =>
  arrange({ data, state, task: taskOf(state) }, width).rows;

/** From this width on the models stand side by side. */
const sideBySide = 1000;
function limitOf(data: Data, state: State): number {
  const sums = (token: number[], position: number[]) => token.map((value, c) => value + (position[c] ?? 0));
  return largestMagnitude(
    shownNames(state).flatMap((name) => {
      const { token, position } = shownOf(data, name);
      const both = [...token, ...position];
      return name === 'add' ? [...both, ...token.map((of, look) => sums(of, position[look] ?? []))] : both;
    }),
  );
}
/** The tops of what stands in a column, from the top of the picture. */
const tops = {
  test: 46,
  title: 64,
  width: 82,
  vector: 94,
  row: 216,
  answers: 262,
  chart: 322,
  foot: 412,
};
const vectorHeight = 46;
const chartHeight = 72;
const margin = 60;
const between = 36;

/** Where the rows of tokens are in either arrangement. */
function arrange(
  { data, state, task }: Omit<Page, 'limit'>,
  width: number,
): { rows: Row[]; top: number; block: number; height: number } {
  const n = data.tokens.length;
  const shown = shownNames(state);
  if (width >= sideBySide) {
    const column = (width - margin - (shown.length - 1) * between) / shown.length;
    const rows = shown.map((_, k) => ({
      x: margin + k * (column + between),
      y: tops.row,
      cell: column / n,
      rise: 50,
      height: 84,
    }));
    return { rows, top: tops.row, block: column, height: tops.foot + 8 };
  }
  const lines = wrapped(`${questions[state.task]} ${exampleOf(data, task)}`, width, questionLetter).length;
  const top = 20 * lines + 6;
  const beside = width >= 600;
  const block = beside ? 104 : 134;
  const wide = beside ? Math.min(34 * n, 0.52 * width) : width;
  const rows = shown.map((_, k) => ({
    x: width - wide,
    y: top + 52 + k * block + (beside ? 52 : 100),
    cell: wide / n,
    rise: beside ? 40 : 31,
    height: 26,
  }));
  return { rows, top, block, height: top + 52 + shown.length * block + (data.separate ? 32 : 16) };
}

const regionOf = (data: Data, rows: readonly Row[], row: Row, i: number): Region => ({
  x: row.x,
  y: row.y - row.rise,
  width: data.tokens.length * row.cell,
  height: row.rise + row.height,
  rows: rows.length,
  columns: data.tokens.length,
  pick: {
    points: {
      x: data.tokens.map((_, place) => middleOf(row, place)),
      y: data.tokens.map(() => row.y + row.height / 2),
      cursors: data.tokens.map((_, j) => ({ i, j })),
      boxes: data.tokens.map(() => ({ width: row.cell, height: row.height + 2 })),
    },
  },
});

function arcMarks({ data, state, task }: Page, name: ShownName, row: Row): Mark[] {
  const { looking, lacking } = arcsOf(data, name, lookAt(data, state), row, () => true, task);
  return [
    { mark: 'path', d: lacking, stroke: 'warning', wide: 1.3, dashed: true, opacity: 0.8 },
    { mark: 'path', d: looking, stroke: 'ink', wide: 1.4, opacity: 0.75 },
  ];
}

/** Whether a look that the task needs is drawn as missing. */
const lacks = ({ data, state, task }: Page, name: ShownName, row: Row): boolean =>
  arcsOf(data, name, lookAt(data, state), row, () => true, task).lacking !== '';

const percentAt = ({ data, state }: Page, name: ShownName): string =>
  `${aboutPercent(rightAt(data, name, stepAt(state)))} right`;
const inkAt = ({ data, state }: Page, name: ShownName) =>
  rightAt(data, name, stepAt(state)) >= aim ? ('ink' as const) : ('warning' as const);

function inColumns(page: Page, width: number) {
  const { data, state, task } = page;
  const { rows, block, height } = arrange(page, width);
  const question = questions[state.task];
  const marks: Mark[] = [
    textAt(0, 17, question, { ink: 'ink', size: 16, bold: true }),
    textAt(width, 17, exampleOf(data, task), { anchor: 'end', size: 15 }),
  ];
  const label = (y: number, text: string): Mark => textAt(0, y, text);
  marks.push(
    label(tops.row + 18, 'token'),
    label(tops.row + 40, 'position'),
    label(tops.answers + 18, 'answer'),
    label(tops.chart + 4, '100\u202f%'),
  );
  shownNames(state).forEach((name, k) => {
    const row = rows[k] as Row;
    const { x } = row;
    const wall = x - between / 2;
    marks.push(
      ...(name === 'apart'
        ? [{ mark: 'line', x1: wall, x2: wall, y1: 34, y2: height - 4, ink: 'quiet', dashed: true } as const]
        : []),
      textAt(x, tops.title, titles[name], { ink: 'ink', size: 13, bold: true }),
      textAt(x, tops.width, `${widths[name]} · ${numbersOf(modelOf(data, name))}`),
      ...vectorOf(page, name, { x, y: tops.vector, width: block, height: vectorHeight }, true),
      ...arcMarks(page, name, row),
      ...(lacks(page, name, row)
        ? [
            textAt(x + block, tops.test, 'dashed: where it should look but does not', {
              anchor: 'end',
              ink: 'warning',
            }),
          ]
        : []),
      ...tokensOf(page, row, tops.row),
      ...answersOf(page, name, row, tops.answers, true),
      ...chartOf(page, name, { x, y: tops.chart, width: block, height: chartHeight }, true),
      textAt(x, tops.foot, lengthOf(state)),
      textAt(x + block, tops.foot + 2, percentAt(page, name), {
        anchor: 'end',
        ink: inkAt(page, name),
        size: 18,
        bold: true,
      }),
    );
  });
  return { width, height, marks, regions: rows.map((row, i) => regionOf(data, rows, row, i)) };
}

const lengthOf = (state: State) => `0 to ${stepsOf(state).toLocaleString('en')} steps, ${seeds} seeds`;

/** The question is set in 15 pixels. */
const questionLetter = 8.6;

function inRows(page: Page, width: number) {
  const { data, state, task } = page;
  const { rows, top, block, height } = arrange(page, width);
  const beside = width >= 600;
  const left = beside ? (rows[0] as Row).x - 24 : width;
  const wordy = left >= 330;
  const marks: Mark[] = wrapped(
    `${questions[state.task]} ${exampleOf(data, task)}`,
    width,
    questionLetter,
  ).map((text, k): Mark => textAt(0, 15 + 20 * k, text, { ink: 'ink', size: 15, bold: true }));
  marks.push(...tokensOf(page, rows[0] as Row, top));
  shownNames(state).forEach((name, k) => {
    const row = rows[k] as Row;
    const y = top + 52 + k * block;
    const vector = Math.min(0.52 * left, 230);
    marks.push(
      ...(k > 0
        ? [
            {
              mark: 'line',
              x1: 0,
              x2: width,
              y1: y,
              y2: y,
              ink: name === 'apart' ? 'quiet' : 'line',
              dashed: name === 'apart',
            } as const,
          ]
        : []),
      textAt(0, y + 18, titles[name], { ink: 'ink', size: 13, bold: true }),
      textAt(0, y + 35, `${widths[name]} · ${numbersOf(modelOf(data, name), wordy)}`),
      textAt(left, y + 35, aboutPercent(rightAt(data, name, stepAt(state))), {
        anchor: 'end',
        ink: inkAt(page, name),
        size: 15,
        bold: true,
      }),
      ...vectorOf(page, name, { x: 0, y: y + 44, width: vector, height: 26 }, false),
      ...chartOf(page, name, { x: vector + 16, y: y + 44, width: left - vector - 16, height: 26 }, false),
      ...arcMarks(page, name, row),
      ...answersOf(page, name, row, row.y, false),
    );
  });
  const orange = wordy && shownNames(state).some((name, k) => lacks(page, name, rows[k] as Row));
  const of = width < 450 ? '' : `${lengthOf(state)}. `;
  const text = `${of}Dashed: without attention ${aboutPercent(withoutAttention(data))}${orange ? '; orange: should look' : ''}.`;
  if (data.separate)
    marks.push(textAt(0, height - 19, 'Violet: the same models with LayerNorm.', { ink: 'second' }));
  marks.push(textAt(0, height - 3, text));
  return { width, height, marks, regions: rows.map((row, i) => regionOf(data, rows, row, i)) };
}
