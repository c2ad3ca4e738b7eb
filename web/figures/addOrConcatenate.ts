// Figure "Added or concatenated?": small models learn one task side by side, with positions added, concatenated,
// and concatenated but kept from meeting the tokens. It opens with runs recorded beforehand.
import { aboutPercent } from '../plot/format.js';
import { type Area, largestMagnitude, textAt } from '../plot/parts.js';
import type { Cursor, Mark, Region } from '../plot/scene.js';
import { wrapped } from '../plot/wrapped.js';
import type { Controls, StateOf } from './controls.js';
import type { Figure, ReadoutPiece } from './figure.js';
import { listed } from './lists.js';
import {
  type Data,
  d_model,
  drawn,
  firstAsking,
  looks,
  type Model,
  type ModelName,
  names,
  type ShownName,
  type ShownRow,
  seeds,
  stride,
  type TaskName,
  trainedControls,
} from './smallModels.js';
import {
  aim,
  divergedRemark,
  fourTasks,
  type SmallTask,
  seedAfter,
  steps,
  type TaskTexts,
  taskTexts,
} from './tasks.js';

const questions: Record<TaskName, string> = {
  lookup: 'Each digit names a position: answer with the digit that stands there.',
  roll: 'Position 0 asks for letter A, position 1 for B, and so on: answer with its sign.',
  badge: 'A letter with a question mark asks for the sign that this letter wears.',
  prev: 'Each position asks for the digit one position before it.',
};

const controls = {
  step: {
    kind: 'steps',
    label: 'Step',
    values: looks,
    initial: steps,
  },
  form: {
    kind: 'choice',
    label: 'Concatenated',
    options: { 'concat-wide': 'widened, 16 + 16', concat: 'divided, 8 + 8' },
    initial: 'concat-wide',
    radio: true,
  },
  ...trainedControls,
} as const satisfies Controls;

type State = StateOf<typeof controls>;

type Task = SmallTask & TaskTexts;
const taskOf = ({ task: name }: State): Task => ({
  ...(fourTasks.find(({ task }) => task === name) as SmallTask),
  ...taskTexts[name],
});
/** The models that are shown side by side. */
const shownNames = ({ form }: State): ShownName[] => ['add', form, 'apart'];
const titles: Record<ShownName, string> = {
  add: 'Added',
  'concat-wide': 'Concatenated',
  concat: 'Concatenated',
  apart: 'Concatenated, never to meet',
};
const widths: Record<ShownName, string> = {
  add: `${d_model} wide`,
  'concat-wide': `${d_model} + ${d_model} = ${2 * d_model} wide`,
  concat: `${d_model / 2} + ${d_model / 2} = ${d_model} wide`,
  apart: `${2 * d_model} wide`,
};
const numbersOf = ({ parameters }: Model, wordy = true): string =>
  `${parameters.toLocaleString('en')} numbers${wordy ? ' to learn' : ''}`;

/** How many looks at the shown models there are so far. */
const looksOf = ({ models }: Data): number => models.add.shown?.answers.length ?? 0;
/** The look that a step shows; before the first step it is the first, and while models train the latest. */
const lookAt = (data: Data, step: number): number =>
  Math.min(looksOf(data), Math.max(1, looks.filter((at) => at <= step).length)) - 1;
const shownOf = (data: Data, name: ShownName): ShownRow => data.models[name].shown as ShownRow;
const lastStep = ({ models }: Data): number => (models.add.mean.length - 1) * stride;

/** The part that is right at a step, over all seeds. */
function rightAt(data: Data, name: ModelName, step: number): number {
  const { mean } = data.models[name];
  const at = Math.min(mean.length - 1, Math.max(0, Math.floor(step / stride)));
  return (mean[at] as number) / data.questions;
}

/** The heads that look from one place to another, and with how much of their attention in percent. */
const headsFrom = (data: Data, name: ShownName, look: number, from: number, to: number) =>
  (shownOf(data, name).attention[look] ?? []).flatMap(([head = 0, own, other, percents = 0]) =>
    own === from && other === to ? [{ head, percents }] : [],
  );

const isAnswerRight = (data: Data, name: ShownName, look: number, place: number): boolean =>
  shownOf(data, name).answers[look]?.[place] === data.targets[place];
const asking = ({ targets }: Data): number[] =>
  targets.flatMap((target, place) => (target >= 0 ? [place] : []));
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

/** The part of a replay in which the vectors are put together, and the steps that stand for it. */
const opening = 0.2;
const openingSteps = 100;

export const figure: Figure<typeof controls, Data> = {
  name: 'add-or-concatenate',
  title: 'Added or concatenated?',
  controls,
  source: () => 'seeded',
  below: true,
  runs: { looks: () => ['form', 'step'], button: 'Train it here' },
  plays: {
    setting: 'step',
    button: 'Replay the training',
    seconds: 5,
    at(part) {
      if (part < opening) return (part / opening - 1) * openingSteps;
      const along = ((part - opening) / (1 - opening)) * (looks.length - 1);
      const before = Math.min(Math.floor(along), looks.length - 2);
      const [from, to] = [looks[before] as number, looks[before + 1] as number];
      return from + (along - before) * (to - from);
    },
  },

  /** While models train, the later steps are those to come. */
  named(data) {
    const last = lastStep(data);
    return last < steps ? { step: looks.map((at) => (at > last ? `${last} so far` : String(at))) } : {};
  },

  scene(data, state, width) {
    const page: Page = { data, state, task: taskOf(state), limit: limitOf(data, state) };
    return width >= sideBySide ? inColumns(page, width) : inRows(page, width);
  },

  describe(data, state) {
    const step = Math.max(0, Math.min(state.step, lastStep(data)));
    const right = (name: ModelName) => aboutPercent(rightAt(data, name, step));
    const { form, task } = state;
    const wide = (name: ShownName) =>
      `${widths[name].split(' = ')[0]}, ${data.models[name].parameters.toLocaleString('en')} numbers`;
    const found = shownNames(state).map((name) => rightAt(data, name, step) >= aim);
    const head =
      !found[0] || !found[1]
        ? `After ${step} steps, right: ${right('add')} added, ${right(form)} concatenated, ${right('apart')} never meeting.`
        : found[2]
          ? 'All three learn it: here tokens and positions need not meet.'
          : 'Two of three learn it: in this task tokens and positions must meet.';
    const guessed = aboutPercent(rightAt(data, 'zero', lastStep(data)));
    return `${head} After ${step} steps of ${task}, mean share right over ${seeds} seeds: ${right('add')} added (${wide('add')}), ${right(form)} concatenated (${wide(form)}), ${right('apart')} never to meet, ${guessed} guessing.`;
  },

  cells: ({ tokens }) => ({ rows: 3, columns: tokens.length }),
  follows: ['task', 'n', 'seed'],
  firstCursor: ({ targets }): Cursor => ({ i: 0, j: firstAsking(targets) }),

  readout(data, state, { i, j }) {
    const name = shownNames(state)[i] as ShownName;
    const task = taskOf(state);
    const { tokens, targets } = data;
    const look = lookAt(data, state.step);
    const token = task.token(tokens[j] as number, tokens.length);
    const said: ReadoutPiece[] = [{ text: titles[name], strong: true }, `: “${token}” at position ${j} `];
    const places = tokens.flatMap((_, to) => {
      const much = headsFrom(data, name, look, j, to).map(
        ({ head, percents }) => `${percents}\u202f% of head ${head + 1}`,
      );
      return much.length > 0 ? [`position ${to} (${listed(much)})`] : [];
    });
    said.push(places.length > 0 ? `looks at ${listed(places)}` : `gives no token ${drawn}\u202f% of a head`);
    const target = targets[j] as number;
    if (target < 0) return [...said, '; it asks nothing.'];
    const answer = task.answer(shownOf(data, name).answers[look]?.[j] as number);
    const right = isAnswerRight(data, name, look, j);
    const says = right ? ', which is right' : `; right would be ${task.answer(target)}`;
    return [...said, ', and answers ', { text: answer, strong: true }, `${says}.`];
  },

  focus(data, state, { i, j }, width) {
    const name = shownNames(state)[i] as ShownName;
    const { rows } = arrange({ data, state, task: taskOf(state), limit: 1 }, width);
    const row = rows[i] as Row;
    const d = arcsOf(data, name, lookAt(data, state.step), row, (from) => from === j).looking;
    return d ? [{ mark: 'path', d, stroke: 'ink', wide: 3 }] : [];
  },

  remark: ({ diverged }) => (diverged ? divergedRemark : ''),

  table: (data, state) => ({
    columns: ['positions', 'numbers to learn', 'seed', 'step', 'right answers'],
    rows: names.flatMap((name) =>
      data.models[name].right.flatMap((of, k) =>
        of.map((count, point) => [
          name === 'wider'
            ? `added, ${2 * d_model} wide`
            : name === 'zero'
              ? 'all scores 0'
              : `${titles[name].toLowerCase()}, ${widths[name]}`,
          data.models[name].parameters,
          seedAfter(state.seed, k),
          point * stride,
          count / data.questions,
        ]),
      ),
    ),
  }),
};

/** From this width on the models stand side by side. */
const sideBySide = 1000;

interface Page {
  data: Data;
  state: State;
  task: Task;
  /** The largest number of any vector at any look: one scale for all bars. */
  limit: number;
}

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

/** Where a model's row of tokens is: arcs end at `y`. */
interface Row {
  x: number;
  y: number;
  cell: number;
  /** The most that arcs rise. */
  rise: number;
  /** Below the arcs: what can be pointed at. */
  height: number;
}

const middleOf = ({ x, cell }: Row, place: number) => x + (place + 0.5) * cell;
const round = (value: number) => String(Math.round(10 * value) / 10);

/** Arcs of the attention that is drawn, and dashed ones to the places of answers that are wrong without a look there. */
function arcsOf(
  data: Data,
  name: ShownName,
  look: number,
  row: Row,
  of: (from: number) => boolean,
  task?: Task,
): { looking: string; lacking: string } {
  const n = data.tokens.length;
  let [looking, lacking] = ['', ''];
  const wanted = (from: number) =>
    task && !isAnswerRight(data, name, look, from) ? task.looksAt(data.tokens, from) : undefined;
  const arc = (from: number, to: number) => {
    const [a, b] = [middleOf(row, from), middleOf(row, to)];
    const high = row.rise * (0.35 + (0.65 * Math.abs(to - from)) / n) * (4 / 3);
    // A token that looks at itself has a loop.
    const [left, right] = from === to ? [a - 0.45 * row.cell, b + 0.45 * row.cell] : [a, b];
    return `M${round(a)},${round(row.y)}C${round(left)},${round(row.y - high)} ${round(right)},${round(row.y - high)} ${round(b)},${round(row.y)}`;
  };
  for (const from of asking(data)) {
    if (!of(from)) continue;
    for (let to = 0; to < n; to++) {
      const seen = headsFrom(data, name, look, from, to).length > 0;
      if (seen) looking += arc(from, to);
      else if (wanted(from) === to) lacking += arc(from, to);
    }
  }
  return { looking, lacking };
}

/** Bars of a vector, in thousandths. */
function barsPath(values: readonly number[], { x, y, width, height }: Area, limit: number): string {
  const zero = y + height / 2;
  const pitch = width / values.length;
  return values
    .map((value, channel) => {
      const top = zero - (value / limit) * (height / 2);
      return `M${round(x + channel * pitch)},${round(zero)}V${round(top)}h${round(0.8 * pitch)}V${round(zero)}Z`;
    })
    .join('');
}

/** How far the vectors are put together, from 0 to 1, before the first step of a replay. */
const togetherAt = (step: number): number => Math.min(1, 1 + step / openingSteps);

/** A model's vector: token + position = sum, or both in one. While they are put together, parts are on their way. */
function vectorOf({ data, state, task, limit }: Page, name: ShownName, area: Area, labels: boolean): Mark[] {
  const look = lookAt(data, state.step);
  const shown = shownOf(data, name);
  const token = shown.token[look] as number[];
  const position = shown.position[look] as number[];
  const place = firstAsking(data.targets);
  const together = togetherAt(state.step);
  // Slow at both ends.
  const moved = together * together * (3 - 2 * together);
  const pitch = area.width / (4 * d_model);
  const wide = pitch * token.length;
  const box = (x: number, width = wide): Area => ({ ...area, x, width });
  const field = (at: Area): Mark => ({ mark: 'box', ...at, fill: 'field' });
  const bars = (values: number[], at: Area, ink: 'token-token' | 'position-position' | 'ink'): Mark => ({
    mark: 'path',
    d: barsPath(values, at, limit),
    fill: ink,
  });
  const below = area.y + area.height + 14;
  const said = (text: string, at: Area, anchor: 'start' | 'middle' = 'start'): Mark[] =>
    labels
      ? [textAt(anchor === 'start' ? at.x : at.x + at.width / 2, below, text, { ink: 'ink', anchor })]
      : [];
  const names = [
    `token ${task.token(data.tokens[place] as number, data.tokens.length)}`,
    `position ${place}`,
  ] as const;
  if (name === 'add') {
    const [t, p, sum] = [0, 1.5, 3].map((widths) => box(area.x + widths * d_model * pitch)) as [
      Area,
      Area,
      Area,
    ];
    const sign = (text: string, x: number): Mark =>
      textAt(x, area.y + area.height / 2 + 5, text, { anchor: 'middle', ink: 'ink', size: 16 });
    const sums = token.map((value, c) => value + (position[c] as number));
    const way = (from: Area): Area => ({ ...from, x: from.x + (sum.x - from.x) * moved });
    return [
      ...[t, p, sum].map(field),
      bars(token, t, 'token-token'),
      bars(position, p, 'position-position'),
      sign('+', (t.x + wide + p.x) / 2),
      sign('=', (p.x + wide + sum.x) / 2),
      bars(together < 1 ? token : sums, together < 1 ? way(t) : sum, together < 1 ? 'token-token' : 'ink'),
      bars(together < 1 ? position : [], way(p), 'position-position'),
      ...said(names[0], t),
      ...said(names[1], p),
      ...said('the sum', sum),
    ];
  }
  const t = box(area.x);
  const p = box(area.x + wide);
  const far = area.x + area.width - wide;
  const arriving = { ...p, x: far + (p.x - far) * moved };
  const wall = area.x + wide;
  return [
    field(box(area.x, 2 * wide)),
    bars(token, t, 'token-token'),
    bars(position, arriving, 'position-position'),
    ...(name === 'apart'
      ? [
          {
            mark: 'line',
            x1: wall,
            x2: wall,
            y1: area.y - 5,
            y2: area.y + area.height + 5,
            ink: 'ink',
            wide: 3,
          } as const,
        ]
      : []),
    ...said(names[0], t),
    ...said(names[1], { ...p, x: Math.max(p.x, area.x + 7 * names[0].length + 8) }),
  ];
}

/** The row's tokens and their positions. */
function tokensOf({ data, task }: Page, row: Row, y: number): Mark[] {
  return data.tokens.flatMap((id, place): Mark[] => [
    { mark: 'box', x: row.x + place * row.cell + 1, y, width: row.cell - 2, height: 26, fill: 'field' },
    textAt(middleOf(row, place), y + 18, task.token(id, data.tokens.length), {
      anchor: 'middle',
      ink: 'ink',
      size: 14,
    }),
    textAt(middleOf(row, place), y + 40, String(place), { anchor: 'middle', ink: 'position-position' }),
  ]);
}

/** What the model answers, each marked right or wrong; wrong ones are hatched. */
function answersOf(
  { data, state, task }: Page,
  name: ShownName,
  row: Row,
  y: number,
  marksBelow: boolean,
): Mark[] {
  const look = lookAt(data, state.step);
  const high = 26;
  let hatched = '';
  const marks = data.tokens.flatMap((_, place): Mark[] => {
    const x = row.x + place * row.cell + 1;
    const width = row.cell - 2;
    if ((data.targets[place] as number) < 0) return [];
    const right = isAnswerRight(data, name, look, place);
    const ink = right ? 'ink' : 'warning';
    if (!right) {
      for (let at = 6; at < width + high; at += 6) {
        const [from, to] = [Math.min(at, width), Math.max(0, at - high)];
        hatched += `M${round(x + from)},${round(y + at - from)}L${round(x + to)},${round(y + at - to)}`;
      }
    }
    const sign = right ? '✓' : '✗';
    const answer = task.answer(shownOf(data, name).answers[look]?.[place] as number);
    const middle = middleOf(row, place);
    return [
      {
        mark: 'box',
        x,
        y,
        width,
        height: high,
        fill: right ? 'field' : 'paper',
        stroke: right ? 'line' : 'warning',
      },
      textAt(middle, y + 18, marksBelow ? answer : `${answer}\u2009${sign}`, {
        anchor: 'middle',
        ink,
        size: 14,
        bold: true,
      }),
      ...(marksBelow ? [textAt(middle, y + 41, sign, { anchor: 'middle', ink, size: 13 })] : []),
    ];
  });
  return [...marks, { mark: 'path', d: hatched, stroke: 'warning', wide: 1, opacity: 0.3 }];
}

/** Right answers over the steps, up to the one that is shown: each seed, their mean, and what guessing gets. */
function chartOf(
  { data, state }: Page,
  name: ShownName,
  { x, y, width, height }: Area,
  labelled: boolean,
): Mark[] {
  const { right, mean } = data.models[name];
  const across = (step: number) => x + (step / steps) * width;
  const up = (count: number) => y + height - (count / data.questions) * height;
  const end = Math.min(Math.max(0, state.step), lastStep(data));
  const line = (counts: readonly number[]) => {
    const whole = Math.floor(end / stride);
    const points = counts
      .slice(0, whole + 1)
      .map((count, k) => `${round(across(k * stride))},${round(up(count))}`);
    const next = counts[whole + 1];
    if (next !== undefined && end > whole * stride) {
      const from = counts[whole] as number;
      points.push(`${round(across(end))},${round(up(from + (next - from) * (end / stride - whole)))}`);
    }
    return `M${points.join('L')}`;
  };
  const ink = rightAt(data, name, end) >= aim ? 'ink' : 'warning';
  const guess = up(data.models.zero.mean.at(-1) as number);
  return [
    { mark: 'line', x1: x, x2: x + width, y1: y + height, y2: y + height, ink: 'line' },
    { mark: 'line', x1: x, x2: x + width, y1: y, y2: y, ink: 'line' },
    { mark: 'line', x1: x, x2: x + width, y1: guess, y2: guess, ink: 'quiet', dashed: true },
    { mark: 'path', d: right.map(line).join(''), stroke: ink, wide: 1, opacity: 0.45 },
    { mark: 'path', d: line(mean), stroke: ink, wide: 2.5 },
    ...(labelled
      ? [
          textAt(
            x + width,
            guess + 13,
            `guessing gets ${aboutPercent(rightAt(data, 'zero', lastStep(data)))}`,
            { anchor: 'end' },
          ),
        ]
      : []),
  ];
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
  { data, state, task }: Page,
  width: number,
): { rows: Row[]; top: number; block: number; height: number } {
  const n = data.tokens.length;
  if (width >= sideBySide) {
    const column = (width - margin - 2 * between) / 3;
    const rows = [0, 1, 2].map((k) => ({
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
  const rows = [0, 1, 2].map((k) => ({
    x: width - wide,
    y: top + 52 + k * block + (beside ? 52 : 100),
    cell: wide / n,
    rise: beside ? 40 : 31,
    height: 26,
  }));
  return { rows, top, block, height: top + 52 + 3 * block + 16 };
}

const regionOf = (data: Data, row: Row, i: number): Region => ({
  x: row.x,
  y: row.y - row.rise,
  width: data.tokens.length * row.cell,
  height: row.rise + row.height,
  rows: 3,
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
  const { looking, lacking } = arcsOf(data, name, lookAt(data, state.step), row, () => true, task);
  return [
    { mark: 'path', d: lacking, stroke: 'warning', wide: 1.3, dashed: true, opacity: 0.8 },
    { mark: 'path', d: looking, stroke: 'ink', wide: 1.4, opacity: 0.75 },
  ];
}

/** Whether a look that the task needs is drawn as missing. */
const lacks = ({ data, state, task }: Page, name: ShownName, row: Row): boolean =>
  arcsOf(data, name, lookAt(data, state.step), row, () => true, task).lacking !== '';

const percentAt = ({ data, state }: Page, name: ShownName): string =>
  `${aboutPercent(rightAt(data, name, state.step))} right`;
const inkAt = ({ data, state }: Page, name: ShownName) =>
  rightAt(data, name, state.step) >= aim ? ('ink' as const) : ('warning' as const);

/** Beside a vector: the other way to concatenate, or what keeps the halves apart. */
function asideOf({ data, state }: Page, name: ShownName): string[] {
  if (togetherAt(state.step) < 1) return [];
  if (name === 'apart') return ['each half has', 'scores of its own'];
  if (name === 'add') return [];
  const other = name === 'concat' ? 'concat-wide' : 'concat';
  const right = aboutPercent(rightAt(data, other, state.step));
  return [
    `or ${other === 'concat' ? 'divided' : 'widened'}, ${widths[other].split(' =')[0]}:`,
    `${data.models[other].parameters.toLocaleString('en')} numbers, ${right}`,
  ];
}

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
        ? ([
            { mark: 'line', x1: wall, x2: wall, y1: 34, y2: height - 4, ink: 'quiet', dashed: true },
            textAt(x, tops.test, 'A test'),
          ] as const)
        : []),
      textAt(x, tops.title, titles[name], { ink: 'ink', size: 13, bold: true }),
      textAt(x, tops.width, `${widths[name]} · ${numbersOf(data.models[name])}`),
      ...vectorOf(page, name, { x, y: tops.vector, width: block, height: vectorHeight }, true),
      ...asideOf(page, name).map(
        (text, line): Mark => textAt(x + block, tops.vector + 20 + 16 * line, text, { anchor: 'end' }),
      ),
      ...arcMarks(page, name, row),
      ...(lacks(page, name, row)
        ? [textAt(x + block, tops.test, 'dashed: looks it lacks', { anchor: 'end', ink: 'warning' })]
        : []),
      ...tokensOf(page, row, tops.row),
      ...answersOf(page, name, row, tops.answers, true),
      ...chartOf(page, name, { x, y: tops.chart, width: block, height: chartHeight }, true),
      textAt(x, tops.foot, `0 to ${steps} steps, ${seeds} seeds`),
      textAt(x + block, tops.foot + 2, percentAt(page, name), {
        anchor: 'end',
        ink: inkAt(page, name),
        size: 18,
        bold: true,
      }),
    );
  });
  return { width, height, marks, regions: rows.map((row, i) => regionOf(data, row, i)) };
}

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
      textAt(
        0,
        y + 18,
        name === 'apart' && left >= 330
          ? `Test: ${titles[name][0]?.toLowerCase()}${titles[name].slice(1)}`
          : titles[name],
        { ink: 'ink', size: 13, bold: true },
      ),
      textAt(0, y + 35, `${widths[name]} · ${numbersOf(data.models[name], wordy)}`),
      textAt(left, y + 35, aboutPercent(rightAt(data, name, state.step)), {
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
  const guess = aboutPercent(rightAt(data, 'zero', lastStep(data)));
  const orange = wordy && shownNames(state).some((name, k) => lacks(page, name, rows[k] as Row));
  const of = orange && width < 450 ? '' : `${wordy ? `0 to ${steps} steps, ` : ''}${seeds} seeds. `;
  const text = `${of}Dashed: guessing gets ${guess}${orange ? '; orange: looks it lacks' : ''}.`;
  marks.push(textAt(0, height - 3, text));
  return { width, height, marks, regions: rows.map((row, i) => regionOf(data, row, i)) };
}
