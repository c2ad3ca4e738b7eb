// The numbers in the sections on mixing and concatenating, in their figures' first states.
import { readFileSync } from 'node:fs';
import { load, type Table } from 'superpose';
import { expect, inject, test } from 'vitest';
import * as gauge from '../../web/figures/gauge.ts';
import * as sums from '../../web/figures/sum.ts';
import * as threeConcats from '../../web/figures/threeConcats.ts';
import { run } from '../figures/support.ts';

const page = readFileSync(new URL('../../web/index.html', import.meta.url), 'utf8')
  .replace(/<[^>]*>/g, '')
  .replace(/\s+/g, ' ');
const said = (sentence: string) => expect(page).toContain(sentence);

test.runIf(inject('withModel'))('signs, moves and distances of sums', async () => {
  const { data } = await run(sums, { of: 'channels' });
  said('In some channels the sum has the opposite sign of the token');
  const opposite = data.token.filter((value: number, k: number) => value * data.places[0].sum[k] < 0);
  expect(opposite.length).toBeGreaterThan(1);
  said('Moving a token and comparing two tokens at one position:');
  const other = await run(sums, { of: 'channels', word: 9 });
  expect(other.data.shift).toEqual(data.shift);
  for (const { moved, shift } of [data, other.data])
    moved.forEach((value: number, k: number) => {
      expect(value).toBeCloseTo(shift[k] as number, 14);
    });
  const superpose = await load();
  const token = superpose.randomNormal({ rows: 2, columns: 32, seed: 1 });
  const position = superpose.sinusoidal({ positions: 4, d_model: 32 }).data.slice(3 * 32);
  const token_type = { data: new Float64Array(32), rows: 1, columns: 32 };
  const here = { data: Float64Array.from([...position, ...position]), rows: 2, columns: 32 };
  const { sum } = superpose.bertEmbeddings({ token, position: here, token_type });
  const distance = ({ data: rows }: Table) =>
    Math.hypot(...Array.from({ length: 32 }, (_, k) => (rows[k] as number) - (rows[32 + k] as number)));
  expect(distance(sum)).toBeCloseTo(distance(token), 12);
});

test.runIf(inject('withModel'))('head 3, as it is and with rows centred', async () => {
  const { data, state } = await run(gauge, {
    of: 'parts',
    head: 3,
  });
  expect([state.head, state.gauge]).toEqual([3, 'canonical']);
  said('more than half of the scores of head 3 seem to be the rest');
  expect(data.uncentred[4]).toBeGreaterThan(0.5);
  expect(data.uncentred[4]).toBeLessThan(0.6);
  said('less than a quarter is left of it, while token → token makes up three fifths');
  expect(data.shares[4]).toBeGreaterThan(0.2);
  expect(data.shares[4]).toBeLessThan(0.25);
  expect(data.shares[0]).toBeCloseTo(0.6, 1);
});

test('cross terms, ranks, and the special case', async () => {
  interface Way {
    logits: Float64Array;
    cross: number;
    rank: number;
  }
  const { data, state } = await run<{ ways: Way[]; tiedGap: number }>(threeConcats);
  const [added, raw, full, blocks] = data.ways as [Way, Way, Way, Way];
  said(
    'So concatenating alone does not remove token → position and position → token. Full weights keep both',
  );
  expect(full.cross).toBeGreaterThan(0.1);
  expect([raw.cross, blocks.cross]).toEqual([0, 0]);
  said('choose W₂ = W₁, and the third map becomes the first');
  const tied = await run<typeof data>(threeConcats, { tied: 'yes' });
  const third = tied.data.ways[2] as Way;
  third.logits.forEach((value, cell) => {
    expect(value).toBeCloseTo(added.logits[cell] as number, 12);
  });
  said('Two separate scores reach the sum of two widths');
  const { d_head } = state as { d_head: number };
  expect([added.rank, full.rank, blocks.rank]).toEqual([d_head, d_head, 2 * d_head]);
});

test('what 64 and 768 more channels cost in BERT-base', async () => {
  interface Costs {
    costs: ({ total: number; kvCache: number; headsDivide: boolean; width: number } | undefined)[];
  }
  const by = async (d_position: number) => (await run<Costs>(threeConcats, { d_position })).data.costs;
  const [narrow, middle, broad] = [await by(64), await by(256), await by(768)];
  const times = (costs: Costs['costs'], way: number, name: 'total' | 'kvCache') =>
    (costs[way]?.[name] as number) / (costs[0]?.[name] as number);
  said('In BERT-base, 64 extra channels cost 13 % more parameters; 768 extra channels multiply them by 3.3.');
  expect(Math.round(100 * times(narrow, 1, 'total'))).toBe(113);
  expect(times(broad, 1, 'total')).toBeCloseTo(3.3, 1);
  said('12 heads do not divide 832 or 1024');
  expect([narrow, middle].map((costs) => [costs[1]?.width, costs[1]?.headsDivide])).toEqual([
    [832, false],
    [1024, false],
  ]);
  said('costs next to nothing in parameters, but half as much again in the cache');
  expect(times(narrow, 4, 'total')).toBeLessThan(1.01);
  expect(times(narrow, 4, 'kvCache')).toBe(1.5);
});
