// The library as an engine.
import { gapOf, inDouble } from './numbers.js';

/** A build as an engine; `prepare` is given the build, an input and `options`. */
export const ours = (superpose, prepare, name = '', options = {}) => ({
  ...options,
  name: `superpose ${superpose.simd}${name}`,
  prepare: async (input) => prepare(superpose, input, options),
});

/** The reference of what has no plain loops: the library in double, which tests compare with oracles. */
export function exactly({ superpose: [first] }, prepare, input, options) {
  const { run, release } = prepare(first, inDouble(input), options);
  const answer = run();
  release?.();
  return answer;
}

/** A job for the library alone, by default one call, `call`, whose answer is an array or has these `fields`. */
export const alone = ({
  call,
  fields,
  prepare = (superpose, input) => ({ run: () => call(superpose, input) }),
  ...job
}) => ({
  enginesOf: ({ superpose }) => superpose.slice(job.once ? -1 : 0).map((one) => ours(one, prepare)),
  referenceOf: (input, modules) => exactly(modules, prepare, input),
  errorOf: (found, exact) =>
    fields ? Math.max(...fields.map((name) => gapOf(found[name], exact[name]))) : gapOf(found, exact),
  ...job,
});
