// Every figure by name: what it is, and what computes it. Each is a file of its own, which the page loads when it is near the
// reader's view, and a worker when it is asked. The build gives either its half: see build/halves.ts.
import type { AnyFigure, Compute } from './figure.js';

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

// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
export const computes: Record<string, () => Promise<Compute<any, unknown>>> = {
  'one-layer': async () => (await import('./oneLayerData.js')).compute,
  'add-or-concatenate': async () => (await import('./smallModels.js')).compute,
  sum: async () => (await import('./sum.js')).compute,
  language: async () => (await import('./languageRuns.js')).compute,
  'dot-products': async () => (await import('./dotProducts.js')).compute,
  oblique: async () => (await import('./oblique.js')).compute,
  collisions: async () => (await import('./collisions.js')).compute,
  gauge: async () => (await import('./gauge.js')).compute,
  heads: async () => (await import('./heads.js')).compute,
  depth: async () => (await import('./depth.js')).compute,
  'needs-positions': async () => (await import('./needsPositions.js')).compute,
  'one-score': async () => (await import('./oneScore.js')).compute,
  overlap: async () => (await import('./overlap.js')).compute,
  encoding: async () => (await import('./encoding.js')).compute,
  gram: async () => (await import('./gram.js')).compute,
  schemes: async () => (await import('./schemes.js')).compute,
  'four-tasks': async () => (await import('./fourTasksRuns.js')).compute,
  'keep-apart': async () => (await import('./keepApart.js')).compute,
  narrow: async () => (await import('./narrow.js')).compute,
  'schemes-tasks': async () => (await import('./schemesTasksRuns.js')).compute,
  // One run of a grid, for the workers that a worker starts.
  'cell-run': async () => (await import('./cells.js')).computeCell,
};
