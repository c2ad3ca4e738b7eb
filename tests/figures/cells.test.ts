// Many models at once, with a fake library: which are trained, and what is shown meanwhile.
import { expect, test } from 'vitest';
import { trainedCells } from '../../web/figures/cells.ts';
import { initialState } from '../../web/figures/controls.ts';
import type { LiveJob } from '../../web/figures/figure.ts';
import type { CellRun } from '../../web/figures/record.ts';
import type { CellJob } from '../../web/figures/training.ts';
import { library } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';
import { alone, countedTrainers, watched } from './training.ts';

const askedOf = (seed: number, steps = 16): CellJob => ({
  options: { task: 'prev', d_model: 4, seed, evaluationSequences: 4, sequences: 2 },
  steps,
});
const none = () => undefined;

test('a trained model is kept, trained again only on request, and shared by equal options', async () => {
  const { counted, steps } = countedTrainers();
  const all = [askedOf(1), askedOf(2), askedOf(1)];
  const first = await trainedCells(counted, all, alone(), none);
  expect(steps()).toBe(8);
  expect(first[2]).toBe(first[0]);
  expect(await trainedCells(counted, [askedOf(2), askedOf(1)], alone(), none)).toEqual([first[1], first[0]]);
  expect(steps()).toBe(8);
  const { frames, job } = watched<unknown>({});
  // Those that were there stay until each is trained again.
  const anew = (runs: readonly (CellRun | undefined)[]) =>
    runs.map((run) => (run ? (run.anew ?? false) : undefined));
  expect(await trainedCells(counted, all, job, anew)).toMatchObject(first);
  expect(steps()).toBe(16);
  expect(frames).toEqual([
    [false, false, false],
    [true, false, true],
    [true, true, true],
  ]);
});

test('on the page nothing long is trained unless it is asked for', async () => {
  const { counted, steps } = countedTrainers();
  const { frames, job } = watched<unknown>({});
  const unasked = { ...job, live: { ...(job.live as LiveJob), again: false } };
  const [long, short] = [askedOf(301, 401), askedOf(302)];
  expect((await trainedCells(counted, [long, short], unasked, none)).map(Boolean)).toEqual([false, true]);
  expect(steps()).toBe(4);
  expect((await trainedCells(counted, [long], job, none)).map(Boolean)).toEqual([true]);
  expect((await trainedCells(counted, [long], unasked, none)).map(Boolean)).toEqual([true]);
  expect(frames.length).toBeGreaterThan(0);
});

test('options that no trainer takes end it with the trainer’s sentence', async () => {
  const wrong: CellJob = { options: { task: 'prev', d_model: 5, heads: 2 }, steps: 16 };
  await expect(trainedCells(library(), [wrong], alone(), none)).rejects.toThrow('heads');
});

test('the table of tasks opens on recorded runs, without the module that trains', async () => {
  const { figure, compute } = await import('../../web/figures/schemesTasks.ts');
  const superpose = () => Promise.reject(new Error('The whole module was asked for.'));
  const state = initialState(figure.controls);
  const data = await compute({ ...library(), superpose, recorded }, state, alone());
  expect(figure.describe(data, state)).not.toMatch(/still to come|not trained yet/);
});
