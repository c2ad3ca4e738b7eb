import type { Choice, Control } from '../figures/controls.js';

/** The longest option that fits one cell, in letters. */
const widest = 16;
const longest = ({ options }: Choice) => Math.max(...Object.values(options).map(({ length }) => length));

/** Options that need a line of their own, in letters. */
const longLine = 60;
const lettersOf = ({ options }: Choice) => Object.values(options).join('').length;
/** Buttons that fit one cell, below a label that does. */
const small = (control: Choice) => lettersOf(control) < 14 && control.label.length < 24;

/** Classes for the space that an input takes; the page's placeholder reserves the same. */
export function inputClass(control: Control): string {
  if (control.kind === 'text') return 'wide text';
  if (control.kind === 'several') return 'full lines';
  if (control.kind === 'choice' && control.radio && lettersOf(control) > longLine) return 'full lines';
  if (control.kind === 'choice' && (control.radio ? !small(control) : longest(control) > widest))
    return 'wide';
  return control.kind === 'toggle' && control.label.length > 24 ? 'wide' : '';
}
