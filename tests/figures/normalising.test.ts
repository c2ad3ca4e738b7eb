import { type DecomposeInput, load, loadMiniLM } from 'superpose';
import { expect, inject, test } from 'vitest';
import * as normalising from '../../web/figures/normalising.ts';
import { seededLayer } from '../../web/figures/seededLayer.ts';
import { apply, headLogits, normalized } from '../api/support/naive.ts';
import { dot, largest, largestDifference, rowCentred, rowOf, sumOf } from '../api/support/numbers.ts';
import { expectSoundPictures, run } from './support.ts';
import { expectTextsApart } from './texts.ts';

type Input = Pick<DecomposeInput<Float64Array>, 'summands' | 'normalization' | 'query' | 'key' | 'heads'>;

/** A head's scores from the formula: LayerNorm of the sum, or of each part with β once. */
function scoresOf({ summands, normalization, query, key, heads }: Input, head: number, separately: boolean) {
  const tables = Object.values(summands);
  const n = tables[0]?.rows as number;
  const { beta, ...unbiased } = normalization as NonNullable<typeof normalization>;
  const inputs = Array.from({ length: n }, (_, i) => {
    const parts = tables.map((table) => rowOf(table, i));
    if (!separately) return normalized(sumOf(parts), normalization);
    const alone = parts.map((part) => normalized(part, unbiased));
    return sumOf([...alone, beta ?? new Float64Array(alone[0]?.length ?? 0)]);
  });
  const [queries, keys] = [query, key].map((linear) => inputs.map((row) => apply(linear, row))) as [
    Float64Array[],
    Float64Array[],
  ];
  return headLogits(queries, keys, heads).slice(head * n * n, (head + 1) * n * n);
}

async function expectScores(input: Input, settings: Record<string, string | number>, head: number) {
  const result = await run(normalising, { ...settings, head });
  expectSoundPictures(result);
  expectTextsApart(result);
  const { data } = result;
  const { n } = data;
  const [direct, wrong] = [scoresOf(input, head, false), scoresOf(input, head, true)];
  // Sums of 384 products, twice over, and sixteen terms: far below 1e-11 of the largest of them.
  const bound = 1e-11 * largest(wrong);
  expect(largestDifference(data.direct.sum, direct)).toBeLessThan(bound);
  expect(largestDifference(data.exact.sum, direct)).toBeLessThan(bound);
  expect(largestDifference(data.separate.sum, wrong)).toBeLessThan(bound);
  expect(largestDifference(data.direct.centred, rowCentred(direct, n))).toBeLessThan(bound);
  expect(largestDifference(data.separate.centred, rowCentred(wrong, n))).toBeLessThan(bound);
  expect(Math.abs(data.residuals.separate - largestDifference(direct, wrong))).toBeLessThan(bound);
  return result;
}

test.each([
  { n: 5, head: 3, seed: 1, gauge: 'canonical' },
  { n: 2, head: 0, seed: 4294967295, gauge: 'raw' },
  { n: 64, head: 11, seed: 2, gauge: 'raw' },
  { n: 9, head: 1, seed: 3, gauge: 'canonical' },
])(
  '$n seeded tokens, head $head, $gauge: three matrices straight from the formula',
  async ({ head, ...settings }) => {
    const superpose = await load();
    const { summands, layer } = seededLayer(superpose, settings.n, settings.seed);
    const input = { summands, ...layer } as Input;
    const { figure, data, state } = await expectScores(input, { weights: 'seeded', ...settings }, head);
    // Without centring rows, shares are those of the matrices themselves.
    const groups = [['token'], ['position'], ['token_type', 'constant']];
    const scores = superpose.decompose({
      ...input,
      groups: { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] },
      only: [head],
      gauge: settings.gauge as 'raw' | 'canonical',
    });
    const size = settings.n ** 2;
    const block = (term: number) => scores.terms.subarray(term * size, (term + 1) * size);
    const rest = sumOf([2, 5, 6, 7, 8].map(block));
    expect(groups).toHaveLength(scores.parts.length);
    [block(0), block(1), block(3), block(4), rest].forEach((term, place) => {
      const raw = dot(term, scores.logits) / dot(scores.logits, scores.logits);
      expect(data.uncentred[place]).toBeCloseTo(raw, 10);
      const [a, b] = [rowCentred(term, settings.n), rowCentred(scores.logits, settings.n)];
      expect(data.shares[place]).toBeCloseTo(dot(a, b) / dot(b, b), 10);
    });
    expect(figure.table(data, state).rows).toHaveLength(5 + size + 1);
  },
);

test.runIf(inject('withModel'))('a sentence in MiniLM, and one without a word', async () => {
  const model = await loadMiniLM(await load());
  const text = 'The river bank was closed.';
  const input = { summands: await model.summands(model.tokenize(text)), ...model.layer() };
  const { figure, data, state } = await expectScores(input, { text }, 2);
  expect(figure.describe(data, state)).toContain('In head 2');
  const empty = await run(normalising, { text: '', centred: 'yes' });
  expectSoundPictures(empty);
  expect(empty.data.n).toBe(2);
  const long = await run(normalising, { text: 'river '.repeat(300) });
  expect(long.data.n).toBe(128);
  const { marks } = long.figure.scene(long.data, long.state, 350);
  const dots = marks.flatMap((mark) => (mark.mark === 'dots' ? [...Array.from(mark.y)] : []));
  expect(dots.length).toBeGreaterThanOrEqual(2 * 128 ** 2);
  expect(dots.every((y) => y >= 0 && y <= 500)).toBe(true);
});
