// What stands between a number and the picture: colours of maps, bins of histograms.
import { bin } from 'd3-array';
import { load } from 'superpose';
import { expect, test } from 'vitest';
import { colourStep, colourTable } from '../../web/plot/colour.ts';
import { counts } from '../../web/plot/parts.ts';

const drawn = async (columns: number, seed: number) =>
  (await load()).randomUniform({ rows: 1, columns, seed }).data;

test('a colour is the nearest of 256 steps from low to high, and the end one beyond', async () => {
  for (const [low, high] of [
    [-1, 1],
    [0, 1e-9],
    [-3e5, -2e5],
  ] as const) {
    for (const part of await drawn(2000, 1)) {
      const value = low + (1.4 * part - 0.2) * (high - low);
      const step = colourStep(value, low, high);
      const wanted = Math.round((255 * (value - low)) / (high - low));
      expect(step).toBe(Math.max(0, Math.min(255, wanted)) + 0);
    }
  }
  expect([-Infinity, -1, 0, 1, Infinity].map((value) => colourStep(value, -1, 1))).toEqual([
    0, 0, 128, 255, 255,
  ]);
  expect(colourStep(3, 2, 2)).toBe(0);
});

test('a diverging scale is blue below zero and red above it, on light paper and on dark', () => {
  for (const theme of ['light', 'dark'] as const) {
    const table = colourTable('diverging', theme);
    const at = (value: number) => {
      const from = 3 * colourStep(value, -1, 1);
      return { red: table[from] as number, blue: table[from + 2] as number };
    };
    for (const size of [0.3, 0.6, 1]) {
      expect(at(-size).blue).toBeGreaterThan(at(-size).red);
      expect(at(size).red).toBeGreaterThan(at(size).blue);
    }
  }
});

test('bins hold what d3 puts into them, the largest value in the last', async () => {
  for (const count of [1, 7, 64]) {
    const values = [...(await drawn(1000, 2))].map((part) => 5 * part - 2.3);
    const [low, high] = [-2, 2];
    const edges = Array.from({ length: count - 1 }, (_, k) => low + ((high - low) * (k + 1)) / count);
    const wanted = bin().domain([low, high]).thresholds(edges)([...values, low, high]);
    expect(counts([...values, low, high], low, high, count)).toEqual(wanted.map((one) => one.length));
  }
});
