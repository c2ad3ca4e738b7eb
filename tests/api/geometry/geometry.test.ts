// Vectors in many dimensions: cosines, subspaces, projections, collisions.

import type { CollisionSearch, Table } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { builds, plain } from '../support/builds.ts';
import { dot, largestDifference, mean, rowsOf, sum, tableOf } from '../support/numbers.ts';

describe('collisions', () => {
  const draw = (rows: number, stream: number) => plain.randomNormal({ rows, columns: 5, seed: 8, stream });
  const tokens = draw(70, 0);
  const positions = draw(3, 1);
  const squared = (a: ArrayLike<number>, p: ArrayLike<number>, b: ArrayLike<number>) =>
    Array.from(a, (x, c) => (x + (p[c] ?? 0) - (b[c] as number)) ** 2).reduce((sum, x) => sum + x, 0);

  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    test('margins and the whole job are those of the definition', async () => {
      const search = superpose.collisionSearch({ tokens, positions });
      const [e, p] = [rowsOf(tokens), rowsOf(positions)];
      const lost = [0, 0, 0];
      e.forEach((a, word) => {
        const result = search.nearestTokens(word);
        p.forEach((added, i) => {
          const ownDistance = squared(a, added, a);
          const margins = e.map((b, other) =>
            other === word ? Infinity : (squared(a, added, b) - ownDistance) / 2,
          );
          const smallest = Math.min(...margins);
          expect(result.margins[i]).toBeCloseTo(smallest, 12);
          if (smallest < 0) lost[i] = (lost[i] as number) + 1;
        });
      });
      const progress: number[][] = [];
      const all = await search.allWords({ slice: 32, onProgress: (...at) => progress.push(at) });
      expect([...all.lost]).toEqual(lost);
      expect([...search.nearestTokens(0, 70).lost]).toEqual(lost);
      const some = await search.allWords({ words: 9, slice: 5 });
      expect([...some.lost]).toEqual([...search.nearestTokens(0, 9).lost]);
      const { bareDistances, bareMargins } = search.nearestTokens(4);
      expect(bareMargins[0]).toBeCloseTo((bareDistances[0] as number) ** 2 / 2, 14);
      const scaled = { ...positions, data: positions.data.map((value) => 0.5 * value) };
      const half = superpose.collisionSearch({ tokens, positions, positionScale: 0.5 });
      const same = superpose.collisionSearch({ tokens, positions: scaled });
      expect(half.nearestTokens(3)).toEqual(same.nearestTokens(3));
      half.delete();
      same.delete();
      expect(lost.some((count) => count > 0)).toBe(true);
      expect(progress).toEqual([
        [32, 70],
        [64, 70],
        [70, 70],
      ]);
      search.delete();
    });

    test.each([0, 10, 100])('a common offset of %i changes no neighbour', (offset) => {
      const near = plain.randomNormal({
        rows: 200,
        columns: 16,
        standardDeviation: 0.1,
        seed: 3,
      });
      const moved = { ...near, data: near.data.map((value) => value + offset) };
      const at = plain.randomNormal({
        rows: 1,
        columns: 16,
        standardDeviation: 0.1,
        seed: 4,
      });
      const search = superpose.collisionSearch({ tokens: moved, positions: at });
      const result = search.nearestTokens(0, 200);
      const e = rowsOf(moved);
      const [p = []] = rowsOf(at);
      let lost = 0;
      e.forEach((a, word) => {
        const distances = e.map((b, other) => (other === word ? Infinity : squared(a, [], b)));
        const least = Math.min(...distances);
        expect(result.bare[word]).toBe(distances.indexOf(least));
        expect(result.bareDistances[word]).toBeCloseTo(Math.sqrt(least), 12);
        const ownDistance = squared(a, p, a);
        const margins = e.map((b, other) =>
          other === word ? Infinity : (squared(a, p, b) - ownDistance) / 2,
        );
        expect(result.margins[word]).toBeCloseTo(Math.min(...margins), 12);
        lost += Number(Math.min(...margins) < 0);
      });
      expect([...result.lost]).toEqual([lost]);
      search.delete();
    });

    test('using frees it at the end of its block, also of one that is left early', () => {
      const seen: CollisionSearch[] = [];
      const leave = () => {
        using search = superpose.collisionSearch({ tokens, positions });
        seen.push(search);
        expect(search.nearestTokens(0).nearest).toHaveLength(3);
        throw new Error('left early');
      };
      expect(leave).toThrow('left early');
      expect(() => seen[0]?.nearestTokens(0)).toThrow(/deleted/);
    });

    test('a job stops between slices when it is told to', async () => {
      const search = superpose.collisionSearch({ tokens, positions });
      const controller = new AbortController();
      const slices: number[] = [];
      const job = search.allWords({
        slice: 10,
        signal: controller.signal,
        onProgress: (done) => {
          slices.push(done);
          controller.abort();
        },
      });
      await expect(job).rejects.toThrow(/abort/i);
      expect(slices).toEqual([10]);
      search.delete();
    });
  });

  // One word against a whole vocabulary. Only the numbers are checked: no test depends on a clock.
  test('a vocabulary of 30,522 by 384 fits, with 128 positions', () => {
    const table = (rows: number) => ({ data: new Float64Array(rows * 384), rows, columns: 384 });
    const search = plain.collisionSearch({ tokens: table(30522), positions: table(128) });
    expect(search.nearestTokens(1).margins).toEqual(new Float64Array(128));
    search.delete();
  });

  test('an empty vocabulary or no positions: nothing is lost, and nothing can be asked for', async () => {
    const none = (table: typeof tokens) => ({ ...table, data: new Float64Array(), rows: 0 });
    for (const input of [
      { tokens: none(tokens), positions },
      { tokens, positions: none(positions) },
    ]) {
      const search = plain.collisionSearch(input);
      const all = await search.allWords();
      expect(all.lost).toEqual(new Float64Array(input.positions.rows));
      expect(search.nearestTokens(0, 0).margins).toHaveLength(0);
      search.delete();
    }
  });
});

describe('cosines', () => {
  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    test('in three dimensions a cosine is uniform', () => {
      for (const t of [0, 0.3, 0.9]) {
        expect(superpose.cosineDensity({ t: -t, d: 3 })).toBeCloseTo(0.5, 14);
        expect(superpose.cosineTail({ epsilon: t, d: 3 })).toBeCloseTo(1 - t, 13);
      }
      expect(superpose.cosineMeanSize({ d: 3 })).toBeCloseTo(0.5, 14);
    });

    test('in one dimension it is 1 or −1, above every epsilon but 1', () => {
      const tails = [0, 0.3, 1].map((epsilon) => superpose.cosineTail({ epsilon, d: 1 }));
      expect(tails).toEqual([1, 1, 0]);
    });

    test('published values', () => {
      expect(superpose.cosineMeanSize({ d: 512 })).toBeCloseTo(0.0353, 4);
      expect(superpose.cosineMeanSize({ d: 768 })).toBeCloseTo(0.0288, 4);
      const largest = (pairs: number, d: number) => superpose.largestCosineMedian({ pairs, d });
      expect(largest(512 * 30522, 768)).toBeCloseTo(0.196, 3);
      expect(largest(1024 * 50257, 768)).toBeCloseTo(0.203, 3);
      expect(largest((2000 * 1999) / 2, 512)).toBeCloseTo(0.223, 3);
      // Student's two-sided 5% point for 10 degrees of freedom is 2.228.
      expect(superpose.cosineTail({ epsilon: 2.228 / Math.hypot(2.228, Math.sqrt(10)), d: 11 })).toBeCloseTo(
        0.05,
        4,
      );
    });

    test('the variance of samples is 1/d', () => {
      const cosines = superpose.sampleCosines({ d: 64, count: 20_000, seed: 1 });
      expect(Math.abs(64 * mean(cosines.map((t) => t * t)) - 1)).toBeLessThan(0.03);
      const other = superpose.sampleCosines({ d: 64, count: 2, seed: 2 });
      expect(other).not.toEqual(cosines.slice(0, 2));
      const [a, b] = [0, 1].map((stream) =>
        rowsOf(superpose.randomNormal({ rows: 2, columns: 64, seed: 2, stream })),
      ) as [Float64Array[], Float64Array[]];
      for (const [k, row] of a.entries()) {
        const against = b[k] as Float64Array;
        expect(other[k]).toBeCloseTo(
          dot(row, against) / Math.sqrt(dot(row, row) * dot(against, against)),
          14,
        );
      }
      expect(superpose.sampleCosines({ d: 64, count: 0, seed: 1 })).toHaveLength(0);
    });

    test('the deviation is 1/√d: that of a uniform in three dimensions', () => {
      expect(superpose.cosineDeviation({ d: 3 })).toBeCloseTo(2 / Math.sqrt(12), 15);
      expect(superpose.cosineDeviation({ d: 1 })).toBe(1);
    });
  });
});

test('rounding takes no cosine and no correlation beyond 1', () => {
  const [cosines, correlations, shares, edges]: number[][] = [[], [], [], []];
  for (let seed = 1; seed <= 60; seed++) {
    const drawn = plain.randomNormal({ rows: 20, columns: 2, seed });
    cosines?.push(...plain.rowCosines(drawn, drawn).data);
    const three = { ...drawn, data: drawn.data.slice(0, 6), rows: 3 };
    correlations?.push(plain.dotProducts({ token: three, position: three, positionScale: 0 }).correlation);
    const positions = plain.randomNormal({ rows: 20, columns: 5, seed });
    const curve = plain.overlapCurve({
      tokens: { ...positions, rows: 19, data: positions.data.slice(5) },
      positions,
      k: 5,
    });
    shares?.push(...curve.shares, ...curve.reached);
  }
  for (let d = 2; d <= 60; d++)
    for (let k1 = 0; k1 <= d; k1++) {
      const { highestCosine, largestCosine } = plain.chanceAngles({ d, k1, k2: d - k1 });
      edges?.push(highestCosine, largestCosine);
    }
  cosines?.push(...plain.sampleCosines({ d: 1, count: 50, seed: 1 }));
  cosines?.push(...plain.wavelengths({ positions: 100_000, d_model: 2 }).similarity);
  for (const all of [cosines, correlations, shares, edges] as number[][]) {
    const largest = all.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expect(largest).toBeLessThanOrEqual(1);
    expect(largest).toBeGreaterThan(1 - 1e-12);
  }
});

describe('directions', () => {
  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    test('lengths and cosines are those of the dot products', () => {
      const a = superpose.randomNormal({ rows: 4, columns: 7, seed: 1 });
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

    test('a row of zeros has no direction', () => {
      const zero = tableOf([[0, 0]]);
      expect(superpose.rowCosines(zero, tableOf([[1, 2]])).data[0]).toBeNaN();
      expect(superpose.rowLengths(zero)[0]).toBe(0);
    });
  });
});

describe('means', () => {
  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    test('a table less its mean row; of equal rows nothing is left', () => {
      const rows = [
        [11, 0],
        [13, 4],
        [21, 2],
      ];
      expect([...superpose.centred(tableOf(rows)).data]).toEqual([-4, -2, -2, 2, 6, 0]);
      const equal = tableOf([0, 1, 2].map(() => [0.1, 0.7]));
      expect([...superpose.centred(equal).data]).toEqual([0, 0, 0, 0, 0, 0]);
      expect(superpose.centred({ data: new Float64Array(), rows: 0, columns: 3 }).data).toHaveLength(0);
    });

    test('a mean row moved goes to every row of the other table', () => {
      const [from, to] = [
        [
          [10, 0],
          [20, 2],
        ],
        [
          [1, 0],
          [3, 4],
        ],
      ].map(tableOf) as [Table, Table];
      const moved = superpose.moveMean({ from, to, amount: 2 });
      expect([...moved.from.data]).toEqual([-20, -2, -10, 0]);
      expect([...moved.to.data]).toEqual([31, 2, 33, 6]);
    });
  });
});

describe('oblique', () => {
  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    const { obliqueProjection } = superpose;

    test('two lines at an angle', () => {
      const angle = 0.3;
      const result = obliqueProjection({
        u: tableOf([[3], [0]]),
        w: tableOf([[Math.cos(angle)], [Math.sin(angle)]]),
      });
      expect(result.exact).toBe(true);
      expect(result.smallestAngle).toBeCloseTo(angle, 14);
      expect(result.gain).toBeCloseTo(1 / Math.sin(angle), 13);
      const expected = [1, -1 / Math.tan(angle), 0, 0];
      result.projector?.data.forEach((value, at) => {
        expect(value).toBeCloseTo(expected[at] as number, 13);
      });
    });

    test('what noise grows by, and what recovery misses', () => {
      const angle = 0.3;
      const u = tableOf([[3], [0]]);
      const w = tableOf([[Math.cos(angle)], [Math.sin(angle)]]);
      const noise = tableOf([
        [2, 0],
        [0, 5],
        [0, 0],
      ]);
      const { noiseGains, recoveryError } = obliqueProjection({ u, w, noise });
      expect(noiseGains[0]).toBeCloseTo(1, 14);
      expect(noiseGains[1]).toBeCloseTo(1 / Math.tan(angle), 13);
      expect(noiseGains[2]).toBeNaN();
      expect(recoveryError).toBeLessThan(1e-14);
      expect(obliqueProjection({ u, w }).noiseGains).toHaveLength(0);
      expect(obliqueProjection({ u, w: u, noise }).recoveryError).toBeNaN();
    });

    test('at small angles recovery misses what its own matrix says, a rounding over the sine', () => {
      for (const turn of [0.7, 1, 1.3]) {
        for (const angle of [1e-2, 1e-4, 1e-6]) {
          const [u, w] = [turn, turn + angle].map((at) => [Math.cos(at), Math.sin(at)]) as [
            number[],
            number[],
          ];
          const column = (of: number[]) => tableOf(of.map((x) => [x]));
          const { projector, recoveryError } = obliqueProjection({ u: column(u), w: column(w) });
          const missed = rowsOf(projector as Table).flatMap((row, c) => [
            Math.abs(dot(row, u) - (u[c] as number)),
            Math.abs(dot(row, w)),
          ]);
          expect(recoveryError).toBe(Math.max(...missed));
          expect(recoveryError * angle).toBeLessThan(1e-15);
        }
      }
    });

    test('subspaces that meet', () => {
      const result = obliqueProjection({ u: tableOf([[1], [2]]), w: tableOf([[2], [4]]) });
      expect(result).toMatchObject({ exact: false, projector: undefined, gain: Infinity });
      const none = obliqueProjection({ u: tableOf([[0], [0]]), w: tableOf([[2], [4]]) });
      expect(none).toMatchObject({ exact: true, gain: 0, smallestAngle: Math.PI / 2 });
    });
  });
});

describe('subspaces', () => {
  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    test.each([
      [768, 30, 30, 0.366, 8],
      [768, 30, 300, 0.757, 4],
      [512, 64, 64, 0.645, 6],
    ])('of %i dimensions, random ones of %i and %i reach a cosine of %d', (d, k1, k2, published, seeds) => {
      const cosines = Array.from({ length: seeds }, (_, seed) =>
        Math.cos(superpose.randomPrincipalAngles({ d, k1, k2, seed })[0] as number),
      );
      const mean = sum(cosines) / seeds;
      expect(Math.abs(mean - published)).toBeLessThan(0.03);
      expect(Math.abs(mean - superpose.chanceAngles({ d, k1, k2 }).highestCosine)).toBeLessThan(0.03);
    });

    const tokens = tableOf([
      [0, 5, 0, 0],
      [0, 0, 3, 0],
      [1, 0, 0, 0],
    ]);
    const positions = tableOf([
      [0, 0, 7, 0],
      [0, 0, 0, 2],
    ]);

    test('overlap weighted by energy', () => {
      // Second moments are diagonal: (1, 25, 9, 0) / 3 and (0, 0, 49, 4) / 2.
      expect(superpose.energyOverlap({ tokens, positions })).toBeCloseTo((4 * 9 * 49) / (35 * 53), 14);
      const shifted = { ...tokens, data: tokens.data.map((value) => value + 1) };
      const centred = superpose.energyOverlap({ tokens, positions, centred: true });
      expect(superpose.energyOverlap({ tokens: shifted, positions, centred: true })).toBeCloseTo(centred, 13);
      expect(superpose.energyOverlap({ tokens: positions, positions: positions, centred: true })).toBeCloseTo(
        4,
        14,
      );
      const none = { data: new Float64Array(), rows: 0, columns: 4 };
      expect(superpose.energyOverlap({ tokens: none, positions })).toBeNaN();
      // The sum of three tenths divided by three is not a tenth in floating point; equal rows minus their
      // mean must still be exactly zero.
      const equal = tableOf([0, 1, 2].map(() => [0.1, 0.7, -1.3, 0.9]));
      expect(superpose.energyOverlap({ tokens: equal, positions, centred: true })).toBeNaN();
      expect(superpose.overlapCurve({ tokens: none, positions, k: 1 }).shares).toHaveLength(4);
    });

    test.each([Float32Array, Float64Array])(
      'rows that are multiples in float32 span one dimension: %o',
      (Kind) => {
        const row = [0.1, 0.7, -1.3, 0.9, 0.3].map(Math.fround);
        const multiples = (factors: number[]) =>
          factors.flatMap((factor) => row.map((value) => Math.fround(factor * value)));
        const first = { data: Kind.from(multiples([1, 3, 0.7, 1.9, -2.3])), rows: 5, columns: 5 };
        const second = tableOf([
          [1, 0, 0, 0, 0],
          [0, 1, 0, 0, 0],
        ]);
        for (const centred of [false, true]) {
          expect(superpose.ranks({ table: first, centred }).numerical).toBe(1);
        }
        expect(superpose.overlapCurve({ tokens: second, positions: first, k: 4 }).dimensions).toBe(1);
        const u = {
          data: Kind.from(row.flatMap((value) => [value, Math.fround(3 * value)])),
          rows: 5,
          columns: 2,
        };
        expect(superpose.obliqueProjection({ u, w: tableOf([[1], [0], [0], [0], [0]]) }).exact).toBe(true);
        const near = { data: Kind.from(row.map((value) => Math.fround(value / 3))), rows: 5, columns: 1 };
        expect(superpose.obliqueProjection({ u, w: near }).exact).toBe(false);
      },
    );

    test('doubles and whole numbers have directions down to 1e-10 of the largest', () => {
      const table = (last: number) =>
        tableOf([
          [1, 0],
          [0, last],
        ]);
      expect(superpose.ranks({ table: table(1e-8) }).numerical).toBe(2);
      expect(superpose.ranks({ table: table(Math.fround(1e-8)) }).numerical).toBe(1);
      expect(
        superpose.ranks({
          table: tableOf([
            [1e8, 0],
            [0, 1],
          ]),
        }).numerical,
      ).toBe(2);
      const shifted = tableOf([
        [5, 1],
        [5, -1],
      ]);
      expect(superpose.ranks({ table: shifted, centred: true }).numerical).toBe(1);
    });

    test('cosines of angles, and what chance forces', () => {
      const { cosines, squares } = superpose.angleCosines(Float64Array.of(0, Math.PI / 3, Math.PI / 2));
      expect(largestDifference(cosines, [1, 0.5, 0])).toBeLessThan(1e-15);
      expect(squares).toBeCloseTo(1.25, 15);
      expect(superpose.chanceAngles({ d: 4, k1: 3, k2: 2 }).largestCosine).toBe(1);
      const { largestCosine, highestCosine } = superpose.chanceAngles({ d: 8, k1: 3, k2: 2 });
      expect(largestCosine).toBe(highestCosine);
    });

    test('the overlap curve finds the shared direction, second of the tokens', () => {
      const { shares, dimensions, chance, reached } = superpose.overlapCurve({ tokens, positions, k: 1 });
      expect(largestDifference(reached, [0, 1, 1, 1])).toBeLessThan(1e-15);
      expect(largestDifference(shares, [0, 1, 0, 0])).toBeLessThan(1e-15);
      expect([dimensions, chance]).toEqual([1, 0.25]);
      expect(superpose.overlapCurve({ tokens, positions, k: 4 }).dimensions).toBe(2);
    });
  });
});
