// The three browsers, each for a reader who prefers light or dark.
import { closeChromium, openChromium } from '../../engines/chromium.ts';
import { type Engine, firefox, lacking, webkit } from '../../engines/engines.ts';

export type Scheme = 'light' | 'dark';
export type Visitor = Engine & {
  resize(width: number, height: number): Promise<void>;
  /** Takes a screenshot of the window as a PNG. */
  shoot?(path: string): Promise<unknown>;
};

/** Chromium with its console messages. A missing icon is the host's own affair. */
async function heardChromium(scheme: Scheme): Promise<Visitor> {
  const engine = await openChromium({ scheme });
  const complaints: string[] = [];
  const { page } = engine;
  page.on('console', (message) => {
    if (message.type() === 'error' && !/favicon/.test(message.location().url))
      complaints.push(`${message.text()} (${message.location().url})`);
  });
  return {
    ...engine,
    get complaints() {
      return [...engine.complaints, ...complaints];
    },
    shoot: (path) => page.screenshot({ path }),
  };
}

export const browsers = {
  chromium: heardChromium,
  firefox: (scheme: Scheme) => firefox({ scheme }) as Promise<Visitor>,
  webkit: (scheme: Scheme) => webkit({ scheme }) as Promise<Visitor>,
};
export type BrowserName = keyof typeof browsers;

export const lackingOf = (name: BrowserName): string[] => (name === 'chromium' ? [] : lacking[name]());

export { closeChromium as closeBrowsers };
