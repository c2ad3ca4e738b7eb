// All six layers against numpy, on random sentences: tests/reference/drawn_sentences.py draws them
// anew from MiniLM's vocabulary in each run. SUPERPOSE_SEED repeats a failure; SUPERPOSE_SENTENCES sets how
// many are drawn.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CorpusMeans,
  type Floats,
  loadMiniLM,
  type MiniLM,
  type PositionStatistics,
  type Sentence,
} from 'add-or-concatenate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withoutNumpy } from '../../tools/support/numpy.ts';
import { builds } from '../support/builds.ts';
import { drawnModels, drawnSeed, type Stored, type StoredNumbers } from '../support/drawnModels.ts';
import { describeModel, model } from '../support/model.ts';
import { largestDifference, mapTable } from '../support/numbers.ts';

const ways = ['direct', 'streams', 'mean'] as const;
type Way = (typeof ways)[number];
const partsOf: Record<Way, string[]> = {
  direct: ['token', 'position', 'token_type', 'attention', 'mlp', 'constant'],
  streams: ['token', 'position', 'token_type', 'attention', 'mlp', 'constant'],
  mean: ['position', 'content', 'constant'],
};

interface Drawn {
  layers: number;
  windows: number;
  mean: Stored;
  position: Stored;
  sentences: {
    /** Null for a sentence of one token, because no text is cut into so few. */
    text: string | null;
    ids: number[];
    states: Stored;
    logits: Stored;
    attention: Stored;
    embedding: Stored;
    /** For each layer, the heads whose terms are stored. */
    heads: number[][];
    terms: Partial<Record<Way, Stored>>;
    /** Embeddings without positions; null where too few tokens vary. */
    taken: Stored | null;
  }[];
}

const seed = drawnSeed;
const requestedCount = Number(process.env.SUPERPOSE_SENTENCES ?? 0);
// At least one sentence of each length that the script draws, so that the corpus has enough words for its
// windows.
const count = Math.max(5, requestedCount);

const folder = mkdtempSync(join(tmpdir(), 'superpose-drawn-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Largest differences, by what was compared. */
type Differences = Record<string, number>;

/**
 * Bounds by kind: about five times the largest difference from numpy that was seen in float32. Scores and
 * terms are a few tens in size, states about ten.
 */
const within: Readonly<Record<string, number>> = {
  embedding: 1e-6,
  state: 3e-5,
  logits: 1e-4,
  attention: 1e-5,
  terms: 1e-4,
  mean: 3e-6,
  position: 3e-6,
};
const boundOf = (name: string) => within[name.split(' ')[0] as string] as number;

(withoutNumpy ? describe.skip : describeModel)('sentences drawn at random', () => {
  let drawn: Drawn;
  let stored: StoredNumbers;
  let minilm: MiniLM;
  let means: CorpusMeans;

  const each = (run: (layer: number) => void) => {
    for (let layer = 0; layer < drawn.layers; layer++) run(layer);
  };
  const sentenceOf = async ({ text, ids }: Drawn['sentences'][number], by: MiniLM): Promise<Sentence> =>
    text === null ? { ids, tokens: await by.pieces(ids), dropped: 0 } : by.tokenize(text);

  beforeAll(async () => {
    const numbers = await drawnModels<Drawn>('sentences', seed, folder, count);
    ({ drawn, stored } = numbers);
    if (requestedCount > 0) console.log(numbers.output);
    minilm = await model();
    const sentences = drawn.sentences.flatMap(({ text }) => text ?? []);
    means = await minilm.corpusMeans({ sentences });
  }, 600_000);

  /** Compares the forward pass of every sentence with numpy's; `change` may change its summands. */
  const forwards = async (by: MiniLM, of = drawn.sentences, change?: (rows: Rows) => Rows) => {
    const allDifferences: Differences[] = [];
    for (const drawnSentence of of) {
      const sentence = await sentenceOf(drawnSentence, by);
      expect(sentence.ids, String(drawnSentence.text)).toEqual(drawnSentence.ids);
      const rows = change && { summands: change(await rowsOf(by, sentence)) };
      const forward = await by.forward(sentence, { ...rows });
      const differences: Differences = {
        embedding: largestDifference(forward.embedding, stored(drawnSentence.embedding)),
        'state 0': largestDifference(forward.state(0).data, stored(drawnSentence.states, 0)),
      };
      each((layer) => {
        const compare = (what: string, ours: Floats, theirs: Float64Array) => {
          differences[`${what} ${layer}`] = largestDifference(ours, theirs);
        };
        compare('state after', forward.state(layer + 1).data, stored(drawnSentence.states, layer + 1));
        compare('logits', forward.logits(layer), stored(drawnSentence.logits, layer));
        compare('attention', forward.attention(layer), stored(drawnSentence.attention, layer));
      });
      allDifferences.push(differences);
    }
    return allDifferences;
  };

  const terms = async (way: Way, of = drawn.sentences, change?: (rows: Rows) => Rows) => {
    const allDifferences: Differences[] = [];
    for (const { terms, heads, ...drawnSentence } of of) {
      const theirs = terms[way];
      if (!theirs) continue;
      const sentence = await sentenceOf({ ...drawnSentence, terms, heads }, minilm);
      const changed =
        change && (await minilm.forward(sentence, { summands: change(await rowsOf(minilm, sentence)) }));
      const differences: Differences = {};
      for (const [layer, only] of heads.entries()) {
        const ofState = way === 'mean' && { means: means.states[layer] as PositionStatistics };
        const scores = changed
          ? changed.decompose({ layer, way, only, excludedRows: [0], ...ofState })
          : await minilm.decompose(sentence, { layer, way, only, ...(way === 'mean' && { means }) });
        expect(scores.gauge).toBe('canonical');
        expect(scores.parts).toEqual(partsOf[way]);
        differences[`terms of layer ${layer}`] = largestDifference(scores.terms, stored(theirs, layer));
      }
      allDifferences.push(differences);
    }
    return allDifferences;
  };

  /**
   * Expects every difference to be small; if a number of sentences was requested, prints the largest of each
   * kind.
   */
  const expectSmall = (what: string, allDifferences: Differences[]) => {
    expect(allDifferences.length).toBeGreaterThan(0);
    const worst: Differences = {};
    for (const [place, differences] of allDifferences.entries()) {
      for (const [name, value] of Object.entries(differences)) {
        expect(value, `${what}, seed ${seed}, sentence ${place}, ${name}`).toBeLessThan(boundOf(name));
        const kind = name.replace(/ \d$/, '');
        worst[kind] = Math.max(worst[kind] ?? 0, value);
      }
    }
    if (requestedCount > 0) console.log(what, worst);
  };

  test.each(builds)('states, logits, attention and embedding, $simd', async ({ simd, superpose }) => {
    expectSmall(simd, await forwards(await loadMiniLM(superpose)));
  });

  test.each(ways)('every canonical term, %s', async (way) => {
    expectSmall(way, await terms(way));
  });

  test('what is left without positions', async () => {
    const allDifferences: Differences[] = [];
    for (const drawnSentence of drawn.sentences) {
      if (!drawnSentence.taken) continue;
      const sentence = await sentenceOf(drawnSentence, minilm);
      const differences: Differences = {};
      const taken = await minilm.withoutPositions(sentence);
      for (const [place, { data }] of Object.values(taken).entries())
        differences[`embedding without, ${place}`] = largestDifference(
          data,
          stored(drawnSentence.taken, place),
        );
      allDifferences.push(differences);
    }
    expectSmall('without positions', allDifferences);
  });

  test('the means over them', () => {
    expect(means.windows).toBe(drawn.windows);
    const allDifferences: Differences = {};
    for (const [place, { mean, position }] of means.states.entries()) {
      allDifferences[`mean ${place}`] = largestDifference(mean, stored(drawn.mean, place));
      allDifferences[`position ${place}`] = largestDifference(position.data, stored(drawn.position, place));
    }
    expectSmall('means', [allDifferences]);
  });

  test('a word’s row that is off by a hundredth is seen in every one of them', async () => {
    const off = (rows: Rows): Rows => ({
      ...rows,
      token: mapTable(rows.token, (value, row, column) =>
        row === 1 && column === 5 ? value + 1e-2 : value,
      ) as Rows['token'],
    });
    // Short sentences are fastest, but need more than two tokens, because with two no term varies.
    const some = drawn.sentences.filter(({ ids }) => ids.length > 2 && ids.length < 17);
    const all = await forwards(minilm, some, off);
    for (const way of ways) all.push(...(await terms(way, some, off)));
    expect(all.length).toBeGreaterThanOrEqual(8);
    for (const differences of all)
      for (const [name, value] of Object.entries(differences))
        expect(value, name).toBeGreaterThan(boundOf(name));
  });
});

/** A sentence’s embedding rows. */
type Rows = Awaited<ReturnType<typeof rowsOf>>;
const rowsOf = (by: MiniLM, sentence: Sentence) => by.rows(sentence);
