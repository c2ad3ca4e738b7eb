// The small models of the figure “Added or concatenated?”: how each is trained, what is measured on the way,
// and which of the measurements a state shows.
import type { Superpose, Trainer } from 'add-or-concatenate';
import { latest } from '../plot/plainCopy.js';
import { type Controls, labelled, type StateOf } from './controls.js';
import type { Compute, Job, Library } from './figure.js';
import { runRequests } from './runs/cells.js';
import { type CellRun, keyOf, recordedRuns } from './runs/recordedRuns.js';
import { answersOf, recordedOrTrained, trainSideBySide } from './runs/sideBySide.js';
import {
  aim,
  firstRun,
  fourTasks,
  pageSteps,
  type SmallTask,
  sigmaControl,
  steps,
  type TaskTexts,
  taskOptions,
  taskTexts,
} from './runs/tasks.js';
import { accuracyAt, checkpointsTo } from './runs/trainingRun.js';

/** How many times a run measures accuracy after the measurement at step 0. */
export const measures = 40;
/**
 * The measurements that also record attention and answers, called looks. They are closer together early in a
 * run, when most changes.
 */
export const lookPoints = Array.from({ length: measures + 1 }, (_, point) => point).filter(
  (point) => point % (point <= 20 ? 2 : 4) === 0,
);
/** How many steps every model is trained; if separate scores are shown, all are trained longer. */
export const stepsOf = ({ separate }: Pick<Trained, 'separate'>): number =>
  separate === 'yes' ? pageSteps : steps;
export const seeds = 5;
/** The width of the tokens and, where positions are added, of the sum. */
export const d_model = 16;

/** The models that are trained, named by the way that position gets in. */
export type ModelName =
  | 'add'
  | 'concat-half'
  | 'concat-quarter'
  | 'concat-wide'
  | 'concat-wide-without-cross-terms'
  | 'uniform-attention';
/** The models whose attention and answers the picture shows. */
export type ShownName = Exclude<ModelName, 'uniform-attention'>;
const isShown = (name: ModelName): name is ShownName => name !== 'uniform-attention';
/** The models that a state trains. Beside separate scores, concatenation has only their width. */
export const namesOf = ({ separate }: Pick<Trained, 'separate'>): readonly ModelName[] =>
  separate === 'yes'
    ? ['add', 'concat-wide', 'concat-wide-without-cross-terms', 'uniform-attention']
    : ['add', 'concat-half', 'concat-quarter', 'concat-wide', 'uniform-attention'];

export type TaskName = (typeof fourTasks)[number]['task'];

/** The initial settings. */
const first = { n: 10, sigma: firstRun.sigma, seed: 1 } as const;

export const trainedControls = {
  task: {
    kind: 'choice',
    label: 'Task',
    options: labelled<TaskName>(['lookup', 'roll', 'badge', 'prev'], (task) => taskOptions[task]),
    initial: 'lookup',
    radio: true,
    more: true,
  },
  separate: {
    kind: 'choice',
    label: 'What if their scores are kept separate?',
    options: { no: 'not shown', yes: 'beside the others, without LayerNorm' },
    initial: 'no',
    radio: true,
    more: true,
  },
  n: { kind: 'steps', label: 'Tokens in a row', values: [6, 8, 10, 12], initial: first.n, more: true },
  sigma: { ...sigmaControl, more: true },
  seed: { kind: 'seed', label: 'First seed', initial: first.seed, more: true },
} as const satisfies Controls;

/** What the first seed's model does with the row that is shown, at each look. */
export interface ShownRow {
  /**
   * [looks][arcs], each arc [head, place of the query, place of the key, percent]; only attention of `drawn`
   * percent or more is recorded.
   */
  attention: number[][][];
  /** [looks][n] */
  answers: number[][];
}

export interface Model {
  /** How many numbers the model learns. */
  parameters: number;
  /** How many of `questions` were answered right, [seeds][points so far]. */
  right: number[][];
  /** Their mean over the seeds, [points so far]. */
  mean: number[];
  /** The mean step at which seeds first had 99 % right, and how many seeds got there. */
  first: { mean: number; count: number } | null;
  shown: ShownRow | null;
}

export interface Data {
  /** The row that is shown, and its right answers; −1 where nothing is asked. */
  tokens: number[];
  targets: number[];
  /** How many questions each count of right answers is out of. */
  questions: number;
  diverged: boolean;
  /** Steps from one measurement of accuracy to the next. */
  stride: number;
  /** The models that namesOf() lists for the state. */
  models: Partial<Record<ModelName, Model>>;
  /**
   * The recorded models with separate scores: without LayerNorm at the end, and with it at each checkpoint.
   */
  separate?: { end: { step: number; right: number }; norm: { step: number; right: number }[] };
}
export const modelOf = ({ models }: Data, name: ModelName): Model => models[name] as Model;

/**
 * Seeds of typical rows: the recorded models get about as large a share of them right as of all questions.
 */
const rowSeeds: Record<TaskName, number> = { lookup: 328, roll: 9, badge: 127, prev: 328 };
/** The least attention of a head that is drawn as an arc, in percent. */
export const drawn = 30;

export type Trained = StateOf<typeof trainedControls>;

const trainedNames = Object.keys(trainedControls) as (keyof Trained)[];

/**
 * Whether a state is recorded: any task, with or without separate scores, if all other settings are initial.
 */
const isRecorded = (state: Trained): boolean =>
  trainedNames.every(
    (name) => ['task', 'separate'].includes(name) || state[name] === trainedControls[name].initial,
  );

export const compute: Compute<typeof trainedControls, Data> = async (library, state, job) => {
  const { task, separate } = state;
  const file = separate === 'yes' ? `${task}Separate` : task;
  const data = await recordedOrTrained(
    library,
    job,
    {
      name: 'add-or-concatenate',
      key: trainedNames.map((name) => state[name]),
      file: isRecorded(state) ? file : undefined,
    },
    (superpose) => train(superpose, state, job),
  );
  if (separate === 'no' || !isRecorded(state)) return data;
  return { ...data, ...(await separateOf(library, state)) };
};

const shapeOf = ({ n, sigma, separate }: Trained) =>
  ({ n, d_model, sigma, layers: 'one', norm: separate === 'yes' ? 'without' : 'with' }) as const;

/** The results of the recorded models with separate scores; empty if any of the runs is missing. */
async function separateOf(library: Library, state: Trained): Promise<Pick<Data, 'separate'>> {
  const { runs } = await recordedRuns(library);
  const recordedWith = (norm: 'with' | 'without') =>
    runRequests({
      task: state.task,
      way: 'concat-wide-without-cross-terms',
      shape: { ...shapeOf(state), norm },
      seed: state.seed,
      seeds,
      steps: pageSteps,
    }).flatMap((request) => runs.get(keyOf(request)) ?? []);
  const [without, withNorm] = [recordedWith('without'), recordedWith('with')];
  if (without.length < seeds || withNorm.length < seeds) return {};
  const { summary } = await library.small();
  const meanAt = (all: CellRun[], step: number) => ({
    step,
    right: summary(Float64Array.from(all, (run) => accuracyAt(run, step))).mean,
  });
  return {
    separate: {
      end: meanAt(without, latest(without).steps),
      norm: checkpointsTo(latest(withNorm).steps).map((step) => meanAt(withNorm, step)),
    },
  };
}

/** Trains every model with every seed. */
async function train(superpose: Superpose, state: Trained, job: Job): Promise<Data> {
  const { task, n } = state;
  const row = superpose.taskExamples({ task, n, seed: rowSeeds[task] });
  const names = namesOf(state);
  const runSteps = stepsOf(state);
  const options = names.flatMap((way) =>
    runRequests({ task, way, shape: shapeOf(state), seed: state.seed, seeds, steps: runSteps }).map(
      (request) => request.options,
    ),
  );
  const data: Data = {
    tokens: Array.from(row.tokens),
    targets: Array.from(row.targets),
    questions: 0,
    diverged: false,
    stride: runSteps / measures,
    models: Object.fromEntries(names.map((name) => [name, unmeasuredModel(name)])),
  };
  const measure = (trainers: readonly Trainer[]) => {
    data.questions = trainers[0]?.evaluate().targets ?? 0;
    data.diverged = trainers.some(({ diverged }) => diverged);
    for (const [at, name] of names.entries()) {
      measureModel(superpose, data, modelOf(data, name), trainers.slice(at * seeds, (at + 1) * seeds));
    }
  };
  await trainSideBySide(superpose, job, {
    options,
    steps: runSteps,
    stride: data.stride,
    measure,
    frame: () => data,
  });
  return data;
}

const unmeasuredModel = (name: ModelName): Model => ({
  parameters: 0,
  right: Array.from({ length: seeds }, () => []),
  mean: [],
  first: null,
  shown: isShown(name) ? { attention: [], answers: [] } : null,
});

/** Adds a point to the curves of a model, which has one trainer for each seed. */
function measureModel(
  superpose: Superpose,
  { tokens, questions, stride }: Data,
  model: Model,
  trainers: readonly Trainer[],
): void {
  const { right, mean, shown } = model;
  const [first] = trainers as [Trainer];
  const meanOf = (values: number[]) => superpose.summary(Float64Array.from(values)).mean;
  model.parameters = Object.values(first.parameters()).reduce(
    (sum, { rows, columns }) => sum + rows * columns,
    0,
  );
  for (const [k, trainer] of trainers.entries()) {
    right[k]?.push(Math.round(trainer.evaluate().accuracy * questions));
  }
  mean.push(meanOf(right.map((counts) => latest(counts))));
  const firsts = right.flatMap((counts) => {
    const point = counts.findIndex((count) => count >= aim * questions);
    return point < 0 ? [] : [point * stride];
  });
  model.first = firsts.length > 0 ? { mean: meanOf(firsts), count: firsts.length } : null;
  if (shown && lookPoints.includes(mean.length - 1)) look(first, shown, tokens);
}

/** The first place of a row that asks a question. */
export const firstQuestion = (targets: readonly number[]): number =>
  targets.findIndex((target) => target >= 0);

/** Adds what a model does with the row: its attention, and its answers. */
function look(trainer: Trainer, shown: ShownRow, tokens: number[]): void {
  const n = tokens.length;
  const percents = Array.from(trainer.attention({ n, tokens }).data, (share) => Math.round(100 * share));
  shown.attention.push(
    percents.flatMap((percent, at) =>
      percent >= drawn ? [[Math.floor(at / n ** 2), Math.floor(at / n) % n, at % n, percent]] : [],
    ),
  );
  shown.answers.push(answersOf(trainer, n, tokens));
}

/**
 * The values of the step slider, in steps of the shorter run. In the longer run, a value stands for the step
 * that is as far through the run.
 */
export const looks = lookPoints.map((point) => (point * steps) / measures);

const forms = {
  'concat-half': '8 + 8',
  'concat-quarter': '12 + 4',
  'concat-wide': '16 + 16, twice as wide',
} as const;
export type Form = keyof typeof forms;

export const controls = {
  step: { kind: 'steps', label: 'Step', values: looks, initial: steps },
  form: {
    kind: 'choice',
    label: 'Concatenated',
    options: forms,
    initial: 'concat-half',
    radio: true,
    more: true,
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
export const shownNames = ({ form, separate }: State): ShownName[] => [
  'add',
  ...(separate === 'yes' ? (['concat-wide', 'concat-wide-without-cross-terms'] as const) : [form]),
];
export const titles: Record<ShownName, string> = {
  add: 'Added',
  'concat-half': 'Concatenated',
  'concat-quarter': 'Concatenated',
  'concat-wide': 'Concatenated',
  'concat-wide-without-cross-terms': 'Separate scores',
};
/** A model's name in a sentence or at the end of a curve. */
export const shortNameOf = (name: ShownName): string =>
  name === 'add' ? 'added' : name === 'concat-wide-without-cross-terms' ? 'separate scores' : 'concatenated';
const divided = (token: number, position: number) => `${token} + ${position} = ${token + position} wide`;
export const widths: Record<ShownName, string> = {
  add: `${d_model} wide`,
  'concat-half': divided(d_model / 2, d_model / 2),
  'concat-quarter': divided((3 * d_model) / 4, d_model / 4),
  'concat-wide': divided(d_model, d_model),
  'concat-wide-without-cross-terms': divided(d_model, d_model),
};
export const numbersOf = ({ parameters }: Model, wordy = true): string =>
  `${parameters.toLocaleString('en')} numbers${wordy ? ' to learn' : ''}`;

/** The step of these runs that a state shows; below 0 before a replay begins. */
export const stepAt = (state: State): number => (state.step * stepsOf(state)) / steps;
export const lastStep = (data: Data): number => (modelOf(data, 'add').mean.length - 1) * data.stride;

/**
 * The index of the look that a state shows: the first one before the first step, and at most the latest so
 * far.
 */
export function lookAt(data: Data, { step }: State): number {
  const count = modelOf(data, 'add').shown?.answers.length ?? 0;
  return Math.min(count, Math.max(1, looks.filter((at) => at <= step).length)) - 1;
}
export const shownOf = (data: Data, name: ShownName): ShownRow => modelOf(data, name).shown as ShownRow;

/** The mean accuracy over all seeds at a step, from 0 to 1. */
export function rightAt(data: Data, name: ModelName, step: number): number {
  const { mean } = modelOf(data, name);
  const at = Math.min(mean.length - 1, Math.max(0, Math.floor(step / data.stride)));
  return (mean[at] as number) / data.questions;
}
/** The latest accuracy of the models whose scores are all 0, from 0 to 1. */
export const withoutAttention = (data: Data): number =>
  (latest(modelOf(data, 'uniform-attention').mean) as number) / data.questions;

/** The heads whose arcs go from one place to another, each with the percentage of its attention. */
export const headsFrom = (data: Data, name: ShownName, look: number, from: number, to: number) =>
  (shownOf(data, name).attention[look] ?? []).flatMap(([head = 0, query, key, percents = 0]) =>
    query === from && key === to ? [{ head, percents }] : [],
  );

export const isAnswerRight = (data: Data, name: ShownName, look: number, place: number): boolean =>
  shownOf(data, name).answers[look]?.[place] === data.targets[place];
export const placesWithQuestions = ({ targets }: Data): number[] =>
  targets.flatMap((target, place) => (target >= 0 ? [place] : []));
