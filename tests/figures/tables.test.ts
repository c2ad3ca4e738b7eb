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
