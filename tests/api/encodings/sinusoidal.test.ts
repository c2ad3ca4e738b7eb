import type { SinusoidalOptions, Superpose, Table } from 'superpose';
import { describe, expect, test } from 'vitest';
import { builds, oneBuild, plain, relaxed } from '../support/builds.ts';
import { dot, flat, floatsOf, largestDifference, mapTable, mean, rowOf, rowsOf } from '../support/numbers.ts';
import { sinusoidal as oracle, type SinusoidalTable, sinusoidalTables } from '../support/oracles.ts';

const optionsOf = (oracle: SinusoidalTable): SinusoidalOptions<'float64'> => ({
  positions: oracle.positions,
  d_model: oracle.width,
  layout: oracle.layout,
  spacing: oracle.denominator,
  base: oracle.base,
  firstPosition: oracle.first,
});

const paper = { layout: 'interleaved', spacing: 'd_model' } as const;
const tensor2tensor = { layout: 'concatenated', spacing: 'timescales' } as const;
const transformerXl = { layout: 'concatenated', spacing: 'd_model' } as const;
const layouts = [paper, tensor2tensor, transformerXl];

/** The Gram matrix of a table's rows, [n, n]. */
function gram(superpose: Superpose, table: Table<Float64Array>): Float64Array {
  const nothing = { data: new Float64Array(table.rows), rows: table.rows, columns: 1 };
  return superpose.dotProducts({ token: table, position: nothing })['token-token'];
}

/** The largest difference between two entries of one diagonal: 0 for a Toeplitz matrix. */
function spread(matrix: Float64Array, n: number): number {
  let widest = 0;
  for (let lag = 0; lag < n; lag++) {
    const diagonal = Array.from({ length: n - lag }, (_, i) => matrix[i * n + i + lag] as number);
    widest = Math.max(widest, Math.max(...diagonal) - Math.min(...diagonal));
  }
  return widest;
}

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test.each(sinusoidalTables)('$layout, $denominator, $positions × $width', (oracle) => {
    const { data, rows, columns } = superpose.sinusoidal(optionsOf(oracle));
    expect([rows, columns]).toEqual([oracle.positions, oracle.width]);
    expect(largestDifference(data, flat(oracle.table))).toBeLessThan(1e-14);
    expect(
      largestDifference(superpose.sinusoidalFrequencies(optionsOf(oracle)), oracle.frequencies),
    ).toBeLessThan(1e-14);
  });

  test.each(sinusoidalTables)(
    'float32 is float64 rounded: $layout, $denominator, $positions × $width',
    (oracle) => {
      const options = optionsOf(oracle);
      const single = superpose.sinusoidal({ ...options, precision: 'float32' });
      expect(single.data).toBeInstanceOf(Float32Array);
      expect(single.data).toEqual(floatsOf(superpose.sinusoidal(options).data, 'float32'));
    },
  );

  test('float32 does not lose the angle at far positions', () => {
    const options = { positions: 1, d_model: 64, firstPosition: 1_000_000 };
    const single = superpose.sinusoidal({ ...options, precision: 'float32' });
    expect(single.data).toEqual(floatsOf(superpose.sinusoidal(options).data, 'float32'));
  });

  // Both argument pairs, so that the width and the length cannot be confused.
  test.each(oracle.quoted.values)(
    'the quoted value of $index',
    ({ index, length, channels, row, channel, value }) => {
      const options = index.startsWith('t2t') ? tensor2tensor : paper;
      const table = superpose.sinusoidal({ positions: length, d_model: channels, ...options });
      expect(Math.abs((rowOf(table, row)[channel] as number) - value)).toBeLessThan(1e-13);
    },
  );

  test.each(layouts)('the Gram matrix is Toeplitz: $layout, $spacing', (options) => {
    const n = 64;
    const table = superpose.sinusoidal({ positions: n, d_model: 32, ...options });
    const products = gram(superpose, table);
    expect(spread(products, n)).toBeLessThan(1e-12);
    expect(Math.abs((products[0] as number) - 16)).toBeLessThan(1e-12);

    // It is not Toeplitz once LayerNorm has subtracted each row's mean, nor with the sines alone.
    const centred = mapTable(table, (value, row) => value - mean(rowOf(table, row)));
    expect(spread(gram(superpose, centred), n)).toBeGreaterThan(8);
    const isSine = (channel: number) => (options.layout === 'interleaved' ? channel % 2 === 0 : channel < 16);
    const sines = mapTable(table, (value, _, channel) => (isSine(channel) ? value : 0));
    expect(spread(gram(superpose, sines), n)).toBeGreaterThan(6);
  });

  test.each(layouts)('a shift by 7 positions is one rotation of each pair: $layout, $spacing', (options) => {
    const pairs = 24;
    const table = superpose.sinusoidal({ positions: 1000, d_model: 2 * pairs, ...options });
    const frequencies = superpose.sinusoidalFrequencies({ d_model: 2 * pairs, ...options });
    const place = (i: number) =>
      (options.layout === 'interleaved' ? [2 * i, 2 * i + 1] : [i, pairs + i]) as [number, number];
    const rotated = rowsOf(table).map((row) => {
      const out = new Float64Array(2 * pairs);
      frequencies.forEach((w, i) => {
        const [s, c] = place(i);
        out[s] = dot([Math.cos(7 * w), Math.sin(7 * w)], [row[s] as number, row[c] as number]);
        out[c] = dot([-Math.sin(7 * w), Math.cos(7 * w)], [row[s] as number, row[c] as number]);
      });
      return out;
    });
    for (let row = 0; row + 7 < table.rows; row++) {
      expect(largestDifference(rotated[row] as Float64Array, rowOf(table, row + 7))).toBeLessThan(2e-13);
    }
  });

  test('an odd width ends in a column of zeros when concatenated and in a sine when interleaved', () => {
    const last = (options: object) =>
      rowOf(superpose.sinusoidal({ positions: 2, d_model: 7, ...options }), 1)[6];
    expect(last(tensor2tensor)).toBe(0);
    expect(last(paper)).toBeCloseTo(Math.sin(10000 ** (-6 / 7)), 14);
  });

  test('no positions are an empty table', () => {
    expect(superpose.sinusoidal({ positions: 0, d_model: 8 })).toEqual({
      data: new Float64Array(),
      rows: 0,
      columns: 8,
    });
  });

  test('left out, the options are those of the paper', () => {
    const explicit = {
      positions: 9,
      d_model: 12,
      ...paper,
      base: 10000,
      firstPosition: 0,
      precision: 'float64',
    } as const;
    expect(superpose.sinusoidal({ positions: 9, d_model: 12 })).toEqual(superpose.sinusoidal(explicit));
  });
});

test.skipIf(oneBuild)('both builds give the same bits', () => {
  const options = { positions: 300, d_model: 96 };
  expect(relaxed.sinusoidal(options)).toEqual(plain.sinusoidal(options));
});
