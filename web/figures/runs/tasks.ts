// The small tasks that models are trained on, one for each term of a score; how long they are trained; and
// the settings that figures of trained models have in common.
import type { Task, TaskTrainerOptions } from 'add-or-concatenate';
import type { AxisOptions } from '../../plot/parts.js';
import type { Term } from '../../plot/scene.js';
import type { Job } from '../figure.js';
import { type WayName, wayIn } from './ways.js';

/** Tokens in a sequence. */
export const n = 16;
/** Steps of a run, unless a figure sets them. */
export const steps = 200;
/** Steps from one measurement of a model to the next. */
export const stride = 8;
/** The measurements of a run, including the one before it begins. */
export const points = steps / stride + 1;
/** The accuracy from which on a task counts as learned. */
export const aim = 0.99;
/**
 * The length in steps of a cosine schedule so long that the rate hardly falls after its warm-up; a falling
 * rate would end the learning.
 */
export const constantRate = 2 ** 22;
/** The most steps that are trained without the reader asking, and the most that the page trains at all. */
export const unaskedSteps = 400;
export const pageSteps = 2000;
/** Whether a run may begin: a long one only if the reader asked for it, or if nobody watches. */
export const mayTrain = ({ live }: Job, steps: number): boolean =>
  !live || live.again || steps <= unaskedSteps;

export interface SmallTask {
  task: 'badge' | 'lookup' | 'roll' | 'prev';
  /** The one term of the scores that solves it. */
  term: Term;
}

export const fourTasks = [
  { task: 'badge', term: 'token-token' },
  { task: 'lookup', term: 'token-position' },
  { task: 'roll', term: 'position-token' },
  { task: 'prev', term: 'position-position' },
] as const satisfies SmallTask[];

/** How a task is drawn, which training does not need. */
export interface TaskTexts {
  /** How a token of a sequence of n tokens is written, and how an answer is. */
  token(id: number, n?: number): string;
  answer(id: number): string;
  /** Where a token has to look for its answer; −1 if it has none. */
  looksAt(tokens: readonly number[], place: number): number;
}

const signs = ['●', '▲', '■', '◆'];
const digit = (id: number) => id.toString(16);
const letter = (id: number) => String.fromCharCode(65 + id);
const sign = (id: number) => signs[id] ?? '';
const letterOf = (id: number) => Math.floor(id / signs.length);
const letterAndSign = (id: number) => `${letter(letterOf(id))}${sign(id % signs.length)}`;
/** Ids from here on ask for a letter's sign. */
const firstQuestion = (n: number) => (n / 2) * signs.length;

export const taskTexts: Record<SmallTask['task'], TaskTexts> = {
  badge: {
    token: (id, length = n) =>
      id < firstQuestion(length) ? letterAndSign(id) : `${letter(id - firstQuestion(length))}?`,
    answer: sign,
    looksAt(tokens, place) {
      const first = firstQuestion(tokens.length);
      const letter = (tokens[place] as number) - first;
      return letter < 0 ? -1 : tokens.findIndex((id) => id < first && letterOf(id) === letter);
    },
  },
  lookup: { token: digit, answer: digit, looksAt: (tokens, place) => tokens[place] as number },
  roll: {
    token: letterAndSign,
    answer: sign,
    looksAt: (tokens, place) => tokens.findIndex((id) => letterOf(id) === place),
  },
  prev: { token: digit, answer: digit, looksAt: (_, place) => place - 1 },
};

/** Which part of a score asks which: “token asks position”. */
export const questionOf = ({ term }: { term: string }): string => term.replace('-', ' asks ');

/** The labels of a choice among the four tasks. */
export const taskOptions = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ fourTasks.map((task) => [task.task, `${questionOf(task)}: ${task.task}`]),
) as Record<(typeof fourTasks)[number]['task'], string>;

/** Initial settings that these figures share. */
export const firstRun = { seeds: 5, seed: 1, sigma: 0.1, layers: 'one' } as const;
/** Settings that these figures have in common. */
export const layersControl = {
  kind: 'choice',
  label: 'Layers',
  options: { one: 'One', two: 'Two', causal: 'Two, causal' },
  initial: firstRun.layers,
} as const;
export const normControl = {
  kind: 'choice',
  label: 'LayerNorm',
  options: { with: 'With', without: 'Without' },
  initial: 'with',
  radio: true,
} as const;
export const sigmaControl = {
  kind: 'steps',
  label: 'Starting size σ',
  values: [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1],
  initial: firstRun.sigma,
} as const;

/** Steps at which the accuracy of a run is recorded, and which a reader can look at. */
export const checkpoints = [50, 100, 200, 400, 1000, 2000, 4000, 8000, 16_000];
/** The step at which runs are looked at. A run may have ended before it, once its accuracy stood still. */
export const stepsControl = {
  kind: 'steps',
  label: 'Most steps',
  values: checkpoints,
  initial: 16_000,
} as const;

/** Settings of figures that train many models. */
export const runControls = {
  steps: { ...stepsControl, more: true },
  seeds: { kind: 'steps', more: true, label: 'Seeds', values: [1, 2, 3, 5], initial: firstRun.seeds },
  seed: { kind: 'seed', more: true, label: 'First seed', initial: firstRun.seed },
  sigma: { ...sigmaControl, more: true },
} as const;

/** An axis of accuracy, in percent. */
export const accuracyAxis: AxisOptions = {
  from: 0,
  to: 1,
  label: '% right',
  ticks: 5,
  print: (share) => `${Math.round(100 * share)}`,
};

/** The seed `count` places after this one; the first follows the last. */
export const seedAfter = (seed: number, count: number): number => (seed + count) % 2 ** 32;

/** What models that are compared have in common. */
export interface Shape {
  n: number;
  d_model: number;
  layers: keyof (typeof layersControl)['options'];
  /** LayerNorm before attention and unembedding. */
  norm: keyof (typeof normControl)['options'];
  sigma: number;
  seed: number;
}

/**
 * The options of a model and its training, the same in every figure that trains it. An option that is not set
 * here has the trainer's default, in recorded runs too; so the initial value of a new setting must be the
 * value that those runs were trained with.
 */
export const modelOptions = (
  task: Task,
  way: WayName,
  { n, d_model, layers, norm, sigma, seed }: Shape,
): TaskTrainerOptions => ({
  d_model,
  ...wayIn(way).options(d_model),
  ...depthOf(layers),
  layerNorm: norm === 'with',
  task,
  n,
  sigma,
  seed,
  steps: constantRate,
});

export const depthOf = (layers: Shape['layers']) => ({
  layers: layers === 'one' ? 1 : 2,
  causal: layers === 'causal',
});

export const divergedRemark = 'A run diverged: its loss was no longer finite, and it stopped.';
