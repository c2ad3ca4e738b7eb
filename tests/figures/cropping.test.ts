// Where a picture may be cut: between its parts, and not between a title and what it names.
import { expect, test } from 'vitest';
import { cropAbove } from '../../web/plot/cropping.ts';
import type { Mark, Region } from '../../web/plot/scene.ts';

const sceneOf = (marks: Mark[], regions: Region[] = []) => ({ width: 300, height: 400, marks, regions });
const box = (y: number, height: number): Mark => ({ mark: 'box', x: 0, y, width: 300, height });
const text = (y: number, more = {}): Mark => ({
  mark: 'text',
  x: 0,
  y,
  text: 'some words',
  size: 13,
  ...more,
});
const region = (y: number, height: number): Region => ({
  x: 0,
  y,
  width: 300,
  height,
  pick: 'cells',
  rows: 2,
  columns: 2,
});

test('what would be cut is left out, and nothing else', () => {
  const scene = sceneOf([box(0, 90), box(100, 90)], [region(200, 100)]);
  expect([50, 95, 150, 195, 250, 350].map((limit) => cropAbove(scene, limit))).toEqual([
    0, 95, 100, 195, 200, 350,
  ]);
});

test.each<[string, Mark]>([
  ['a line', { mark: 'line', x1: 0, y1: 180, x2: 9, y2: 120 }],
  ['a path', { mark: 'path', d: 'M0,120L9,180h20v-10' }],
  ['a path that goes up and down', { mark: 'path', d: 'M0,150v30v-60' }],
  ['dots', { mark: 'dots', x: [0, 9], y: [180, 120], radius: 2, ink: 'ink' }],
  ['a turned text', text(159, { turn: -90, text: 'x'.repeat(12) })],
  ['a text', text(133)],
])('%s is not cut', (_, mark) => {
  expect(cropAbove(sceneOf([mark]), mark.mark === 'text' && !mark.turn ? 125 : 150)).toBe(120);
});

test('a title and the rule below it go with what they name', () => {
  const rule = box(113, 2);
  expect(cropAbove(sceneOf([box(0, 80), text(108), rule, box(120, 100)]), 150)).toBe(95);
  // A text that stands farther away names something else.
  expect(cropAbove(sceneOf([box(0, 80), text(95), box(120, 100)]), 150)).toBe(120);
});

test('what ends above the limit stays, even with a text at its end', () => {
  expect(cropAbove(sceneOf([box(0, 80), text(95)]), 150)).toBe(150);
});
