// Models that are trained side by side, and shown on the way.
import type { Superpose, Trainer, TrainerOptions } from 'superpose';
import type { Job } from './figure.js';
import { every, steps } from './tasks.js';
import { turn } from './turn.js';

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
  { looked, show }: { looked(part: number): void; show(turned: 'go' | 'look'): void },
  { stride = every, to = steps } = {},
): Promise<void> {
  for (let done = 0; done < to; ) {
    // Most is learned in the first steps, which would be over before anybody has looked.
    if (job.run && done > 0 && done <= slow) await new Promise((go) => setTimeout(go, pause));
    const turned = await turn(job);
    if (turned === 'go') {
      for (const trainer of trainers) if (!trainer.diverged) trainer.step(stride);
      done += stride;
      looked(done / to);
    }
    show(turned);
  }
}
