// Embeds in the three engines.
import { afterAll, describe } from 'vitest';
import { testEmbeds } from '../embed/support/embeds.ts';
import { openChromium } from './chromium.ts';
import { lacking, manyFirefoxes, manyWebkits } from './engines.ts';

const inCi = process.env.CI === 'true';
const [firefoxes, webkits] = [manyFirefoxes(), manyWebkits()];
afterAll(() => Promise.all([firefoxes.end(), webkits.end()]));
const starters = { chromium: openChromium, firefox: firefoxes.start, webkit: webkits.start };
for (const [name, start] of Object.entries(starters)) {
  const missing = name === 'chromium' ? [] : lacking[name as 'firefox' | 'webkit']();
  describe.skipIf(missing.length > 0 && !inCi)(name, () => testEmbeds(start));
}
