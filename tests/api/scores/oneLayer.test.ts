// oneLayer(): one linear layer over a sum and over a concatenation.
import type { Table } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import oracle from '../../reference/norm_between.json' with { type: 'json' };
import { builds } from '../support/builds.ts';
import { flat, largestDifference, rowsOf, tableOf } from '../support/numbers.ts';

/** The product a W, written out. */
const product = (rows: number[][], weight: Table): number[][] =>
  rows.map((row) =>
    Array.from({ length: weight.columns }, (_, m) =>
      row.reduce((sum, value, c) => sum + value * (weight.data[c * weight.columns + m] as number), 0),
    ),
  );

const meanOf = (row: number[]) => row.reduce((sum, value) => sum + value, 0) / row.length;
const variance = (row: number[]) => {
  const mean = meanOf(row);
  return meanOf(row.map((value) => (value - mean) ** 2));
};
const normalized = (row: number[]) => {
  const [mean, spread] = [meanOf(row), Math.sqrt(variance(row) + 1e-5)];
  return row.map((value) => (value - mean) / spread);
};

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  const draw = (rows: number, stream: number) =>
    superpose.randomNormal({ rows, columns: 6, seed: 3, stream }) as Table<Float64Array>;
  const parts = [draw(5, 0), draw(5, 1), draw(5, 2)];
  const weights = [draw(6, 3), draw(6, 4), draw(6, 5)];
  const [tokens, positions, segments] = parts.map((part) => rowsOf(part).map((row) => [...row])) as [
    number[][],
    number[][],
    number[][],
  ];
  const pulled = (t: number, k: number) => ({
    ...(weights[k] as Table),
    data: Float64Array.from(
      weights[k]?.data ?? [],
      (value, at) => (1 - t) * value + t * (weights[0]?.data[at] as number),
    ),
  });

  test.each(['none', 'layer_norm'] as const)('both outputs as written out; norm: %s', (norm) => {
    const between = norm === 'none' ? (row: number[]) => row : normalized;
    const result = superpose.oneLayer({ parts, weights, pull: 0.25, positionScale: -2, norm });
    const joined = tokens.map((token, i) =>
      between([...token, ...(positions[i] ?? []).map((value) => -2 * value), ...(segments[i] ?? [])]),
    );
    const sums = tokens.map((token, i) =>
      between(token.map((value, c) => value - 2 * (positions[i]?.[c] ?? 0) + (segments[i]?.[c] ?? 0))),
    );
    const blocks = [weights[0] as Table, pulled(0.25, 1), pulled(0.25, 2)];
    const contributions = blocks.map((block, k) =>
      product(
        joined.map((row) => row.slice(6 * k, 6 * k + 6)),
        block,
      ),
    );
    const concatenated = joined.map((_, i) =>
      contributions
        .map((rows) => rows[i] as number[])
        .reduce((sum, row) => sum.map((value, m) => value + (row[m] as number))),
    );
    expect(result.contributions).toHaveLength(3);
    for (const [k, rows] of contributions.entries())
      expect(
        largestDifference(result.contributions[k] as Float64Array, Float64Array.from(rows.flat())),
      ).toBeLessThan(1e-13);
    const added = product(sums, weights[0] as Table).flat();
    expect(largestDifference(result.added, Float64Array.from(added))).toBeLessThan(1e-13);
    expect(largestDifference(result.concatenated, Float64Array.from(concatenated.flat()))).toBeLessThan(
      1e-13,
    );
    const differences = concatenated.flat().map((value, k) => value - (added[k] as number));
    expect(result.difference).toBeCloseTo(Math.max(...differences.map(Math.abs)), 12);
    expect(result.relativeDifference).toBeCloseTo(Math.hypot(...differences) / Math.hypot(...added), 12);
    // No factor from −2 to 2 misses by less.
    const missOf = (c: number) =>
      Math.hypot(...concatenated.flat().map((value, k) => c * value - (added[k] as number))) /
      Math.hypot(...added);
    for (let c = -2; c <= 2; c += 0.01) expect(missOf(c)).toBeGreaterThanOrEqual(result.miss - 1e-12);
  });

  test('with W₂ = W₁ concatenating is adding, exactly where nothing is rounded', () => {
    const integers = (seed: number) => {
      const { data } = superpose.randomUniform({ rows: 6, columns: 6, seed });
      return { data: data.map((value) => Math.round(16 * value)), rows: 6, columns: 6 } as Table;
    };
    const result = superpose.oneLayer({
      parts: [integers(1), integers(2)],
      weights: [integers(3), integers(4)],
      pull: 1,
    });
    expect(result).toMatchObject({ difference: 0, relativeDifference: 0, miss: 0, sharedMiss: 0 });
    expect(result.concatenated).toEqual(result.added);
  });

  test('one part alone is neither added to another nor scaled', () => {
    const [part, weight] = [parts[0] as Table, weights[0] as Table];
    const result = superpose.oneLayer({ parts: [part], weights: [weight], positionScale: 4, undoes: true });
    const integers = Float64Array.from(product(tokens, weight).flat());
    expect(largestDifference(result.added, integers)).toBeLessThan(1e-13);
    expect(result.concatenated).toEqual(result.added);
    expect(result.weights).toEqual([weight]);
  });

  test.each([8, 768])('with LayerNorm and W₂ = W₁, only lengths differ: d = %i', (d) => {
    const pairs = 256;
    const [token, position] = [6, 7].map((stream) =>
      superpose.randomNormal({ rows: pairs, columns: d, seed: 35, stream, standardDeviation: 0.8 }),
    ) as [Table<Float64Array>, Table<Float64Array>];
    const weight = superpose.randomNormal({ rows: d, columns: 8, seed: 3, standardDeviation: 'fan_in' });
    const input = { parts: [token, position], weights: [weight, weight], norm: 'layer_norm' } as const;
    const { added, concatenated, lengthRatios } = superpose.oneLayer({
      ...input,
      pull: 1,
    });
    const rows = (data: Float64Array) => rowsOf({ data, rows: pairs, columns: 8 }).map((row) => [...row]);
    const length = (row: number[]) => Math.hypot(...row);
    const cosine = (a: number[], b: number[]) =>
      a.reduce((sum, value, k) => sum + value * (b[k] as number), 0) / length(a) / length(b);
    const [sums, joined] = [rows(added), rows(concatenated)];
    const cosines = sums.map((row, k) => cosine(row, joined[k] as number[]));
    expect(1 - Math.min(...cosines)).toBeLessThan(1e-15);
    // C[t; p] = [t − m; p − m], whose halves sum to C(t + p): lengths differ by the ratio of the two spreads.
    const spreadOf = (row: number[]) => Math.sqrt(variance(row) + 1e-5);
    const times = sums.map((row, k) => length(joined[k] as number[]) / length(row));
    const [tokens, positions] = [token, position].map((part) => rowsOf(part).map((row) => [...row])) as [
      number[][],
      number[][],
    ];
    for (const [k, value] of times.entries()) {
      const [t, p] = [tokens[k], positions[k]] as [number[], number[]];
      const ratio = spreadOf(t.map((x, c) => x + (p[c] as number))) / spreadOf([...t, ...p]);
      expect(Math.abs(value / ratio - 1)).toBeLessThan(1e-12);
    }
    // The values for these draws.
    const [least, most] = d === 8 ? [0.62, 1.81] : [1.31, 1.48];
    expect(Math.min(...lengthRatios)).toBeCloseTo(least, 2);
    expect(Math.max(...lengthRatios)).toBeCloseTo(most, 2);
    expect(lengthRatios).toHaveLength(pairs);
    for (const [k, ratio] of lengthRatios.entries())
      expect(Math.abs(ratio / (times[k] as number) - 1)).toBeLessThan(1e-12);
    // If the second half has another shift or other gains, the directions differ.
    const shift = rowsOf(superpose.randomNormal({ rows: 2, columns: d, seed: 9, standardDeviation: 0.3 }));
    const output = (row: number[]) => product([row], weight)[0] as number[];
    const [first, second] = shift.map((row) => output([...row])) as [number[], number[]];
    const moved = (row: number[], by: number[]) => row.map((value, m) => value + (by[m] as number));
    const shifted = sums.map((row, k) =>
      cosine(moved(row, first), moved(moved(joined[k] as number[], first), second)),
    );
    expect(Math.min(...shifted)).toBeLessThan(0.99);
    // This is so even if only the first half has a shift, which is that of the sum.
    const half = sums.map((row, k) => cosine(moved(row, first), moved(joined[k] as number[], first)));
    expect(Math.min(...half)).toBeLessThan(0.999);
  });

  test.each(oracle.written_out)('a norm between, as numpy has it', (expected) => {
    const weightOf = (rows: number[][]) =>
      tableOf((rows[0] as number[]).map((_, c) => rows.map((row) => row[c] as number)));
    const input = {
      parts: [tableOf(expected.token), tableOf(expected.position)],
      weights: [weightOf(expected.first_weight), weightOf(expected.second_weight)],
      norm: 'layer_norm',
    } as const;
    const close = (ours: ArrayLike<number>, theirs: number[] | number[][]) =>
      expect(largestDifference(ours, flat(theirs))).toBeLessThan(1e-12);
    const separate = superpose.oneLayer(input);
    close(separate.added, expected.added);
    close(separate.concatenated, expected.concatenated);
    for (const [k, part] of separate.contributions.entries())
      close(part, expected.contributions[k] as number[][]);
    const same = superpose.oneLayer({ ...input, pull: 1 });
    close(same.concatenated, expected.one_matrix);
    close(same.lengthRatios, expected.length_ratios);
  });

  test('with a norm one row is only scaled, and several are no longer equal', () => {
    const options = { weights: weights.slice(0, 2), pull: 1, norm: 'layer_norm' } as const;
    const of = (rows: number) =>
      superpose.oneLayer({
        ...options,
        parts: parts.slice(0, 2).map((part) => ({ ...part, rows, data: part.data.slice(0, 6 * rows) })),
      });
    expect(of(1).relativeDifference).toBeGreaterThan(0.1);
    expect(of(1).miss).toBeLessThan(1e-12);
    expect(of(5).miss).toBeGreaterThan(0.01);
  });

  test('W₂/ρ undoes ρ; one matrix for both cannot, as least squares over many rows finds', () => {
    const two = { parts: parts.slice(0, 2), weights: weights.slice(0, 2) };
    const undone = superpose.oneLayer({ ...two, positionScale: 4, undoes: true });
    const plain = superpose.oneLayer(two);
    expect(plain).toEqual(superpose.oneLayer({ ...two, pull: 0, positionScale: 1, norm: 'none' }));
    expect(largestDifference(undone.concatenated, plain.concatenated)).toBeLessThan(1e-13);
    // With one channel, w minimizes the sum of ((x + ρp) w − (x + p))².
    const [x, p] = [0, 1].map(
      (stream) => superpose.randomNormal({ rows: 100_000, columns: 1, seed: 9, stream }).data,
    );
    let [cross, norm, target] = [0, 0, 0];
    x?.forEach((value, i) => {
      const other = p?.[i] as number;
      cross += (value + 4 * other) * (value + other);
      norm += (value + 4 * other) ** 2;
      target += (value + other) ** 2;
    });
    expect(undone.sharedMiss).toBeCloseTo(Math.sqrt(1 - cross ** 2 / norm / target), 2);
  });
});

test('numpy’s draws: without a shift the norm changes lengths alone; a shift, even of one half, turns the output', () => {
  for (const { least_cosine: least, median_cosine: median } of oracle.draws) {
    expect(1 - least.no_shift).toBeLessThan(1e-15);
    expect(least.first_shift_alone).toBeLessThan(0.99);
    expect(least.both_shifts).toBeLessThan(least.first_shift_alone);
    expect(median.both_shifts).toBeLessThan(median.first_shift_alone);
    expect(least.other_gains).toBeLessThan(0.9);
  }
});
