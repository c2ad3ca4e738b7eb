// dotProducts(): the four products of sums of tokens and positions.
import type { Table } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { roundings } from '../support/bounds.ts';
import { builds, plain } from '../support/builds.ts';
import {
  deviation,
  dot,
  flat,
  largest,
  largestDifference,
  mean,
  type Nested,
  norm,
  rowsOf,
  sumOf,
  tableOf,
} from '../support/numbers.ts';
import { concatenation, dotProductsCases } from '../support/oracles.ts';

const matrices = [
  'token-token',
  'token-position',
  'position-token',
  'position-position',
  'added',
  'concatenated',
] as const;

const close = (result: ArrayLike<number>, expected: Nested) =>
  expect(largestDifference(result, flat(expected))).toBeLessThan(1e-12);

/** Tokens from N(0, 1) and positions with half their energy, [n, d]. */
const randomInput = (n: number, d: number) => ({
  token: plain.randomNormal({ rows: n, columns: d, seed: n, stream: 0 }),
  position: plain.randomNormal({ rows: n, columns: d, seed: n, stream: 1, standardDeviation: Math.SQRT1_2 }),
  positionScale: 1.5,
});

/** The entries i < j. */
const pairs = (matrix: ArrayLike<number>, n: number) =>
  Array.from(matrix).filter((_, at) => at % n > Math.floor(at / n));

/**
 * A bound for products of rows of length 2d, which have at most 4d + 4 roundings, from the sizes of their
 * addends.
 */
function productBound({ token, position, positionScale }: ReturnType<typeof randomInput>) {
  const size = (table: Table) => Math.max(...rowsOf(table).map((row) => norm(row.map((x) => x * x)) ** 0.5));
  return (size(token) + positionScale * size(position)) ** 2 * roundings(4 * token.columns + 4, 'float64');
}

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test.each(dotProductsCases)('rho $rho', ({ rho, token, position, concatenated, add_terms, added }) => {
    const result = superpose.dotProducts({
      token: tableOf(token),
      position: tableOf(position),
      positionScale: rho,
    });
    close(result.concatenated, concatenated);
    if (!add_terms || !added) {
      expect(
        [result['token-position'], result['position-token'], result.added].map((matrix) => matrix.length),
      ).toEqual([0, 0, 0]);
      expect(result.correlation).toBeNaN();
      return;
    }
    const terms = [
      result['token-token'],
      result['token-position'],
      result['position-token'],
      result['position-position'],
    ];
    close(flat(terms.map((term) => [...term])), add_terms);
    close(result.added, added);
  });

  // added and concatenated come from the summed and the joined rows themselves, not from the terms.
  test('adding is concatenating and the two cross terms', () => {
    const input = randomInput(23, 61);
    const result = superpose.dotProducts(input);
    const { concatenated, added } = result;
    const bound = 4 * productBound(input);
    expect(
      largestDifference(concatenated, sumOf([result['token-token'], result['position-position']])),
    ).toBeLessThan(bound);
    const cross = [result['token-position'], result['position-token']];
    expect(largestDifference(added, sumOf([concatenated, ...cross]))).toBeLessThan(bound);
    expect(largest(result['token-position'])).toBeGreaterThan(10);
  });

  test('vectors on disjoint coordinates are concatenated by being added, exactly', () => {
    const { padded_token, padded_position, dot_products } = concatenation.identities.disjoint_supports;
    const result = superpose.dotProducts({
      token: tableOf(padded_token),
      position: tableOf(padded_position),
    });
    close(result.added, dot_products);
    expect(largest(result['token-position'])).toBe(0);
    expect(largest(result['position-token'])).toBe(0);
  });

  test('moments and correlation are those of the pairs i < j', () => {
    const n = 12;
    const result = superpose.dotProducts(randomInput(n, 9));
    const crossTerms = sumOf([result['token-position'], result['position-token']]);
    for (const [name, matrix] of [
      ...matrices.map((name) => [name, result[name]] as const),
      ['crossTerms', crossTerms] as const,
    ]) {
      expect(result.moments[name].mean).toBeCloseTo(mean(pairs(matrix, n)), 12);
      expect(result.moments[name].deviation).toBeCloseTo(deviation(pairs(matrix, n)), 12);
    }
    const centred = (matrix: Float64Array) => {
      const values = pairs(matrix, n);
      return values.map((value) => value - mean(values));
    };
    const [a, b] = [centred(result.added), centred(result.concatenated)];
    expect(result.correlation).toBeCloseTo(dot(a, b) / (norm(a) * norm(b)), 12);
  });

  test('equal pairs do not deviate, though their mean is rounded', () => {
    const same = tableOf(Array(5).fill([0.1, 0.2]));
    const { moments, correlation } = superpose.dotProducts({ token: same, position: same });
    for (const name of matrices) expect(moments[name].deviation).toBe(0);
    expect(correlation).toBeNaN();
  });

  test('one token has products but no pairs', () => {
    const single = superpose.dotProducts({ token: tableOf([[2, 3]]), position: tableOf([[1, -1]]) });
    expect([...single.added]).toEqual([13]);
    expect(single.moments.added.mean).toBeNaN();
    expect(single.correlation).toBeNaN();
  });

  test('no tokens, no products', () => {
    const none = { data: new Float64Array(), rows: 0, columns: 4 };
    const result = superpose.dotProducts({ token: none, position: none });
    for (const name of matrices) expect(result[name]).toEqual(new Float64Array());
  });
});
