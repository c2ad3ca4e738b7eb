// The page's side of the worker: of each asker one question under way, which a newer one cancels, so that a
// slider never waits for an answer that nobody wants any more.
import type { State } from '../figures/controls.js';
import type { Order, Question, Reply } from './protocol.js';
import { knownWays, type Line, type Way } from './ways.js';

export interface Asker {
  /** Asks, now or as soon as the question under way has ended; a run that can show the new state goes on. */
  ask(state: State, options?: AskOptions): void;
  /** What a run under way shall do. */
  order(order: Order): void;
  /** Ends the question under way; nothing is said of it any more. */
  cancel(): void;
}

export interface AskOptions {
  again?: true | undefined;
  held?: true | undefined;
  /** A run that is under way can show it. */
  look?: boolean | undefined;
}

export interface Answers {
  answered(data: unknown, state: State): void;
  /** Of a run, before its end. */
  frame?(data: unknown, state: State): void;
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

/** Lets what answers load before the first question. */
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

export function asker(figure: string, { answered, failed, progress, frame }: Answers): Asker {
  let underWay: { id: number; wanted: boolean } | undefined;
  let newest: [State, AskOptions | undefined] | undefined;

  const send = (state: State, { again, held }: AskOptions = {}) => {
    const mine = { id: nextId++, wanted: true };
    underWay = mine;
    const settle = (reply: Reply) => {
      if ('progress' in reply) {
        if (mine.wanted) progress(reply.progress);
        return;
      }
      if ('frame' in reply) {
        // What another question has overtaken is shown no more, but a run under way may be looked at with other settings.
        if (mine.wanted && (!newest || newest[1]?.look)) frame?.(reply.frame, newest?.[0] ?? state);
        return;
      }
      waiting.delete(mine.id);
      underWay = undefined;
      const next = newest;
      newest = undefined;
      if (next) send(...next);
      if (!mine.wanted) return;
      if ('error' in reply) {
        // A question that a newer one has overtaken was cancelled: its failure is no news.
        if (!next) failed(reply.error);
      } else answered(reply.data, state);
    };
    const question = {
      id: mine.id,
      figure,
      state,
      ...(again && { again }),
      ...(held && { held }),
    } satisfies Question;
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
  const order = (what: Order) => {
    if (underWay) line?.postMessage({ run: underWay.id, order: what } satisfies Question);
  };

  return {
    ask(state, options) {
      if (!underWay) send(state, options);
      else {
        newest = [state, options];
        // It is asked at the run's end too, which may come before this is heard.
        if (options?.look && underWay.wanted) order({ look: state });
        else stop();
      }
    },
    order,
    cancel() {
      newest = undefined;
      if (underWay) underWay.wanted = false;
      stop();
    },
  };
}
