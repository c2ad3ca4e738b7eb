// How much of its width a sinusoidal table uses, against every number in tests/reference/channels.json.
//
// An entry sin(w p) or cos(w p) has an angle rounded to 2⁻⁵³ of its size, at most p, and a value rounded
// once. So each side of a comparison may be off by up to (L + 1)·2⁻⁵³, from which the bounds below follow.
import type { SinusoidalOptions, Table } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import channels from '../../reference/channels.json' with { type: 'json' };
import { plain } from '../support/builds.ts';
import { flat, largestDifference, mapTable, rowOf, rowsOf, tableOf } from '../support/numbers.ts';

const u = 2 ** -53;

type Kind = Pick<SinusoidalOptions, 'layout' | 'spacing'>;
const kinds: Record<string, Kind> = {
  aiayn: { layout: 'interleaved', spacing: 'd_model' },
  t2t: { layout: 'concatenated', spacing: 'timescales' },
  transformer_xl: { layout: 'concatenated', spacing: 'd_model' },
};
const sinusoid = (kind: string, positions: number, d_model: number) =>
  plain.sinusoidal({ positions, d_model, ...kinds[kind] });

test.each(channels.moving)('channels of $kind that move, $positions by $width', (oracle) => {
  const ranges = plain.channelRanges(sinusoid(oracle.kind, oracle.positions, oracle.width));
  const counts = oracle.thresholds.map((threshold) => ranges.filter((range) => range > threshold).length);
  expect(counts).toEqual(oracle.counts);
});

type Spectrum = Omit<(typeof channels.ranks)[0]['raw'], 'first_dropped_over_first'> & {
  first_dropped_over_first: number | null;
};

/**
 * The singular values of either side may be off by the error of the table's entries and by that of a
 * factorization, each at most max(L, d)·2⁻⁵³ of the largest value: 4 max(L, d) 2⁻⁵³ for both sides together.
 * Ranks are computed from squares, and from squares of sums of squares, which makes four times that.
 */
function expectSpectrum(table: Table, centred: boolean, oracle: Spectrum) {
  const size = Math.max(table.rows, table.columns);
  const ofLargest = 4 * size * u;
  const near = (ours: number, theirs: number) =>
    expect(Math.abs(ours / theirs - 1)).toBeLessThanOrEqual(4 * ofLargest);
  const ranks = plain.ranks({ table, centred });
  near(ranks.stable, oracle.stable_rank);
  near(ranks.participationRatio, oracle.participation_ratio);
  const dims = [0.9, 0.99, 0.999].map((share) => plain.ranks({ table, centred, share }).energy);
  expect(dims).toEqual([oracle.dims_90, oracle.dims_99, oracle.dims_999]);
  expect(ranks.numerical).toBe(oracle.numerical_rank);
  const values = ranks.singularValues;
  const first = values[0] as number;
  const { leading } = oracle;
  expect(largestDifference(values.subarray(0, leading.length), leading)).toBeLessThanOrEqual(
    ofLargest * first,
  );
  const relative = (at: number) => (values[at] as number) / first;
  const difference = (at: number, theirs: number) =>
    expect(Math.abs(relative(at) - theirs)).toBeLessThanOrEqual(2 * ofLargest);
  difference(oracle.numerical_rank - 1, oracle.last_kept_over_first);
  if (oracle.first_dropped_over_first === null) expect(values).toHaveLength(oracle.numerical_rank);
  else difference(oracle.numerical_rank, oracle.first_dropped_over_first);
}

test.each(channels.ranks)('ranks of $kind, $positions by $width', ({ kind, positions, width, ...oracle }) => {
  const table = sinusoid(kind, positions, width);
  expectSpectrum(table, false, oracle.raw);
  if (oracle.centred) expectSpectrum(table, true, oracle.centred);
});

test('ranks of small tables', () => {
  for (const { table, raw, centred } of channels.small_spectra) {
    expectSpectrum(tableOf(table), false, raw);
    if (centred) expectSpectrum(tableOf(table), true, centred);
  }
});

test.each(channels.spreads)('Gram matrices of $kind, $positions by $width', (oracle) => {
  const { kind, width, positions } = oracle;
  const table = sinusoid(kind, positions, width);
  // d products, each of two entries off by (L + 1) u and itself rounded, like the running sum of at most d /
  // 2. The errors are independent, so they add up by the root of their number. Four times this error is
  // allowed in each of the two entries that a spread compares.
  const bound = 8 * Math.sqrt(width) * (2 * (positions + 1) + width / 2) * u;
  const gram = plain.gram(table);
  if (oracle.squared_norm !== null) {
    for (let p = 0; p < positions; p++) {
      expect(Math.abs((gram.data[p * (positions + 1)] as number) - oracle.squared_norm)).toBeLessThan(bound);
    }
  }
  expect(Math.abs(plain.toeplitzSpread(gram) - oracle.whole)).toBeLessThan(bound);
  const half = Math.floor(width / 2);
  const first = tableOf(rowsOf(table).map((row) => [...row.subarray(0, half)]));
  const ofHalf = plain.toeplitzSpread(plain.gram(first));
  expect(Math.abs(ofHalf - oracle.first_half_of_channels)).toBeLessThan(bound);
  const grams = plain.formGrams({ positions, d_model: width, ...kinds[kind], seed: 1 });
  expect(Math.abs(plain.toeplitzSpread(grams.original) - oracle.whole)).toBeLessThan(bound);
  // Subtracting the mean at most doubles an entry and its error.
  expect(Math.abs(plain.toeplitzSpread(grams.centred) - oracle.row_mean_removed)).toBeLessThan(4 * bound);
});

test.each(channels.bilinear)('PE A PE′ for $kind', ({ kind, positions, width, ...oracle }) => {
  // With W_Q the identity and W_K = A, the scores without positions are x_i · A x_j.
  const identity = mapTable(tableOf(oracle.other), (_, row, column) => Number(row === column));
  const scores = (form: number[][]) => {
    const { logits } = plain.schemeScores({
      scheme: 'none',
      content: sinusoid(kind, positions, width),
      heads: 1,
      scale: 1,
      query: { weight: identity },
      key: { weight: tableOf(form) },
    });
    return { data: logits, rows: positions, columns: positions };
  };
  // Each entry of A multiplies two entries of the table, each off by (L + 1) u, and takes part in at most 2
  // d roundings.
  const bound = (form: number[][]) =>
    flat(form).reduce((sum, a) => sum + Math.abs(a), 0) * (2 * (positions + 1) + 2 * width) * u;
  const commuting = scores(oracle.commuting);
  expect(largestDifference(commuting.data, flat(oracle.commuting_scores))).toBeLessThan(
    bound(oracle.commuting),
  );
  expect(plain.toeplitzSpread(commuting)).toBeLessThan(2 * bound(oracle.commuting));
  const spread = plain.toeplitzSpread(scores(oracle.other));
  expect(Math.abs(spread - oracle.other_spread)).toBeLessThan(2 * bound(oracle.other));
});

describe('the shift operator', () => {
  test.each(channels.shift_errors)('$positions positions of width $width, by $shift', (oracle) => {
    // The oracle counts its positions up to the last shifted one.
    const positions = oracle.positions - oracle.shift;
    const error = plain.shiftError({ positions, d_model: oracle.width, offset: oracle.shift });
    expect(error).toBeLessThan(oracle.less_than);
    expect(error).toBeGreaterThan(0);
  });
});

test('the single numbers that discussions quote', () => {
  const at = (kind: string, length: number, width: number, row: number, channel: number) =>
    rowOf(sinusoid(kind, length, width), row).at(channel) as number;
  const sizes = {
    t2t_512_last_sine_at_127: at('t2t', 128, 512, 127, 255),
    t2t_512_last_cosine_drop_at_127: 1 - at('t2t', 128, 512, 127, 511),
    't2t_512_channel_-16_drop_at_127': 1 - at('t2t', 128, 512, 127, -16),
    't2t_128_channel_-16_drop_at_127': 1 - at('t2t', 512, 128, 127, -16),
    aiayn_512_last_cosine_at_63: at('aiayn', 128, 512, 63, -1),
    aiayn_512_last_cosine_at_127: at('aiayn', 128, 512, 127, -1),
    aiayn_128_last_cosine_at_63: at('aiayn', 128, 128, 63, -1),
    aiayn_128_last_cosine_at_127: at('aiayn', 128, 128, 127, -1),
  };
  expect(Object.keys(sizes)).toEqual(Object.keys(channels.sizes));
  // These angles are below 0.12. An angle and a value are each rounded, on both sides.
  Object.values(channels.sizes).forEach((theirs, k) => {
    expect(Math.abs((Object.values(sizes)[k] as number) - theirs)).toBeLessThanOrEqual(4 * u);
  });
});
