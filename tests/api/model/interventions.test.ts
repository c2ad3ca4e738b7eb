// What positions are for in queries, keys and values: MiniLM against tests/reference/values.py, and what cannot be asked.
import { join } from 'node:path';
import { type CorpusMeans, type MiniLM, openModel, type Sentence } from 'superpose';
import { beforeAll, expect, test } from 'vitest';
import { root } from '../../package/support/project.ts';
import minilm from '../../reference/minilm.json' with { type: 'json' };
import values from '../../reference/values.json' with { type: 'json' };
import { plain } from '../support/builds.ts';
import { describeModel, model } from '../support/model.ts';
import { dot, largestDifference } from '../support/numbers.ts';

const ten = minilm.sentences.map(({ text }) => text);
const close = 1e-9;
const heads = 12;
/** What the API calls the oracle's kinds. */
const names: Record<string, string> = {
  nothing: 'nothing',
  all_but_attention: 'allButAttention',
  attention: 'attention',
  everything: 'everything',
  values: 'values',
  queries_keys: 'queriesKeys',
  all_three: 'allThree',
  residual: 'residual',
};

describeModel('on MiniLM', () => {
  let whole: MiniLM;
  let means: CorpusMeans | undefined;
  beforeAll(async () => {
    whole = await model();
  });

  test.each(values.sentences)('what heads write of “$text”', async ({ text, layers }) => {
    const run = await whole.forward(text, { precision: 'float64' });
    for (const [layer, wanted] of layers.entries()) {
      const found = run.headOutputs({ layer, way: 'streams', gauge: 'canonical', apart: [0] });
      expect(found.parts.length).toBe(values.parts.length);
      const both = ({ overQueries, fromUniform }: Pick<typeof found, 'overQueries' | 'fromUniform'>) => [
        overQueries.shares,
        overQueries.variances,
        fromUniform.shares,
        fromUniform.variances,
      ];
      const [of, all] = [both(found), both(found.layer)];
      for (const [place, list] of [
        wanted.shares.flat(),
        wanted.variances,
        wanted.uniform_shares.flat(),
        wanted.uniform_variances,
      ].entries()) {
        const ours = [...(of[place] as Float64Array), ...(all[place] as Float64Array)];
        expect(largestDifference(ours, list), `layer ${layer}, ${place}`).toBeLessThan(1e-8);
      }
      const { n } = found;
      for (let head = 0; head < heads; head++) {
        const row = found.weighted.subarray((head * n + 1) * n, (head * n + 2) * n);
        expect(largestDifference(row, wanted.weighted[head] as number[])).toBeLessThan(close);
      }
      for (const residual of [...found.residuals, ...found.layer.residuals])
        expect(residual).toBeLessThan(1e-12);
    }
  });

  test.each(values.sentences)(
    '“$text” without positions here or there',
    async ({ text, shuffled, taken }) => {
      const sentence = await whole.tokenize(text);
      const at = <T>(list: readonly T[]) => shuffled.map((place) => list[place] as T);
      const other: Sentence = { ids: at(sentence.ids), tokens: at(sentence.tokens), dropped: 0 };
      means ??= await whole.corpusMeans({ sentences: ten, precision: 'float64' });
      for (const by of ['copied', 'streams', 'means'] as const) {
        const given = { by, ...(means && { means }), precision: 'float64' } as const;
        const [one, two] = [
          await whole.withoutPositions(sentence, given),
          await whole.withoutPositions(other, given),
        ];
        for (const [name, wanted] of Object.entries(taken[by])) {
          const [a, b] = [one, two].map((found) => found[names[name] as string]?.data as Float64Array);
          const row = (data: Float64Array | undefined, layer: number) =>
            (data as Float64Array).subarray(384 * layer, 384 * (layer + 1)) as Float64Array;
          for (const [layer, cosine] of wanted.cosines.entries())
            expect(
              Math.abs(dot(row(a, layer), row(one.nothing?.data as Float64Array, layer)) - cosine),
            ).toBeLessThan(close);
          expect(Math.abs(1 - dot(row(a, 6), row(b, 6)) - wanted.order), `${by} ${name}`).toBeLessThan(close);
        }
      }
    },
    240_000,
  );

  test('the parts of what a layer reads add up to it', async () => {
    const run = await whole.forward('The dog bit the man.', { precision: 'float64' });
    for (const way of ['direct', 'streams'] as const) {
      const parts = run.parts({ layer: 3, way, gauge: 'canonical', apart: [0] });
      expect(Object.keys(parts)).toEqual(['token', 'position', 'token_type', 'attention', 'mlp', 'constant']);
      const sum = Object.values(parts).reduce(
        (all, { data }) => all.map((one, c) => one + (data[c] as number)),
        new Float64Array(run.n * 384),
      );
      expect(largestDifference(sum, run.state(3).data)).toBeLessThan(1e-12);
    }
  });

  test('what is refused', async () => {
    const text = 'The dog bit the man.';
    await expect(whole.withoutPositions(text, { by: 'values' as never })).rejects.toThrow(
      "by must be 'copied'",
    );
    await expect(whole.withoutPositions(text, { by: 'means' })).rejects.toThrow('means must be');
  });
});

test('a model of one’s own has them too', async () => {
  const own = await openModel(plain, join(root, 'tests/reference/checkpoints/bert'));
  const ids = [2, 3, 4, 5];
  const taken = await own.withoutPositions({ ids }, { precision: 'float64' });
  const forward = await own.forward({ ids }, { precision: 'float64' });
  expect(largestDifference(taken.nothing?.data as Float64Array, forward.embeddings.data)).toBeLessThan(1e-14);
  expect(largestDifference(taken.everything?.data as Float64Array, forward.embeddings.data)).toBeGreaterThan(
    1e-3,
  );
  own.delete();
});
