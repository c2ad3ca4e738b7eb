// Everything that computes, in files of its own, so no page loads any of it twice. As a worker it answers off
// the page's thread; as a module it serves pages that may start no worker.

import type { Library } from '../figures/figure.js';
import { openingFigures } from '../figures/opening.js';
import { answering, type ComputeFigure, computeWith, memoizer, retried, yielding } from './answers.js';
import { recorded } from './recorded.js';
import type { Answering, Question, Reply } from './transports.js';

// In dist/ this file is in assets/, beside model/.
const model = new URL(/* @vite-ignore */ `../${__SUPERPOSE_MODEL__}`, import.meta.url);
// The page opens with recorded runs, so even the library comes only when a figure asks for it.
// Held, since to import it again would take several tasks at each step.
const whole = retried(() =>
  import('./library.js').then(
    ({ library }) => library({ from: model }),
    (cause: unknown) => {
      throw new Error('The code that computes could not be fetched; is there a network?', { cause });
    },
  ),
);
const loaded: Library = {
  memoize: memoizer(),
  small: async () => (await whole()).small(),
  superpose: async () => (await whole()).superpose(),
  miniLM: async () => (await whole()).miniLM(),
  recorded,
};

/** Figures on the reader's own files have code of their own, loaded when first asked for. */
const runningAll = (loaded: Library): ComputeFigure => {
  const run = computeWith(loaded);
  return async (figure, state, job) => {
    // Fetched beside the figure's own code.
    if (!openingFigures[figure]?.recorded) loaded.small().catch(() => {});
    if (figure.startsWith('user-model-')) {
      return (await import('./userModel.js')).userModel(loaded, figure, state, job, computeWith);
    }
    if (figure.startsWith('user-table-')) {
      return (await import('./userTable.js')).userTable(loaded, figure, state, job, computeWith);
    }
    return run(figure, state, job);
  };
};

export const answeringHere: Answering = (say) => answering(runningAll(yielding(loaded)), say);

if (typeof document === 'undefined') {
  const say = (reply: Reply) => self.postMessage(reply);
  const answer = answering(runningAll(loaded), say);
  const excerpt = answering(async (figure, state, job) => {
    const { excerptOf } = await import('./excerpt.js');
    return excerptOf(loaded, model)(figure, state, job);
  }, say);
  self.onmessage = ({ data }: MessageEvent<Question>) =>
    (Object.hasOwn(data, 'excerpt') ? excerpt : answer)(data);
}
