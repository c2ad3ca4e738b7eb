// Training runs on Node's threads. Each runs the command's own file again, which learns here that it is a thread.
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { load, type TaskTrainerOptions } from 'superpose';
import { type TrainingRun, trainingRun } from '../../figures/trainingRun.js';
import { inPool, type PoolWorker } from '../../worker/workerPool.js';

export const isThread = !isMainThread;

/** Answers one question after another, until the thread is ended. */
export async function serveRuns(): Promise<void> {
  const superpose = await load();
  parentPort?.on('message', async (options: TaskTrainerOptions) => {
    parentPort?.postMessage(await trainingRun(superpose, options));
  });
}

function thread(): PoolWorker<TaskTrainerOptions, TrainingRun> {
  const worker = new Worker(new URL(import.meta.url));
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
export const runs = (all: readonly TaskTrainerOptions[], signal?: AbortSignal) =>
  inPool<TaskTrainerOptions, TrainingRun>(all, thread, { workers: availableParallelism(), signal });
