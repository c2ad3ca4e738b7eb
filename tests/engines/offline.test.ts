// The page without a network, in Firefox and WebKit.
import { describe } from 'vitest';
import { testOffline } from '../embed/support/offline.ts';
import { firefox, lacking, webkit } from './engines.ts';

const inCi = process.env.CI === 'true';
for (const [name, start] of Object.entries({ firefox, webkit })) {
  const missing = lacking[name as 'firefox' | 'webkit']();
  describe.skipIf(missing.length > 0 && !inCi)(name, () => testOffline(start));
}
