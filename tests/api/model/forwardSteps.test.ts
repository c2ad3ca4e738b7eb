// A forward pass in steps: how much is read at once, and a pass that is cancelled within a layer.
import { openModel, type Slices } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { residentBytes } from './tinyMinilm.ts';

/**
 * A GPT-2 of one layer, all of whose weights are 0.01. It counts the bytes that were read in all, and the
 * most that were read at once.
 */
function wideModel(d: number) {
  const shapes = {
    'wte.weight': [100, d],
    'wpe.weight': [64, d],
    'h.0.ln_1.weight': [d],
    'h.0.ln_1.bias': [d],
    'h.0.attn.c_attn.weight': [d, 3 * d],
    'h.0.attn.c_attn.bias': [3 * d],
    'h.0.attn.c_proj.weight': [d, d],
    'h.0.attn.c_proj.bias': [d],
    'h.0.ln_2.weight': [d],
    'h.0.ln_2.bias': [d],
    'h.0.mlp.c_fc.weight': [d, 4 * d],
    'h.0.mlp.c_fc.bias': [4 * d],
    'h.0.mlp.c_proj.weight': [4 * d, d],
    'h.0.mlp.c_proj.bias': [d],
    'ln_f.weight': [d],
    'ln_f.bias': [d],
  };
  let offset = 0;
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const begin = offset;
    offset += 2 * shape.reduce((product, extent) => product * extent, 1);
    return [name, { dtype: 'F16', shape, data_offsets: [begin, offset] }];
  });
  const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const header = new Uint8Array(8 + text.length);
  new DataView(header.buffer).setBigUint64(0, BigInt(text.length), true);
  header.set(text, 8);
  const config = new TextEncoder().encode(
    JSON.stringify({ model_type: 'gpt2', n_head: 16, layer_norm_epsilon: 1e-5 }),
  );
  let [all, most] = [0, 0];
  const read = async (from: number, length: number) => {
    all += length;
    most = Math.max(most, length);
    if (from < header.length) return header.slice(from, from + length);
    return new Uint8Array(new Uint16Array(length / 2).fill(0x211f).buffer);
  };
  const source: Slices[] = [
    { name: 'model.safetensors', size: header.length + offset, read },
    { name: 'config.json', size: config.length, read: async () => config },
  ];
  return { source, read: () => all, most: () => most, size: header.length + offset };
}

/** A signal that is aborted after `end` checks, and the result of `measure` at each check. */
function looking<T>(measure: () => T, end = Infinity) {
  const { signal } = new AbortController();
  const looks: T[] = [];
  return {
    looks,
    signal: Object.assign(signal, {
      throwIfAborted() {
        if (looks.push(measure()) > end) throw new Error('enough');
      },
    }),
  };
}

const wide = { ids: Array.from({ length: 64 }, (_, place) => place) };

test('a layer 2,048 wide is read and run in steps, none of which takes long', async () => {
  const { source, read, most, size } = wideModel(2048);
  const model = await openModel(plain, source);
  const { looks, signal } = looking(read);
  const before = read();
  await model.forward(wide, { signal });
  model.delete();
  // Only a few rows of both tables are read, and the layer is read once.
  expect(read() - before).toBeLessThan(1.01 * size);
  expect(most()).toBeLessThanOrEqual(2 ** 21);
  const steps = looks.map((bytes, place) => bytes - (looks[place - 1] ?? before));
  expect(Math.max(...steps)).toBeLessThanOrEqual(2 ** 21);
  // 64 tokens go through maps of 12 d² weights in steps of about 2^28 multiplications; a step that ends a
  // piece of a product may be longer, but not twice as long.
  const running = looks.filter((bytes) => bytes === read()).length;
  expect(running).toBeGreaterThanOrEqual((64 * 12 * 2048 ** 2) / 2 ** 29);
});

test('a pass that is cancelled within a layer stops there, frees its memory, and the next pass succeeds', async () => {
  const { source, read } = wideModel(1024);
  const model = await openModel(plain, source);
  const run = async (signal?: AbortSignal) => (await model.forward(wide, signal ? { signal } : {})).embedding;
  const { looks, signal } = looking(read);
  const before = residentBytes();
  const expected = await run(signal);
  model.delete();
  // The signal is checked during the run too, when everything has been read.
  expect(looks.filter((bytes) => bytes === read()).length).toBeGreaterThanOrEqual(2);
  // Stops once while the weights are read, and once during the run.
  for (const end of [Math.floor(looks.length / 2), looks.length - 1]) {
    const from = read();
    const stopped = looking(read, end);
    await expect(run(stopped.signal)).rejects.toThrow('enough');
    expect(stopped.looks).toHaveLength(end + 1);
    expect(read() - from).toBe((looks[end] as number) - (looks[0] as number));
    expect(await run()).toEqual(expected);
    model.delete();
    expect(residentBytes()).toBe(before);
  }
});
