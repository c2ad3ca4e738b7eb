// add-or-concatenate/embed for React 19 and what shares its types: <superpose-figure> in JSX.
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { FigureChange, SuperposeFigure, SuperposeFigureAttributes } from './index.js';

export * from './index.js';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'superpose-figure': SuperposeFigureAttributes &
        Omit<DetailedHTMLProps<HTMLAttributes<SuperposeFigure>, SuperposeFigure>, 'onChange'> & {
          /** React passes on the events of custom elements under their own names. */
          onchange?: (event: CustomEvent<FigureChange>) => void;
        };
    }
  }
}
