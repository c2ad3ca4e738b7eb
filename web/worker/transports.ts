// How a question gets from a page to the code that computes. A figure asks client.ts, and a transport takes
// the question to a worker. There answers.ts computes the figure with library.ts, and replies with progress
// and frames, then with data or an error. A page tries its transports in turn: a worker, which a page of
// another origin may not start; a worker made of a blob, which a policy may forbid; and its own thread, where
// answers.ts lets the page go on.
import type { State } from '../figures/controls.js';

export type Question =
  /**
   * With `excerpt`, the answer is what the figure's state reads of the model instead of the figure's data.
   * With `again`, nothing of an earlier computation is used. With `paused`, a live job waits before its first
   * turn.
   */
  | { id: number; figure: string; state: State; excerpt?: true; again?: true; paused?: true }
  | { cancel: number }
  /** An order to the live job that answers the question of this id. */
  | { job: number; order: Order };

/** Wait before the next turn, go on, take one more turn, or show what there is with other settings. */
export type Order = 'pause' | 'go' | 'step' | { look: State };

export type Reply =
  | { id: number; data: unknown }
  | { id: number; error: string }
  | { id: number; progress: number }
  /** The data as they are in the middle of a live job. */
  | { id: number; frame: unknown };

/** The part of a Worker that is used. */
export interface Connection {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  /** Ends the worker at once. The page's own thread cannot be ended. */
  terminate?(): void;
}

export interface Transport {
  name: 'worker' | 'blob worker' | 'page';
  start(): Connection;
}

let policy: { createScriptURL(address: string): object } | undefined;

/**
 * The address of a worker, in the form that pages with Trusted Types require. If the page allows no policy
 * of this name, creating it throws, and the next transport is tried.
 */
export function scriptAddress(address: string): string {
  if (typeof trustedTypes === 'object') {
    policy ??= trustedTypes.createPolicy('superpose', { createScriptURL: (same) => same });
  }
  // TypeScript's Worker takes only a string.
  return (policy?.createScriptURL(address) ?? address) as string;
}

/** A worker with this source. The blob's address is revoked once the worker has read it or failed to. */
export function workerOf(text: string, options?: WorkerOptions): Worker {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  const worker = new Worker(scriptAddress(address), options);
  for (const event of ['message', 'error'] as const)
    worker.addEventListener(event, () => URL.revokeObjectURL(address), { once: true });
  return worker;
}

/** A classic worker with this source. The value of `first` is posted to it before any question. */
export const blobWorker = (text: string, first?: () => unknown): Transport => ({
  name: 'blob worker',
  start() {
    const worker = workerOf(text);
    if (first) worker.postMessage(first());
    return worker;
  },
});

/**
 * The type of `answering` in answers.ts, which this file must not import: it takes the function for replies
 * and returns the function for questions.
 */
export type Answering = (reply: (reply: Reply) => void) => (question: Question) => void;

/** Computes on the page's thread, and lets the page take its turn wherever a figure waits for the library. */
export const pageThread = (load: () => Promise<Answering>): Transport => ({
  name: 'page',
  start() {
    const line: Connection = {
      onmessage: null,
      onerror: null,
      postMessage: (question) => void loaded.then((answer) => answer(question as Question)).catch(() => {}),
    };
    const loaded = load().then((answering) =>
      answering((reply) => line.onmessage?.({ data: reply } as MessageEvent)),
    );
    loaded.catch(() => line.onerror?.(new ErrorEvent('error')));
    return line;
  },
});

/** Each entry point adds its transports once, before any figure asks. */
export const transports: Transport[] = [];
