// Computes and draws a figure in Node, without a page but with the same code.
import { readFile } from 'node:fs/promises';
import { unknownName } from '../../build/package/unknownName.js';
import type { Result } from '../element/exports.js';
import { excerptRecorder, type ModelExcerpt, NotInExcerpt, watchedLibrary } from '../embed/modelExcerpt.js';
import { readState } from '../figures/controls.js';
import type { AnyFigure, Library } from '../figures/figure.js';
import { figures as loaders } from '../figures/index.js';
import { computeOf } from '../worker/answers.js';
import { library } from '../worker/library.js';
import { recorded } from '../worker/recorded.js';

export interface Rendered extends Result {
  /** A sentence for each setting that could not be taken and so has its first value. */
  refused: string[];
}

/** Every figure, loaded at once: in Node nothing is gained by waiting. */
export const figures: Record<string, AnyFigure> = Object.fromEntries(
  await Promise.all(Object.entries(loaders).map(async ([name, load]) => [name, await load()] as const)),
);

/** `modelFolder` has the extracted weights, if not where loadMiniLM() looks. Seeded figures need none. */
export const renderer = (modelFolder?: URL) =>
  rendererOf({ ...library(modelFolder && { from: modelFolder }), recorded });

export function rendererOf(loaded: Library) {
  /** `heed` gets the sentences about refused settings, and may throw before anything is computed. */
  return async (
    name: string,
    settings: [string, string][] = [],
    heed: (refused: readonly string[]) => void = () => {},
  ): Promise<Rendered> => {
    const figure = Object.hasOwn(figures, name) ? figures[name] : undefined;
    const compute = await computeOf(name);
    if (!figure || !compute) {
      throw new Error(unknownName('figure', name, Object.keys(figures)));
    }
    const { state: read, refused } = readState(figure.controls, settings);
    heed(refused);
    const state = figure.settle?.(read, undefined) ?? read;
    const job = { signal: new AbortController().signal, progress: () => {} };
    return { figure, state, data: await compute(loaded, state, job), refused };
  };
}

/**
 * Renders a figure and records what it reads of the model. The excerpt is undefined if that is nothing or
 * too much for a page to carry.
 */
export async function renderWithExcerpt(
  modelFolder: URL,
  name: string,
  settings: [string, string][] = [],
): Promise<{ rendered: Rendered; excerpt: ModelExcerpt | undefined }> {
  const files = (file: string) => readFile(new URL(file, modelFolder));
  const record = excerptRecorder(files);
  try {
    const watched = watchedLibrary(
      { ...library({ read: record.read }), recorded: record.recorded(recorded) },
      record.watched,
    );
    return { rendered: await rendererOf(watched)(name, settings), excerpt: record.excerpt() };
  } catch (error) {
    if (!(error instanceof NotInExcerpt) && !((error as Error).cause instanceof NotInExcerpt)) throw error;
    const rendered = await rendererOf({ ...library({ read: files }), recorded })(name, settings);
    return { rendered, excerpt: undefined };
  }
}
