// A resident object belongs to the module that made it. Functions of another module refuse the object, and
// neither module is harmed by the attempt.
import { load, type Superpose } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import { drawn, drawnLayer } from './model/tinyMinilm.ts';
import { plain } from './support/builds.ts';
import { methodsOf } from './support/methods.ts';
import { rightCalls } from './support/rightCalls.ts';

const d = 4;
type Method = (...args: unknown[]) => unknown;
interface Handle extends Record<string, unknown> {
  isAlive(): boolean;
  delete(): void;
}
const isHandle = (value: unknown): value is Handle =>
  typeof (value as Handle | undefined)?.isAlive === 'function';

/**
 * One handle of each kind, by the function that makes it, and a forward pass, which belongs to its stack.
 */
async function heldIn(superpose: Superpose): Promise<{ handles: Record<string, Handle>; forward: object }> {
  const handles: Record<string, Handle> = {};
  for (const [name, calls] of Object.entries(rightCalls)) {
    // A function that is not among those that load() returns makes no handle.
    const make = (superpose as unknown as Partial<Record<string, Method>>)[name];
    const result = make?.(...calls.sound);
    if (isHandle(result)) handles[name] = result;
  }
  const stack = superpose.transformerStack({ d_model: d, heads: 2 });
  await stack.addLayer(drawnLayer(d, 6, 10));
  handles.transformerStack?.delete();
  handles.transformerStack = stack as unknown as Handle;
  return { handles, forward: await stack.forward({ token: drawn(4, d, 1) }) };
}

const outcome = async (run: () => unknown): Promise<Error | undefined> => {
  try {
    await run();
  } catch (error) {
    return error as Error;
  }
  return undefined;
};

const dataOf = (thing: object) =>
  Object.fromEntries(Object.entries(thing).filter(([, member]) => typeof member !== 'function'));

test('these functions make handles', async () => {
  const { handles } = await heldIn(plain);
  expect(Object.keys(handles).sort()).toEqual(['collisionSearch', 'layer', 'trainer', 'transformerStack']);
  for (const handle of Object.values(handles)) handle.delete();
});

test('no function takes an object of another module for one of its own', async () => {
  const [first, second] = [await load(), await load()];
  const ofFirst = await heldIn(first);
  const ofSecond = await heldIn(second);
  const foreign = [...Object.values(ofSecond.handles), ofSecond.forward];
  const methods: [string, Method][] = [
    ...Object.entries({ ...ofFirst.handles, forward: ofFirst.forward }).flatMap(([name, handle]) =>
      methodsOf(handle)
        .filter(([method]) => method !== 'isAlive')
        .map(([method, run]): [string, Method] => [`${name}.${method}`, run]),
    ),
    ...Object.entries(first as unknown as Record<string, Method>).filter(
      ([, run]) => typeof run === 'function',
    ),
  ];
  expect(methods.length).toBeGreaterThan(70);
  for (const [name, run] of methods) {
    for (const thing of foreign) {
      for (const args of [[thing], [thing, thing], [thing, thing, thing]]) {
        const error = await outcome(() => run(...args));
        // An options argument may be any object, of which only the data may be read.
        if (error === undefined) expect(await outcome(() => run(...args.map(dataOf))), name).toBeUndefined();
        else {
          expect(error.message, name).not.toMatch(/broke off|out of bounds/);
          expect(error.message, name).toMatch(/^\S.*[.?]$/s);
        }
      }
    }
  }
  for (const { handles } of [ofFirst, ofSecond])
    for (const [name, handle] of Object.entries(handles)) expect(handle.isAlive(), name).toBe(true);
  // Both modules still answer as they did before.
  for (const { forward } of [ofFirst, ofSecond])
    expect((forward as { state(n: number): object }).state(1)).toBeDefined();
  for (const { handles } of [ofFirst, ofSecond]) for (const handle of Object.values(handles)) handle.delete();
}, 120_000);
