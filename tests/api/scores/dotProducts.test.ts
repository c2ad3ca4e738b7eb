import type { Table } from 'superpose';
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

const close = (found: ArrayLike<number>, expected: Nested) =>
  expect(largestDifference(found, flat(expected))).toBeLessThan(1e-12);

/** Tokens from N(0, 1) and positions with half their energy, [n, d]. */
const randomInput = (n: number, d: number) => ({
  token: plain.randomNormal({ rows: n, columns: d, seed: n, stream: 0 }),
  position: plain.randomNormal({ rows: n, columns: d, seed: n, stream: 1, standardDeviation: Math.SQRT1_2 }),
  positionScale: 1.5,
});

/** The entries i < j. */
const pairs = (matrix: ArrayLike<number>, n: number) =>
  Array.from(matrix).filter((_, at) => at % n > Math.floor(at / n));

/** A product of rows of length 2d has at most 4d + 4 roundings; these are the sizes of its addends. */
function productBound({ token, position, positionScale }: ReturnType<typeof randomInput>) {
  const size = (table: Table) => Math.max(...rowsOf(table).map((row) => norm(row.map((x) => x * x)) ** 0.5));
  return (size(token) + positionScale * size(position)) ** 2 * roundings(4 * token.columns + 4, 'float64');
}

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test.each(dotProductsCases)('rho $rho', ({ rho, token, position, concatenated, add_terms, added }) => {
    const found = superpose.dotProducts({
      token: tableOf(token),
      position: tableOf(position),
      positionScale: rho,
    });
    close(found.concatenated, concatenated);
    if (!add_terms || !added) {
      expect(
        [found['token-position'], found['position-token'], found.added].map((matrix) => matrix.length),
      ).toEqual([0, 0, 0]);
      expect(found.correlation).toBeNaN();
      return;
    }
    const terms = [
      found['token-token'],
      found['token-position'],
      found['position-token'],
      found['position-position'],
    ];
    close(flat(terms.map((term) => [...term])), add_terms);
    close(found.added, added);
  });

  // added and concatenated come from the summed and the joined rows themselves, not from the terms.
  test('adding is concatenating and the two cross terms', () => {
    const input = randomInput(23, 61);
    const found = superpose.dotProducts(input);
    const { concatenated, added } = found;
    const bound = 4 * productBound(input);
    expect(
      largestDifference(concatenated, sumOf([found['token-token'], found['position-position']])),
    ).toBeLessThan(bound);
    const cross = [found['token-position'], found['position-token']];
    expect(largestDifference(added, sumOf([concatenated, ...cross]))).toBeLessThan(bound);
    expect(largest(found['token-position'])).toBeGreaterThan(10);
  });

  test('vectors on disjoint coordinates are concatenated by being added, exactly', () => {
    const { padded_token, padded_position, dot_products } = concatenation.identities.disjoint_supports;
    const found = superpose.dotProducts({ token: tableOf(padded_token), position: tableOf(padded_position) });
    close(found.added, dot_products);
    expect(largest(found['token-position'])).toBe(0);
    expect(largest(found['position-token'])).toBe(0);
  });

  test('moments and correlation are those of the pairs i < j', () => {
    const n = 12;
    const found = superpose.dotProducts(randomInput(n, 9));
    const crossTerms = sumOf([found['token-position'], found['position-token']]);
    for (const [name, matrix] of [
      ...matrices.map((name) => [name, found[name]] as const),
      ['crossTerms', crossTerms] as const,
    ]) {
      expect(found.moments[name].mean).toBeCloseTo(mean(pairs(matrix, n)), 12);
      expect(found.moments[name].deviation).toBeCloseTo(deviation(pairs(matrix, n)), 12);
    }
    const centred = (matrix: Float64Array) => {
      const values = pairs(matrix, n);
      return values.map((value) => value - mean(values));
    };
    const [a, b] = [centred(found.added), centred(found.concatenated)];
    expect(found.correlation).toBeCloseTo(dot(a, b) / (norm(a) * norm(b)), 12);
  });

  test('equal pairs do not deviate, though their mean is rounded', () => {
    const same = tableOf(Array(5).fill([0.1, 0.2]));
    const { moments, correlation } = superpose.dotProducts({ token: same, position: same });
    for (const name of matrices) expect(moments[name].deviation).toBe(0);
    expect(correlation).toBeNaN();
  });

  test('one token has products but no pairs', () => {
    const one = superpose.dotProducts({ token: tableOf([[2, 3]]), position: tableOf([[1, -1]]) });
    expect([...one.added]).toEqual([13]);
    expect(one.moments.added.mean).toBeNaN();
    expect(one.correlation).toBeNaN();
  });

  test('no tokens, no products', () => {
    const none = { data: new Float64Array(), rows: 0, columns: 4 };
    const found = superpose.dotProducts({ token: none, position: none });
    for (const name of matrices) expect(found[name]).toEqual(new Float64Array());
  });
});
