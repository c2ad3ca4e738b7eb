// Runs independent jobs on several workers and gives their results in the order of the jobs.

/** A worker, or a stand-in for one. Does one job at a time. */
export interface Doer<Job, Result> {
  work(job: Job): Promise<Result>;
  /** Ends it at once, even in the middle of a job. */
  close(): void;
}

export interface SpreadOptions {
  /** How many at most; from 1 up. */
  workers: number;
  /** Ends all workers; the results then fail with its reason. */
  signal?: AbortSignal | undefined;
}

interface Place<Result> {
  result: Promise<Result>;
  take(result: Result): void;
  fail(error: unknown): void;
}

function place<Result>(): Place<Result> {
  let take: Place<Result>['take'] = () => {};
  let fail: Place<Result>['fail'] = () => {};
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
export async function* spread<Job, Result>(
  jobs: readonly Job[],
  start: () => Doer<Job, Result>,
  { workers, signal }: SpreadOptions,
): AsyncGenerator<Result, void> {
  signal?.throwIfAborted();
  const places = jobs.map(() => place<Result>());
  const stop = () => {
    for (const { fail } of places) fail(signal?.reason);
  };
  const doers: Doer<Job, Result>[] = [];
  let next = 0;
  const turn = async (doer: Doer<Job, Result>) => {
    while (next < jobs.length) {
      const at = next++;
      const result = doer.work(jobs[at] as Job);
      result.then(places[at]?.take, places[at]?.fail);
      // Stops at a failure: the worker may be gone.
      await result;
    }
  };
  try {
    signal?.addEventListener('abort', stop);
    for (let k = 0; k < Math.min(workers, jobs.length); k++) {
      const doer = started(start, doers.length > 0);
      if (!doer) break;
      doers.push(doer);
      turn(doer).catch(() => {});
    }
    for (const { result } of places) yield await result;
  } finally {
    signal?.removeEventListener('abort', stop);
    next = jobs.length;
    for (const doer of doers) doer.close();
  }
}
