import { load } from 'superpose';
import { expect, test } from 'vitest';
import * as gram from '../../web/figures/gram.ts';
import { sinusoids } from '../../web/figures/sinusoids.ts';
import { expectSoundPictures, run } from './support.ts';

const encodings = ['interleaved', 'tensor2tensor', 'transformerXl'] as const;

test.each([
  { positions: 8, d: 8, encoding: 'interleaved' },
  { positions: 96, d: 128, encoding: 'tensor2tensor', seed: 4294967295 },
  { positions: 32, d: 16, encoding: 'transformerXl' },
])('%o is drawn', async (settings) => expectSoundPictures(await run(gram, settings)));

test.each(encodings)('%s: the matrices shown are those whose spreads are printed', async (encoding) => {
  const superpose = await load();
  for (const seed of [1, 7]) {
    const { data } = await run(gram, { encoding, seed });
    for (const [place, matrix] of data.matrices.entries()) {
      const spread = superpose.toeplitzSpread({ data: matrix, rows: 64, columns: 64 });
      expect(spread).toBeCloseTo(data.spreads[place] as number, 9);
    }
    const [whole, , , , rotation] = data.spreads;
    expect(Math.max(whole as number, rotation as number)).toBeLessThan(1e-12);
  }
});

test('as it is: the sum of cosines of the distance; centred and sines only by their definitions', async () => {
  const superpose = await load();
  for (const encoding of encodings) {
    const { data } = await run(gram, { encoding });
    const { layout, spacing } = sinusoids[encoding];
    const frequencies = superpose.sinusoidalFrequencies({ d_model: 32, spacing });
    const sum = (of: (w: number) => number) => [...frequencies].reduce((total, w) => total + of(w), 0);
    const mean = (p: number) => sum((w) => Math.sin(w * p) + Math.cos(w * p)) / 32;
    expect(layout).toBe(encoding === 'interleaved' ? 'interleaved' : 'concatenated');
    for (const [p, q] of [
      [0, 0],
      [3, 60],
      [63, 1],
    ] as [number, number][]) {
      const at = (place: number) => data.matrices[place]?.[p * 64 + q];
      const whole = sum((w) => Math.cos(w * (p - q)));
      expect(at(0)).toBeCloseTo(whole, 11);
      expect(at(1)).toBeCloseTo(whole - 32 * mean(p) * mean(q), 11);
      expect(at(2)).toBeCloseTo(
        sum((w) => Math.sin(w * p) * Math.sin(w * q)),
        11,
      );
    }
  }
});

test('the spreads of science: centred 8.30 and 8.15, sines 6.08 and 6.61', async () => {
  const spreads = async (encoding: string) =>
    (await run(gram, { encoding })).data.spreads.slice(1, 3).map((spread: number) => spread.toFixed(2));
  expect(await spreads('interleaved')).toEqual(['8.30', '6.08']);
  expect(await spreads('tensor2tensor')).toEqual(['8.15', '6.61']);
});
