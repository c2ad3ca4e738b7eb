// decompose(): terms that add up to the scores, their shares, and both gauges.
import {
  type DecomposeInput,
  logitsOf,
  type Scores,
  type Superpose,
  sharesOf,
  type Table,
  termOf,
} from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { isTight, scoreBound } from '../support/bounds.ts';
import { builds } from '../support/builds.ts';
import { apply, combined, naiveLogits, normalized, randomInput } from '../support/naive.ts';
import { flat, largest, largestDifference, rowsOf, sum, sumOf, tableOf } from '../support/numbers.ts';
import { type DecompositionCase, decompositionCases, inputOf, linearOf } from '../support/oracles.ts';

/**
 * Compares relative to the largest value, or to 1 if that is larger. The largest difference seen is 3.1e-7.
 */
const close = (result: ArrayLike<number>, expected: ArrayLike<number>, bound = 1e-6) =>
  expect(largestDifference(result, expected) / Math.max(1, largest(expected))).toBeLessThan(bound);

const termsOf = (scores: Scores, head: number) =>
  scores.parts.flatMap((q) => scores.parts.map((k) => termOf(scores, head, q, k)));

/** The softmax of the sum of the terms at these indices; by default of all terms. */
function softmax(superpose: Superpose, scores: Scores, head: number, indices?: readonly number[]) {
  const included = Array.from({ length: scores.parts.length ** 2 }, (_, t) => indices?.includes(t) ?? true);
  return combined(superpose, scores, head, included).softmax;
}

const shapes = [
  { n: 1, d: 3, heads: 1, headWidth: 1 },
  { n: 2, d: 5, heads: 3, headWidth: 1 },
  { n: 19, d: 33, heads: 3, headWidth: 5 },
  { n: 40, d: 64, heads: 4, headWidth: 16 },
  { n: 33, d: 97, heads: 2, headWidth: 31 },
];

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  describe.each(decompositionCases)('$name', (oracle) => {
    const size = oracle.summands.length + 1;

    test('logits, terms and shares', () => {
      const scores = superpose.decompose(inputOf(oracle));
      expect(scores.n).toBe(oracle.summands[0]?.length);
      expect(scores.parts).toEqual([...['token', 'position', 'token_type'].slice(0, size - 1), 'constant']);
      oracle.logits.forEach((logits, head) => {
        close(logitsOf(scores, head), flat(logits));
        const terms = oracle.terms[head] as number[][][];
        expect(terms).toHaveLength(size ** 2);
        close(flat(termsOf(scores, head).map((term) => [...term])), flat(terms));
        const shares = oracle.shares[head];
        if (shares) close(sharesOf(scores, head), shares);
        else expect(sharesOf(scores, head).every(Number.isNaN)).toBe(true);
      });
    });

    test('softmax of all terms and of some', () => {
      const scores = superpose.decompose(inputOf(oracle));
      for (let head = 0; head < oracle.heads; head++) {
        close(softmax(superpose, scores, head), flat(oracle.softmax[head] as number[][]));
        const { indices, softmax: expected } = oracle.subset;
        close(softmax(superpose, scores, head, indices), flat(expected[head] as number[][]));
      }
    });

    test('the terms add up to the logits, and the residual says how nearly', () => {
      const input = inputOf(oracle);
      const scores = superpose.decompose(input);
      for (const head of scores.heads) {
        const sums = sumOf(termsOf(scores, head));
        close(sums, logitsOf(scores, head));
        const residual = largestDifference(sums, logitsOf(scores, head));
        expect(Math.abs((scores.residuals[head] as number) - residual)).toBeLessThan(1e-14);
      }
    });
  });

  describe.each(shapes)('$n tokens, width $d, $heads heads of $headWidth', ({ n, d, heads, headWidth }) => {
    const input = randomInput(n, d, heads, headWidth);

    test.each(['layer_norm', 'rms_norm', undefined] as const)(
      'logits straight from the formula: %s',
      (kind) => {
        const { gamma: gain } = input.normalization ?? {};
        const norm = {
          layer_norm: input.normalization,
          rms_norm: { kind: 'rms_norm' as const, gamma: gain as Float64Array, epsilon: 0.01 },
        };
        const { normalization: _, ...rest } = input;
        const decomposeInput: DecomposeInput = kind
          ? { ...rest, normalization: norm[kind] as NonNullable<typeof norm.layer_norm> }
          : rest;
        const bound = 2 * scoreBound(decomposeInput);
        const scores = superpose.decompose(decomposeInput);
        const expected = naiveLogits(decomposeInput);
        expect(largestDifference(scores.logits, expected)).toBeLessThan(bound);
        for (const head of scores.heads) {
          const sums = sumOf(termsOf(scores, head));
          expect(largestDifference(sums, logitsOf(scores, head))).toBeLessThan(bound);
        }
        expect(isTight(bound, expected)).toBe(true);
      },
    );
  });

  test('shares sum to 1, and covariances over variances are the shares', () => {
    const scores = superpose.decompose(randomInput(12, 20, 3, 4));
    const count = scores.parts.length ** 2;
    for (const head of scores.heads) {
      const shares = sharesOf(scores, head);
      close([sum(shares)], [1]);
      const pooled = scores.covariances
        .subarray(head * count, (head + 1) * count)
        .map((c) => c / (scores.variances[head] as number));
      close(pooled, shares, 1e-15);
    }
  });

  test('grouped parts are the sums of their terms', () => {
    const input = randomInput(9, 16, 2, 4);
    const full = superpose.decompose(input);
    const groups = { position: ['position'], rest: ['token', 'constant', 'token_type'] };
    const grouped = superpose.decompose({ ...input, groups });
    expect(grouped.parts).toEqual(['position', 'rest']);
    expect(grouped.logits).toEqual(full.logits);
    for (const head of full.heads) {
      for (const [q, queryParts] of Object.entries(groups)) {
        for (const [k, keyParts] of Object.entries(groups)) {
          const terms = queryParts.flatMap((a) => keyParts.map((b) => termOf(full, head, a, b)));
          close(termOf(grouped, head, q, k), sumOf(terms));
        }
      }
    }
  });

  test('only some heads, in the order asked for', () => {
    const input = randomInput(6, 8, 4, 3);
    const all = superpose.decompose(input);
    const some = superpose.decompose({ ...input, only: [3, 1] });
    expect(some.heads).toEqual([3, 1]);
    expect(some.logits).toHaveLength(2 * 36);
    for (const head of [3, 1]) {
      expect(logitsOf(some, head)).toEqual(logitsOf(all, head));
      expect(termOf(some, head, 'position', 'token')).toEqual(termOf(all, head, 'position', 'token'));
      expect(sharesOf(some, head)).toEqual(sharesOf(all, head));
      expect(some.residuals[some.heads.indexOf(head)]).toBe(all.residuals[head]);
      expect(some.variances[some.heads.indexOf(head)]).toBe(all.variances[head]);
    }
    expect(superpose.decompose({ ...input, only: [] }).terms).toEqual(new Float32Array());
  });

  test('the scale is 1/√d_h unless given, and multiplies every term', () => {
    const input = randomInput(5, 8, 2, 4);
    const usual = superpose.decompose(input);
    expect(superpose.decompose({ ...input, scale: 0.5 })).toEqual(usual);
    close(
      superpose.decompose({ ...input, scale: -3 }).terms,
      usual.terms.map((term) => -6 * term),
    );
  });

  test('names like those of every object are names like any other', () => {
    const { summands, ...rest } = randomInput(4, 6, 1, 3);
    const { token, position } = summands as { token: Table<Float64Array>; position: Table<Float64Array> };
    const named = { ['__proto__']: token, constructor: position };
    const result = superpose.decompose({ ...rest, summands: named });
    expect(result.parts).toEqual(['__proto__', 'constructor', 'constant']);
    const plainly = superpose.decompose({ ...rest, summands: { token, position } });
    expect(result.terms).toEqual(plainly.terms);
    const groups = { ['__proto__']: ['__proto__', 'constant'], toString: ['constructor'] };
    expect(superpose.decompose({ ...rest, summands: named, groups }).parts).toEqual([
      '__proto__',
      'toString',
    ]);
  });

  test('finite tables whose sum is beyond the range of floats are finite tables', () => {
    const { normalization: _, ...input } = randomInput(4, 6, 1, 3);
    const token = { rows: 4, columns: 6, data: new Float32Array(24).fill(3.4e38) };
    const summands = { ...input.summands, token };
    expect(() => superpose.decompose({ ...input, summands })).not.toThrow();
  });

  test('no tokens, no scores', () => {
    const input = randomInput(3, 6, 2, 2);
    const empty = { data: new Float64Array(), rows: 0, columns: 6 };
    const scores = superpose.decompose({ ...input, summands: { token: empty, position: empty } });
    expect(scores.n).toBe(0);
    expect([scores.terms.length, scores.logits.length]).toEqual([0, 0]);
    expect(scores.residuals).toEqual(new Float64Array(2));
  });

  // Softmax ignores what is the same for every key, so b_K and W_K beta never change a weight.
  test.each(decompositionCases)(
    'the constant part of the keys changes no attention weight: $name',
    (oracle) => {
      const scores = superpose.decompose(inputOf(oracle));
      const { length } = scores.parts;
      const others = Array.from({ length: length ** 2 }, (_, t) => t).filter(
        (t) => t % length !== length - 1,
      );
      for (const head of scores.heads) {
        close(softmax(superpose, scores, head, others), softmax(superpose, scores, head));
      }
    },
  );

  // The mistake that the decomposition avoids: one sigma per summand instead of one per token.
  const normalizedCases = decompositionCases.filter((oracle) => oracle.sum_normalized_separately);
  test.each(normalizedCases)('summands normalized separately do not add up: $name', (oracle) => {
    const wrong = superpose.decompose(separatelyNormalized(oracle));
    const right = superpose.decompose(inputOf(oracle));
    const expected = oracle.sum_normalized_separately as number[][][];
    close(wrong.logits, flat(expected));
    expect(largestDifference(right.logits, flat(expected))).toBeGreaterThan(0.1);
    const sums = right.heads.flatMap((head) => [...sumOf(termsOf(right, head))]);
    expect(largestDifference(sums, flat(expected))).toBeGreaterThan(0.1);
  });
});

/** Each summand normalized by itself, with W beta + b as the bias. */
function separatelyNormalized(oracle: DecompositionCase): DecomposeInput {
  const { summands, normalization, ...rest } = inputOf(oracle);
  const { beta, ...norm } = normalization as NonNullable<DecomposeInput['normalization']>;
  const constant = (weight: number[][], bias: number[] | null) =>
    linearOf(weight, [...apply(linearOf(weight, bias), beta ?? new Float64Array(weight[0]?.length ?? 0))]);
  return {
    ...rest,
    summands: Object.fromEntries(
      Object.entries(summands).map(([name, table]) => [
        name,
        tableOf(rowsOf(table).map((row) => [...normalized(row, norm)])),
      ]),
    ),
    query: constant(oracle.query_weight, oracle.query_bias),
    key: constant(oracle.key_weight, oracle.key_bias),
  };
}
