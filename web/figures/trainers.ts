import type { Superpose, Trainer, TrainerOptions } from 'superpose';

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
