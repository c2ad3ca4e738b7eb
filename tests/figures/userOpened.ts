// Opens a reader's own model without a page, by the requests that a page would send to the worker.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { initialState, type State } from '../../web/figures/controls.ts';
import type { AnyFigure } from '../../web/figures/figure.ts';
import type { CorpusAverage, UserModel } from '../../web/figures/userFile.ts';
import { modelFigures } from '../../web/figures/userModel.ts';
import { csvOf } from '../../web/plot/csv.ts';
import { computeWith } from '../../web/worker/answers.ts';
import { library } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';
import { userModel } from '../../web/worker/userModel.ts';
import { expectSoundPictures } from './support.ts';

// The recorded results are of MiniLM, and no figure of a reader's own model may show them.
export const loaded = { ...library(), recorded };
export const job = { signal: new AbortController().signal, progress: (_: number) => {} };
export const folderOf = (name: string) =>
  fileURLToPath(new URL(`../reference/checkpoints/${name}`, import.meta.url));
export const request = (figure: string, state: unknown, watched = job) =>
  userModel(loaded, figure, state as State, watched, computeWith);

/** Opens the files of a folder: the model, its figures, and what they show in a state. */
export async function opened(folder: string, names = readdirSync(folder), options = {}) {
  const files = names.map((path) => ({ path, file: new File([readFileSync(`${folder}/${path}`)], path) }));
  const model = (await request('user-model-open', { files, ...options })) as UserModel;
  onTestFinished(async () => {
    await request('user-model-open', {});
  });
  const figures = modelFigures(model);
  /**
   * Shows a figure in its first state except for these settings: checks its pictures, and returns its data
   * and its sentence.
   */
  const show = async (name: string, settings: State = {}) => {
    const figure = figures[name] as AnyFigure;
    const state = { ...initialState(figure.controls), ...settings };
    const data = await request(name, state);
    expectSoundPictures({ figure, data, state });
    return { figure, state, data, sentence: figure.describe(data, state) };
  };
  return {
    model,
    figures,
    show,
    sentenceOf: async (name: string, settings: State = {}) => (await show(name, settings)).sentence,
    /** Averages over a corpus, and adds the figures that need it. */
    async average(corpus: string, watched = job) {
      const { windows } = (await request('user-model-open', { corpus }, watched)) as CorpusAverage;
      expect(windows).toBeGreaterThan(3);
      return Object.assign(figures, modelFigures({ ...model, windows }));
    },
  };
}

/**
 * Expects no NaN in what figures say, in their CSV and in their readouts; what cannot be computed is refused
 * in a sentence.
 */
export async function expectReadable(figures: Record<string, AnyFigure>, settings: State) {
  for (const [name, figure] of Object.entries(figures)) {
    const state = { ...initialState(figure.controls), ...settings };
    const data = await request(name, state).catch((error: unknown) => {
      expect((error as Error).message, name).toMatch(/^[A-Z“].*\.$/s);
      expect((error as Error).message, name).not.toMatch(/NaN|undefined/);
    });
    if (data === undefined) continue;
    expectSoundPictures({ figure, data, state });
    const { rows, columns } = figure.cells(data, state);
    const ends = [0, columns - 1].flatMap((j) => [0, rows - 1].map((i) => ({ i, j })));
    const cells = ends.map((end) => JSON.stringify(figure.readout(data, state, end)));
    for (const text of [csvOf(figure.table(data, state)), ...cells])
      expect(text, name).not.toMatch(/NaN|Infinity|undefined/);
    expect(figure.describe(data, state), name).not.toMatch(/–|-1\b/);
  }
}
