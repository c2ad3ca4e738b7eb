// Node's threads. Each runs the command's own file again, which learns here what the thread is for.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { PoolWorker } from '../../worker/workerPool.js';

/** What a thread is for, and what it needs for that. */
interface Purpose {
  purpose: string;
  given: unknown;
}

/** The purpose of this thread; undefined on the main thread. */
export const purpose: Purpose | undefined = isMainThread ? undefined : (workerData as Purpose);

/** Answers one question after another, until the thread is ended. */
export function serve<Job, Result>(answer: (job: Job) => Promise<Result>): void {
  parentPort?.on('message', async (job: Job) => {
    parentPort?.postMessage(await answer(job));
  });
}

export function thread<Job, Result>(forWhat: Purpose): PoolWorker<Job, Result> {
  const worker = new Worker(new URL(import.meta.url), { workerData: forWhat });
  let answer: (result: Result) => void = () => {};
  let fail: (error: Error) => void = () => {};
  worker.on('message', (result) => answer(result));
  worker.on('error', (error) => fail(error));
  worker.on('exit', (code) => fail(new Error(`A thread of ${forWhat.purpose} has ended (${code}).`)));
  return {
    work: (job) =>
      new Promise((resolve, reject) => {
        answer = resolve;
        fail = reject;
        worker.postMessage(job);
      }),
    close: () => worker.terminate(),
  };
}
