// What a measurement must not depend on: the unit, the order of rows, the directions of the axes, which of
// two comes first, and the tables' means. Drawn by fast-check, which prints the seed of a failure.
import * as fc from 'fast-check';
import type { Scores, Table } from 'superpose';
import { describe, expect, test } from 'vitest';
import { plain } from './support/builds.ts';
import { largestDifference, rowsOf, sum, sumOf } from './support/numbers.ts';
import {
  gap,
  holds,
  normal,
  orderOf,
  orthogonal,
  pairs,
  permuted,
  product,
  scaled,
  seeds,
  tables,
  transposed,
  twins,
  widths,
} from './support/properties.ts';

/** Powers of two whose squares neither overflow nor underflow. */
const powers = fc.integer({ min: -250, max: 250 }).map((exponent) => 2 ** exponent);
/** Powers of two whose squares do, in double precision. */
const vastPowers = fc.integer({ min: -900, max: 900 }).map((exponent) => 2 ** exponent);
/** Factors of any kind. */
const factors = fc.integer({ min: -60, max: 60 }).map((tenths) => 1.37 ** tenths);

const everyRank = (table: Table, centred: boolean) => {
  const found = plain.ranks({ table, centred });
  return [found.numerical, found.stable, found.energy, found.participationRatio];
};

/** The tables of an attention layer, drawn for a width. */
const layerOf = (d: number, seed: number) => ({
  query: { weight: normal(4, d, seed), bias: normal(1, 4, seed + 1).data },
  key: { weight: normal(4, d, seed + 2), bias: normal(1, 4, seed + 3).data },
  heads: 2,
});
const layerSeeds = fc.integer({ min: 0, max: 2 ** 31 });

const termsOf = ({ heads, parts, n, terms }: Scores<Float64Array>, head: number) =>
  Array.from({ length: parts.length ** 2 }, (_, t) =>
    terms.subarray((head * parts.length ** 2 + t) * n * n, (head * parts.length ** 2 + t + 1) * n * n),
  ).slice(0, heads.length * parts.length ** 2);

describe('the unit', () => {
  test('ranks', () => {
    holds([tables, vastPowers, fc.boolean()], (table, by, centred) => {
      expect(gap(everyRank(scaled(table, by), centred), everyRank(table, centred))).toBeLessThan(1e-12);
      expect(plain.numericalRank(scaled(table, by))).toBe(plain.numericalRank(table));
    });
  });

  test('angles, overlaps and projections', () => {
    holds([pairs, vastPowers, vastPowers], ([first, second], a, b) => {
      const [one, other] = [scaled(first, a), scaled(second, b)];
      expect(
        gap(
          plain.principalAngles({ first: one, second: other }),
          plain.principalAngles({ first, second }),
          1,
        ),
      ).toBeLessThan(1e-12);
      for (const centred of [false, true]) {
        const before = plain.energyOverlap({ tokens: first, positions: second, centred });
        const after = plain.energyOverlap({ tokens: one, positions: other, centred });
        expect(gap([after], [before], 1)).toBeLessThan(1e-12);
      }
      const curve = (tokens: Table, positions: Table) =>
        plain.overlapCurve({ tokens, positions, k: Math.min(2, first.columns) });
      expect(curve(one, other).dimensions).toBe(curve(first, second).dimensions);
      const [u, w] = [transposed(first), transposed(second)];
      const before = plain.obliqueProjection({ u, w });
      const after = plain.obliqueProjection({ u: scaled(u, a), w: scaled(w, b) });
      expect(after.exact).toBe(before.exact);
      expect(gap([1 / after.gain], [1 / before.gain], 1)).toBeLessThan(1e-12);
      expect(gap([after.smallestAngle], [before.smallestAngle], 1)).toBeLessThan(1e-12);
    });
  });

  test('cosines, means and what is left', () => {
    holds([pairs, vastPowers, vastPowers], ([first, second], a, b) => {
      const cosines = plain.rowCosines(first, second);
      const data = 'data' in cosines ? cosines.data : cosines;
      const again = plain.rowCosines(scaled(first, a), scaled(second, b));
      expect(gap('data' in again ? again.data : again, data, 1)).toBeLessThan(1e-12);
      const of = (rows: Table) =>
        plain.meanDecomposition({
          rows,
          positionOf: Array.from({ length: rows.rows }, (_, i) => i % 2),
          positions: 2,
          tokenOf: Array.from({ length: rows.rows }, (_, i) => i % 3),
          tokens: 3,
        });
      const shares = (rows: Table) => {
        const { positionShare, tokenShare, residualShare, overlap } = of(rows);
        return [positionShare, tokenShare, residualShare, overlap];
      };
      expect(gap(shares(scaled(first, a)), shares(first), 1)).toBeLessThan(1e-12);
    });
  });

  test('what has a unit grows with it', () => {
    holds([twins, powers], ([token, position], by) => {
      const [x, p] = [scaled(token, by), scaled(position, by)];
      const names = [
        'token-token',
        'token-position',
        'position-token',
        'position-position',
        'added',
      ] as const;
      const [before, after] = [
        plain.dotProducts({ token, position }),
        plain.dotProducts({ token: x, position: p }),
      ];
      for (const name of names)
        expect(
          gap(
            after[name],
            before[name].map((value) => value * by ** 2),
          ),
        ).toBeLessThan(1e-12);
      const times = (values: Float64Array, factor = by) => values.map((value) => value * factor);
      expect(gap(plain.rowLengths(x), times(plain.rowLengths(token)))).toBeLessThan(1e-12);
      expect(gap(plain.channelRanges(x), times(plain.channelRanges(token)))).toBe(0);
      expect(gap(plain.gram(x).data, times(plain.gram(token).data, by ** 2))).toBeLessThan(1e-12);
      const square = product(token, position);
      const bigger = scaled(square, by);
      expect(plain.toeplitzSpread(bigger)).toBe(plain.toeplitzSpread(square) * by);
      expect(gap([plain.offsetMeans(bigger).share], [plain.offsetMeans(square).share], 1)).toBeLessThan(
        1e-12,
      );
      const [few, more] = [plain.summary(square.data), plain.summary(bigger.data)];
      for (const [name, value] of Object.entries(few))
        expect(gap([more[name as keyof typeof more]], [value * by], Math.abs(by))).toBeLessThan(1e-12);
    });
  });

  test('scores after LayerNorm, and shares', () => {
    holds([twins, factors, layerSeeds], ([token, position], by, seed) => {
      const layer = layerOf(token.columns, seed);
      const ask = (factor: number) =>
        plain.decompose({
          summands: { token: scaled(token, factor), position: scaled(position, factor) },
          normalization: { kind: 'layer_norm', epsilon: 0 },
          ...layer,
        });
      // LayerNorm of one channel, or of equal channels, is 0 / 0.
      if (token.columns < 3) return;
      const [before, after] = [ask(1), ask(by)];
      expect(gap(after.logits, before.logits)).toBeLessThan(1e-9);
      expect(gap(after.terms, before.terms)).toBeLessThan(1e-9);
    });
  });
});

describe('the order of rows', () => {
  test('of what looks at all of them', () => {
    holds([pairs, seeds], ([first, second], seed) => {
      const [one, other] = [
        permuted(first, orderOf(first.rows, seed)),
        permuted(second, orderOf(second.rows, seed)),
      ];
      expect(gap(everyRank(one, true), everyRank(first, true), 1)).toBeLessThan(1e-10);
      expect(plain.channelRanges(one)).toEqual(plain.channelRanges(first));
      expect(
        gap(
          plain.principalAngles({ first: one, second: other }),
          plain.principalAngles({ first, second }),
          1,
        ),
      ).toBeLessThan(1e-7);
      for (const centred of [false, true])
        expect(
          gap(
            [plain.energyOverlap({ tokens: one, positions: other, centred })],
            [plain.energyOverlap({ tokens: first, positions: second, centred })],
            1,
          ),
        ).toBeLessThan(1e-10);
      const [few, again] = [plain.summary(first.data), plain.summary(one.data)];
      expect(gap(Object.values(again), Object.values(few), 1)).toBeLessThan(1e-12);
    });
  });

  test('of tokens, which scores and terms follow', () => {
    holds([twins, layerSeeds, seeds], ([token, position], seed, shuffle) => {
      const order = orderOf(token.rows, shuffle);
      const layer = layerOf(token.columns, seed);
      const ask = (tables: Table[]) =>
        plain.decompose({
          summands: { token: tables[0] as Table<Float64Array>, position: tables[1] as Table<Float64Array> },
          gauge: 'canonical',
          ...layer,
        });
      const before = ask([token, position]);
      const after = ask([permuted(token, order), permuted(position, order)]);
      const n = token.rows;
      const moved = (matrix: Float64Array) =>
        Float64Array.from(order.flatMap((i) => order.map((j) => matrix[i * n + j] as number)));
      const each = n * n;
      for (let at = 0; at < before.terms.length; at += each)
        expect(
          gap(after.terms.subarray(at, at + each), moved(before.terms.slice(at, at + each)), 1),
        ).toBeLessThan(1e-12);
      for (let at = 0; at < before.logits.length; at += each)
        expect(
          gap(after.logits.subarray(at, at + each), moved(before.logits.slice(at, at + each)), 1),
        ).toBeLessThan(1e-12);
      // Equal logits have no shares.
      expect(gap(after.shares, before.shares, 1)).toBeLessThan(1e-9);
    });
  });

  test('of a vocabulary, whose collisions follow', () => {
    holds([fc.tuple(seeds, widths), seeds], ([draw, d], shuffle) => {
      const tokens = plain.randomNormal({ rows: 7, columns: d, seed: draw, precision: 'float32' });
      const positions = plain.randomNormal({
        rows: 3,
        columns: d,
        seed: draw,
        stream: 1,
        precision: 'float32',
      });
      const order = orderOf(7, shuffle);
      const data = Float32Array.from(permuted(tokens, order).data);
      const before = plain.collisionSearch({ tokens, positions });
      const after = plain.collisionSearch({ tokens: { ...tokens, data }, positions });
      const [found, moved] = [before.nearestTokens(0, 7), after.nearestTokens(0, 7)];
      expect(moved.lost).toEqual(found.lost);
      order.forEach((word, place) => {
        expect(order[moved.bare[place] as number]).toBe(found.bare[word]);
        expect(moved.bareMargins[place]).toBe(found.bareMargins[word]);
        expect(moved.smallestMargins[place]).toBe(found.smallestMargins[word]);
      });
      before.delete();
      after.delete();
    });
  });
});

describe('the axes', () => {
  test('ranks, lengths, products, cosines', () => {
    holds([twins, seeds], ([token, position], seed) => {
      const turn = orthogonal(token.columns, seed);
      const [x, p] = [product(token, turn), product(position, turn)];
      for (const centred of [false, true])
        expect(gap(everyRank(x, centred), everyRank(token, centred), 1)).toBeLessThan(1e-10);
      expect(gap(plain.rowLengths(x), plain.rowLengths(token), 1)).toBeLessThan(1e-12);
      expect(gap(plain.gram(x).data, plain.gram(token).data, 1)).toBeLessThan(1e-12);
      const [before, after] = [
        plain.dotProducts({ token, position }),
        plain.dotProducts({ token: x, position: p }),
      ];
      for (const name of ['token-token', 'token-position', 'added', 'concatenated'] as const)
        expect(gap(after[name], before[name], 1)).toBeLessThan(1e-12);
    });
  });

  test('angles, overlaps, projections', () => {
    holds([pairs, seeds], ([first, second], seed) => {
      const turn = orthogonal(first.columns, seed);
      const [one, other] = [product(first, turn), product(second, turn)];
      expect(
        gap(
          plain.principalAngles({ first: one, second: other }),
          plain.principalAngles({ first, second }),
          1,
        ),
      ).toBeLessThan(1e-10);
      expect(
        gap(
          [plain.energyOverlap({ tokens: one, positions: other })],
          [plain.energyOverlap({ tokens: first, positions: second })],
          1,
        ),
      ).toBeLessThan(1e-10);
      const before = plain.obliqueProjection({ u: transposed(first), w: transposed(second) });
      const after = plain.obliqueProjection({ u: transposed(one), w: transposed(other) });
      expect(after.exact).toBe(before.exact);
      expect(gap([after.smallestAngle], [before.smallestAngle], 1)).toBeLessThan(1e-10);
      if (!before.projector || !after.projector) return;
      // The turned projector, turned back.
      const way = transposed(turn);
      const back = product(product(way, transposed(after.projector)), way);
      expect(gap(back.data, before.projector.data, 1)).toBeLessThan(1e-12 * before.gain ** 2);
    });
  });

  test('scores, when the weights turn with the rows', () => {
    holds([twins, layerSeeds, seeds], ([token, position], seed, way) => {
      const turn = orthogonal(token.columns, way);
      const { query, key, heads } = layerOf(token.columns, seed);
      const before = plain.decompose({ summands: { token, position }, query, key, heads });
      const after = plain.decompose({
        summands: { token: product(token, turn), position: product(position, turn) },
        query: { ...query, weight: product(query.weight, turn) },
        key: { ...key, weight: product(key.weight, turn) },
        heads,
      });
      expect(gap(after.logits, before.logits, 1)).toBeLessThan(1e-11);
      expect(gap(after.terms, before.terms, 1)).toBeLessThan(1e-11);
    });
  });
});

describe('which is the first', () => {
  test('rows and columns have the same ranks', () => {
    holds([tables], (table) => {
      const [one, other] = [plain.ranks({ table }), plain.ranks({ table: transposed(table) })];
      expect(gap(other.singularValues, one.singularValues, 1)).toBeLessThan(1e-12);
      expect(other.numerical).toBe(one.numerical);
      expect(plain.numericalRank(transposed(table))).toBe(plain.numericalRank(table));
    });
  });

  test('a matrix and its transpose differ in the sign of the offset alone', () => {
    holds([tables], (table) => {
      const square = product(table, scaled(permuted(table, orderOf(table.rows, table.rows)), 1.5));
      const [one, other] = [plain.offsetMeans(square), plain.offsetMeans(transposed(square))];
      expect(gap(other.means.reverse(), one.means, 1)).toBeLessThan(1e-12);
      expect(gap([other.share, other.apart], [one.share, one.apart], 1)).toBeLessThan(1e-12);
      expect(plain.toeplitzSpread(transposed(square))).toBe(plain.toeplitzSpread(square));
    });
  });

  test('angles, overlaps, the gain of a projection, cosines', () => {
    holds([pairs], ([first, second]) => {
      expect(
        gap(
          plain.principalAngles({ first: second, second: first }),
          plain.principalAngles({ first, second }),
          1,
        ),
      ).toBeLessThan(1e-10);
      expect(
        gap(
          [plain.energyOverlap({ tokens: second, positions: first })],
          [plain.energyOverlap({ tokens: first, positions: second })],
          1,
        ),
      ).toBeLessThan(1e-12);
      const [u, w] = [transposed(first), transposed(second)];
      const [one, other] = [plain.obliqueProjection({ u, w }), plain.obliqueProjection({ u: w, w: u })];
      expect(other.exact).toBe(one.exact);
      expect(gap([other.smallestAngle], [one.smallestAngle], 1)).toBeLessThan(1e-10);
    });
  });

  test('queries and keys: logits and terms are transposed', () => {
    holds([twins, layerSeeds], ([token, position], seed) => {
      const { query, key, heads } = layerOf(token.columns, seed);
      const summands = { token, position };
      const one = plain.decompose({ summands, query, key, heads });
      const other = plain.decompose({ summands, query: key, key: query, heads });
      const n = token.rows;
      const turned = (matrix: Float64Array) => transposed({ data: matrix, rows: n, columns: n }).data;
      const parts = one.parts.length;
      for (const head of [0, 1]) {
        const [left, right] = [termsOf(one, head), termsOf(other, head)];
        for (let q = 0; q < parts; q++)
          for (let k = 0; k < parts; k++)
            expect(
              gap(
                right[k * parts + q] as Float64Array,
                turned((left[q * parts + k] as Float64Array).slice()),
                1,
              ),
            ).toBeLessThan(1e-12);
      }
    });
  });

  test('tokens and positions, added: the cross terms change places', () => {
    holds([twins], ([token, position]) => {
      const one = plain.dotProducts({ token, position });
      const other = plain.dotProducts({ token: position, position: token });
      expect(other['token-token']).toEqual(one['position-position']);
      expect(gap(other['token-position'], one['position-token'], 1)).toBeLessThan(1e-14);
      expect(gap(other.added, one.added, 1)).toBeLessThan(1e-14);
    });
  });
});

describe('where the means lie', () => {
  test('no score moves, and nothing in the canonical gauge', () => {
    holds([twins, layerSeeds, seeds], ([token, position], seed, moveSeed) => {
      const move = normal(1, token.columns, moveSeed).data;
      const shift = (table: Table, sign: number): Table<Float64Array> => ({
        ...table,
        data: Float64Array.from(
          table.data,
          (value, at) => value + sign * (move[at % table.columns] as number),
        ),
      });
      const layer = layerOf(token.columns, seed);
      const ask = (gauge: 'raw' | 'canonical', moved: boolean) =>
        plain.decompose({
          summands: moved ? { token: shift(token, 1), position: shift(position, -1) } : { token, position },
          gauge,
          ...layer,
        });
      for (const gauge of ['raw', 'canonical'] as const) {
        const [before, after] = [ask(gauge, false), ask(gauge, true)];
        expect(gap(after.logits, before.logits, 1)).toBeLessThan(1e-11);
        if (gauge === 'canonical') expect(gap(after.terms, before.terms, 1)).toBeLessThan(1e-11);
        for (const head of [0, 1])
          expect(
            largestDifference(
              sumOf(termsOf(after, head)),
              after.logits.subarray(head * token.rows ** 2, (head + 1) * token.rows ** 2),
            ),
          ).toBeLessThan(1e-11 * (1 + Math.max(...after.logits.map(Math.abs))));
      }
      // In the canonical gauge, terms of two parts have zero row and column sums.
      const canonical = ask('canonical', true);
      const n = token.rows;
      for (const at of [0, 1, 3, 4]) {
        const term = termsOf(canonical, 0)[at] as Float64Array;
        for (let row = 0; row < n; row++)
          expect(Math.abs(sum(term.subarray(row * n, (row + 1) * n)))).toBeLessThan(1e-10);
      }
    });
  });

  test('shares of all terms together are 1, wherever there are any', () => {
    holds([twins, layerSeeds], ([token, position], seed) => {
      const { shares, parts } = plain.decompose({
        summands: { token, position },
        ...layerOf(token.columns, seed),
      });
      for (let head = 0; head < 2; head++) {
        const whole = sum(shares.subarray(head * parts.length ** 2, (head + 1) * parts.length ** 2));
        if (!Number.isNaN(whole)) expect(whole).toBeCloseTo(1, 9);
      }
    });
  });

  test('only the offset counts: sinusoids, rotation, shifts', () => {
    const places = fc.integer({ min: -300, max: 300 });
    holds([widths, places, places, seeds], (half, from, by, seed) => {
      const d = 2 * half;
      const gram = (firstPosition: number) =>
        plain.gram(plain.sinusoidal({ positions: 5, d_model: d, firstPosition })).data;
      expect(gap(gram(from), gram(0), 1)).toBeLessThan(1e-12);
      const rows = normal(5, d, seed);
      const turned = (firstPosition: number) => plain.gram(plain.rotate({ rows, firstPosition })).data;
      expect(gap(turned(from), turned(0), 1)).toBeLessThan(1e-11);
      const operator = (offset: number) => plain.shiftOperator({ d_model: d, offset });
      expect(
        gap(product(operator(from), transposed(operator(by))).data, operator(from + by).data, 1),
      ).toBeLessThan(1e-11);
    });
  });
});

describe('files of tables', () => {
  const names = fc.string({ unit: 'binary', maxLength: 12 }).filter((name) => name !== '__metadata__');
  const someTables = fc.dictionary(
    names,
    fc.record({
      rows: fc.integer({ min: 1, max: 4 }),
      columns: fc.integer({ min: 1, max: 4 }),
      seed: seeds,
      single: fc.boolean(),
    }),
    { maxKeys: 5, noNullPrototype: true },
  );

  test('are read as they were written', () => {
    holds(
      [someTables, fc.dictionary(names, fc.string({ unit: 'binary' }), { maxKeys: 3 })],
      (drawn, metadata) => {
        const given = Object.fromEntries(
          Object.entries(drawn).map(([name, { rows, columns, seed, single }]) => [
            name,
            plain.randomNormal({ rows, columns, seed, precision: single ? 'float32' : 'float64' }),
          ]),
        );
        const file = plain.encodeSafetensors(given, metadata);
        const header = plain.readSafetensorsHeader(file);
        expect([...header.keys()].sort()).toEqual(Object.keys(given).sort());
        for (const [name, entry] of header) {
          const wanted = given[name] as Table;
          const found = plain.decodeSafetensors(
            entry,
            file.subarray(entry.begin, entry.end),
            wanted.data instanceof Float32Array ? 'float32' : 'float64',
          );
          expect([found.rows, found.columns]).toEqual([wanted.rows, wanted.columns]);
          expect(rowsOf(found).flatMap((row) => [...row])).toEqual([...wanted.data]);
        }
      },
    );
  });
});
