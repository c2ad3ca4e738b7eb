// What a page opens with comes from the model itself: the same words, rows and scores, in a small file.
import { readFileSync, statSync } from 'node:fs';
import { loadFirst, loadMiniLM, loadOpening, openingHeads, openingText } from 'superpose';
import { expect, inject, test } from 'vitest';

const folder = new URL('../../../build/model/', import.meta.url);
const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };

test.runIf(inject('withModel'))('its words, rows and scores are those of the whole model', async () => {
  const superpose = await loadFirst();
  const model = await loadMiniLM(superpose, { from: folder });
  const opening = await loadOpening(superpose, { from: folder });
  const sentence = model.tokenize(openingText);
  expect(opening.tokens).toEqual(sentence.tokens);
  const summands = await model.summands(sentence);
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
    const superpose = await loadFirst();
    const bytes = new Uint8Array(readFileSync(new URL('opening.safetensors', folder)));
    const read = (found: Uint8Array) => loadOpening(superpose, { read: async () => found });
    await expect(read(bytes.subarray(0, 60_000))).rejects.toThrow('opening.safetensors is damaged');
    const other = new Uint8Array(readFileSync(new URL('layer-0.safetensors', folder)));
    await expect(read(other)).rejects.toThrow('opening.safetensors is damaged');
    await expect(loadOpening(superpose, 1 as never)).rejects.toThrow(/^options must be/);
  },
);
