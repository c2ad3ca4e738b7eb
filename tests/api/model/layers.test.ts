// All six layers: against numpy, against a forward pass in plain TypeScript, and how their files arrive.
import { type CorpusMeans, loadMiniLM, type MiniLM, type Sentence } from 'add-or-concatenate';
import { beforeAll, expect, test } from 'vitest';
import depth from '../../reference/depth.json' with { type: 'json' };
import minilm from '../../reference/minilm.json' with { type: 'json' };
import { builds, plain } from '../support/builds.ts';
import { describeModel, model } from '../support/model.ts';
import { dot, largestDifference } from '../support/numbers.ts';

const d = 384;
const heads = 12;
const layers = [0, 1, 2, 3, 4, 5];
const ten = minilm.sentences.map(({ text }) => text);
const groups = { position: ['position'], rest: ['token', 'token_type', 'attention', 'mlp', 'constant'] };
const byMeans = { position: ['position'], rest: ['content', 'constant'] };

/** The largest error over the three stored sentences: states, logits, embedding. */
async function errorOf(minilm: MiniLM): Promise<number> {
  let worst = 0;
  const compare = (result: number | undefined, expected: number) => {
    // NaN counts as the worst error.
    const error = Math.abs((result as number) - expected);
    if (!(error <= worst)) worst = error;
  };
  for (const { text, ids, states, logits, cells, embedding } of depth.sentences) {
    const forward = await minilm.forward(text);
    expect(forward.sentence.ids).toEqual(ids);
    for (const [place, { values }] of states.entries()) {
      const { data } = forward.state(place);
      for (const [i, row] of values.entries())
        for (const [k, value] of row.entries())
          compare(data[i * d + (depth.coordinates[k] as number)], value);
    }
    for (const layer of layers) {
      const result = forward.logits(layer, depth.logit_heads);
      for (const [place, values] of (logits[layer] as number[][]).entries())
        for (const [cell, value] of values.entries()) {
          const [i, j] = cells[cell] as [number, number];
          compare(result[(place * forward.n + i) * forward.n + j], value);
        }
    }
    for (const [k, value] of embedding.entries()) compare(forward.embedding[k], value);
  }
  return worst;
}

describeModel('all layers', () => {
  let minilm: MiniLM;
  let means: CorpusMeans;
  beforeAll(async () => {
    minilm = await model();
    means = await minilm.corpusMeans({ sentences: ten });
  }, 120_000);

  test('states, logits and embedding are the oracle’s', async () => {
    for (const { superpose } of builds) expect(await errorOf(await loadMiniLM(superpose))).toBeLessThan(1e-4);
  });

  test.each(['direct', 'streams'] as const)('shares of every layer and head, %s', async (way) => {
    const { text, shares } = depth.river_bank;
    for (const layer of layers) {
      const result = await minilm.decompose(text, { layer, way });
      expect(result.parts).toEqual(['token', 'position', 'token_type', 'attention', 'mlp', 'constant']);
      // Terms are a few tens in size, where the spacing of floats is about 4e-6.
      expect(Math.max(...result.residuals)).toBeLessThan(4e-5);
      expect(largestDifference(result.shares, (shares[way][layer] as number[][]).flat())).toBeLessThan(2e-6);
    }
  });

  test('the mean decomposition of the ten sentences', async () => {
    const { windows, states } = depth.ten_sentences.mean;
    expect(means.windows).toBe(windows);
    for (const [place, expected] of states.entries()) {
      const result = means.states[place] as CorpusMeans['states'][0];
      expect(result.positionEnergy).toBeCloseTo(expected.position_energy, 7);
      expect(result.participationRatio).toBeCloseTo(expected.participation_ratio, 6);
      expect(Math.abs(result.overlap - expected.overlap)).toBeLessThan(2e-5);
      expect(result.cosineWithFirst).toBeCloseTo(expected.cosine_with_table, 7);
    }
  });

  test('each head’s position → position, all three ways, pooled over the ten sentences', async () => {
    const expected = depth.ten_sentences['position-position'];
    for (const way of ['direct', 'streams', 'mean'] as const) {
      const isMean = way === 'mean';
      const reference = isMean ? expected.mean_decomposition : expected[way];
      for (const layer of layers) {
        const scores = [];
        for (const text of ten) {
          const options = isMean ? { means, groups: byMeans } : { groups };
          scores.push(await minilm.decompose(text, { layer, way, ...options }));
        }
        const result = plain.poolShares(scores, [0, 1, 1, 1]).heads;
        const first = Array.from({ length: heads }, (_, head) => result[2 * head] as number);
        expect(largestDifference(first, reference[layer] as number[])).toBeLessThan(3e-7);
      }
    }
  });

  test('positions replaced and shifted, words reordered', async () => {
    const expected: Record<string, { mean: number }> = depth.ten_sentences.replacements;
    const orders = depth.ten_sentences.shuffled_orders;
    const changes = (place: number) => ({
      sentence_mean: { mean: 'sentence' as const },
      mean_0_to_511: { mean: 'table' as const },
      shuffled: { order: orders[place] as number[] },
      shifted_by_8: { shift: 8 },
      shifted_by_400: { shift: 400 },
    });
    const sums: Record<string, number> = {};
    for (const [place, text] of ten.entries()) {
      const sentence = await minilm.tokenize(text);
      const plainly = await embeddingOf(minilm, sentence, {});
      for (const [name, change] of Object.entries(changes(place))) {
        const summands = await minilm.changed(sentence, change);
        const result = await embeddingOf(minilm, sentence, { summands });
        sums[name] = (sums[name] ?? 0) + dot(plainly, result) / ten.length;
      }
    }
    for (const [name, sum] of Object.entries(sums))
      expect(sum, name).toBeCloseTo(expected[name]?.mean as number, 6);
    for (const { texts, cosine } of depth.pairs) {
      const embeddings = [];
      for (const text of texts) embeddings.push(await embeddingOf(minilm, await minilm.tokenize(text), {}));
      expect(dot(embeddings[0] as Float64Array, embeddings[1] as Float64Array)).toBeCloseTo(cosine, 6);
    }
  });

  // The vectors that are added are several times as long as the position rows.
  test('shifts that change no score leave the canonical shares of every layer as they are, and change raw ones', async () => {
    const sentence = await minilm.tokenize(ten[5] as string);
    const rows = await minilm.rows(sentence);
    const [a, b, v] = [1, 2, 3].map((seed) =>
      plain.randomNormal({ rows: 1, columns: d, seed, standardDeviation: 2 / Math.sqrt(d) }),
    ) as [Rows, Rows, Rows];
    const plus = (table: Rows, row: Rows, factor: number, only?: number): Rows => ({
      ...table,
      data: table.data.map((value, at) =>
        only === undefined || Math.floor(at / d) === only
          ? value + factor * (row.data[at % d] as number)
          : value,
      ),
    });
    const summands = {
      token: plus(plus(rows.token, a, 1), v, 1, 0),
      position: plus(plus(rows.position, b, 1), v, -1, 0),
      token_type: plus(plus(rows.token_type, a, -1), b, -1),
    };
    for (const way of ['direct', 'streams'] as const) {
      for (const gauge of ['canonical', 'raw'] as const) {
        const shares: Float64Array[][] = [];
        for (const changedSummands of [rows, summands]) {
          const forward = await minilm.forward(sentence, { summands: changedSummands });
          shares.push(
            layers.map((layer) => forward.decompose({ layer, way, gauge, excludedRows: [0] }).shares),
          );
        }
        const moved = layers.map((layer) =>
          largestDifference(shares[0]?.[layer] as Float64Array, shares[1]?.[layer] as Float64Array),
        );
        if (gauge === 'canonical') expect(Math.max(...moved)).toBeLessThan(2e-6);
        else expect(Math.min(...moved)).toBeGreaterThan(0.01);
      }
    }
  });

  test('a call during a run over a corpus goes first', async () => {
    let steps = 0;
    let came = 0;
    const done = () => {
      steps += 1;
      // In a separate task, like a request to a worker.
      if (steps === 5) setTimeout(() => void minilm.forward(ten[0] as string).then(() => (came = steps)));
    };
    const result = await minilm.corpusMeans({ sentences: ten, done });
    expect(steps).toBe(result.windows + result.sentencesOfHeads);
    // It runs after the current window, or soon after that.
    expect(came).toBeGreaterThanOrEqual(5);
    expect(came).toBeLessThanOrEqual(7);
    // The forward pass in between has not changed the means.
    const alone = await minilm.corpusMeans({ sentences: ten });
    expect(largestDifference(result.heads.data, alone.heads.data)).toBe(0);
  });
});

type Rows = { data: Float64Array; rows: number; columns: number };

async function embeddingOf(minilm: MiniLM, sentence: Sentence, options: object): Promise<Float64Array> {
  const { embedding } = await minilm.forward(sentence, { ...options, scores: false });
  return embedding.slice();
}
