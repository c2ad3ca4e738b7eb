// The terms alone, computed once and repeatedly, against decompose() on the same tables.
import { type DecomposeInput, type Superpose, type Table, type Terms, termOf } from 'superpose';
import { describe, expect, test } from 'vitest';
import { scoreBound } from '../support/bounds.ts';
import { builds } from '../support/builds.ts';
import { randomInput } from '../support/decomposition.ts';
import { inPrecision, largestDifference } from '../support/numbers.ts';

type Tables = Record<string, Table<Float64Array>>;

/** The input with W_Q and W_K alone, without norm and biases. */
function bare(input: DecomposeInput<Float64Array>): DecomposeInput<Float64Array> {
  const { normalization: _, query, key, ...rest } = input;
  return { ...rest, query: { weight: query.weight }, key: { weight: key.weight } };
}

const layerOf = (superpose: Superpose, { summands, ...input }: DecomposeInput<Float64Array>) =>
  superpose.decompositionLayer({ ...input, summands: Object.keys(summands) });

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

const scaled = ({ data, ...shape }: Table<Float64Array>, factor: number) => ({
  ...shape,
  data: data.map((value) => factor * value),
});

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

  test.each([true, false])('a layer follows every change of its tables; normalised: %s', (normalised) => {
    const whole = randomInput(9, 10, 2, 5);
    const input = normalised ? whole : bare(whole);
    using layer = layerOf(superpose, input);
    let summands = input.summands as Tables;
    areTermsOf(superpose, layer.terms(summands), input);

    const token = { ...(summands.token as Table<Float64Array>) };
    token.data = token.data.with(13, 5);
    summands = { ...summands, token };
    areTermsOf(superpose, layer.terms(summands), { ...input, summands });

    const factors = { position: -0.5 };
    const halved = { ...summands, position: scaled(summands.position as Table<Float64Array>, -0.5) };
    areTermsOf(superpose, layer.terms(summands, { factors }), { ...input, summands: halved });
    areTermsOf(superpose, layer.terms(summands, { only: [1] }), { ...input, summands, only: [1] });
    areTermsOf(superpose, layer.terms(summands), { ...input, summands });

    const fewer = randomInput(4, 10, 2, 5).summands as Tables;
    areTermsOf(superpose, layer.terms(fewer), { ...input, summands: fewer });
    areTermsOf(superpose, layer.terms(summands), { ...input, summands });
  });

  test('the array stays the same while tokens and heads do, and what no change touches is left alone', () => {
    const input = bare(randomInput(6, 8, 2, 3));
    using layer = layerOf(superpose, input);
    const { terms } = layer.terms(input.summands);
    const [position, token] = [1, 0].map((part) => (part * 3 + part) * 36) as [number, number];
    terms[position] = terms[token] = 1e9;
    const summands = input.summands as Tables;
    const moved = { ...summands, token: scaled(summands.token as Table<Float64Array>, 2) };
    expect(layer.terms(moved).terms).toBe(terms);
    expect(terms[position]).toBe(1e9);
    expect(terms[token]).not.toBe(1e9);
    expect(layer.terms(moved, { only: [0] }).terms).not.toBe(terms);
  });

  test('terms that somebody has transferred away are made anew', () => {
    const input = randomInput(5, 6, 1, 3);
    using layer = layerOf(superpose, input);
    const { terms } = layer.terms(input.summands);
    structuredClone(terms, { transfer: [terms.buffer as ArrayBuffer] });
    areTermsOf(superpose, layer.terms(input.summands), input);
  });

  test('finite tables whose sum is beyond the range of doubles are finite tables', () => {
    const input = bare(randomInput(4, 6, 1, 3));
    using layer = layerOf(superpose, input);
    const largest = scaled(input.summands.token as Table<Float64Array>, 0);
    largest.data.fill(Number.MAX_VALUE);
    expect(() => layer.terms({ ...input.summands, token: largest })).not.toThrow();
  });

  test('names like those of every object are names like any other', () => {
    const { summands, ...rest } = randomInput(4, 6, 1, 3);
    const { token, position } = summands as Tables;
    const named = { ['__proto__']: token, constructor: position } as Tables;
    using layer = superpose.decompositionLayer({ ...rest, summands: ['__proto__', 'constructor'] });
    areTermsOf(superpose, layer.terms(named), { ...rest, summands: named });
  });

  test('a wrong list of summands, a stranger among the factors and a deleted layer are refused in words', () => {
    const { summands, ...rest } = randomInput(4, 6, 1, 3);
    const make = (names: unknown) => superpose.decompositionLayer({ ...rest, summands: names as string[] });
    expect(() => make('token')).toThrow('summands must be a list of names');
    expect(() => make(['a', 'a'])).toThrow('summands must name each once; "a" is there twice.');
    expect(() => make([])).toThrow('at least one');
    expect(() => make(['constant'])).toThrow("'constant'");

    const layer = layerOf(superpose, { summands, ...rest });
    expect(() => layer.terms({})).toThrow('summands.token must be an object');
    expect(() => layer.terms(summands, { factors: { tokens: 2 } })).toThrow('a name in factors must be');
    expect(() => layer.terms(summands, { factors: { token: Number.NaN } })).toThrow('factors.token');
    expect(() => layer.terms(inPrecision(summands, 'float32'))).toThrow(TypeError);
    const token = summands.token as Table<Float64Array>;
    const changedBy = (changed: object) => ({ ...summands, token: { ...token, ...changed } }) as Tables;
    expect(() => layer.terms(changedBy({ data: token.data.with(5, Number.NaN) }))).toThrow(
      'summands.token.data',
    );
    expect(() => layer.terms(changedBy({ rows: 6, columns: 4 }))).toThrow(
      'summands.token must have 6 columns',
    );
    expect(() => layer.terms(summands, { only: [3] })).toThrow(
      'an entry of only must be a whole number from 0 to 0; it is 3',
    );
    const rows = 20_000;
    const huge = { rows, columns: 6, data: new Float64Array(6 * rows) };
    const all = Object.fromEntries(Object.keys(summands).map((name) => [name, huge]));
    expect(() => layer.terms(all)).toThrow('at most');
    // None of this has changed what the layer keeps.
    areTermsOf(superpose, layer.terms(summands), { ...rest, summands });
    const none = { rows: 0, columns: 6, data: new Float64Array() };
    const empty = Object.fromEntries(Object.keys(summands).map((name) => [name, none]));
    expect(layer.terms(empty).terms).toEqual(new Float64Array());
    layer.delete();
    layer.delete();
    expect(() => layer.terms(summands)).toThrow('This layer has been deleted; make another one.');
  });
});
