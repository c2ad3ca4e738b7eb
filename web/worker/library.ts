// The library that figures compute with: loaded once, and the model only when a figure needs it.
import { type LoadOptions, load, loadMiniLM, type MiniLMOptions } from 'add-or-concatenate';
import type { Library } from '../figures/figure.js';
import { memoizer, retryable } from './answers.js';

export function library(
  model: MiniLMOptions = {},
  module: LoadOptions = {},
  small = retryable(() => load({ ...module, module: 'small' })),
): Library {
  const superpose = retryable(() => load({ ...module, module: 'full' }));
  return {
    memoize: memoizer(),
    small,
    superpose,
    miniLM: retryable(async () => loadMiniLM(await small(), { rest: superpose, ...model })),
  };
}

/** The advice given where a site, or a file saved from one, has no address of MiniLM's files. */
export const siteAdvice =
  'Whoever builds this site can add MiniLM’s files (npm run build), or name a folder that has them (SUPERPOSE_MODEL).';

/** The library where no folder of MiniLM's files is known; `advice` says how they can be provided. */
export const withoutModel = (library: Library, advice: string): Library => ({
  ...library,
  miniLM: () =>
    Promise.reject(
      new Error(`This figure reads MiniLM, a trained model, whose files are not here. ${advice}`.trim()),
    ),
});
