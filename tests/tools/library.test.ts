// The list of everything the library computes stays complete and true.
import { readFileSync } from 'node:fs';
import { load } from 'superpose';
import { expect, test } from 'vitest';
import { libraryDocs } from '../../tools/library-docs.mjs';
import { examples } from '../../web/docs/examples.mjs';

test('every function has an example, and every example a function', async () => {
  const superpose = await load();
  const functions = Object.entries(superpose).flatMap(([name, member]) =>
    typeof member === 'function' ? [name] : [],
  );
  const named = new Set((examples as { name: string }[]).map(({ name }) => name));
  expect([...named].sort()).toEqual(functions.filter((name) => name !== 'memoryBytes').sort());
});

test('web/docs/library.md is what tools/library-docs.mjs makes', async () => {
  const page = readFileSync(new URL('../../web/docs/library.md', import.meta.url), 'utf8');
  expect(await libraryDocs()).toBe(page);
});
