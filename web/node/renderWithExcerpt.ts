import { readFile } from 'node:fs/promises';
import { excerptRecorder, type ModelExcerpt, NotInExcerpt, watchedLibrary } from '../embed/modelExcerpt.js';
import type { Library } from '../figures/figure.js';
import { library } from '../worker/library.js';
import { recorded } from '../worker/recorded.js';
import { figures, type Rendered, rendererOf } from './render.js';

/**
 * Renders a figure and records what it reads of the model, undefined if that is nothing or too much to carry,
 * and whether it takes more than the first module.
 */
export async function renderWithExcerpt(
  modelFolder: URL,
  name: string,
  settings: [string, string][] = [],
): Promise<{ rendered: Rendered; excerpt: ModelExcerpt | undefined; takesRest: boolean }> {
  const files = (file: string) => readFile(new URL(file, modelFolder));
  const record = excerptRecorder(files);
  // Its first view may be recorded; what the reader trains is not.
  let takesRest = figures[name]?.runs !== undefined;
  const noted = (loaded: Library): Library => ({
    ...loaded,
    superpose() {
      takesRest = true;
      return loaded.superpose();
    },
  });
  try {
    const watched = watchedLibrary(
      noted({ ...library({ read: record.read }), recorded: record.recorded(recorded) }),
      record.watched,
    );
    const rendered = await rendererOf(watched)(name, settings);
    return { rendered, excerpt: record.excerpt(), takesRest };
  } catch (error) {
    if (!(error instanceof NotInExcerpt) && !((error as Error).cause instanceof NotInExcerpt)) throw error;
    const rendered = await rendererOf(noted({ ...library({ read: files }), recorded }))(name, settings);
    return { rendered, excerpt: undefined, takesRest };
  }
}
