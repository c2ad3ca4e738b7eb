// Models that are trained side by side, and shown on the way.
import type { Superpose, Trainer, TrainerOptions } from 'superpose';
import type { Job } from './figure.js';
import { every, steps } from './tasks.js';
import { turn } from './turn.js';

/** Trainers for as long as they are used: all of them are deleted, whatever comes of it. */
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

/** `looked` after each few steps of all of them, with the part that is done; `show` then, and when the reader looks. */
export async function trainTogether(
  trainers: readonly Trainer[],
  job: Job,
  { looked, show }: { looked(part: number): void; show(turned: 'go' | 'look'): void },
): Promise<void> {
  for (let done = 0; done < steps; ) {
    const turned = await turn(job);
    if (turned === 'go') {
      for (const trainer of trainers) if (!trainer.diverged) trainer.step(every);
      done += every;
      looked(done / steps);
    }
    show(turned);
  }
}
