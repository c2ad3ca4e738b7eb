// Terms and shares by gauge: against the oracle, and properties in any shape.
import { type DecomposeInput, type Gauge, logitsOf, type Scores, sharesOf, termOf } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';
import { combined, randomInput } from '../support/naive.ts';
import { flat, largest, largestDifference, rowsOf, sum } from '../support/numbers.ts';
import { gaugeCases as cases, type GaugeCase, inputOf } from '../support/oracles.ts';

/**
 * Compares relative to the largest value, or to 1 if that is larger. The largest difference seen is 4.9e-7.
 */
const close = (result: ArrayLike<number>, expected: ArrayLike<number>) =>
  expect(largestDifference(result, expected) / Math.max(1, largest(expected))).toBeLessThan(1e-6);

const termsOf = (scores: Scores, head: number) =>
  scores.parts.flatMap((q) => scores.parts.map((k) => termOf(scores, head, q, k)));

function inputOfCase(oracle: GaugeCase): DecomposeInput {
  return inputOf({ ...oracle, norm: oracle.norms[0] ?? { kind: 'none' } });
}

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  describe.each(cases)('$name', (oracle) => {
    const input = inputOfCase(oracle);
    const { apart: separate, shares } = oracle;

    const check = (gauge: Gauge, rows: number[], terms: GaugeCase['raw_terms'], of: unknown) => {
      const scores = superpose.decompose({ ...input, gauge, excludedRows: rows });
      expect(scores.gauge).toBe(gauge);
      expect(scores.excludedRows).toEqual(rows);
      expect(largest(scores.residuals) / largest(scores.terms)).toBeLessThan(1e-6);
      for (const head of scores.heads) {
        close(logitsOf(scores, head), flat(oracle.logits[head] as number[][]));
        termsOf(scores, head).forEach((term, t) => {
          close(term, flat(terms[head]?.[t] as number[][]));
        });
        const expected = (of as (number[] | null)[])[head];
        if (expected) close(sharesOf(scores, head), expected);
        else expect([...sharesOf(scores, head)].every(Number.isNaN)).toBe(true);
      }
    };

    test('raw', () => check('raw', [], oracle.raw_terms, shares.raw));
    test('raw, over the used rows', () =>
      check('raw', separate, oracle.raw_terms, shares.raw_over_used_rows));
    test('canonical', () => check('canonical', separate, oracle.canonical_terms, shares.canonical));
  });

  const input = randomInput(9, 12, 3, 4);
  const { token, position, token_type } = input.summands as Record<string, { data: Float64Array }>;

  /** t + a, p + b, s − a − b; and for row 0 also t + v, p − v. */
  const shifted = (): DecomposeInput => {
    const [a, b, v] = [0, 1, 2].map((stream) =>
      superpose.randomNormal({ rows: 1, columns: 12, standardDeviation: 2, seed: 5, stream }),
    );
    const at = (of: typeof a, cell: number) => of?.data[cell % 12] as number;
    const first = (cell: number) => (cell < 12 ? at(v, cell) : 0);
    const moved = (of: typeof token, by: (cell: number) => number) => ({
      rows: 9,
      columns: 12,
      data: (of as { data: Float64Array }).data.map((x, cell) => x + by(cell)),
    });
    return {
      ...input,
      summands: {
        token: moved(token, (cell) => at(a, cell) + first(cell)),
        position: moved(position, (cell) => at(b, cell) - first(cell)),
        token_type: moved(token_type, (cell) => -at(a, cell) - at(b, cell)),
      },
    };
  };

  test('shifts that no score sees move raw terms and shares, and canonical ones by rounding only', () => {
    const results = (gauge: 'raw' | 'canonical') =>
      [input, shifted()].map((of) => superpose.decompose({ ...of, gauge, excludedRows: [0] })) as [
        Scores,
        Scores,
      ];
    const [raw, rawMoved] = results('raw');
    close(raw.logits, rawMoved.logits);
    expect(largestDifference(raw.terms, rawMoved.terms)).toBeGreaterThan(1);
    expect(largestDifference(raw.shares, rawMoved.shares)).toBeGreaterThan(0.1);
    const [canonical, moved] = results('canonical');
    close(canonical.terms, moved.terms);
    close(canonical.shares, moved.shares);
    // If the row is not excluded, its own shift shows.
    const seen = [input, shifted()].map((of) => superpose.decompose({ ...of, gauge: 'canonical' }));
    expect(largestDifference((seen[0] as Scores).terms, (seen[1] as Scores).terms)).toBeGreaterThan(0.1);
  });

  test('canonical over all rows, wherever scores are taken apart and nothing else is said', () => {
    const { gauge: _, summands, ...layer } = input;
    const named = { gauge: 'canonical', excludedRows: [] } as const;
    const resident = superpose.layer(layer);
    const scores = resident.decompose({ summands });
    expect(scores).toMatchObject(named);
    for (const same of [{}, named]) {
      expect(superpose.decompose({ ...layer, summands, ...same })).toEqual(scores);
    }
    resident.delete();
  });

  test('which rows shares leave out moves no raw term, and their shares', () => {
    const [all, some] = [[], [0]].map((excludedRows) => superpose.decompose({ ...input, excludedRows }));
    expect(some?.terms).toEqual(all?.terms);
    expect(largestDifference(some?.shares ?? [], all?.shares ?? [])).toBeGreaterThan(0.01);
  });

  test('canonical terms of two parts have zero row and column sums', () => {
    const scores = superpose.decompose({ ...input, excludedRows: [0], gauge: 'canonical' });
    for (const head of scores.heads) {
      for (const q of ['token', 'position', 'token_type']) {
        for (const k of ['token', 'position', 'token_type']) {
          const rows = rowsOf({ data: termOf(scores, head, q, k), rows: 9, columns: 9 });
          for (let i = 0; i < 9; i++) {
            close([sum(rows[i] as Float32Array), sum(rows.map((row) => row[i] as number))], [0, 0]);
          }
        }
      }
    }
  });

  test('parts that are added up afterwards are the sums of the terms', () => {
    const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };
    const of = { ...input, excludedRows: [0], gauge: 'canonical' } as const;
    const [coarse, fine] = [superpose.decompose({ ...of, groups }), superpose.decompose(of)];
    close(termOf(coarse, 1, 'token', 'position'), termOf(fine, 1, 'token', 'position'));
    const [a, b] = [termOf(fine, 1, 'token', 'token_type'), termOf(fine, 1, 'token', 'constant')];
    close(
      termOf(coarse, 1, 'token', 'rest'),
      a.map((x, cell) => x + (b[cell] as number)),
    );
  });

  test('combined terms have the shares of the scores', () => {
    const scores = superpose.decompose({ ...input, excludedRows: [0], gauge: 'canonical' });
    const shares = sharesOf(scores, 2);
    const of = (chosen: number[]) =>
      combined(
        superpose,
        scores,
        2,
        Array.from(shares, (_, t) => chosen.includes(t)),
      ).share;
    close([of([5])], [shares[5] as number]);
    close([of([0, 3, 15])], [sum([0, 3, 15].map((t) => shares[t] as number))]);
    // Over all rows the shares differ.
    const everywhere = Array.from(
      shares,
      (_, t) =>
        combined(
          superpose,
          { ...scores, excludedRows: [] },
          2,
          Array.from(shares, (_, index) => index === t),
        ).share,
    );
    expect(largestDifference(everywhere, shares)).toBeGreaterThan(0.01);
  });

  test('scores of fewer than two used rows have no shares, and change none that are pooled', () => {
    const two = superpose.decompose({ ...randomInput(2, 12, 3, 4), excludedRows: [0], gauge: 'canonical' });
    const many = superpose.decompose({ ...input, excludedRows: [0], gauge: 'canonical' });
    const each = [...Array(16).keys()];
    expect([...two.shares].every(Number.isNaN)).toBe(true);
    close(superpose.poolShares([two, many], each).heads, many.shares);
    const none = superpose.poolShares([two, two], each);
    for (const all of [none.heads, none.mean, none.pooled]) expect([...all].every(Number.isNaN)).toBe(true);
  });

  test('a head whose scores are constant has no shares, and changes none of the others', () => {
    const still = {
      ...input.query,
      weight: { ...input.query.weight, data: input.query.weight.data.slice() },
    };
    const { heads } = input;
    // The first head's queries are zero, and so are all its scores.
    still.weight.data.fill(0, 0, still.weight.data.length / heads);
    if (still.bias) still.bias = still.bias.map((value, at) => (at < still.weight.rows / heads ? 0 : value));
    const scores = superpose.decompose({ ...input, query: still });
    const full = superpose.decompose(input);
    const each = [...Array(16).keys()];
    const { heads: ofHeads, mean, pooled } = superpose.poolShares([scores], each);
    expect([...ofHeads.subarray(0, 16)].every(Number.isNaN)).toBe(true);
    expect([...scores.shares.subarray(0, 16)].every(Number.isNaN)).toBe(true);
    close(ofHeads.subarray(16), full.shares.subarray(16));
    const others = Array.from({ length: heads - 1 }, (_, head) =>
      full.shares.subarray(16 * (head + 1), 16 * (head + 2)),
    );
    close(
      mean,
      each.map((term) => sum(others.map((shares) => shares[term] as number)) / (heads - 1)),
    );
    const variance = sum([...full.variances].slice(1));
    close(
      pooled,
      each.map(
        (term) => sum(others.map((_, head) => full.covariances[16 * (head + 1) + term] as number)) / variance,
      ),
    );
  });
});
