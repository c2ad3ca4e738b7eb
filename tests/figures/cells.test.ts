// Many models at once, with a fake library: which are trained, where, and what is shown meanwhile.
import { expect, test, vi } from 'vitest';
import { computeCell, trainedCells } from '../../web/figures/cells.ts';
import { initialState } from '../../web/figures/controls.ts';
import type { Run } from '../../web/figures/figure.ts';
import type { CellRun } from '../../web/figures/record.ts';
import type { CellJob } from '../../web/figures/training.ts';
import { library } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';
import { cellRun, type Question } from '../../web/worker/transports.ts';
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
  expect(await trainedCells(counted, all, job, (runs) => runs.map((run) => run !== undefined))).toEqual(
    first,
  );
  expect(steps()).toBe(16);
  expect(frames).toEqual([
    [false, false, false],
    [true, false, true],
    [true, true, true],
  ]);
});

/** Stands in for workers: they answer after a while, or cannot be loaded. */
function workers({ load, start = true }: { load: boolean; start?: boolean }) {
  const asked: number[] = [];
  const ended: number[] = [];
  let count = 0;
  class FakeWorker {
    onmessage: ((event: MessageEvent) => void) | null = null;
    onerror: ((event: Event) => void) | null = null;
    private readonly number = count++;
    constructor() {
      if (!start) throw new Error('No worker within a worker here.');
    }
    postMessage(question: Question) {
      if (!('figure' in question)) throw new Error('A helper is asked for runs only.');
      expect(question.figure).toBe(cellRun);
      if (!load) {
        setTimeout(() => this.onerror?.(new Event('error')));
        return;
      }
      asked.push(this.number);
      const say = (data: CellRun) => this.onmessage?.({ data: { id: question.id, data } } as MessageEvent);
      void computeCell(library(), question.state, alone()).then(say);
    }
    terminate() {
      ended.push(this.number);
    }
  }
  vi.stubGlobal('Worker', FakeWorker);
  vi.stubGlobal('navigator', { hardwareConcurrency: 3 });
  return { asked, ended };
}

test.each([
  ['three at once', { load: true }],
  ['one, where the others cannot be loaded', { load: false }],
  ['one, where no other can be started', { load: false, start: false }],
] as const)('with a worker that may start more: %s, and the same comes of it', async (_, how) => {
  const all = Array.from({ length: 12 }, (_, k) => askedOf(100 + k));
  const expected = await trainedCells(library(), all, alone(), none);
  const { asked, ended } = workers(how);
  try {
    const said: number[] = [];
    const job = { ...watched({}).job, progress: (part: number) => said.push(part) };
    const found = await trainedCells({ ...library(), address: 'blob:a-worker' }, all, job, none);
    expect(found).toEqual(expected);
    expect(said.map((part) => Math.round(12 * part))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(new Set(asked)).toEqual(new Set(how.load ? [0, 1] : []));
    expect(ended).toEqual('start' in how ? [] : [0, 1]);
  } finally {
    vi.unstubAllGlobals();
  }
});

test('few runs are not worth a worker more', async () => {
  const { asked } = workers({ load: true });
  try {
    const all = [askedOf(201), askedOf(202), askedOf(203), askedOf(204)];
    await trainedCells({ ...library(), address: 'blob:a-worker' }, all, alone(), none);
    expect(asked).toEqual([]);
  } finally {
    vi.unstubAllGlobals();
  }
});

test('on the page nothing long is trained unless it is asked for', async () => {
  const { counted, steps } = countedTrainers();
  const { frames, job } = watched<unknown>({});
  const unasked = { ...job, run: { ...(job.run as Run), again: false } };
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
