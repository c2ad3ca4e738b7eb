import { expect, inject, test } from 'vitest';
import * as dotProducts from '../../web/figures/dotProducts.ts';
import type { Handle, LineMark, Scene } from '../../web/plot/scene.ts';
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
  const one = await run(dotProducts, { n: 6, scale: 1 });
  const two = await run(dotProducts, { n: 6, scale: 0.9 });
  const ticks = (scene: { marks: { mark: string; text?: string }[] }) =>
    scene.marks.flatMap(({ mark, text }) => (mark === 'text' && /^−?\d+$/.test(text ?? '') ? [text] : []));
  const dragged = one.figure.scene(two.data, two.state, 900, one);
  const scene = one.figure.scene(one.data, one.state, 900);
  expect(ticks(dragged)).toEqual(ticks(scene));
  expect(ticks(one.figure.scene(two.data, two.state, 900))).not.toEqual(ticks(scene));
  // A tenth less of ρ: a tenth nearer to the line, in pixels of the same axes.
  expect(far(dragged) / far(scene)).toBeCloseTo(0.9, 3);
});
