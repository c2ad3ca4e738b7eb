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
  let [now, most] = [0, 0];
  const encoder: Superpose['encoder'] = (input) => {
    const made = plain.encoder(input);
    let own = 0;
    return Object.assign(Object.create(made), {
      addLayer(layer: Parameters<typeof made.addLayer>[0]) {
        made.addLayer(layer);
        own += 1;
        most = Math.max(most, ++now);
      },
      delete() {
        now -= own;
        own = 0;
        made.delete();
      },
    });
  };
  return { superpose: { ...plain, encoder }, most: () => most, now: () => now };
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
