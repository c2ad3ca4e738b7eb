import { expect, test } from 'vitest';
import * as cost from '../../web/figures/cost.ts';
import { expectSoundPictures, run } from './support.ts';
import { expectTextsApart } from './texts.ts';

type Settings = Record<string, string | number>;

/** Rows of the table by way: stream width, whether heads divide it, tables, map back, a layer, totals. */
async function rowsOf(settings: Settings) {
  const result = await run(cost, settings);
  expectSoundPictures(result);
  expectTextsApart(result);
  const { rows } = result.figure.table(result.data, result.state);
  const [add, wide, narrow, project, queryKey] = rows as (string | number)[][];
  return { ...result, add, wide, narrow, project, queryKey } as typeof result &
    Record<'add' | 'wide' | 'narrow' | 'project' | 'queryKey', (string | number)[]>;
}
const [width, divides, total, flops, cache] = [1, 2, 6, 8, 10] as const;

test('published totals: BERT-base, all-MiniLM-L6-v2, GPT-2 small', async () => {
  for (const [model, parameters] of [
    ['bert', 109_482_240],
    ['minilm', 22_713_216],
    // Radford et al. 2019; the released checkpoint has 124,439,808.
    ['gpt2', 124_439_808],
  ] as const) {
    const { add, state } = await rowsOf({ model });
    expect(add[total]).toBe(parameters);
    expect(state.model).toBe(model);
  }
});

test.each([
  [64, 123_979_968, 'no'],
  [256, 175_779_840, 'no'],
  [768, 366_177_792, 'yes'],
])('BERT-base, wide by %i', async (d_position, parameters, whole) => {
  const { add, wide, figure, data, state } = await rowsOf({ d_position });
  expect(wide[total]).toBe(parameters);
  expect(wide[divides]).toBe(whole);
  const times = (parameters / 109_482_240).toFixed(3);
  expect(wide[total + 1]).toBeCloseTo(Number(times), 3);
  // With two digits, and with three.
  const said = figure.describe(data, state);
  expect(said).toContain('Adding takes 110\u00a0M parameters');
  expect(said).toContain(
    `${10 * Math.round(parameters / 1e7)}\u00a0M, ×${(parameters / 109_482_240).toPrecision(3)}`,
  );
  expect(add[total]).toBe(109_482_240);
});

test('narrow, mapped back, and queries and keys alone, from the formulas', async () => {
  const { add, narrow, project, queryKey } = await rowsOf({ d_position: 64 });
  const [D, N, layers, heads, wide] = [768, 512, 12, 12, 64];
  expect((narrow[total] as number) - (add[total] as number)).toBe(-2_313_984);
  expect((project[total] as number) - (add[total] as number)).toBe(639_744 - 360_448);
  expect(add[flops]).toBe(layers * (24 * D * D + 4 * N * D));
  expect(add[cache]).toBe(layers * 2 * N * D);
  // Position queries and keys, 64 wide in each head, add their scores, their projections and their keys.
  expect((queryKey[flops] as number) - (add[flops] as number)).toBe(
    layers * (2 * N * heads * 64 + 4 * wide * heads * 64),
  );
  expect((queryKey[cache] as number) - (add[cache] as number)).toBe(layers * N * heads * 64);
});

test('the smallest and the largest shapes, and one without room for a narrower token', async () => {
  const smallest = { d: 64, d_position: 4, layers: 1, heads: 1, vocabulary: 256, positions: 128, context: 1 };
  const { add, narrow } = await rowsOf({ ...smallest, segments: 0, pooler: 'no' });
  expect([add[width], narrow[width]]).toEqual([64, 64]);
  const largest = { d: 8192, d_position: 1024, layers: 128, heads: 64, vocabulary: 256000 };
  await rowsOf({ ...largest, positions: 131072, context: 131072, segments: 4 });
  const { narrow: none, figure, data, state } = await rowsOf({ d: 64, d_position: 1024, heads: 7 });
  expect(none[total]).toBe('no room');
  expect(figure.describe(data, state)).toContain('cannot be 1024 channels narrower than 64');
});

test('a named shape sets the numbers, another number unsets the name, and links may leave numbers out', async () => {
  const { figure, state } = await rowsOf({});
  const gpt2 = figure.settle?.({ ...state, model: 'gpt2' }, 'model') ?? {};
  expect(gpt2).toMatchObject({ model: 'gpt2', vocabulary: 50257, positions: 1024, pooler: false });
  expect(figure.settle?.({ ...gpt2, layers: 3 }, 'layers')).toMatchObject({ model: 'own', layers: 3 });
  expect(figure.settle?.({ ...gpt2, d_position: 256 }, 'd_position')).toMatchObject({ model: 'gpt2' });
  expect((await rowsOf({ layers: 3 })).state.model).toBe('own');
  expect((await rowsOf({ model: 'own' })).state).toMatchObject({ model: 'own', layers: 12 });
  expect((await rowsOf({ context: 4096 })).state.context).toBe(512);
});
