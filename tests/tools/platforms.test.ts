// What the Embed dialog offers to paste, and what `npm run hosts` builds sites with.
import { expect, test } from 'vitest';
import { platforms } from '../../web/page/platforms.ts';
import { hosts } from '../hosts/hosts.ts';

test('each platform of the Embed dialog has a host that uses its texts, except the file, which is its own', () => {
  const used = new Set(Object.values(hosts).flatMap(({ ways }) => ways));
  expect([...used, 'file'].sort()).toEqual(Object.keys(platforms).sort());
});
