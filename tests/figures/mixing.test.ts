import { load, loadMiniLM } from 'superpose';
import { expect, inject, test } from 'vitest';
import * as mixing from '../../web/figures/mixing.ts';
import { expectSoundPictures, run } from './support.ts';
import { expectTextsApart } from './texts.ts';

const length = (row: number[]) => Math.hypot(...row);
const product = (a: number[], b: number[]) =>
  a.reduce((total, value, channel) => total + value * (b[channel] as number), 0);
const cosine = (a: number[], b: number[]) => product(a, b) / (length(a) * length(b));

/** The 2017 paper's encoding, section 3.5. */
const encoded = (place: number, d: number) =>
  Array.from({ length: d }, (_, channel) => {
    const angle = place / 10000 ** ((channel - (channel % 2)) / d);
    return channel % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });

test.each([
  {},
  { d: 2, word: 0, first: 0, second: 127, scale: 4 },
  { d: 512, word: 127, first: 127, second: 0, seed: 4294967295 },
  { d: 8, scale: 0 },
  { d: 4, first: 5, second: 5 },
])('%o: positions are the formula’s, and sums, lengths and cosines those of the bars', async (settings) => {
  const result = await run(mixing, settings);
  expectSoundPictures(result);
  expectTextsApart(result);
  const { figure, data, state } = result;
  const { first, second, scale, d } = state as Record<'first' | 'second' | 'scale' | 'd', number>;
  const { rows } = figure.table(data, state);
  expect(rows).toHaveLength(d);
  const column = (place: number) => (rows as number[][]).map((row) => row[place] as number);
  const [token, here, sum, there, other, moved] = [1, 2, 3, 4, 5, 6].map(column) as number[][];
  for (const [place, row] of [
    [first, here],
    [second, there],
  ] as [number, number[]][])
    encoded(place, d).forEach((value, channel) => {
      expect(row[channel]).toBeCloseTo(scale * value, 12);
    });
  rows.forEach((_, channel) => {
    const at = (row: number[] | undefined) => row?.[channel] as number;
    expect(at(sum)).toBeCloseTo(at(token) + at(here), 14);
    expect(at(other)).toBeCloseTo(at(token) + at(there), 14);
    expect(at(moved)).toBeCloseTo(at(there) - at(here), 14);
  });
  const [from, to] = [sum, other] as [number[], number[]];
  expect(data.cosine).toBeCloseTo(cosine(from, to), 12);
  expect(data.places[0].cosine).toBeCloseTo(cosine(from, token as number[]), 12);
  expect(data.places[1].cosine).toBeCloseTo(cosine(to, token as number[]), 12);
  expect(data.places[0].length).toBeCloseTo(length(from), 12);
  expect(data.joinedCosine).toBeCloseTo(
    cosine([...(token as number[]), ...(here as number[])], [...(token as number[]), ...(there as number[])]),
    12,
  );
  // The sentence and the readout agree with the table.
  const opposite = from.filter((value, k) => Math.sign(value) === -Math.sign(token?.[k] as number)).length;
  expect(figure.describe(data, state)).toContain(`In ${opposite} of ${d} channels`);
  const cursor = figure.firstCursor?.(data, state) ?? { i: 0, j: 0 };
  expect(figure.readout(data, state, cursor)[1]).toBe(`, channel ${cursor.j}`);
});

test('the same token number is the same token at any place', async () => {
  const [one, two] = [await run(mixing, { first: 3 }), await run(mixing, { first: 90, scale: 3 })];
  expect(one.data.token).toEqual(two.data.token);
});

test.runIf(inject('withModel'))('a word of a sentence, at places past its end', async () => {
  const text = 'The river bank';
  const result = await run(mixing, { tokens: 'sentence', text, word: 2, first: 0, second: 100 });
  expectSoundPictures(result);
  const { data } = result;
  expect(data.word).toBe('river');
  const model = await loadMiniLM(await load());
  const sentence = model.tokenize(`river ${'a '.repeat(110)}`);
  const { token, position } = await model.summands(sentence);
  expect(data.token).toEqual(token.data.slice(384, 768));
  expect(data.places[0].position).toEqual(position.data.slice(0, 384));
  expect(data.places[1].position).toEqual(position.data.slice(100 * 384, 101 * 384));
  const last = await run(mixing, { tokens: 'sentence', text, word: 127 });
  expect(last.data.word).toBe('[SEP]');
  expect(last.data.remark).toContain('The sentence has 5 tokens');
});
