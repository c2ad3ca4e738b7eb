// Scores: complete results of a layer, their shares and their softmax.

import { type DecomposeInput, logitsOf, sharesOf, termOf } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { roundings } from '../support/bounds.ts';
import { builds, plain } from '../support/builds.ts';
import { combined } from '../support/naive.ts';
import { largest, largestDifference, rowCentred, softmaxRows, sum, sumOf } from '../support/numbers.ts';

describe('scores', () => {
  const close = (result: ArrayLike<number>, expected: ArrayLike<number>, bound = 1e-14) =>
    expect(largestDifference(result, expected)).toBeLessThan(bound);

  /** Seven tokens, three heads of four, heads 2 and 0 returned; token, position and constant parts. */
  function input(): DecomposeInput {
    let stream = 0;
    const draw = (rows: number, columns: number) =>
      plain.randomNormal({ rows, columns, seed: 21, stream: stream++ });
    return {
      summands: { token: draw(7, 10), position: draw(7, 10) },
      query: { weight: draw(12, 10), bias: draw(1, 12).data },
      key: { weight: draw(12, 10), bias: draw(1, 12).data },
      heads: 3,
      only: [2, 0],
    };
  }

  const every = (value: boolean) => Array<boolean>(9).fill(value);

  describe.each(builds)('$simd SIMD', ({ superpose }) => {
    const scores = superpose.decompose(input());

    test('termOf finds a term by its head and the names of its parts', () => {
      for (const [place, head] of [2, 0].entries()) {
        for (const [s, q] of ['token', 'position', 'constant'].entries()) {
          for (const [r, k] of ['token', 'position', 'constant'].entries()) {
            const start = ((place * 3 + s) * 3 + r) * 49;
            expect(termOf(scores, head, q, k)).toEqual(scores.terms.subarray(start, start + 49));
          }
        }
      }
    });

    test('logitsOf and sharesOf find those of a head', () => {
      expect(logitsOf(scores, 2)).toEqual(scores.logits.subarray(0, 49));
      expect(logitsOf(scores, 0)).toEqual(scores.logits.subarray(49));
      expect(sharesOf(scores, 2)).toEqual(scores.shares.subarray(0, 9));
      expect(sharesOf(scores, 0)).toEqual(scores.shares.subarray(9));
    });

    test('pooled shares: each group and head over two sentences, by hand', () => {
      const other = superpose.decompose({ ...input(), scale: 0.1 });
      const groupOf = [0, 1, 2, 1, 0, 2, 2, 2, 2];
      const result = superpose.poolShares([scores, other], groupOf);
      const covariance = (head: number, group: number) =>
        sum(
          [scores, other].flatMap(({ covariances }) =>
            groupOf.flatMap((termGroup, term) =>
              termGroup === group ? [covariances[9 * head + term] as number] : [],
            ),
          ),
        );
      const variance = (head: number) =>
        sum([scores, other].map(({ variances }) => variances[head] as number));
      for (const group of [0, 1, 2]) {
        const each = [0, 1].map((head) => covariance(head, group) / variance(head));
        close(
          [0, 1].map((head) => result.heads[3 * head + group] as number),
          each,
        );
        expect(result.mean[group]).toBeCloseTo(sum(each) / 2, 13);
        const pooled = (covariance(0, group) + covariance(1, group)) / (variance(0) + variance(1));
        expect(result.pooled[group]).toBeCloseTo(pooled, 13);
      }
      // For one sentence in which each term is a group, the pooled shares are the shares.
      close(superpose.poolShares([scores], [...Array(9).keys()]).heads, scores.shares);
    });

    test('all three are views, not copies', () => {
      expect(termOf(scores, 0, 'token', 'token').buffer).toBe(scores.terms.buffer);
      expect(logitsOf(scores, 0).buffer).toBe(scores.logits.buffer);
      expect(sharesOf(scores, 0).buffer).toBe(scores.shares.buffer);
    });

    test('scores survive being posted', () => {
      const posted = structuredClone(scores);
      expect(posted).toEqual(scores);
      expect(combined(superpose, posted, 0, every(true))).toEqual(
        combined(superpose, scores, 0, every(true)),
      );
    });

    test('combining some terms: sum, row-centred sum, softmax and share', () => {
      const included = every(false).map((_, t) => [1, 3, 8].includes(t));
      const names = [
        ['token', 'position'],
        ['position', 'token'],
        ['constant', 'constant'],
      ] as const;
      for (const head of [0, 2]) {
        const expected = sumOf(names.map(([q, k]) => termOf(scores, head, q, k)));
        const result = combined(superpose, scores, head, included);
        const bound = largest(expected) * roundings(7, 'float64');
        close(result.sum, expected, bound);
        close(result.centred, rowCentred(expected, 7), bound);
        close(result.softmax, softmaxRows(expected, 7));
        const shares = sharesOf(scores, head);
        expect(result.share).toBeCloseTo(sum([1, 3, 8].map((t) => shares[t] as number)), 12);
      }
    });

    test('several masks at once give what each gives alone', () => {
      const masks = [every(true), every(false), every(false).map((_, t) => t % 4 === 1)];
      const together = superpose.combineTerms(scores, 2, masks);
      expect(together).toEqual(masks.map((mask) => combined(superpose, scores, 2, mask)));
    });

    test('all terms are the logits, with all of the share', () => {
      const result = combined(superpose, scores, 2, every(true));
      close(result.sum, logitsOf(scores, 2), 1e-6 * largest(scores.terms));
      expect(result.share).toBeCloseTo(1, 6);
    });

    test('no term at all: zeros, the same weight for every key, no share', () => {
      const result = combined(superpose, scores, 2, every(false));
      expect(largest(result.sum)).toBe(0);
      close(result.softmax, new Float64Array(49).fill(1 / 7));
      expect(result.share).toBe(0);
    });

    test('softmax rows are weights, and large logits do not overflow', () => {
      const huge = superpose.decompose({ ...input(), scale: 1e4 });
      const { softmax } = combined(superpose, huge, 0, every(true));
      for (let i = 0; i < 7; i++) expect(sum(softmax.subarray(7 * i, 7 * i + 7))).toBeCloseTo(1, 12);
      expect(largest(logitsOf(huge, 0))).toBeGreaterThan(1000);
      expect(Math.min(...softmax)).toBeGreaterThanOrEqual(0);
    });

    test('a single token has weight 1 and no share', () => {
      const { summands, ...rest } = input();
      const first = Object.fromEntries(
        Object.entries(summands).map(([name, table]) => [
          name,
          { ...table, data: table.data.subarray(0, 10), rows: 1 },
        ]),
      );
      const result = combined(superpose, superpose.decompose({ ...rest, summands: first }), 0, every(true));
      expect([...result.softmax]).toEqual([1]);
      expect(result.share).toBeNaN();
    });

    test('results are their own: changing them changes nothing else', () => {
      const before = combined(superpose, scores, 0, every(true));
      combined(superpose, scores, 0, every(true)).sum.fill(7);
      expect(combined(superpose, scores, 0, every(true))).toEqual(before);
    });
  });
});
