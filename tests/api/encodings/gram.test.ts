import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { dot, rowsOf, sum, tableOf } from '../support/numbers.ts';

const paper = { positions: 64, d_model: 32, layout: 'interleaved', spacing: 'd_model' } as const;
const tensor2tensor = { ...paper, layout: 'concatenated', spacing: 'timescales' } as const;

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test.each([
    [paper, 8.3, 6.08],
    [tensor2tensor, 8.15, 6.61],
  ])('spreads of $layout, $spacing', (options, centred, sines) => {
    const spreads = superpose.gramSpreads({ ...options, seed: 1 });
    expect(spreads.whole).toBeLessThan(1e-12);
    // The form has a and b from N(0, 1), twice for each pair. Each |a| meets two entries, whose angles, up to
    // 64, are rounded, and at most 2 d sums and products; a spread is the difference of two such values.
    const ab = superpose.randomNormal({ rows: 16, columns: 2, seed: 1, stream: 1 }).data;
    const ofForm = 2 * sum(ab.map(Math.abs));
    expect(spreads.rotationForm).toBeLessThan(2 * ofForm * (2 * (64 + 1) + 2 * 32) * 2 ** -53);
    expect(spreads.centred).toBeCloseTo(centred, 2);
    expect(spreads.sines).toBeCloseTo(sines, 2);
    expect(spreads.randomForm).toBeGreaterThan(5);
    expect(superpose.gramSpreads({ ...options, seed: 2 }).randomForm).not.toBe(spreads.randomForm);
  });

  test('the Gram matrix is all dot products, from either precision', () => {
    const table = superpose.randomNormal({ rows: 5, columns: 7, seed: 3, precision: 'float32' });
    const gram = superpose.gram(table);
    expect([gram.rows, gram.columns, gram.data.constructor]).toEqual([5, 5, Float64Array]);
    rowsOf(table).forEach((row, p) => {
      rowsOf(table).forEach((other, q) => {
        expect(gram.data[5 * p + q]).toBeCloseTo(dot(row, other), 13);
      });
    });
    expect(superpose.gram({ data: new Float64Array(), rows: 0, columns: 3 }).data).toHaveLength(0);
  });

  test('the matrices that the spreads are of', () => {
    const { matrices, ...spreads } = superpose.gramSpreads({ ...paper, seed: 1 });
    const table = superpose.sinusoidal(paper);
    expect(matrices.whole).toEqual(superpose.gram(table).data);
    for (const [name, spread] of Object.entries(spreads)) {
      const data = matrices[name as keyof typeof matrices];
      expect(superpose.toeplitzSpread({ data, rows: 64, columns: 64 })).toBe(spread);
    }
    // x'Ay by hand, with the form that the seed draws.
    const form = superpose.randomNormal({ rows: 32, columns: 32, standardDeviation: 'fan_in', seed: 1 });
    const [x, y] = [rowsOf(table)[3], rowsOf(table)[60]] as [Float64Array, Float64Array];
    const product = sum(rowsOf(form).map((row, i) => (x[i] as number) * dot(row, y)));
    expect(matrices.randomForm[3 * 64 + 60]).toBeCloseTo(product, 12);
  });

  test('means by offset, written out', () => {
    const found = superpose.offsetMeans(
      tableOf([
        [1, 2],
        [6, 5],
      ]),
    );
    expect([...found.means]).toEqual([6, 3, 2]);
    expect([...found.kernel]).toEqual([2.5, -0.5, -1.5]);
    expect([found.mean, found.apart]).toEqual([3.5, 2]);
    expect(found.share).toBeCloseTo(9 / 17, 15);
    expect(() => superpose.offsetMeans(tableOf([[1, 2]]))).toThrow('must have 1 columns; it has 2');
  });

  test('the spread of a matrix written out', () => {
    const rows = [
      [1, 2, 3],
      [4, 1, 2],
      [5, 7, 1],
    ];
    expect(superpose.toeplitzSpread(tableOf(rows))).toBe(3);
    expect(superpose.toeplitzSpread(tableOf([[5]]))).toBe(0);
    expect(superpose.toeplitzSpread({ data: new Float64Array(), rows: 0, columns: 1 })).toBe(0);
  });
});
