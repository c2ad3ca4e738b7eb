// superpose/embed for Svelte 5: <superpose-figure> in its markup.
import type { HTMLAttributes } from 'svelte/elements';
import type { FigureChange, SuperposeFigure, SuperposeFigureAttributes } from './index.js';

export * from './index.js';

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'superpose-figure': SuperposeFigureAttributes &
      Omit<HTMLAttributes<SuperposeFigure>, 'onchange'> & {
        onchange?: (event: CustomEvent<FigureChange>) => void;
      };
  }
}
