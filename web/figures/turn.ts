// What a computation waits for between two of its slices.
import type { Job } from './figure.js';

/** Hears the reader of a run, if there is one, and throws when nobody waits for it any more. */
export async function turn({ run, signal }: Job): Promise<'go' | 'look'> {
  if (run) return run.turn();
  await new Promise((go) => setTimeout(go));
  signal.throwIfAborted();
  return 'go';
}
