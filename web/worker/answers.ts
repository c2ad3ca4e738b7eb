// The answering side: computes a figure for each question, in a worker, in a worker made of a blob, or on
// the page's own thread. Between the turns of a live job it takes the reader's orders.
import type { NoRoom } from 'add-or-concatenate';
import type { State } from '../figures/controls.js';
import type { Compute, Job, Library, LiveJob, Memoize } from '../figures/figure.js';
import { modules } from '../figures/index.js';
import { plainCopy } from '../plot/plainCopy.js';
import type { Order, Question, Reply } from './transports.js';

interface LiveJobOptions {
  state: State;
  again?: true;
  paused?: true;
}

/** A live job for a figure's computation, and the function that gives it the reader's orders. */
export function liveJob(
  options: LiveJobOptions,
  signal: AbortSignal,
  frame: (data: unknown) => void,
): { job: LiveJob; take(order: Order): void } {
  let { state } = options;
  let paused = options.paused ?? false;
  /** How many single turns the reader has asked for while the job is paused. */
  let steps = 0;
  let mustLook = false;
  let wake = () => {};
  signal.addEventListener('abort', () => wake());
  return {
    take(order) {
      if (typeof order === 'object') {
        state = order.look;
        mustLook = true;
      } else if (order === 'step') {
        steps += 1;
      } else {
        paused = order === 'pause';
        steps = 0;
      }
      wake();
    },
    job: {
      again: options.again ?? false,
      state: () => state,
      frame,
      async turn() {
        // Orders that have come in the meantime are taken first.
        await new Promise<void>((go) => setTimeout(go));
        while (paused && steps === 0 && !mustLook && !signal.aborted) {
          await new Promise<void>((go) => {
            wake = go;
          });
        }
        signal.throwIfAborted();
        if (mustLook) {
          mustLook = false;
          return 'look';
        }
        if (paused) steps -= 1;
        return 'go';
      },
    },
  };
}

/** The function that computes a figure; undefined if no figure has that name. */
// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
export async function computeOf(figure: string): Promise<Compute<any, unknown> | undefined> {
  try {
    return Object.hasOwn(modules, figure) ? (await modules[figure]?.())?.compute : undefined;
  } catch (cause) {
    throw new Error('The code of this figure could not be fetched; is there a network?', {
      cause,
    });
  }
}

/** Computes the data of the figure of this name. */
export type ComputeFigure = (figure: string, state: State, job: Job) => Promise<unknown>;

/** Computes figures with this library. */
export const computeWith =
  (library: Library): ComputeFigure =>
  async (figure, state, job) => {
    const compute = await library.memoize(`compute ${figure}`, '', () => computeOf(figure));
    if (!compute) throw new Error(`There is no figure called “${figure}”.`);
    return compute(library, state, job);
  };

/** An error in words for a reader of the page, who cannot call delete(). */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { residentBytes } = error as Partial<NoRoom>;
  if (residentBytes === undefined) return error.message;
  const megabytes = Math.ceil(residentBytes / 2 ** 20).toLocaleString('en');
  return (
    `Other figures hold ${megabytes} MB of memory, which leaves too little for this one. ` +
    'Forget a model that you opened, or load the page again.'
  );
}

/** Answers questions: passes progress, frames, and the data or the error of each to `reply`. */
export function answering(
  compute: ComputeFigure,
  reply: (reply: Reply) => void,
): (question: Question) => Promise<void> {
  const underWay = new Map<number, { abort: AbortController; take(order: Order): void }>();
  return async (message) => {
    const question = plainCopy(message);
    if ('cancel' in question) {
      underWay.get(question.cancel)?.abort.abort();
      return;
    }
    if ('job' in question) {
      underWay.get(question.job)?.take(question.order);
      return;
    }
    const { id, figure, state } = question;
    const abort = new AbortController();
    const { signal } = abort;
    const { job, take } = liveJob(question, signal, (data) => reply({ id, frame: data }));
    underWay.set(id, { abort, take });
    try {
      const data = await compute(figure, state, {
        signal,
        progress: (fraction) => reply({ id, progress: fraction }),
        live: 'excerpt' in question ? undefined : job,
      });
      reply({ id, data });
    } catch (error) {
      reply({ id, error: sentenceOf(error) });
    } finally {
      underWay.delete(id);
    }
  };
}

/** Lets the page paint and handle input. */
const pause = () => new Promise<void>((go) => setTimeout(go));

/**
 * Lets the page have its turn each time that a figure asks for the library, which figures do between their
 * steps.
 */
export const withYields = ({ small, superpose, miniLM, ...others }: Library): Library => ({
  ...others,
  small: () => pause().then(small),
  superpose: () => pause().then(superpose),
  miniLM: () => pause().then(miniLM),
});

/** Loads once, but forgets a failure, so that the next question tries again. */
export const retryable = <T>(load: () => Promise<T>) => {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
};

/** An object in the module's memory, which its caller frees. */
interface Handle {
  isAlive(): boolean;
  delete(): void;
}

const isHandle = (value: unknown): value is Handle =>
  typeof value === 'object' && value !== null && 'isAlive' in value;

/** Memoizes for one worker, so that a step of a slider computes only what it changes. */
export function memoizer(): Memoize {
  const values = new Map<string, { key: string; value: unknown }>();
  return <T>(name: string, key: unknown, make: () => T, again = false) => {
    const text = JSON.stringify(key);
    const known = values.get(name);
    const usable = known?.key === text && !(isHandle(known.value) && !known.value.isAlive());
    if (usable && !again) return known.value as Awaited<T>;
    // The old value is freed before the next is computed, because there may be no room for both.
    if (isHandle(known?.value)) {
      values.delete(name);
      known.value.delete();
    }
    const store = <V>(value: V): V => {
      values.set(name, { key: text, value });
      return value;
    };
    const value = make();
    return value instanceof Promise ? (value.then(store) as T) : store(value);
  };
}
