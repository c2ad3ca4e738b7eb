// Everything that computes, in files of its own, so no page loads any of it twice. As a worker it answers off
// the page's thread; as a module it serves pages that may start no worker.

import type { Library } from '../figures/figure.js';
import { answering, type Run, running } from './answers.js';
import { carrying } from './carry.js';
import { library } from './library.js';
import type { Question, Reply } from './protocol.js';
import { inSlices } from './slices.js';
import type { Answering } from './ways.js';

// In dist/ this file is in assets/, beside model/.
const model = new URL(/* @vite-ignore */ '../model/', import.meta.url);
// The first module is loaded at once, the second and MiniLM when a figure needs them.
const loaded = library({ from: model });
loaded.first().catch(() => {});

/** Figures on the reader's own files have code of their own, loaded when first asked for. */
const runningAll = (loaded: Library): Run => {
  const run = running(loaded);
  return async (figure, state, job) =>
    figure.startsWith('own-')
      ? (await import('./ownModel.js')).ownModel(loaded, figure, state, job, running)
      : run(figure, state, job);
};

export const answeringHere: Answering = (say) => answering(runningAll(inSlices(loaded)), say);

if (typeof document === 'undefined') {
  const say = (reply: Reply) => self.postMessage(reply);
  const answer = answering(runningAll({ ...loaded, address: location.href }), say);
  const carry = answering(carrying(loaded, model), say);
  self.onmessage = ({ data }: MessageEvent<Question>) => ('carry' in data ? carry : answer)(data);
  // The service worker has come, and keeps what is asked for: once more, of the browser's own copy if it has one.
  new BroadcastChannel(model.href).onmessage = () => {
    for (const entry of performance.getEntriesByType('resource') as PerformanceResourceTiming[]) {
      if (!entry.workerStart) fetch(entry.name, { cache: 'force-cache' }).catch(() => {});
    }
  };
}
