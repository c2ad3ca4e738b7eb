// The computing half of every figure. The page opens with those here, each a file of its own; those of the path come
// together, and those of the evidence.
import type { Compute } from '../figures/figure.js';

// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
type AnyCompute = Compute<any, unknown>;

// Written so that the bundler sees that nothing else of them is used.
const opening: Record<string, () => Promise<AnyCompute>> = {
  'one-layer': async () => (await import('../figures/oneLayerData.js')).compute,
  'add-or-concatenate': async () => (await import('../figures/smallModels.js')).compute,
  language: async () => (await import('../figures/languageRuns.js')).compute,
  'dot-products': async () => (await import('../figures/dotProducts.js')).compute,
};

/** What computes a figure; undefined when there is none of that name. */
export async function computeOf(figure: string): Promise<AnyCompute | undefined> {
  try {
    if (Object.hasOwn(opening, figure)) return await opening[figure]?.();
    const { pathComputes } = await import('./pathComputes.js');
    if (Object.hasOwn(pathComputes, figure)) return pathComputes[figure];
    const { laterComputes } = await import('./laterComputes.js');
    return Object.hasOwn(laterComputes, figure) ? laterComputes[figure] : undefined;
  } catch (cause) {
    throw new Error('The code that computes this figure could not be fetched; is there a network?', {
      cause,
    });
  }
}
