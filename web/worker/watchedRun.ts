// The turns of a run that is watched. Between turns it hears the reader's orders, and waits while it is held.
import type { State } from '../figures/controls.js';
import type { Run } from '../figures/figure.js';
import type { Order } from './transports.js';

interface RunSettings {
  state: State;
  again?: true;
  held?: true;
}

export function watchedRun(
  asked: RunSettings,
  signal: AbortSignal,
  frame: (data: unknown) => void,
): { run: Run; hear(order: Order): void } {
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
