// What computes a figure, from the list of figures.
import type { Compute } from '../figures/figure.js';
import { computes } from '../figures/index.js';

/** Undefined when there is no figure of that name. */
// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
export async function computeOf(figure: string): Promise<Compute<any, unknown> | undefined> {
  try {
    return Object.hasOwn(computes, figure) ? await computes[figure]?.() : undefined;
  } catch (cause) {
    throw new Error('The code that computes this figure could not be fetched; is there a network?', {
      cause,
    });
  }
}
