// Computes a state again and records which parts of the model it reads: the excerpt that a figure saved in
// one file needs.
import { excerptRecorder, NotInExcerpt, watchedLibrary } from '../embed/modelExcerpt.js';
import type { Library } from '../figures/figure.js';
import { type ComputeFigure, computeWith } from './answers.js';
import { library } from './library.js';

async function fetchBytes(address: URL): Promise<Uint8Array> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The server answered ${response.status} (${address.pathname}).`);
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * Only for a worker that has computed nothing yet, because a figure does not read again what is memoized.
 * Without the model's address, the given library says that there is no model.
 */
export const excerptOf =
  (given: Library, model: URL | undefined): ComputeFigure =>
  async (figure, state, job) => {
    const record = excerptRecorder((file) => fetchBytes(new URL(file, model)));
    const known = model ? library({ read: record.read }, {}, given.small) : given;
    const read = { ...known, recorded: record.recorded(given.recorded) };
    try {
      await computeWith(watchedLibrary(read, record.watched))(figure, state, job);
    } catch (error) {
      const { cause } = error as Error;
      throw cause instanceof NotInExcerpt ? cause : error;
    }
    return record.excerpt();
  };
