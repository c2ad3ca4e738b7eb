// The three things that "concatenate the position" can mean, against tests/reference/concatenation.py, and
// the identities that relate them to adding.
import { type SchemeInput, type SchemeScores, schemeTermOf, type Table } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { flat, largest, largestDifference, sumOf, tableOf } from '../support/numbers.ts';
import { concatenation, linearOf } from '../support/oracles.ts';

const close = (result: ArrayLike<number>, expected: ArrayLike<number>, bound = 1e-12) =>
  expect(largestDifference(result, expected)).toBeLessThan(bound);

/**
 * Splits a joint weight [out, d_t + d_p] as the scheme takes it, into the token's columns and the
 * position's.
 */
const parted = (weight: number[][], d: number) => [
  { weight: tableOf(weight.map((row) => row.slice(0, d))) },
  { weight: tableOf(weight.map((row) => row.slice(d))) },
];

/** The input of the concatenating scheme with these joint weights. */
function fullInput(
  content: Table<Float64Array>,
  position: Table<Float64Array>,
  weights: { query: number[][]; key: number[][] },
  heads: number,
): SchemeInput {
  const [query, positionQuery] = parted(weights.query, content.columns);
  const [key, positionKey] = parted(weights.key, content.columns);
  const parts = { position, d_position: position.columns, query, key, positionQuery, positionKey } as never;
  return { scheme: 'concat-full', content, heads, ...(parts as object) };
}

/** Checks that the terms of every head add up to its logits. */
function addsUp({ n, heads, terms, termNames, logits, residuals }: SchemeScores) {
  for (const place of heads.keys()) {
    const of = termNames.map((_, term) => {
      const from = (place * termNames.length + term) * n * n;
      return terms.subarray(from, from + n * n);
    });
    close(sumOf(of), logits.subarray(place * n * n, (place + 1) * n * n));
  }
  expect(largest(residuals)).toBeLessThan(1e-12);
}

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  test.each(concatenation.dot_products)('raw, rho $rho: two terms and no cross terms', (oracle) => {
    const { rho, token, position, concatenated, add_terms: terms } = oracle;
    const scores = superpose.schemeScores({
      scheme: 'concat-raw',
      content: tableOf(token),
      position: tableOf(position),
      d_position: tableOf(position).columns,
      positionScale: rho,
      heads: 1,
    });
    expect(scores.termNames).toEqual(['content-content', 'position-position']);
    close(scores.logits, flat(concatenated));
    addsUp(scores);
    if (!terms) return;
    close(schemeTermOf(scores, 0, 'content-content'), flat(terms[0] as number[][]));
    close(schemeTermOf(scores, 0, 'position-position'), flat(terms[3] as number[][]));
  });

  test.each(concatenation.full_weights)('full weights, $heads heads, rho $rho: four terms', (oracle) => {
    const weights = { query: oracle.query_weight, key: oracle.key_weight };
    const scores = superpose.schemeScores({
      ...fullInput(tableOf(oracle.token), tableOf(oracle.position), weights, oracle.heads),
      positionScale: oracle.rho,
    } as SchemeInput);
    close(scores.logits, flat(oracle.logits));
    close(scores.terms, flat(oracle.terms));
    addsUp(scores);
  });

  test.each(concatenation.block_diagonal_weights)(
    'block-diagonal, $heads heads, rho $rho: a sum of two scores, as with zero blocks',
    (oracle) => {
      const [content, position] = [tableOf(oracle.token), tableOf(oracle.position)];
      const { heads } = oracle;
      const scores = superpose.schemeScores({
        scheme: 'concat-block-diagonal',
        content,
        position,
        d_position: position.columns,
        d_position_head: oracle.position_query_weight.length / oracle.heads,
        positionScale: oracle.rho,
        query: linearOf(oracle.token_query_weight),
        key: linearOf(oracle.token_key_weight),
        positionQuery: linearOf(oracle.position_query_weight),
        positionKey: linearOf(oracle.position_key_weight),
        heads,
      });
      expect(scores.termNames).toEqual(['content-content', 'position-position']);
      close(scores.logits, flat(oracle.logits));
      addsUp(scores);
      for (const head of scores.heads) {
        close(schemeTermOf(scores, head, 'content-content'), flat(oracle.token_score[head] as number[][]));
        close(
          schemeTermOf(scores, head, 'position-position'),
          flat(oracle.position_score[head] as number[][]),
        );
      }
      // One joint weight has zero blocks and one has no zeros: cross terms vanish up to a change of basis of
      // the head space.
      for (const kind of ['block_diagonal', 'dense'] as const) {
        const weights = { query: oracle[`${kind}_query_weight`], key: oracle[`${kind}_key_weight`] };
        const full = superpose.schemeScores({
          ...fullInput(content, position, weights, heads),
          positionScale: oracle.rho,
        } as SchemeInput);
        close(full.logits, scores.logits);
        for (const head of full.heads)
          for (const name of ['content-position', 'position-content'])
            expect(largest(schemeTermOf(full, head, name))).toBeLessThan(1e-12);
      }
    },
  );

  describe('identities', () => {
    const { separate_projections, shared_projection, tied_scores } = concatenation.identities;
    /** The dot products of projected rows: a score with W_Q = W_K and scale 1. */
    const gram = (rows: number[][]) =>
      rows.flatMap((a) => rows.map((b) => a.reduce((sum, x, k) => sum + x * (b[k] as number), 0)));

    test(separate_projections.identity, () => {
      const { token, position, w1, w2, output } = separate_projections;
      const joined = w1.map((row, k) => [...row, ...(w2[k] as number[])]);
      const input = fullInput(tableOf(token), tableOf(position), { query: joined, key: joined }, 1);
      close(superpose.schemeScores({ ...input, scale: 1 }).logits, gram(output));
    });

    test(shared_projection.identity, () => {
      const { token, position, w, output } = shared_projection;
      const [content, p] = [tableOf(token), tableOf(position)];
      const twice = w.map((row) => [...row, ...row]);
      const shared = { content, position: p, query: linearOf(w), key: linearOf(w), heads: 1, scale: 1 };
      close(superpose.schemeScores({ scheme: 'add', ...shared }).logits, gram(output));
      const input = fullInput(content, p, { query: twice, key: twice }, 1);
      close(superpose.schemeScores({ ...input, scale: 1 }).logits, gram(output));
    });

    test(tied_scores.identity, () => {
      const { token, position, query_weight, key_weight, heads, terms, logits } = tied_scores;
      const [content, p] = [tableOf(token), tableOf(position)];
      const tied = (weight: number[][]) => weight.map((row) => [...row, ...row]);
      const weights = { query: tied(query_weight), key: tied(key_weight) };
      const joinedUp = superpose.schemeScores(fullInput(content, p, weights, heads));
      close(joinedUp.terms, flat(terms));
      close(joinedUp.logits, flat(logits));
      const shared = { query: linearOf(query_weight), key: linearOf(key_weight), heads };
      const added = superpose.schemeScores({ scheme: 'add', content, position: p, ...shared });
      close(added.terms, joinedUp.terms);
      close(added.logits, joinedUp.logits);
    });
  });

  test('no tokens, no scores', () => {
    const none = (columns: number) => ({ data: new Float64Array(), rows: 0, columns });
    for (const scheme of ['concat-raw', 'concat-full', 'concat-block-diagonal'] as const)
      expect(
        superpose.schemeScores({ scheme, content: none(4), position: none(2), d_position: 2, heads: 1 })
          .terms,
      ).toHaveLength(0);
  });
});
