// Embeddings of many sentences on threads, each with a model of its own.
import { load, loadMiniLM, type Sentence } from 'superpose';
import { inPool } from '../../worker/workerPool.js';
import { type OpenGiven, opened } from './model.js';
import { serve, thread } from './threads.js';

export const purpose = 'embedding';

/** A path, and what config.json may lack; without a path, MiniLM. */
export interface ModelAsked extends OpenGiven {
  model?: string | undefined;
}

/** Few enough for threads to finish together, and enough for messages to cost next to nothing. */
const atOnce = 4;

export const modelAsked = async ({ model: path, ...options }: ModelAsked) =>
  path === undefined ? loadMiniLM(await load()) : opened(path, options);

export async function serveEmbeddings(asked: unknown): Promise<void> {
  const model = await modelAsked(asked as ModelAsked);
  serve(async (sentences: readonly Sentence[]) => {
    const found: Float32Array[] = [];
    for (const sentence of sentences) {
      const { embedding } = await model.forward(sentence, { scores: false });
      found.push(embedding.slice());
    }
    return found;
  });
}

/** The embedding of each sentence, [d] and of length one, in their order. */
export async function* embedded(
  sentences: readonly Sentence[],
  given: ModelAsked,
  workers: number,
): AsyncGenerator<Float32Array> {
  const parts = Array.from({ length: Math.ceil(sentences.length / atOnce) }, (_, part) =>
    sentences.slice(part * atOnce, (part + 1) * atOnce),
  );
  for await (const some of inPool<readonly Sentence[], Float32Array[]>(
    parts,
    () => thread({ purpose, given }),
    { workers },
  ))
    yield* some;
}
