// The figure "sum" against a decomposition of the model itself.
import { readdirSync, readFileSync } from 'node:fs';
import { load, loadMiniLM, termOf } from 'add-or-concatenate';
import { expect, inject, test } from 'vitest';
import * as sum from '../../web/figures/sum.ts';
import type { PathMark } from '../../web/plot/scene.ts';
import { library } from '../../web/worker/library.ts';
import { expectSoundPictures, run } from './support.ts';

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
  const scores = await model.decompose(sum.figure.controls.text.initial, { groups, only: [2, 1] });
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
          if (off.some(([from, other]) => from === query && other === key)) continue;
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
  const { token, position } = await model.rows(await model.tokenize(sum.figure.controls.text.initial));
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
      /^Without positions, head 2 loses “so” and finds “river”, head 1 still finds “walked”\. Every term with a position in it is left out/,
    );
  },
);

withModel('without positions, their bars are hollow and the sum is the token', async () => {
  const barsOf = async (terms: string) => {
    const { figure, data, state } = await run(sum, { terms });
    const paths = figure.scene(data, state, 900).marks.filter(({ mark }) => mark === 'path') as PathMark[];
    const [token, position, total] = paths as [PathMark, PathMark, PathMark];
    return { token, position, total };
  };
  const shape = ({ d }: PathMark) => d.replace(/M[\d.]+,[\d.]+/g, '');
  const on = await barsOf('added');
  expect([on.position.fill, on.position.stroke]).toEqual(['position-position', undefined]);
  expect(shape(on.total)).not.toBe(shape(on.token));
  const off = await barsOf('positions');
  expect([off.position.fill, off.position.stroke]).toEqual([undefined, 'position-position']);
  expect(off.position.d).toBe(on.position.d);
  expect(shape(off.total)).toBe(shape(off.token));
});

withModel('arcs have the colour of what a head reads, and to the markers they are grey', async () => {
  const { figure, data, state } = await run(sum);
  const inks = new Set(
    figure
      .scene(data, state, 900)
      .marks.flatMap((mark) => (mark.mark === 'path' && /C/.test(mark.d) ? [mark.stroke] : [])),
  );
  expect([...inks].sort()).toEqual(['position-position', 'quiet', 'token-token']);
});

withModel('the reader’s own sentence and heads, and no words at all', async () => {
  const edited = await run(sum, { text: 'Cats chase mice', words: 7, word: 31 });
  expect(edited.data.tokens).toEqual(['[CLS]', 'cats', 'chase', 'mice', '[SEP]']);
  expect(edited.data.chosen).toBe(4);
  expect(edited.data.readers.map(({ head }: { head: number }) => head)).toEqual([2, 7]);
  const same = await run(sum, { places: 4, words: 4 });
  expect(same.data.readers[0].attention).toEqual(same.data.readers[1].attention);
  const none = await run(sum, { text: '' });
  expect(none.figure.describe(none.data, none.state)).toContain('nothing to share out');
  for (const result of [edited, same, none]) expectSoundPictures(result);
  expectSoundPictures(await run(sum, { text: 'word '.repeat(200) }));
});

withModel('the first view reads 1.28 MB of a model in fewer than 150 files', async () => {
  const folder = new URL('../../build/model/', import.meta.url);
  expect(readdirSync(folder).length).toBeLessThan(150);
  const sizes = new Map<string, number>();
  const read = async (file: string) => {
    const bytes = readFileSync(new URL(file, folder));
    sizes.set(file, bytes.length);
    return bytes;
  };
  await run(sum, {}, undefined, library({ read }));
  expect(sizes.size).toBeLessThanOrEqual(13);
  expect([...sizes.values()].reduce((all, bytes) => all + bytes)).toBeLessThan(1_280_000);
});
