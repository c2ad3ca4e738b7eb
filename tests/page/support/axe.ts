// Runs axe on the page in its current state.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axeCore from 'axe-core';
import type { Engine } from '../../engines/engines.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Axe and a call of it, as one function that a driver can send, because a page's policy forbids evaluating
 * text.
 */
const run = new Function(
  'asked',
  `${axe}
  // Rows of a table are alike, and thousands of them would take minutes.
  const context = { include: asked.within ? document.querySelector(asked.within) : document, exclude: [{ fromShadowDom: ['superpose-figure', 'tbody tr:nth-child(n + 4)'] }] };
  // Leave out what passes, element by element.
  return window.axe.run(context, { ...asked.options, resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')));`,
) as (asked: { options: axeCore.RunOptions; within?: string | undefined }) => Promise<string[]>;

/** The faults that axe finds, on the page or within a part of it, as a list of sentences. */
export const faultsOf = async (
  page: Pick<Engine, 'evaluate'>,
  options: axeCore.RunOptions = {},
  within?: string,
): Promise<string[]> => await page.evaluate(run, { options, within });
