// The picture of figure "Added or concatenated?": the models side by side, or one below the other, and their
// curves.
import { aboutPercent } from '../plot/format.js';
import { type Area, boxAt, hatching, horizontal, namedLines, plane, textAt, wrapped } from '../plot/parts.js';
import { latest } from '../plot/plainCopy.js';
import type { Handle, Ink, Mark, Region, Scene } from '../plot/scene.js';
import {
  type Data,
  firstQuestion,
  headsFrom,
  isAnswerRight,
  lastStep,
  lookAt,
  modelOf,
  numbersOf,
  placesWithQuestions,
  rightAt,
  type ShownName,
  type State,
  seeds,
  shortNameOf,
  shownNames,
  shownOf,
  stepAt,
  stepsOf,
  type Task,
  type TaskName,
  taskOf,
  titles,
  widths,
  withoutAttention,
} from './addOrConcatenateRuns.js';
import { steps } from './runs/tasks.js';

export interface Page {
  data: Data;
  state: State;
  task: Task;
}

/** Adding is black and concatenating rust, here as everywhere. */
export const inkOf: Record<ShownName, Ink> = {
  add: 'ink',
  'concat-half': 'concatenated',
  'concat-quarter': 'concatenated',
  'concat-wide': 'concatenated',
  'concat-wide-without-cross-terms': 'second',
};

/** The place of a model's row of tokens, in pixels; its arcs end at `y`. */
export interface Row {
  x: number;
  y: number;
  cell: number;
  /** How far the highest arc rises above `y`. */
  rise: number;
  /** How far below `y` the row can be pointed at. */
  height: number;
}

export const middleOf = ({ x, cell }: Row, place: number) => x + (place + 0.5) * cell;
const round = (value: number) => String(Math.round(10 * value) / 10);

/**
 * Two paths: arcs of the attention that is strong enough to be drawn and, for each wrong answer, an arc to
 * the place that the model should have looked at but did not. `of` chooses the places where arcs begin;
 * without `task` no look counts as lacking.
 */
export function arcsOf(
  data: Data,
  name: ShownName,
  look: number,
  row: Row,
  of: (from: number) => boolean,
  task?: Task,
): { looking: string; lacking: string } {
  const n = data.tokens.length;
  let [looking, lacking] = ['', ''];
  const unseenAnswer = (from: number) =>
    task && !isAnswerRight(data, name, look, from) ? task.looksAt(data.tokens, from) : undefined;
  const arc = (from: number, to: number) => {
    const [a, b] = [middleOf(row, from), middleOf(row, to)];
    const high = row.rise * (0.35 + (0.65 * Math.abs(to - from)) / n) * (4 / 3);
    // A token that looks at itself has a loop.
    const [left, right] = from === to ? [a - 0.45 * row.cell, b + 0.45 * row.cell] : [a, b];
    return `M${round(a)},${round(row.y)}C${round(left)},${round(row.y - high)} ${round(right)},${round(row.y - high)} ${round(b)},${round(row.y)}M${round(b - 3)},${round(row.y - 6)}L${round(b)},${round(row.y - 1)}L${round(b + 3)},${round(row.y - 6)}`;
  };
  for (const from of placesWithQuestions(data)) {
    if (!of(from)) continue;
    for (let to = 0; to < n; to++) {
      const seen = headsFrom(data, name, look, from, to).length > 0;
      if (seen) looking += arc(from, to);
      else if (unseenAnswer(from) === to) lacking += arc(from, to);
    }
  }
  return { looking, lacking };
}

/** The row's tokens and their positions. */
export function tokensOf({ data, task }: Page, row: Row, y: number): Mark[] {
  return data.tokens.flatMap((id, place): Mark[] => [
    { mark: 'box', x: row.x + place * row.cell + 1, y, width: row.cell - 2, height: 26, fill: 'field' },
    textAt(middleOf(row, place), y + 18, task.token(id, data.tokens.length), {
      anchor: 'middle',
      ink: 'ink',
      size: 15,
    }),
    textAt(middleOf(row, place), y + 40, String(place), { anchor: 'middle', ink: 'position-position' }),
  ]);
}

/** The model's answers, each marked right or wrong. */
export function answersOf({ data, state, task }: Page, name: ShownName, row: Row, y: number): Mark[] {
  const look = lookAt(data, state);
  const high = 26;
  let hatched = '';
  const marks = data.tokens.flatMap((_, place): Mark[] => {
    const x = row.x + place * row.cell + 1;
    const width = row.cell - 2;
    if ((data.targets[place] as number) < 0) return [];
    const right = isAnswerRight(data, name, look, place);
    if (!right) hatched += hatching({ x, y, width, height: high });
    const sign = right ? '✓' : '✗';
    const answer = task.answer(shownOf(data, name).answers[look]?.[place] as number);
    const middle = middleOf(row, place);
    return [
      boxAt([x, y, width, high], { fill: right ? 'field' : 'paper', stroke: right ? 'line' : 'quiet' }),
      textAt(middle, y + 18, answer, { anchor: 'middle', ink: 'ink', size: 15, bold: right }),
      textAt(middle, y + 41, sign, { anchor: 'middle', ink: 'ink' }),
    ];
  });
  // The sign and the outline say which answers are wrong; the hatching only makes them easier to find.
  return [...marks, { mark: 'path', d: hatched, stroke: 'quiet', wide: 1, opacity: 0.3 }];
}

/**
 * Accuracy over the steps, all models on one axis: a curve for each seed and their mean, both up to the step
 * that is shown, and a line at the accuracy without attention. Models with separate scores also have their
 * whole curve with LayerNorm.
 */
export function chartOf({ data, state }: Page, area: Area): { marks: Mark[]; handle: Handle } {
  const names = shownNames(state);
  const last = stepsOf(state);
  const norm = data.separate?.norm.filter(({ step }) => step <= last) ?? [];
  const known = [
    ...names.map((name) => ({
      label: shortNameOf(name),
      ink: inkOf[name],
      end: latest(modelOf(data, name).mean),
    })),
    ...(norm.length > 0
      ? [
          {
            label: 'separate, LayerNorm',
            ink: inkOf['concat-wide-without-cross-terms'],
            dashed: true,
            end: latest(norm).right * data.questions,
          },
        ]
      : []),
  ];
  const named = namedLines(area, known);
  const drawn = plane(
    named.area,
    { from: 0, to: last, label: `training steps, ${seeds} runs each`, nice: false, ticks: 5 },
    {
      from: 0,
      to: 1,
      label: 'right answers',
      nice: false,
      ticks: 2,
      print: (part) => `${100 * part}\u202f%`,
    },
  );
  const { x, y, inner } = drawn;
  const end = Math.min(Math.max(0, stepAt(state)), lastStep(data));
  const at = (step: number, part: number) => `${round(x(step))},${round(y(part))}`;
  const line = (counts: readonly number[]) => {
    const { stride, questions } = data;
    const passed = Math.floor(end / stride);
    const part = (k: number) => (counts[k] as number) / questions;
    const points = counts.slice(0, passed + 1).map((_, k) => at(k * stride, part(k)));
    if (counts.length > passed + 1 && end > passed * stride) {
      const between = (part(passed + 1) - part(passed)) * (end / stride - passed);
      points.push(at(end, part(passed) + between));
    }
    return `M${points.join('L')}`;
  };
  const floor = withoutAttention(data);
  const lines = names.flatMap((name): Mark[] => {
    const { right, mean } = modelOf(data, name);
    const stroke = inkOf[name];
    return [
      { mark: 'path', d: right.map(line).join(''), stroke, wide: 1, opacity: 0.35 },
      { mark: 'path', d: line(mean), stroke, wide: 2.5 },
    ];
  });
  if (norm.length > 0) {
    const d = `M${norm.map(({ step, right }) => at(step, right)).join('L')}`;
    lines.push({ mark: 'path', d, stroke: inkOf['concat-wide-without-cross-terms'], wide: 2, dashed: true });
  }
  const marks: Mark[] = [
    ...drawn.marks,
    horizontal(drawn, y(floor), { ink: 'quiet', dashed: true }),
    textAt(inner.x + inner.width - 4, y(floor) + 15, `looking everywhere equally: ${aboutPercent(floor)}`, {
      anchor: 'end',
    }),
    ...lines,
    ...named.names(
      drawn,
      known.map((line) => y(line.end / data.questions)),
    ),
  ];
  // Marks the step that is shown; dragging it shows another.
  const handle: Handle = {
    x: x(end),
    y: y(rightAt(data, 'add', end)),
    setting: 'step',
    at: (left) => ((left - inner.x) / inner.width) * steps,
  };
  return { marks, handle };
}

const questions: Record<TaskName, string> = {
  lookup: 'Each digit names a position: answer with the digit that stands there.',
  roll: 'Position 0 asks for letter A, position 1 for B, and so on: answer with its sign.',
  badge: 'A letter with a question mark asks for the sign that this letter wears.',
  prev: 'Each position asks for the digit one position before it.',
};
/** The example in words: who asks, where the answer stands, and the answer. */
function exampleOf(data: Data, task: Task): string {
  const place = firstQuestion(data.targets);
  const { tokens } = data;
  const token = (at: number) => task.token(tokens[at] as number, tokens.length);
  const at = task.looksAt(tokens, place);
  const answer = task.answer(data.targets[place] as number);
  const asker = task.term.startsWith('token') ? token(place) : `position ${place}`;
  const answerer = task.term.endsWith('token') ? token(at) : `position ${at}`;
  // Non-breaking spaces keep it on one line.
  return `${asker} → ${answerer} → ${answer}`.replaceAll(' ', '\u00a0');
}

/** The width of a letter of the question, which is set at 15 pixels. */
const questionLetter = 8.6;
const gap = 28;
/** The space for the names of rows, left of the tokens, in pixels. */
const margin = 58;
/** The height of a panel and, within it, the tops of its tokens and of its answers, in pixels. */
const tall = 190;
const rowAt = 92;
const answersAt = rowAt + 46;
const chartHeight = (width: number) => (width < 640 ? 140 : 290);

/** The place of each model's panel; as many stand side by side as fit. */
function arrange(page: Page, width: number) {
  const { data, state, task } = page;
  const question = wrapped(`${questions[state.task]} ${exampleOf(data, task)}`, width, questionLetter);
  const top = 20 * question.length + 28;
  const count = shownNames(state).length;
  const letters = Math.max(...data.tokens.map((id) => task.token(id, data.tokens.length).length));
  const least = Math.max(222, margin + data.tokens.length * 12 * letters);
  const columns = Math.min(count, Math.max(1, Math.floor((width + gap) / (least + gap))));
  const wide = (width - (columns - 1) * gap) / columns;
  const rows = shownNames(state).map((_, k): Row => {
    const x = (k % columns) * (wide + gap);
    const y = top + Math.floor(k / columns) * tall + rowAt;
    return { x: x + margin, y, cell: (wide - margin) / data.tokens.length, rise: 46, height: 90 };
  });
  const chart = top + Math.ceil(count / columns) * tall + 6;
  return {
    question,
    rows,
    wide,
    chart,
    height: chart + chartHeight(width) + (width < 560 ? 18 * count + 26 : 0),
  };
}

/** The place of each model's row of tokens. */
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
    textAt(x, y + 14, titles[name], { ink: inkOf[name], size: 15, bold: true }),
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

/** The picture, with the regions that can be pointed at. */
export function picture(data: Data, state: State, width: number): Scene {
  const page: Page = { data, state, task: taskOf(state) };
  const { question, rows, wide, chart, height } = arrange(page, width);
  const curves = chartOf(page, { x: 0, y: chart, width, height: chartHeight(width) });
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
