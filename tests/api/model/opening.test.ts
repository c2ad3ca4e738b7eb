// What a page opens with comes from the model itself: the same words, rows and scores, in a small file.
import { readFileSync, statSync } from 'node:fs';
import { load, loadMiniLM, loadOpening, openingHeads, openingText } from 'superpose';
import { expect, inject, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { file } from '../support/files.ts';

const folder = new URL('../../../build/model/', import.meta.url);
const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };

test.runIf(inject('withModel'))('its words, rows and scores are those of the whole model', async () => {
  const superpose = await load({ module: 'small' });
  const model = await loadMiniLM(superpose, { from: folder });
  const opening = await loadOpening(superpose, { from: folder });
  const sentence = await model.tokenize(openingText);
  expect(opening.tokens).toEqual(sentence.tokens);
  const summands = await model.rows(sentence);
  for (const name of ['token', 'position', 'token_type'] as const) {
    expect(opening.summands[name].data).toEqual(summands[name].data);
  }
  const scores = opening.decompose({ groups });
  const whole = await model.decompose(sentence, { groups, only: openingHeads });
  expect(scores.heads).toEqual(whole.heads);
  expect(scores.gauge).toBe('canonical');
  expect(scores.apart).toEqual(whole.apart);
  expect(scores.logits.length).toBe(whole.logits.length);
  scores.logits.forEach((logit, at) => {
    expect(logit).toBeCloseTo(whole.logits[at] as number, 12);
  });
  scores.shares.forEach((share, at) => {
    expect(share).toBeCloseTo(whole.shares[at] as number, 12);
  });
});

test.runIf(inject('withModel'))('its file is at most 130,000 bytes', () => {
  expect(statSync(new URL('opening.safetensors', folder)).size).toBeLessThanOrEqual(130_000);
});

test.runIf(inject('withModel'))(
  'a file that is not whole, or is another one, is said to be damaged',
  async () => {
    const superpose = await load({ module: 'small' });
    const bytes = new Uint8Array(readFileSync(new URL('opening.safetensors', folder)));
    const read = (found: Uint8Array) => loadOpening(superpose, { read: async () => found });
    await expect(read(bytes.subarray(0, 60_000))).rejects.toThrow('opening.safetensors is damaged');
    const other = new Uint8Array(readFileSync(new URL('layer-0.bin', folder)));
    await expect(read(other)).rejects.toThrow('opening.safetensors is damaged');
    await expect(loadOpening(superpose, 1 as never)).rejects.toThrow(/^options must be/);
  },
);

/** An opening of four channels and three tokens that is made up; a shape may be another. */
function madeUp(metadata: unknown, shapes: Record<string, number[]> = {}): Uint8Array {
  const all: Record<string, number[]> = {
    gamma: [4],
    beta: [4],
    'query.weight': [64, 4],
    'query.bias': [64],
    'key.weight': [64, 4],
    'key.bias': [64],
    token: [3, 4],
    position: [3, 4],
    token_type: [1, 4],
    ...shapes,
  };
  let at = 0;
  const tensors = Object.entries(all).map(([name, shape]) => {
    const begin = at;
    at += 4 * shape.reduce((count, extent) => count * extent, 1);
    return [name, { dtype: 'F32', shape, data_offsets: [begin, at] }];
  });
  const header = {
    ...Object.fromEntries(tensors),
    ...(metadata !== undefined && { __metadata__: metadata }),
  };
  return file(JSON.stringify(header), at);
}
const said = { tokens: '["[CLS]","a","[SEP]"]', epsilon: '1e-12' };
const loaded = (bytes: Uint8Array) => loadOpening(plain, { read: async () => bytes });

test('a file at an odd address, of three tokens and any width, is read', async () => {
  const bytes = madeUp(said);
  const moved = new Uint8Array(bytes.length + 1);
  moved.set(bytes, 1);
  const { tokens, summands } = await loaded(moved.subarray(1));
  expect(tokens).toEqual(['[CLS]', 'a', '[SEP]']);
  expect(summands.token_type).toEqual({ data: new Float64Array(12), rows: 3, columns: 4 });
});

const silent = 'It does not say which tokens it is of.';
test.each<[string, Uint8Array, string]>([
  ['without metadata', madeUp(undefined), silent],
  ['without tokens', madeUp({ epsilon: '1' }), silent],
  ['with tokens that are no list', madeUp({ ...said, tokens: '{"length":3}' }), silent],
  ['with a text for tokens', madeUp({ ...said, tokens: '"abc"' }), silent],
  ['with two tokens', madeUp({ ...said, tokens: '["a","b"]' }), silent],
  ['with a token that is a number', madeUp({ ...said, tokens: '["a","b",3]' }), silent],
  ['with an ε of 0', madeUp({ ...said, epsilon: '0' }), 'epsilon must be above 0; it is 0.'],
  ['without an ε', madeUp({ tokens: said.tokens }), 'epsilon must be finite; it is NaN.'],
])('an opening %s is damaged', async (_, bytes, why) => {
  await expect(loaded(bytes)).rejects.toThrow(
    new Error(`The MiniLM file opening.safetensors is damaged; build it again. ${why}`),
  );
});
