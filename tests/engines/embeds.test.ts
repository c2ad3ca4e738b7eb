// Embeds in Firefox and WebKit.
import { afterAll, describe } from 'vitest';
import { testEmbeds } from '../embed/support/embeds.ts';
import { lacking, manyFirefoxes, webkit } from './engines.ts';

const inCi = process.env.CI === 'true';
const firefoxes = manyFirefoxes();
afterAll(firefoxes.end);
for (const [name, start] of Object.entries({ firefox: firefoxes.start, webkit })) {
  const missing = lacking[name as 'firefox' | 'webkit']();
  describe.skipIf(missing.length > 0 && !inCi)(name, () => testEmbeds(start));
}
