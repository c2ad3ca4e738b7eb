import { load } from 'superpose';
import { expect, test } from 'vitest';
import * as gram from '../../web/figures/gram.ts';
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

test('the spreads of science: centred 8.30 and 8.15, sines 6.08 and 6.61', async () => {
  const spreads = async (encoding: string) =>
    (await run(gram, { encoding })).data.spreads.slice(1, 3).map((spread: number) => spread.toFixed(2));
  expect(await spreads('interleaved')).toEqual(['8.30', '6.08']);
  expect(await spreads('tensor2tensor')).toEqual(['8.15', '6.61']);
});

const shift = (settings: Record<string, number>) => run(gram, { of: 'shift', ...settings });

test.each([{ k: 1, d: 8, scale: 0 }, { k: 64, d: 256, scale: 2, seed: 4294967295 }, { scale: 1 }, { d: 64 }])(
  'shifted by %o, it is drawn',
  async (settings) => {
    const result = await shift(settings);
    expectSoundPictures(result);
    const finding = result.figure.describe(result.data, result.state);
    if (result.state.scale === 0) expect(finding).toContain('nothing else to move');
    else expect(finding).toContain('does not follow');
  },
);

test('the sum is missed by ‖(M_k − I) x‖, whatever the position; the encoding by rounding', async () => {
  const superpose = await load();
  const d = 32;
  const token = superpose.randomNormal({ rows: 1, columns: d, seed: 5 }).data.map((value) => 1.5 * value);
  // A pair of channels, turned by kw, is |2 sin(kw/2)| of its length from where it was.
  const missed = (k: number) =>
    Math.hypot(
      ...Array.from(
        token,
        (value, c) => 2 * Math.sin((k * 10_000 ** ((-2 * Math.floor(c / 2)) / d)) / 2) * value,
      ),
    );
  const { data } = await shift({ d, k: 9, scale: 1.5, seed: 5 });
  for (const k of [1, 2, 9, 64]) expect(data.sumErrors[k - 1]).toBeCloseTo(missed(k), 11);
  expect(data.tokenLength).toBeCloseTo(Math.hypot(...token), 12);
  expect(Math.max(...data.encodingErrors)).toBeLessThan(1e-13);
  // ‖PE(p + k) − PE(p)‖² = Σ (2 − 2 cos kw)
  const frequencies = superpose.sinusoidalFrequencies({ d_model: d });
  const move = Math.sqrt([...frequencies].reduce((total, w) => total + 2 - 2 * Math.cos(9 * w), 0));
  expect(data.moves[8]).toBeCloseTo(move, 12);
});

test('another base has other products and another shift; axes and colours stay while it is moved', async () => {
  const began = await run(gram, { base: 10_000 });
  const drawn = async (base: number) => {
    const result = await run(gram, { base });
    expectSoundPictures(result);
    const { marks } = result.figure.scene(result.data, result.state, 900, began);
    const grid = marks.filter((mark) => mark.mark === 'line');
    const colours = marks.flatMap((mark) => (mark.mark === 'raster' ? [mark.low, mark.high] : []));
    return { data: result.data, axes: { grid, colours } };
  };
  const [small, usual] = [await drawn(10), await drawn(10_000)];
  expect(small.axes).toEqual(usual.axes);
  for (const [{ data }, base] of [
    [small, 10],
    [usual, 10_000],
  ] as const) {
    let sum = 0;
    for (let i = 0; i < 16; i++) sum += Math.cos(9 * base ** (-i / 16));
    expect(data.matrices[0][9]).toBeCloseTo(sum, 11);
  }
  const { data } = await shift({ base: 10, k: 9 });
  let move = 0;
  for (let i = 0; i < 16; i++) move += 2 - 2 * Math.cos(9 * 10 ** (-i / 16));
  expect(data.moves[8]).toBeCloseTo(Math.sqrt(move), 12);
  expect(Math.max(...data.encodingErrors)).toBeLessThan(1e-13);
});
