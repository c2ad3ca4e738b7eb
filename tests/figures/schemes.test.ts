// The figure "schemes", against the registry, the library and the formulas of the schemes.
import { load } from 'add-or-concatenate';
import { beforeAll, expect, test } from 'vitest';
import { formulaLines } from '../../web/figures/formula.ts';
import * as schemes from '../../web/figures/schemes.ts';
import { shapesOf } from '../../web/plot/shapes.ts';
import { expectSoundPictures, run } from './support.ts';

let superpose: Awaited<ReturnType<typeof load>>;
beforeAll(async () => {
  superpose = await load();
});

const plain = (tex: string) =>
  formulaLines(tex, 99)
    .map(({ text }) => text)
    .join('');
const ids = Object.keys(schemes.figure.controls.scheme.options);

test('the gallery has every scheme of the registry, and its formulas as text', () => {
  const registry = superpose.schemeRegistry();
  const named = registry.map(({ id, name }) => [id, name.replace("'", '’')]);
  expect(schemes.figure.controls.scheme.options).toEqual(Object.fromEntries(named));
  expect(ids).toEqual(registry.map(({ id }) => id));
  for (const { formula, bidirectionalFormula } of registry) {
    for (const tex of [formula, bidirectionalFormula]) expect(plain(tex)).not.toMatch(/[\\{}_^]/);
  }
  expect(plain(registry.find(({ id }) => id === 'alibi')?.formula as string)).toBe('qᵢᵀkⱼ/√dₕ − mₕ(i−j)');
});

test('a formula is set: letters slanted, indices below and above the line', () => {
  const [line] = formulaLines(String.raw`(W_Qx_i)^\top/\sqrt{2d_h}+a_{\mathrm{clip}(j-i)}`, 99);
  expect(line?.spans.map(({ text, shift, italic }) => `${shift ?? ''}${italic ? '~' : ''}${text}`)).toEqual([
    ...['(', '~W', 'sub~Q', '~x', 'sub~i', ')', 'sup⊤', '/', '√(', '2', '~d', 'sub~h', ')', ' + ', '~a'],
    ...['subc', 'subl', 'subi', 'subp', 'sub(', 'sub~j', 'sub−', 'sub~i', 'sub)'],
  ]);
  const [shape] = shapesOf(
    [{ mark: 'text', x: 0, y: 0, text: '', size: 15, spans: line?.spans ?? [] }],
    false,
  );
  const moved = (shape?.spans ?? []).map(({ attributes }) => Number(new Map(attributes).get('dy') ?? 0));
  // After an index the text goes on at the height where it was.
  expect(moved.slice(0, 5)).toEqual([0, 0, 3.3, -3.3, 3.3]);
  expect(formulaLines('q_i+k_j-m_h', 4).map(({ text }) => text)).toEqual(['qᵢ + ', 'kⱼ − ', 'mₕ']);
});

test('a small map that is clicked is the scheme that is shown', async () => {
  const { figure, data, state } = await run(schemes);
  const { regions } = figure.scene(data, state, 800);
  expect(regions.slice(0, ids.length).map(({ sets }) => sets?.scheme)).toEqual(ids);
  expect(regions.slice(ids.length).every(({ sets }) => sets === undefined)).toBe(true);
});

test.each([
  ['no', 'qᵢᵀkⱼ/√dₕ − mₕ|i−j|', Math.abs],
  ['yes', 'qᵢᵀkⱼ/√dₕ − mₕ(i−j)', (distance: number) => distance],
])('ALiBi’s formula, causal: %s, is that of its picture', async (causal, formula, distance) => {
  const { data } = await run(schemes, { scheme: 'alibi', causal });
  expect(plain(data.tex)).toBe(formula);
  const { values } = data.schemes.alibi.logits;
  const { n } = data;
  for (let i = 0; i < n; i++) {
    // m_h is 1/2 for the first of eight heads; the word's own score is on the diagonal.
    for (let j = 0; j < n; j++) expect(values[n * i + j] - values[0]).toBeCloseTo(-0.5 * distance(i - j), 10);
  }
});

test('each is the first of eight heads, whatever is left out of the others', async () => {
  const { data } = await run(schemes, { words: 'many', seed: 3 });
  const { n } = data;
  const drawn = (stream: number) =>
    superpose.randomNormal({ rows: 64, columns: 64, seed: 3, stream, standardDeviation: 'fan_in' });
  const [query, key, positionQuery, positionKey] = [1, 2, 3, 4].map((stream) => ({ weight: drawn(stream) }));
  const content = superpose.randomNormal({ rows: n, columns: 64, seed: 3, stream: 0 });
  const position = superpose.sinusoidal({ positions: n, d_model: 64 });
  const places = { positionQuery, positionKey };
  const inputs: Record<string, object> = {
    add: { position },
    'concat-raw': { position, heads: 1 },
    'concat-full': { position, ...places },
    'concat-block-diagonal': { position, ...places },
    'transformer-xl': { offsetKey: positionKey },
    t5: { bidirectional: true },
    deberta: { ...places, clip: n },
    'tupe-a': places,
    'tupe-r': places,
  };
  for (const scheme of ids) {
    const { logits } = superpose.schemeScores({
      scheme,
      content,
      heads: 8,
      query,
      key,
      only: [0],
      causal: false,
      seed: 3,
      standardDeviation: 1,
      ...inputs[scheme],
    } as Parameters<typeof superpose.schemeScores>[0]);
    expect(data.schemes[scheme].logits.values, scheme).toEqual(logits);
  }
});

test('each scheme is drawn, and its terms add up to its scores', async () => {
  for (const scheme of ids) {
    for (const words of ['same', 'many']) {
      const result = await run(schemes, { scheme, words });
      expectSoundPictures(result);
      const { values: raw } = result.data.schemes[scheme].logits;
      for (let cell = 0; cell < raw.length; cell++) {
        const values: number[] = result.data.terms.map((term: { values: number[] }) => term.values[cell]);
        const sum = values.reduce((total, value) => total + value, 0);
        const size = values.reduce((total, value) => total + Math.abs(value), 1);
        expect(Math.abs(sum - raw[cell])).toBeLessThan(1e-13 * size);
      }
    }
  }
});

test.each([
  { causal: 'yes', scheme: 'alibi', words: 'many', common: 'yes' },
  { seed: 4294967295, scheme: 'tupe-r', causal: 'yes' },
])('%o is drawn', async (settings) => {
  expectSoundPictures(await run(schemes, settings));
});

test('with one word, a scheme depends on the offset alone just when its scores are Toeplitz', async () => {
  const { data } = await run(schemes);
  const { n } = data;
  let toeplitz = 0;
  for (const id of ids) {
    const { logits } = data.schemes[id];
    const spread = superpose.toeplitzSpread({ data: logits.values, rows: n, columns: n });
    if (spread < 1e-10) toeplitz++;
    expect(spread < 1e-10, id).toBe(logits.depends !== 'places');
    expect(logits.depends === 'nothing', id).toBe(id === 'none');
  }
  expect(toeplitz).toBeGreaterThan(1);
  expect(toeplitz).toBeLessThan(ids.length);
  // Relative schemes depend on the offset by definition; a sinusoid with itself does by cos(a − b).
  const relative = ['concat-raw', 'shaw', 'transformer-xl', 't5', 'alibi', 'deberta', 'diet-rel', 'rope'];
  for (const id of [...relative, 'decoupled-rope']) expect(data.schemes[id].logits.depends).toBe('offset');
});

test('parameters of BERT-base’s shape', async () => {
  const counts: Record<string, number> = {
    none: 0,
    add: 512 * 768,
    'concat-raw': 512 * 768,
    'concat-block-diagonal': 512 * 768 + 12 * 2 * 768 * 768,
    shaw: 12 * 33 * 64,
    t5: 32 * 12,
    deberta: 1024 * 768 + 12 * 2 * 768 * 768,
    'tupe-a': 513 * 768 + 2 * 768 * 768,
    'diet-abs': 12 * 2 * 512 * 12 * 64,
    'diet-rel': 12 * 257 * 12,
    'decoupled-rope': 12 * 768 * 13 * 32,
  };
  for (const [scheme, count] of Object.entries(counts)) {
    const { figure, data, state } = await run(schemes, { scheme });
    expect(figure.describe(data, state)).toContain(
      `It adds ${count === 0 ? 'no' : count.toLocaleString('en')} parameters`,
    );
  }
});

test('positions are sinusoids of the usual base', async () => {
  const { data } = await run(schemes);
  const all = data.schemes['concat-raw'].logits.offsets.kernel;
  let cosines = 0;
  for (let i = 0; i < 32; i++) cosines += Math.cos(5 * 10_000 ** (-i / 32)) - 1;
  expect(all[data.n - 1 + 5] - all[data.n - 1]).toBeCloseTo(cosines, 10);
});

test.each([{ common: 'yes' }, { causal: 'yes' }, { words: 'same' }])(
  'what is kept of other settings is the same as computed anew: %o',
  async (moved) => {
    for (const scheme of ['add', 'transformer-xl', 't5']) {
      await run(schemes, { scheme, words: 'many' });
      const memoized = (await run(schemes, { scheme, words: 'many', ...moved })).data;
      await run(schemes, { scheme, words: 'many', ...moved, seed: 2 });
      expect(memoized).toEqual((await run(schemes, { scheme, words: 'many', ...moved })).data);
    }
  },
);
