// A worker that computes one state anew, and notes what it reads of the model: the part that a file of its
// own must carry. A new worker each time, because figures remember what they have read.
import { type Carried, NotCarried, recorder, watchedLibrary } from '../embed/carried.js';
import type { State } from '../figures/controls.js';
import { running } from '../worker/answers.js';
import { library } from '../worker/library.js';

export type CarryReply = { carried: Carried | undefined } | { error: string };

async function fetched(address: URL): Promise<Uint8Array> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The server answered ${response.status} (${address.pathname}).`);
  return new Uint8Array(await response.arrayBuffer());
}

async function carry(figure: string, state: State, model: string): Promise<Carried | undefined> {
  const record = recorder((file) => fetched(new URL(file, model)));
  const run = running(watchedLibrary(library({ read: record.read }), record.watched));
  await run(figure, state, { signal: new AbortController().signal, progress: () => {} });
  return record.carried();
}

self.onmessage = async ({ data }: MessageEvent<{ figure: string; state: State; model: string }>) => {
  let reply: CarryReply;
  try {
    reply = { carried: await carry(data.figure, data.state, data.model) };
  } catch (error) {
    const { cause, message } = error as Error;
    const found = error instanceof NotCarried ? error : cause instanceof NotCarried ? cause : undefined;
    reply = { error: found?.message ?? message };
  }
  self.postMessage(reply);
};
