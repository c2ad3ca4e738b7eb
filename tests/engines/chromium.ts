// Chromium behind the same interface as the other engines: one browser, with a context for each reader.
import { type Browser, type Page, chromium as playwright } from 'playwright';
import { chromiumOptions } from '../../tools/chromium.mjs';
import type { Engine, EngineOptions } from './engines.ts';

export type Chromium = Engine & Required<Pick<Engine, 'resize'>> & { page: Page };

let running: Promise<Browser> | undefined;

/** One browser for all test files of a process. Playwright ends it with the process. */
export function runningChromium(): Promise<Browser> {
  running ??= playwright.launch(chromiumOptions);
  return running;
}

export async function closeChromium(): Promise<void> {
  await (await running)?.close();
}

export async function openChromium({ scheme }: EngineOptions = {}): Promise<Chromium> {
  const browser = await runningChromium();
  const context = await browser.newContext(scheme ? { colorScheme: scheme } : {});
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
    resize: (width, height) => page.setViewportSize({ width, height }),
    close: () => context.close(),
  };
}

/** A call as an expression: Playwright itself passes only one argument. */
const called = (inPage: unknown, given: unknown[]): string =>
  `(${inPage})(${given.map((one) => JSON.stringify(one)).join(', ')})`;
