// Every figure by name. Each is a file of its own, loaded when it is near the reader's view.
import type { AnyFigure } from './figure.js';

export const figures: Record<string, () => Promise<AnyFigure>> = {
  'dot-products': async () => (await import('./dotProducts.js')).figure,
  'one-score': async () => (await import('./oneScore.js')).figure,
  images: async () => (await import('./images.js')).figure,
  order: async () => (await import('./order.js')).figure,
  sandbox: async () => (await import('./sandbox.js')).figure,
  schemes: async () => (await import('./schemes.js')).figure,
};
