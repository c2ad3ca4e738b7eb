// Everything that a function of the library must come with. It prints all that is missing at once, each with
// the file where it belongs: a binding that src/api calls, an example for the reference, a right call with
// the bytes that it needs, and a right call of each method of what the function returns.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { examples } from '../../docs/examples.mjs';
import { plain } from './support/builds.ts';
import { methodCalls } from './support/methodCalls.ts';
import { methodsOf } from './support/methods.ts';
import { errorWithNothingLeft } from './support/refusals.ts';
import { rightCalls } from './support/rightCalls.ts';

const functions = methodsOf(plain).filter(([name]) => name !== 'memoryBytes');

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const namesIn = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map((match) => match[1] as string);

test('nothing is missing of any function', async () => {
  const missing: string[] = [];
  const bindings = namesIn(read('build/declarations/raw.d.ts'), /^ {2}(\w+)\(/gm);
  const files = readdirSync(new URL('src/api/', root), { encoding: 'utf8', recursive: true });
  const api = files.filter((name) => name.endsWith('.ts')).map((name) => read(`src/api/${name}`));
  const called = namesIn(api.join('\n'), /raw\.(\w+)/g);
  expect(bindings.length).toBeGreaterThan(80);
  for (const name of bindings.filter((binding) => !called.includes(binding)))
    missing.push(`no function of src/api calls the binding ${name}`);
  const named = (examples as readonly { name: string }[]).map(({ name }) => name);
  const known = functions.map(([name]) => name);
  for (const name of [...named, ...Object.keys(rightCalls)])
    if (!known.includes(name))
      missing.push(`${name} is no function; take it off docs/examples.mjs and rightCalls.ts`);
  for (const [name, call] of functions) {
    if (!named.includes(name)) missing.push(`${name} has no example in docs/examples.mjs`);
    const right = rightCalls[name];
    if (!right) {
      missing.push(`${name} has no right call in tests/api/support/rightCalls.ts`);
      continue;
    }
    const allocates = errorWithNothingLeft(() => call(...right.sound)?.delete?.()) !== undefined;
    if (allocates !== (right.bytes !== undefined))
      missing.push(
        `${name} ${allocates ? 'needs' : 'needs no'} \`bytes\` in tests/api/support/rightCalls.ts`,
      );
  }
  for (const { kind, object, calls } of await methodCalls()) {
    const methods = methodsOf(object).map(([name]) => name);
    for (const name of methods.filter((name) => !Object.hasOwn(calls, name)))
      missing.push(`the method ${name} of a ${kind} has no right call in tests/api/support/methodCalls.ts`);
  }
  expect(missing).toEqual([]);
});
