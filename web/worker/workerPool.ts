// Runs independent jobs on several workers and gives their results in the order of the jobs.

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
