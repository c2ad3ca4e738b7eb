// What MiniLM's heads write, part by part, and what positions are for in queries, keys and values: against
// tests/reference/values.py and shares computed apart from this library too, and what cannot be asked.

import { join } from 'node:path';
import {
  type CorpusMeans,
  type EncoderForward,
  type HeadOutputs,
  type MiniLM,
  type OutputVariation,
  openModel,
  type Sentence,
} from 'superpose';
import { beforeAll, expect, test } from 'vitest';
import { root } from '../../package/support/project.ts';
import minilm from '../../reference/minilm.json' with { type: 'json' };
import values from '../../reference/values.json' with { type: 'json' };
import { plain } from '../support/builds.ts';
import { describeModel, model } from '../support/model.ts';
import { dot, largestDifference } from '../support/numbers.ts';

const ten = minilm.sentences.map(({ text }) => text);
const heads = 12;
const layers = [0, 1, 2, 3, 4, 5];
const asked = { way: 'streams', gauge: 'canonical', apart: [0] } as const;

describeModel('what heads write', () => {
  let whole: MiniLM;
  const found = new Map<number, HeadOutputs[]>();
  const forward = (text: string, input = {}) => whole.forward(text, { precision: 'float64', ...input });

  beforeAll(async () => {
    whole = await model();
    for (const text of ten) {
      const run = await forward(text);
      for (const layer of layers)
        found.set(layer, [...(found.get(layer) ?? []), run.headOutputs({ layer, ...asked })]);
    }
  });

  /** Pooled over the sentences, in percent: [heads, parts]. */
  const pooled = (layer: number, of: (one: HeadOutputs) => OutputVariation, count: number): number[][] => {
    const all = (found.get(layer) as HeadOutputs[]).map(of);
    const sum = (list: (one: OutputVariation) => number) => all.reduce((total, one) => total + list(one), 0);
    const parts = all[0] === undefined ? 0 : all[0].covariances.length / count;
    return Array.from({ length: count }, (_, head) => {
      const variance = sum(({ variances }) => variances[head] as number);
      return Array.from({ length: parts }, (_, part) => {
        const covariance = sum(({ covariances }) => covariances[head * parts + part] as number);
        return (100 * covariance) / variance;
      });
    });
  };
  const overQueries = (layer: number) => pooled(layer, (one) => one.overQueries, heads);
  const meanOf = (rows: number[][], part: number) =>
    rows.reduce((sum, row) => sum + (row[part] as number), 0) / rows.length;

  test.each([
    [0, 92.0, 3.9, 0, 3.4, 0.7],
    [1, 63.7, 2.4, 19.8, 12.0, 2.1],
    [2, 38.9, 2.4, 34.8, 22.3, 1.5],
    [3, 21.2, 0.2, 44.2, 33.7, 0.7],
    [4, 19.1, 0.4, 32.1, 47.6, 0.8],
    [5, 35.0, 0.0, 50.5, 12.4, 2.0],
  ])(
    'layer %i: token %f, position %f, MLPs %f, [CLS] %f, constant %f percent of an average head',
    (layer, ...wanted) => {
      const rows = overQueries(layer);
      for (const [place, part] of [0, 1, 4, 5, 6].entries())
        expect(Math.abs(meanOf(rows, part) - (wanted[place] as number))).toBeLessThan(0.06);
    },
  );

  test('positions are carried by few heads: 11 and 2 of layer 0, 1 and 2 of layer 1, 2 and 9 of layer 2', () => {
    const carried = layers.flatMap((layer) =>
      overQueries(layer).map((row, head) => ({ layer, head, position: row[1] as number })),
    );
    const large = carried.filter(({ position }) => Math.abs(position) > 5);
    expect(large.map(({ layer, head, position }) => [layer, head, Math.round(position)])).toEqual([
      [0, 2, 14],
      [0, 11, 26],
      [1, 1, 13],
      [1, 2, 10],
      [2, 2, 14],
      [2, 9, 7],
    ]);
  });

  test('the whole outputs are the shares’ own: their norms and their sum', async () => {
    const run = await forward('The dog bit the man.');
    const one = run.headOutputs({ layer: 1, ...asked, only: [3], outputs: true });
    const d = 384;
    const { n } = one;
    const at = (part: number, i: number, c: number) => one.outputs[(part * n + i) * d + c] as number;
    const parts = one.parts.map((_, part) => part);
    const centred = (part: number | undefined) => {
      const rows = Array.from({ length: n - 1 }, (_, i) =>
        Array.from({ length: d }, (_, c) =>
          part === undefined ? parts.reduce((sum, p) => sum + at(p, i + 1, c), 0) : at(part, i + 1, c),
        ),
      );
      const over = (list: number[]) => list.reduce((sum, x) => sum + x, 0) / list.length;
      const columns = Array.from({ length: d }, (_, c) => over(rows.map((row) => row[c] as number)));
      return rows.map((row) => {
        const less = row.map((x, c) => x - (columns[c] as number));
        const mean = over(less);
        return less.map((x) => x - mean);
      });
    };
    const all = centred(undefined).flat();
    const energy = dot(all, all);
    for (const part of parts)
      expect(dot(centred(part).flat(), all) / energy).toBeCloseTo(one.overQueries.shares[part] as number, 9);
  });

  test('what is refused', async () => {
    const run = await forward('The dog bit the man.');
    expect(() => run.headOutputs({ layer: 6 })).toThrow('layer must be a whole number from 0 to 5; it is 6');
    expect(() => run.headOutputs({ layer: 0, outputs: 1 as never })).toThrow('outputs must be');
    expect(() =>
      run.headOutputs({
        layer: 0,
        gauge: 'canonical',
        apart: [0],
        groups: { apart: ['token'], rest: ['position', 'token_type', 'attention', 'mlp', 'constant'] },
      }),
    ).toThrow("No group may be named 'apart'");
    const attention = run.attention(0);
    await expect(forward('The dog bit the man.', { attention: { 6: attention } })).rejects.toThrow(
      'a layer of attention',
    );
    await expect(forward('The dog bit.', { attention: { 0: attention } })).rejects.toThrow('attention.0');
    const copied = await forward('The dog bit the man.', { attention: { 0: attention } });
    expect(() => copied.headOutputs({ layer: 0 })).toThrow('run it without them');
    expect(() => copied.decompose({ layer: 0 })).toThrow('run it without them');
  });

  /** Attention of all layers, to be copied into another run. */
  const attentionOf = (run: EncoderForward<Float64Array>) =>
    Object.fromEntries(layers.map((layer) => [layer, run.attention(layer)]));
  const cosine = (a: Float64Array, b: Float64Array) => dot(a, b);

  test('positions act through who attends to whom: copied attention keeps the embedding, without parts', async () => {
    const text = ten[0] as string;
    const unchanged = await forward(text);
    const attention = attentionOf(unchanged);
    const { embedding } = unchanged;
    const sentence = unchanged.sentence;
    const summands = await whole.changed(sentence, { mean: 'sentence' }, 'float64');
    const without = await whole.forward(sentence, { precision: 'float64', summands });
    const weights = attentionOf(without);
    const inputGone = cosine(embedding, without.embedding);
    const allButAttention = await whole.forward(sentence, { precision: 'float64', summands, attention });
    const attentionAlone = await forward(text, { attention: weights });
    expect(cosine(embedding, allButAttention.embedding)).toBeGreaterThan(0.99);
    expect(cosine(embedding, attentionAlone.embedding)).toBeLessThan(0.97);
    expect(cosine(embedding, attentionAlone.embedding) - inputGone).toBeLessThan(0.05);
    // Its own attention, handed back, changes nothing.
    const own = await forward(text, { attention });
    expect(largestDifference(own.embedding, embedding)).toBeLessThan(1e-14);
  });
});

const close = 1e-9;
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
