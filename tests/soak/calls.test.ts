// Calls of every function, in a seeded random order and with newly drawn numbers each time: after the first
// thousand neither a module's memory nor JavaScript's grows. A few thousand, unless
// SUPERPOSE_SOAK_CALLS says how many.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { plain } from '../api/support/builds.ts';
import { drawing } from '../api/support/numbers.ts';
import { rightCalls } from '../api/support/rightCalls.ts';

const calls = Number(process.env.SUPERPOSE_SOAK_CALLS ?? 4000);
const every = 1000;
/** Allowed JavaScript growth in bytes: code that is compiled late, and the engine's own statistics. */
const slack = 3 * 2 ** 20;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const draw = drawing(1);
/** Numbers that select or count, rather than fill a table. */
const results = ['covariances', 'variances', 'terms', 'logits', 'shares', 'residuals', 'angles'];

/** The same arguments with new numbers in their tables, and new seeds. */
function drawn(value: unknown, name = ''): unknown {
  if (value instanceof Float64Array || value instanceof Float32Array)
    return results.includes(name) ? value : value.map((entry) => (entry === 0 ? 0 : 2 * draw() - 1));
  if (name === 'seed' || name === 'stream') return Math.floor(2 ** 32 * draw());
  if (Array.isArray(value)) return value.map((entry) => drawn(entry, name));
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, drawn(entry, key)]));
}

type Call = (...args: unknown[]) => unknown;
const right = Object.entries(rightCalls).flatMap(([name, { sound, also = [] }]) =>
  [sound, ...also].map((args) => [name, args] as const),
);

async function once(): Promise<void> {
  const [name, args] = right[Math.floor(draw() * right.length)] as (typeof right)[number];
  // Numbers from a module, such as the bytes of a file, stay.
  const inputs = name === 'normalization' ? args : args.map((entry) => drawn(entry));
  const actual = (plain[name as keyof typeof plain] as unknown as Call)(...inputs) as
    | { delete?(): void; next?(): Promise<unknown>; return?(): Promise<unknown> }
    | undefined;
  await actual?.return?.();
  actual?.delete?.();
}

test(`${calls} calls`, async () => {
  const memory: number[] = [];
  const heap: number[] = [];
  for (let call = 1; call <= calls; call++) {
    await once();
    if (call % every !== 0) continue;
    collect();
    memory.push(plain.memoryBytes());
    heap.push(process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers);
  }
  const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
  const most = Math.max(...heap);
  if (process.env.SUPERPOSE_SOAK_CALLS)
    console.log(
      `${calls} calls: modules ${megabytes(memory[0] as number)} after ${every}, ${megabytes(Math.max(...memory))} at most; JavaScript ${megabytes(heap[0] as number)} and ${megabytes(most)}`,
    );
  expect(Math.max(...memory)).toBe(memory[0]);
  expect(most).toBeLessThan((heap[0] as number) + slack);
});

test('a leak of a hundred bytes a call would be seen', () => {
  const leaked: Float64Array[] = [];
  collect();
  const before = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  for (let call = 0; call < 100_000; call++) leaked.push(new Float64Array(13));
  collect();
  const after = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  expect(after).toBeGreaterThan(before + slack);
  expect(leaked.length).toBe(100_000);
});
