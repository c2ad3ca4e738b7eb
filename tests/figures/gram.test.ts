// The figure "gram": spreads of dot products, and shifts against their formulas.
import { load } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import * as gram from '../../web/figures/gram.ts';
import { about } from '../../web/plot/format.ts';
import { column, expectSoundPictures, run } from './support.ts';

const encodings = ['interleaved', 'tensor2tensor', 'transformerXl'] as const;

test.each([
  { positions: 8, d: 8, encoding: 'interleaved' },
  { positions: 96, d: 128, encoding: 'tensor2tensor', seed: 4294967295 },
  { positions: 32, d: 16, encoding: 'transformerXl' },
])('%o is drawn', async (settings) => expectSoundPictures(await run(gram, settings)));

const forms = ['As it is', 'Rows centred', 'Sines only', 'Random matrix', 'Pairs turned'];

test.each(encodings)('%s: the spreads named are those of the products in the table', async (encoding) => {
  const superpose = await load();
  for (const seed of [1, 7]) {
    const result = await run(gram, { encoding, seed });
    const [unchanged, centred, sines, random, rotation] = forms.map((form) =>
      superpose.toeplitzSpread({
        data: Float64Array.from(column(result, form) as number[]),
        rows: 64,
        columns: 64,
      }),
    ) as [number, number, number, number, number];
    expect(Math.max(unchanged, rotation)).toBeLessThan(1e-12);
    const caption = result.figure.describe(result.data, result.state);
    for (const spread of [centred, sines, random]) expect(caption).toContain(about(spread));
    expect(caption.match(/0 \(rounding\)/g)).toHaveLength(2);
    if (encoding === 'interleaved') expect([centred.toFixed(2), sines.toFixed(2)]).toEqual(['8.30', '6.08']);
    if (encoding === 'tensor2tensor')
      expect([centred.toFixed(2), sines.toFixed(2)]).toEqual(['8.15', '6.61']);
  }
});

const shift = (settings: Record<string, number>) => run(gram, { of: 'shift', ...settings });

test.each([{ k: 1, d: 8, scale: 0 }, { k: 64, d: 256, scale: 2, seed: 4294967295 }, { scale: 1 }, { d: 64 }])(
  'shifted by %o, it is drawn',
  async (settings) => expectSoundPictures(await shift(settings)),
);

test('the sum is missed by ‖(M_k − I) x‖, whatever the position; the encoding by rounding', async () => {
  const superpose = await load();
  const d = 32;
  const token = superpose.randomNormal({ rows: 1, columns: d, seed: 5 }).data.map((value) => 1.5 * value);
  // A pair of channels that is rotated by kw ends up |2 sin(kw/2)| of its length away from where it was.
  const missed = (k: number) =>
    Math.hypot(
      ...Array.from(
        token,
        (value, c) => 2 * Math.sin((k * 10_000 ** ((-2 * Math.floor(c / 2)) / d)) / 2) * value,
      ),
    );
  const result = await shift({ d, k: 9, scale: 1.5, seed: 5 });
  const sumErrors = column(result, 'Mₖ (x + PE(p)) misses by');
  for (const k of [1, 2, 9, 64]) expect(sumErrors[k - 1]).toBeCloseTo(missed(k), 11);
  expect(result.figure.describe(result.data, result.state)).toContain(
    `of length ${about(Math.hypot(...token))}`,
  );
  expect(Math.max(...(column(result, 'Mₖ PE(p) misses by') as number[]))).toBeLessThan(1e-13);
  // ‖PE(p + k) − PE(p)‖² = Σ (2 − 2 cos kw)
  const frequencies = superpose.sinusoidalFrequencies({ d_model: d });
  const move = Math.sqrt([...frequencies].reduce((total, w) => total + 2 - 2 * Math.cos(9 * w), 0));
  expect(column(result, 'the shift itself')[8]).toBeCloseTo(move, 12);
});

test('another base has other products and another shift; axes and colours stay while it is moved', async () => {
  const began = await run(gram, { base: 10_000 });
  const drawn = async (base: number) => {
    const result = await run(gram, { base });
    expectSoundPictures(result);
    const { marks } = result.figure.scene(result.data, result.state, 900, began);
    const grid = marks.filter((mark) => mark.mark === 'line');
    const colours = marks.flatMap((mark) => (mark.mark === 'raster' ? [mark.low, mark.high] : []));
    return { result, axes: { grid, colours } };
  };
  const [small, large] = [await drawn(10), await drawn(10_000)];
  expect(small.axes).toEqual(large.axes);
  for (const [{ result }, base] of [
    [small, 10],
    [large, 10_000],
  ] as const) {
    let sum = 0;
    for (let i = 0; i < 16; i++) sum += Math.cos(9 * base ** (-i / 16));
    expect(column(result, 'As it is')[9]).toBeCloseTo(sum, 11);
  }
  const shifted = await shift({ base: 10, k: 9 });
  let move = 0;
  for (let i = 0; i < 16; i++) move += 2 - 2 * Math.cos(9 * 10 ** (-i / 16));
  expect(column(shifted, 'the shift itself')[8]).toBeCloseTo(Math.sqrt(move), 12);
  expect(Math.max(...(column(shifted, 'Mₖ PE(p) misses by') as number[]))).toBeLessThan(1e-13);
});
