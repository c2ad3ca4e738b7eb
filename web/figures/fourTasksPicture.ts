// The picture of figure "Four tasks, four questions": each model's curves, and an example at a step.
import { pairTerms } from 'add-or-concatenate';
import {
  type Area,
  bars,
  edgeRoom,
  edges,
  hatching,
  horizontal,
  lineKey,
  lineThrough,
  plane,
  textAt,
  wrapped,
} from '../plot/parts.js';
import { latest } from '../plot/plainCopy.js';
import type { Ink, Mark, Scene } from '../plot/scene.js';
import type { Data, Moment, Panel, State } from './fourTasksRuns.js';
import { fourTasks, n, points, type SmallTask, steps, stride, taskTexts } from './runs/tasks.js';
import { termLabels } from './terms.js';

const places = Array.from({ length: points }, (_, place) => place);

const questionTexts = {
  badge: 'Which sign does the letter wear that I ask for?',
  lookup: 'My digit names a position, counted from 0: what stands there?',
  roll: 'At position k: which sign does the k-th letter wear?',
  prev: 'What stands one position before me?',
};
const line = 16;
const example = 36;
const summary = 44;
/** The gap between the maps of the heads, in pixels. */
const mapGap = 10;
const mapSide = (width: number) => Math.min(120, (width - mapGap - edgeRoom.left) / 2);

/** The curves so far, and what the models do with the example at a point of them. */
export function picture(data: Data, state: State, width: number, point: number): Scene {
  const columns = width >= 680 ? 4 : width >= 330 ? 2 : 1;
  const gap = 18;
  const each = (width - gap * (columns - 1)) / columns;
  const tasks = fourTasks;
  const questions = tasks.map(({ task }) => wrapped(questionTexts[task], each));
  const chart = columns === 4 ? 110 : 100;
  const above = 2 * line + 12 + line * Math.max(...questions.map(({ length }) => length)) + chart;
  const below = 2 * line + 2 * example + mapSide(each) + edgeRoom.below + 10 + summary;
  const rows = Math.ceil(tasks.length / columns);
  // On a phone the curves of all four come before what each does at a step.
  const drawn = data.panels.map((panel, place) => {
    const x = (place % columns) * (each + gap);
    const row = Math.floor(place / columns);
    return drawPanel(panel, tasks[place] as SmallTask, questions[place] as string[], state, point, {
      chart,
      above: { x, y: row * (above + gap), width: each, height: above },
      below: { x, y: rows * (above + gap) + row * (below + gap), width: each, height: below },
    });
  });
  const height = rows * (above + below + 2 * gap) - gap;
  // Last, because a mark that comes and goes shifts the index of every mark after it.
  const wrong = drawn.map((panel) => panel.wrong).join('');
  const marks: Mark[] = [
    ...drawn.flatMap((panel) => panel.marks),
    ...(wrong ? [{ mark: 'path', d: wrong, stroke: 'quiet', wide: 1, opacity: 0.4 } as const] : []),
  ];
  return {
    width,
    height,
    marks,
    regions: drawn.map(({ inner }) => ({ ...inner, pick: 'across' as const, rows: 1, columns: points })),
  };
}

const round = (share: number) => `${Math.round(100 * share)}`.replace('-', '−');

/** Name, question and curves; then an example at a step, and what is left when terms are cut. */
function drawPanel(
  panel: Panel,
  task: SmallTask,
  question: string[],
  state: State,
  point: number,
  { above, below, chart }: { above: Area; below: Area; chart: number },
) {
  const { when } = state;
  const { x, y, width } = above;
  const { term } = task;
  const marks: Mark[] = [
    { mark: 'box', x, y: y + 2, width: 13, height: 12, fill: term, term },
    textAt(x + 19, y + 13, task.task, { ink: 'ink', size: 15, bold: true }),
    textAt(x, y + 13 + line, termLabels[term], { term }),
    ...question.map((text, k): Mark => textAt(x, y + 17 + (k + 2) * line, text, { ink: 'ink' })),
  ];
  const top = y + above.height - chart;
  const side = mapSide(width);
  const rows = below.y + line;
  const maps = rows + 2 * example + line;
  const bottom = maps + side + edgeRoom.below + 10;
  const { tokens, targets, moments } = panel.example;
  const shownAt = moments.findLastIndex((moment, at) => moment && at <= point);
  const { answers, attention } = moments[shownAt] as Moment;
  const { marks: shown, wrong } = drawExample({ tokens, targets, answers }, task, {
    x,
    y: rows,
    width,
    height: 2 * example,
  });
  const cut = when === 'after' && panel.cut !== null ? ', cut' : '';
  marks.push(
    textAt(x, rows - 5, `${task.task}, step ${shownAt * stride}${cut}`),
    ...shown,
    textAt(x, maps - 5, 'attention, both heads'),
  );
  for (const head of [0, 1]) {
    const map = { x: x + edgeRoom.left + head * (side + mapGap), y: maps, width: side, height: side };
    marks.push(...edges(map, head === 0 ? 'query' : ''), {
      mark: 'raster',
      ...map,
      values: attention.subarray(head * n * n, (head + 1) * n * n),
      rows: n,
      columns: n,
      low: 0,
      high: 1,
      scale: 'sequential',
    });
  }
  const values = [...panel.accuracy, ...panel.shares.flatMap((shares) => shares ?? [])];
  const drawn = plane(
    { x, y: top, width, height: chart },
    { from: 0, to: steps, label: 'steps', nice: false, ticks: 2 },
    {
      from: Math.min(0, ...values),
      to: Math.max(1, ...values),
      label: '% right',
      ticks: 3,
      print: round,
    },
  );
  const at = places.slice(0, panel.accuracy.length).map((place) => place * stride);
  marks.push(...drawn.marks);
  if (panel.floor !== null) {
    marks.push(
      horizontal(drawn, drawn.y(panel.floor), { ink: 'quiet', wide: 1.5, dashed: true }),
      // Beside the name of the axis, because on its own line curves would cross it.
      ...lineKey(x, top + chart - 15, [{ label: 'scores 0', ink: 'quiet', dashed: true }]),
    );
  }
  if (latest(panel.shares)) {
    marks.push(textAt(x + width, top + 10, 'term’s share', { anchor: 'end', ink: term, term }));
  }
  pairTerms.forEach((shown, k) => {
    const shares = panel.shares.map((of) => of?.[k] ?? Number.NaN);
    const d = lineThrough(drawn, at, shares);
    if (d) marks.push({ mark: 'path', d, stroke: shown, wide: shown === term ? 2.5 : 1.5, term: shown });
  });
  marks.push({ mark: 'path', d: lineThrough(drawn, at, panel.accuracy), stroke: 'ink', wide: 2 });
  const bar = (label: string, value: number | null, ink: Ink) => ({
    label,
    value: value ?? Number.NaN,
    text: value === null ? '–' : `${round(value)}\u202f%`,
    ink,
  });
  const list = [
    bar(when === 'after' ? 'as trained' : 'trained so', latest(panel.accuracy), 'ink'),
    ...(panel.cut === null ? [] : [bar('terms cut', panel.cut, term)]),
    bar('scores 0', panel.floor, 'quiet'),
  ];
  marks.push(...bars({ x, y: bottom, width, height: summary }, list, 0, 1));
  return { marks, wrong, inner: drawn.inner };
}

/**
 * The input in two rows of eight, with the model's answer below each token. `wrong` is a path that hatches
 * the wrong answers.
 */
function drawExample(
  { tokens, targets, answers }: { tokens: number[]; targets: number[]; answers: number[] },
  { task }: SmallTask,
  area: Area,
) {
  const texts = taskTexts[task];
  const across = n / 2;
  const wide = area.width / across;
  const marks: Mark[] = [];
  let wrong = '';
  tokens.forEach((token, place) => {
    const x = area.x + ((place % across) + 0.5) * wide;
    const y = area.y + Math.floor(place / across) * example;
    const isQuestion = targets[place] !== -1;
    const right = !isQuestion || targets[place] === answers[place];
    marks.push(
      { mark: 'box', x: x - wide / 2 + 1, y, width: wide - 2, height: 16, fill: 'field' },
      textAt(x, y + 12, texts.token(token), { anchor: 'middle', ink: 'quiet' }),
      // An empty text where nothing is asked, because leaving it out would shift the index of every mark
      // after it.
      textAt(x, y + 29, isQuestion ? texts.answer(answers[place] as number) : '', {
        anchor: 'middle',
        ink: right ? 'ink' : 'quiet',
        bold: right,
      }),
    );
    if (!right) wrong += hatching({ x: x - wide / 2 + 1, y: y + 17, width: wide - 2, height: 16 });
  });
  return { marks, wrong };
}
