// The parts of a model's picture in figure "Added or concatenated?": its vector, the attention, the answers, the curve.
import { aboutPercent } from '../plot/format.js';
import { type Area, textAt } from '../plot/parts.js';
import type { Mark } from '../plot/scene.js';
import {
  asking,
  headsFrom,
  isAnswerRight,
  lastStep,
  lookAt,
  rightAt,
  type State,
  shownOf,
  stepAt,
  type Task,
  togetherAt,
  withoutAttention,
} from './addOrConcatenateRuns.js';
import { type Data, d_model, firstAsking, modelOf, type ShownName, stepsOf } from './smallModels.js';
import { aim } from './tasks.js';

export interface Page {
  data: Data;
  state: State;
  task: Task;
  /** The largest number of any vector at any look: one scale for all bars. */
  limit: number;
}

/** Where a model's row of tokens is: arcs end at `y`. */
export interface Row {
  x: number;
  y: number;
  cell: number;
  /** The most that arcs rise. */
  rise: number;
  /** Below the arcs: what can be pointed at. */
  height: number;
}

export const middleOf = ({ x, cell }: Row, place: number) => x + (place + 0.5) * cell;
const round = (value: number) => String(Math.round(10 * value) / 10);

/** Arcs of the attention that is drawn, and dashed ones to the places of answers that are wrong without a look there. */
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

/** Bars of a vector, in hundredths. */
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

/** A model's vector: token + position = sum, or both in one. While they are put together, parts are on their way. */
export function vectorOf(
  { data, state, task, limit }: Page,
  name: ShownName,
  area: Area,
  labels: boolean,
): Mark[] {
  const look = lookAt(data, state);
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
export function tokensOf({ data, task }: Page, row: Row, y: number): Mark[] {
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
export function answersOf(
  { data, state, task }: Page,
  name: ShownName,
  row: Row,
  y: number,
  marksBelow: boolean,
): Mark[] {
  const look = lookAt(data, state);
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

/**
 * Right answers over the steps, up to the one that is shown: each seed, their mean, and what is right without
 * attention. Beside models with separate scores, what they learn with LayerNorm.
 */
export function chartOf(
  { data, state }: Page,
  name: ShownName,
  { x, y, width, height }: Area,
  labelled: boolean,
): Mark[] {
  const { right, mean } = modelOf(data, name);
  const { stride } = data;
  const last = stepsOf(state);
  const across = (step: number) => x + (step / last) * width;
  const up = (part: number) => y + height - part * height;
  const at = (step: number, part: number) => `${round(across(step))},${round(up(part))}`;
  const end = Math.min(Math.max(0, stepAt(state)), lastStep(data));
  const line = (counts: readonly number[]) => {
    const whole = Math.floor(end / stride);
    const part = (k: number) => (counts[k] as number) / data.questions;
    const points = counts.slice(0, whole + 1).map((_, k) => at(k * stride, part(k)));
    if (counts.length > whole + 1 && end > whole * stride)
      points.push(at(end, part(whole) + (part(whole + 1) - part(whole)) * (end / stride - whole)));
    return `M${points.join('L')}`;
  };
  const ink = rightAt(data, name, end) >= aim ? 'ink' : 'warning';
  const floor = withoutAttention(data);
  const beside = name === 'apart' ? (data.separate?.norm.filter(({ step }) => step <= last) ?? []) : [];
  return [
    { mark: 'line', x1: x, x2: x + width, y1: y + height, y2: y + height, ink: 'line' },
    { mark: 'line', x1: x, x2: x + width, y1: y, y2: y, ink: 'line' },
    { mark: 'line', x1: x, x2: x + width, y1: up(floor), y2: up(floor), ink: 'quiet', dashed: true },
    { mark: 'path', d: right.map(line).join(''), stroke: ink, wide: 1, opacity: 0.45 },
    { mark: 'path', d: line(mean), stroke: ink, wide: 2.5 },
    ...(beside.length > 0
      ? ([
          {
            mark: 'path',
            d: `M${beside.map(({ step, right }) => at(step, right)).join('L')}`,
            stroke: 'second',
            wide: 2,
          },
        ] as const)
      : []),
    ...(labelled
      ? [
          textAt(x + width, up(floor) + 13, `without attention ${aboutPercent(floor)}`, { anchor: 'end' }),
          ...(beside.length > 0
            ? [textAt(x + width, y + 14, 'with LayerNorm', { anchor: 'end', ink: 'second' })]
            : []),
        ]
      : []),
  ];
}
