// Runs axe on the page in its current state.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axeCore from 'axe-core';
import type { Page } from 'playwright';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules that colours can break. */
export const ofColours: axeCore.RunOptions = { runOnly: ['color-contrast', 'link-in-text-block'] };

/** The faults that axe finds, as a list of sentences. */
export async function faultsOf(page: Page, options: axeCore.RunOptions = {}): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(
    (asked) =>
      (window as unknown as { axe: typeof axeCore }).axe.run(
        {
          include: document,
          // Rows of a table are alike, and thousands of them would take minutes.
          exclude: [{ fromShadowDom: ['superpose-figure', 'tbody tr:nth-child(n + 4)'] }],
        },
        // Leave out what passes, element by element.
        { ...asked, resultTypes: ['violations'] },
      ),
    options,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}
