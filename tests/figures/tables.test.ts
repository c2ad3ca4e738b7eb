import { readFileSync } from 'node:fs';
import { load, loadMiniLM } from 'superpose';
import { expect, inject, test } from 'vitest';
import * as tables from '../../web/figures/tables.ts';
import { expectSoundPictures, run } from './support.ts';

// From the published weights, in numpy.
const oracle = JSON.parse(readFileSync(new URL('../reference/minilm.json', import.meta.url), 'utf8'));

test.runIf(inject('withModel'))('lengths and cosines are those of the published weights', async () => {
  const result = await run(tables);
  expectSoundPictures(result);
  const { position, segment, lags, token, cosines, tokens, meanSize, chance } = result.data;
  const { position_norm, segment_norm, position_cosine_by_lag, mean_absolute_cosine } = oracle.tables;
  const mean = (position as Float64Array).reduce((a, b) => a + b) / 512;
  expect(mean).toBeCloseTo(position_norm.mean, 9);
  expect(position[0]).toBeCloseTo(position_norm.first, 9);
  expect(segment).toBeCloseTo(segment_norm, 9);
  expect(chance).toBeCloseTo(mean_absolute_cosine.random_pair, 9);
  for (const { lag, mean: expected } of position_cosine_by_lag)
    expect(lags[lag - 1]).toBeCloseTo(expected, 9);

  // Rows of the sentence, by definition.
  const model = await loadMiniLM(await load());
  const sentence = model.tokenize(String(result.state.text));
  const rows = await model.summands(sentence);
  const row = (table: typeof rows.token, i: number) => [...table.data.subarray(i * 384, (i + 1) * 384)];
  const n = tokens.length;
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const t = row(rows.token, i);
    expect(token[i]).toBeCloseTo(Math.hypot(...t), 9);
    for (let j = 0; j < n; j++) {
      const p = row(rows.position, j);
      const cosine = t.reduce((a, x, c) => a + x * (p[c] as number), 0) / Math.hypot(...t) / Math.hypot(...p);
      expect(cosines[i * n + j]).toBeCloseTo(cosine, 9);
      sum += Math.abs(cosine);
    }
  }
  expect(meanSize).toBeCloseTo(sum / n / n, 9);
  expect(result.figure.describe(result.data, result.state)).toContain(
    `|cosine| of ${(sum / n / n).toPrecision(2)}`,
  );
});

test.runIf(inject('withModel')).each(['', 'a', 'word '.repeat(400)])(
  'a text of any length: %#',
  async (text) => {
    const result = await run(tables, { text });
    expectSoundPictures(result);
    expect(result.data.tokens.length).toBeLessThanOrEqual(128);
    expect(result.figure.remark?.(result.data, result.state) === '').toBe(text === 'a');
  },
);

test('channel −16 has the quoted values at width 128 and at no other', async () => {
  const result = await run(tables, { of: 'quoted' });
  expectSoundPictures(result);
  const { data, figure, state } = result;
  // tensor2tensor: n = 64 frequencies, base^(−i/63); channel −16 is the cosine of frequency 48.
  const value = (p: number) => Math.cos(p * 10000 ** (-48 / 63));
  const at = data.widths.indexOf(128);
  expect(data.values[0]?.[0]?.[at]).toBeCloseTo(value(63), 7);
  expect(data.values[0]?.[1]?.[at]).toBeCloseTo(value(127), 7);
  expect([value(63), value(127)].map((exact) => exact.toFixed(7))).toEqual(['0.9984067', '0.9935305']);
  expect(data.matching).toEqual([128]);
  const finding = figure.describe(data, state);
  expect(finding).toContain('only 128 prints both');
  // Width 512: frequency 240 of 256.
  expect(finding).toContain(Math.cos(63 * 10000 ** (-240 / 255)).toFixed(8));
  expect(finding).toContain('0.99976170');
});

test('channel −1 is the same at every width', async () => {
  const result = await run(tables, { of: 'quoted', channel: -1 });
  expectSoundPictures(result);
  const { data, figure, state } = result;
  for (const value of data.values[0]?.[1] ?? []) expect(value).toBeCloseTo(Math.cos(127e-4), 7);
  expect(figure.describe(data, state)).toContain('width cannot be told from these numbers');
});

test('the paper’s frequencies, by the formula', async () => {
  const { data, figure, state } = await run(tables, { of: 'quoted' });
  for (const [width, , , at63, at127] of figure.table(data, state).rows as number[][]) {
    const w = 10000 ** ((-2 * ((width as number) / 2 - 16)) / (width as number));
    expect(at63).toBeCloseTo(Math.cos(63 * w), 6);
    expect(at127).toBeCloseTo(Math.cos(127 * w), 6);
  }
});
