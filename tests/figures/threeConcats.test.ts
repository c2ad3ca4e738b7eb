import { type Cost, load, loadMiniLM, type Table } from 'superpose';
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

/** What a model costs by way; every number of it is in the table. */
async function costs(settings: Settings) {
  const result = await run(threeConcats, { n: 4, d: 8, ...settings });
  expectSoundPictures(result);
  expectTextsApart(result);
  const [add, wide, narrow, project, queryKey] = result.data.costs as Cost[];
  const { rows } = result.figure.table(result.data, result.state);
  for (const cost of [add, wide, narrow, project, queryKey].filter(Boolean) as Cost[])
    for (const number of [
      cost.width,
      cost.tables,
      cost.projection,
      cost.layer,
      cost.total,
      cost.flopsPerToken,
      cost.kvCache,
    ])
      expect(rows.map((row) => row[2])).toContain(number);
  return { ...result, add, wide, narrow, project, queryKey } as typeof result &
    Record<'add' | 'wide' | 'narrow' | 'project' | 'queryKey', Cost>;
}

test('published totals: BERT-base, all-MiniLM-L6-v2, GPT-2 small', async () => {
  for (const [model, parameters] of [
    ['bert', 109_482_240],
    ['minilm', 22_713_216],
    // Radford et al. 2019; the released checkpoint has 124,439,808.
    ['gpt2', 124_439_808],
  ] as const) {
    const { add, state } = await costs({ model });
    expect(add.total).toBe(parameters);
    expect(state.model).toBe(model);
  }
});

test.each([
  [64, 123_979_968, false],
  [256, 175_779_840, false],
  [768, 366_177_792, true],
])('BERT-base, wide by %i', async (d_position, parameters, whole) => {
  const { add, wide, figure, data, state } = await costs({ d_position });
  expect(wide.total).toBe(parameters);
  expect(wide.headsDivide).toBe(whole);
  // The sentence has the numbers of the picture.
  const said = figure.describe(data, state);
  const drawn = figure.scene(data, state, 1048).marks;
  const texts = drawn.flatMap((mark) => (mark.mark === 'text' ? [mark.text.trim()] : []));
  const times = `×${(parameters / 109_482_240).toPrecision(3)}`;
  const millions = `${Math.round(parameters / 1e6)}\u00a0M`;
  expect(said).toContain(`takes ${millions}, ${times}.`);
  expect(texts).toEqual(expect.arrayContaining(['109\u00a0M\u2002×1.000', `${millions}\u2002${times}`]));
  expect(add.total).toBe(109_482_240);
});

test('narrow, mapped back, and queries and keys alone, from the formulas', async () => {
  const { add, narrow, project, queryKey } = await costs({ d_position: 64 });
  const [D, N, layers, heads, wide] = [768, 512, 12, 12, 64];
  expect(narrow.total - add.total).toBe(-2_313_984);
  expect(project.total - add.total).toBe(639_744 - 360_448);
  expect(add.flopsPerToken).toBe(layers * (24 * D * D + 4 * N * D));
  expect(add.kvCache).toBe(layers * 2 * N * D);
  // Position queries and keys, 64 wide in each head, add their scores, their projections and their keys.
  expect(queryKey.flopsPerToken - add.flopsPerToken).toBe(
    layers * (2 * N * heads * 64 + 4 * wide * heads * 64),
  );
  expect(queryKey.kvCache - add.kvCache).toBe(layers * N * heads * 64);
});

test('the smallest and the largest shapes, and one without room for a narrower token', async () => {
  const smallest = {
    d_model: 64,
    d_position: 4,
    layers: 1,
    heads: 1,
    vocabulary: 256,
    positions: 128,
    context: 1,
  };
  const { add, narrow } = await costs({ ...smallest, segments: 0, pooler: 'no' });
  expect([add.width, narrow.width]).toEqual([64, 64]);
  const largest = { d_model: 8192, d_position: 1024, layers: 128, heads: 64, vocabulary: 256000 };
  await costs({ ...largest, positions: 131072, context: 131072, segments: 4 });
  const { narrow: none, figure, data, state } = await costs({ d_model: 64, d_position: 1024, heads: 7 });
  expect(none).toBe(undefined);
  const drawn = figure.scene(data, state, 1048).marks;
  expect(drawn).toContainEqual(expect.objectContaining({ text: expect.stringContaining('no room') }));
});

test('a named shape sets the numbers, another number unsets the name, and links may leave numbers out', async () => {
  const { figure, state } = await costs({});
  const gpt2 = figure.settle?.({ ...state, model: 'gpt2' }, 'model') ?? {};
  expect(gpt2).toMatchObject({ model: 'gpt2', vocabulary: 50257, positions: 1024, pooler: false });
  expect(figure.settle?.({ ...gpt2, layers: 3 }, 'layers')).toMatchObject({ model: 'own', layers: 3 });
  expect(figure.settle?.({ ...gpt2, d_position: 256 }, 'd_position')).toMatchObject({ model: 'gpt2' });
  expect((await costs({ layers: 3 })).state.model).toBe('own');
  expect((await costs({ model: 'own' })).state).toMatchObject({ model: 'own', layers: 12 });
  expect((await costs({ context: 4096 })).state.context).toBe(512);
});

test('what each way costs is drawn on one scale', async () => {
  const { figure, data, state } = await costs({ d_position: 256 });
  const { marks } = figure.scene(data, state, 1048);
  const bars = marks.flatMap((mark) => (mark.mark === 'box' && mark.fill === 'accent' ? [mark.width] : []));
  const [add, ...others] = data.costs as [Cost, ...Cost[]];
  const wanted = (['total', 'flopsPerToken', 'kvCache'] as const).flatMap((name) =>
    others.map((cost) => Math.abs(cost[name] / add[name] - 1)),
  );
  // Before them are the shares of the cross terms.
  const drawn = bars.slice(-wanted.length);
  const scale = Math.max(...drawn) / Math.max(...wanted);
  expect(drawn).toHaveLength(12);
  wanted.forEach((more, place) => {
    expect(drawn[place]).toBeCloseTo(scale * more, 6);
  });
});
