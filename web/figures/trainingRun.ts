// One training run of a small transformer from beginning to end, for tables of runs.
import type { Superpose, Table, TaskTrainerOptions, Trainer } from 'superpose';
import { aim } from './tasks.js';

/** Steps between two looks at accuracy, until it has reached `aim`. */
const usualEvery = 5;
/** Steps between two rests. */
const slice = 40;

export interface Measurements {
  /** Steps between two looks at accuracy. */
  every?: number;
  /** At both ends, how large position rows are beside token rows. */
  loudness?: true;
}

export interface TrainingRun {
  /** Accuracy on the evaluation set, at the end. */
  accuracy: number;
  /** Steps until accuracy was first 99 % or more; null if it never was. */
  stepsToAim: number | null;
  /** It stopped because a loss or gradient was not finite. */
  diverged: boolean;
  /** Length of position rows over that of token rows, before and after; only if asked for. */
  loudness?: [number, number];
  parameters: Record<string, Table>;
}

/** Awaits `rest` between slices of steps. */
export async function trainingRun(
  superpose: Superpose,
  options: TaskTrainerOptions,
  { every = usualEvery, loudness }: Measurements = {},
  rest: () => Promise<void> = async () => {},
): Promise<TrainingRun> {
  const trainer = superpose.trainer(options);
  try {
    const before = loudness && loudnessOf(trainer);
    let stepsToAim: number | null = null;
    let rested = 0;
    while (trainer.steps < trainer.plannedSteps && !trainer.diverged) {
      if (trainer.steps - rested >= slice) {
        await rest();
        rested = trainer.steps;
      }
      trainer.step(Math.min(trainer.plannedSteps - trainer.steps, stepsToAim === null ? every : slice));
      if (stepsToAim === null && trainer.accuracy() >= aim) stepsToAim = trainer.steps;
    }
    const { diverged } = trainer;
    return {
      accuracy: trainer.accuracy(),
      stepsToAim,
      diverged,
      ...(before !== undefined && { loudness: [before, loudnessOf(trainer)] }),
      parameters: trainer.parameters(),
    };
  } finally {
    trainer.delete();
  }
}

function loudnessOf(trainer: Trainer): number {
  const { tokens, positions } = trainer.loudness();
  return (positions ?? 0) / tokens;
}
