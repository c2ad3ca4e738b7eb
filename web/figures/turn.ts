// What a computation waits for between two of its slices.
import type { Job } from './figure.js';

/** Lets others have the thread, and throws when nobody waits for this job any more. */
export async function breath({ signal }: Job): Promise<void> {
  await new Promise((go) => setTimeout(go));
  signal.throwIfAborted();
}

/** Waits for the turn of a run that somebody watches, and of any other only takes a breath. */
export async function turn(job: Job): Promise<'go' | 'look'> {
  if (job.run) return job.run.turn();
  await breath(job);
  return 'go';
}
