// Debian's Firefox and WebKitGTK, headless, behind one small interface.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import puppeteer, { type Browser, type BrowserContext } from 'puppeteer-core';
import { Builder, Capabilities, type WebDriver } from 'selenium-webdriver';
import { expect } from 'vitest';
import { which } from '../../tools/steps.mjs';
import { readFigure } from '../page/support/shown.ts';

export interface Engine {
  open(address: string): Promise<void>;
  /** Runs a self-contained function in the page and returns its result. */
  evaluate<T, A extends unknown[]>(inPage: (...args: A) => T, ...args: A): Promise<T>;
  /** Runs a self-contained function in the page's first frame and returns its result. */
  evaluateInFrame<T, A extends unknown[]>(inPage: (...args: A) => T, ...args: A): Promise<T>;
  /** Errors that the page threw or logged; WebKit's driver reports none. */
  complaints: readonly string[];
  /** Sets the size of the page's area, in pixels. */
  resize?(width: number, height: number): Promise<void>;
  close(): Promise<void>;
}

export interface EngineOptions {
  /** The colour scheme that the reader prefers; by default the browser's own. */
  scheme?: 'light' | 'dark';
}

/** WebKitGTK's own small browser, which Debian keeps off PATH. */
function miniBrowser(): string | undefined {
  const lib = '/usr/lib';
  return readdirSync(lib)
    .filter((folder) => folder.endsWith('-linux-gnu'))
    .flatMap((folder) =>
      ['webkit2gtk-4.1', 'webkit2gtk-4.0'].map((version) => join(lib, folder, version, 'MiniBrowser')),
    )
    .find((file) => existsSync(file));
}

/** What this machine lacks to run an engine; empty if nothing. */
export const lacking: Record<'firefox' | 'webkit', () => string[]> = {
  firefox: () => ['firefox-esr'].filter((program) => !which(program)),
  webkit: () => [
    ...['WebKitWebDriver', 'xvfb-run'].filter((program) => !which(program)),
    ...(miniBrowser() ? [] : ['MiniBrowser']),
  ],
};

const startFirefox = ({ scheme }: EngineOptions): Promise<Browser> =>
  puppeteer.launch({
    browser: 'firefox',
    executablePath: which('firefox-esr') as string,
    headless: true,
    ...(scheme && {
      extraPrefsFirefox: { 'layout.css.prefers-color-scheme.content-override': scheme === 'dark' ? 0 : 1 },
    }),
  });

export async function firefox(options: EngineOptions = {}): Promise<Engine> {
  const browser = await startFirefox(options);
  return { ...(await pageOf(browser)), close: () => browser.close() };
}

/** Many sessions in one Firefox, each with its own cookies and storage, and a function that ends Firefox. */
export function manyFirefoxes(): { start: () => Promise<Engine>; end: () => Promise<void> } {
  let browser: Promise<Browser> | undefined;
  return {
    start: async () => {
      browser ??= startFirefox({});
      const context = await (await browser).createBrowserContext();
      return { ...(await pageOf(context)), close: () => context.close() };
    },
    end: async () => (await browser)?.close(),
  };
}

async function pageOf(browser: Browser | BrowserContext): Promise<Omit<Engine, 'close'>> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return {
    complaints,
    open: async (address) => {
      await page.goto(address);
    },
    evaluate: (inPage, ...args) => page.evaluate(inPage as never, ...(args as unknown as never[])) as never,
    evaluateInFrame: (inPage, ...args) =>
      page.frames()[1]?.evaluate(inPage as never, ...(args as unknown as never[])) as never,
    resize: (width, height) => page.setViewport({ width, height }),
  };
}

export async function webkit({ scheme }: EngineOptions = {}): Promise<Engine> {
  const port = await freePort();
  // A process group of its own, so that closing ends the X server and the browser with it.
  const server = spawn('xvfb-run', ['--auto-servernum', 'WebKitWebDriver', `--port=${port}`], {
    detached: true,
    stdio: 'ignore',
    // WebKit's sandbox refuses to run as root.
    env: {
      ...process.env,
      ...(process.getuid?.() === 0 && { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' }),
      ...(scheme && { GTK_THEME: scheme === 'dark' ? 'Adwaita:dark' : 'Adwaita' }),
    },
  });
  const end = () => {
    process.off('exit', end);
    process.kill(-(server.pid as number));
  };
  // Ends the server even when the program is interrupted.
  process.once('exit', end);
  try {
    const driver = await connect(port);
    return {
      complaints: [],
      open: (address) => driver.get(address),
      evaluate: (inPage, ...args) => driver.executeScript(`return (${inPage})(...arguments)`, ...args),
      async evaluateInFrame(inPage, ...args) {
        await driver.switchTo().frame(0);
        try {
          return await driver.executeScript(`return (${inPage})(...arguments)`, ...args);
        } finally {
          await driver.switchTo().defaultContent();
        }
      },
      async resize(width, height) {
        // The window has a bar above the page, so the size is set twice.
        for (let turn = 0; turn < 2; turn++) {
          const window = driver.manage().window();
          const { width: wide, height: high } = await window.getRect();
          const [inside, tall] = await driver.executeScript<[number, number]>(
            'return [innerWidth, innerHeight]',
          );
          await window.setRect({ width: width + wide - inside, height: height + high - tall });
        }
      },
      close: async () => {
        await driver.quit();
        end();
      },
    };
  } catch (error) {
    end();
    throw error;
  }
}

/** One WebKit for many sessions, each on a server of its own, and a function that ends the browser. */
export function manyWebkits(): { start: () => Promise<Engine>; end: () => Promise<void> } {
  let running: Promise<Engine> | undefined;
  return {
    start: async () => {
      running ??= webkit();
      const engine = await running;
      return { ...engine, close: () => engine.open('about:blank') };
    },
    end: async () => (await running)?.close(),
  };
}

/** Retries until the driver answers; the test's own time limit ends the wait. */
async function connect(port: number): Promise<WebDriver> {
  const address = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${address}/status`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const capabilities = new Capabilities({
    browserName: 'MiniBrowser',
    'webkitgtk:browserOptions': { binary: miniBrowser(), args: ['--automation'] },
  });
  return new Builder().usingServer(address).withCapabilities(capabilities).build();
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** What a figure shows once it is drawn. */
export async function shown(engine: Engine, name: string) {
  await expect
    .poll(
      async () => {
        await engine.evaluate(
          (figure: string) => document.querySelector(`superpose-figure[name="${figure}"]`)?.scrollIntoView(),
          name,
        );
        const actual = await engine.evaluate(readFigure, name);
        return Boolean(actual?.drawn) && !actual?.busy;
      },
      { timeout: 60_000, interval: 200, message: name },
    )
    .toBe(true);
  const result = await engine.evaluate(readFigure, name);
  if (!result) throw new Error(`There is no figure ${name}.`);
  return result;
}
