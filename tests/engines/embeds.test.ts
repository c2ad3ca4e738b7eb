// Embeds in the three engines.
import { afterAll, describe } from 'vitest';
import { testEmbeds } from '../embed/support/embeds.ts';
import { openChromium } from './chromium.ts';
import { lacking, manyFirefoxes, webkit } from './engines.ts';

const inCi = process.env.CI === 'true';
const firefoxes = manyFirefoxes();
afterAll(firefoxes.end);
for (const [name, start] of Object.entries({ chromium: openChromium, firefox: firefoxes.start, webkit })) {
  const missing = name === 'chromium' ? [] : lacking[name as 'firefox' | 'webkit']();
  describe.skipIf(missing.length > 0 && !inCi)(name, () => testEmbeds(start));
}
