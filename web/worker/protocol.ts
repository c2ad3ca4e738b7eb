// What the page says to the worker, and the worker to the page.
import type { State } from '../figures/controls.js';

export type Question = { id: number; figure: string; state: State } | { cancel: number };

export type Reply =
  | { id: number; data: unknown }
  | { id: number; error: string }
  | { id: number; progress: number };
