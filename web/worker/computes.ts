// The computing half of every figure. The page opens with those here; the others come in a file of their own.
import { compute as dotProducts } from '../figures/dotProducts.js';
import type { Compute } from '../figures/figure.js';
import { compute as sum } from '../figures/sum.js';

// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
type AnyCompute = Compute<any, unknown>;

const opening: Record<string, AnyCompute> = {
  'dot-products': dotProducts,
  sum,
};

/** What computes a figure; undefined when there is none of that name. */
export async function computeOf(figure: string): Promise<AnyCompute | undefined> {
  if (Object.hasOwn(opening, figure)) return opening[figure];
  const { laterComputes } = await import('./laterComputes.js').catch((cause: unknown) => {
    throw new Error('The code that computes this figure could not be fetched; is there a network?', {
      cause,
    });
  });
  return Object.hasOwn(laterComputes, figure) ? laterComputes[figure] : undefined;
}
