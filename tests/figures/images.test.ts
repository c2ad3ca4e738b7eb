import { expect, test } from 'vitest';
import * as images from '../../web/figures/images.ts';
import { expectSoundPictures, run } from './support.ts';

test.each([
  { grid: 2, d: 8 },
  { grid: 14, d: 768, channels: 'second' },
  { grid: 5, d: 16, seed: 4294967295, channels: 'first' },
])('%o is drawn', async (settings) => {
  expectSoundPictures(await run(images, settings));
});

/** Σ cos(w Δ) over the frequencies of one half. */
const cosines = (frequencies: number[], offset: number) =>
  frequencies.reduce((sum, w) => sum + Math.cos(w * offset), 0);

test('products of the fixed encodings are sums of cosines of the offsets', async () => {
  const [grid, d] = [5, 32];
  const mae = Array.from({ length: d / 4 }, (_, i) => 10000 ** (-i / (d / 4)));
  const t2t = Array.from({ length: d / 4 }, (_, i) => 10000 ** (-i / (d / 4 - 1)));
  for (const channels of ['all', 'first', 'second']) {
    const { data } = await run(images, { grid, d, channels });
    for (let p = 0; p < 25; p++) {
      for (let q = 0; q < 25; q++) {
        const down = Math.floor(p / 5) - Math.floor(q / 5);
        const across = (p % 5) - (q % 5);
        // MAE has the column in its first half, tensor2tensor has the row.
        const first = channels !== 'second';
        const second = channels !== 'first';
        const expected = [
          (first ? cosines(mae, across) : 0) + (second ? cosines(mae, down) : 0),
          (first ? cosines(t2t, down) : 0) + (second ? cosines(t2t, across) : 0),
        ];
        expected.forEach((value, place) => {
          expect(data.found[place].products[p * 25 + q]).toBeCloseTo(value, 10);
        });
      }
    }
  }
});

test('the mosaic has at each patch the map of its products', async () => {
  const { data } = await run(images, { grid: 3, d: 8 });
  const { products, mosaic } = data.found[3];
  // Patch (1, 2) with patch (2, 0).
  expect(mosaic[(1 * 3 + 2) * 9 + 2 * 3 + 0]).toBe(products[(1 * 3 + 2) * 9 + 2 * 3 + 0]);
  // Patch (0, 1) with patch (2, 2).
  expect(mosaic[(0 * 3 + 2) * 9 + 1 * 3 + 2]).toBe(products[1 * 9 + 8]);
});

test('the sines depend on the offset alone, a table that is drawn does not', async () => {
  const { data, figure, state } = await run(images);
  const said = figure.describe(data, state);
  expect(said).toContain(
    'The products depend on the offset alone for “MAE”, “tensor2tensor” and “one number a patch”.',
  );
  expect(said).toContain('For “learned, untrained” they do not');
  const { products, apart } = data.found[3];
  // One offset by hand: each patch with itself.
  const own = Array.from({ length: 49 }, (_, p) => products[p * 49 + p]);
  const mean = own.reduce((sum: number, value: number) => sum + value, 0) / 49;
  expect(apart).toBeGreaterThanOrEqual(Math.max(...own.map((value) => Math.abs(value - mean))) - 1e-15);
});
