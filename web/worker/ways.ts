// Ways to have questions answered. A page tries them in turn: a worker, which a page of another origin may
// not start; a worker made of a blob, which a policy may forbid; and its own thread.
import type { Question, Reply } from './protocol.js';

/** What a Worker has, as far as it is used. */
export interface Line {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  /** Ends it, whatever it is at. The page's own thread has none. */
  terminate?(): void;
}

export interface Way {
  name: 'worker' | 'blob worker' | 'page';
  start(): Line;
}

let policy: { createScriptURL(address: string): object } | undefined;

/**
 * The address of a worker as a page that asks for Trusted Types wants it. Where the page allows no policy of this
 * name, making one throws, and the next way is tried.
 */
export function scriptAddress(address: string): string {
  if (typeof trustedTypes === 'object') {
    policy ??= trustedTypes.createPolicy('superpose', { createScriptURL: (same) => same });
  }
  // The compiler's Worker takes a text only.
  return (policy?.createScriptURL(address) ?? address) as string;
}

/** A classic worker of this text. It is told first what it needs, then asked. */
export const blobWorker = (text: string, first?: () => unknown): Way => ({
  name: 'blob worker',
  start() {
    const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    const worker = new Worker(scriptAddress(address));
    if (first) worker.postMessage(first());
    return worker;
  },
});

/** Given what to say with, what answers: see answers.ts, which this must not import. */
export type Answering = (say: (reply: Reply) => void) => (question: Question) => void;

/** The page's own thread. Its computing stops for the page wherever it waits for the library. */
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

/** Said once by each entry, before any figure asks. */
export function setWays(...all: Way[]): void {
  ways = all;
}
