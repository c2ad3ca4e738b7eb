// Training runs on threads.
import { availableParallelism } from 'node:os';
import { load, type TaskTrainerOptions } from 'superpose';
import { type TrainingRun, trainingRun } from '../../figures/trainingRun.js';
import { inPool } from '../../worker/workerPool.js';
import { serve, thread } from './threads.js';

export const purpose = 'training';

export async function serveRuns(): Promise<void> {
  const superpose = await load();
  serve((options: TaskTrainerOptions) => trainingRun(superpose, options));
}

/** Results in the order of `all`, on as many threads as there are runs and processors for. */
export const runs = (all: readonly TaskTrainerOptions[], signal?: AbortSignal) =>
  inPool<TaskTrainerOptions, TrainingRun>(all, () => thread({ purpose, given: undefined }), {
    workers: availableParallelism(),
    signal,
  });
