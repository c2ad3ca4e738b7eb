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
