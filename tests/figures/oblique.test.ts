// The figure "oblique", against gains that are computed from principal angles.
import { load } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import * as oblique from '../../web/figures/oblique.ts';
import { column, expectSoundPictures, run } from './support.ts';

type Vectors = readonly (readonly number[])[];

const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, x, c) => sum + x * (b[c] as number), 0);

/**
 * Each vector minus its projection onto orthonormal ones; twice, because the first leaves rounding in them.
 */
function outside(vectors: Vectors, basis: Vectors): number[][] {
  const once = (vector: readonly number[]) =>
    basis.reduce<readonly number[]>((rest, along) => {
      const part = dot(rest, along);
      return rest.map((x, c) => x - part * (along[c] as number));
    }, vector);
  return vectors.map((vector) => [...once(once(vector))]);
}

/** An orthonormal basis of the span of independent vectors, by Gram and Schmidt. */
function basisOf(vectors: Vectors): number[][] {
  const basis: number[][] = [];
  for (const vector of vectors) {
    const [rest = []] = outside([vector], basis);
    const length = Math.hypot(...rest);
    basis.push(rest.map((x) => x / length));
  }
  return basis;
}

/** The gain computed another way: 1 / sin of the smallest principal angle, from bases by Gram and Schmidt. */
async function gainByAngles(d: number, k1: number, k2: number, seed: number): Promise<number> {
  const superpose = await load();
  const columns = (count: number, all: number, stream: number) => {
    const { data } = superpose.randomNormal({ rows: d, columns: all, seed, stream });
    return Array.from({ length: count }, (_, column) =>
      Array.from({ length: d }, (_, row) => data[row * all + column] as number),
    );
  };
  const [tokens, positions] = [basisOf(columns(k1, k1, 0)), basisOf(columns(k2, d, 1))];
  // The sines of the principal angles are the singular values of what lies outside.
  const data = Float64Array.from(outside(tokens, positions).flat());
  const { singularValues } = superpose.ranks({ table: { data, rows: k1, columns: d } });
  return 1 / (singularValues[k1 - 1] as number);
}

test.each([
  { d: 8, k1: 1, k2: 1, seed: 1 },
  { d: 32, k1: 12, k2: 12, seed: 1 },
  { d: 16, k1: 7, k2: 9, seed: 4294967295 },
  { d: 64, k1: 24, k2: 40, seed: 3 },
])('%o: the gain is 1 / sin θ, and no noise grows more', async (settings) => {
  const result = await run(oblique, settings);
  expectSoundPictures(result);
  const { d, k1, k2, seed } = settings;
  const expected = await gainByAngles(d, k1, k2, seed);
  const gains = column(result, 'gain, 1 / sin θ');
  const shown = gains[column(result, 'dimensions of positions').indexOf(k2)] as number;
  expect(Math.abs(shown / expected - 1)).toBeLessThan(1e-9 * expected);
  // The rounding of the sum, d + k1 terms of a few units, grows at most by the gain.
  expect(result.data.exactError).toBeLessThan(1e-13 * d * shown);
  const [largest, median] = ['largest error / noise', 'median error / noise'].map((name) =>
    column(result, name),
  );
  const readable = gains.filter((gain) => typeof gain === 'number');
  for (const [place, gain] of readable.entries()) {
    expect(largest?.[place]).toBeLessThanOrEqual(gain * (1 + 1e-12));
    expect(median?.[place]).toBeLessThanOrEqual(largest?.[place] as number);
  }
  // More directions for positions make smaller angles, until none is left.
  expect(readable).toEqual([...readable].sort((a, b) => a - b));
  expect(gains.slice(0, readable.length)).toEqual(readable);
});

test('the ring follows its slider, also to sizes between those that are swept', async () => {
  const heights: number[] = [];
  for (const k2 of [13, 14, 15, 16]) {
    const result = await run(oblique, { d: 64, k1: 24, k2, seed: 3 });
    const { figure, data, state } = result;
    const row = column(result, 'dimensions of positions').indexOf(k2);
    const gain = column(result, 'gain, 1 / sin θ')[row] as number;
    expect(Math.abs(gain / (await gainByAngles(64, 24, k2, 3)) - 1)).toBeLessThan(1e-9);
    const { handles, marks } = figure.scene(data, state, 800);
    const { x, y } = handles?.[0] ?? expect.fail();
    const rings = marks.flatMap((mark) =>
      mark.mark === 'path' ? [...mark.d.matchAll(/^M([\d.]+),([\d.]+)a6,/g)] : [],
    );
    const [, left, middle] = rings[0] ?? expect.fail();
    expect(Number(left) + 6).toBeCloseTo(x, 0);
    expect(Number(middle)).toBeCloseTo(y, 0);
    heights.push(y);
  }
  // More directions for positions: a larger gain, higher up.
  expect(heights).toEqual([...new Set(heights)].sort((a, b) => b - a));
});

test('in channels of their own nothing grows: that is concatenation', async () => {
  const result = await run(oblique, { subspaces: 'channels', d: 64, k1: 32, k2: 32 });
  expectSoundPictures(result);
  expect(result.data.now.gain).toBeCloseTo(1, 12);
  expect(result.data.now.largest).toBeLessThanOrEqual(1);
  expect(result.data.exactError).toBe(0);
});

test.each([
  { d: 8, k1: 8, k2: 1 },
  { d: 64, k1: 64, k2: 64 },
  { d: 8, k1: 64, k2: 64 },
  { d: 16, k1: 9, k2: 8, subspaces: 'channels' },
])('%o do not fit: no matrix tells them apart', async (settings) => {
  const result = await run(oblique, settings);
  expectSoundPictures(result);
  const { k2 } = result.state;
  const row = column(result, 'dimensions of positions').indexOf(k2 as number);
  expect(column(result, 'gain, 1 / sin θ')[row]).toBe('not readable');
});

test('dragging the slanted line asks for the size whose angle is nearest, the ring for a size', async () => {
  const { figure, data, state } = await run(oblique);
  const [ring, tip] = figure.scene(data, state, 900).handles ?? [];
  expect(ring?.at(ring.x, 0)).toBeCloseTo(12, 9);
  expect(tip?.at(tip.x, tip.y)).toBeCloseTo(12, 9);
  for (const k2 of [3, 6, 18]) {
    const other = await run(oblique, { k2 });
    const [to, end] = figure.scene(other.data, other.state, 900).handles ?? [];
    expect(ring?.at(to?.x ?? 0, 0)).toBeCloseTo(k2, 9);
    expect(tip?.at(end?.x ?? 0, end?.y ?? 0)).toBeCloseTo(k2, 9);
  }
  // A right angle whatever their size: there is nothing to drag but the size.
  const channels = await run(oblique, { subspaces: 'channels' });
  expect(figure.scene(channels.data, channels.state, 900).handles).toHaveLength(1);
  const none = await run(oblique, { k2: 30 });
  expect(figure.scene(none.data, none.state, 900).handles).toHaveLength(1);
});
