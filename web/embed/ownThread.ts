// Computing on the page's own thread, where no worker may be started.
import type { LoadOptions, MiniLMOptions } from 'superpose';
import type { Library } from '../figures/figure.js';
import { answering, running } from '../worker/answers.js';
import { library } from '../worker/library.js';
import type { Answering } from '../worker/ways.js';

/** Lets the page paint and take its input. */
const pause = () => new Promise<void>((go) => setTimeout(go));

/** A figure waits for the library between its steps, and so does the page for the figure. */
export const inSlices = ({ superpose, miniLM }: Library): Library => ({
  superpose: () => pause().then(superpose),
  miniLM: () => pause().then(miniLM),
});

export const answeringHere =
  (model: MiniLMOptions, module?: LoadOptions): Answering =>
  (say) =>
    answering(running(inSlices(library(model, module))), say);
