// A reader's model without a table of positions, by mechanism: the page's numbers against the library's
// terms in double precision, which tests/api compares with numpy.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CorpusMeans, openModel, type Table } from 'add-or-concatenate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Depth } from '../../web/figures/depth.ts';
import type { OneScore } from '../../web/figures/oneScore.ts';
import { plain } from '../api/support/builds.ts';
import { drawnModels, drawnSeed as seed } from '../api/support/drawnModels.ts';
import { withoutNumpy } from '../tools/support/numpy.ts';
import { expectReadable, job, opened, request } from './userOpened.ts';

const folder = mkdtempSync(join(tmpdir(), 'superpose-mechanism-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ids = [2, 9, 4, 5, 9, 6, 11];
const settings = { sentences: 'yours', layer: 0, ids: ids.join(', ') };
/** Sentences of ids that begin and end alike, as long as a model with few positions takes. */
const lines = (vocabulary: number, positions = 11) =>
  Array.from({ length: 12 }, (_, line) => [
    2,
    ...Array.from(
      { length: Math.min(9, positions - 2) },
      (_, at) => 3 + ((line * line + 5 * at + line * at) % (vocabulary - 3)),
    ),
    3,
  ]);
const corpusOf = (of: readonly (readonly number[])[]) => of.map((ids) => ids.join(', ')).join('\n');
const near = (actual: number, expected: number, what: string) =>
  expect(Math.abs(actual - expected), `seed ${seed}, ${what}: ${actual} for ${expected}`).toBeLessThan(2e-3);

/** The kinds of terms, by the parts of query and key that each sums up. */
const kinds: Record<string, [query: string, key: string][]> = {
  'token-token': [
    ['token', 'token'],
    ['offset', 'offset'],
  ],
  'token-position': [['token', 'position']],
  'position-token': [['position', 'token']],
  'position-position': [['position', 'position']],
  rest: [
    ['constant', 'token'],
    ['token', 'constant'],
    ['constant', 'constant'],
  ],
};

/**
 * The shares of the kinds in a head's scores over the keys that its queries see, from the terms one by one.
 */
async function expectedOf(path: string, layer: number, means: CorpusMeans) {
  const model = await openModel(plain, path);
  const scores = await model.decompose({ ids }, { layer, way: 'mechanism', means });
  const { n, parts, terms, logits, heads, excludedRows } = scores;
  const seen = (i: number, j: number) =>
    !excludedRows.includes(i) && !excludedRows.includes(j) && (!scores.causal || j <= i);
  const centred = (values: Float64Array) =>
    Array.from({ length: n }, (_, i) => {
      const row = Array.from({ length: n }, (_, j) => j).filter((j) => seen(i, j));
      const mean = row.reduce((sum, j) => sum + (values[i * n + j] as number), 0) / row.length;
      return row.map((j) => (values[i * n + j] as number) - mean);
    }).flat();
  const product = (first: number[], other: number[]) =>
    first.reduce((sum, value, at) => sum + value * (other[at] as number), 0);
  model.delete();
  return heads.map((_, head) => {
    const allTerms = centred(Float64Array.from(logits.subarray(head * n * n, (head + 1) * n * n)));
    return Object.values(kinds).map((pairs) => {
      const sum = new Float64Array(n * n);
      for (const [query, key] of pairs) {
        const at = (head * parts.length + parts.indexOf(query)) * parts.length + parts.indexOf(key);
        for (let cell = 0; cell < n * n; cell++)
          sum[cell] = (sum[cell] as number) + (terms[at * n * n + cell] as number);
      }
      return product(centred(sum), allTerms) / product(allTerms, allTerms);
    });
  });
}

const attentionOf = async (path: string, layer: number, head: number) => {
  const model = await openModel(plain, path);
  const forward = await model.forward({ ids });
  const attention = forward.attention(layer, [head]);
  model.delete();
  return attention;
};

const meansOf = async (path: string, sentences: readonly (readonly number[])[]) => {
  const model = await openModel(plain, path);
  const means = await model.corpusMeans({
    sentences: sentences.map((ids) => ({ ids })),
    scores: true,
  });
  model.delete();
  return means;
};

type At = (row: number, column: number) => number;
interface Numbers {
  token?: At;
  query?: At;
  rows?: number;
  layers?: number;
  heads?: number;
  d?: number;
}
const wave: At = (row, column) => Math.sin(1 + 3 * row + 7 * column + row * column);
const zero: At = () => 0;

/** A small file of Llama’s layout, whose numbers may be anything. */
function folderWith({
  token = wave,
  query = wave,
  rows = 12,
  layers = 2,
  heads = 2,
  d = 4,
}: Numbers): string {
  const path = mkdtempSync(join(folder, 'made-'));
  const tensors: Record<string, Table> = {};
  const put = (name: string, rows: number, columns: number, at: At) => {
    const data = Float32Array.from({ length: rows * columns }, (_, k) =>
      at(Math.floor(k / columns), k % columns),
    );
    tensors[`${name}.weight`] = { data, rows, columns };
  };
  put('model.embed_tokens', rows, d, token);
  for (let layer = 0; layer < layers; layer++) {
    const of = (name: string) => `model.layers.${layer}.${name}`;
    const moved: At = (row, column) => wave(row + layer + 1, column);
    put(of('self_attn.q_proj'), 2 * heads, d, query);
    for (const name of ['k_proj', 'v_proj']) put(of(`self_attn.${name}`), 2 * heads, d, moved);
    put(of('self_attn.o_proj'), d, 2 * heads, moved);
    for (const name of ['gate_proj', 'up_proj']) put(of(`mlp.${name}`), 3, d, moved);
    put(of('mlp.down_proj'), d, 3, moved);
    for (const name of ['input_layernorm', 'post_attention_layernorm']) put(of(name), 1, d, () => 1);
  }
  put('model.norm', 1, d, () => 1);
  const lists = Object.entries(tensors).map(([name, tensor]) => [
    name,
    /norm/.test(name) ? tensor.data : tensor,
  ]);
  writeFileSync(`${path}/model.safetensors`, plain.encodeSafetensors(Object.fromEntries(lists)));
  const config = { model_type: 'llama', num_attention_heads: heads, num_key_value_heads: heads, head_dim: 2 };
  writeFileSync(`${path}/config.json`, JSON.stringify({ ...config, rms_norm_eps: 1e-12 }));
  return path;
}

describe.each<[string, Numbers]>([
  ['tokens of zeros', { token: zero }],
  ['equal rows', { token: (_, column) => wave(1, column) }],
  ['a row of zeros', { token: (row, column) => (row === 0 ? 0 : wave(row, column)) }],
  ['rows that are multiples', { token: (row, column) => (row + 1) * wave(1, column) }],
  ['one row', { rows: 1 }],
  ['large numbers', { token: (row, column) => 1e20 * wave(row, column) }],
  ['the largest numbers', { token: (row, column) => 3e38 * Math.sign(wave(row, column)) }],
  ['small numbers', { token: (row, column) => 1e-30 * wave(row, column) }],
  ['queries of zeros', { query: zero }],
  ['a head of zeros', { query: (row, column) => (row < 2 ? 0 : wave(row, column)) }],
  ['large queries', { query: (row, column) => 1e20 * wave(row, column) }],
  ['queries beyond float32', { query: (row, column) => 1e38 * wave(row, column) }],
  ['one head, one layer, one channel', { heads: 1, layers: 1, d: 1 }],
])('%s in a model without positions give pictures and sentences without NaN', (_, numbers) => {
  const rows = numbers.rows ?? 12;
  const varied = lines(rows).map((line) => line.map((id) => id % rows));
  test.each([
    ['a corpus', varied],
    ['a corpus of one token', varied.map((line) => line.map(() => 0))],
  ])('%s', async (_, corpus) => {
    const { average, figures, model } = await opened(folderWith(numbers));
    // Numbers beyond float32 are refused, while averaging or later.
    await average(corpusOf(corpus)).catch((error) => expect(error).toBeInstanceOf(RangeError));
    for (const ids of ['0', '0, 0', '0, 0, 0', ...(rows > 1 ? ['0, 1, 2', '5, 2, 5, 3'] : [])])
      for (let layer = 0; layer < model.layers; layer++) await expectReadable(figures, { ids, layer });
  });
});

test('a model’s shares do not depend on the unit of its tokens', async () => {
  const sharesAt = async (unit: number) => {
    const { average, show, model } = await opened(
      folderWith({ token: (row, column) => unit * wave(row, column) }),
    );
    await average(corpusOf(lines(model.vocabulary)));
    const { data } = await show('user-model-heads', { ids: '5, 2, 5, 3' });
    return (data as { rows: { shares: number[] }[] }).rows.flatMap(({ shares }) => shares);
  };
  const expected = await sharesAt(1);
  for (const unit of [1e-3, 1e20, 1e38])
    for (const [at, share] of (await sharesAt(unit)).entries())
      near(share, expected[at] as number, `× ${unit}`);
});

(withoutNumpy ? describe.skip : describe)('models without a table of positions', () => {
  beforeAll(async () => {
    await drawnModels('models', seed, folder);
  }, 120_000);

  const pathOf = (name: string) => `${folder}/${name}`;

  describe.each(['llama', 'mistral', 'qwen3'])('%s', (name) => {
    test('its heads, one score and depth are the shares that the terms add up to', async () => {
      const { model, show, average } = await opened(pathOf(name));
      const corpus = lines(model.vocabulary, model.positions || undefined);
      const figures = await average(corpusOf(corpus));
      expect(Object.keys(figures)).toEqual(['user-model-heads', 'user-model-one-score', 'user-model-depth']);
      const means = await meansOf(pathOf(name), corpus);
      for (let layer = 0; layer < model.layers; layer++) {
        const expected = await expectedOf(pathOf(name), layer, means);
        const heads = await show('user-model-heads', { ...settings, layer });
        expect(heads.sentence).toContain('in the corpus-mean gauge');
        if (layer > 0) expect(heads.sentence).toContain(`in layer ${layer}, by mechanism`);
        const { rows } = heads.data as { rows: { shares: number[] }[] };
        for (const [head, of] of expected.entries())
          for (const [kind, share] of of.entries())
            near(
              rows[head]?.shares[kind] as number,
              share,
              `heads, layer ${layer}, head ${head}, kind ${kind}`,
            );
        const oneScore = await show('user-model-one-score', { ...settings, layer, head: 1 });
        const { panels, residual, selection } = oneScore.data as OneScore;
        expect(residual).toBeLessThan(1e-4);
        // With all terms included, the softmax of the selection is the model's attention.
        const attention = await attentionOf(pathOf(name), layer, 1);
        for (const [at, weight] of attention.entries())
          near(selection.softmax[at] as number, weight, `attention, layer ${layer}`);
        for (const [kind, { share }] of panels.entries()) {
          near(share, expected[1]?.[kind] as number, `one score, layer ${layer}, kind ${kind}`);
        }
        const { data, sentence, figure, state } = await show('user-model-depth', settings);
        near(
          (data as Depth).heads[layer]?.[1] as number,
          expected[1]?.[3] as number,
          `depth, layer ${layer}`,
        );
        expect(sentence).toContain('by mechanism, for this sentence');
        near(
          (data as Depth).states[layer]?.energy as number,
          layer === 0 ? 0 : (means.states[layer]?.positionEnergy as number),
          `energy ${layer}`,
        );
        expect(figure.table(data, state).rows).toHaveLength(model.layers);
      }
    });
  });

  test('of one token, over a corpus of that token, all that the first layer’s scores vary by is position', async () => {
    for (const name of ['llama', 'qwen2']) {
      const { model, show, average } = await opened(pathOf(name));
      await average(corpusOf(Array.from({ length: 12 }, () => Array(11).fill(7))));
      const { data } = await show('user-model-heads', { ids: Array(8).fill(7).join(', ') });
      const { rows } = data as { rows: { shares: number[] }[] };
      expect(rows.length).toBeGreaterThanOrEqual(model.heads as number);
      for (const { shares } of rows) {
        near(shares[3] as number, 1, `${name}, position → position`);
        for (const kind of [0, 1, 2, 4]) near(shares[kind] as number, 0, `${name}, kind ${kind}`);
      }
      // All states are equal, but for rounding.
      const { sentence } = await show('user-model-depth', { ids: Array(8).fill(7).join(', ') });
      expect(sentence).toContain('nothing of the last one’s output');
    }
  });

  test('scores are refused before the model is averaged, and then take as many tokens as have a mean', async () => {
    const { show, average, model, figures } = await opened(pathOf('llama'));
    expect(Object.keys(figures)).toEqual([]);
    await expect(request('user-model-heads', settings)).rejects.toThrow('run its layers over a corpus first');
    await expect(average('2, 3, 4, 3')).rejects.toThrow(/must have at least 51 pieces/);
    await expect(average('2, 3, 400, 3')).rejects.toThrow(/ids/);
    await average(corpusOf(lines(model.vocabulary)));
    const { data } = await show('user-model-heads', { ids: Array(40).fill('5').join(' ') });
    const { tokens, dropped } = data as { tokens: string[]; dropped: number };
    expect(tokens).toHaveLength(31);
    expect(dropped).toBe(9);
  });

  test('averaging reports its progress, and stops when it is aborted', async () => {
    const { average } = await opened(pathOf('llama'));
    const stop = new AbortController();
    const parts: number[] = [];
    const watched = {
      ...job,
      signal: stop.signal,
      progress: (part: number) => {
        parts.push(part);
        if (part > 0.5) stop.abort();
      },
    };
    const many = Array.from({ length: 8 }, () => lines(23)).flat();
    await expect(average(corpusOf(many), watched)).rejects.toThrow(/abort/i);
    const last = parts.at(-1) as number;
    expect(last).toBeGreaterThan(0.5);
    expect(last).toBeLessThan(0.7);
    await expect(request('user-model-heads', settings)).rejects.toThrow('run its layers over a corpus first');
    // After the refusal, the next question works.
    await average(corpusOf(lines(23)));
    await request('user-model-heads', settings);
  });
});
