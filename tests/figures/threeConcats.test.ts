import { load, loadMiniLM, type Table } from 'superpose';
import { expect, inject, test } from 'vitest';
import * as threeConcats from '../../web/figures/threeConcats.ts';
import { apply, headLogits, joined } from '../api/support/naive.ts';
import {
  dot,
  largest,
  largestDifference,
  rowCentred,
  rowsOf,
  sumOf,
  tableOf,
} from '../api/support/numbers.ts';
import { expectSoundPictures, run } from './support.ts';
import { expectTextsApart } from './texts.ts';

type Rows = Table<Float64Array>;
interface Way {
  logits: Float64Array;
  terms: Float64Array[];
  shares: number[];
  cross: number;
  rank: number;
  mostRank: number;
}
type Settings = Record<string, string | number>;

async function expectScores(token: Rows, position: Rows, settings: Settings, d_head: number, seed: number) {
  const result = await run(threeConcats, { ...settings, d_head, seed });
  expectSoundPictures(result);
  expectTextsApart(result);
  const superpose = await load();
  const { columns: d, rows: n } = token;
  const draw = (stream: number) =>
    superpose.randomNormal({ rows: d_head, columns: d, seed, stream, standardDeviation: 1 / Math.sqrt(d) });
  const [query, key, positionQuery, positionKey] = [draw(1), draw(2), draw(3), draw(4)] as [
    Rows,
    Rows,
    Rows,
    Rows,
  ];
  const score = (left: Rows[], right: Rows[], scale = 1 / Math.sqrt(d_head)) => {
    const rows = rowsOf(joined(token, position));
    const weight = (parts: Rows[]) => ({
      weight: parts.length > 1 ? joined(parts[0] as Rows, parts[1] as Rows) : (parts[0] as Rows),
    });
    const project = (parts: Rows[]) => rows.map((row) => apply(weight(parts), row));
    return headLogits(project(left), project(right), 1, scale);
  };
  const alone = (rows: Rows, left: Rows, right: Rows) => {
    const project = (weight: Rows) => rowsOf(rows).map((row) => apply({ weight }, row));
    return headLogits(project(left), project(right), 1, 1 / Math.sqrt(2 * d_head));
  };
  const sums = tableOf(rowsOf(token).map((row, i) => [...sumOf([row, rowsOf(position)[i] as Float64Array])]));
  const addedRows = (weight: Rows) => rowsOf(sums).map((row) => apply({ weight }, row));
  const expected = [
    headLogits(addedRows(query), addedRows(key), 1),
    Float64Array.from(
      rowsOf(joined(token, position)).flatMap((a) => rowsOf(joined(token, position)).map((b) => dot(a, b))),
    ),
    settings.tied === 'yes'
      ? score([query, query], [key, key])
      : score([query, positionQuery], [key, positionKey]),
    sumOf([alone(token, query, key), alone(position, positionQuery, positionKey)]),
  ];
  const { ways, tiedGap } = result.data as { ways: Way[]; tiedGap: number };
  ways.forEach(({ logits, terms, shares, rank, mostRank }, place) => {
    const bound = 1e-12 * (1 + largest(expected[place] as Float64Array)) * d;
    expect(largestDifference(logits, expected[place] as Float64Array)).toBeLessThan(bound);
    expect(largestDifference(sumOf(terms), logits)).toBeLessThan(bound);
    expect(rank).toBeLessThanOrEqual(mostRank);
    const centred = rowCentred(logits, n);
    terms.forEach((term, k) => {
      expect(shares[k]).toBeCloseTo(dot(rowCentred(term, n), centred) / dot(centred, centred), 8);
    });
  });
  // Adding is full concatenation with equal blocks, and only separate blocks have no cross terms.
  expect(tiedGap).toBeLessThan(1e-12 * d * (1 + largest(expected[0] as Float64Array)));
  expect(ways.map(({ cross }) => cross === 0)).toEqual([false, true, false, true]);
  return { ...result, ways };
}

test.each([
  { n: 24, d: 64, d_head: 8, seed: 1 },
  { n: 24, d: 64, d_head: 8, seed: 5, tied: 'yes' },
  { n: 2, d: 2, d_head: 1, seed: 2 },
  { n: 64, d: 16, d_head: 64, seed: 4294967295 },
])('%o: four scores straight from their definitions', async ({ d_head, seed, ...settings }) => {
  const superpose = await load();
  const { n, d } = settings;
  const token = superpose.randomNormal({ rows: n, columns: d, seed });
  const position = superpose.sinusoidal({ positions: n, d_model: d });
  const { ways } = await expectScores(token, position, settings, d_head, seed);
  if (n === 24) {
    // d_h for adding and for full weights, d_h + d_h for separate ones (arXiv 2104.08698).
    expect(ways.map(({ rank }) => rank)).toEqual([8, 24, 8, 16]);
    expect(ways.map(({ mostRank }) => mostRank)).toEqual([8, 24, 8, 16]);
  }
});

test.runIf(inject('withModel'))('a sentence’s tables under random weights', async () => {
  const text = 'The river bank was closed.';
  const model = await loadMiniLM(await load());
  const { token, position } = await model.summands(model.tokenize(text));
  const { figure, data, state } = await expectScores(token, position, { tokens: 'sentence', text }, 16, 3);
  expect(figure.tokens?.(data, state)).toContain('river');
});
