// Handles Ctrl-C and SIGTERM: long work ends where it can, so that what is finished is kept.

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** The error of work that a signal has ended, with the exit code by which a shell recognizes the signal. */
export class Interrupted extends Error {
  constructor(
    readonly exitCode: number,
    message = 'Interrupted before anything was written.',
  ) {
    super(message);
  }
}

/** Aborts with an Interrupted at the first of these signals; a second one ends the process at once. */
export function interruption(): AbortSignal {
  const end = new AbortController();
  for (const [signal, exitCode] of Object.entries(exitCodes))
    process.once(signal, () => end.abort(new Interrupted(exitCode)));
  return end.signal;
}

/** Lets signals arrive between two pieces of work; throws once one has. */
export async function turn(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
