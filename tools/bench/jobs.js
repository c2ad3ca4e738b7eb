// The jobs that the bench times. Each has its shapes, its input, the engines that do it, and the allowed
// distance from a reference in double.
import { fourTermEngines, inOne } from './engines.js';
import { forward, rates } from './forward.js';
import { allowedError, errorOf, inputOf, placesOf, referenceAt } from './job.js';
import { otherJobs } from './others.js';
import { training } from './training.js';

export const fourTerms = {
  name: 'four terms',
  allowed: allowedError,
  shapes: [
    { n: 32, d: 64, heads: 4 },
    { n: 128, d: 384, heads: 12 },
    { n: 128, d: 768, heads: 12 },
    { n: 512, d: 768, heads: 12 },
    { n: 512, d: 1024, heads: 16 },
  ],
  small: [
    { n: 5, d: 12, heads: 3 },
    { n: 32, d: 64, heads: 4 },
    { n: 17, d: 40, heads: 1 },
  ],
  inputOf,
  enginesOf: fourTermEngines,
  referenceOf: (input) => referenceAt(input, placesOf(input)),
  errorOf: (input, answer, reference, { order }) => errorOf(input, inOne(answer), order, reference),
};

/** A job for the library alone: each of its builds is an engine. */
const alone = ({ prepare, ...job }) => ({
  ...job,
  enginesOf: ({ superpose }) =>
    superpose.slice(job.once ? -1 : 0).map((one) => ({
      name: `superpose ${one.simd}`,
      prepare: async (input) => prepare(one, input),
    })),
});

/** The jobs for the library alone. */
export const others = otherJobs.map(alone);

export { forward, rates };

export const jobs = [fourTerms, forward, rates, ...others, training];
