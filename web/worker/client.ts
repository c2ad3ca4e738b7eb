// The page's side of the worker. Each asker has one question under way, and a newer one cancels it: a slider
// never waits for an answer that nobody wants any more.
import type { State } from '../figures/controls.js';
import { plainCopy } from '../plot/plainCopy.js';
import {
  type Connection,
  type Order,
  type Question,
  type Reply,
  type Transport,
  transports,
} from './transports.js';

export interface Asker {
  /** Asks, now or as soon as the question under way has ended; a run that can show the new state goes on. */
  ask(state: State, options?: AskOptions): void;
  /** Sends an order to the run under way. */
  order(order: Order): void;
  /** Cancels the question under way; nothing more is heard of it. */
  cancel(): void;
}

export interface AskOptions {
  again?: true | undefined;
  held?: true | undefined;
  /** The run under way can show this state. */
  look?: boolean | undefined;
}

export interface Answers {
  answered(data: unknown, state: State): void;
  /** The data in the middle of a run. */
  frame?(data: unknown, state: State): void;
  failed(sentence: string): void;
  progress(fraction: number): void;
}

let connection: Connection | undefined;
let answers: Transport['name'] | undefined;
/** Index into the list of transports. */
let tried = 0;
let nextId = 0;
const waiting = new Map<number, { question: Question; settle(reply: Reply): void }>();

/** Where the questions are answered; undefined before the first. */
export const answeredIn = (): Transport['name'] | undefined => connection && answers;

const broken = 'The part of this page that computes could not be loaded.';

function start(): Connection {
  while (!connection) {
    try {
      const transport = transports[tried] as Transport;
      connection = listenedTo(transport.start());
      answers = transport.name;
    } catch (error) {
      if (tried + 1 >= transports.length) throw new Error(broken, { cause: error });
      tried += 1;
    }
  }
  return connection;
}

/** Starts loading what answers, before the first question. */
export function startEarly(): void {
  try {
    start();
  } catch {
    // The first question will report it.
  }
}

function listenedTo(started: Connection): Connection {
  let heard = false;
  started.onmessage = ({ data }: MessageEvent<Reply>) => {
    heard = true;
    waiting.get(data.id)?.settle(data);
  };
  // A worker that cannot be loaded says so only in this event, never in a reply.
  started.onerror = (event) => {
    if (connection !== started) return;
    connection = undefined;
    // It may still be computing, or holding its memory.
    started.terminate?.();
    if (!heard && tried + 1 < transports.length) {
      event.preventDefault?.();
      tried += 1;
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

  const send = (state: State, options: AskOptions = {}) => {
    const { again, held } = plainCopy(options);
    const mine = { id: nextId++, wanted: true };
    underWay = mine;
    const settle = (said: Reply) => {
      const reply = plainCopy(said);
      if ('progress' in reply || 'frame' in reply) {
        // What a newer question has overtaken is not shown, unless that question only looks at the run.
        if (!mine.wanted || (newest && !plainCopy(newest[1])?.look)) return;
        if ('progress' in reply) progress(reply.progress);
        else frame?.(reply.frame, newest?.[0] ?? state);
        return;
      }
      waiting.delete(mine.id);
      underWay = undefined;
      const next = newest;
      newest = undefined;
      if (next) send(...next);
      if (!mine.wanted) return;
      if ('error' in reply) {
        // If a newer question has overtaken this one, its failure no longer matters.
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
    if (underWay) connection?.postMessage({ cancel: underWay.id } satisfies Question);
  };
  const order = (what: Order) => {
    if (underWay) connection?.postMessage({ run: underWay.id, order: what } satisfies Question);
  };

  return {
    ask(state, options) {
      if (!underWay) send(state, options);
      else {
        newest = [state, options];
        // `newest` is also asked at the run's end, which may come before the order is heard.
        if (plainCopy(options)?.look && underWay.wanted) order({ look: state });
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
