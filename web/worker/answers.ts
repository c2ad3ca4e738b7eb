// The answering side: runs a figure's computation for each question, be it in a worker, in a worker made of a
// blob, or on the page's own thread. Between the turns of a run that is watched it hears the reader's orders.
import type { NoRoom } from 'superpose';
import type { State } from '../figures/controls.js';
import type { Compute, Job, Kept, Library, Run as WatchedRun } from '../figures/figure.js';
import { modules } from '../figures/index.js';
import { plainCopy } from '../plot/plainCopy.js';
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

/** What computes a figure; undefined when there is none of that name. */
// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
export async function computeOf(figure: string): Promise<Compute<any, unknown> | undefined> {
  try {
    return Object.hasOwn(modules, figure) ? (await modules[figure]?.())?.compute : undefined;
  } catch (cause) {
    throw new Error('The code that computes this figure could not be fetched; is there a network?', {
      cause,
    });
  }
}

export type Run = (figure: string, state: State, job: Job) => Promise<unknown>;

export const running =
  (library: Library): Run =>
  async (figure, state, job) => {
    const compute = await library.kept(`compute ${figure}`, '', () => computeOf(figure));
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
    const question = plainCopy(heard);
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
export const yielding = ({ small, superpose, miniLM, ...others }: Library): Library => ({
  ...others,
  small: () => pause().then(small),
  superpose: () => pause().then(superpose),
  miniLM: () => pause().then(miniLM),
});

/** A failure is not kept: the next question tries again. */
export const retried = <T>(make: () => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
};

/** What the module holds for a caller, who frees it. */
interface Handle {
  isAlive(): boolean;
  delete(): void;
}

const isHandle = (value: unknown): value is Handle =>
  typeof value === 'object' && value !== null && 'isAlive' in value;

/** What one question leaves for the next, so that a step of a slider computes only what it changes. A worker has one. */
export function keeping(): Kept {
  const values = new Map<string, { key: string; value: unknown }>();
  return <T>(name: string, key: unknown, make: () => T, again = false) => {
    const text = JSON.stringify(key);
    const known = values.get(name);
    const usable = known?.key === text && !(isHandle(known.value) && !known.value.isAlive());
    if (usable && !again) return known.value as Awaited<T>;
    // Freed before the next is made, as there may be no room for both.
    if (isHandle(known?.value)) {
      values.delete(name);
      known.value.delete();
    }
    const keep = <V>(value: V): V => {
      values.set(name, { key: text, value });
      return value;
    };
    const made = make();
    return made instanceof Promise ? (made.then(keep) as T) : keep(made);
  };
}
