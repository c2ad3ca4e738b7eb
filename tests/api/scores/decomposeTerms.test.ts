// The terms alone, against decompose() on the same tables.
import { type DecomposeInput, type Superpose, type Table, type Terms, termOf } from 'superpose';
import { describe, expect, test } from 'vitest';
import { scoreBound } from '../support/bounds.ts';
import { builds } from '../support/builds.ts';
import { randomInput } from '../support/decomposition.ts';
import { largestDifference } from '../support/numbers.ts';

type Tables = Record<string, Table<Float64Array>>;

/** The input with W_Q and W_K alone, without norm and biases. */
function bare(input: DecomposeInput<Float64Array>): DecomposeInput<Float64Array> {
  const { normalization: _, query, key, ...rest } = input;
  return { ...rest, query: { weight: query.weight }, key: { weight: key.weight } };
}

/** Compares within twice the bound, because both sides are rounded. */
function areTermsOf(superpose: Superpose, found: Terms, input: DecomposeInput<Float64Array>) {
  const wanted = superpose.decompose(input);
  const bound = 2 * scoreBound(input, 'float64');
  expect(found.n).toBe(wanted.n);
  expect(found.heads).toEqual(wanted.heads);
  for (const head of found.heads) {
    for (const q of found.parts) {
      for (const k of found.parts) {
        const gap = largestDifference(termOf(found, head, q, k), termOf(wanted, head, q, k));
        expect(gap, `${head} ${q} ${k}`).toBeLessThan(bound);
      }
    }
  }
}

describe.each(builds)('$simd', ({ superpose }) => {
  test('terms alone are the terms, with the constant only where there is one', () => {
    const input = { ...randomInput(7, 9, 3, 4), only: [2, 0] };
    const terms = superpose.decomposeTerms(input);
    expect(terms.parts).toEqual(['token', 'position', 'token_type', 'constant']);
    areTermsOf(superpose, terms, input);

    const plainly = superpose.decomposeTerms(bare(input));
    expect(plainly.parts).toEqual(['token', 'position', 'token_type']);
    areTermsOf(superpose, plainly, bare(input));
    expect(superpose.decomposeTerms({ ...input, only: [] }).terms).toEqual(new Float64Array());
  });

  test('the terms of tables of no tokens are none', () => {
    const none = { rows: 0, columns: 6, data: new Float64Array() };
    const input = randomInput(4, 6, 2, 3);
    const summands = Object.fromEntries(Object.keys(input.summands).map((name) => [name, none]));
    expect(superpose.decomposeTerms({ ...input, summands }).terms).toEqual(new Float64Array());
  });

  test('finite tables whose sum is beyond the range of doubles are finite tables', () => {
    const input = bare(randomInput(4, 6, 1, 3));
    const token = { rows: 4, columns: 6, data: new Float64Array(24).fill(Number.MAX_VALUE) };
    expect(() =>
      superpose.decomposeTerms({ ...input, summands: { ...input.summands, token } }),
    ).not.toThrow();
  });

  test('names like those of every object are names like any other', () => {
    const { summands, ...rest } = randomInput(4, 6, 1, 3);
    const { token, position } = summands as Tables;
    const input = { ...rest, summands: { ['__proto__']: token, constructor: position } as Tables };
    areTermsOf(superpose, superpose.decomposeTerms(input), input);
  });
});
