import { expect, test } from 'vitest';
import * as quoted from '../../web/figures/quoted.ts';
import { expectSoundPictures, run } from './support.ts';

test('channel −16 has the quoted values at width 128 and at no other', async () => {
  const result = await run(quoted);
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
  const result = await run(quoted, { channel: -1 });
  expectSoundPictures(result);
  const { data, figure, state } = result;
  for (const value of data.values[0]?.[1] ?? []) expect(value).toBeCloseTo(Math.cos(127e-4), 7);
  expect(figure.describe(data, state)).toContain('they do not tell the width');
});

test('the paper’s frequencies, by the formula', async () => {
  const { data, figure, state } = await run(quoted);
  for (const [width, , , at63, at127] of figure.table(data, state).rows as number[][]) {
    const w = 10000 ** ((-2 * ((width as number) / 2 - 16)) / (width as number));
    expect(at63).toBeCloseTo(Math.cos(63 * w), 6);
    expect(at127).toBeCloseTo(Math.cos(127 * w), 6);
  }
});
