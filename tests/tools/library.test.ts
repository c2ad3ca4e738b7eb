// The examples of the reference: one for everything that the library computes.
import { load } from 'superpose';
import { expect, test } from 'vitest';
import { examples } from '../../docs/examples.mjs';

test('every function has an example, and every example names a function', async () => {
  const superpose = await load();
  const functions = Object.entries(superpose).flatMap(([name, member]) =>
    typeof member === 'function' ? [name] : [],
  );
  const named = new Set((examples as { name: string }[]).map(({ name }) => name));
  expect([...named].sort()).toEqual(functions.filter((name) => name !== 'memoryBytes').sort());
});
