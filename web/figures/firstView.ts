// Which state a figure begins in. Apart from controls.ts, because nothing of it is needed before the first figure.
import { type Controls, type State, written } from './controls.js';

/** Whether a figure begins in this state. */
export const isFirstView = (controls: Controls, state: State): boolean =>
  Object.entries(controls).every(
    ([name, control]) =>
      written(control, state[name] ?? control.initial) === written(control, control.initial),
  );
