// Every figure by name. Each is a module of its own, loaded when the figure comes near the reader's view. The
// build gives the page the part of each module that draws, and the worker the part that computes.
import type { AnyFigure, Compute } from './figure.js';

export interface FigureModule {
  figure: AnyFigure;
  // biome-ignore lint/suspicious/noExplicitAny: of any controls and data
  compute: Compute<any, unknown>;
}

export const modules: Record<string, () => Promise<FigureModule>> = {
  'one-layer': () => import('./oneLayer.js'),
  'add-or-concatenate': () => import('./addOrConcatenate.js'),
  sum: () => import('./sum.js'),
  'dot-products': () => import('./dotProducts.js'),
  oblique: () => import('./oblique.js'),
  collisions: () => import('./collisions.js'),
  gauge: () => import('./gauge.js'),
  heads: () => import('./heads.js'),
  depth: () => import('./depth.js'),
  'needs-positions': () => import('./needsPositions.js'),
  'one-score': () => import('./oneScore.js'),
  overlap: () => import('./overlap.js'),
  encoding: () => import('./encoding.js'),
  gram: () => import('./gram.js'),
  schemes: () => import('./schemes.js'),
  'beside-added': () => import('./besideAdded.js'),
  'four-tasks': () => import('./fourTasks.js'),
  'keep-apart': () => import('./keepApart.js'),
  language: () => import('./language.js'),
  narrow: () => import('./narrow.js'),
  'schemes-tasks': () => import('./schemesTasks.js'),
};

/** The figures without their compute functions. Figures of a reader's own file are added to this record. */
export const figures: Record<string, () => Promise<AnyFigure>> = Object.fromEntries(
  Object.entries(modules).map(([name, load]) => [name, async () => (await load()).figure]),
);
