// The models of figure "Four tasks, four questions": how they are trained, and what they do on the way.
import { pairTerms, type Superpose, type Table, type Trainer, type TrainerOptions } from 'add-or-concatenate';
import { latest } from '../plot/plainCopy.js';
import { type Controls, labelled, type StateOf } from './controls.js';
import type { Compute, Job } from './figure.js';
import { answersOf, trainSideBySide, withTrainers } from './runs/sideBySide.js';
import {
  fourTasks,
  modelOptions,
  n,
  points,
  type SmallTask,
  sigmaControl,
  steps,
  stride,
} from './runs/tasks.js';
import { termLabels } from './terms.js';

const d_model = 32;
const mostExamples = 40;

export const controls = {
  example: { kind: 'range', more: true, label: 'Example', min: 1, max: mostExamples, step: 1, initial: 1 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  sigma: { ...sigmaControl, more: true },
  when: {
    kind: 'choice',
    more: true,
    label: 'Remove unticked terms',
    options: { after: 'after training', during: 'from the start' },
    initial: 'after',
    radio: true,
  },
  terms: {
    kind: 'several',
    more: true,
    label: 'Terms included',
    options: labelled(pairTerms, (term) => termLabels[term]),
    initial: pairTerms,
  },
} as const satisfies Controls;

export type State = StateOf<typeof controls>;

interface Curve {
  /** [points so far], from 0 to 1. */
  accuracy: number[];
  /** [points so far][4], raw; null where nothing varies. */
  shares: (number[] | null)[];
  diverged: boolean;
}

/**
 * What a model does with examples: its answers [sequences · n] and its attention [sequences · heads · n, n].
 */
export interface Moment {
  answers: number[];
  attention: Float32Array;
}

interface Example<M = Moment | null> {
  tokens: number[];
  targets: number[];
  /** [points so far]; null at most points of a recorded run. */
  moments: M[];
}

export interface Panel extends Curve {
  /**
   * [4], shares of the model as it is now in the canonical gauge; null if that gauge does not define them.
   */
  canonical: number[] | null;
  /** Why there are no shares. */
  reason: string | null;
  /**
   * Accuracy of the current model once the terms that are switched off are cut; null if none is cut after
   * training.
   */
  cut: number | null;
  /**
   * The recorded accuracy of such a model with all scores 0; null if none of this seed and σ is recorded.
   */
  floor: number | null;
  example: Example;
}

export interface Data {
  panels: Panel[];
  /** Steps so far. */
  steps: number;
}

interface Trained {
  /** The floor of each task. */
  floors: (number | null)[] | undefined;
  curves: Curve[];
  /** [tasks][points so far]: the models as they were at each point. */
  parameters: Record<string, Table>[][];
  /** What they do with the examples at each point, [tasks][points so far], with the terms of this key cut. */
  moments?: { key: string; of: Moment[][] };
  /** The panels of these models as they were last shown. */
  looked?: { key: string; panels: PanelExamples[] };
}

/** A panel with all examples that a reader can choose, one after the other. */
type PanelExamples = Omit<Panel, 'example'> & { examples: Example<Moment> };

/** Identifies a run; settings that only change how it is looked at are left out. */
const keyOf = ({ sigma, seed, when, terms }: State): string =>
  JSON.stringify([sigma, seed, when === 'during' ? terms : null]);

export const offOf = ({ terms }: State) => pairTerms.filter((term) => !terms.includes(term));

const optionsOf = ({ task }: SmallTask, state: State): TrainerOptions => ({
  ...modelOptions(task, 'add', { ...state, n, d_model, layers: 'one', norm: 'with' }),
  cuts: state.when === 'during' ? offOf(state) : [],
});

/** The seed of all that is recorded. */
export const recordedSeed = controls.seed.initial;

/** Whether models of this seed and σ are recorded. */
export const isOfRecordedModels = ({ seed, sigma }: State): boolean =>
  seed === recordedSeed && sigma === controls.sigma.initial;

/** The terms of the recorded models without cross terms. */
export const recordedTerms: State['terms'] = ['token-token', 'position-position'];

/** The name of the recorded data that a state opens with, if there are any. */
const recordedAs = ({ terms, when }: State): string =>
  terms.length === pairTerms.length ? 'all' : String(terms) === String(recordedTerms) ? when : '';

/** Whether a state shows the recorded models. */
const isRecorded = (state: State): boolean =>
  isOfRecordedModels(state) && (state.when === 'after' || recordedAs(state) !== '');

/**
 * The form in which data are recorded: examples at few points only, and attention as one hexadecimal digit a
 * weight, because it is only drawn.
 */
export const recordedOf = (data: Data) =>
  withMoments(data, ({ answers, attention }, point) =>
    [0, 5, points - 1].includes(point)
      ? {
          answers,
          attention: Array.from(attention, (weight) => Math.round(15 * weight).toString(16)).join(''),
        }
      : null,
  );

const fromRecorded = (data: Data): Data =>
  withMoments(data, ({ answers, attention }) => ({
    answers,
    attention: Float32Array.from(attention as unknown as string, (digit) => Number.parseInt(digit, 16) / 15),
  })) as Data;

const withMoments = (data: Data, of: (moment: Moment, point: number) => unknown) => ({
  ...data,
  panels: data.panels.map(({ example, ...panel }) => ({
    ...panel,
    example: { ...example, moments: example.moments.map((moment, point) => moment && of(moment, point)) },
  })),
});

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const file = (await library.recorded?.('fourTasks')) as Record<string, Data> | undefined;
  const again = job.live?.again;
  const recorded = isRecorded(state) && !again;
  const known = recorded && state.example === 1 && file?.[recordedAs(state)];
  if (known) return fromRecorded(known);
  const superpose = await library.superpose();
  const floors = isOfRecordedModels(state) ? file?.all?.panels.map(({ floor }) => floor) : undefined;
  // Models that were recorded are trained out of sight, because the reader only looks at them in another way.
  const training = recorded ? { ...job, live: undefined } : job;
  const trained = await library.memoize(
    'four-tasks',
    keyOf(state),
    () => train(superpose, state, training, floors),
    again,
  );
  // Choosing another example computes nothing: all forty are answered at once, for less than the shares cost.
  const key = JSON.stringify([state.when, state.terms]);
  if (trained.looked?.key !== key) {
    const panels = await withTrainers(superpose, modelsOf(state), (viewers) =>
      panelsOf(superpose, viewers, trained, state),
    );
    trained.looked = { key, panels };
  }
  return dataOf(trained.looked.panels, state);
};

/** Trains the four models; `viewers`, which have the same shape, show what the models do on the way. */
function train(superpose: Superpose, state: State, job: Job, floors: Trained['floors']): Promise<Trained> {
  const options = modelsOf(state);
  return withTrainers(superpose, options, async (viewers) => {
    const trained: Trained = {
      floors,
      curves: options.map(() => ({ accuracy: [], shares: [], diverged: false })),
      parameters: options.map(() => []),
    };
    await trainSideBySide(superpose, job, {
      options,
      steps,
      stride,
      measure: (trainers) => measure(trainers, trained),
      frame() {
        const now = job.live?.state() as State;
        return dataOf(panelsOf(superpose, viewers, trained, now), now);
      },
    });
    return trained;
  });
}

/** Adds a point to each curve. */
function measure(trainers: readonly Trainer[], { curves, parameters }: Trained): void {
  for (const [place, curve] of curves.entries()) {
    const trainer = trainers[place] as Trainer;
    parameters[place]?.push(trainer.parameters());
    const { mean } = trainer.shares();
    curve.accuracy.push(trainer.evaluate().accuracy);
    curve.shares.push(mean && Array.from(mean));
    curve.diverged = trainer.diverged;
  }
}

const modelsOf = (state: State) => fourTasks.map((task) => optionsOf(task, state));

/** The panels of the models so far. The viewers have the models' shape and take on their parameters. */
function panelsOf(
  superpose: Superpose,
  viewers: readonly Trainer[],
  trained: Trained,
  state: State,
): PanelExamples[] {
  const { curves, parameters } = trained;
  const off = state.when === 'after' ? offOf(state) : [];
  const tasks = fourTasks;
  const key = JSON.stringify(off);
  if (trained.moments?.key !== key) trained.moments = { key, of: curves.map(() => []) };
  const moments = trained.moments.of;
  return viewers.map((viewer, place): PanelExamples => {
    const examples = examplesOf(superpose, tasks[place] as SmallTask);
    const known = moments[place] as Moment[];
    const models = parameters[place] as Record<string, Table>[];
    viewer.cutTerms(off);
    for (const model of models.slice(known.length)) {
      viewer.setParameters(model);
      known.push(momentOf(viewer, examples.tokens));
    }
    viewer.setParameters(latest(models));
    const cut = off.length > 0 ? viewer.evaluate().accuracy : null;
    viewer.cutTerms([]);
    const { mean, reason } = viewer.shares({ gauge: 'canonical' });
    return {
      ...(curves[place] as Curve),
      // Scores that were trained without some terms are not a product of two sums: they change when a vector
      // moves from one table to the other, so canonical shares would say nothing.
      canonical: mean && off.length === offOf(state).length ? Array.from(mean) : null,
      reason: reason ?? viewer.shares().reason,
      cut,
      floor: trained.floors?.[place] ?? null,
      examples: { ...examples, moments: [...known] },
    };
  });
}

const momentOf = (trainer: Trainer, tokens: number[]): Moment => ({
  answers: answersOf(trainer, n, tokens),
  attention: Float32Array.from(trainer.attention({ n, tokens }).data),
});

function dataOf(panels: readonly PanelExamples[], state: State): Data {
  const chosen = <T extends { length: number; slice(from: number, to: number): T }>(all: T): T => {
    const size = all.length / mostExamples;
    return all.slice((state.example - 1) * size, state.example * size);
  };
  return {
    panels: panels.map(({ examples: { tokens, targets, moments }, ...panel }) => ({
      ...panel,
      example: {
        tokens: chosen(tokens),
        targets: chosen(targets),
        moments: moments.map(({ answers, attention }) => ({
          answers: chosen(answers),
          attention: chosen(attention),
        })),
      },
    })),
    steps: stride * ((panels[0]?.accuracy.length ?? 1) - 1),
  };
}

/** The tokens of all examples, and their right answers. */
function examplesOf(superpose: Superpose, { task }: SmallTask): Omit<Example, 'moments'> {
  const { tokens } = superpose.taskExamples({ task, n, sequences: mostExamples });
  const { targets } = superpose.taskTargets({ task, n, tokens });
  return { tokens: Array.from(tokens), targets: Array.from(targets) };
}
