// What the Embed dialog says of platforms: tested are those for which `npm run hosts` builds a site.
import { expect, test } from 'vitest';
import { type Platform, platforms } from '../../web/page/platforms.ts';
import { hosts } from '../hosts/hosts.ts';

test('a platform counts as tested exactly where a host uses its texts', () => {
  for (const [name, place] of Object.entries<Platform>(platforms)) {
    const users = Object.values(hosts).filter(({ ways }) => ways.some(({ place }) => place === name));
    expect(users.length > 0, name).toBe(place.tested ?? false);
  }
});

test('a host uses every form of a tested platform, except files and citations', () => {
  const used = new Set(
    Object.values(hosts).flatMap(({ ways }) => ways.map(({ place, kind }) => `${place} ${kind}`)),
  );
  for (const [name, { tested, forms }] of Object.entries<Platform>(platforms)) {
    // A picture in Markdown is the same text on any HTML page as in a post.
    const kinds = Object.keys(forms).filter(
      (kind) => !['file', 'cite'].includes(kind) && !(name === 'html' && kind === 'markdown'),
    );
    for (const kind of tested ? kinds : []) expect(used).toContain(`${name} ${kind}`);
  }
});
