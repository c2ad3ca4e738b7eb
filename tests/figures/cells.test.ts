// Many models at once, with a fake library: which are trained, and what is shown meanwhile.
import { expect, test } from 'vitest';
import { initialState } from '../../web/figures/controls.ts';
import type { LiveJob } from '../../web/figures/figure.ts';
import { type CellRuns, runRequests, trainedCells } from '../../web/figures/runs/cells.ts';
import type { RunRequest } from '../../web/figures/runs/trainingRun.ts';
import { library } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';
import { alone, countedTrainers, watched } from './training.ts';

const cellOf = (seed: number, steps = 16): RunRequest[] => [
  { options: { task: 'prev', d_model: 4, seed, evaluationSequences: 4, sequences: 2 }, steps },
];
const none = () => undefined;

test('a trained model is remembered, trained again only on request, and shared by equal options', async () => {
  const { counted, steps } = countedTrainers();
  const all = [cellOf(1), cellOf(2), cellOf(1)];
  const first = await trainedCells(counted, all, alone(), none);
  expect(steps()).toBe(8);
  expect(first[2]?.[0]).toBe(first[0]?.[0]);
  const again = await trainedCells(counted, [cellOf(2), cellOf(1)], alone(), none);
  expect(again).toEqual([first[1], first[0]]);
  expect(steps()).toBe(8);
  const { frames, job } = watched<unknown>({});
  // Earlier runs stay until each is trained again.
  const anew = (cells: readonly CellRuns[]) =>
    cells.flat().map((run) => (run ? (run.anew ?? false) : undefined));
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
  const [long, short] = [cellOf(301, 401), cellOf(302)];
  const isThere = async (...question: [RunRequest[][], typeof job]) =>
    (await trainedCells(counted, ...question, none)).flat().map(Boolean);
  expect(await isThere([long, short], unasked)).toEqual([false, true]);
  expect(steps()).toBe(4);
  expect(await isThere([long], job)).toEqual([true]);
  expect(await isThere([long], unasked)).toEqual([true]);
  expect(frames.length).toBeGreaterThan(0);
});

test('a cell asks for one run a seed, as far as the page trains, and for lengths where its way is about them', () => {
  const shape = { n: 10, d_model: 16, layers: 'one', norm: 'with', sigma: 0.1 } as const;
  const cell = { task: 'prev', shape, seed: 4294967295, seeds: 2, steps: 16_000 } as const;
  const plain = runRequests({ ...cell, way: 'add' });
  expect(plain.map(({ options, steps, loudness }) => [options.seed, steps, loudness])).toEqual([
    [4294967295, 2000, undefined],
    [0, 2000, undefined],
  ]);
  const [scaled] = runRequests({ ...cell, way: 'add-sinusoid-scaled', steps: 50 });
  expect(scaled).toMatchObject({
    steps: 50,
    loudness: true,
    options: { scaleTokens: true, task: 'prev', n: 10 },
  });
});

test('options that no trainer takes end it with the trainer’s sentence', async () => {
  const wrong: RunRequest = { options: { task: 'prev', d_model: 5, heads: 2 }, steps: 16 };
  await expect(trainedCells(library(), [[wrong]], alone(), none)).rejects.toThrow('heads');
});

test('the table of tasks opens on recorded runs, without the module that trains', async () => {
  const { figure, compute } = await import('../../web/figures/schemesTasks.ts');
  const superpose = () => Promise.reject(new Error('The full module was asked for.'));
  const state = initialState(figure.controls);
  const data = await compute({ ...library(), superpose, recorded }, state, alone());
  expect(figure.describe(data, state)).not.toMatch(/still to come|not trained yet/);
});
