// The sentences of “Both can be read back” and “A trained model” that state numeric facts, each checked
// in the state that it is about.
import { readFileSync } from 'node:fs';
import { load, loadMiniLM, logitsOf, sharesOf, termOf } from 'superpose';
import { describe, expect, inject, test } from 'vitest';
import * as collisions from '../../web/figures/collisions.ts';
import * as heads from '../../web/figures/heads.ts';
import * as oblique from '../../web/figures/oblique.ts';
import { sentenceControl } from '../../web/figures/sentence.ts';
import * as tables from '../../web/figures/tables.ts';
import { run } from '../figures/support.ts';

const page = readFileSync(new URL('../../web/index.html', import.meta.url), 'utf8')
  .replace(/<[^>]*>/g, '')
  .replace(/\s+/g, ' ');
/** An element that exists, counted from the end if negative. */
// biome-ignore lint/suspicious/noExplicitAny: of any data
const nth = (list: ArrayLike<any>, place: number) => list[place < 0 ? list.length + place : place];
const said = (sentence: string) => expect(page).toContain(sentence);

test('more positions make the angle small long before the space is full', async () => {
  said('The smallest angle between them only sets the price');
  const { data } = await run(oblique);
  const gains = data.sweep.map(({ gain }: { gain: number }) => gain);
  expect(gains.at(-1)).toBe(Infinity);
  expect(gains).toEqual([...gains].sort((a, b) => a - b));
  // 12 and 12 of 32 dimensions: three quarters full, and nearer than 20 degrees.
  expect((data.now.angle * 180) / Math.PI).toBeLessThan(20);
});

test('the word that is moved', async () => {
  said('at d = 64 the first token keeps its place at every position, at d = 8 at none');
  const lost = async (d: number) =>
    ((await run(collisions, { of: 'one', words: 'seeded', d })).data.margins as Float64Array).filter(
      (margin) => margin < 0,
    ).length;
  expect(await lost(64)).toBe(0);
  expect(await lost(8)).toBe(64);
});

test('width protects words', async () => {
  said('Positions of twice the norm need three to four times the width to be as safe.');
  const { points } = (await run(collisions)).data;
  for (const seed of [1, 2, 3]) {
    const drawn = (await run(collisions, { seed })).data.points;
    expect(nth(nth(drawn, 1), 1).share).toBeGreaterThan(0.88);
    expect(nth(nth(drawn, 1), 1).share).toBeLessThan(0.97);
    expect(nth(nth(drawn, 4), 1).share).toBeLessThan(0.01);
  }
  // ρ = 2: the chance for a pair, too large at three times the width and too small at four times.
  const superpose = await load();
  const pair = (d: number, scale: number) =>
    superpose.cosineTail({ epsilon: 1 / Math.sqrt(1 + 2 * scale * scale), d: d + 1 }) / 2;
  for (const d of [32, 64, 128, 256]) {
    expect(pair(3 * d, 2)).toBeGreaterThan(pair(d, 1));
    expect(pair(4 * d, 2)).toBeLessThan(pair(d, 1));
  }
  // The same for the drawn points.
  expect(nth(nth(points, 5), 2).share).toBeGreaterThan(nth(nth(points, 4), 1).share);
  expect(nth(nth(points, 6), 2).share).toBeLessThan(nth(nth(points, 4), 1).share);
});

describe.runIf(inject('withModel'))('MiniLM', () => {
  test('king stays beside queen, and only position 0 takes a frequent word', async () => {
    said('the token nearest to “king” is “queen”, with and without a position, and the margin hardly moves');
    const { bare, nearest, margins } = (await run(collisions, { of: 'one', words: 'trained', word: 'king' }))
      .data;
    expect(new Set([bare, ...nearest])).toEqual(new Set(['queen']));
    expect(Math.max(...margins) / Math.min(...margins)).toBeLessThan(1.1);

    said(
      'Of the 2,048 frequent word pieces, all are safe at positions 1 to 63. Position 0, whose row is the longest by far, takes one of them, “...”, to “in”',
    );
    const superpose = await load();
    const model = await loadMiniLM(superpose);
    const [first, count] = [1996, 2048];
    const data = new Float32Array(count * 384);
    let position = superpose.randomNormal({ rows: 0, columns: 384, seed: 0, precision: 'float32' });
    for (let from = 0; from < count; from += 512) {
      const ids = Array.from({ length: 512 }, (_, place) => first + from + place);
      const rows = await model.summands({ ids, tokens: [], dropped: 0 }, 'float32');
      data.set(rows.token.data, from * 384);
      position = rows.position;
    }
    const positions = { data: position.data.subarray(0, 64 * 384), rows: 64, columns: 384 };
    const search = superpose.collisionSearch({ tokens: { data, rows: count, columns: 384 }, positions });
    const { lost, smallestMargins } = await search.allWords();
    expect([...lost]).toEqual([1, ...new Array(63).fill(0)]);
    const word = smallestMargins.findIndex((margin) => margin < 0);
    const taken = search.nearestTokens(word).nearest[0] as number;
    search.delete();
    expect(model.pieces([first + word, first + taken])).toEqual(['...', 'in']);
    const lengths = (await run(tables)).data.position as Float64Array;
    expect(lengths[0]).toBeGreaterThan(2 * Math.max(...lengths.subarray(1)));
  });

  test('lengths and cosines of the rows', async () => {
    const { data } = await run(tables);
    said('On average a position row is less than half as long as a token’s. That of position 0');
    said('is the longest by far.');
    const mean = (values: Float64Array) => values.reduce((a, b) => a + b) / values.length;
    expect(mean(data.position)).toBeLessThan(mean(data.token) / 2);
    expect(data.position[0]).toBeGreaterThan(2 * Math.max(...data.position.subarray(1)));
    said(
      '“River” and “closed” are nearer to a right angle with the positions than random directions would be. “The”, “to” and the two markers are not: they lean towards the positions.',
    );
    const n = data.tokens.length;
    const size = (word: string) => {
      const i = data.tokens.indexOf(word);
      expect(i).toBeGreaterThanOrEqual(0);
      return mean((data.cosines as Float64Array).slice(i * n, (i + 1) * n).map(Math.abs));
    };
    for (const word of ['river', 'closed']) expect(size(word)).toBeLessThan(data.chance / 2);
    for (const word of ['the', 'to', '[CLS]', '[SEP]']) expect(size(word)).toBeGreaterThan(4 * data.chance);
    said('positions 16 apart resemble each other more than positions 8 apart');
    expect(data.lags[15]).toBeGreaterThan(nth(data.lags, 7) + 0.1);
  });

  test('the variation in each head’s scores', async () => {
    const [tt, tp, pt, pp, rest] = [0, 1, 2, 3, 4] as const;
    const rowsOf = async (settings: Record<string, string>) => {
      const shares = (await run(heads, settings)).data.rows.map((row: { shares: number[] }) => row.shares);
      return { heads: shares.slice(0, -2), mean: nth(shares, -2), pooled: nth(shares, -1) };
    };
    const [yours, ten] = [await rowsOf({}), await rowsOf({ sentences: 'ten' })];
    said('Head 2 runs on positions alone and looks one position back.');
    expect(nth(nth(yours.heads, 2), pp)).toBeGreaterThan(0.95);
    const model = await loadMiniLM(await load());
    const scores = await model.decompose(sentenceControl.initial);
    const { n } = scores;
    for (const [from, matrix] of [
      [1, logitsOf(scores, 2)],
      [2, termOf(scores, 2, 'position', 'position')],
    ] as const) {
      for (let query = from; query < n; query++) {
        const row = matrix.subarray(query * n, (query + 1) * n);
        expect(row.indexOf(Math.max(...row))).toBe(query - 1);
      }
    }
    said('Head 0 and head 1 are mostly about tokens.');
    for (const head of [0, 1]) expect(nth(nth(yours.heads, head), tt)).toBeGreaterThan(0.6);
    const cross = (shares: number[]) => (shares[tp] as number) + (shares[pt] as number);
    said(
      'is true of eleven heads, each with less than 3 %, and false of one: head 11 has more than a quarter',
    );
    for (const of of [yours, ten]) {
      for (let head = 0; head < 11; head++) expect(Math.abs(cross(nth(of.heads, head)))).toBeLessThan(0.03);
      expect(nth(nth(of.heads, 11), tp)).toBeGreaterThan(0.25);
    }
    said('cross terms of a fifth in heads 0, 3 and 8, negative ones in 6 and 9 over the ten sentences');
    said('Those are artefacts.');
    const raw = [await rowsOf({ gauge: 'raw' }), await rowsOf({ gauge: 'raw', sentences: 'ten' })] as const;
    for (const head of [0, 3, 8]) {
      expect(cross(nth(raw[0].heads, head))).toBeGreaterThan(0.2);
      expect(cross(nth(raw[0].heads, head))).toBeLessThan(0.27);
    }
    for (const head of [6, 9]) expect(cross(nth(raw[1].heads, head))).toBeLessThan(-0.14);
    said('head 2’s vary so much that more than nine tenths of the whole are position → position');
    for (const of of [yours, ten]) expect(of.pooled[pp]).toBeGreaterThan(0.9);
    said('head 9 is mostly that');
    const shares = sharesOf(scores, 9);
    const parts = scores.parts.length;
    const [token, constant] = ['token', 'constant'].map((part) => scores.parts.indexOf(part)) as [
      number,
      number,
    ];
    const asked = shares[constant * parts + token] as number;
    expect(asked).toBeGreaterThan(0.8);
    expect(nth(nth(yours.heads, 9), rest)).toBeGreaterThan(0.8);
    expect(nth(nth(ten.heads, 9), rest)).toBeGreaterThan(0.8);
    // “Nearly all of it”: over the heads, the constant's part on words against all the rest.
    said('Nearly all of the rest is what the constant asks of each key’s token');
    const sum = (values: number[]) => values.reduce((a, b) => a + b);
    const words = sum(scores.heads.map((head) => sharesOf(scores, head)[constant * parts + token] as number));
    const all = sum(yours.heads.map((row: number[]) => row[rest] as number));
    expect(words / all).toBeGreaterThan(0.9);
  });
});
