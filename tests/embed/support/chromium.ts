// Chromium behind the interface that the other engines have.
import { type Browser, chromium, type Page } from 'playwright';
import { afterAll } from 'vitest';
import { chromiumOptions } from '../../../tools/chromium.mjs';
import type { Engine } from '../../engines/engines.ts';

let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

export async function openChromium(): Promise<Engine & { page: Page }> {
  browser ??= chromium.launch(chromiumOptions);
  const context = await (await browser).newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  return {
    page,
    complaints,
    open: async (address) => {
      await page.goto(address);
    },
    evaluate: (inPage, ...given) => page.evaluate(called(inPage, given)),
    evaluateInFrame: async (inPage, ...given) => {
      const frame = page.frames()[1];
      if (!frame) throw new Error('The page has no frame.');
      return frame.evaluate(called(inPage, given));
    },
    close: () => context.close(),
  };
}

/** A call as an expression: Playwright itself hands on one argument only. */
const called = (inPage: unknown, given: unknown[]): string =>
  `(${inPage})(${given.map((one) => JSON.stringify(one)).join(', ')})`;
