// The equation over drawn tables and layers of any size: each map against sums made here, and the settings that it
// took over from the figure that was called sandbox.
import { load, loadMiniLM, sharesOf } from 'superpose';
import { expect, inject, test } from 'vitest';
import { today } from '../../web/figures/formerNames.ts';
import * as oneScore from '../../web/figures/oneScore.ts';
import { expectSoundPictures, run } from './support.ts';

/** As the figure of that name showed: a bare layer, its tables, everything raw. */
const sandbox = (settings: Record<string, string | number> = {}) =>
  run(
    oneScore,
    Object.fromEntries(
      today(
        'sandbox',
        Object.entries(settings).map(([name, value]) => [name, String(value)]),
      ).settings,
    ),
  );

test.each([
  { n: 2, d: 4, heads: 8, head: 7 },
  { n: 64, d: 256, heads: 1, scale: 4 },
  { n: 3, scale: 0, seed: 4294967295, weightSeed: 4294967295 },
])('%o is drawn', async (settings) => {
  expectSoundPictures(await sandbox(settings));
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
  for (const positions of Object.keys(oneScore.figure.controls.positions.options)) {
    const { data } = await sandbox({ n, d, heads, head, scale: 1.5, weightSeed: 9, positions });
    const { token, position, sum } = data.tables.rows;
    const weight = (stream: number) =>
      superpose.randomNormal({ rows: d, columns: d, seed: 9, stream, standardDeviation: 0.25 }).data;
    const project = (weights: Float64Array, rows: Float64Array) =>
      Float64Array.from({ length: n * width }, (_, at) =>
        dot(rows, Math.floor(at / width), weights, head * width + (at % width), d),
      );
    const [query, key] = [weight(2), weight(3)];
    const score = (q: Float64Array, k: Float64Array, i: number, j: number) =>
      dot(project(query, q), i, project(key, k), j, width) / Math.sqrt(width);
    for (let cell = 0; cell < n * d; cell++) {
      expect(sum[cell]).toBeCloseTo(token[cell] + position[cell], 12);
    }
    for (let i = 0; i < n; i++) {
      let total = 0;
      for (let j = 0; j < n; j++) total += Math.exp(data.logits.sum[i * n + j]);
      for (let j = 0; j < n; j++) {
        const cell = i * n + j;
        const concatenated = dot(token, i, token, j, d) + dot(position, i, position, j, d);
        expect(data.tables.products.concatenated[cell]).toBeCloseTo(concatenated, 10);
        expect(data.tables.products.added[cell]).toBeCloseTo(dot(sum, i, sum, j, d), 10);
        const four = [
          [token, token],
          [token, position],
          [position, token],
          [position, position],
        ] as [Float64Array, Float64Array][];
        four.forEach(([q, k], place) => {
          expect(data.panels[place].sum[cell]).toBeCloseTo(score(q, k, i, j), 10);
        });
        // Nothing else is in a bare layer.
        expect(data.panels[4].sum[cell]).toBe(0);
        expect(data.logits.sum[cell]).toBeCloseTo(score(sum, sum, i, j), 10);
        expect(data.kept.softmax[cell]).toBeCloseTo(Math.exp(data.logits.sum[cell]) / total, 10);
      }
    }
    const shares: number[] = data.panels.map(({ share }: { share: number }) => share);
    expect(shares.reduce((all, share) => all + share, 0)).toBeCloseTo(1, 10);
  }
});

test('fairseq’s first token stands at 2, and ρ multiplies', async () => {
  const { data } = await sandbox({ positions: 'fairseq', n: 4, d: 8, scale: 2 });
  expect(data.tables.rows.position[0]).toBeCloseTo(2 * Math.sin(2), 6);
  const zero = await sandbox({ scale: 0 });
  expect(zero.data.tables.rows.position.every((value: number) => value === 0)).toBe(true);
  expect(zero.data.panels[0].share).toBeCloseTo(1, 10);
});

test('the table has every value of the maps and of the tables', async () => {
  const { figure, data, state } = await sandbox({ n: 3, d: 8 });
  const { rows } = figure.table(data, state);
  // Three tables, two of products, five terms, score and attention, and the residual.
  expect(rows).toHaveLength(3 * 3 * 8 + 2 * 9 + 5 * 9 + 2 * 9 + 1);
  expect(rows).toContainEqual(['x + ρp', 2, 5, data.tables.rows.sum[2 * 8 + 5], 'raw']);
  expect(rows).toContainEqual(['added', 1, 2, data.tables.products.added[5], 'raw']);
});

test('a layer with LayerNorm and biases has a rest, a bare one none', async () => {
  const settings = { weights: 'seeded', d: 32, heads: 4, n: 5 };
  const whole = (await run(oneScore, settings)).data;
  expect(Math.max(...whole.panels[4].sum.map(Math.abs))).toBeGreaterThan(0.01);
  expect(whole.residual).toBeLessThan(1e-12);
  const bare = (await run(oneScore, { ...settings, layer: 'bare', gauge: 'raw' })).data;
  expect(bare.panels[4].sum.every((value: number) => value === 0)).toBe(true);
});

test('a link of a day without these settings shows what it showed', async () => {
  const was = {
    weights: 'seeded',
    view: 'four',
    head: 2,
    gauge: 'raw',
    n: 8,
    seed: 3,
    centred: 'no',
    on: 'rest',
  };
  const { state } = await run(oneScore, { ...was, text: 'hello' });
  expect(state).toMatchObject({
    d: 384,
    heads: 12,
    positions: 'own',
    scale: 1,
    layer: 'whole',
    tables: false,
  });
});

test.runIf(inject('withModel'))('a sentence through MiniLM’s own layer, with its tables', async () => {
  const settings = { tokens: 'sentence', weights: 'trained', positions: 'learned', head: 2 };
  const result = await sandbox(settings);
  expectSoundPictures(result);
  expect(result.state).toMatchObject({ weights: 'trained', positions: 'own' });
  expect(result.figure.tokens?.(result.data, result.state)).toContain('river');
  const model = await loadMiniLM(await load());
  const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };
  const text = result.state.text as string;
  const scores = await model.decompose(text, { only: [2], groups, gauge: 'raw' });
  const shares = sharesOf(scores, 2);
  [0, 1, 3, 4].forEach((index, place) => {
    expect(result.data.panels[place].share).toBeCloseTo(shares[index] as number, 10);
  });
  result.data.logits.sum.forEach((value: number, cell: number) => {
    expect(value).toBeCloseTo(scores.logits[cell] as number, 10);
  });
  // In the other gauge it is the library's too.
  const canonical = await run(oneScore, { head: 2, text });
  const wanted = sharesOf(await model.decompose(text, { only: [2], groups }), 2);
  [0, 1, 3, 4].forEach((index, place) => {
    expect(canonical.data.panels[place].share).toBeCloseTo(wanted[index] as number, 10);
  });
  // Random weights on trained words.
  const mixed = await sandbox({ ...settings, weights: 'seeded' });
  expectSoundPictures(mixed);
  expect(mixed.state.weights).toBe('mixed');
  expect(mixed.figure.source(mixed.state)).toBe('mixed');
  expect(mixed.data.panels[4].sum.every((value: number) => value === 0)).toBe(true);
});
