// Training runs on Node's threads.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { TaskTrainerOptions } from 'superpose';
import type { TrainingRun } from '../../figures/training.js';
import { inPool, type PoolWorker } from '../../worker/workerPool.js';

/** What the build makes of trainThread.ts; a name that a bundler does not follow. */
const threadFile = 'trainThread.js';

function thread(): PoolWorker<TaskTrainerOptions, TrainingRun> {
  const worker = new Worker(new URL(threadFile, import.meta.url));
  let answer: (run: TrainingRun) => void = () => {};
  let fail: (error: Error) => void = () => {};
  worker.on('message', (run) => answer(run));
  worker.on('error', (error) => fail(error));
  worker.on('exit', (code) => fail(new Error(`A thread of training has ended (${code}).`)));
  return {
    work: (options) =>
      new Promise((resolve, reject) => {
        answer = resolve;
        fail = reject;
        worker.postMessage(options);
      }),
    close: () => worker.terminate(),
  };
}

/** Results in the order of `all`, on as many threads as there are runs and processors for. */
export const runs = (all: readonly TaskTrainerOptions[]) =>
  inPool<TaskTrainerOptions, TrainingRun>(all, thread, availableParallelism());
