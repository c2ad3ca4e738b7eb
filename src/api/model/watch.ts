// Signals, progress and shared work, for callers who wait for reads and computations and may stop waiting.
import * as check from '../check.js';

/** How a caller watches a call. */
export interface SlicesWatch {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  /** Called with the number of bytes that the call has read, and the number that it needs in all. */
  progress?: ((bytes: number, of: number) => void) | undefined;
}

export const watchNames: check.OptionNames<SlicesWatch> = { signal: true, progress: true };

/** The watch of one call over several concurrent reads, each of which first announces how much it reads. */
export interface CountedWatch {
  /** Ends the reading. */
  readonly signal: AbortSignal | undefined;
  /** Announces bytes that will be read. */
  willRead(bytes: number): void;
  /** Counts bytes that have been read since the last call. */
  received(bytes: number): void;
}

/** Checks a watch, and sums up its reads. Throws TypeError. */
export function counted({ signal, progress }: SlicesWatch): CountedWatch {
  check.signalAndProgress(signal, progress);
  let done = 0;
  let total = 0;
  return {
    signal,
    willRead(bytes) {
      total += bytes;
    },
    received(bytes) {
      // Work that was begun for this caller may go on for others.
      if (signal?.aborted) return;
      done += bytes;
      // A file that arrives damaged is read twice, so more bytes may come than were announced.
      progress?.(Math.min(done, total), total);
    },
  };
}

const listenersOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * The functions to call when a signal is aborted. They share one event listener, because Node warns of more
 * than ten.
 */
function abortListeners(signal: AbortSignal): Set<() => void> {
  const known = listenersOf.get(signal);
  if (known) return known;
  const listeners = new Set<() => void>();
  listenersOf.set(signal, listeners);
  signal.addEventListener('abort', () => {
    for (const listener of listeners) listener();
  });
  return listeners;
}

/** One run of shared work. */
interface SharedRun<T> {
  result: Promise<T>;
  isDone: boolean;
  /** How many callers wait for it. */
  waiting: number;
  /** Aborts the work. */
  end: AbortController;
}

/**
 * Work that several callers share. The first caller starts it, and each waits for it until its own signal is
 * aborted. The signal of the work is aborted only when nobody waits any longer. The result is memoized;
 * after a failure the next caller starts the work again.
 */
export function shared<Watch extends { signal?: AbortSignal | undefined }, T>(
  work: (watch: Watch, signal: AbortSignal) => Promise<T>,
): (watch: Watch) => Promise<T> {
  let current: SharedRun<T> | undefined;
  const start = (watch: Watch): SharedRun<T> => {
    const end = new AbortController();
    const run = { result: work(watch, end.signal), isDone: false, waiting: 0, end };
    current = run;
    run.result.then(
      () => {
        run.isDone = true;
      },
      () => {
        if (current === run) current = undefined;
      },
    );
    return run;
  };
  return async (watch) => {
    const { signal } = watch;
    signal?.throwIfAborted();
    // Work whose signal was aborted may still succeed, but no new caller waits for that.
    const isUsable = current && (current.isDone || !current.end.signal.aborted);
    const run = isUsable && current ? current : start(watch);
    run.waiting += 1;
    return new Promise<T>((resolve, reject) => {
      const leave = () => {
        reject(signal?.reason);
        run.waiting -= 1;
        if (run.waiting === 0) run.end.abort(signal?.reason);
      };
      // The start of the work may have aborted the signal.
      if (signal?.aborted) leave();
      const listeners = signal && abortListeners(signal);
      listeners?.add(leave);
      const stopListening = () => listeners?.delete(leave);
      run.result.then(stopListening, stopListening);
      run.result.then(resolve, reject);
    });
  };
}

/**
 * Yields to other tasks, so that aborts get through and shorter requests go first. Browsers delay timers,
 * but not messages.
 */
export const breath = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });

/** The error of a call whose model was deleted before the call ended. */
export const modelDeleted = () => new Error('The model was deleted during this call. Call it again.');
