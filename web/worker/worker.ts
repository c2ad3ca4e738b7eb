// All that computes, in files of its own, so that no page has any of it twice: a worker, which answers off the page's
// thread; and a module, for a page that may start no worker.
import { answering, running } from './answers.js';
import { carrying } from './carry.js';
import { library } from './library.js';
import type { Question, Reply } from './protocol.js';
import { inSlices } from './slices.js';
import type { Answering } from './ways.js';

// In dist/ this file stands in assets/, beside model/.
const model = new URL(/* @vite-ignore */ '../model/', import.meta.url);
// The first module is loaded at once, the second and MiniLM when a figure needs them.
const loaded = library({ from: model });
loaded.first().catch(() => {});

export const answeringHere: Answering = (say) => answering(running(inSlices(loaded)), say);

if (typeof document === 'undefined') {
  const say = (reply: Reply) => self.postMessage(reply);
  const answer = answering(running({ ...loaded, address: location.href }), say);
  const carry = answering(carrying(loaded, model), say);
  self.onmessage = ({ data }: MessageEvent<Question>) => ('carry' in data ? carry : answer)(data);
}
