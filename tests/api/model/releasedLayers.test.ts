// Models of which not all layers stay in memory: what is read again, progress, aborts and refusals.
// drawnModels.test.ts tests that the numbers are the same.
import { type OpenModelOptions, openModel, type Slices } from 'add-or-concatenate';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { maxBytes, requireMemory } from '../../../build/package/check.js';
import { plain } from '../support/builds.ts';
import { fileOf } from '../support/files.ts';
import { json, residentBytes } from './tinyMinilm.ts';

const [d, heads, inner, count, n] = [8, 2, 16, 5, 4];
const ids = Array.from({ length: n }, (_, place) => place + 1);
/** The bytes of a layer's maps, which is the part of a layer that takes memory. */
const mapBytes = 4 * (4 * d * d + 2 * d * inner);

/** A GPT-2 of five layers. It records which layers are read, in order. */
async function openLayers(options: OpenModelOptions = {}, change: Record<string, readonly number[]> = {}) {
  const shapes: Record<string, readonly number[]> = {
    'wte.weight': [10, d],
    'wpe.weight': [12, d],
    'ln_f.weight': [d],
    'ln_f.bias': [d],
  };
  for (let layer = 0; layer < count; layer++) {
    for (const [name, shape] of Object.entries({
      'ln_1.weight': [d],
      'ln_1.bias': [d],
      'attn.c_attn.weight': [d, 3 * d],
      'attn.c_attn.bias': [3 * d],
      'attn.c_proj.weight': [d, d],
      'attn.c_proj.bias': [d],
      'ln_2.weight': [d],
      'ln_2.bias': [d],
      'mlp.c_fc.weight': [d, inner],
      'mlp.c_fc.bias': [inner],
      'mlp.c_proj.weight': [inner, d],
      'mlp.c_proj.bias': [d],
    }))
      shapes[`h.${layer}.${name}`] = shape;
  }
  let seed = 1;
  const valuesOf = (name: string, shape: readonly number[]) =>
    change[name] ??
    Array.from({ length: shape.reduce((all, extent) => all * extent, 1) }, () => {
      seed = (seed * 16807) % 2147483647;
      return seed / 2147483647 - 0.5;
    });
  const bytes = fileOf(
    Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => [
        name,
        {
          dtype: 'F32',
          shape: [...shape],
          bytes: new Uint8Array(Float32Array.from(valuesOf(name, shape)).buffer),
        },
      ]),
    ),
  );
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  const header: Record<string, { data_offsets?: [number, number] }> = JSON.parse(
    new TextDecoder().decode(bytes.subarray(8, 8 + Number(length))),
  );
  const read: number[] = [];
  let fail: ((layer: number) => void) | undefined;
  const config = json({ model_type: 'gpt2', n_head: heads, layer_norm_epsilon: 1e-5 });
  const source: Slices[] = [
    {
      name: 'model.safetensors',
      size: bytes.length,
      async read(from, size) {
        const [name = ''] =
          Object.entries(header).find(
            ([, { data_offsets: at }]) => at && 8 + Number(length) + at[0] === from,
          ) ?? [];
        const layer = name.match(/^h\.(\d+)\.mlp\.c_proj\.weight$/)?.[1];
        if (layer !== undefined) {
          read.push(Number(layer));
          fail?.(Number(layer));
        }
        return bytes.slice(from, from + size);
      },
    },
    { name: 'config.json', size: config.length, read: async () => config },
  ];
  const model = await openModel(plain, source, options);
  return {
    model,
    /** Returns the layers that a call reads, in order. */
    async layersOf(work: () => Promise<unknown>) {
      read.length = 0;
      await work();
      return [...read];
    },
    failAt(layer: number) {
      fail = (at) => {
        if (at === layer) throw new Error('The disk is gone.');
      };
    },
    heal() {
      fail = undefined;
    },
  };
}

const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'It did not fail.',
    (error: Error) => `${error.name}: ${error.message}`,
  );

let before = 0;
beforeEach(() => {
  // Releases the layers that other tests left, which would otherwise be released first.
  try {
    requireMemory('All', maxBytes);
  } catch {}
  before = residentBytes();
});
afterEach(() => {
  expect(residentBytes()).toBe(before);
});

test('the first layers that fit stay, and the rest are read again in each pass', async () => {
  const { model, layersOf } = await openLayers({ layerBytes: 3 * mapBytes });
  expect(await layersOf(() => model.forward({ ids }))).toEqual([0, 1, 2, 3, 4]);
  // Layers 0 and 1 stay, beside the one that was run last.
  expect(await layersOf(() => model.forward({ ids }))).toEqual([2, 3, 4]);
  expect(await layersOf(() => model.forward({ ids }, { layers: 2 }))).toEqual([]);
  expect(await layersOf(() => model.forward({ ids }, { layers: 3 }))).toEqual([2]);
  expect(await layersOf(() => model.forward({ ids }, { layers: 3 }))).toEqual([]);
  model.delete();
});

test('a decomposition reads no more than it needs', async () => {
  const { model, layersOf } = await openLayers({ layerBytes: 2 * mapBytes });
  // The last layer of a pass is still there.
  expect(await layersOf(() => model.decompose({ ids }, { layer: 3 }))).toEqual([0, 1, 2, 3]);
  expect(await layersOf(() => model.decompose({ ids }, { layer: 3, gauge: 'raw' }))).toEqual([]);
  // The pass over these tokens is still there too, so only the layer is read again.
  expect(await layersOf(() => model.decompose({ ids }, { layer: 2 }))).toEqual([2]);
  // For the way `streams`, the layers before it are needed to move the parts.
  expect(await layersOf(() => model.decompose({ ids }, { layer: 3, way: 'streams' }))).toEqual([1, 2, 3]);
  expect(await layersOf(() => model.corpusMeans({ layers: 0, sentences: sentences() }))).toEqual([]);
  model.delete();
});

const sentences = () =>
  Array.from({ length: 6 }, (_, at) => ({
    ids: Array.from({ length: 12 }, (_, row) => 1 + ((at + row * row) % 9)),
  }));

test('a result refuses layers that were released, and says how to read them again', async () => {
  const { model } = await openLayers({ layerBytes: 0 });
  const run = await model.forward({ ids });
  const refusal =
    'Layer 1 was released after it ran, because not all layers fit into memory. Call decompose() of the model with layer: 1, which reads it again.';
  expect(() => run.decompose({ layer: 1 })).toThrow(refusal);
  expect(() => run.decompose({ layer: 4, way: 'streams' })).toThrow('Layer 0 was released');
  // Results that need no weights can still be read.
  expect(run.logits(1)).toHaveLength(heads * n * n);
  expect(run.decompose({ layer: 4 }).n).toBe(n);
  model.delete();
});

test('progress announces all bytes from the start, those that are read again too', async () => {
  const { model } = await openLayers({ layerBytes: 2 * mapBytes });
  const progressOf = async (work: (progress: (bytes: number, of: number) => void) => Promise<unknown>) => {
    const heard: [bytes: number, of: number][] = [];
    await work((bytes, of) => heard.push([bytes, of]));
    return heard;
  };
  const layer = mapBytes + 4 * (4 * d + 3 * d + d + inner + d);
  for (const [layers, work] of [
    [5, (progress) => model.forward({ ids }, { progress })],
    [4, (progress) => model.forward({ ids }, { progress })],
    [3, (progress) => model.decompose({ ids }, { layer: 3, progress })],
    [3, (progress) => model.decompose({ ids }, { layer: 3, way: 'streams', progress })],
    [16, (progress) => model.withoutPositions({ ids }, { progress })],
  ] as [number, Parameters<typeof progressOf>[0]][]) {
    const heard = (await progressOf(work)).filter(([, of]) => of > 100);
    const ends = heard.map(([, of]) => of);
    // The norm after the last layer is read once, when the stack is made.
    expect(new Set(ends.map((of) => Math.round(of / layer)))).toEqual(new Set([layers]));
    const [bytes, of] = heard.at(-1) as [number, number];
    expect(bytes).toBe(of);
  }
  model.delete();
});

test('a failed read, and an abort between layers, free what is not kept, and the next pass succeeds', async () => {
  for (const layerBytes of [0, 2 * mapBytes, maxBytes]) {
    const { model, failAt, heal } = await openLayers({ layerBytes });
    const expected = (await model.forward({ ids })).embedding;
    model.delete();
    for (const layer of [0, 2, 4]) {
      failAt(layer);
      expect(await outcomeOf(model.forward({ ids }))).toContain('The disk is gone.');
      heal();
      expect(residentBytes() - before).toBe(Math.min(layer * mapBytes, Math.max(layerBytes - mapBytes, 0)));
      expect((await model.forward({ ids })).embedding).toEqual(expected);
      model.delete();
      expect(residentBytes()).toBe(before);
    }
    const stop = new AbortController();
    const aborted = model.forward({ ids }, { signal: stop.signal, progress: () => stop.abort() });
    expect(await outcomeOf(aborted)).toContain('AbortError');
    expect((await model.forward({ ids })).embedding).toEqual(expected);
    model.delete();
  }
});

test('layers give way to whatever else needs the memory, but for the one in use', async () => {
  const { model, layersOf } = await openLayers();
  await model.forward({ ids }, { scores: false });
  const added = residentBytes() - before;
  requireMemory('Something else', maxBytes - before - added + 2 * mapBytes);
  expect(residentBytes() - before).toBe(added - 2 * mapBytes);
  // The last layer was in use, so the two before it were released.
  expect(await layersOf(() => model.forward({ ids }))).toEqual([2, 3]);
  // Everything is released except the pass and the last layer.
  expect(() => requireMemory('Something else', maxBytes - before)).toThrow('Call delete()');
  expect(await layersOf(() => model.forward({ ids }))).toEqual([0, 1, 2, 3]);
  model.delete();
});

test('the means of the first layer need no layer to be run', async () => {
  const { model, layersOf } = await openLayers();
  const read = await layersOf(async () => {
    const means = await model.corpusMeans({ layers: 0, sentences: sentences(), scores: true });
    expect([means.states.length, means.scores?.length, means.heads.rows]).toEqual([1, 1, 0]);
  });
  // Only the first layer's queries and keys are needed.
  expect(read).toEqual([0]);
  for (const layers of [-1, 6, 1.5])
    expect(await outcomeOf(model.corpusMeans({ layers }))).toContain('layers must be');
  model.delete();
});

test('means over a corpus, and embeddings without positions, are the same bit for bit', async () => {
  const results = async (options: OpenModelOptions) => {
    const { model } = await openLayers(options);
    const means = await model.corpusMeans({ sentences: sentences(), scores: true });
    const embeddings = await model.withoutPositions({ ids });
    model.delete();
    return { means, embeddings };
  };
  const allResident = await results({});
  expect(allResident.means.heads.rows).toBe(count);
  for (const layerBytes of [0, 2 * mapBytes]) expect(await results({ layerBytes })).toEqual(allResident);
});

test('layerBytes must be a number of bytes', async () => {
  for (const layerBytes of [-1, 0.5, maxBytes + 1, '1 GB'])
    expect(await outcomeOf(openLayers({ layerBytes: layerBytes as number }))).toContain(
      'layerBytes must be a whole number',
    );
});

test('a layer that does not fit as a whole is refused before it is read', async () => {
  const wide = 2 ** 13;
  const shapes: Record<string, readonly number[]> = {
    'wte.weight': [2, wide],
    'wpe.weight': [2, wide],
    'ln_f.weight': [wide],
    'ln_f.bias': [wide],
    'h.0.ln_1.weight': [wide],
    'h.0.ln_1.bias': [wide],
    'h.0.attn.c_attn.weight': [wide, 3 * wide],
    'h.0.attn.c_attn.bias': [3 * wide],
    'h.0.attn.c_proj.weight': [wide, wide],
    'h.0.attn.c_proj.bias': [wide],
    'h.0.ln_2.weight': [wide],
    'h.0.ln_2.bias': [wide],
    'h.0.mlp.c_fc.weight': [wide, wide],
    'h.0.mlp.c_fc.bias': [wide],
    'h.0.mlp.c_proj.weight': [wide, wide],
    'h.0.mlp.c_proj.bias': [wide],
  };
  let at = 0;
  const header = Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const begin = at;
      at += 2 * shape.reduce((all, extent) => all * extent, 1);
      return [name, { dtype: 'F16', shape, data_offsets: [begin, at] }];
    }),
  );
  const text = json(header);
  const beginning = new Uint8Array(8 + text.length);
  new DataView(beginning.buffer).setBigUint64(0, BigInt(text.length), true);
  beginning.set(text, 8);
  let most = 0;
  const model = await openModel(
    plain,
    {
      name: 'model.safetensors',
      size: beginning.length + at,
      async read(from, length) {
        most = Math.max(most, length);
        return from < beginning.length ? beginning.slice(from, from + length) : new Uint8Array(length);
      },
    },
    { family: 'gpt2', heads: 64, epsilon: 1e-5 },
  );
  expect(await outcomeOf(model.forward({ ids: [0, 1] }))).toBe(
    'RangeError: A layer of 8192 channels would take 1,536 MB; at most 1,024 MB fit. A layer must fit as a whole, in float32.',
  );
  expect(most).toBeLessThanOrEqual(2 * 3 * wide);
  model.delete();
});
