// What the small models' runs show at a step of figure "Added or concatenated?", and what can be set there. What
// computes is smallModels.ts.
import type { Controls, StateOf } from './controls.js';
import { latest } from './lists.js';
import {
  type Data,
  d_model,
  lookPoints,
  type Model,
  type ModelName,
  measures,
  modelOf,
  type ShownName,
  type ShownRow,
  stepsOf,
  trainedControls,
} from './smallModels.js';
import { fourTasks, type SmallTask, steps, type TaskTexts, taskTexts } from './tasks.js';

/** The step that is shown stands in links as one of the shorter run; in the longer run as much of it has passed. */
export const looks = lookPoints.map((point) => (point * steps) / measures);

const forms = { concat: '8 + 8', 'concat-8': '12 + 4', 'concat-wide': '16 + 16, twice as wide' } as const;
export type Form = keyof typeof forms;

export const controls = {
  step: { kind: 'steps', label: 'Step', values: looks, initial: steps },
  form: { kind: 'choice', label: 'Concatenated', options: forms, initial: 'concat', radio: true },
  ...trainedControls,
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

export type Task = SmallTask & TaskTexts;
export const taskOf = ({ task: name }: State): Task => ({
  ...(fourTasks.find(({ task }) => task === name) as SmallTask),
  ...taskTexts[name],
});
/** The models that are shown side by side. */
export const shownNames = ({ form, separate }: State): ShownName[] => [
  'add',
  ...(separate === 'yes' ? (['concat-wide', 'apart'] as const) : [form]),
];
export const titles: Record<ShownName, string> = {
  add: 'Added',
  concat: 'Concatenated',
  'concat-8': 'Concatenated',
  'concat-wide': 'Concatenated',
  apart: 'Scores kept separate',
};
/** In a sentence, or at the end of a curve. */
export const briefly = (name: ShownName): string =>
  name === 'add' ? 'added' : name === 'apart' ? 'scores separate' : 'concatenated';
const parted = (token: number, position: number) => `${token} + ${position} = ${token + position} wide`;
export const widths: Record<ShownName, string> = {
  add: `${d_model} wide`,
  concat: parted(d_model / 2, d_model / 2),
  'concat-8': parted((3 * d_model) / 4, d_model / 4),
  'concat-wide': parted(d_model, d_model),
  apart: parted(d_model, d_model),
};
export const numbersOf = ({ parameters }: Model, wordy = true): string =>
  `${parameters.toLocaleString('en')} numbers${wordy ? ' to learn' : ''}`;

/** The step of these runs that a state shows; below 0 before a replay begins. */
export const stepAt = (state: State): number => (state.step * stepsOf(state)) / steps;
export const lastStep = (data: Data): number => (modelOf(data, 'add').mean.length - 1) * data.stride;

/** The look that a state shows; before the first step it is the first, and while models train the latest. */
export function lookAt(data: Data, { step }: State): number {
  const there = modelOf(data, 'add').shown?.answers.length ?? 0;
  return Math.min(there, Math.max(1, looks.filter((at) => at <= step).length)) - 1;
}
export const shownOf = (data: Data, name: ShownName): ShownRow => modelOf(data, name).shown as ShownRow;

/** The part that is right at a step, over all seeds. */
export function rightAt(data: Data, name: ModelName, step: number): number {
  const { mean } = modelOf(data, name);
  const at = Math.min(mean.length - 1, Math.max(0, Math.floor(step / data.stride)));
  return (mean[at] as number) / data.questions;
}
/** What models get right whose scores are all 0, once trained. */
export const withoutAttention = (data: Data): number =>
  (latest(modelOf(data, 'zero').mean) as number) / data.questions;

/** The heads that look from one place to another, and with how much of their attention in percent. */
export const headsFrom = (data: Data, name: ShownName, look: number, from: number, to: number) =>
  (shownOf(data, name).attention[look] ?? []).flatMap(([head = 0, own, other, percents = 0]) =>
    own === from && other === to ? [{ head, percents }] : [],
  );

export const isAnswerRight = (data: Data, name: ShownName, look: number, place: number): boolean =>
  shownOf(data, name).answers[look]?.[place] === data.targets[place];
export const asking = ({ targets }: Data): number[] =>
  targets.flatMap((target, place) => (target >= 0 ? [place] : []));
