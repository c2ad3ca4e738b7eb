// The picture of figure "Added or concatenated?": the models side by side, or one below the other, and their curves.
import { aboutPercent } from '../plot/format.js';
import { textAt, wrapped } from '../plot/parts.js';
import type { Mark, Region, Scene } from '../plot/scene.js';
import {
  answersOf,
  arcsOf,
  chartOf,
  inkOf,
  middleOf,
  type Page,
  type Row,
  tokensOf,
} from './addOrConcatenateParts.js';
import {
  lookAt,
  numbersOf,
  rightAt,
  type State,
  shownNames,
  stepAt,
  type Task,
  taskOf,
  titles,
  widths,
} from './addOrConcatenateRuns.js';
import { type Data, firstAsking, modelOf, type ShownName, type TaskName } from './smallModels.js';

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

/** The question is set in 15 pixels. */
const questionLetter = 8.6;
const gap = 28;
/** For the names of rows, left of the tokens. */
const margin = 58;
/** Of a panel, and within it: where the tokens begin and where the answers do. */
const tall = 190;
const rowAt = 92;
const answersAt = rowAt + 46;
const chartHeight = 140;

/** Where each model's panel is: as many beside each other as have room. */
function arrange(page: Page, width: number) {
  const { data, state, task } = page;
  const question = wrapped(`${questions[state.task]} ${exampleOf(data, task)}`, width, questionLetter);
  const top = 20 * question.length + 28;
  const count = shownNames(state).length;
  const beside = width >= count * 222 + (count - 1) * gap;
  const wide = beside ? (width - (count - 1) * gap) / count : width;
  const rows = shownNames(state).map((_, k): Row => {
    const x = beside ? k * (wide + gap) : 0;
    const y = top + (beside ? 0 : k * tall) + rowAt;
    return { x: x + margin, y, cell: (wide - margin) / data.tokens.length, rise: 46, height: 90 };
  });
  const chart = top + (beside ? 1 : count) * tall + 6;
  return { question, rows, wide, chart, height: chart + chartHeight + (width < 560 ? 18 * count + 26 : 0) };
}

/** Where each model's row of tokens is. */
export const rowsOf = (data: Data, state: State, width: number): Row[] =>
  arrange({ data, state, task: taskOf(state) }, width).rows;

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

function panelOf(page: Page, name: ShownName, row: Row, wide: number): Mark[] {
  const { data, state, task } = page;
  const x = row.x - margin;
  const y = row.y - rowAt;
  const { looking, lacking } = arcsOf(data, name, lookAt(data, state), row, () => true, task);
  const label = (below: number, text: string): Mark => textAt(x, row.y + below, text);
  return [
    textAt(x, y + 14, titles[name], { ink: inkOf[name], size: 14, bold: true }),
    textAt(x + wide, y + 32, aboutPercent(rightAt(data, name, stepAt(state))), {
      anchor: 'end',
      ink: inkOf[name],
      size: 15,
      bold: true,
    }),
    textAt(x, y + 32, `${widths[name].split(' =')[0]}, ${numbersOf(modelOf(data, name), false)}`),
    { mark: 'path', d: lacking, stroke: 'quiet', wide: 1.3, dashed: true, opacity: 0.8 },
    { mark: 'path', d: looking, stroke: 'ink', wide: 1.4, opacity: 0.75 },
    label(18, 'token'),
    label(40, 'position'),
    label(answersAt - rowAt + 18, 'answer'),
    ...tokensOf(page, row, row.y),
    ...answersOf(page, name, row, y + answersAt),
  ];
}

/** The picture, and where what can be pointed at is. */
export function picture(data: Data, state: State, width: number): Scene {
  const page: Page = { data, state, task: taskOf(state) };
  const { question, rows, wide, chart, height } = arrange(page, width);
  const curves = chartOf(page, { x: 0, y: chart, width, height: chartHeight });
  const lacks = shownNames(state).some(
    (name, k) =>
      arcsOf(data, name, lookAt(data, state), rows[k] as Row, () => true, page.task).lacking !== '',
  );
  return {
    width,
    height,
    marks: [
      ...question.map((text, k) => textAt(0, 15 + 20 * k, text, { ink: 'ink', size: 15, bold: true })),
      textAt(0, 15 + 20 * question.length, `Arcs: where it looks${lacks ? '; dashed: should' : ''}.`, {
        size: 13,
      }),
      ...shownNames(state).flatMap((name, k) => panelOf(page, name, rows[k] as Row, wide)),
      ...curves.marks,
    ],
    regions: rows.map((row, i) => regionOf(data, rows, row, i)),
    handles: [curves.handle],
  };
}
