// Runs the library off the page's thread. The module is loaded at once, MiniLM when a text needs it.
import { load, loadMiniLM, type MiniLM, type Superpose } from 'superpose';
import { decompose } from './decompose.js';
import { dotProducts } from './dotProducts.js';
import type { Question, Reply } from './protocol.js';

export interface Library {
  superpose(): Promise<Superpose>;
  /** A failure is not kept: the next question tries again. */
  miniLM(): Promise<MiniLM>;
}

const retried = <T>(make: () => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
};

// In dist/ this file stands in assets/, beside model/.
const modelFolder = new URL(/* @vite-ignore */ '../model/', import.meta.url);
const superpose = retried(() => load());
const library: Library = {
  superpose,
  miniLM: retried(async () => loadMiniLM(await superpose(), { from: modelFolder })),
};
superpose().catch(() => {});

const tasks = { dotProducts, decompose };

self.onmessage = async ({ data: { id, task, request } }: MessageEvent<Question>) => {
  let reply: Reply;
  try {
    reply = { id, answer: await tasks[task](library, request as never) };
  } catch (error) {
    reply = { id, error: error instanceof Error ? error.message : String(error) };
  }
  self.postMessage(reply);
};
