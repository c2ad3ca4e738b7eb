// Training runs on Node's threads: independent jobs on several workers, with their results in the order of the jobs.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { TaskTrainerOptions } from 'superpose';
import type { TrainingRun } from '../../figures/training.js';

/** A worker, or a stand-in for one. Does one job at a time. */
export interface PoolWorker<Job, Result> {
  work(job: Job): Promise<Result>;
  /** Ends it at once, even in the middle of a job. */
  close(): void;
}

/**
 * Yields each result once it and all before it are there, from at most so many workers. The first job is begun first,
 * so the first result does not wait for the rest. A job that fails ends the results there. Leaving the loop early ends
 * the workers.
 */
export async function* inPool<Job, Result>(
  jobs: readonly Job[],
  start: () => PoolWorker<Job, Result>,
  workers: number,
): AsyncGenerator<Result, void> {
  const pool = Array.from({ length: Math.min(workers, jobs.length) }, start);
  const idle = [...pool];
  const waiting: ((worker: PoolWorker<Job, Result>) => void)[] = [];
  const results = jobs.map(async (job) => {
    const worker = idle.shift() ?? (await new Promise<(typeof pool)[0]>((take) => waiting.push(take)));
    // One that fails takes no other job: it may be gone.
    const result = await worker.work(job);
    const next = waiting.shift();
    if (next) next(worker);
    else idle.push(worker);
    return result;
  });
  // Nobody may ever await one of these; its failure must not count as unhandled.
  for (const one of results) one.catch(() => {});
  try {
    for (const result of results) yield await result;
  } finally {
    waiting.length = 0;
    for (const worker of pool) worker.close();
  }
}

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
