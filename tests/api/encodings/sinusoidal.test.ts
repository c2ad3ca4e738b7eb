import type { SinusoidalOptions } from 'superpose';
import { describe, expect, test } from 'vitest';
import { builds, oneBuild, plain, relaxed } from '../support/builds.ts';
import { flat, floatsOf, largestDifference, rowOf } from '../support/numbers.ts';
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
