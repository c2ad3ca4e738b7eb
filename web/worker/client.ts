// The page's side of the worker. Each asker has one question under way, and a newer one cancels it, so that
// a slider never waits for an answer that nobody needs any more.
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
  /**
   * Asks now, or as soon as the question under way has ended. A live job that can show the new state goes on.
   */
  ask(state: State, options?: AskOptions): void;
  /** Sends an order to the live job under way. */
  order(order: Order): void;
  /** Cancels the question under way; nothing more is heard of it. */
  cancel(): void;
}

export interface AskOptions {
  /** Whether to compute anew, without what an earlier computation left. */
  again?: true | undefined;
  /** Whether the live job waits before its first turn. */
  paused?: true | undefined;
  /** Whether the live job under way can show this state. */
  look?: boolean | undefined;
}

/**
 * How an asker hears of its questions. Each state is the question's, or the one that the live job was last
 * asked to show.
 */
export interface AnswerListener {
  answered(data: unknown, state: State): void;
  /** The data in the middle of a live job. */
  frame?(data: unknown, state: State): void;
  failed(sentence: string): void;
  progress(fraction: number): void;
}

let connection: Connection | undefined;
let transportName: Transport['name'] | undefined;
/** Index into `transports` of the one in use, or tried next. */
let transportIndex = 0;
let nextId = 0;
const pending = new Map<number, { question: Question; settle(reply: Reply): void }>();

/** Where the questions are answered; undefined before the first. */
export const answeredIn = (): Transport['name'] | undefined => connection && transportName;

const workerFailed = 'The compute worker failed to load.';

function connect(): Connection {
  while (!connection) {
    try {
      const transport = transports[transportIndex] as Transport;
      connection = listenTo(transport.start());
      transportName = transport.name;
    } catch (error) {
      if (transportIndex + 1 >= transports.length) throw new Error(workerFailed, { cause: error });
      transportIndex += 1;
    }
  }
  return connection;
}

/** Starts loading what answers, before the first question. */
export function startEarly(): void {
  try {
    connect();
  } catch {
    // The first question will report it.
  }
}

function listenTo(started: Connection): Connection {
  let hasReplied = false;
  started.onmessage = ({ data }: MessageEvent<Reply>) => {
    hasReplied = true;
    pending.get(data.id)?.settle(data);
  };
  // A worker that cannot be loaded reports it only by this event, never in a reply.
  started.onerror = (event) => {
    if (connection !== started) return;
    connection = undefined;
    // The worker may still be computing, or occupy memory.
    started.terminate?.();
    if (hasReplied || transportIndex + 1 >= transports.length) {
      for (const [id, { settle }] of [...pending]) settle({ id, error: workerFailed });
      return;
    }
    event.preventDefault?.();
    transportIndex += 1;
    for (const [id, { question, settle }] of [...pending]) {
      try {
        connect().postMessage(question);
      } catch {
        settle({ id, error: workerFailed });
      }
    }
  };
  return started;
}

export function asker(figure: string, listener: AnswerListener): Asker {
  /**
   * The question that was sent last and has not ended. `heard` is false once it is cancelled: nothing more of
   * it is passed on.
   */
  let underWay: { id: number; heard: boolean } | undefined;
  /** The newest question, which is sent when the one under way has ended. */
  let next: { state: State; options: AskOptions | undefined } | undefined;

  /** Passes on progress and frames, which come before the end. */
  const report = (reply: Extract<Reply, { progress: number } | { frame: unknown }>, state: State) => {
    if ('progress' in reply) listener.progress(reply.progress);
    else listener.frame?.(reply.frame, next?.state ?? state);
  };

  const send = (state: State, options: AskOptions = {}) => {
    const { again, paused } = plainCopy(options);
    const current = { id: nextId++, heard: true };
    underWay = current;
    const settle = (message: Reply) => {
      const reply = plainCopy(message);
      if ('progress' in reply || 'frame' in reply) {
        // A question that a newer one has overtaken is not shown, unless the newer one only looks at the live
        // job.
        if (current.heard && (!next || plainCopy(next.options)?.look)) report(reply, state);
        return;
      }
      pending.delete(current.id);
      underWay = undefined;
      const newer = next;
      next = undefined;
      if (newer) send(newer.state, newer.options);
      if (!current.heard) return;
      if ('data' in reply) listener.answered(reply.data, state);
      // If a newer question has overtaken this one, its failure no longer matters.
      else if (!newer) listener.failed(reply.error);
    };
    const question: Question = { id: current.id, figure, state };
    if (again) question.again = again;
    if (paused) question.paused = paused;
    pending.set(current.id, { question, settle });
    try {
      connect().postMessage(question);
    } catch (error) {
      settle({ id: current.id, error: (error as Error).message });
    }
  };

  const stop = () => {
    if (underWay) connection?.postMessage({ cancel: underWay.id } satisfies Question);
  };
  const order = (order: Order) => {
    if (underWay) connection?.postMessage({ job: underWay.id, order } satisfies Question);
  };

  return {
    ask(state, options) {
      if (!underWay) {
        send(state, options);
        return;
      }
      next = { state, options };
      // `next` is also sent at the job's end, which may come before the order is taken.
      if (plainCopy(options)?.look && underWay.heard) order({ look: state });
      else stop();
    },
    order,
    cancel() {
      next = undefined;
      if (underWay) underWay.heard = false;
      stop();
    },
  };
}
