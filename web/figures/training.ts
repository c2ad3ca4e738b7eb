// Small transformers in training: one run for a table, how far it goes and what is kept on its way; and models that are
// trained side by side, and shown on the way.
import type { Superpose, Table, TaskTrainerOptions, Trainer, TrainerOptions } from 'superpose';
import { latest } from '../plot/plainCopy.js';
import type { Job } from './figure.js';
import { aim, every, keptSteps, steps } from './tasks.js';

/** Those of a run of so many steps; its end is always one. */
export const keptTo = (steps: number): number[] => [...keptSteps.filter((at) => at < steps), steps];

/** Steps between two rests. */
const slice = 40;
/** Steps from here to the next look at accuracy, until it has reached `aim`. */
const strideAt = (step: number): number => (step < 400 ? 5 : step < 2000 ? 50 : 500);

export interface CellJob {
  options: TaskTrainerOptions;
  /** How far it is trained; a recorded run that went further is as good. */
  steps: number;
  /** At both ends, how large position rows are beside token rows. */
  loudness?: true;
}

export interface TrainingRun {
  steps: number;
  /** Accuracy on the evaluation set after each of keptTo(steps). */
  right: number[];
  /** Steps until accuracy was first 99 % or more; null if it never was. */
  stepsToAim: number | null;
  /** It stopped because a loss or gradient was not finite; what it got right then counts for all later steps. */
  diverged: boolean;
  /** Only if asked for. */
  loudness?: [number, number];
  parameters: Record<string, Table>;
}

export const accuracyAt = ({ right, steps }: Pick<TrainingRun, 'right' | 'steps'>, step: number): number => {
  const there = keptTo(steps).filter((at) => at <= step).length;
  return right[Math.max(0, there - 1)] as number;
};

/** A run that can go on where it stopped. */
export interface StartedRun {
  /** Awaits `rest` between slices of steps. */
  goOn(steps: number, rest?: () => Promise<void>): Promise<void>;
  soFar(): TrainingRun;
  delete(): void;
}

export function startedRun(superpose: Superpose, options: TaskTrainerOptions, loud?: true): StartedRun {
  const trainer = superpose.trainer(options);
  const before = loud && loudnessOf(trainer);
  const right: number[] = [];
  let stepsToAim: number | null = null;
  let steps = 0;
  return {
    async goOn(to, rest = async () => {}) {
      let rested = steps;
      for (const kept of keptTo(to).filter((at) => at > steps)) {
        while (trainer.steps < kept && !trainer.diverged) {
          if (trainer.steps - rested >= slice) {
            await rest();
            rested = trainer.steps;
          }
          trainer.step(Math.min(kept - trainer.steps, stepsToAim === null ? strideAt(trainer.steps) : slice));
          if (stepsToAim === null && trainer.evaluate().accuracy >= aim) stepsToAim = trainer.steps;
        }
        right.push(trainer.evaluate().accuracy);
      }
      steps = to;
    },
    soFar: () => ({
      steps,
      right: [...right],
      stepsToAim,
      diverged: trainer.diverged,
      ...(before !== undefined && { loudness: [before, loudnessOf(trainer)] }),
      parameters: trainer.parameters(),
    }),
    delete: () => trainer.delete(),
  };
}

/** One run from beginning to end. */
export async function trainingRun(
  superpose: Superpose,
  { options, steps, loudness }: CellJob,
  rest?: () => Promise<void>,
): Promise<TrainingRun> {
  const run = startedRun(superpose, options, loudness);
  try {
    await run.goOn(steps, rest);
    return run.soFar();
  } finally {
    run.delete();
  }
}

/** How far runs of one model go: on to the next of these until the mean of its seeds stands still. */
export const lengths = [2000, 4000, 8000, 16_000];

/** Whether that mean moved by less than a point over the last half. */
export function standsStill(superpose: Pick<Superpose, 'summary'>, runs: readonly TrainingRun[]): boolean {
  const { steps } = latest(runs);
  const meanAt = (step: number) =>
    superpose.summary(Float64Array.from(runs, (run) => accuracyAt(run, step))).mean;
  return Math.abs(meanAt(steps) - meanAt(steps / 2)) < 0.01;
}

function loudnessOf(trainer: Trainer): number {
  const { tokens, positions } = trainer.loudness();
  return (positions ?? 0) / tokens;
}

/** Yields the thread; throws once the job is cancelled. */
export async function breath({ signal }: Job): Promise<void> {
  await new Promise((go) => setTimeout(go));
  signal.throwIfAborted();
}

/** In a run that is watched, waits for the next turn; in any other, only yields. */
export async function turn(job: Job): Promise<'go' | 'look'> {
  if (job.live) return job.live.turn();
  await breath(job);
  return 'go';
}

/** Makes trainers for `use`, and deletes all of them afterwards, whatever comes of it. */
export async function withTrainers<T>(
  superpose: Superpose,
  options: TrainerOptions[],
  use: (trainers: Trainer[]) => T | Promise<T>,
): Promise<T> {
  const trainers: Trainer[] = [];
  try {
    for (const one of options) trainers.push(superpose.trainer(one));
    return await use(trainers);
  } finally {
    for (const one of trainers) one.delete();
  }
}

/** The steps that are shown slowly, and how long one look at them lasts, in milliseconds. */
const slow = 60;
const pause = 150;

/**
 * Trains all of them, `stride` steps at a time. Then calls `looked` with the part that is done, and `show`,
 * which is also called when the reader looks at the run with other settings.
 */
export async function trainTogether(
  trainers: readonly Trainer[],
  job: Job,
  { looked, show }: { looked(part: number): void; show(): void },
  { stride = every, to = steps } = {},
): Promise<void> {
  for (let done = 0; done < to; ) {
    // Most is learned in the first steps, which would be over before anybody has looked.
    if (job.live && done > 0 && done <= slow) await new Promise((go) => setTimeout(go, pause));
    if ((await turn(job)) === 'go') {
      for (const trainer of trainers) if (!trainer.diverged) trainer.step(stride);
      done += stride;
      looked(done / to);
    }
    show();
  }
}
