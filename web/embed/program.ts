// Computes where the site's files are not at hand: in a page of one file and in the package's embed. A worker
// made from a string, or the page's own thread, gets its supplies first, then questions.
import type { LoadOptions } from 'add-or-concatenate';
import { answering, type ComputeFigure, computeWith, withYields } from '../worker/answers.js';
import { library, withoutModel } from '../worker/library.js';
import type { Question } from '../worker/transports.js';
import {
  excerptReader,
  type ModelExcerpt,
  NotInExcerpt,
  onlyExcerpt,
  watchedLibrary,
} from './modelExcerpt.js';

export interface ComputeResources {
  /** The build, and its files or their addresses. */
  module: LoadOptions;
  excerpt?: ModelExcerpt | undefined;
  /** The address of the entire model, if there is one. */
  model?: string | undefined;
  /** How the model can be provided where neither an excerpt nor an address of it is supplied. */
  modelAdvice?: string | undefined;
}

const carried = 'This copy of the figure carries only the tokens that it was made with';
const lacking = `${carried}, and the others could not be fetched.`;

/**
 * Computes with the excerpt first, and for other words with the entire model, if the page has its address.
 */
export function computeWithSupplies({
  module,
  excerpt,
  model,
  modelAdvice = '',
}: ComputeResources): ComputeFigure {
  const fromModel =
    model === undefined ? undefined : computeWith(withYields(library({ from: model }, module)));
  const fromExcerpt =
    excerpt &&
    computeWith(
      watchedLibrary(
        withYields({
          ...library({ read: excerptReader(excerpt) }, module),
          recorded: async (name) => excerpt.recorded?.[name],
        }),
        (miniLM) => onlyExcerpt(miniLM, excerpt),
      ),
    );
  const fromNothing = computeWith(withoutModel(withYields(library({}, module)), modelAdvice));
  return async (figure, state, job) => {
    try {
      return await (fromExcerpt ?? fromModel ?? fromNothing)(figure, state, job);
    } catch (error) {
      // A file that is not in the excerpt may come wrapped in another error.
      if (!fromExcerpt || !isNotInExcerpt(error)) throw error;
      if (!fromModel) throw new Error(`${carried}. ${modelAdvice}`.trim());
      return fromModel(figure, state, job).catch((cause: unknown) => {
        if (job.signal.aborted) throw cause;
        throw new Error(`${lacking} ${(cause as Error).message}`, { cause });
      });
    }
  };
}

const isNotInExcerpt = (error: unknown): boolean =>
  error instanceof NotInExcerpt || (error instanceof Error && isNotInExcerpt(error.cause));

/** In a worker: the first message brings the supplies, the others are questions. */
export function answerQuestions(): void {
  let answer: ((question: Question) => void) | undefined;
  self.onmessage = ({ data }: MessageEvent) => {
    if (answer) answer(data);
    else answer = answering(computeWithSupplies(data), (reply) => self.postMessage(reply));
  };
}
