import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { dot, rowsOf, tableOf } from '../support/numbers.ts';

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test('lengths and cosines are those of the dot products', () => {
    const a = superpose.randomNormal({ rows: 4, columns: 7, seed: 1, precision: 'float32' });
    const b = superpose.randomNormal({ rows: 3, columns: 7, seed: 2 });
    const length = (row: ArrayLike<number>) => Math.sqrt(dot(row, row));
    const [lengths, cosines] = [superpose.rowLengths(a), superpose.rowCosines(a, b)];
    expect([cosines.rows, cosines.columns]).toEqual([4, 3]);
    rowsOf(a).forEach((row, i) => {
      expect(lengths[i]).toBeCloseTo(length(row), 13);
      rowsOf(b).forEach((other, j) => {
        expect(cosines.data[3 * i + j]).toBeCloseTo(dot(row, other) / length(row) / length(other), 13);
      });
    });
  });

  test('a sinusoid’s rows are √(d/2) long, and two of them at cos of each angle between', () => {
    const table = superpose.sinusoidal({ positions: 9, d_model: 32 });
    for (const length of superpose.rowLengths(table)) expect(length).toBeCloseTo(4, 13);
    let expected = 0;
    for (const w of superpose.sinusoidalFrequencies({ d_model: 32 })) expected += Math.cos(5 * w) / 16;
    expect(superpose.rowCosines(table, table).data[9 * 2 + 7]).toBeCloseTo(expected, 13);
  });

  test('a row of zeros has no direction; other widths are refused', () => {
    const zero = tableOf([[0, 0]]);
    expect(superpose.rowCosines(zero, tableOf([[1, 2]])).data[0]).toBeNaN();
    expect(superpose.rowLengths(zero)[0]).toBe(0);
    expect(() => superpose.rowCosines(zero, tableOf([[1]]))).toThrow('second must have 2 columns; it has 1');
  });
});
