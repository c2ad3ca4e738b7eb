// What the Embed dialog says of places: the `tried` hosts are those that `npm run hosts` builds.
import { expect, test } from 'vitest';
import { places } from '../../web/page/places.ts';
import { hosts } from '../hosts/hosts.ts';

test('a place says tried where a host uses its texts, and only there', () => {
  for (const [name, { tried }] of Object.entries(places)) {
    const users = Object.entries(hosts).filter(([, { ways }]) => ways.some(({ place }) => place === name));
    expect(users.map(([host]) => host).sort(), name).toEqual([...tried].sort());
  }
});

test('every form of a tried place but files and citations is one that a host uses', () => {
  const used = new Set(
    Object.values(hosts).flatMap(({ ways }) => ways.map(({ place, kind }) => `${place} ${kind}`)),
  );
  for (const [name, { tried, forms }] of Object.entries(places)) {
    // A picture in Markdown is the same text on any HTML page as in a post.
    const kinds = Object.keys(forms).filter(
      (kind) => !['file', 'cite'].includes(kind) && !(name === 'html' && kind === 'markdown'),
    );
    for (const kind of tried.length > 0 ? kinds : []) expect(used).toContain(`${name} ${kind}`);
  }
});
