import type { Control } from '../figures/controls.js';

/** Classes for the room that an input takes; the page's placeholder leaves as much. */
export function spaceOf(control: Control): string {
  if (control.kind === 'text') return 'text';
  if (control.kind === 'several') return 'full lines';
  if (control.kind === 'choice' && control.radio) return 'wide';
  return '';
}
