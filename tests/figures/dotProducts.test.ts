import { describe, expect, inject, test } from 'vitest';
import * as dotProducts from '../../web/figures/dotProducts.ts';
import { cursorAt, type Handle, type LineMark, type Scene } from '../../web/plot/scene.ts';
import { expectSoundPictures, run } from './support.ts';

/** How far the handle is below the dashed line, in pixels. */
function far({ handles, marks }: Scene): number {
  const { x, y } = (handles as Handle[])[0] as Handle;
  const { x1, y1, x2, y2 } = marks.find(
    (mark): mark is LineMark => mark.mark === 'line' && !!mark.dashed,
  ) as LineMark;
  return y - (y1 + ((x - x1) * (y2 - y1)) / (x2 - x1));
}

type Nine = [unknown, unknown, unknown, unknown, number, number, number, number, number, number];

test.each([
  { n: 2, d: 2, scale: 0 },
  { n: 128, d: 1024, scale: 4, positions: 'random' },
  { n: 7, d: 3, positions: 'tensor2tensor', seed: 4294967295 },
])('%o is drawn, and each added product is the sum of its four', async (settings) => {
  const result = await run(dotProducts, settings);
  expectSoundPictures(result);
  const { rows } = result.figure.table(result.data, result.state);
  expect(rows).toHaveLength((settings.n * (settings.n - 1)) / 2);
  for (const [, , , , tokens, positions, concatenated, tp, pt, added] of rows as Nine[]) {
    const [all, two] = [tokens + positions + tp + pt, tokens + positions] as [number, number];
    // Four products of d terms each: d + 4 roundings of values up to the sum of their sizes.
    const bound = (settings.d + 4) * 2 ** -52 * 40 * settings.d;
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

test('pulling the handle to n times its distance from the line asks for n times ρ', async () => {
  const { figure, data, state } = await run(dotProducts, { scale: 1 });
  const [handle] = figure.scene(data, state, 900).handles ?? [];
  if (!handle) throw new Error('Nothing can be dragged.');
  expect(handle.at(handle.x, handle.y)).toBeCloseTo(1, 9);
  const line = handle.y - far(figure.scene(data, state, 900));
  for (const times of [0, 0.25, 2])
    expect(handle.at(0, line + times * (handle.y - line))).toBeCloseTo(times, 2);
  // At 0 every dot is on the line, and can be pulled off it again.
  const zero = await run(dotProducts, { scale: 0 });
  const [still] = zero.figure.scene(zero.data, zero.state, 900).handles ?? [];
  expect(still?.at(still.x, still.y)).toBeCloseTo(0, 9);
  expect(still?.at(still.x, still.y - 100)).toBeGreaterThan(0.5);
});

test('dots leave the line by their cross terms, on axes that stay while ρ is dragged', async () => {
  const start = await run(dotProducts, { n: 6, scale: 1 });
  const less = await run(dotProducts, { n: 6, scale: 0.9 });
  const ticks = (scene: { marks: { mark: string; text?: string }[] }) =>
    scene.marks.flatMap(({ mark, text }) => (mark === 'text' && /^−?\d+$/.test(text ?? '') ? [text] : []));
  const dragged = start.figure.scene(less.data, less.state, 900, start);
  const scene = start.figure.scene(start.data, start.state, 900);
  expect(ticks(dragged)).toEqual(ticks(scene));
  expect(ticks(start.figure.scene(less.data, less.state, 900))).not.toEqual(ticks(scene));
  // A tenth less of ρ: a tenth nearer to the line, in pixels of the same axes.
  expect(far(dragged) / far(scene)).toBeCloseTo(0.9, 3);
});

describe('where recipes begin', () => {
  const withRecipes = (settings: object) => run(dotProducts, { recipes: 'yes', ...settings });
  const lanesOf = ({ regions }: Scene) => regions.filter(({ pick }) => pick === 'nothing');

  test.each([2, 16, 64, 1024])('at d = %i each has its lane, and a press on it sets its ρ', async (d) => {
    const result = await withRecipes({ d });
    expectSoundPictures(result);
    // By hand: a sinusoid is √(d/2) long, N(0, 1) √d; the tables of PyTorch and BERT are alike, GPT-2's
    // positions half.
    const expected = [1, Math.sqrt(d), Math.SQRT2, Math.SQRT2, Math.SQRT1_2];
    const scene = result.figure.scene(result.data, result.state, 350);
    const lanes = lanesOf(scene);
    expect(lanes).toHaveLength(expected.length);
    for (const [lane, scale] of expected.entries()) {
      const { sets, x, y, width, height } = lanes[lane] as (typeof lanes)[0];
      expect(height).toBeGreaterThanOrEqual(22);
      const pressed = cursorAt(scene, x + width / 2, y + height / 2)?.region.sets;
      expect(pressed).toEqual(sets);
      // One that lies beyond the slider is not promised.
      if (scale > 8) expect(sets).toBeUndefined();
      else expect(Math.abs((sets?.scale as number) - scale)).toBeLessThanOrEqual(0.025);
    }
  });

  test('at its ρ, drawn rows are as loud to one another as the recipe says', async () => {
    const { data } = await withRecipes({ d: 512, n: 128 });
    for (const { positionScale, tokens, positions } of data.recipes) {
      const { data: at } = await run(dotProducts, { d: 512, n: 128, scale: 1 });
      // On the diagonals are the squares of the lengths.
      const long = (name: 'token-token' | 'position-position') =>
        Math.sqrt(Array.from({ length: 128 }, (_, i) => at[name][i * 129]).reduce((a, b) => a + b) / 128);
      const ratio = (positionScale * long('position-position')) / long('token-token');
      expect(Math.abs(ratio / (positions / tokens) - 1)).toBeLessThan(0.02);
    }
  });

  test('only when asked for, and of drawn tokens', async () => {
    const { figure, data, state } = await run(dotProducts);
    expect(lanesOf(figure.scene(data, state, 350))).toEqual([]);
    expect(figure.unused?.({ ...state, tokens: 'sentence' })).toContain('recipes');
    expect(figure.unused?.(state)).not.toContain('recipes');
  });

  test('it says how loud positions are with √d and without', async () => {
    const { figure, data, state } = await withRecipes({ scale: 8 });
    const caption = figure.describe(data, state);
    expect(caption).toContain('begins at ρ = 1, positions 0.707 times');
    expect(caption).toContain('at ρ = 8, positions 5.66 times');
    const { moments } = data;
    expect(moments['position-position'].deviation / moments['token-token'].deviation).toBeGreaterThan(20);
  });
});
