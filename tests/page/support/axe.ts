// axe on the page as it is.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axeCore from 'axe-core';
import type { Page } from 'playwright';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Those that colours can break. */
export const ofColours: axeCore.RunOptions = { runOnly: ['color-contrast', 'link-in-text-block'] };

/** What axe finds wrong, as a list of sentences. */
export async function faultsOf(page: Page, options: axeCore.RunOptions = {}): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(
    (asked) =>
      (window as unknown as { axe: typeof axeCore }).axe.run(
        {
          include: document,
          // Rows of a table are made alike, and the thousands of them would take minutes.
          exclude: [{ fromShadowDom: ['superpose-figure', 'tbody tr:nth-child(n + 4)'] }],
        },
        // What is in order is not written up, element by element.
        { ...asked, resultTypes: ['violations'] },
      ),
    options,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}
