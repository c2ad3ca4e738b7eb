// superpose/embed for Vue 3: <superpose-figure> in templates. Vue's compiler needs isCustomElement for it.
import type { HTMLAttributes } from 'vue';
import type { FigureChange, SuperposeFigureAttributes } from './index.js';

export * from './index.js';

declare module 'vue' {
  interface GlobalComponents {
    'superpose-figure': new () => {
      $props: SuperposeFigureAttributes &
        Omit<HTMLAttributes, 'onChange'> & { onChange?: (event: CustomEvent<FigureChange>) => void };
    };
  }
}
