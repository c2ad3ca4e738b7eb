// The figure "collisions", against distances that are computed one by one.
import { load, loadMiniLM, type Table } from 'add-or-concatenate';
import { expect, inject, test } from 'vitest';
import * as collisions from '../../web/figures/collisions.ts';
import { expectSoundPictures, expectToStopMidway, run } from './support.ts';

const row = ({ data, columns }: Table, place: number) =>
  Array.from(data.subarray(place * columns, (place + 1) * columns));
const squared = (a: number[], b: number[]) => a.reduce((sum, x, c) => sum + (x - (b[c] as number)) ** 2, 0);

/** The two words nearest to word + position, by distances instead of margins. */
function nearestTo(words: Table, word: number, position: number[]) {
  const bare = row(words, word);
  const sum = bare.map((x, c) => x + (position[c] as number));
  const selfDistance = squared(sum, bare);
  let best = -1;
  let least = Infinity;
  for (let b = 0; b < words.rows; b++) {
    const distance = b === word ? Infinity : squared(sum, row(words, b));
    if (distance < least) [best, least] = [b, distance];
  }
  return { best, selfDistance, least };
}

test.each([
  { vocabulary: 100, d: 4, scale: 4, index: 99, seed: 7 },
  { vocabulary: 500, d: 8, scale: 1, index: 3 },
  { vocabulary: 100, d: 256, scale: 0.5, positions: 'sinusoidal', index: 0 },
])('%o: nearest words and margins are those of the distances', async (settings) => {
  const result = await run(collisions, { of: 'token', words: 'seeded', ...settings });
  expectSoundPictures(result);
  const superpose = await load();
  const { vocabulary, d, scale, index } = settings;
  const seed = settings.seed ?? 1;
  const words = superpose.randomNormal({ rows: vocabulary, columns: d, seed });
  const table =
    settings.positions === 'sinusoidal'
      ? superpose.sinusoidal({ positions: 64, d_model: d })
      : superpose.randomNormal({ rows: 64, columns: d, seed, stream: 1 });
  const { margins, nearest } = result.data;
  for (let place = 0; place < 64; place++) {
    const position = row(table, place).map((x) => scale * x);
    const { best, selfDistance, least } = nearestTo(words, index, position);
    expect(nearest[place]).toBe(`token ${best}`);
    // ‖e_a + p − e_b‖² = ‖p‖² + 2 margin
    expect(Math.abs((least - selfDistance) / 2 - (margins[place] as number))).toBeLessThan(
      1e-12 * (selfDistance + least),
    );
  }
  const rows = result.figure.table(result.data, result.state).rows;
  expect(rows.map((cells) => cells[4] === `token ${index}`)).toEqual(
    Array.from(margins as Float64Array, (margin) => margin >= 0),
  );
});

test('without a position nothing moves', async () => {
  const result = await run(collisions, { of: 'token', words: 'seeded', scale: 0, vocabulary: 1000 });
  expectSoundPictures(result);
  const { margins, bareDistance, nearest, bare } = result.data;
  for (const margin of margins) expect(margin).toBeCloseTo(bareDistance ** 2 / 2, 12);
  expect(new Set(nearest)).toEqual(new Set([bare]));
});

test('a word number beyond the vocabulary is the last word', async () => {
  const { data } = await run(collisions, { of: 'token', words: 'seeded', vocabulary: 100, index: 4999 });
  expect(data.word).toBe('token 99');
});

test.runIf(inject('withModel')).each([
  { word: 'king', piece: 'king', searched: 2048 },
  { word: 'kingdoms', piece: 'kingdoms', searched: 2049 },
  { word: '', piece: 'the', searched: 2048 },
])('$word among MiniLM’s frequent words', async ({ word, piece, searched }) => {
  const result = await run(collisions, { of: 'token', words: 'trained', word });
  expectSoundPictures(result);
  const { data, state, figure } = result;
  expect(data.word).toBe(piece);
  expect(data.vocabulary).toBe(searched);
  expect(figure.remark?.(data, state) === '').toBe(word === 'king');
  const model = await loadMiniLM(await load());
  const at = async (text: string) => {
    const id = (await model.tokenize(text)).ids[1] as number;
    return model.rows({ ids: [id] });
  };
  const [tokenRows, bareRows] = [await at(piece), await at(data.bare)];
  const distance = Math.sqrt(squared(row(tokenRows.token, 0), row(bareRows.token, 0)));
  expect(data.bareDistance).toBeCloseTo(distance, 12);
});

test('the first hundred words, counted one by one', async () => {
  const result = await run(collisions, { vocabulary: 500, seed: 9 });
  expectSoundPictures(result);
  const superpose = await load();
  const d = 8;
  const words = superpose.randomNormal({ rows: 500, columns: d, seed: 9 }).data;
  const positions = superpose.randomNormal({
    rows: 64,
    columns: d,
    seed: 9,
    stream: 1,
  }).data;
  let lost = 0;
  for (let p = 0; p < 64; p++) {
    for (let a = 0; a < 100; a++) {
      for (let b = 0; b < 500; b++) {
        let margin = 0;
        for (let c = 0; c < d; c++) {
          const delta = (words[b * d + c] as number) - (words[a * d + c] as number);
          margin += delta * (delta / 2 - (positions[p * d + c] as number));
        }
        if (margin < 0) {
          lost++;
          break;
        }
      }
    }
  }
  // The first width is 4 and the first size a half.
  expect(result.data.points[1][1].share).toBeCloseTo(lost / 6400, 12);
  expect(result.data.looked).toBe(100);
});

test('it says how far it is and stops midway', () => expectToStopMidway(collisions));
