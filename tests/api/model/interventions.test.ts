// MiniLM with positions removed from attention or from everything else, against tests/reference/values.py.
import { join } from 'node:path';
import { openModel, type PositionsRemoved, type Sentence } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import { root } from '../../package/support/project.ts';
import values from '../../reference/values.json' with { type: 'json' };
import { plain } from '../support/builds.ts';
import { describeModel, model } from '../support/model.ts';
import { dot, largestDifference } from '../support/numbers.ts';

/** The names that the API has for the oracle's kinds. */
const names: Record<string, keyof PositionsRemoved> = {
  nothing: 'nothing',
  all_but_attention: 'allButAttention',
  attention: 'attention',
  everything: 'everything',
};

/** The bound for cosines of float32 vectors: about ten times the epsilon of float32. */
const within = 1e-6;

describeModel('on MiniLM', () => {
  test.each(values.sentences)(
    '“$text” without positions here or there',
    async ({ text, shuffled, taken }) => {
      const minilm = await model();
      const sentence = await minilm.tokenize(text);
      const at = <T>(list: readonly T[]) => shuffled.map((place) => list[place] as T);
      const other: Sentence = { ids: at(sentence.ids), tokens: at(sentence.tokens), dropped: 0 };
      const results = await minilm.withoutPositions(sentence);
      const shuffledResults = await minilm.withoutPositions(other);
      for (const [name, expected] of Object.entries(taken)) {
        const row = (of: PositionsRemoved, kind: keyof PositionsRemoved, layer: number) =>
          of[kind].data.subarray(384 * layer, 384 * (layer + 1)) as Float64Array;
        const kind = names[name] as keyof PositionsRemoved;
        for (const [layer, cosine] of expected.cosines.entries())
          expect(
            Math.abs(dot(row(results, kind, layer), row(results, 'nothing', layer)) - cosine),
          ).toBeLessThan(within);
        expect(
          Math.abs(1 - dot(row(results, kind, 6), row(shuffledResults, kind, 6)) - expected.order),
          name,
        ).toBeLessThan(within);
      }
    },
  );
});

test('withoutPositions() works for a reader’s model', async () => {
  const opened = await openModel(plain, join(root, 'tests/reference/checkpoints/bert'));
  const ids = [2, 3, 4, 5];
  const taken = await opened.withoutPositions({ ids });
  const forward = await opened.forward({ ids });
  expect(largestDifference(taken.nothing.data, forward.embeddings.data)).toBeLessThan(1e-14);
  expect(largestDifference(taken.everything.data, forward.embeddings.data)).toBeGreaterThan(1e-3);
  opened.delete();
});
