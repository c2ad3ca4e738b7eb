// The figure "overlap" on tables, against its definition.
import { load, loadMiniLM, type Table } from 'add-or-concatenate';
import { expect, inject, test } from 'vitest';
import * as overlap from '../../web/figures/overlap.ts';
import { expectSoundPictures, run } from './support.ts';

/** d tr(C_E C_P) / (tr C_E tr C_P), as a mean of squared products of rows, without a matrix C. */
function energy(tokens: Table, positions: Table, centred: boolean): number {
  const [t, p] = [tokens, positions].map((table) => {
    const rows = Array.from({ length: table.rows }, (_, row) => [
      ...table.data.slice(row * table.columns, (row + 1) * table.columns),
    ]);
    if (!centred) return rows;
    const mean = (rows[0] as number[]).map(
      (_, c) => rows.reduce((sum, row) => sum + (row[c] as number), 0) / rows.length,
    );
    return rows.map((row) => row.map((value, c) => value - (mean[c] as number)));
  }) as [number[][], number[][]];
  const dot = (a: number[], b: number[]) => a.reduce((sum, value, c) => sum + value * (b[c] as number), 0);
  let products = 0;
  for (const tokenRow of t) for (const positionRow of p) products += dot(tokenRow, positionRow) ** 2;
  const size = (rows: number[][]) => rows.reduce((sum, row) => sum + dot(row, row), 0);
  return (tokens.columns * products) / (size(t) * size(p));
}

test.each([
  { k: 4, seed: 1 },
  { k: 96, seed: 4294967295 },
])('seeded, %o: chance', async (settings) => {
  const result = await run(overlap, { tables: 'seeded', ...settings });
  expectSoundPictures(result);
  const { data } = result;
  // With 512 random rows and 128 sinusoidal ones, A can be expected to be 1 to within about a tenth.
  expect(Math.abs(data.raw - 1)).toBeLessThan(0.15);
  expect(Math.abs(data.centred - 1)).toBeLessThan(0.15);
  const total = [...data.shares].reduce((sum: number, share: number) => sum + share, 0);
  // A sinusoid of 128 positions has fewer than 96 directions.
  expect(data.dimensions).toBeLessThanOrEqual(settings.k);
  expect(total).toBeCloseTo(data.dimensions, 8);
  expect(data.reached.at(-1)).toBeCloseTo(1, 10);
  expect(data.chance).toBeCloseTo(data.dimensions / 384, 12);
});

test('of tables 8 channels wide, as a reader’s own may be, the eighth is one direction', async () => {
  const { data, figure, state } = await run(overlap, { tables: 'seeded' });
  const narrow = { ...data, d_model: 8, shares: data.shares.slice(0, 8), reached: data.reached.slice(-8) };
  expect(figure.describe(narrow, state)).toMatch(/ The 1 direction in which .*, an eighth of all, holds /);
  expect(figure.readout(narrow, state, { i: 0, j: 0 }).at(-1)).toMatch(/ The first holds /);
  expect(figure.readout(narrow, state, { i: 0, j: 1 }).at(-1)).toMatch(/ The first 2 hold /);
});

test('the overlap of seeded tables, from the rows themselves', async () => {
  const superpose = await load();
  const { data } = await run(overlap, { tables: 'seeded', seed: 3 });
  const tokens = superpose.randomNormal({ rows: 512, columns: 384, seed: 3 });
  const positions = superpose.sinusoidal({ positions: 128, d_model: 384 });
  expect(data.raw).toBeCloseTo(energy(tokens, positions, false), 9);
  expect(data.centred).toBeCloseTo(energy(tokens, positions, true), 9);
});

test.runIf(inject('withModel'))(
  'the overlap of MiniLM’s tables, from the rows that the finding names',
  async () => {
    const result = await run(overlap);
    expectSoundPictures(result);
    const { data, figure, state } = result;
    expect(figure.source(state)).toBe('trained');
    const finding = [figure.describe(data, state), figure.remark?.(data, state)].join(' ');
    const named = [...(finding.match(/tokens (\d.*) of the vocabulary/)?.[1] ?? '').matchAll(/(\d+)–(\d+)/g)];
    const ids = named.flatMap(([, from, to]) =>
      Array.from({ length: Number(to) - Number(from) + 1 }, (_, place) => Number(from) + place),
    );
    expect(ids).toHaveLength(512);
    const model = await loadMiniLM(await load());
    const { token, position } = await model.rows({ ids });
    const positions = { data: position.data.slice(0, 128 * 384), rows: 128, columns: 384 };
    expect(data.raw).toBeCloseTo(energy(token, positions, false), 9);
    expect(data.centred).toBeCloseTo(energy(token, positions, true), 9);
    expect(finding).toContain(data.centred.toPrecision(2));
    expect(data.centred).toBeLessThan(0.5);
  },
);
