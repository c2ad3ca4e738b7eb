// Runs independent jobs on several workers and gives their results in the order of the jobs.
import type { State } from '../figures/controls.js';
import { own } from '../plot/ownMembers.js';
import { type Question, type Reply, scriptAddress } from './transports.js';

/** A worker, or a stand-in for one. Does one job at a time. */
export interface PoolWorker<Job, Result> {
  work(job: Job): Promise<Result>;
  /** Ends it at once, even in the middle of a job. */
  close(): void;
}

export interface PoolOptions {
  /** How many at most; from 1 up. */
  workers: number;
  /** Ends all workers; the results then fail with its reason. */
  signal?: AbortSignal | undefined;
}

interface Slot<Result> {
  result: Promise<Result>;
  take(result: Result): void;
  fail(error: unknown): void;
}

function slot<Result>(): Slot<Result> {
  let take: Slot<Result>['take'] = () => {};
  let fail: Slot<Result>['fail'] = () => {};
  const result = new Promise<Result>((resolve, reject) => {
    take = resolve;
    fail = reject;
  });
  // Nobody may ever await this one; its failure must not count as unhandled.
  result.catch(() => {});
  return { result, take, fail };
}

/** One more worker. If it cannot start, those there are must do; without any, that is an error. */
function started<Made>(start: () => Made, enough: boolean): Made | undefined {
  try {
    return start();
  } catch (error) {
    if (!enough) throw error;
    return undefined;
  }
}

/**
 * Yields each result once it and all before it are there. The first job is begun first, so the first result
 * does not wait for the rest. A job that fails ends the results there. Leaving the loop early, or the signal,
 * ends the workers.
 */
export async function* inPool<Job, Result>(
  jobs: readonly Job[],
  start: () => PoolWorker<Job, Result>,
  { workers, signal }: PoolOptions,
): AsyncGenerator<Result, void> {
  signal?.throwIfAborted();
  const slots = jobs.map(() => slot<Result>());
  const stop = () => {
    for (const { fail } of slots) fail(signal?.reason);
  };
  const pool: PoolWorker<Job, Result>[] = [];
  let next = 0;
  const turn = async (worker: PoolWorker<Job, Result>) => {
    while (next < jobs.length) {
      const at = next++;
      const result = worker.work(jobs[at] as Job);
      result.then(slots[at]?.take, slots[at]?.fail);
      // Stops at a failure: the worker may be gone.
      await result;
    }
  };
  try {
    signal?.addEventListener('abort', stop);
    for (let k = 0; k < Math.min(workers, jobs.length); k++) {
      const worker = started(start, pool.length > 0);
      if (!worker) break;
      pool.push(worker);
      turn(worker).catch(() => {});
    }
    for (const { result } of slots) yield await result;
  } finally {
    signal?.removeEventListener('abort', stop);
    next = jobs.length;
    for (const doer of pool) doer.close();
  }
}

/**
 * A worker that a worker starts from its own file; it answers one question after another.
 * Throws where no worker may be started. `work` rejects if the question fails or
 * the worker itself does.
 */
export function nestedWorker<Result>(address: string, figure: string): PoolWorker<State, Result> {
  const worker = new Worker(scriptAddress(address), { type: 'module' });
  let id = 0;
  let answered: (data: Result) => void = () => {};
  let failed: (error: Error) => void = () => {};
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    const reply = own(data);
    if ('data' in reply) answered(reply.data as Result);
    else if ('error' in reply) failed(new Error(reply.error));
  };
  worker.onerror = (event) => {
    event.preventDefault();
    failed(new Error('Another worker could not be loaded.'));
  };
  return {
    work: (state) =>
      new Promise((resolve, reject) => {
        answered = resolve;
        failed = reject;
        worker.postMessage({ id: id++, figure, state } satisfies Question);
      }),
    close: () => worker.terminate(),
  };
}

/** Workers that the machine has room for. */
export const roomForWorkers = (): number => navigator.hardwareConcurrency || 1;
