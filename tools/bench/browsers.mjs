// The tests' browsers and server, for measurements.
import { join } from 'node:path';
import { runnerImport } from 'vite';
import { root } from '../steps.mjs';

const from = async (file) => (await runnerImport(join(root, 'tests', file))).module;
const { firefox, webkit } = await from('engines/engines.ts');
const { freshChromium } = await from('engines/chromium.ts');
export const { serve } = await from('hosts/support/serve.ts');

/** Functions that start a browser, which can open() an address, evaluate() in its page, and close(). */
export const browsers = {
  chromium: (options) => freshChromium({ viewport: { width: 1440, height: 900 }, ...options }),
  firefox,
  webkit,
};

/** Calls `work` with a new browser that shows an address. */
export async function onPage(name, address, work) {
  const browser = await browsers[name]();
  try {
    await browser.open(address);
    return await work(browser);
  } finally {
    await browser.close();
  }
}

/** Calls `work` with the address where dist/ is served meanwhile. */
export async function withPage(work) {
  const { address, stop } = await serve({ '/': join(root, 'dist') });
  try {
    return await work(address);
  } finally {
    await stop();
  }
}
