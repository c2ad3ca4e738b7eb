// The opening figure against a decomposition of the model itself.
import { load, loadMiniLM, openingText, termOf } from 'superpose';
import { describe, expect, inject, test } from 'vitest';
import { readState } from '../../web/figures/controls.ts';
import * as sum from '../../web/figures/sum.ts';
import { library } from '../../web/worker/library.ts';
import { expectSoundPictures, run } from './support.ts';
import { expectTextsApart } from './texts.ts';

const withModel = test.runIf(inject('withModel'));
const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };

/** Softmax of a row, by definition. */
function softmax(row: number[]): number[] {
  const powers = row.map((value) => Math.exp(value - Math.max(...row)));
  return powers.map((power) => power / powers.reduce((a, b) => a + b));
}

withModel('attention with terms left out is the softmax of the others', async () => {
  const superpose = await load();
  const model = await loadMiniLM(superpose);
  const scores = await model.decompose(openingText, { groups, only: [2, 1] });
  const { n } = scores;
  const left: Record<string, [string, string][]> = {
    added: [],
    cross: [
      ['token', 'position'],
      ['position', 'token'],
    ],
    positions: [
      ...['token', 'position', 'rest'].map((part): [string, string] => [part, 'position']),
      ...['token', 'rest'].map((part): [string, string] => ['position', part]),
    ],
  };
  for (const [terms, off] of Object.entries(left)) {
    const { data } = await run(sum, { terms, word: 5 });
    expect(data.tokens[5]).toBe('closed');
    for (const { head, attention } of data.readers) {
      const total = new Array<number>(n).fill(0);
      for (const query of scores.parts)
        for (const key of scores.parts) {
          if (off.some(([one, other]) => one === query && other === key)) continue;
          const term = termOf(scores, head, query, key);
          for (let j = 0; j < n; j++) total[j] = (total[j] as number) + (term[5 * n + j] as number);
        }
      softmax(total).forEach((weight, j) => {
        expect(attention[5 * n + j]).toBeCloseTo(weight, 12);
      });
    }
  }
});

withModel('the bars are the word’s row, its place’s, and their sum', async () => {
  const model = await loadMiniLM(await load());
  const { token, position } = await model.summands(model.tokenize(openingText));
  const { data } = await run(sum, { word: 8 });
  data.token.forEach((value: number, channel: number) => {
    expect(value).toBe(token.data[8 * 384 + channel]);
    expect(data.position[channel]).toBe(position.data[8 * 384 + channel]);
    expect(data.sum[channel]).toBe(value + data.position[channel]);
  });
  expect(data.token).toHaveLength(48);
});

withModel(
  'one reads positions and one reads tokens, and without positions only the tokens are left',
  async () => {
    const { figure, data, state } = await run(sum);
    const [places, words] = data.readers;
    expect(places.shares[3]).toBeGreaterThan(0.9);
    expect(words.shares[0]).toBeGreaterThan(0.7);
    expect(figure.describe(data, state)).toMatch(
      /^From one sum, head 2 finds “so” and head 1 “walked”\. From “she”, the token that head 2 looks at most is “so”, the token before it \([\d.]+\s%\); head 1, reading the same sums, looks at “walked”/,
    );
    const cross = await run(sum, { terms: 'cross' });
    for (const { change } of cross.data.readers) expect(change).toBeLessThan(0.05);
    const positions = await run(sum, { terms: 'positions' });
    expect(positions.data.readers[0].change).toBeGreaterThan(0.5);
    expect(positions.data.readers[1].change).toBeLessThan(0.1);
    expect(positions.figure.describe(positions.data, positions.state)).toMatch(
      /^Off: every term with a position/,
    );
  },
);

withModel('the reader’s own sentence and heads, and no words at all', async () => {
  const own = await run(sum, { text: 'Cats chase mice', words: 7, word: 31 });
  expect(own.data.tokens).toEqual(['[CLS]', 'cats', 'chase', 'mice', '[SEP]']);
  expect(own.data.chosen).toBe(4);
  expect(own.data.readers.map(({ head }: { head: number }) => head)).toEqual([2, 7]);
  const same = await run(sum, { places: 4, words: 4 });
  expect(same.data.readers[0].attention).toEqual(same.data.readers[1].attention);
  const none = await run(sum, { text: '' });
  expect(none.figure.describe(none.data, none.state)).toContain('nothing to share out');
  for (const result of [own, same, none]) expectSoundPictures(result);
  expectSoundPictures(await run(sum, { text: 'word '.repeat(200) }));
});

const length = (row: number[]) => Math.hypot(...row);
const product = (a: number[], b: number[]) =>
  a.reduce((total, value, channel) => total + value * (b[channel] as number), 0);
const cosine = (a: number[], b: number[]) => product(a, b) / (length(a) * length(b));

describe.runIf(inject('withModel'))('channel by channel', () => {
  const channels = (settings: Record<string, string | number>) => run(sum, { of: 'channels', ...settings });

  test.each([
    {},
    { word: 0, first: 0, second: 127, scale: 4 },
    { word: 31, first: 127, second: 0 },
    { scale: 0 },
    { first: 5, second: 5 },
    { text: 'The river bank', word: 2, first: 0, second: 100 },
  ])('%o: rows are the model’s, and sums, lengths and cosines those of the bars', async (settings) => {
    const result = await channels(settings);
    expectSoundPictures(result);
    expectTextsApart(result);
    const { figure, data, state } = result;
    const { first, second, scale } = state as Record<'first' | 'second' | 'scale', number>;
    const { rows } = figure.table(data, state);
    expect(rows).toHaveLength(384);
    const column = (place: number) => (rows as number[][]).map((row) => row[place] as number);
    const [token, here, sums, there, other, moved] = [1, 2, 3, 4, 5, 6].map(column) as number[][] &
      [number[], number[], number[], number[], number[], number[]];
    // Positions do not depend on the words that stand there.
    const model = await loadMiniLM(await load());
    const model_rows = await model.summands(model.tokenize(`word ${'a '.repeat(130)}`, 128));
    const own = await model.summands(model.tokenize(String(state.text)));
    expect(token).toEqual([...own.token.data.slice(384 * data.chosen, 384 * (data.chosen + 1))]);
    for (const [place, row] of [
      [first, here],
      [second, there],
    ] as const)
      row.forEach((value, channel) => {
        expect(value).toBeCloseTo(scale * (model_rows.position.data[384 * place + channel] as number), 12);
      });
    for (let k = 0; k < 384; k++) {
      const at = (row: number[]) => row[k] as number;
      expect(at(sums)).toBeCloseTo(at(token) + at(here), 14);
      expect(at(other)).toBeCloseTo(at(token) + at(there), 14);
      expect(at(moved)).toBeCloseTo(at(there) - at(here), 14);
    }
    expect(data.cosine).toBeCloseTo(cosine(sums, other), 12);
    expect(data.places[0].cosine).toBeCloseTo(cosine(sums, token), 12);
    expect(data.places[1].cosine).toBeCloseTo(cosine(other, token), 12);
    expect(data.places[0].length).toBeCloseTo(length(sums), 12);
    expect(data.joinedCosine).toBeCloseTo(cosine([...token, ...here], [...token, ...there]), 12);
    // The sentence and the readout agree with the table.
    const opposite = sums.filter((value, k) => Math.sign(value) === -Math.sign(token[k] as number)).length;
    expect(figure.describe(data, state)).toContain(`In ${opposite} of 384 channels`);
    const cursor = figure.firstCursor?.(data, state) ?? { i: 0, j: 0 };
    expect(cursor.j).toBeLessThan(48);
    expect(figure.readout(data, state, cursor)[1]).toBe(`, channel ${cursor.j}`);
  });

  test('the opening’s own file is enough for places within its sentence, and a click chooses no word', async () => {
    const alone = { ...library(), miniLM: () => Promise.reject(new Error('The whole model was asked for.')) };
    const job = { signal: new AbortController().signal, progress: () => {} };
    const { state } = readState(sum.figure.controls, [['of', 'channels']]);
    const data = await sum.compute(alone, state, job);
    expect(data).toEqual((await channels({})).data);
    expect(sum.figure.chooses?.(state)).toBeUndefined();
    expect(sum.figure.chooses?.({ ...state, of: 'readers' })).toBe('word');
  });
});
