// What the small models' runs show at a step of figure "Added or concatenated?", and what can be set there.
import type { Controls, StateOf } from './controls.js';
import {
  type Data,
  d_model,
  looks,
  type Model,
  type ModelName,
  type ShownName,
  type ShownRow,
  stride,
  trainedControls,
} from './smallModels.js';
import { fourTasks, type SmallTask, steps, type TaskTexts, taskTexts } from './tasks.js';

export const controls = {
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

export type State = StateOf<typeof controls>;

export type Task = SmallTask & TaskTexts;
export const taskOf = ({ task: name }: State): Task => ({
  ...(fourTasks.find(({ task }) => task === name) as SmallTask),
  ...taskTexts[name],
});
/** The models that are shown side by side. */
export const shownNames = ({ form }: State): ShownName[] => ['add', form, 'apart'];
export const titles: Record<ShownName, string> = {
  add: 'Added',
  'concat-wide': 'Concatenated',
  concat: 'Concatenated',
  apart: 'Concatenated, never to meet',
};
export const widths: Record<ShownName, string> = {
  add: `${d_model} wide`,
  'concat-wide': `${d_model} + ${d_model} = ${2 * d_model} wide`,
  concat: `${d_model / 2} + ${d_model / 2} = ${d_model} wide`,
  apart: `${2 * d_model} wide`,
};
export const numbersOf = ({ parameters }: Model, wordy = true): string =>
  `${parameters.toLocaleString('en')} numbers${wordy ? ' to learn' : ''}`;

/** How many looks at the shown models there are so far. */
const looksOf = ({ models }: Data): number => models.add.shown?.answers.length ?? 0;
/** The look that a step shows; before the first step it is the first, and while models train the latest. */
export const lookAt = (data: Data, step: number): number =>
  Math.min(looksOf(data), Math.max(1, looks.filter((at) => at <= step).length)) - 1;
export const shownOf = (data: Data, name: ShownName): ShownRow => data.models[name].shown as ShownRow;
export const lastStep = ({ models }: Data): number => (models.add.mean.length - 1) * stride;

/** The part that is right at a step, over all seeds. */
export function rightAt(data: Data, name: ModelName, step: number): number {
  const { mean } = data.models[name];
  const at = Math.min(mean.length - 1, Math.max(0, Math.floor(step / stride)));
  return (mean[at] as number) / data.questions;
}

/** The heads that look from one place to another, and with how much of their attention in percent. */
export const headsFrom = (data: Data, name: ShownName, look: number, from: number, to: number) =>
  (shownOf(data, name).attention[look] ?? []).flatMap(([head = 0, own, other, percents = 0]) =>
    own === from && other === to ? [{ head, percents }] : [],
  );

export const isAnswerRight = (data: Data, name: ShownName, look: number, place: number): boolean =>
  shownOf(data, name).answers[look]?.[place] === data.targets[place];
export const asking = ({ targets }: Data): number[] =>
  targets.flatMap((target, place) => (target >= 0 ? [place] : []));

/** The steps that stand for the part of a replay in which the vectors are put together. */
export const openingSteps = 100;
/** How far the vectors are put together, from 0 to 1, before the first step of a replay. */
export const togetherAt = (step: number): number => Math.min(1, 1 + step / openingSteps);
