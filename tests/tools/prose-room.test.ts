// The sentences of the sections #room and #channels that state numbers or trends.
import { readFileSync } from 'node:fs';
import { load, loadMiniLM, type Table } from 'superpose';
import { beforeAll, expect, inject, test } from 'vitest';
import * as overlap from '../../web/figures/overlap.ts';
import { run } from '../figures/support.ts';

const page = readFileSync(new URL('../../web/index.html', import.meta.url), 'utf8')
  .replace(/<[^>]*>/g, '')
  .replace(/\s+/g, ' ');
const said = (sentence: string) => expect(page).toContain(sentence);

let superpose: Awaited<ReturnType<typeof load>>;
beforeAll(async () => {
  superpose = await load();
});

test('two random vectors, and the largest of many', () => {
  said('in 512 dimensions its size is 0.035 on average');
  expect(superpose.cosineMeanSize({ d: 512 }).toFixed(3)).toBe('0.035');
  said('Among 512 positions and 30,522 word pieces the largest cosine to expect is 0.24');
  expect(superpose.largestCosineMedian({ pairs: 512 * 30_522, d: 512 }).toFixed(2)).toBe('0.24');
});

test('random subspaces', () => {
  said(
    'In 512 dimensions, two random 64-dimensional subspaces, as wide as one head of the 2017 paper’s model, contain directions with a cosine of about 0.65',
  );
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
  const largest = seeds.map((seed) =>
    Math.cos(superpose.randomPrincipalAngles({ d: 512, k1: 64, k2: 64, seed })[0] as number),
  );
  expect(largest[0]?.toFixed(2)).toBe('0.65');
  const mean = largest.reduce((sum, cosine) => sum + cosine, 0) / 8;
  expect(mean).toBeGreaterThan(0.635);
  expect(mean).toBeLessThan(0.665);
  said('nearly orthogonal only when √k₁ + √k₂ is far below √d');
  for (const [k1, k2] of [
    [1, 1],
    [4, 16],
    [16, 16],
  ] as const) {
    const edge = (Math.sqrt(k1) + Math.sqrt(k2)) / 64;
    const { highestCosine } = superpose.chanceAngles({ d: 4096, k1, k2 });
    expect(highestCosine / edge).toBeGreaterThan(0.99);
    expect(highestCosine / edge).toBeLessThanOrEqual(1);
  }
  said('when k₁ + k₂ is more than d they share directions whatever is drawn');
  expect(superpose.chanceAngles({ d: 512, k1: 300, k2: 213 }).zeroAngles).toBe(1);
  expect(superpose.chanceAngles({ d: 512, k1: 300, k2: 212 }).zeroAngles).toBe(0);
});

test('random tokens and a sinusoid overlap as chance does', async () => {
  said('Random tokens and a sinusoid come out near 1');
  for (const seed of [1, 2, 3]) {
    const { data } = await run(overlap, { tables: 'seeded', seed });
    expect(Math.abs(data.raw - 1)).toBeLessThan(0.15);
    expect(Math.abs(data.centred - 1)).toBeLessThan(0.05);
  }
});

const aboutTheMean = ({ data, rows, columns }: Table): Table => {
  const none = new Array<number>(rows).fill(0);
  const { residual } = superpose.meanDecomposition({
    rows: { data, rows, columns },
    positionOf: none,
    positions: 1,
    tokenOf: none,
    tokens: 1,
  });
  return { data: residual, rows, columns };
};

test.runIf(inject('withModel'))('MiniLM’s tables, of 512 words and of all', async () => {
  said(
    'once each has its mean row taken away, they overlap less than a third as much as chance, and most of the positions’ main directions lie where the tokens vary least',
  );
  const { data } = await run(overlap);
  expect(data.centred).toBeLessThan(1 / 3);
  const last = 384 / 8;
  expect(1 - (data.reached[384 - last - 1] as number)).toBeGreaterThan(0.7);

  said(
    'Over the whole vocabulary A is 0.23, and 89 % of the positions’ twelve main directions lie where tokens vary least, in the last eighth of all directions',
  );
  const model = await loadMiniLM(superpose);
  // All ids except those of pieces called [unused…].
  const ids = [0, 100, 101, 102, 103, ...Array.from({ length: 30_522 - 999 }, (_, place) => 999 + place)];
  expect(ids).toHaveLength(29_528);
  const tokens = { data: new Float64Array(ids.length * 384), rows: ids.length, columns: 384 };
  for (let first = 0; first < ids.length; first += 128) {
    const { token } = await model.summands({ ids: ids.slice(first, first + 128), tokens: [], dropped: 0 });
    tokens.data.set(token.data, first * 384);
  }
  const { position: positions } = await model.summands({ ids: ids.slice(0, 128), tokens: [], dropped: 0 });
  expect(superpose.energyOverlap({ tokens, positions, centred: true }).toFixed(2)).toBe('0.23');
  const { shares } = superpose.overlapCurve({
    tokens: aboutTheMean(tokens),
    positions: aboutTheMean(positions),
    k: 12,
  });
  const held = shares.slice(-last).reduce((sum, share) => sum + share, 0) / 12;
  expect(Math.round(100 * held)).toBe(89);

  said('Uncentred, A depends on which tokens are taken, and can exceed chance');
  const raw = [999, 2048, 10_240].map((first) => {
    const rows = {
      data: tokens.data.slice((first - 994) * 384, (first - 994 + 512) * 384),
      rows: 512,
      columns: 384,
    };
    return superpose.energyOverlap({ tokens: rows, positions });
  });
  expect(Math.max(...raw) / Math.min(...raw)).toBeGreaterThan(3);
  expect(Math.max(...raw)).toBeGreaterThan(1);
});

test('channels that move, and directions', () => {
  said('of 512, over 128 positions, 286 by more than 0.5, 355 by more than 0.1, 445 by more than 0.01');
  const table = superpose.sinusoidal({
    positions: 128,
    d_model: 512,
    layout: 'concatenated',
    spacing: 'timescales',
  });
  const ranges = superpose.channelRanges(table);
  expect([0.5, 0.1, 0.01].map((least) => ranges.filter((range) => range > least).length)).toEqual([
    286, 355, 445,
  ]);
  said('The same table has 99 % of its energy in 39 of its 512 directions, in any order of the channels');
  expect(superpose.ranks({ table }).energy).toBe(39);
  said('A table of random numbers needs 124 of the 128 that it can have');
  for (const seed of [1, 2, 3]) {
    expect(superpose.ranks({ table: superpose.randomNormal({ rows: 128, columns: 512, seed }) }).energy).toBe(
      124,
    );
  }
});

test('what breaks the dependence on distance, and what does not', () => {
  said(
    'LayerNorm’s centring breaks it, so does leaving out the cosines, and so does a random matrix between query and key',
  );
  said('It survives a matrix that turns and scales each frequency’s pair');
  for (const seed of [1, 2, 3]) {
    const spreads = superpose.gramSpreads({ positions: 64, d_model: 32, seed });
    expect(Math.max(spreads.whole, spreads.rotationForm)).toBeLessThan(1e-12);
    expect(Math.min(spreads.centred, spreads.sines, spreads.randomForm)).toBeGreaterThan(5);
  }
});
