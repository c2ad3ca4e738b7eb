// Embeddings of many sentences on threads, each with a model of its own.
import { availableParallelism } from 'node:os';
import { load, loadMiniLM } from 'superpose';
import { spread } from '../../worker/spread.js';
import { type OpenGiven, opened } from './model.js';
import { serve, thread } from './threads.js';

export const purpose = 'embedding';

/** A path, and what config.json may lack; without a path, MiniLM. */
export interface ModelAsked extends OpenGiven {
  model?: string | undefined;
}

/** What comes of one sentence. */
export interface Embedded {
  tokens: number;
  /** Tokens that were left out at its end. */
  dropped: number;
  /** [d], of length one. */
  embedding: Float32Array;
}

/** Few enough for threads to finish together, and enough for messages to cost next to nothing. */
const atOnce = 4;

export async function serveEmbeddings(asked: unknown): Promise<void> {
  const { model: path, ...options } = asked as ModelAsked;
  const model = path === undefined ? await loadMiniLM(await load()) : await opened(path, options);
  serve(async (texts: readonly string[]) => {
    const found: Embedded[] = [];
    for (const text of texts) {
      const { sentence, embedding } = await model.forward(text, { scores: false });
      found.push({ tokens: sentence.ids.length, dropped: sentence.dropped, embedding: embedding.slice() });
    }
    return found;
  });
}

/** One result for each text, in their order. */
export async function embedded(
  texts: readonly string[],
  given: ModelAsked,
  workers = availableParallelism(),
): Promise<Embedded[]> {
  const parts = Array.from({ length: Math.ceil(texts.length / atOnce) }, (_, part) =>
    texts.slice(part * atOnce, (part + 1) * atOnce),
  );
  const found: Embedded[] = [];
  for await (const some of spread<readonly string[], Embedded[]>(parts, () => thread({ purpose, given }), {
    workers,
  }))
    found.push(...some);
  return found;
}
