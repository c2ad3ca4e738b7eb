// Every figure by name. Each is a file of its own, loaded when it is near the reader's view.
import type { AnyFigure } from './figure.js';

export const figures: Record<string, () => Promise<AnyFigure>> = {
  cost: async () => (await import('./cost.js')).figure,
  'dot-products': async () => (await import('./dotProducts.js')).figure,
  mixing: async () => (await import('./mixing.js')).figure,
  normalising: async () => (await import('./normalising.js')).figure,
  'one-score': async () => (await import('./oneScore.js')).figure,
  'three-concats': async () => (await import('./threeConcats.js')).figure,
};
