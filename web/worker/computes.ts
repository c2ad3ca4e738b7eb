// The computing half of every figure, each a file of its own, and the computation that nested workers run.
import type { Compute } from '../figures/figure.js';
import { modules } from '../figures/index.js';
import { cellRun } from './transports.js';

/** What computes a figure; undefined when there is none of that name. */
// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
export async function computeOf(figure: string): Promise<Compute<any, unknown> | undefined> {
  try {
    if (figure === cellRun) return (await import('./cell.js')).computeCell;
    return Object.hasOwn(modules, figure) ? (await modules[figure]?.())?.compute : undefined;
  } catch (cause) {
    throw new Error('The code that computes this figure could not be fetched; is there a network?', {
      cause,
    });
  }
}
