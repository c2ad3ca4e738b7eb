// For whoever waits for what is read and computed, and may stop waiting.
import * as check from '../check.js';

/** For a caller who waits for a read and may stop waiting. */
export interface SlicesWatch {
  /** Ends the reading. */
  signal?: AbortSignal | undefined;
  /** Bytes read so far, and bytes in all, of the call. */
  progress?: ((bytes: number, of: number) => void) | undefined;
}

export const watchNames: check.OptionNames<SlicesWatch> = { signal: true, progress: true };

/** The same for several concurrent reads, each of which first says how much it wants. */
export interface CountedWatch {
  /** Ends the reading. */
  readonly signal: AbortSignal | undefined;
  /** Bytes that will be read. */
  wanted(bytes: number): void;
  /** Bytes that have been read since the last call. */
  received(bytes: number): void;
}

export function counted({ signal, progress }: SlicesWatch): CountedWatch {
  check.waiting(signal, progress);
  let [done, of] = [0, 0];
  return {
    signal,
    wanted(bytes) {
      of += bytes;
    },
    received(bytes) {
      // What was begun for a caller may go on for others.
      if (signal?.aborted) return;
      done += bytes;
      // A file that arrives damaged is read twice.
      progress?.(Math.min(done, of), of);
    },
  };
}

const leaversOf = new WeakMap<AbortSignal, Set<() => void>>();

/** What happens when a signal is aborted, with one listener for all: Node warns of more than ten. */
function leavingAt(signal: AbortSignal): Set<() => void> {
  const known = leaversOf.get(signal);
  if (known) return known;
  const leavers = new Set<() => void>();
  leaversOf.set(signal, leavers);
  signal.addEventListener('abort', () => {
    for (const leave of leavers) leave();
  });
  return leavers;
}

/**
 * Work that several callers share. The first begins it, and each waits for it until its own signal is aborted. Only when
 * nobody waits any longer is the signal of the work aborted too. What it gives is kept; after a failure the next caller
 * begins anew.
 */
export function shared<Own extends { signal?: AbortSignal | undefined }, T>(
  work: (watch: Own, signal: AbortSignal) => Promise<T>,
): (watch: Own) => Promise<T> {
  let current: { found: Promise<T>; isThere: boolean; waiting: number; end: AbortController } | undefined;
  const begun = (watch: Own) => {
    const end = new AbortController();
    const mine = { found: work(watch, end.signal), isThere: false, waiting: 0, end };
    current = mine;
    mine.found.then(
      () => {
        mine.isThere = true;
      },
      () => {
        if (current === mine) current = undefined;
      },
    );
    return mine;
  };
  return async (watch) => {
    const { signal } = watch;
    signal?.throwIfAborted();
    // Work that was told to end may come to a result all the same, but nobody waits for that.
    const usable = current && (current.isThere || !current.end.signal.aborted);
    const mine = usable && current ? current : begun(watch);
    mine.waiting += 1;
    return new Promise<T>((take, fail) => {
      const leave = () => {
        fail(signal?.reason);
        mine.waiting -= 1;
        if (mine.waiting === 0) mine.end.abort(signal?.reason);
      };
      // What begins the work may abort it at once.
      if (signal?.aborted) leave();
      const leaving = signal && leavingAt(signal);
      leaving?.add(leave);
      const stay = () => leaving?.delete(leave);
      mine.found.then(stay, stay);
      mine.found.then(take, fail);
    });
  };
}

/**
 * Yields, for aborts to get through and shorter requests to go first. Browsers delay timers, not messages.
 */
export const breath = () =>
  new Promise<void>((go) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      go();
    };
    port2.postMessage(0);
  });

/** What a call ends with whose model was deleted meanwhile. */
export const gone = () => new Error('The model was deleted before this was done; ask again.');
