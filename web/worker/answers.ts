// The answering side: runs a figure's computation for each question, be it in a worker, in a worker made of a
// blob, or on the page's own thread. Between the turns of a run that is watched it hears the reader's orders.
import type { NoRoom } from 'superpose';
import type { State } from '../figures/controls.js';
import type { Job, Library, Run as WatchedRun } from '../figures/figure.js';
import { own } from '../plot/ownMembers.js';
import { computeOf } from './computes.js';
import type { Order, Question, Reply } from './transports.js';

interface RunSettings {
  state: State;
  again?: true;
  held?: true;
}

export function watchedRun(
  asked: RunSettings,
  signal: AbortSignal,
  frame: (data: unknown) => void,
): { run: WatchedRun; hear(order: Order): void } {
  let { state } = asked;
  let held = asked.held ?? false;
  let allowed = 0;
  let looked = false;
  let wake = () => {};
  signal.addEventListener('abort', () => wake());
  return {
    hear(order) {
      if (typeof order === 'object') {
        state = order.look;
        looked = true;
      } else if (order === 'step') allowed += 1;
      else {
        held = order === 'hold';
        allowed = 0;
      }
      wake();
    },
    run: {
      again: asked.again ?? false,
      state: () => state,
      frame,
      async turn() {
        // Orders that have come in the meantime are heard first.
        await new Promise<void>((go) => setTimeout(go));
        while (held && allowed === 0 && !looked && !signal.aborted) {
          await new Promise<void>((go) => {
            wake = go;
          });
        }
        signal.throwIfAborted();
        if (looked) {
          looked = false;
          return 'look';
        }
        if (held) allowed -= 1;
        return 'go';
      },
    },
  };
}

export type Run = (figure: string, state: State, job: Job) => Promise<unknown>;

export const running =
  (library: Library): Run =>
  async (figure, state, job) => {
    const compute = await computeOf(figure);
    if (!compute) throw new Error(`There is no figure called “${figure}”.`);
    return compute(library, state, job);
  };

/** The error for a reader of the page, who cannot call delete(). */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { held } = error as Partial<NoRoom>;
  if (held === undefined) return error.message;
  const megabytes = Math.ceil(held / 2 ** 20).toLocaleString('en');
  return `Other figures hold ${megabytes} MB of memory, which leaves too little for this one. Forget a model that you opened, or load the page again.`;
}

/** Takes questions and says what comes of each. */
export function answering(run: Run, say: (reply: Reply) => void): (question: Question) => Promise<void> {
  const underWay = new Map<number, AbortController>();
  const orders = new Map<number, (order: Order) => void>();
  return async (heard) => {
    const question = own(heard);
    if ('cancel' in question) {
      underWay.get(question.cancel)?.abort();
      return;
    }
    if ('run' in question) {
      orders.get(question.run)?.(question.order);
      return;
    }
    const { id, figure, state } = question;
    const cancelled = new AbortController();
    underWay.set(id, cancelled);
    const turns = watchedRun(question, cancelled.signal, (data) => say({ id, frame: data }));
    orders.set(id, turns.hear);
    try {
      const data = await run(figure, state, {
        signal: cancelled.signal,
        progress: (fraction) => say({ id, progress: fraction }),
        run: 'excerpt' in question ? undefined : turns.run,
      });
      say({ id, data });
    } catch (error) {
      say({ id, error: sentenceOf(error) });
    } finally {
      underWay.delete(id);
      orders.delete(id);
    }
  };
}

/** Lets the page paint and take its input. */
const pause = () => new Promise<void>((go) => setTimeout(go));

/** Figures ask for the library between their steps; each time the page gets its turn first. */
export const yielding = ({ small, superpose, opening, miniLM, ...others }: Library): Library => ({
  ...others,
  small: () => pause().then(small),
  superpose: () => pause().then(superpose),
  opening: () => pause().then(opening),
  miniLM: () => pause().then(miniLM),
});
