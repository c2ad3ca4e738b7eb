// Debian's Firefox and WebKitGTK, headless, behind one small interface.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { Builder, Capabilities, type WebDriver } from 'selenium-webdriver';
import { which } from '../../tools/steps.mjs';

export interface Engine {
  open(address: string): Promise<void>;
  /** Runs a function that stands alone in the page and returns what it returns. */
  evaluate<T, A extends unknown[]>(inPage: (...given: A) => T, ...given: A): Promise<T>;
  /** The same in the page's first frame. */
  evaluateInFrame<T, A extends unknown[]>(inPage: (...given: A) => T, ...given: A): Promise<T>;
  /** Errors that the page threw or logged; WebKit's driver tells none. */
  complaints: readonly string[];
  close(): Promise<void>;
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

/** What this machine lacks to run an engine; empty when it lacks nothing. */
export const lacking: Record<'firefox' | 'webkit', () => string[]> = {
  firefox: () => ['firefox-esr'].filter((program) => !which(program)),
  webkit: () => [
    ...['WebKitWebDriver', 'xvfb-run'].filter((program) => !which(program)),
    ...(miniBrowser() ? [] : ['MiniBrowser']),
  ],
};

export async function firefox(): Promise<Engine> {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: which('firefox-esr') as string,
    headless: true,
  });
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
    evaluate: (inPage, ...given) => page.evaluate(inPage as never, ...(given as unknown as never[])) as never,
    evaluateInFrame: (inPage, ...given) =>
      page.frames()[1]?.evaluate(inPage as never, ...(given as unknown as never[])) as never,
    close: () => browser.close(),
  };
}

export async function webkit(): Promise<Engine> {
  const port = await freePort();
  // A process group of its own, so that closing ends the X server and the browser with it.
  const server = spawn('xvfb-run', ['--auto-servernum', 'WebKitWebDriver', `--port=${port}`], {
    detached: true,
    stdio: 'ignore',
    // WebKit's sandbox refuses to run as root.
    env: {
      ...process.env,
      ...(process.getuid?.() === 0 && { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' }),
    },
  });
  const end = () => {
    process.off('exit', end);
    process.kill(-(server.pid as number));
  };
  // Also when the program is interrupted.
  process.once('exit', end);
  try {
    const driver = await connect(port);
    return {
      complaints: [],
      open: (address) => driver.get(address),
      evaluate: (inPage, ...given) => driver.executeScript(`return (${inPage})(...arguments)`, ...given),
      async evaluateInFrame(inPage, ...given) {
        await driver.switchTo().frame(0);
        try {
          return await driver.executeScript(`return (${inPage})(...arguments)`, ...given);
        } finally {
          await driver.switchTo().defaultContent();
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

/** Tries until the driver answers; the test's own time limit ends the trying. */
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
