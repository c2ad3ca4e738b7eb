// The three browsers, each with a reader who prefers light or dark.
import { type Browser, chromium } from 'playwright';
import { chromiumOptions } from '../../../tools/chromium.mjs';
import { type Engine, firefox, lacking, webkit } from '../../engines/engines.ts';

export type Scheme = 'light' | 'dark';
export type Visitor = Engine & {
  resize(width: number, height: number): Promise<void>;
  /** A page as it prints; Chromium alone can say. */
  print?(): Promise<Uint8Array>;
};

let running: Promise<Browser> | undefined;

async function openChromium(scheme: Scheme): Promise<Visitor> {
  running ??= chromium.launch(chromiumOptions);
  const context = await (await running).newContext({ colorScheme: scheme });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // An icon that the host does not have is its own affair.
    if (message.type() === 'error' && !/favicon/.test(message.location().url))
      complaints.push(`${message.text()} (${message.location().url})`);
  });
  const called = (inPage: unknown, given: unknown[]) =>
    `(${inPage})(${given.map((one) => JSON.stringify(one)).join(', ')})`;
  return {
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
    print: () => page.pdf(),
    close: () => context.close(),
  };
}

export const browsers = {
  chromium: openChromium,
  firefox: (scheme: Scheme) => firefox({ scheme }) as Promise<Visitor>,
  webkit: (scheme: Scheme) => webkit({ scheme }) as Promise<Visitor>,
};
export type BrowserName = keyof typeof browsers;

export const lackingOf = (name: BrowserName): string[] => (name === 'chromium' ? [] : lacking[name]());

export async function closeBrowsers(): Promise<void> {
  await (await running)?.close();
}
