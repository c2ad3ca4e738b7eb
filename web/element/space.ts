import type { Choice, Control } from '../figures/controls.js';

/** Letters of a list’s choice that one cell has room for. */
const widest = 16;
const longest = ({ options }: Choice) => Math.max(...Object.values(options).map(({ length }) => length));

/** Classes for the room that an input takes; the page's placeholder leaves as much. */
export function spaceOf(control: Control): string {
  if (control.kind === 'text') return 'text';
  if (control.kind === 'several') return 'full lines';
  if (control.kind === 'choice' && (control.radio || longest(control) > widest)) return 'wide';
  return control.kind === 'toggle' && control.label.length > 24 ? 'wide' : '';
}
