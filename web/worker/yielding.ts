// Where no worker may be started, figures compute on the page's own thread. They must not freeze the page.
import type { Library } from '../figures/figure.js';

/** Lets the page paint and take its input. */
const pause = () => new Promise<void>((go) => setTimeout(go));

/** Figures ask for the library between their steps; each time the page gets its turn first. */
export const yielding = ({ small, superpose, opening, miniLM, ...others }: Library): Library => ({
  ...others,
  small: () => pause().then(small),
  superpose: () => pause().then(superpose),
  opening: () => pause().then(opening),
  miniLM: () => pause().then(miniLM),
});
