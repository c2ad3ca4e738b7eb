// What computes where the site's files are not: in a page of one file and in superpose/embed. It is given its
// supplies first, then questions, in a worker made from a string or on the page's own thread.
import type { LoadOptions } from 'superpose';
import { answering, type Run, running } from '../worker/answers.js';
import { library } from '../worker/library.js';
import type { Question } from '../worker/protocol.js';
import { inSlices } from '../worker/slices.js';
import { type Carried, carriedReader, NotCarried, onlyCarried, watchedLibrary } from './carried.js';

export interface Supplies {
  /** The build, and its files or their addresses. */
  module: LoadOptions;
  carried?: Carried | undefined;
  /** The address of the whole model, if there is one. */
  model?: string | undefined;
}

const lacking =
  'This copy of the figure carries only the tokens that it was made with, and the others could not be fetched.';

/** Tries what is carried first, and for other words the whole model, from where the page has it. */
export function runWith({ module, carried, model }: Supplies): Run {
  const whole = model === undefined ? undefined : running(inSlices(library({ from: model }, module)));
  const part =
    carried &&
    running(
      watchedLibrary(
        inSlices({
          ...library({ read: carriedReader(carried) }, module),
          recorded: async (name) => carried.recorded?.[name],
        }),
        (one) => onlyCarried(one, carried),
      ),
    );
  return async (figure, state, job) => {
    try {
      return await (part ?? whole ?? nothingOfTheModel(module))(figure, state, job);
    } catch (error) {
      // A file that is not carried may come wrapped in another error.
      if (!part || !isNotCarried(error)) throw error;
      if (!whole) throw new Error(lacking);
      return whole(figure, state, job).catch((cause: unknown) => {
        throw job.signal.aborted ? cause : new Error(lacking, { cause });
      });
    }
  };
}

const isNotCarried = (error: unknown): boolean =>
  error instanceof NotCarried || (error instanceof Error && isNotCarried(error.cause));

const refused = () => Promise.reject(new Error(lacking));
// Refused here, because a file that is not there is another sentence, to who builds the page.
const nothingOfTheModel = (module: LoadOptions): Run =>
  running({ ...inSlices(library({}, module)), opening: refused, miniLM: refused });

/** The worker's half: the first message brings the supplies, the others are questions. */
export function beWorker(): void {
  let answer: ((question: Question) => void) | undefined;
  self.onmessage = ({ data }: MessageEvent) => {
    if (answer) answer(data);
    else answer = answering(runWith(data), (reply) => self.postMessage(reply));
  };
}
