// Runs the library off the page's thread. The module is loaded at once, MiniLM when a text needs it.
import { computes } from './computes.js';
import { library } from './library.js';
import type { Question, Reply } from './protocol.js';

// In dist/ this file stands in assets/, beside model/.
const loaded = library({ from: new URL(/* @vite-ignore */ '../model/', import.meta.url) });
loaded.superpose().catch(() => {});

const underWay = new Map<number, AbortController>();
const say = (reply: Reply) => self.postMessage(reply);

self.onmessage = async ({ data: question }: MessageEvent<Question>) => {
  if ('cancel' in question) {
    underWay.get(question.cancel)?.abort();
    return;
  }
  const { id, figure, state } = question;
  const cancelled = new AbortController();
  underWay.set(id, cancelled);
  const compute = computes[figure];
  try {
    if (!compute) throw new Error(`There is no figure called “${figure}”.`);
    const data = await compute(loaded, state, {
      signal: cancelled.signal,
      progress: (fraction) => say({ id, progress: fraction }),
    });
    say({ id, data });
  } catch (error) {
    say({ id, error: error instanceof Error ? error.message : String(error) });
  } finally {
    underWay.delete(id);
  }
};
