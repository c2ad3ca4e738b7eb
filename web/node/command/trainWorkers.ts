// Runs of training on threads of Node's: the command's own file once more, which asks here whether it is one.
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { load, type TaskTrainerOptions } from 'superpose';
import { type Doer, spread } from '../../worker/spread.js';
import { type TrainingRun, trainingRun } from '../../worker/trainingRun.js';

const mark = 'superpose train';

export const isTrainWorker = !isMainThread && workerData === mark;

/** Answers one run after another, until it is ended. */
export async function serveRuns(): Promise<void> {
  const superpose = await load();
  parentPort?.on('message', async (options: TaskTrainerOptions) => {
    parentPort?.postMessage(await trainingRun(superpose, options));
  });
}

function thread(): Doer<TaskTrainerOptions, TrainingRun> {
  const worker = new Worker(new URL(import.meta.url), { workerData: mark });
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

/** In the order of what is asked for, on as many threads as there is work and processors for. */
export const runs = (all: readonly TaskTrainerOptions[], signal?: AbortSignal) =>
  spread(all, thread, { workers: availableParallelism(), signal });
