// Every figure by name. Each is a file of its own, loaded when it is near the reader's view. Those of a reader's own file
// are in ownModel.ts and ownTable.ts.
import type { AnyFigure } from './figure.js';

export const figures: Record<string, () => Promise<AnyFigure>> = {
  'one-layer': async () => (await import('./oneLayer.js')).figure,
  'add-or-concatenate': async () => (await import('./addOrConcatenate.js')).figure,
  sum: async () => (await import('./sum.js')).figure,
  'dot-products': async () => (await import('./dotProducts.js')).figure,
  oblique: async () => (await import('./oblique.js')).figure,
  collisions: async () => (await import('./collisions.js')).figure,
  gauge: async () => (await import('./gauge.js')).figure,
  heads: async () => (await import('./heads.js')).figure,
  depth: async () => (await import('./depth.js')).figure,
  'needs-positions': async () => (await import('./needsPositions.js')).figure,
  'one-score': async () => (await import('./oneScore.js')).figure,
  overlap: async () => (await import('./overlap.js')).figure,
  encoding: async () => (await import('./encoding.js')).figure,
  gram: async () => (await import('./gram.js')).figure,
  schemes: async () => (await import('./schemes.js')).figure,
  'four-tasks': async () => (await import('./fourTasks.js')).figure,
  'keep-apart': async () => (await import('./keepApart.js')).figure,
  language: async () => (await import('./language.js')).figure,
  narrow: async () => (await import('./narrow.js')).figure,
  'schemes-tasks': async () => (await import('./schemesTasks.js')).figure,
};
