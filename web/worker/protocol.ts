// What the page says to the worker, and the worker to the page.
import type { State } from '../figures/controls.js';

export type Question =
  /** With `carry` the data are not the figure's, but what its state reads of the model. */
  { id: number; figure: string; state: State; carry?: true } | { cancel: number };

export type Reply =
  | { id: number; data: unknown }
  | { id: number; error: string }
  | { id: number; progress: number };
