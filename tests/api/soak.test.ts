// No function keeps anything when it is called many times: no byte of the module's memory, no embind handle.
//
// A leak of a few bytes takes long to make memory grow. So the test measures the free room: how many small
// blocks can still be allocated before memory grows. It must be the same after few calls and after many,
// block for block; otherwise something was kept.

import { readFileSync } from 'node:fs';
import type { Simd, Superpose } from 'add-or-concatenate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fullApi } from '../../build/package/fullModule.js';
import { type Raw, start } from '../../build/package/module.js';
import * as docs from '../../docs/examples.mjs';
import { builds } from './support/builds.ts';

interface Example {
  name: string;
  what: string;
  code: string;
}
const { examples } = docs as { examples: Example[] };
const runExample = docs.runExample as (superpose: Superpose, example: Example) => Promise<unknown>;

/** The number of calls in which leaks of 512 bytes each fill four blocks. */
const calls = 32;
/** The module's JavaScript is read, not imported, because types are checked before it is built. */
const glue = readFileSync(new URL('../../build/package/wasm/superpose-plain.js', import.meta.url), 'utf8');
/** The names that malloc and free have among a module's exports. */
const [malloc, free] = ['_malloc', '_free'].map((name) => {
  const match = new RegExp(`${name}=wasmExports\\["(\\w+)"\\]`).exec(glue);
  if (!match) throw new Error(`The module's JavaScript no longer calls ${name} as this test expects.`);
  return match[1] as string;
}) as [string, string];

/** The exports of the instance that was made last. */
let exported: WebAssembly.Exports = {};
const { instantiate } = WebAssembly;
beforeAll(() => {
  const seen = async (...args: Parameters<typeof instantiate>) => {
    const instance: unknown = await instantiate(...args);
    if (instance instanceof WebAssembly.Instance) exported = instance.exports;
    return instance;
  };
  WebAssembly.instantiate = seen as typeof instantiate;
});
afterAll(() => {
  WebAssembly.instantiate = instantiate;
});

type Call = (given: number) => number;

/** How many blocks of 4 KB fit before memory grows. Measuring grows it, so a module can be measured once. */
function room(raw: Raw, memory: WebAssembly.Exports): number {
  const blocks: number[] = [];
  const before = raw.memoryBytes();
  while (raw.memoryBytes() === before) blocks.push((memory[malloc] as Call)(4096));
  for (const block of blocks) (memory[free] as Call)(block);
  return blocks.length;
}

type Run = (superpose: Superpose) => unknown;

/** How many JavaScript values embind holds. src/wasm does not bind this function. */
const handlesOf = (raw: Raw) => (raw as Raw & { count_emval_handles(): number }).count_emval_handles();

/**
 * Runs everything in rounds in a new module. Returns the room that is left, and what added handles after the
 * first round.
 */
async function roomAfter(simd: Simd, rounds: number, runs: Record<string, Run>) {
  const module = await start({ simd });
  const memory = exported;
  const superpose = fullApi(module);
  const handles = () => handlesOf(module.raw);
  expect(handles()).toBeTypeOf('number');
  const adding = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(runs)) {
      const before = handles();
      await run(superpose);
      // The first round may add handles that are made only once.
      if (round > 0 && handles() !== before) adding.add(name);
    }
  }
  return { room: room(module.raw, memory), adding: [...adding] };
}

/** The names of the functions that keep memory or handles. */
async function keeping(simd: Simd, runs: Record<string, Run>) {
  const short = await roomAfter(simd, 2, runs);
  const long = await roomAfter(simd, 2 + calls, runs);
  if (short.room === long.room) return { memory: [], handles: long.adding };
  // Some function leaks, so each is tried by itself.
  const memory: string[] = [];
  for (const [name, run] of Object.entries(runs)) {
    const [less, more] = [
      await roomAfter(simd, 2, { [name]: run }),
      await roomAfter(simd, 2 + calls, { [name]: run }),
    ];
    if (less.room !== more.room) memory.push(name);
  }
  return { memory: memory.length ? memory : ['all together'], handles: long.adding };
}

/** Every example, and calls that the examples do not make. */
const runs: Record<string, Run> = {
  ...Object.fromEntries(
    examples.map((example): [string, Run] => [
      `${example.name}: ${example.what}`,
      (superpose) => runExample(superpose, example),
    ]),
  ),
  'what a search is asked': (superpose) => {
    const tokens = superpose.randomNormal({ rows: 9, columns: 4, seed: 1 });
    const search = superpose.collisionSearch({ tokens, positions: tokens });
    search.nearestTokens(1, 3);
    search.delete();
  },
  'what a trainer is asked': (superpose) => {
    const batch = { n: 2, tokens: [0, 1, 1, 0], targets: [1, -1, 0, 1] };
    const sizes = { vocabulary: 2, classes: 2, d_model: 4 } as const;
    const trainer = superpose.trainer({ evaluation: batch, ...sizes });
    for (let step = 0; step < 2; step++) trainer.step(batch);
    trainer.evaluate(batch);
    trainer.logits(batch);
    trainer.attention(batch);
    trainer.cutTerms(['token-token']);
    trainer.evaluate().accuracy;
    trainer.overlap();
    trainer.setParameters(trainer.parameters());
    trainer.delete();
  },
  'what the module itself refuses': (superpose) => {
    const file = new Uint8Array(12);
    file[0] = 4;
    expect(() => superpose.readSafetensorsHeader(file)).toThrow();
  },
};

describe.each(builds)('$simd SIMD', ({ simd }: { simd: Simd }) => {
  test('nothing is kept of any call', async () => {
    expect(await keeping(simd, runs)).toEqual({ memory: [], handles: [] });
  });

  test('500 bytes a call would be seen', async () => {
    const leaking: Run = (superpose) => {
      const tokens = superpose.randomNormal({ rows: 1, columns: 120, seed: 1 });
      superpose.collisionSearch({ tokens, positions: { ...tokens, data: new Float64Array(), rows: 0 } });
    };
    const sound: Run = (superpose) => superpose.chanceAngles({ d: 4, k1: 1, k2: 2 });
    expect((await keeping(simd, { sound, leaking })).memory).toEqual(['leaking']);
  });
});
