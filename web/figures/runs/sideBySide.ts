// Models that are trained side by side and shown on the way: measured at equal strides, from the start to
// the end.
import type { Superpose, Trainer, TrainerOptions } from 'add-or-concatenate';
import type { Job, Library } from '../figure.js';
import { mayTrain } from './tasks.js';
import { nextTurn } from './trainingRun.js';

/** A figure's data: recorded beforehand, memoized from an earlier question, or trained now. */
export async function recordedOrTrained<Data>(
  library: Library,
  job: Job,
  /** The name and key of the memo; `file` is the recorded one that answers this key, if there is any. */
  { name, key, file }: { name: string; key: unknown; file: string | undefined },
  train: (superpose: Superpose) => Promise<Data>,
): Promise<Data> {
  const again = job.live?.again;
  const recordedFirst = async () => {
    const recorded = again || file === undefined ? undefined : await library.recorded?.(file);
    return recorded === undefined ? train(await library.superpose()) : (recorded as Data);
  };
  return library.memoize(name, key, recordedFirst, again);
}

/** Makes trainers for `use`, and deletes them afterwards, even if `use` throws. */
export async function withTrainers<T>(
  superpose: Superpose,
  options: readonly TrainerOptions[],
  use: (trainers: Trainer[]) => T | Promise<T>,
): Promise<T> {
  const trainers: Trainer[] = [];
  try {
    for (const ofTrainer of options) trainers.push(superpose.trainer(ofTrainer));
    return await use(trainers);
  } finally {
    for (const trainer of trainers) trainer.delete();
  }
}

/** How many steps are shown slowly at the start, and how long each of their frames lasts, in milliseconds. */
const slowSteps = 60;
const pause = 150;

export interface SideBySide {
  options: readonly TrainerOptions[];
  /** The number of steps in all, and from one measurement to the next. */
  steps: number;
  stride: number;
  /** Called with the models at the start and after every stride. */
  measure(trainers: readonly Trainer[]): void;
  /** The figure's data so far, for a reader who watches. */
  frame(): unknown;
}

/**
 * Trains models side by side. If training takes long and the reader did not ask for it, the models are only
 * measured at the start.
 */
export function trainSideBySide(
  superpose: Superpose,
  job: Job,
  { options, steps, stride, measure, frame }: SideBySide,
): Promise<void> {
  return withTrainers(superpose, options, async (trainers) => {
    const show = () => {
      if (job.live) job.live.frame(frame());
    };
    measure(trainers);
    show();
    if (!mayTrain(job, steps)) return;
    for (let done = 0; done < steps; ) {
      // Most is learned in the first steps, which would be over before anybody has looked.
      if (job.live && done > 0 && done <= slowSteps) {
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
      if ((await nextTurn(job)) === 'go') {
        for (const trainer of trainers) {
          if (!trainer.diverged) trainer.step(stride);
        }
        done += stride;
        measure(trainers);
        job.progress(done / steps);
      }
      show();
    }
  });
}

/** A model's answer at each place of a row of n tokens: the class with the largest logit. */
export function answersOf(trainer: Trainer, n: number, tokens: readonly number[]): number[] {
  const { data, columns } = trainer.logits({ n, tokens: [...tokens] });
  return tokens.map((_, place) => {
    const logits = data.subarray(place * columns, (place + 1) * columns);
    return logits.indexOf(Math.max(...logits));
  });
}
