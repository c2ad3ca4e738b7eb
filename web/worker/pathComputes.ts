// The computing half of the path’s figures after the opening ones, by name, and the computation that nested workers run.
import { cellRun, computeCell } from '../figures/cells.js';
import type { Compute } from '../figures/figure.js';
import { compute as fourTasks } from '../figures/fourTasksRuns.js';
import { compute as keepApart } from '../figures/keepApart.js';
import { compute as oblique } from '../figures/oblique.js';
import { compute as oneScore } from '../figures/oneScore.js';
import { compute as schemes } from '../figures/schemes.js';
import { compute as schemesTasks } from '../figures/schemesTasksRuns.js';
import { compute as sum } from '../figures/sum.js';

// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
export const pathComputes: Record<string, Compute<any, unknown>> = {
  sum,
  oblique,
  'one-score': oneScore,
  schemes,
  'four-tasks': fourTasks,
  'keep-apart': keepApart,
  'schemes-tasks': schemesTasks,
  [cellRun]: computeCell,
};
