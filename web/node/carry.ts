import { readFile } from 'node:fs/promises';
import { type Carried, NotCarried, recorder, watchedLibrary } from '../embed/carried.js';
import { library } from '../worker/library.js';
import { type Rendered, rendererOf } from './render.js';

/** Renders a figure and notes what it reads of the model; undefined where that is nothing, or too much. */
export async function renderAndCarry(
  modelFolder: URL,
  name: string,
  settings: [string, string][] = [],
): Promise<{ rendered: Rendered; carried: Carried | undefined }> {
  const files = (file: string) => readFile(new URL(file, modelFolder));
  const record = recorder(files);
  try {
    const watched = watchedLibrary(library({ read: record.read }), record.watched);
    const rendered = await rendererOf(watched)(name, settings);
    return { rendered, carried: record.carried() };
  } catch (error) {
    if (!(error instanceof NotCarried) && !((error as Error).cause instanceof NotCarried)) throw error;
    return { rendered: await rendererOf(library({ read: files }))(name, settings), carried: undefined };
  }
}
