// The worker's entry point. Only this file imports the code that computes, so that no page loads any of it
// twice. As a worker it answers off the page's thread; as a module it serves pages that may not start a
// worker.

import type { Library } from '../figures/figure.js';
import { openingFigures } from '../figures/opening.js';
import { answering, type ComputeFigure, computeWith, memoizer, retryable, withYields } from './answers.js';
import { recorded } from './recorded.js';
import type { Answering, Question, Reply } from './transports.js';

/** In dist/ this file is in assets/, beside model/. */
const model =
  __SUPERPOSE_MODEL__ && new URL(__SUPERPOSE_MODEL__, new URL(/* @vite-ignore */ '../', import.meta.url));
// The page opens with recorded runs, so even the library is loaded only when a figure asks for it. Its import
// is memoized, because importing it again would take several tasks of the event loop at each step.
const loadedLibrary = retryable(() =>
  import('./library.js').then(
    ({ library, siteAdvice, withoutModel }) =>
      model ? library({ from: model }) : withoutModel(library(), siteAdvice),
    (cause: unknown) => {
      throw new Error('The compute code could not be fetched; is there a network?', { cause });
    },
  ),
);
const lazyLibrary: Library = {
  memoize: memoizer(),
  small: async () => (await loadedLibrary()).small(),
  superpose: async () => (await loadedLibrary()).superpose(),
  miniLM: async () => (await loadedLibrary()).miniLM(),
  recorded,
};

/**
 * Computes all figures. The code for figures of the reader's files is loaded when one of them is first asked
 * for.
 */
const computeAll = (library: Library): ComputeFigure => {
  const compute = computeWith(library);
  return async (figure, state, job) => {
    // The library is fetched at the same time as the figure's code.
    if (!openingFigures[figure]?.recorded) library.small().catch(() => {});
    if (figure.startsWith('user-model-')) {
      return (await import('./userModel.js')).userModel(library, figure, state, job, computeWith);
    }
    if (figure.startsWith('user-table-')) {
      return (await import('./userTable.js')).userTable(library, figure, state, job, computeWith);
    }
    return compute(figure, state, job);
  };
};

export const answeringHere: Answering = (reply) => answering(computeAll(withYields(lazyLibrary)), reply);

if (typeof document === 'undefined') {
  const post = (reply: Reply) => self.postMessage(reply);
  const answer = answering(computeAll(lazyLibrary), post);
  const excerpt = answering(async (figure, state, job) => {
    const { excerptOf } = await import('./excerpt.js');
    return excerptOf(lazyLibrary, model || undefined)(figure, state, job);
  }, post);
  self.onmessage = ({ data }: MessageEvent<Question>) =>
    (Object.hasOwn(data, 'excerpt') ? excerpt : answer)(data);
}
