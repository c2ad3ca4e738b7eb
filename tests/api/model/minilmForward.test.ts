// The published figure of the whole model: the embedding of one sentence.
import { expect, test } from 'vitest';
import { embed, unit } from '../support/forward.ts';
import { model } from '../support/model.ts';
import { largestDifference, norm } from '../support/numbers.ts';
import { minilm as oracle } from '../support/oracles.ts';
import { describeWeights, readWeights } from '../support/weights.ts';

describeWeights('six layers', () => {
  test('the embedding of the example sentence', async () => {
    const { text, first, norm_before } = oracle.embedding;
    const minilm = await model();
    const pooled = embed(readWeights(), (await minilm.tokenize(text)).ids);
    expect(Math.abs(norm(pooled) / norm_before - 1)).toBeLessThan(1e-9);
    const beginning = unit(pooled).subarray(0, first.length);
    expect(largestDifference(beginning, first)).toBeLessThan(1e-9);
    expect([...beginning.subarray(0, 4)].map((x) => x.toFixed(5))).toEqual([
      '0.06766',
      '0.06356',
      '0.04873',
      '0.07941',
    ]);
  });
});
