import { load, loadMiniLM, sharesOf } from 'superpose';
import { expect, inject, test } from 'vitest';
import * as sandbox from '../../web/figures/sandbox.ts';
import { expectSoundPictures, run } from './support.ts';

const positions = Object.keys(sandbox.figure.controls.positions.options);

test.each([
  { n: 2, d: 4, heads: 8, head: 11 },
  { n: 64, d: 256, heads: 1, scale: 4 },
  { n: 3, scale: 0, seed: 4294967295, weightSeed: 4294967295 },
])('%o is drawn', async (settings) => {
  expectSoundPictures(await run(sandbox, settings));
});

const dot = (a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number, d: number) => {
  let sum = 0;
  for (let c = 0; c < d; c++) sum += (a[i * d + c] as number) * (b[j * d + c] as number);
  return sum;
};

test('every map is made of the tables, whatever the positions', async () => {
  const superpose = await load();
  const [n, d, heads, head] = [6, 16, 4, 2];
  const width = d / heads;
  for (const positionsOf of positions) {
    const { data } = await run(sandbox, {
      n,
      d,
      heads,
      head,
      scale: 1.5,
      weightSeed: 9,
      positions: positionsOf,
    });
    const { token, position, sum } = data.tables;
    const weight = (stream: number) =>
      superpose.randomNormal({ rows: d, columns: d, seed: 9, stream, standardDeviation: 0.25 }).data;
    const project = (weights: Float64Array, rows: Float32Array) =>
      Float64Array.from({ length: n * width }, (_, at) =>
        dot(rows, Math.floor(at / width), weights, head * width + (at % width), d),
      );
    const [query, key] = [weight(2), weight(3)];
    const score = (q: Float32Array, k: Float32Array, i: number, j: number) =>
      dot(project(query, q), i, project(key, k), j, width) / Math.sqrt(width);
    for (let cell = 0; cell < n * d; cell++) {
      expect(sum[cell]).toBeCloseTo(token[cell] + position[cell], 5);
    }
    for (let i = 0; i < n; i++) {
      let total = 0;
      for (let j = 0; j < n; j++) total += Math.exp(data.maps.score[i * n + j]);
      for (let j = 0; j < n; j++) {
        const cell = i * n + j;
        const concatenated = dot(token, i, token, j, d) + dot(position, i, position, j, d);
        expect(data.maps.concatenated[cell]).toBeCloseTo(concatenated, 3);
        expect(data.maps.added[cell]).toBeCloseTo(dot(sum, i, sum, j, d), 3);
        const four = [
          [token, token],
          [token, position],
          [position, token],
          [position, position],
        ] as [Float32Array, Float32Array][];
        four.forEach(([q, k], place) => {
          expect(data.terms[place].values[cell]).toBeCloseTo(score(q, k, i, j), 3);
        });
        expect(data.maps.score[cell]).toBeCloseTo(score(sum, sum, i, j), 3);
        expect(data.maps.softmax[cell]).toBeCloseTo(Math.exp(data.maps.score[cell]) / total, 4);
      }
    }
    const shares: number[] = data.terms.map(({ share }: { share: number }) => share);
    expect(shares.reduce((all, share) => all + share, 0)).toBeCloseTo(1, 4);
  }
});

test('fairseq’s first token stands at 2, and ρ multiplies', async () => {
  const { data } = await run(sandbox, { positions: 'fairseq', n: 4, d: 8, scale: 2 });
  expect(data.tables.position[0]).toBeCloseTo(2 * Math.sin(2), 5);
  const zero = await run(sandbox, { scale: 0 });
  expect(zero.data.tables.position.every((value: number) => value === 0)).toBe(true);
  expect(zero.data.terms[0].share).toBeCloseTo(1, 5);
});

test.runIf(inject('withModel'))('a sentence through MiniLM’s own layer', async () => {
  const settings = { tokens: 'sentence', weights: 'trained', positions: 'learned', head: 2 };
  const result = await run(sandbox, settings);
  expectSoundPictures(result);
  expect(result.figure.tokens?.(result.data, result.state)).toContain('river');
  const model = await loadMiniLM(await load());
  const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };
  const scores = await model.decompose(result.state.text as string, { only: [2], groups, gauge: 'raw' });
  const shares = sharesOf(scores, 2);
  [0, 1, 3, 4].forEach((index, place) => {
    expect(result.data.terms[place].share).toBeCloseTo(shares[index] as number, 4);
  });
  result.data.maps.score.forEach((value: number, cell: number) => {
    expect(value).toBeCloseTo(scores.logits[cell] as number, 3);
  });
  // Random weights on trained words.
  expectSoundPictures(await run(sandbox, { ...settings, weights: 'seeded' }));
});
