// The page's side of the worker: of each asker one question under way, which a newer one cancels, so that a
// slider never waits for an answer that nobody wants any more.
import type { State } from '../figures/controls.js';
import type { Question, Reply } from './protocol.js';

export interface Asker {
  /** Asks, now or as soon as the question under way has ended. */
  ask(state: State): void;
  /** Ends the question under way; nothing is said of it any more. */
  cancel(): void;
}

export interface Answers {
  answered(data: unknown, state: State): void;
  failed(sentence: string): void;
  progress(fraction: number): void;
}

let worker: Worker | undefined;
let nextId = 0;
const waiting = new Map<number, (reply: Reply) => void>();

function start(): Worker {
  if (worker) return worker;
  worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }: MessageEvent<Reply>) => waiting.get(data.id)?.(data);
  // A worker that cannot be loaded says so in an event only, whatever was asked of it.
  worker.onerror = () => {
    worker = undefined;
    const error = 'The part of this page that computes could not be loaded. Reload the page to try again.';
    for (const [id, settle] of [...waiting]) settle({ id, error });
  };
  return worker;
}

export function asker(figure: string, { answered, failed, progress }: Answers): Asker {
  let underWay: { id: number; wanted: boolean } | undefined;
  let newest: State | undefined;

  const send = (state: State) => {
    const mine = { id: nextId++, wanted: true };
    underWay = mine;
    const settle = (reply: Reply) => {
      if ('progress' in reply) {
        if (mine.wanted) progress(reply.progress);
        return;
      }
      waiting.delete(mine.id);
      underWay = undefined;
      const next = newest;
      newest = undefined;
      if (next) send(next);
      if (!mine.wanted) return;
      if ('error' in reply) {
        // A question that a newer one has overtaken was cancelled: its failure is no news.
        if (!next) failed(reply.error);
      } else answered(reply.data, state);
    };
    waiting.set(mine.id, settle);
    try {
      start().postMessage({ id: mine.id, figure, state } satisfies Question);
    } catch (error) {
      settle({ id: mine.id, error: (error as Error).message });
    }
  };

  const stop = () => {
    if (underWay) worker?.postMessage({ cancel: underWay.id } satisfies Question);
  };

  return {
    ask(state) {
      if (!underWay) send(state);
      else {
        newest = state;
        stop();
      }
    },
    cancel() {
      newest = undefined;
      if (underWay) underWay.wanted = false;
      stop();
    },
  };
}
