// For whoever waits for what is read and computed, and may stop waiting.
import * as check from '../check.js';

/** For a caller who waits for a read and may stop waiting. */
export interface SlicesWatch {
  /** Ends the reading. */
  signal?: AbortSignal | undefined;
  /** Bytes read so far, and bytes in all, of the call. */
  progress?: ((bytes: number, of: number) => void) | undefined;
}

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
      done += bytes;
      // A file that arrives damaged is read twice.
      progress?.(Math.min(done, of), of);
    },
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
