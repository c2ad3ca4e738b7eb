// Whether a state is the one that a figure opens in. Not in controls.ts, because the first figure does not
// need it.
import { type Controls, type State, written } from './controls.js';

/** Whether a figure opens in this state; a setting that the state leaves out has its initial value. */
export const isFirstView = (controls: Controls, state: State): boolean =>
  Object.entries(controls).every(
    ([name, control]) =>
      written(control, state[name] ?? control.initial) === written(control, control.initial),
  );
