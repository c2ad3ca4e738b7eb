// The page's side of the worker: of each asker one question under way, which a newer one cancels, so that a
// slider never waits for an answer that nobody wants any more.
import type { State } from '../figures/controls.js';
import type { Question, Reply } from './protocol.js';
import { knownWays, type Line, type Way } from './ways.js';

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

let line: Line | undefined;
/** Place in the list of ways. */
let way = 0;
let nextId = 0;
const waiting = new Map<number, { question: Question; settle(reply: Reply): void }>();

/** Where the questions are answered; undefined before the first. */
export const answeredIn = (): Way['name'] | undefined => (line ? knownWays()[way]?.name : undefined);

const broken = 'The part of this page that computes could not be loaded. Reload the page to try again.';

function start(): Line {
  while (!line) {
    try {
      line = listenedTo((knownWays()[way] as Way).start());
    } catch (error) {
      if (way + 1 >= knownWays().length) throw new Error(broken, { cause: error });
      way += 1;
    }
  }
  return line;
}

/** Has what answers load before the first question. */
export function startEarly(): void {
  try {
    start();
  } catch {
    // The first question says so.
  }
}

function listenedTo(started: Line): Line {
  let heard = false;
  started.onmessage = ({ data }: MessageEvent<Reply>) => {
    heard = true;
    waiting.get(data.id)?.settle(data);
  };
  // A worker that cannot be loaded says so in an event only, whatever was asked of it.
  started.onerror = (event) => {
    if (line !== started) return;
    line = undefined;
    // It may still be computing, or hold all of its memory.
    started.terminate?.();
    if (!heard && way + 1 < knownWays().length) {
      event.preventDefault?.();
      way += 1;
      for (const [id, { question, settle }] of [...waiting]) {
        try {
          start().postMessage(question);
        } catch {
          settle({ id, error: broken });
        }
      }
      return;
    }
    for (const [id, { settle }] of [...waiting]) settle({ id, error: broken });
  };
  return started;
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
    const question = { id: mine.id, figure, state } satisfies Question;
    waiting.set(mine.id, { question, settle });
    try {
      start().postMessage(question);
    } catch (error) {
      settle({ id: mine.id, error: (error as Error).message });
    }
  };

  const stop = () => {
    if (underWay) line?.postMessage({ cancel: underWay.id } satisfies Question);
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
