// How a long computation pauses between its slices.
import type { Job } from './figure.js';

/** Yields the thread; throws once the job is cancelled. */
export async function breath({ signal }: Job): Promise<void> {
  await new Promise((go) => setTimeout(go));
  signal.throwIfAborted();
}

/** In a run that is watched, waits for the next turn; in any other, only yields. */
export async function turn(job: Job): Promise<'go' | 'look'> {
  if (job.run) return job.run.turn();
  await breath(job);
  return 'go';
}
