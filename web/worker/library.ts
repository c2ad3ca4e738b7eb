// The library that figures compute with: loaded once, and the model only when a figure needs it.
import { type LoadOptions, load, loadMiniLM, type MiniLMOptions } from 'add-or-concatenate';
import type { Library } from '../figures/figure.js';
import { memoizer, retried } from './answers.js';

export function library(
  model: MiniLMOptions = {},
  module: LoadOptions = {},
  small = retried(() => load({ ...module, module: 'small' })),
): Library {
  const superpose = retried(() => load({ ...module, module: 'full' }));
  return {
    memoize: memoizer(),
    small,
    superpose,
    miniLM: retried(async () => loadMiniLM(await small(), { rest: superpose, ...model })),
  };
}
