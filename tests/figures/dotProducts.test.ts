import { expect, inject, test } from 'vitest';
import * as dotProducts from '../../web/figures/dotProducts.ts';
import { expectSoundPictures, run } from './support.ts';

type Nine = [unknown, unknown, unknown, unknown, number, number, number, number, number, number];

test.each([
  { n: 2, d: 2, scale: 0 },
  { n: 128, d: 1024, scale: 4, positions: 'random' },
  { n: 7, d: 3, positions: 'concatenated', seed: 4294967295 },
])('%o is drawn, and each added product is the sum of its four', async (settings) => {
  const result = await run(dotProducts, settings);
  expectSoundPictures(result);
  const { rows } = result.figure.table(result.data, result.state);
  expect(rows).toHaveLength((settings.n * (settings.n - 1)) / 2);
  for (const [, , , , tokens, positions, concatenated, tp, pt, added] of rows as Nine[]) {
    const [all, two] = [tokens + positions + tp + pt, tokens + positions] as [number, number];
    // Four float32 products of d terms each: d + 4 roundings of values up to the sum of their sizes.
    const bound = (settings.d + 4) * 2 ** -23 * 40 * settings.d;
    expect(Math.abs(all - added)).toBeLessThanOrEqual(bound);
    expect(Math.abs(two - concatenated)).toBeLessThanOrEqual(bound);
  }
});

test.runIf(inject('withModel'))('a sentence has its own positions', async () => {
  const result = await run(dotProducts, { tokens: 'sentence', positions: 'learned' });
  expectSoundPictures(result);
  expect(result.figure.source(result.state)).toBe('trained');
  expect(result.figure.tokens?.(result.data, result.state)).toContain('river');
});
