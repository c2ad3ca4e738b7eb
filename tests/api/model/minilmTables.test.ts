// The tensors of the published weights, and whether the extracted files have the same rows.
import { readFileSync } from 'node:fs';
import { corpusSentences, type Table } from 'add-or-concatenate';
import { beforeAll, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { describeWeights, model, readWeights, type Weights } from '../support/model.ts';
import { largestDifference, rowOf } from '../support/numbers.ts';

describeWeights('the published weights', () => {
  let weights: Weights;
  let words: Table<Float64Array>;
  let positions: Table<Float64Array>;
  beforeAll(() => {
    weights = readWeights();
    words = weights.tensor('embeddings.word_embeddings.weight');
    positions = weights.tensor('embeddings.position_embeddings.weight');
  });

  // The data begin at an odd byte, so no view of 16-bit numbers can be placed on them.
  test('the file: its header, its sizes', () => {
    expect(weights.headerBytes).toBe(8 + 11_401);
    expect(weights.headerBytes % 2).toBe(1);
    expect(weights.count('F16')).toBe(22_713_216);
    expect(weights.count('I64')).toBe(512);
    expect(weights.vocabulary).toHaveLength(30_522);
    expect([words.rows, words.columns]).toEqual([30_522, 384]);
    expect([positions.rows, positions.columns]).toEqual([512, 384]);
  });

  test('the file of the corpus has a row for each word of the project’s sentences', async () => {
    const minilm = await model();
    const sentences = await Promise.all(corpusSentences.map((text) => minilm.tokenize(text)));
    const ids = [...new Set(sentences.flatMap((sentence) => sentence.ids))];
    const bytes = readFileSync(new URL('../../../build/model/corpus.bin', import.meta.url));
    const entry = { name: 'corpus', dtype: 'F16', shape: [ids.length, 384], begin: 0, end: bytes.length };
    const rows = plain.decodeSafetensors(entry, bytes);
    for (const [place, id] of ids.sort((a, b) => a - b).entries())
      expect(rowOf(rows, place)).toEqual(rowOf(words, id));
  });

  test('every row of the extracted files is the published row', async () => {
    const minilm = await model();
    for (let first = 0; first < words.rows; first += 512) {
      const all = Array.from({ length: Math.min(512, words.rows - first) }, (_, i) => first + i);
      // The first row is padding, which a sentence may not contain.
      const ids = first > 0 ? all : all.slice(1);
      const { token, position } = await minilm.rows({ ids });
      const end = (first + all.length) * 384;
      expect(largestDifference(token.data, words.data.subarray(end - ids.length * 384, end))).toBe(0);
      if (ids.length === 512) expect(largestDifference(position.data, positions.data)).toBe(0);
    }
    const { query, key, normalization } = await minilm.layer();
    const attention = 'encoder.layer.0.attention.self';
    expect(query.weight).toEqual(weights.tensor(`${attention}.query.weight`));
    expect(query.bias).toEqual(weights.tensor(`${attention}.query.bias`).data);
    expect(key.weight).toEqual(weights.tensor(`${attention}.key.weight`));
    expect(key.bias).toEqual(weights.tensor(`${attention}.key.bias`).data);
    expect(normalization.gamma).toEqual(weights.tensor('embeddings.LayerNorm.weight').data);
    expect(normalization.beta).toEqual(weights.tensor('embeddings.LayerNorm.bias').data);
  });
});

test('128 plain sentences of 7 to 19 words, each once', async () => {
  expect(corpusSentences).toHaveLength(128);
  expect(new Set(corpusSentences).size).toBe(128);
  for (const sentence of corpusSentences) {
    expect(sentence).toMatch(/^[A-Z][A-Za-z, -]*[.?]$/);
    expect(sentence).not.toContain('  ');
  }
  const words = corpusSentences.map((sentence) => sentence.split(' ').length);
  expect([Math.min(...words), Math.max(...words)]).toEqual([7, 19]);
  expect(words.reduce((sum, count) => sum + count, 0)).toBe(1656);
  const all = new TextEncoder().encode(corpusSentences.join('\n'));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', all));
  expect([...digest.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join('')).toBe(
    '780cf059189c65ba',
  );
});
