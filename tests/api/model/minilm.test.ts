// MiniLM through the API, compared with the oracle.
import { type Floats, logitsOf, type MiniLM, type Sentence, sharesOf, termOf } from 'add-or-concatenate';
import { beforeAll, describe, expect, test } from 'vitest';
import { isTight, scoreBound } from '../support/bounds.ts';
import { oneBuild, plain, relaxed } from '../support/builds.ts';
import { describeModel, model } from '../support/model.ts';
import { largest, largestDifference, mean, rowOf, rowsOf, tableOf } from '../support/numbers.ts';
import { minilm as oracle } from '../support/oracles.ts';

/** The largest difference seen is 7.6e-7. */
const close = (result: ArrayLike<number>, expected: ArrayLike<number>, bound = 2e-6) =>
  expect(largestDifference(result, expected)).toBeLessThan(bound * Math.max(1, largest(expected)));

const groups = {
  /** Everything that does not depend on the position is counted as the token's. */
  four: { token: ['token', 'token_type', 'constant'], position: ['position'] },
  nine: { token: ['token'], position: ['position'], constant: ['token_type', 'constant'] },
};

describeModel('MiniLM', () => {
  let minilm: MiniLM;
  beforeAll(async () => {
    minilm = await model();
  });

  describe('the tokenizer', () => {
    test.each(oracle.sentences)('$text', async ({ text, ids }) => {
      expect((await minilm.tokenize(text)).ids).toEqual(ids);
    });

    test.each(oracle.hostile)('$name', async ({ text, ids }) => {
      const sentence = await minilm.tokenize(text);
      expect(sentence).toMatchObject({ ids, dropped: 0 });
      expect(sentence.tokens).toHaveLength(ids.length);
    });

    test('a sentence has its word pieces', async () => {
      const { text, ids, pieces } = oracle.river_bank;
      expect(await minilm.tokenize(text)).toEqual({ ids, tokens: pieces, dropped: 0 });
    });

    test('ids have their word pieces', async () => {
      const { ids, pieces } = oracle.river_bank;
      expect(await minilm.pieces(ids)).toEqual(pieces);
      expect(await minilm.pieces([0, 30_521])).toEqual(['[PAD]', '##～']);
      expect(await minilm.pieces([])).toEqual([]);
      await expect(minilm.pieces([30_522])).rejects.toThrow(RangeError);
      await expect(minilm.pieces('king' as never)).rejects.toThrow(TypeError);
    });

    test('no text is [CLS] [SEP], and has scores', async () => {
      expect(await minilm.tokenize('')).toEqual({ ids: [101, 102], tokens: ['[CLS]', '[SEP]'], dropped: 0 });
      const scores = await minilm.decompose('');
      expect(scores.n).toBe(2);
      expect(largest(scores.residuals) / largest(scores.terms)).toBeLessThan(2e-6); // 4.4e-7
    });

    test('510 words fit; the rest is dropped, and [SEP] stays last', async () => {
      const words = (count: number) => minilm.tokenize('river '.repeat(count));
      expect(await words(510)).toMatchObject({ dropped: 0 });
      expect((await words(510)).ids).toHaveLength(512);
      const cut = await words(600);
      expect(cut.dropped).toBe(90);
      expect(cut.ids).toEqual((await words(510)).ids);
      expect(cut.tokens).toEqual((await words(510)).tokens);
      expect([cut.ids[0], cut.ids[510], cut.ids[511]]).toEqual([101, 2314, 102]);
    });

    test('a limit on tokens', async () => {
      const { ids, tokens, dropped } = await minilm.tokenize('the river bank', 4);
      expect([ids, tokens, dropped]).toEqual([[101, 1996, 2314, 102], ['[CLS]', 'the', 'river', '[SEP]'], 1]);
      expect(await minilm.tokenize('the river bank', 2)).toMatchObject({ ids: [101, 102], dropped: 3 });
    });

    test('100,000 characters are allowed', async () => {
      expect((await minilm.tokenize('ab '.repeat(33_333))).dropped).toBeGreaterThan(30_000);
      expect((await minilm.tokenize('a'.repeat(100_000))).tokens).toEqual(['[CLS]', '[UNK]', '[SEP]']);
    });
  });

  describe('the tables', () => {
    /** The rows of all 512 positions; the words do not matter. */
    let all: Awaited<ReturnType<MiniLM['rows']>>;
    beforeAll(async () => {
      all = await minilm.rows({ ids: Array<number>(512).fill(2314) });
    });

    test('width, heads and positions', () => {
      expect([minilm.d_model, minilm.heads, minilm.positions]).toEqual([384, 12, 512]);
      expect([all.position.rows, all.position.columns]).toEqual([512, 384]);
    });

    // Positions scaled by gamma and centred, without sigma: the scores of positions alone. In head 2, far
    // positions, beyond any short sentence, outbid the neighbour; in head 5 nothing does.
    test('position against position looks one back in heads 2 and 5, among the first 128 keys', async () => {
      const { normalization, query, key, heads } = await minilm.layer();
      const position = tableOf(
        rowsOf(all.position).map((row) => {
          const centre = mean(row);
          return [...row].map((x, c) => (normalization.gamma?.[c] as number) * (x - centre));
        }),
      );
      const bare = (linear: typeof query) => ({ weight: linear.weight });
      const rows = Array.from({ length: 48 }, (_, i) => 8 + i);
      const lookingBack = (logits: Floats, keys: number) =>
        rows.filter((row) => strongest(logits.subarray(512 * row, 512 * row + keys)) === row - 1).length;
      const counts = new Map<number, number[]>([
        [128, []],
        [512, []],
      ]);
      for (let head = 0; head < heads; head++) {
        const scores = plain.decompose({
          summands: { position },
          gauge: 'raw',
          query: bare(query),
          key: bare(key),
          heads,
          only: [head],
        });
        const logits = logitsOf(scores, head);
        for (const [keys, rowCounts] of counts) rowCounts.push(lookingBack(logits, keys));
        for (const { head: of, keys } of oracle.position_scores.most_keys) {
          if (of !== head) continue;
          expect(lookingBack(logits, keys)).toBe(48);
          if (keys < 512) expect(lookingBack(logits, keys + 1)).toBeLessThan(48);
        }
      }
      for (const { keys, rows_at_minus_one } of oracle.position_scores.counts) {
        expect(counts.get(keys)).toEqual(rows_at_minus_one);
      }
      expect(counts.get(128)?.[2]).toBe(48);
      expect(counts.get(512)?.[2]).toBe(6);
    });

    test('a token row is the same wherever it stands', async () => {
      const { token } = await minilm.rows(await minilm.tokenize('bank river bank'));
      expect(rowOf(token, 3)).toEqual(rowOf(token, 1));
      expect(rowOf(token, 2)).toEqual(rowOf(all.token, 0));
    });
  });

  describe('one sentence', () => {
    const { text, shares, cells } = oracle.river_bank;
    // The settings of the numbers from numpy.
    const overAll = { gauge: 'raw', excludedRows: [] } as const;

    test('sixteen terms: their shares, and single cells', async () => {
      const scores = await minilm.decompose(text, overAll);
      expect(scores.parts).toEqual(['token', 'position', 'token_type', 'constant']);
      expect(scores.sentence).toEqual(await minilm.tokenize(text));
      for (const head of scores.heads) close(sharesOf(scores, head), shares.sixteen[head] as number[]);
      for (const { head, query, key, direct_logits, terms } of cells) {
        close(logitsOf(scores, head).subarray(query * 16, query * 16 + 16), direct_logits);
        const result = scores.parts.flatMap((q) =>
          scores.parts.map((k) => termOf(scores, head, q, k)[query * 16 + key] as number),
        );
        close(result, terms);
        close([result.reduce((sum, x) => sum + x, 0)], [direct_logits[key] as number]);
      }
    });

    test.each(['nine', 'four'] as const)('%s terms', async (kind) => {
      const scores = await minilm.decompose(text, { groups: groups[kind], ...overAll });
      for (const head of scores.heads) close(sharesOf(scores, head), shares[kind][head] as number[]);
    });

    // Counting the segment as the position's is the mistake that gives four wrong terms.
    test('the segment belongs to what does not depend on the position', async () => {
      const wrong = { token: ['token', 'constant'], position: ['position', 'token_type'] };
      const scores = await minilm.decompose(text, { groups: wrong, ...overAll });
      expect(largestDifference(sharesOf(scores, 0), shares.four[0] as number[])).toBeGreaterThan(0.01);
    });

    test('tokenized before is the same', async () => {
      const sentence: Sentence = await minilm.tokenize(text);
      expect(await minilm.decompose(sentence, { only: [2] })).toEqual(
        await minilm.decompose(text, { only: [2] }),
      );
    });

    test('the stack agrees with the first layer', async () => {
      const input = { summands: await minilm.rows(await minilm.tokenize(text)), ...(await minilm.layer()) };
      const bound = scoreBound(input);
      const { logits } = await minilm.decompose(text, { layer: 0, gauge: 'raw' });
      const expected = plain.decompose(input);
      expect(isTight(bound, expected.logits)).toBe(true);
      expect(largestDifference(logits, expected.logits)).toBeLessThan(bound);
    });

    test.skipIf(oneBuild)('both builds agree', async () => {
      const input = { summands: await minilm.rows(await minilm.tokenize(text)), ...(await minilm.layer()) };
      const [a, b] = [plain.decompose(input), relaxed.decompose(input)];
      const bound = 2 * scoreBound(input);
      expect(largestDifference(a.terms, b.terms)).toBeLessThan(bound);
      expect(largestDifference(a.logits, b.logits)).toBeLessThan(bound);
    });
  });
});

/** The place of the largest score in a row. */
function strongest(row: Floats): number {
  let best = 0;
  for (let j = 1; j < row.length; j++) if ((row[j] as number) > (row[best] as number)) best = j;
  return best;
}
