// Ways to have questions answered. A page tries them in turn: a worker, which a page of another origin may
// not start; a worker made of a blob, which a policy may forbid; and its own thread.
import type { Question, Reply } from './protocol.js';

/** As much of a Worker as is used. */
export interface Line {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  /** Ends it at once. The page's own thread has no such method. */
  terminate?(): void;
}

export interface Way {
  name: 'worker' | 'blob worker' | 'page';
  start(): Line;
}

let policy: { createScriptURL(address: string): object } | undefined;

/**
 * The address of a worker, in the form that pages with Trusted Types require. Where the page allows no policy
 * of this name, creating one throws, and the next way is tried.
 */
export function scriptAddress(address: string): string {
  if (typeof trustedTypes === 'object') {
    policy ??= trustedTypes.createPolicy('superpose', { createScriptURL: (same) => same });
  }
  // TypeScript's Worker takes only a string.
  return (policy?.createScriptURL(address) ?? address) as string;
}

/** A worker with this source. The blob's address is given up once the worker has read it, or could not. */
export function workerOf(text: string, options?: WorkerOptions): Worker {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  const worker = new Worker(scriptAddress(address), options);
  for (const event of ['message', 'error'] as const)
    worker.addEventListener(event, () => URL.revokeObjectURL(address), { once: true });
  return worker;
}

/** A classic worker with this source. `first` is posted to it before any question. */
export const blobWorker = (text: string, first?: () => unknown): Way => ({
  name: 'blob worker',
  start() {
    const worker = workerOf(text);
    if (first) worker.postMessage(first());
    return worker;
  },
});

/** Takes a function for replies and returns one for questions: see answers.ts, which this must not import. */
export type Answering = (say: (reply: Reply) => void) => (question: Question) => void;

/** The page's own thread. Computing lets the page take its turn wherever it waits for the library. */
export const ownThread = (make: () => Promise<Answering>): Way => ({
  name: 'page',
  start() {
    const line: Line = {
      onmessage: null,
      onerror: null,
      postMessage: (question) => void answer.then((one) => one(question as Question)).catch(() => {}),
    };
    const answer = make().then((answering) =>
      answering((reply) => line.onmessage?.({ data: reply } as MessageEvent)),
    );
    answer.catch(() => line.onerror?.(new ErrorEvent('error')));
    return line;
  },
});

let ways: readonly Way[] = [];
export const knownWays = (): readonly Way[] => ways;

/** Called once by each entry point, before any figure asks. */
export function setWays(...all: Way[]): void {
  ways = all;
}
