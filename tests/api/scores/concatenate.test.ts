import { logitsOf, type Scores, type Table, termOf } from 'superpose';
import { describe, expect, test } from 'vitest';
import { isTight, joinedBound } from '../support/bounds.ts';
import { builds, plain } from '../support/builds.ts';
import { apply, headLogits, joined } from '../support/naive.ts';
import {
  flat,
  inPrecision,
  largest,
  largestDifference,
  mapTable,
  norm,
  rowsOf,
  sumOf,
  tableOf,
} from '../support/numbers.ts';
import { concatenation, linearOf } from '../support/oracles.ts';

const close = (found: ArrayLike<number>, expected: ArrayLike<number>, bound = 1e-12) =>
  expect(largestDifference(found, expected)).toBeLessThan(bound);

const scaled = (rho: number, rows: number[][]): Table<Float64Array> =>
  mapTable(tableOf(rows), (x) => rho * x);

/** All terms of all heads add up to the logits. */
function addsUp(scores: Scores, bound = 1e-12) {
  for (const head of scores.heads) {
    const terms = scores.parts.flatMap((q) => scores.parts.map((k) => termOf(scores, head, q, k)));
    close(sumOf(terms), logitsOf(scores, head), bound);
  }
  expect(largest(scores.residuals)).toBeLessThan(bound);
}

/** Tokens of width 37 and positions of width 21 for three heads. */
function randomInput(biases = true) {
  let stream = 0;
  const draw = (rows: number, columns: number, standardDeviation = 1) =>
    plain.randomNormal({ rows, columns, standardDeviation, seed: 8, stream: stream++ });
  const linear = () => ({ weight: draw(15, 58, 0.2), ...(biases && { bias: draw(1, 15, 0.3).data }) });
  return { token: draw(19, 37), position: draw(19, 21, 0.5), query: linear(), key: linear(), heads: 3 };
}

/** Token and position with separate projections: heads of 5 + 2. */
function randomBlocks() {
  let stream = 0;
  const draw = (rows: number, columns: number, standardDeviation = 1) =>
    plain.randomNormal({ rows, columns, standardDeviation, seed: 9, stream: stream++ });
  return {
    token: draw(17, 33),
    position: draw(17, 12, 0.5),
    tokenQuery: draw(15, 33, 0.2),
    tokenKey: draw(15, 33, 0.2),
    positionQuery: draw(6, 12, 0.3),
    positionKey: draw(6, 12, 0.3),
    heads: 3,
  };
}

/** [heads * (a + b), d_t + d_p]: each head's token block and then its position block, zeros elsewhere. */
function blockDiagonal(token: Table, position: Table, heads: number): Table<Float64Array> {
  const [a, b] = [token.rows / heads, position.rows / heads];
  const rows = Array.from({ length: heads }, (_, head) => [
    ...rowsOf(token)
      .slice(head * a, (head + 1) * a)
      .map((row) => [...row, ...Array(position.columns).fill(0)]),
    ...rowsOf(position)
      .slice(head * b, (head + 1) * b)
      .map((row) => [...Array(token.columns).fill(0), ...row]),
  ]).flat();
  return tableOf(rows);
}

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  describe('raw', () => {
    test.each(concatenation.dot_products)('rho $rho: two terms and no cross terms', (oracle) => {
      const { rho, token, position, concatenated, add_terms: terms } = oracle;
      const scores = superpose.concatenateRaw({
        token: tableOf(token),
        position: tableOf(position),
        positionScale: rho,
      });
      expect(scores).toMatchObject({ n: token.length, heads: [0], parts: ['token', 'position'] });
      close(scores.logits, flat(concatenated));
      addsUp(scores);
      expect(largest(termOf(scores, 0, 'token', 'position'))).toBe(0);
      expect(largest(termOf(scores, 0, 'position', 'token'))).toBe(0);
      if (!terms) return;
      close(termOf(scores, 0, 'token', 'token'), flat(terms[0] as number[][]));
      close(termOf(scores, 0, 'position', 'position'), flat(terms[3] as number[][]));
    });
  });

  describe('full', () => {
    test.each(concatenation.full_weights)('$heads heads, rho $rho: four terms', (oracle) => {
      const scores = superpose.concatenateFull({
        token: tableOf(oracle.token),
        position: scaled(oracle.rho, oracle.position),
        query: linearOf(oracle.query_weight),
        key: linearOf(oracle.key_weight),
        heads: oracle.heads,
      });
      expect(scores.parts).toEqual(['token', 'position']);
      close(scores.logits, flat(oracle.logits));
      close(scores.terms, flat(oracle.terms));
      addsUp(scores);
    });

    test('with a bias there is a constant part, on either side', () => {
      const { query, key, ...rest } = randomInput();
      const { query: bare } = randomInput(false);
      for (const weights of [
        { query, key },
        { query: bare, key },
        { query, key: bare },
      ]) {
        const scores = superpose.concatenateFull({ ...rest, ...weights });
        expect(scores.parts).toEqual(['token', 'position', 'constant']);
        addsUp(scores);
        const rows = rowsOf(joined(rest.token, rest.position));
        const project = (linear: typeof query) => rows.map((row) => apply(linear, row));
        close(scores.logits, headLogits(project(weights.query), project(weights.key as typeof query), 3));
      }
    });

    test('only some heads, in the order asked for', () => {
      const input = randomInput();
      const all = superpose.concatenateFull(input);
      const some = superpose.concatenateFull({ ...input, only: [2, 0] });
      expect(some.heads).toEqual([2, 0]);
      expect(logitsOf(some, 2)).toEqual(logitsOf(all, 2));
      expect(termOf(some, 0, 'token', 'position')).toEqual(termOf(all, 0, 'token', 'position'));
    });

    test('the scale multiplies every term', () => {
      const input = randomInput();
      const usual = superpose.concatenateFull(input);
      expect(superpose.concatenateFull({ ...input, scale: 1 / Math.sqrt(5) })).toEqual(usual);
      const negative = superpose.concatenateFull({ ...input, scale: -2 / Math.sqrt(5) });
      close(
        negative.terms,
        usual.terms.map((term) => -2 * term),
      );
    });

    test('float32 agrees with float64', () => {
      const single = inPrecision(randomInput(), 'float32');
      const double = inPrecision(single, 'float64');
      const { token, position, query, key, heads } = double;
      const bound = joinedBound([token, position], query, key, heads, 1 / Math.sqrt(5), 'float32');
      const expected: Scores = superpose.concatenateFull(double);
      const found: Scores = superpose.concatenateFull(single);
      expect(found.terms).toBeInstanceOf(Float32Array);
      expect(isTight(bound, expected.logits)).toBe(true);
      close(found.terms, expected.terms, bound);
      close(found.logits, expected.logits, bound);
    });
  });

  describe('block-diagonal', () => {
    test.each(concatenation.block_diagonal_weights)(
      '$heads heads, rho $rho: a sum of two scores',
      (oracle) => {
        const token = tableOf(oracle.token);
        const position = scaled(oracle.rho, oracle.position);
        const { heads } = oracle;
        const scores = superpose.concatenateBlockDiagonal({
          token,
          position,
          tokenQuery: tableOf(oracle.token_query_weight),
          tokenKey: tableOf(oracle.token_key_weight),
          positionQuery: tableOf(oracle.position_query_weight),
          positionKey: tableOf(oracle.position_key_weight),
          heads,
        });
        close(scores.logits, flat(oracle.logits));
        addsUp(scores);
        for (const head of scores.heads) {
          close(termOf(scores, head, 'token', 'token'), flat(oracle.token_score[head] as number[][]));
          close(
            termOf(scores, head, 'position', 'position'),
            flat(oracle.position_score[head] as number[][]),
          );
          expect(largest(termOf(scores, head, 'token', 'position'))).toBe(0);
          expect(largest(termOf(scores, head, 'position', 'token'))).toBe(0);
        }

        // The same as one weight with zero blocks, and as a weight without zeros: cross terms vanish up to a
        // change of basis of the head space.
        for (const kind of ['block_diagonal', 'dense'] as const) {
          const query = linearOf(oracle[`${kind}_query_weight`]);
          const key = linearOf(oracle[`${kind}_key_weight`]);
          const full = superpose.concatenateFull({ token, position, query, key, heads });
          close(full.logits, scores.logits);
          for (const head of full.heads) {
            expect(largest(termOf(full, head, 'token', 'position'))).toBeLessThan(1e-12);
            expect(largest(termOf(full, head, 'position', 'token'))).toBeLessThan(1e-12);
          }
        }
      },
    );

    test('is concatenateFull with zero blocks, on other shapes too', () => {
      const input = randomBlocks();
      const { token, position, heads } = input;
      const query = { weight: blockDiagonal(input.tokenQuery, input.positionQuery, heads) };
      const key = { weight: blockDiagonal(input.tokenKey, input.positionKey, heads) };
      const full = superpose.concatenateFull({ token, position, query, key, heads });
      const blocks = superpose.concatenateBlockDiagonal(input);
      close(blocks.terms, full.terms);
      close(blocks.logits, full.logits);
      const some = superpose.concatenateBlockDiagonal({ ...input, only: [2] });
      expect(logitsOf(some, 2)).toEqual(logitsOf(blocks, 2));
      close(
        superpose.concatenateBlockDiagonal({ ...input, scale: 1 }).logits,
        blocks.logits.map((x) => x * Math.sqrt(7)),
      );
    });

    test('float32 agrees with float64', () => {
      const single = inPrecision(randomBlocks(), 'float32');
      const double = inPrecision(single, 'float64');
      const { token, position, tokenQuery, tokenKey, positionQuery, positionKey, heads } = double;
      const query = { weight: blockDiagonal(tokenQuery, positionQuery, heads) };
      const key = { weight: blockDiagonal(tokenKey, positionKey, heads) };
      const bound = joinedBound([token, position], query, key, heads, 1 / Math.sqrt(7), 'float32');
      const expected: Scores = superpose.concatenateBlockDiagonal(double);
      const found: Scores = superpose.concatenateBlockDiagonal(single);
      expect(isTight(bound, expected.logits)).toBe(true);
      close(found.terms, expected.terms, bound);
      close(found.logits, expected.logits, bound);
    });
  });

  describe('identities', () => {
    const { separate_projections, shared_projection, tied_scores } = concatenation.identities;
    /** The dot products of projected rows: a score with W_Q = W_K and scale 1. */
    const gram = (rows: number[][]) =>
      rows.flatMap((a) => rows.map((b) => a.reduce((sum, x, k) => sum + x * (b[k] as number), 0)));

    test(separate_projections.identity, () => {
      const { token, position, w1, w2, output } = separate_projections;
      const both = linearOf(w1.map((row, k) => [...row, ...(w2[k] as number[])]));
      const scores = superpose.concatenateFull({
        token: tableOf(token),
        position: tableOf(position),
        query: both,
        key: both,
        heads: 1,
        scale: 1,
      });
      close(scores.logits, gram(output));
    });

    test(shared_projection.identity, () => {
      const { token, position, w, output } = shared_projection;
      const [x, p] = [tableOf(token), tableOf(position)];
      const twice = linearOf(w.map((row) => [...row, ...row]));
      const added = superpose.decompose({
        summands: { token: x, position: p },
        query: linearOf(w),
        key: linearOf(w),
        heads: 1,
        scale: 1,
      });
      const joinedUp = superpose.concatenateFull({
        token: x,
        position: p,
        query: twice,
        key: twice,
        heads: 1,
        scale: 1,
      });
      close(added.logits, gram(output));
      close(joinedUp.logits, gram(output));
    });

    test(tied_scores.identity, () => {
      const { token, position, query_weight, key_weight, heads, terms, logits } = tied_scores;
      const [x, p] = [tableOf(token), tableOf(position)];
      const tied = (weight: number[][]) => linearOf(weight.map((row) => [...row, ...row]));
      const joinedUp = superpose.concatenateFull({
        token: x,
        position: p,
        query: tied(query_weight),
        key: tied(key_weight),
        heads,
      });
      close(joinedUp.terms, flat(terms));
      close(joinedUp.logits, flat(logits));
      const added = superpose.decompose({
        summands: { token: x, position: p },
        query: linearOf(query_weight),
        key: linearOf(key_weight),
        heads,
      });
      for (const head of joinedUp.heads) {
        for (const q of joinedUp.parts) {
          for (const k of joinedUp.parts) close(termOf(added, head, q, k), termOf(joinedUp, head, q, k));
        }
        close(logitsOf(added, head), logitsOf(joinedUp, head));
      }
    });
  });

  test('no tokens, no scores', () => {
    const none = (columns: number) => ({ data: new Float64Array(), rows: 0, columns });
    expect(superpose.concatenateRaw({ token: none(3), position: none(2) }).logits).toHaveLength(0);
    const full = superpose.concatenateFull({ ...randomInput(), token: none(37), position: none(21) });
    expect(full.terms).toHaveLength(0);
    const blocks = superpose.concatenateBlockDiagonal({
      ...randomBlocks(),
      token: none(33),
      position: none(12),
    });
    expect(blocks.terms).toHaveLength(0);
  });

  test('a side without projections has no score', () => {
    const { positionQuery, positionKey, ...input } = randomBlocks();
    const nothing = { data: new Float64Array(), rows: 0, columns: 12 };
    const scores = superpose.concatenateBlockDiagonal({
      ...input,
      positionQuery: nothing,
      positionKey: nothing,
    });
    for (const head of scores.heads) {
      close(termOf(scores, head, 'token', 'token'), logitsOf(scores, head));
      expect(largest(termOf(scores, head, 'position', 'position'))).toBe(0);
    }
    expect(norm(scores.logits)).toBeGreaterThan(1);
  });
});
