// The page's side of the worker: one question of a kind under way, the newest waiting, older ones
// dropped, so that a slider never waits for an answer that nobody wants any more.
import type { Question, Reply, Task, Tasks } from './protocol.js';

type Answered<T extends Task> = (answer: Tasks[T]['answer']) => void;

export interface Asker<T extends Task> {
  /** Asks, now or as soon as the question under way is answered. */
  ask(request: Tasks[T]['request']): void;
}

let worker: Worker | undefined;
let nextId = 0;
const waiting = new Map<number, (reply: Reply) => void>();

function start(): Worker {
  if (worker) return worker;
  worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  };
  // A worker that cannot be loaded says so in an event only, whatever was asked of it.
  worker.onerror = () => {
    worker = undefined;
    const error = 'The part of this page that computes could not be loaded. Reload the page to try again.';
    for (const [id, settle] of waiting) settle({ id, error });
    waiting.clear();
  };
  return worker;
}

export function asker<T extends Task>(
  task: T,
  answered: Answered<T>,
  failed: (sentence: string) => void,
): Asker<T> {
  let underWay = false;
  let newest: Tasks[T]['request'] | undefined;

  const send = (request: Tasks[T]['request']) => {
    underWay = true;
    const question: Question<T> = { id: nextId++, task, request };
    waiting.set(question.id, (reply) => {
      underWay = false;
      const next = newest;
      newest = undefined;
      if (next) send(next);
      if ('error' in reply) failed(reply.error);
      else answered(reply.answer as Tasks[T]['answer']);
    });
    try {
      start().postMessage(question);
    } catch (error) {
      waiting.get(question.id)?.({ id: question.id, error: (error as Error).message });
      waiting.delete(question.id);
    }
  };

  return {
    ask(request) {
      if (underWay) newest = request;
      else send(request);
    },
  };
}
