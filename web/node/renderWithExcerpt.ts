import { readFile } from 'node:fs/promises';
import { excerptRecorder, type ModelExcerpt, NotInExcerpt, watchedLibrary } from '../embed/modelExcerpt.js';
import { library } from '../worker/library.js';
import { recorded } from '../worker/recorded.js';
import { type Rendered, rendererOf } from './render.js';

/** Renders a figure and records what it reads of the model, undefined if that is nothing or too much to carry. */
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
