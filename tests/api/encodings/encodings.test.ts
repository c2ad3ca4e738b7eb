// Encodings and their measurements, through the typed API. channelsOracle.test.ts checks every number of
// tests/reference/channels.json.

import { load, type SinusoidalOptions } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { builds, oneBuild, plain, relaxed } from '../support/builds.ts';
import { dot, flat, largestDifference, rowOf, rowsOf, sum, tableOf } from '../support/numbers.ts';
import { sinusoidal as oracle, type SinusoidalTable, sinusoidalTables } from '../support/oracles.ts';

describe('channels', () => {
  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    test('by hand: singular values 4, 2, 2, 0', () => {
      const table = tableOf([
        [0, 4, 0, 0],
        [2, 0, 0, 0],
        [0, 0, 0, 2],
        [0, 0, 0, 0],
      ]);
      const ranks = superpose.ranks({ table, share: 0.67 });
      expect(largestDifference(ranks.singularValues, [4, 2, 2, 0])).toBeLessThan(1e-15);
      expect([ranks.numerical, ranks.energy]).toEqual([3, 2]);
      expect(ranks.stable).toBeCloseTo(1.5, 14);
      expect(ranks.participationRatio).toBeCloseTo(2, 14);
    });

    test('nothing has rank 0', () => {
      const empty = { data: new Float32Array(), rows: 0, columns: 3 };
      expect(superpose.channelRanges(empty)).toEqual(new Float64Array(3));
      const { numerical, stable, energy, participationRatio } = superpose.ranks({ table: empty });
      expect([numerical, stable, energy, participationRatio]).toEqual([0, 0, 0, 0]);
    });

    test('rows that are equal have no rank once their mean is taken away', () => {
      const table = tableOf([0, 1, 2].map(() => [0.1, 0.7, -1.3]));
      const { numerical, stable, energy } = superpose.ranks({ table, centred: true });
      expect([numerical, stable, energy]).toEqual([0, 0, 0]);
    });
  });
});

describe('gram', () => {
  const paper = { positions: 64, d_model: 32, layout: 'interleaved', spacing: 'd_model' } as const;
  const tensor2tensor = { ...paper, layout: 'concatenated', spacing: 'timescales' } as const;

  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    test.each([
      [paper, 8.3, 6.08],
      [tensor2tensor, 8.15, 6.61],
    ])('spreads of $layout, $spacing', (options, centred, sines) => {
      const spreadsOf = (seed: number) => {
        const { original, centred, sines, randomForm, rotationForm } = superpose.formGrams({
          ...options,
          seed,
        });
        const spread = superpose.toeplitzSpread;
        return {
          original: spread(original),
          centred: spread(centred),
          sines: spread(sines),
          randomForm: spread(randomForm),
          rotationForm: spread(rotationForm),
        };
      };
      const spreads = spreadsOf(1);
      expect(spreads.original).toBeLessThan(1e-12);
      // The form has a and b from N(0, 1), twice for each pair. Each of these multiplies two entries, whose
      // angles of up to 64 are rounded, and takes part in at most 2 d sums and products; a spread is the
      // difference of two such values.
      const ab = superpose.randomNormal({ rows: 16, columns: 2, seed: 1, stream: 1 }).data;
      const ofForm = 2 * sum(ab.map(Math.abs));
      expect(spreads.rotationForm).toBeLessThan(2 * ofForm * (2 * (64 + 1) + 2 * 32) * 2 ** -53);
      expect(spreads.centred).toBeCloseTo(centred, 2);
      expect(spreads.sines).toBeCloseTo(sines, 2);
      expect(spreads.randomForm).toBeGreaterThan(5);
      expect(spreadsOf(2).randomForm).not.toBe(spreads.randomForm);
    });

    test('the Gram matrix is all dot products', () => {
      const table = superpose.randomNormal({ rows: 5, columns: 7, seed: 3 });
      const gram = superpose.gram(table);
      expect([gram.rows, gram.columns, gram.data.constructor]).toEqual([5, 5, Float64Array]);
      rowsOf(table).forEach((row, p) => {
        rowsOf(table).forEach((other, q) => {
          expect(gram.data[5 * p + q]).toBeCloseTo(dot(row, other), 13);
        });
      });
      expect(superpose.gram({ data: new Float64Array(), rows: 0, columns: 3 }).data).toHaveLength(0);
    });

    test('whole rows, and forms that the seed draws', () => {
      const grams = superpose.formGrams({ ...paper, seed: 1 });
      const table = superpose.sinusoidal(paper);
      expect(grams.original).toEqual(superpose.gram(table));
      // x'Ay by hand, with the form that the seed draws.
      const form = superpose.randomNormal({ rows: 32, columns: 32, standardDeviation: 'fan_in', seed: 1 });
      const [x, y] = [rowsOf(table)[3], rowsOf(table)[60]] as [Float64Array, Float64Array];
      const product = sum(rowsOf(form).map((row, i) => (x[i] as number) * dot(row, y)));
      expect(grams.randomForm.data[3 * 64 + 60]).toBeCloseTo(product, 12);
      // At position 0 sines are 0 and cosines 1, so the product is the trace over the pairs' cosines.
      const pairs = superpose.randomNormal({ rows: 16, columns: 2, seed: 1, stream: 1 });
      expect(grams.rotationForm.data[0]).toBeCloseTo(sum(rowsOf(pairs).map(([a]) => a as number)), 12);
    });

    test('means by offset, written out', () => {
      const result = superpose.offsetMeans(
        tableOf([
          [1, 2],
          [6, 5],
        ]),
      );
      expect([...result.means]).toEqual([6, 3, 2]);
      expect([...result.kernel]).toEqual([2.5, -0.5, -1.5]);
      expect([result.mean, result.maxDeviation]).toEqual([3.5, 2]);
      expect(result.share).toBeCloseTo(9 / 17, 15);
    });

    test('a mean has no part in the share, even of variation that is a hundred-millionth of it', () => {
      const rows = [
        [0, 3, 1],
        [4, 2, 0],
        [1, 1, 3],
      ];
      const { share } = superpose.offsetMeans(tableOf(rows));
      const shifted = rows.map((row) => row.map((value) => 1 + 1e-8 * value));
      expect(superpose.offsetMeans(tableOf(shifted)).share).toBeCloseTo(share, 6);
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
});

describe('rotary', async () => {
  const superpose = await load({ simd: 'plain' });

  describe('beyond the trained length', () => {
    const usual = { d_head: 16, base: 10_000 };
    const frequencies = (stretch?: object) => [
      ...superpose.rotaryFrequencies({ ...usual, ...(stretch ? { stretch } : {}) } as never),
    ];

    test('two ways, by their formulas', () => {
      const theta = Array.from({ length: 8 }, (_, i) => 10_000 ** (-i / 8));
      const near = (expected: number[]) => expected.map((value) => expect.closeTo(value, 14));
      expect(frequencies()).toEqual(near(theta));
      expect(frequencies({ way: 'interpolate', factor: 4 })).toEqual(near(theta.map((w) => w / 4)));
      const parts = theta.map((w) => {
        const stays = Math.min(1, Math.max(0, ((16 * w) / (2 * Math.PI) - 0.1) / 0.9));
        return w * (stays + (1 - stays) / 4);
      });
      const ramp = { factor: 4, trained: 16, alpha: 0.1, beta: 1 };
      expect(frequencies({ way: 'parts', ...ramp })).toEqual(near(parts));
    });
  });
});

describe('shift', () => {
  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    test('the lone sine of an odd width cannot be shifted; the zeros of the other layout can', () => {
      const options = { positions: 9, d_model: 5, offset: 4 };
      expect(superpose.shiftError(options)).toBeGreaterThan(1e-3);
      expect(superpose.shiftError({ ...options, layout: 'concatenated' })).toBeLessThan(1e-14);
    });

    test('no positions, no error; no offset, no error', () => {
      expect(superpose.shiftError({ positions: 0, d_model: 4, offset: 1 })).toBe(0);
      expect(superpose.shiftError({ positions: 3, d_model: 3, offset: 0 })).toBe(0);
    });
  });
});

describe('sinusoidal', () => {
  const optionsOf = (oracle: SinusoidalTable): SinusoidalOptions => ({
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
      const { positions, firstPosition, ...spectrum } = optionsOf(oracle);
      expect(largestDifference(superpose.sinusoidalFrequencies(spectrum), oracle.frequencies)).toBeLessThan(
        1e-14,
      );
    });

    // 512 positions of 128 channels and 128 of 512, so that length and width cannot be confused.
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
      } as const;
      expect(superpose.sinusoidal({ positions: 9, d_model: 12 })).toEqual(superpose.sinusoidal(explicit));
    });
  });

  test.skipIf(oneBuild)('both builds give the same bits', () => {
    const options = { positions: 300, d_model: 96 };
    expect(relaxed.sinusoidal(options)).toEqual(plain.sinusoidal(options));
  });
});

describe('wavelengths', () => {
  const options = { d_model: 512, positions: 512 };

  /** The similarity at distance k, as a plain sum of cosines. */
  const similarityAt = (base: number, d: number, k: number) => {
    let sum = 0;
    for (let i = 0; i < d / 2; i++) sum += Math.cos(k * base ** ((-2 * i) / d));
    return sum / (d / 2);
  };

  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    test.each([
      [10, 0.46, 6, 5, 0],
      [10_000, 0.23, 43, 3284, 133],
      [1_000_000, 0.19, 24, 0, 174],
    ])('what base %i buys at 512 positions of 512 channels', (base, nearest, fallsTo, negative, below) => {
      const result = superpose.wavelengths({ ...options, base });
      expect(result.nearest).toBeCloseTo(nearest, 2);
      expect([result.nearestOffset, result.fallsTo, result.firstNegative]).toEqual([1, fallsTo, negative]);
      expect(result.belowOneTurn).toBe(below);
      expect(result.similarity).toHaveLength(20_001);
      for (const k of [0, 1, 43, 512, 20_000])
        expect(result.similarity[k]).toBeCloseTo(similarityAt(base, 512, k), 10);
      // By brute force: the nearest of all distances within the length, and the first distance of all with a
      // negative similarity.
      const squares = Array.from({ length: 511 }, (_, k) => 2 - 2 * similarityAt(base, 512, k + 1));
      expect(result.nearest).toBeCloseTo(Math.sqrt(Math.min(...squares)), 10);
      if (negative) {
        expect(similarityAt(base, 512, negative)).toBeLessThan(0);
        for (let k = 1; k < negative; k++) expect(similarityAt(base, 512, k)).toBeGreaterThanOrEqual(0);
      }
      // The closed forms, for many pairs.
      expect(result.nearest).toBeCloseTo(Math.sqrt(0.48 / Math.log(base)), 2);
      const part = Math.max(0, 1 - Math.log(512 / (2 * Math.PI)) / Math.log(base));
      expect(Math.abs(result.belowOneTurn - 256 * part)).toBeLessThan(1);
    });

    test('two wavelengths by hand', () => {
      expect(superpose.wavelengths({ d_model: 4, positions: 100, base: 1.5 }).lengths).toHaveLength(2);
      const { lengths, belowOneTurn } = superpose.wavelengths({ d_model: 4, positions: 100, base: 100 });
      expect(Array.from(lengths)).toEqual(
        [2 * Math.PI, 20 * Math.PI].map((long) => expect.closeTo(long, 12)),
      );
      expect(belowOneTurn).toBe(0);
      // Of 7 positions, cos k is largest at the last distance.
      const { nearest, nearestOffset } = superpose.wavelengths({ d_model: 2, positions: 7 });
      expect([nearest, nearestOffset]).toEqual([expect.closeTo(Math.sqrt(2 - 2 * Math.cos(6)), 12), 6]);
    });
  });

  test('similarity is computed over the length in use, and at least to 20,000', () => {
    expect(plain.wavelengths({ d_model: 8, positions: 3 }).similarity).toHaveLength(20_001);
    expect(plain.wavelengths({ d_model: 2, positions: 30_001 }).similarity).toHaveLength(30_001);
  });
});
