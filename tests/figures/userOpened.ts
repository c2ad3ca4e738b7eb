// A model that a reader opened, without a page: the worker's side is asked as a page would ask it.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { initialState, type State } from '../../web/figures/controls.ts';
import type { AnyFigure } from '../../web/figures/figure.ts';
import type { CorpusAverage, UserModel } from '../../web/figures/userFile.ts';
import { modelFigures } from '../../web/figures/userModel.ts';
import { csvOf } from '../../web/plot/format.ts';
import { computeWith } from '../../web/worker/answers.ts';
import { library } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';
import { userModel } from '../../web/worker/userModel.ts';
import { expectSoundPictures } from './support.ts';

// What was computed beforehand is of MiniLM, never of a reader's model.
export const loaded = { ...library(), recorded };
export const job = { signal: new AbortController().signal, progress: (_: number) => {} };
export const folderOf = (name: string) =>
  fileURLToPath(new URL(`../reference/checkpoints/${name}`, import.meta.url));
export const ask = (figure: string, question: unknown, watched = job) =>
  userModel(loaded, figure, question as State, watched, computeWith);

/** Its figures, and what one of them finds in a state. */
export async function opened(folder: string, names = readdirSync(folder), options = {}) {
  const files = names.map((path) => ({ path, file: new File([readFileSync(`${folder}/${path}`)], path) }));
  const model = (await ask('user-model-open', { files, ...options })) as UserModel;
  onTestFinished(async () => {
    await ask('user-model-open', {});
  });
  const figures = modelFigures(model);
  /** In its first state but for these settings: what is computed, and the figure's sentence. */
  const seen = async (name: string, settings: State = {}) => {
    const figure = figures[name] as AnyFigure;
    const state = { ...initialState(figure.controls), ...settings };
    const data = await ask(name, state);
    expectSoundPictures({ figure, data, state });
    return { figure, state, data, said: figure.describe(data, state) };
  };
  return {
    model,
    figures,
    seen,
    found: async (name: string, settings: State = {}) => (await seen(name, settings)).said,
    /** Averages over a corpus, and adds the figures that need it. */
    async average(corpus: string, watched = job) {
      const { windows } = (await ask('user-model-open', { corpus }, watched)) as CorpusAverage;
      expect(windows).toBeGreaterThan(3);
      return Object.assign(figures, modelFigures({ ...model, windows }));
    },
  };
}

/** What a figure says, its CSV and its readouts have no numbers that are none; what cannot be computed is a sentence. */
export async function expectTold(figures: Record<string, AnyFigure>, settings: State) {
  for (const [name, figure] of Object.entries(figures)) {
    const state = { ...initialState(figure.controls), ...settings };
    const data = await ask(name, state).catch((error: unknown) => {
      expect((error as Error).message, name).toMatch(/^[A-Z“].*\.$/s);
      expect((error as Error).message, name).not.toMatch(/NaN|undefined/);
    });
    if (data === undefined) continue;
    expectSoundPictures({ figure, data, state });
    const { rows, columns } = figure.cells(data, state);
    const ends = [0, columns - 1].flatMap((j) => [0, rows - 1].map((i) => ({ i, j })));
    const cells = ends.map((end) => JSON.stringify(figure.readout(data, state, end)));
    for (const said of [csvOf(figure.table(data, state)), ...cells])
      expect(said, name).not.toMatch(/NaN|Infinity|undefined/);
    expect(figure.describe(data, state), name).not.toMatch(/–|-1\b/);
  }
}
