// The figure "dot-products": sums of its terms, axes while ρ is dragged, and recipes for the size of rows.
import { describe, expect, inject, test } from 'vitest';
import * as dotProducts from '../../web/figures/dotProducts.ts';
import { cursorAt, type LineMark, type Scene } from '../../web/plot/scene.ts';
import { expectSoundPictures, run } from './support.ts';

type Nine = [unknown, unknown, unknown, unknown, number, number, number, number, number, number];

test.each([
  { n: 2, d: 2, scale: 0 },
  { n: 128, d: 1024, scale: 10, positions: 'random' },
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

test('while ρ is dragged, axes stay until dots would leave them, and then are longer', async () => {
  const start = await run(dotProducts, { n: 6, scale: 1 });
  const dragged = async (scale: number) => {
    const { figure, data, state } = await run(dotProducts, { n: 6, scale });
    return figure.scene(data, state, 900, start);
  };
  const ticks = ({ marks }: Scene) =>
    marks.flatMap((mark) => (mark.mark === 'text' && /^−?\d+$/.test(mark.text) ? [mark.text] : []));
  const scene = start.figure.scene(start.data, start.state, 900);
  expect(ticks(await dragged(0.95))).toEqual(ticks(scene));
  expect(ticks(await dragged(1.05))).toEqual(ticks(scene));
  const loud = await dragged(10);
  expect(ticks(loud)).not.toEqual(ticks(scene));
  const all = loud.regions[0]?.pick as { points: { cursors: unknown[] } };
  expect(all.points.cursors).toHaveLength(15);
});

test('a dot is off the line by its cross terms, marked in their colours', async () => {
  const { figure, data, state } = await run(dotProducts, { n: 6 });
  const { marks } = figure.scene(data, state, 900);
  const line = (matching: (mark: LineMark) => boolean) =>
    marks.find((mark): mark is LineMark => mark.mark === 'line' && matching(mark)) as LineMark;
  const [diagonal, first, second] = [
    line(({ dashed }) => !!dashed),
    line(({ term }) => term === 'token-position'),
    line(({ term }) => term === 'position-token'),
  ];
  const slope = (diagonal.y2 - diagonal.y1) / (diagonal.x2 - diagonal.x1);
  expect(first.y1).toBeCloseTo(diagonal.y1 + slope * (first.x1 - diagonal.x1), 6);
  expect(second.y1).toBeCloseTo(first.y2, 9);
});

test('it says when positions are loud', async () => {
  const sentence = async (scale: number) => {
    const { figure, data, state } = await run(dotProducts, { scale });
    return figure.describe(data, state);
  };
  expect(await sentence(1)).not.toContain('loud');
  expect(await sentence(10)).toContain('Positions are loud here');
});

describe('where recipes begin', () => {
  const withRecipes = (settings: object) => run(dotProducts, { recipes: 'yes', ...settings });
  const lanesOf = ({ regions }: Scene) => regions.filter(({ pick }) => pick === 'nothing');

  test.each([2, 16, 64, 1024])('at d = %i each has its lane, and a press on it sets its ρ', async (d) => {
    const result = await withRecipes({ d });
    expectSoundPictures(result);
    // Expected values of ρ, by hand: a sinusoid is √(d/2) long, and N(0, 1) √d; PyTorch's two tables are
    // equally long, BERT's too, and GPT-2's positions are half as long as its tokens.
    const expected = [1, Math.sqrt(d), Math.SQRT2, Math.SQRT2, Math.SQRT1_2];
    const scene = result.figure.scene(result.data, result.state, 350);
    const lanes = lanesOf(scene);
    expect(lanes).toHaveLength(expected.length);
    for (const [lane, scale] of expected.entries()) {
      const { sets, x, y, width, height } = lanes[lane] as (typeof lanes)[0];
      expect(height).toBeGreaterThanOrEqual(22);
      const pressed = cursorAt(scene, x + width / 2, y + height / 2)?.region.sets;
      expect(pressed).toEqual(sets);
      // A recipe whose ρ lies beyond the slider promises nothing.
      if (scale > 10) expect(sets).toBeUndefined();
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
