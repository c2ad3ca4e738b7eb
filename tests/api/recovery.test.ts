// A call that breaks off inside WebAssembly throws one sentence, and the next call runs in a new instance.
// Objects that were resident in the old instance say that they are lost, and their bytes no longer count.
import { type LoadOptions, load, type Superpose } from 'add-or-concatenate';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadTiny } from './model/tinyMinilm.ts';

/** 32 MB of draws: more than a module starts with. */
const large = { rows: 4096, columns: 1024, seed: 1 };
const small = { rows: 2, columns: 3, seed: 1 };
const brokeOff = /^The computation broke off, most likely for want of memory\. Ask for less, or try again\.$/;

const zeros = (rows: number, columns: number) => ({ data: new Float64Array(rows * columns), rows, columns });

beforeEach(() => {
  // Silences what Emscripten prints when a module aborts.
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Makes every growth of memory fail until the returned function is called. */
function refuseMemory(): () => void {
  const refused = vi.spyOn(WebAssembly.Memory.prototype, 'grow').mockImplementation(() => {
    throw new RangeError('There is no more memory.');
  });
  return () => refused.mockRestore();
}

/** Makes a call of the module break off, and then lets memory grow again. */
function breakOff(superpose: Superpose, request = large): void {
  const mend = refuseMemory();
  expect(() => superpose.randomUniform(request)).toThrow(brokeOff);
  mend();
}

describe('memory that is refused', () => {
  test('a sentence, and its cause', async () => {
    const superpose = await load();
    const mend = refuseMemory();
    let thrown: unknown;
    try {
      superpose.randomUniform(large);
    } catch (error) {
      thrown = error;
    }
    mend();
    expect(String(thrown)).toMatch(/^Error: The computation broke off/);
    expect((thrown as Error).cause).toBeInstanceOf(WebAssembly.RuntimeError);
  });

  test('the next call runs in a new instance, also while memory is still refused', async () => {
    const superpose = await load();
    const before = superpose.randomUniform(small).data;
    const initialBytes = superpose.memoryBytes();
    const mend = refuseMemory();
    for (let again = 0; again < 3; again++) {
      expect(() => superpose.randomUniform(large)).toThrow(brokeOff);
      expect(superpose.memoryBytes()).toBeLessThan(initialBytes);
      expect(superpose.randomUniform(small).data).toEqual(before);
      expect(superpose.memoryBytes()).toBe(initialBytes);
    }
    mend();
    expect(superpose.randomUniform(large).rows).toBe(4096);
  });

  test('nothing is fetched for it', async () => {
    const superpose = await load();
    const fetched = vi.spyOn(globalThis, 'fetch');
    breakOff(superpose);
    superpose.randomUniform(small);
    expect(fetched).not.toHaveBeenCalled();
  });
});

test('a table of no rows whose buffer was transferred breaks nothing off', async () => {
  const superpose = await load();
  const layer = { weight: superpose.randomNormal({ rows: 4, columns: 4, seed: 1 }) };
  const data = new Float64Array(8);
  structuredClone(data.buffer, { transfer: [data.buffer] });
  const gone = { data, rows: 0, columns: 4 };
  for (const call of [
    () => superpose.rowLengths(gone),
    () => superpose.gram(gone),
    () => superpose.decompose({ summands: { token: gone }, query: layer, key: layer, heads: 1 }),
  ])
    expect(call).toThrow(/must be an array with its buffer/);
  expect(superpose.rowLengths(layer.weight)).toHaveLength(4);
});

describe('a module that cannot grow at all', () => {
  test.each(['small', 'full'] as const)('the %s one, by its own file', async (module) => {
    const address = new URL(
      `../../build/package/wasm/superpose-${module === 'small' ? 'small-' : ''}plain.wasm`,
      import.meta.url,
    );
    const { readBytes } = await import('../../build/package/files.js');
    const wasm = { [module]: withoutGrowth(await readBytes(address, 'The file')) } as LoadOptions['wasm'];
    const superpose = await load({ module: module as 'small', simd: 'plain', wasm: wasm ?? {} });
    expect(() => superpose.randomUniform(large)).toThrow(brokeOff);
    expect(superpose.randomUniform(small).rows).toBe(2);
    expect(() => superpose.randomUniform(large)).toThrow(brokeOff);
  });
});

describe('what is held in a module that breaks off', () => {
  const gone = (what: string) => `This ${what} was lost when its module broke off; make another one.`;

  test('says so: a search, also in the middle of a job', async () => {
    const superpose = await load();
    const input = { tokens: zeros(9, 4), positions: zeros(2, 4) };
    const search = superpose.collisionSearch(input);
    const job = search.allWords({ slice: 4 });
    breakOff(superpose);
    await expect(job).rejects.toThrow(gone('collision search'));
    for (const call of [() => search.nearestTokens(0)]) expect(call).toThrow(gone('collision search'));
    await expect(search.allWords()).rejects.toThrow(gone('collision search'));
    search.delete();
    expect(superpose.collisionSearch(input).isAlive()).toBe(true);
  });

  test('says so: a trainer', async () => {
    const superpose = await load();
    const batch = { n: 2, tokens: [0, 1, 1, 0], targets: [1, -1, 0, 1] };
    const sizes = { vocabulary: 2, classes: 2, d_model: 4 } as const;
    const trainer = superpose.trainer({ evaluation: batch, ...sizes });
    trainer.step(batch);
    breakOff(superpose);
    for (const call of [() => trainer.step(batch), () => trainer.evaluate(), () => trainer.parameters()])
      expect(call).toThrow(gone('trainer'));
    trainer.delete();
    expect(trainer.isAlive()).toBe(false);
  });

  test('no longer counts', async () => {
    const superpose = await load();
    // The search occupies 123 MB. Another 938 MB would not fit beside that, but would fit alone.
    const search = superpose.collisionSearch({ tokens: zeros(20_000, 400), positions: zeros(1, 400) });
    const much = { rows: 120_000, columns: 1024, seed: 1 };
    expect(() => superpose.randomUniform(much)).toThrow(
      /transformer stacks, layers, searches and trainers hold 123 MB/,
    );
    // Memory that was needed only while the search was made is free again and would hold `large`, so a
    // larger draw is needed to make the module break off.
    breakOff(superpose, { ...much, rows: 60_000 });
    const mend = refuseMemory();
    expect(() => superpose.randomUniform(much)).toThrow(brokeOff);
    mend();
    // Deleting the lost search does not release its memory a second time: another search counts in full.
    search.delete();
    const another = superpose.collisionSearch({ tokens: zeros(20_000, 400), positions: zeros(1, 400) });
    expect(() => superpose.randomUniform(much)).toThrow(
      /transformer stacks, layers, searches and trainers hold 123 MB/,
    );
    another.delete();
    // A search that was deleted before the module broke off stays deleted.
    breakOff(superpose, { ...much, rows: 60_000 });
    expect(() => another.nearestTokens(0)).toThrow('This collision search has been deleted');
  });

  test('reads its layers again: an opened model', async () => {
    const superpose = await load();
    const { minilm } = await loadTiny({}, { superpose });
    const run = async () => (await minilm.forward('the cat sat')).last();
    const before = await run();
    breakOff(superpose);
    expect(await run()).toEqual(before);
    minilm.delete();
  });
});

/** The same module, with a memory that cannot grow beyond its initial size. */
function withoutGrowth(wasm: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(wasm);
  /** An unsigned LEB128 number, and where it ends. */
  const number = (at: number): [value: number, end: number] => {
    let [value, shift, place] = [0, 0, at];
    for (;;) {
      const byte = bytes[place++] as number;
      value += (byte & 127) * 2 ** shift;
      shift += 7;
      if (byte < 128) return [value, place];
    }
  };
  const memorySection = 5;
  for (let at = 8; at < bytes.length; ) {
    const [size, body] = number(at + 1);
    if (bytes[at] === memorySection) {
      // One memory, with a maximum.
      expect([...bytes.subarray(body, body + 2)]).toEqual([1, 1]);
      const [least, most] = number(body + 2);
      const [, end] = number(most);
      for (let place = most, rest = least; place < end; place++, rest >>= 7)
        bytes[place] = (rest & 127) | (place + 1 < end ? 128 : 0);
      return bytes;
    }
    at = body + size;
  }
  throw new Error('There is no memory in it.');
}
