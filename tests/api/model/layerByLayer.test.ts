// Models run layer by layer, against forward() on the tiny checkpoints, and what is in memory meanwhile.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type LayersPassed,
  layerByLayer,
  type OpenedModel,
  openModel,
  type Slices,
  type Superpose,
} from 'superpose';
import { expect, test } from 'vitest';
import families from '../../reference/families.json' with { type: 'json' };
import { plain } from '../support/builds.ts';
import { heldBytes } from './made.ts';

const folderOf = (name: string) =>
  fileURLToPath(new URL(`../../reference/checkpoints/${name}`, import.meta.url));
const inputs = [{ ids: families.ids }, { ids: families.ids.slice(0, 3) }];
const layered: string[] = [];
for (const { name } of families.cases) {
  const model = await openModel(plain, folderOf(name)).catch(() => undefined);
  if (model && model.layers > 0 && model.vocabulary > 0) layered.push(name);
}

test('several families are tried', () => {
  expect(layered.length).toBeGreaterThanOrEqual(7);
});

test.each(
  layered.flatMap((name) => (['float32', 'float64'] as const).map((precision) => [name, precision] as const)),
)(
  '%s in %s: states, scores, the last rows and the embedding are those of forward()',
  async (name, precision) => {
    const model = await openModel(plain, folderOf(name));
    const every = Array.from({ length: model.layers + 1 }, (_, layers) => layers);
    const passed: number[] = [];
    const found = await layerByLayer(model, inputs, {
      precision,
      states: every,
      scores: every.slice(1).map((layers) => layers - 1),
      passed: (layers) => passed.push(layers),
    });
    expect(passed).toEqual(every.slice(1));
    for (const [place, input] of inputs.entries()) {
      const { sentence, states, logits, attention, last, embedding } = found[place] as LayersPassed;
      const whole = await model.forward(input, { precision });
      expect(sentence.ids).toEqual(input.ids);
      for (const layers of every) expect(states.get(layers)).toEqual(whole.state(layers));
      for (let layer = 0; layer < model.layers; layer++) {
        expect(logits.get(layer)).toEqual(whole.logits(layer));
        expect(attention.get(layer)).toEqual(whole.attention(layer));
      }
      expect(last).toEqual(whole.last());
      expect(embedding).toEqual(whole.embedding);
    }
    model.delete();
  },
);

/** The module, and the most layers that its encoders ever held at once. */
function watched() {
  const alive = new Set<{ readonly layers: number }>();
  let most = 0;
  const now = () => [...alive].reduce((sum, { layers }) => sum + layers, 0);
  // Layers only grow until their encoder is deleted.
  const look = () => {
    most = Math.max(most, now());
    return most;
  };
  const encoder: Superpose['encoder'] = (input) => {
    const made = plain.encoder(input);
    alive.add(made);
    return Object.assign(Object.create(made), {
      delete() {
        look();
        alive.delete(made);
        made.delete();
      },
    });
  };
  return { superpose: { ...plain, encoder }, most: look, now };
}

/** A checkpoint whose reads are counted. */
function counting(name: string, stop?: AbortController) {
  const bytes = new Uint8Array(readFileSync(join(folderOf(name), 'model.safetensors')));
  let read = 0;
  const weights: Slices = {
    name: 'model.safetensors',
    size: bytes.length,
    async read(from, length) {
      read += length;
      if (stop && read > bytes.length / 2) stop.abort(new Error('enough'));
      return bytes.slice(from, from + length);
    },
  };
  const config = new Uint8Array(readFileSync(join(folderOf(name), 'config.json')));
  const beside: Slices = {
    name: 'config.json',
    size: config.length,
    read: async (from, length) => config.slice(from, from + length),
  };
  return { source: [weights, beside], read: () => read, size: bytes.length };
}

const open = async (name: string, stop?: AbortController) => {
  const [module, file] = [watched(), counting(name, stop)];
  const model = await openModel(module.superpose, file.source);
  return { model, ...module, ...file };
};

test('one layer at a time is in memory, and the file is read once for all inputs', async () => {
  const before = heldBytes();
  const { model, most, now, read, size } = await open('gpt2');
  const opened = read();
  const held: number[] = [];
  const many = Array.from({ length: 9 }, () => inputs).flat();
  await layerByLayer(model, many, { passed: () => held.push(heldBytes(before)) });
  expect(model.layers).toBeGreaterThan(1);
  expect([most(), now()]).toEqual([1, 0]);
  expect(held).toEqual(Array.from({ length: model.layers }, () => before));
  // Rows of the tables are read again for each input; layers are not.
  expect(read() - opened).toBeLessThan(2 * size);
  const { model: resident, most: all } = await open('gpt2');
  await resident.forward(inputs[0] as (typeof inputs)[0]);
  expect(all()).toBe(model.layers);
  resident.delete();
});

test('a run that is cancelled leaves nothing, and the next question is answered', async () => {
  const before = heldBytes();
  const stop = new AbortController();
  const { model, now } = await open('gpt2', stop);
  await expect(layerByLayer(model, inputs, { signal: stop.signal })).rejects.toThrow('enough');
  expect([now(), heldBytes(before)]).toEqual([0, before]);
  expect(await layerByLayer(model, inputs)).toHaveLength(2);
});

/** A GPT-2 of one layer, all of whose weights are 0.01, the bytes that were read, and the most at once. */
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

/** A signal that is aborted at one of the looks at it, and what `told` says at each. */
function looking<T>(told: () => T, end = Infinity) {
  const { signal } = new AbortController();
  const looks: T[] = [];
  return {
    looks,
    signal: Object.assign(signal, {
      throwIfAborted() {
        if (looks.push(told()) > end) throw new Error('enough');
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
  await layerByLayer(model, [wide], { signal });
  // The rows of both tables are few, and the layer is read once.
  expect(read() - before).toBeLessThan(1.01 * size);
  expect(most()).toBeLessThanOrEqual(2 ** 21);
  const steps = looks.map((bytes, place) => bytes - (looks[place - 1] ?? before));
  expect(Math.max(...steps)).toBeLessThanOrEqual(2 ** 21);
  // 64 tokens through maps of 12 d² weights, in steps of 2^29 multiplications at most.
  const running = looks.filter((bytes) => bytes === read()).length;
  expect(running).toBeGreaterThanOrEqual((64 * 12 * 2048 ** 2) / 2 ** 29);
});

test.each(['layerByLayer', 'forward'] as const)(
  'cancelled at any look within a layer, %s stops there, leaves nothing and answers the next question',
  async (way) => {
    const { source, read } = wideModel(1024);
    const model = await openModel(plain, source);
    const run = async (signal?: AbortSignal) => {
      const asked = signal ? { signal } : {};
      if (way === 'forward') return (await model.forward(wide, asked)).embedding;
      const [found] = await layerByLayer(model, [wide], asked);
      return (found as LayersPassed).embedding;
    };
    const { looks, signal } = looking(read);
    const before = heldBytes();
    const wanted = await run(signal);
    model.delete();
    // Those of the run come when all is read.
    expect(looks.filter((bytes) => bytes === read()).length).toBeGreaterThanOrEqual(2);
    // Among the weights, and in the run.
    for (const end of [Math.floor(looks.length / 2), looks.length - 1]) {
      const from = read();
      const stopped = looking(read, end);
      await expect(run(stopped.signal)).rejects.toThrow('enough');
      expect(stopped.looks).toHaveLength(end + 1);
      expect(read() - from).toBe((looks[end] as number) - (looks[0] as number));
      if (way === 'layerByLayer') expect(heldBytes(before)).toBe(before);
      expect(await run()).toEqual(wanted);
      model.delete();
      expect(heldBytes(before)).toBe(before);
    }
  },
);

test('what is asked wrongly is refused before anything is read', async () => {
  const { model, read } = await open('gpt2');
  const opened = read();
  const refusal = (work: Promise<unknown>) => expect(work).rejects;
  await refusal(layerByLayer({} as OpenedModel, inputs)).toThrow('what openModel() returned');
  await refusal(layerByLayer(model, 'a' as never)).toThrow('inputs must be a list of inputs');
  await refusal(layerByLayer(model, inputs, { states: [model.layers + 1] })).toThrow('states');
  await refusal(layerByLayer(model, inputs, { scores: [model.layers] })).toThrow('scores');
  await refusal(layerByLayer(model, [...inputs, { ids: [99_999] }])).toThrow('ids');
  const most = Array.from({ length: 600_000 }, () => inputs[0] as (typeof inputs)[0]);
  await refusal(layerByLayer(model, most, { states: [0, 1], scores: [0, 1], precision: 'float64' })).toThrow(
    /^What is kept of 600000 inputs would take .* MB; at most/,
  );
  expect(read()).toBe(opened);
  expect(await layerByLayer(model, [])).toEqual([]);
});
