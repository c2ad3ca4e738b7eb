// What computes where the site's files are not: in a page of one file and in superpose/embed. It is given its
// supplies first, then questions, in a worker made from a string or on the page's own thread.
import type { LoadOptions } from 'superpose';
import { answering, type ComputeFigure, computeWith, yielding } from '../worker/answers.js';
import { library } from '../worker/library.js';
import type { Question } from '../worker/transports.js';
import {
  excerptReader,
  type ModelExcerpt,
  NotInExcerpt,
  onlyExcerpt,
  watchedLibrary,
} from './modelExcerpt.js';

export interface Supplies {
  /** The build, and its files or their addresses. */
  module: LoadOptions;
  excerpt?: ModelExcerpt | undefined;
  /** The address of the whole model, if there is one. */
  model?: string | undefined;
}

const lacking =
  'This copy of the figure carries only the tokens that it was made with, and the others could not be fetched.';

/** Tries the excerpt first, and for other words the whole model, from where the page has it. */
export function runWith({ module, excerpt, model }: Supplies): ComputeFigure {
  const whole = model === undefined ? undefined : computeWith(yielding(library({ from: model }, module)));
  const part =
    excerpt &&
    computeWith(
      watchedLibrary(
        yielding({
          ...library({ read: excerptReader(excerpt) }, module),
          recorded: async (name) => excerpt.recorded?.[name],
        }),
        (one) => onlyExcerpt(one, excerpt),
      ),
    );
  return async (figure, state, job) => {
    try {
      return await (part ?? whole ?? nothingOfTheModel(module))(figure, state, job);
    } catch (error) {
      // A file that is not in the excerpt may come wrapped in another error.
      if (!part || !isNotInExcerpt(error)) throw error;
      if (!whole) throw new Error(lacking);
      return whole(figure, state, job).catch((cause: unknown) => {
        if (job.signal.aborted) throw cause;
        throw new Error(`${lacking} ${(cause as Error).message}`, { cause });
      });
    }
  };
}

const isNotInExcerpt = (error: unknown): boolean =>
  error instanceof NotInExcerpt || (error instanceof Error && isNotInExcerpt(error.cause));

const refused = () => Promise.reject(new Error(lacking));
// Refused here, because a missing file has another sentence, for whoever builds the page.
const nothingOfTheModel = (module: LoadOptions): ComputeFigure =>
  computeWith({ ...yielding(library({}, module)), miniLM: refused });

/** The worker's half: the first message brings the supplies, the others are questions. */
export function beWorker(): void {
  let answer: ((question: Question) => void) | undefined;
  self.onmessage = ({ data }: MessageEvent) => {
    if (answer) answer(data);
    else answer = answering(runWith(data), (reply) => self.postMessage(reply));
  };
}
