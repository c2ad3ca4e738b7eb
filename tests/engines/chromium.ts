// Chromium behind the same interface as the other engines: one browser with a context for each reader, or a
// new browser.
import { type Browser, type BrowserContextOptions, type Page, chromium as playwright } from 'playwright';
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

export const openChromium = async ({ scheme }: EngineOptions = {}): Promise<Chromium> =>
  openIn(await runningChromium(), scheme ? { colorScheme: scheme } : {});

/** A Chromium with nothing stored and nothing else open. Closing it ends the browser. */
export async function freshChromium(options: BrowserContextOptions = {}): Promise<Chromium> {
  const browser = await playwright.launch(chromiumOptions);
  return { ...(await openIn(browser, options)), close: () => browser.close() };
}

async function openIn(browser: Browser, options: BrowserContextOptions): Promise<Chromium> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  return {
    page,
    complaints,
    open: async (address) => {
      await page.goto(address);
    },
    evaluate: (inPage, ...args) => page.evaluate(called(inPage, args)),
    evaluateInFrame: async (inPage, ...args) => {
      const frame = page.frames()[1];
      if (!frame) throw new Error('The page has no frame.');
      return frame.evaluate(called(inPage, args));
    },
    resize: (width, height) => page.setViewportSize({ width, height }),
    close: () => context.close(),
  };
}

/** A call as an expression: Playwright itself passes only one argument. */
const called = (inPage: unknown, args: unknown[]): string =>
  `(${inPage})(${args.map((argument) => JSON.stringify(argument)).join(', ')})`;
