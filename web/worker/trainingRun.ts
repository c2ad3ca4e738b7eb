// One run of a small transformer from beginning to end, as tables of runs have it.
import type { Superpose, Table, TaskTrainerOptions } from 'superpose';

/** Accuracy is looked at so often until it is there. */
const every = 5;
const aim = 0.99;

export interface TrainingRun {
  /** Of the evaluation, at the end. */
  accuracy: number;
  /** Steps until the evaluation first had 99 %, looked at every five; null when it never had. */
  stepsToAim: number | null;
  /** It stopped because a loss or gradient was not finite. */
  diverged: boolean;
  parameters: Record<string, Table>;
}

export function trainingRun(superpose: Superpose, options: TaskTrainerOptions): TrainingRun {
  const trainer = superpose.trainer(options);
  try {
    let stepsToAim: number | null = null;
    while (trainer.steps < trainer.plannedSteps && !trainer.diverged) {
      const left = trainer.plannedSteps - trainer.steps;
      trainer.step(Math.min(left, stepsToAim === null ? every : 1000));
      if (stepsToAim === null && trainer.accuracy() >= aim) stepsToAim = trainer.steps;
    }
    const { diverged } = trainer;
    return { accuracy: trainer.accuracy(), stepsToAim, diverged, parameters: trainer.parameters() };
  } finally {
    trainer.delete();
  }
}
