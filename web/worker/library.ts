// The library for figures: loaded once, and the model only when a figure needs it.
import {
  type LoadOptions,
  loadBoth,
  loadFirst,
  loadMiniLM,
  loadOpening,
  loadRest,
  type MiniLMOptions,
} from 'superpose';
import type { Library } from '../figures/figure.js';

/** A failure is not kept: the next question tries again. */
const retried = <T>(make: () => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
};

export function library(
  model: MiniLMOptions = {},
  module: LoadOptions = {},
  first = retried(() => loadFirst(module)),
): Library {
  const superpose = retried(async () => loadBoth(await first(), module));
  return {
    first,
    superpose,
    opening: retried(async () => loadOpening(await first(), model)),
    miniLM: retried(async () =>
      loadMiniLM(await first(), { rest: async () => loadRest(await superpose()), ...model }),
    ),
  };
}
