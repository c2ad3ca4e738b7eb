// What the page says to the worker, and the worker to the page.
import type { State } from '../figures/controls.js';

export type Question =
  /**
   * With `carry` the data are not the figure's, but what its state reads of the model. With `again` nothing
   * is kept of an earlier run. With `held` a run waits before its first turn.
   */
  | { id: number; figure: string; state: State; carry?: true; again?: true; held?: true }
  | { cancel: number }
  /** To a run under way. */
  | { run: number; order: Order };

/** Wait before the next turn, go on, take one more turn, or show the run with other settings. */
export type Order = 'hold' | 'go' | 'step' | { look: State };

export type Reply =
  | { id: number; data: unknown }
  | { id: number; error: string }
  | { id: number; progress: number }
  /** The data as they are in the middle of a run. */
  | { id: number; frame: unknown };
