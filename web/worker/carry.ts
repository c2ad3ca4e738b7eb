// Computes one state afresh and records what it reads of the model: what a figure in one file must carry.
import { NotCarried, recorder, watchedLibrary } from '../embed/carried.js';
import type { Library } from '../figures/figure.js';
import { type Run, running } from './answers.js';
import { library } from './library.js';

async function fetched(address: URL): Promise<Uint8Array> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The server answered ${response.status} (${address.pathname}).`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Only for a worker that has computed nothing yet: figures remember what they have read. */
export const carrying =
  ({ first, recorded }: Library, model: URL): Run =>
  async (figure, state, job) => {
    const record = recorder((file) => fetched(new URL(file, model)));
    const read = { ...library({ read: record.read }, {}, first), recorded: record.recorded(recorded) };
    try {
      await running(watchedLibrary(read, record.watched))(figure, state, job);
    } catch (error) {
      const { cause } = error as Error;
      throw cause instanceof NotCarried ? cause : error;
    }
    return record.carried();
  };
