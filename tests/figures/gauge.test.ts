import { readFileSync } from 'node:fs';
import { type DecomposeInput, load, loadMiniLM, sharesOf } from 'superpose';
import { describe, expect, inject, test } from 'vitest';
import * as gauge from '../../web/figures/gauge.ts';
import { seededLayer } from '../../web/figures/seededLayer.ts';
import { sentenceControl } from '../../web/figures/sentence.ts';
import { library } from '../../web/worker/library.ts';
import { apply, headLogits, normalized } from '../api/support/naive.ts';
import { dot, largest, largestDifference, rowCentred, rowOf, sumOf } from '../api/support/numbers.ts';
import { expectSoundPictures, run } from './support.ts';
import { expectTextsApart } from './texts.ts';

// From the published weights, in numpy. Nine terms: token, position and constant with each other.
const oracle = JSON.parse(readFileSync(new URL('../reference/minilm.json', import.meta.url), 'utf8'));
const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };
const fourOf = (nine: ArrayLike<number>) => [0, 1, 3, 4].map((term) => nine[term] as number);

describe.runIf(inject('withModel'))('of MiniLM', () => {
  const head = gauge.figure.controls.head.initial;

  test('the middle of the slider is the sentence as it is, raw and canonical', async () => {
    const result = await run(gauge);
    expectSoundPictures(result);
    expectTextsApart(result);
    const { amounts, raw, canonical, changes } = result.data;
    const middle = amounts.indexOf(0);
    expect(changes[middle]).toBe(0);
    const model = await loadMiniLM(await load());
    const scores = await model.decompose(sentenceControl.initial, { groups, only: [head] });
    const wanted = [oracle.river_bank.shares.nine[head], sharesOf(scores, head)].map(fourOf);
    [raw, canonical].forEach((found, place) => {
      wanted[place]?.forEach((share, kind) => {
        expect(found[middle][kind]).toBeCloseTo(share, 8);
      });
    });
  });

  test('scores and canonical shares stand still, raw ones do not', async () => {
    const { data, figure, state } = await run(gauge);
    const spread = (shares: number[][], kind: number) => {
      const values = shares.map((found) => found[kind] as number);
      return Math.max(...values) - Math.min(...values);
    };
    expect(Math.max(...data.changes)).toBeLessThan(1e-12);
    for (let kind = 0; kind < 5; kind++) expect(spread(data.canonical, kind)).toBeLessThan(1e-11);
    expect(spread(data.raw, 2)).toBeGreaterThan(0.2);
    for (const shares of [...data.raw, ...data.canonical]) {
      expect(shares.reduce((a: number, b: number) => a + b)).toBeCloseTo(1, 10);
    }
    // A shift occurs at most once in each of a term's two parts, so shares are parabolas in it.
    for (let kind = 0; kind < 5; kind++) {
      for (let at = 3; at < data.amounts.length; at++) {
        const [a, b, c, d] = [0, 1, 2, 3].map((back) => data.raw[at - back][kind]) as [
          number,
          number,
          number,
          number,
        ];
        expect(a - 3 * b + 3 * c - d).toBeCloseTo(0, 9);
      }
    }
    expect(figure.describe(data, state)).toContain('the canonical shares change by 0 (rounding)');
  });

  // The library subtracts given means from each part before the products; here the tables are shifted.
  test('raw shares of moved tables are those of given means', async () => {
    const { data } = await run(gauge, { head: 3 });
    const superpose = await load();
    const model = await loadMiniLM(superpose);
    const summands = await model.rows(await model.tokenize(sentenceControl.initial));
    const { rows, columns, data: table } = summands.position;
    const mean = Float64Array.from({ length: columns }, (_, c) => {
      let sum = 0;
      for (let row = 0; row < rows; row++) sum += table[row * columns + c] as number;
      return sum / rows;
    });
    for (const place of [0, 13, 40]) {
      const amount = data.amounts[place] as number;
      const means = {
        token: mean.map((x) => -amount * x),
        position: mean.map((x) => amount * x),
        token_type: new Float64Array(columns),
      };
      const scores = superpose.decompose({
        summands,
        ...(await model.layer()),
        groups,
        only: [3],
        gauge: { means },
      });
      fourOf(sharesOf(scores, 3)).forEach((share, kind) => {
        expect(data.raw[place][kind]).toBeCloseTo(share, 9);
      });
    }
  });

  test.each(['', 'x', 'many words '.repeat(300)])('a text of any length: %#', async (text) => {
    const result = await run(gauge, { text, amount: -2 });
    expectSoundPictures(result);
  });
});

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
  const result = await run(gauge, { of: 'parts', ...settings, head });
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
    const { summands, layer } = seededLayer(library(), superpose, settings.n, settings.seed);
    const input = { summands, ...layer } as Input;
    const { figure, data, state } = await expectScores(input, { weights: 'seeded', ...settings }, head);
    // Without centring rows, shares are those of the matrices themselves.
    const parted = [['token'], ['position'], ['token_type', 'constant']];
    const scores = superpose.decompose({
      ...input,
      groups: { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] },
      only: [head],
      gauge: settings.gauge as 'raw' | 'canonical',
    });
    const size = settings.n ** 2;
    const block = (term: number) => scores.terms.subarray(term * size, (term + 1) * size);
    const rest = sumOf([2, 5, 6, 7, 8].map(block));
    expect(parted).toHaveLength(scores.parts.length);
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
  const input = { summands: await model.rows(await model.tokenize(text)), ...(await model.layer()) };
  const { figure, data, state } = await expectScores(input, { text }, 2);
  expect(figure.describe(data, state)).toContain('In head 2');
  const empty = await run(gauge, { of: 'parts', text: '', centred: 'yes' });
  expectSoundPictures(empty);
  expect(empty.data.n).toBe(2);
  const long = await run(gauge, { of: 'parts', text: 'river '.repeat(300) });
  expect(long.data.n).toBe(128);
  const { marks } = long.figure.scene(long.data, long.state, 350);
  const dots = marks.flatMap((mark) => (mark.mark === 'dots' ? [...Array.from(mark.y)] : []));
  expect(dots.length).toBeGreaterThanOrEqual(2 * 128 ** 2);
  expect(dots.every((y) => y >= 0 && y <= 500)).toBe(true);
});
