// Which shares of MiniLM's first layer depend on the tables' means, and which do not.
import type { MiniLM, PooledShares } from 'add-or-concatenate';
import { beforeAll, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { describeModel, model } from '../support/model.ts';
import { combined } from '../support/naive.ts';
import { largest, largestDifference, mean } from '../support/numbers.ts';
import { minilm as oracle } from '../support/oracles.ts';

const overAll = { gauge: 'raw', excludedRows: [] } as const;
const asMeasured = { raw: overAll, canonical: { gauge: 'canonical' } } as const;

/** token → token, token → position, position → token, position → position, and all terms with a constant. */
const kindOf = [0, 1, 4, 2, 3, 4, 4, 4, 4];
const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };

// From an independent implementation in float64: shares in %, ten sentences pooled, in the order above. Raw
// shares are over all rows, canonical ones without the row of [CLS].
const measured: Record<'raw' | 'canonical', number[][]> = {
  raw: [
    [77, 1, 12, 3, 7],
    [85, 0, 0, 7, 8],
    [0, 0, 0, 96, 3],
    [43, 3, 6, 22, 26],
    [25, 2, 10, 37, 25],
    [9, -1, 4, 46, 42],
    [55, -3, -12, 10, 49],
    [50, 3, 7, 13, 28],
    [49, 4, 17, 15, 14],
    [10, -1, -15, 2, 104],
    [65, 7, 9, 4, 16],
    [30, 11, -4, 50, 13],
  ],
  canonical: [
    [78, 0, 1, 1, 20],
    [76, 0, 0, 0, 24],
    [0, 0, 0, 98, 1],
    [46, 0, 1, 23, 30],
    [35, 1, 0, 45, 19],
    [13, 1, 1, 62, 23],
    [50, 0, 2, 0, 47],
    [73, 0, 1, 0, 25],
    [77, 1, 0, 0, 22],
    [19, 0, 1, 0, 81],
    [77, 0, 0, 0, 22],
    [50, 27, 3, 2, 18],
  ],
};
const means = { raw: [41.5, 2.2, 2.9, 25.3, 28.0], canonical: [49.6, 2.6, 0.8, 19.2, 27.8] };

describeModel('the gauge of MiniLM', () => {
  let minilm: MiniLM;
  const pooled: Partial<Record<'raw' | 'canonical', PooledShares>> = {};
  beforeAll(async () => {
    minilm = await model();
    for (const gauge of ['raw', 'canonical'] as const) {
      const scores = await Promise.all(
        oracle.sentences.map(({ text }) => minilm.decompose(text, { ...asMeasured[gauge], groups })),
      );
      pooled[gauge] = plain.poolShares(scores, kindOf);
    }
  });

  test.each(['raw', 'canonical'] as const)('%s shares of every head, within a point', (gauge) => {
    const { heads, mean: ofHeads } = pooled[gauge] as PooledShares;
    measured[gauge].forEach((expected, head) => {
      expected.forEach((share, kind) => {
        expect(Math.abs(100 * (heads[5 * head + kind] as number) - share), `${head} ${kind}`).toBeLessThan(1);
      });
    });
    means[gauge].forEach((share, kind) => {
      expect(100 * (ofHeads[kind] as number)).toBeCloseTo(share, 0);
    });
  });

  test('cross terms fall from 11.1 to 3.4 %, and head 11 keeps its one', () => {
    const sizes = (gauge: 'raw' | 'canonical') =>
      minilmHeads.map((head) =>
        [1, 2].reduce((sum, kind) => sum + Math.abs(pooled[gauge]?.heads[5 * head + kind] as number), 0),
      );
    expect((100 * mean(sizes('raw'))).toFixed(1)).toBe('11.1');
    expect((100 * mean(sizes('canonical'))).toFixed(1)).toBe('3.4');
    const others = sizes('canonical').slice(0, 11);
    expect(largest(others)).toBeLessThan(0.03);
    expect(sizes('canonical')[11]).toBeGreaterThan(0.25);
  });

  test('canonical is the default; [CLS] is excluded in either gauge, unless excludedRows is empty', async () => {
    const { text, shares } = oracle.river_bank;
    const scores = await minilm.decompose(text);
    expect([scores.gauge, scores.excludedRows]).toEqual(['canonical', [0]]);
    expect(await minilm.decompose(text, { gauge: 'canonical', excludedRows: [0] })).toEqual(scores);
    const raw = await minilm.decompose(text, { gauge: 'raw' });
    expect([raw.gauge, raw.excludedRows]).toEqual(['raw', [0]]);
    const all = await minilm.decompose(text, overAll);
    expect([all.gauge, all.excludedRows]).toEqual(['raw', []]);
    // Raw terms do not depend on which rows shares leave out.
    expect(all.terms).toEqual(raw.terms);
    expect(largestDifference(all.shares, shares.sixteen.flat())).toBeLessThan(1e-6);
    expect(largestDifference(raw.shares, all.shares)).toBeGreaterThan(0.1);
    expect(largestDifference(raw.logits, scores.logits)).toBeLessThan(1e-12);
    expect(largest(scores.residuals) / largest(scores.terms)).toBeLessThan(4e-6); // 8.6e-7
    // A text of [CLS] and [SEP] alone has only one row that is not excluded, so there are no shares.
    expect([...(await minilm.decompose('')).shares].every(Number.isNaN)).toBe(true);
  });

  test('raw over all rows is numpy’s, head by head and pooled', () => {
    const { per_head_nine, pooled_four } = oracle.ten_sentences;
    const { heads, pooled: ofAll } = pooled.raw as PooledShares;
    per_head_nine.forEach((nine, head) => {
      // Kinds 0 to 3 are one term each.
      for (const [kind, term] of [0, 1, 3, 4].entries())
        expect(heads[5 * head + kind]).toBeCloseTo(nine[term] as number, 6);
    });
    expect(ofAll[3]).toBeCloseTo(pooled_four[3] as number, 6);
  });

  test('position → position of the average head: the rows that shares leave out change it, not the gauge', async () => {
    const shareOf = async (options: object) => {
      const scores = await minilm.decompose('The cat sat on the mat.', { groups, ...options });
      return (plain.poolShares([scores], kindOf).mean[3] as number).toFixed(3);
    };
    expect(await shareOf(overAll)).toBe('0.241');
    expect(await shareOf({ gauge: 'raw' })).toBe('0.109');
    expect(await shareOf({})).toBe('0.114');
  });

  // docs/evidence.md has these numbers.
  test('what the rows change, and what the gauge does, over the ten sentences', async () => {
    const raw = plain.poolShares(
      await Promise.all(oracle.sentences.map(({ text }) => minilm.decompose(text, { gauge: 'raw', groups }))),
      kindOf,
    );
    const [all, canonical] = [pooled.raw, pooled.canonical] as [PooledShares, PooledShares];
    const percent = (share: number | undefined) => (100 * (share as number)).toFixed(1);
    expect([...raw.mean].map(percent)).toEqual(['55.7', '2.9', '-1.9', '19.1', '24.2']);
    expect(percent(raw.pooled[3])).toBe('94.0');
    /** The largest change of each kind's share, and in which head. */
    const changes = (from: PooledShares, to: PooledShares) =>
      Array.from({ length: 5 }, (_, kind) => {
        const each = minilmHeads.map(
          (head) => (to.heads[5 * head + kind] ?? 0) - (from.heads[5 * head + kind] ?? 0),
        );
        const head = each.findIndex((change) => Math.abs(change) === largest(each));
        return `${percent(each[head])} in ${head}`;
      });
    expect(changes(all, raw)).toEqual(['30.6 in 8', '18.2 in 11', '-36.0 in 9', '-49.2 in 11', '35.3 in 9']);
    expect(changes(raw, canonical)).toEqual([
      '-22.6 in 1',
      '-1.7 in 11',
      '51.4 in 9',
      '-2.1 in 4',
      '-58.6 in 9',
    ]);
    const shares = (kind: number, heads: number[]) =>
      heads.map((head) => percent(raw.heads[5 * head + kind]));
    expect(shares(2, [0, 3, 8])).toEqual(['7.5', '-5.8', '14.1']);
    expect(shares(3, [7, 8, 11, 2])).toEqual(['-0.7', '-0.3', '0.4', '98.7']);
    expect(shares(1, [11])).toEqual(['28.9']);
    const cross = (head: number) => (raw.heads[5 * head + 1] ?? 0) + (raw.heads[5 * head + 2] ?? 0);
    expect([6, 9].map((head) => percent(cross(head)))).toEqual(['-13.0', '-51.1']);
    const sizes = minilmHeads.map((head) =>
      [1, 2].reduce((sum, kind) => sum + Math.abs(raw.heads[5 * head + kind] as number), 0),
    );
    expect(percent(mean(sizes))).toBe('13.2');
  });

  test('head 2 looks at the token before by position alone, in either gauge', async () => {
    /** The mean weight of the previous token, over the queries from `first` on. */
    const before = async (gauge: 'raw' | 'canonical', first: number, chosen: (term: number) => boolean) => {
      const weights: number[] = [];
      for (const { text } of oracle.sentences) {
        const scores = await minilm.decompose(text, { gauge, groups, only: [2] });
        const included = Array.from({ length: 9 }, (_, term) => chosen(term));
        const { softmax } = combined(plain, scores, 2, included);
        for (let i = first; i < scores.n; i++) weights.push(softmax[i * scores.n + i - 1] as number);
      }
      return mean(weights).toFixed(3);
    };
    const positions = (term: number) => term === 4;
    expect(await before('raw', 1, () => true)).toBe('1.000');
    expect(await before('raw', 1, positions)).toBe('0.948');
    // In the canonical gauge [CLS] has no position part for the first word to look at.
    expect(await before('raw', 2, positions)).toBe('0.991');
    expect(await before('canonical', 2, positions)).toBe('0.995');
  });
});

const minilmHeads = Array.from({ length: 12 }, (_, head) => head);
