// Every figure by name. Each is a file of its own, loaded when it is near the reader's view.
import type { AnyFigure } from './figure.js';

export const figures: Record<string, () => Promise<AnyFigure>> = {
  cost: async () => (await import('./cost.js')).figure,
  'dot-products': async () => (await import('./dotProducts.js')).figure,
  mixing: async () => (await import('./mixing.js')).figure,
  normalising: async () => (await import('./normalising.js')).figure,
  oblique: async () => (await import('./oblique.js')).figure,
  probes: async () => (await import('./probes.js')).figure,
  collisions: async () => (await import('./collisions.js')).figure,
  'collision-error': async () => (await import('./collisionError.js')).figure,
  tables: async () => (await import('./tables.js')).figure,
  gauge: async () => (await import('./gauge.js')).figure,
  heads: async () => (await import('./heads.js')).figure,
  'one-score': async () => (await import('./oneScore.js')).figure,
  cosines: async () => (await import('./cosines.js')).figure,
  subspaces: async () => (await import('./subspaces.js')).figure,
  overlap: async () => (await import('./overlap.js')).figure,
  encoding: async () => (await import('./encoding.js')).figure,
  quoted: async () => (await import('./quoted.js')).figure,
  gram: async () => (await import('./gram.js')).figure,
  shift: async () => (await import('./shift.js')).figure,
  images: async () => (await import('./images.js')).figure,
  order: async () => (await import('./order.js')).figure,
  sandbox: async () => (await import('./sandbox.js')).figure,
  schemes: async () => (await import('./schemes.js')).figure,
  'three-concats': async () => (await import('./threeConcats.js')).figure,
};
