import { load } from 'superpose';
import { expect, test } from 'vitest';
import * as shift from '../../web/figures/shift.ts';
import { expectSoundPictures, run } from './support.ts';

test.each([
  { k: 1, p: 0, d: 8, scale: 0 },
  { k: 64, p: 63, d: 256, scale: 2, seed: 4294967295 },
  { scale: 1 },
  {},
])('%o is drawn', async (settings) => {
  const result = await run(shift, settings);
  expectSoundPictures(result);
  const finding = result.figure.describe(result.data, result.state);
  if (result.state.scale === 0) expect(finding).toContain('nothing else to move');
  else expect(finding).toContain('does not follow');
});

test('the sum is missed by ‖(M_k − I) x‖, whatever the position; the encoding by rounding', async () => {
  const superpose = await load();
  const d = 32;
  const token = superpose.randomNormal({ rows: 1, columns: d, seed: 5 }).data.map((value) => 1.5 * value);
  const missed = (offset: number) => {
    const { data } = superpose.shiftOperator({ d_model: d, offset });
    return Math.hypot(
      ...Array.from(token, (value, row) =>
        token.reduce((total, other, c) => total + (data[row * d + c] as number) * other, -value),
      ),
    );
  };
  for (const p of [0, 17, 63]) {
    const { data } = await run(shift, { d, p, k: 9, scale: 1.5, seed: 5 });
    for (const k of [1, 2, 9, 64]) expect(data.sumErrors[k - 1]).toBeCloseTo(missed(k), 11);
    expect(data.tokenLength).toBeCloseTo(Math.hypot(...token), 12);
    expect(Math.max(...data.encodingErrors)).toBeLessThan(1e-13);
    // ‖PE(p + k) − PE(p)‖² = Σ (2 − 2 cos kw)
    const frequencies = superpose.sinusoidalFrequencies({ d_model: d });
    const move = Math.sqrt([...frequencies].reduce((total, w) => total + 2 - 2 * Math.cos(9 * w), 0));
    expect(data.moves[8]).toBeCloseTo(move, 12);
  }
});

test('the dots: before and after on the token’s circle, the turned one on the origin’s', async () => {
  const { data } = await run(shift, { k: 7, p: 11 });
  for (const { frequency, token, before, after, turned } of data.pairs) {
    const on = (point: number[], p: number) => {
      expect(point[0]).toBeCloseTo(token[0] + Math.sin(frequency * p), 11);
      expect(point[1]).toBeCloseTo(token[1] + Math.cos(frequency * p), 11);
    };
    on(before, 11);
    on(after, 18);
    expect(Math.hypot(...turned)).toBeCloseTo(Math.hypot(...before), 11);
    const [s, c] = [Math.sin(7 * frequency), Math.cos(7 * frequency)];
    expect(turned[0]).toBeCloseTo(c * before[0] + s * before[1], 11);
    expect(turned[1]).toBeCloseTo(-s * before[0] + c * before[1], 11);
  }
});
