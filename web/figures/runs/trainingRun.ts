// One training run of a small transformer: how far it goes, and what is measured on the way.
import type { Superpose, Table, TaskTrainerOptions, Trainer } from 'add-or-concatenate';
import { latest } from '../../plot/plainCopy.js';
import type { Job } from '../figure.js';
import { aim, checkpoints } from './tasks.js';

/** The checkpoints of a run of so many steps; its end is always the last. */
export const checkpointsTo = (steps: number): number[] => [
  ...checkpoints.filter((step) => step < steps),
  steps,
];

/** How many steps are trained before other work has its turn, unless the caller says otherwise. */
const usualSlice = 40;
/** The number of steps to the next measurement of accuracy, as long as accuracy has not reached `aim`. */
const strideAt = (step: number): number => (step < 400 ? 5 : step < 2000 ? 50 : 500);

export interface RunRequest {
  options: TaskTrainerOptions;
  /** How many steps to train; a recorded run of more steps answers the request, too. */
  steps: number;
  /** Set if the length of position rows over that of token rows is measured, before and after training. */
  loudness?: true;
}

export interface TrainingRun {
  steps: number;
  /** Accuracy on the evaluation set, from 0 to 1, at each of checkpointsTo(steps). */
  right: number[];
  /** Steps until accuracy was first 99 % or more; null if it never was. */
  stepsToAim: number | null;
  /** It stopped because a loss or gradient was not finite; its accuracy then counts for all later steps. */
  diverged: boolean;
  /** Length of position rows over that of token rows, before and after; only if the request measures it. */
  loudness?: [number, number];
  parameters: Record<string, Table>;
}

/** Accuracy at the last checkpoint that is not after a step, or at the first. */
export function accuracyAt({ right, steps }: Pick<TrainingRun, 'right' | 'steps'>, step: number): number {
  const count = checkpointsTo(steps).filter((checkpoint) => checkpoint <= step).length;
  return right[Math.max(0, count - 1)] as number;
}

/** A run that can go on where it stopped. */
export interface StartedRun {
  /** Awaits `rest` between slices of so many steps. */
  trainTo(steps: number, rest?: () => Promise<void>, slice?: number): Promise<void>;
  result(): TrainingRun;
  delete(): void;
}

export function startedRun(superpose: Superpose, options: TaskTrainerOptions, loudness?: true): StartedRun {
  const trainer = superpose.trainer(options);
  const loudnessBefore = loudness && loudnessOf(trainer);
  const right: number[] = [];
  let stepsToAim: number | null = null;
  let steps = 0;

  /** Trains to a step without measuring accuracy. */
  async function trainOn(last: number, rest: () => Promise<void>, slice: number): Promise<void> {
    while (trainer.steps < last && !trainer.diverged) {
      if (trainer.steps - restedAt >= slice) {
        await rest();
        restedAt = trainer.steps;
      }
      trainer.step(Math.min(last - trainer.steps, slice));
    }
  }
  let restedAt = 0;

  async function trainToCheckpoint(checkpoint: number, rest: () => Promise<void>, slice: number) {
    while (trainer.steps < checkpoint && !trainer.diverged) {
      const stride = stepsToAim === null ? strideAt(trainer.steps) : usualSlice;
      await trainOn(Math.min(checkpoint, trainer.steps + stride), rest, slice);
      if (stepsToAim === null && trainer.evaluate().accuracy >= aim) stepsToAim = trainer.steps;
    }
  }

  return {
    async trainTo(last, rest = async () => {}, slice = usualSlice) {
      restedAt = steps;
      for (const checkpoint of checkpointsTo(last).filter((step) => step > steps)) {
        await trainToCheckpoint(checkpoint, rest, slice);
        right.push(trainer.evaluate().accuracy);
      }
      steps = last;
    },
    result: () => ({
      steps,
      right: [...right],
      stepsToAim,
      diverged: trainer.diverged,
      ...(loudnessBefore !== undefined && { loudness: [loudnessBefore, loudnessOf(trainer)] }),
      parameters: trainer.parameters(),
    }),
    delete: () => trainer.delete(),
  };
}

/** One run from beginning to end. */
export async function trainingRun(
  superpose: Superpose,
  { options, steps, loudness }: RunRequest,
  rest?: () => Promise<void>,
  slice?: number,
): Promise<TrainingRun> {
  const run = startedRun(superpose, options, loudness);
  try {
    await run.trainTo(steps, rest, slice);
    return run.result();
  } finally {
    run.delete();
  }
}

/**
 * Recorded runs of a model go on to the next of these lengths, in steps, until their mean accuracy stands
 * still.
 */
export const lengths = [2000, 4000, 8000, 16_000];

/**
 * Whether the mean accuracy of runs moved by less than a percentage point in the second half of their steps.
 */
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

/** Lets other work have its turn; throws if the job has been cancelled. */
export async function yieldThread({ signal }: Job): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
  signal.throwIfAborted();
}

/** Waits for the reader's next order in a job that is watched; in any other it only yields the thread. */
export async function nextTurn(job: Job): Promise<'go' | 'look'> {
  if (job.live) return job.live.turn();
  await yieldThread(job);
  return 'go';
}
