// Another worker, started by a worker from its own file. It answers one question after another.
import type { State } from '../figures/controls.js';
import type { Question, Reply } from './protocol.js';
import type { Doer } from './spread.js';
import { scriptAddress } from './ways.js';

/** Throws where no worker may be started. `work` rejects if the question fails or the worker itself does. */
export function helper<Result>(address: string, figure: string): Doer<State, Result> {
  const worker = new Worker(scriptAddress(address), { type: 'module' });
  let id = 0;
  let answered: (data: Result) => void = () => {};
  let failed: (error: Error) => void = () => {};
  worker.onmessage = ({ data: reply }: MessageEvent<Reply>) => {
    if ('data' in reply) answered(reply.data as Result);
    else if ('error' in reply) failed(new Error(reply.error));
  };
  worker.onerror = (event) => {
    event.preventDefault();
    failed(new Error('Another worker could not be loaded.'));
  };
  return {
    work: (state) =>
      new Promise((resolve, reject) => {
        answered = resolve;
        failed = reject;
        worker.postMessage({ id: id++, figure, state } satisfies Question);
      }),
    close: () => worker.terminate(),
  };
}

/** Workers that the machine has room for. */
export const roomForWorkers = (): number => navigator.hardwareConcurrency || 1;
