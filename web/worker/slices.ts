// Computing on the page's own thread, where no worker may be started, must not stop the page.
import type { Library } from '../figures/figure.js';

/** Lets the page paint and take its input. */
const pause = () => new Promise<void>((go) => setTimeout(go));

/** A figure waits for the library between its steps, and so does the page for the figure. */
export const inSlices = ({ first, superpose, opening, miniLM }: Library): Library => ({
  first: () => pause().then(first),
  superpose: () => pause().then(superpose),
  opening: () => pause().then(opening),
  miniLM: () => pause().then(miniLM),
});
