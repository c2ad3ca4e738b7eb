// The recorded runs: whatever is wrong with a file is named, and the rest of it is there; and the file that
// ships.
import { readFileSync } from 'node:fs';
import { load } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import { isSame, ofLearning } from '../../tools/record-runs.mjs';
import { initialState } from '../../web/figures/controls.ts';
import * as fourTasks from '../../web/figures/fourTasks.ts';
import * as keepApart from '../../web/figures/keepApart.ts';
import { keyOf, type RecordFile, readRecord } from '../../web/figures/runs/recordedRuns.ts';
import { modelOptions } from '../../web/figures/runs/tasks.ts';
import { checkpointsTo } from '../../web/figures/runs/trainingRun.ts';
import * as schemesTasks from '../../web/figures/schemesTasks.ts';
import { library } from '../../web/worker/library.ts';
import { loaded, run } from './support.ts';
import { alone, countedTrainers } from './training.ts';

const shape = { n: 10, d_model: 16, layers: 'one', norm: 'without', sigma: 0.1 } as const;
const right = (length: number) => Array.from({ length }, (_, k) => k);
const cell = (length = 6) => ({
  numbers: 7,
  questions: 20,
  first: [5, null],
  right: [right(length), right(length)],
});
const fileOf = (runs: RecordFile['groups'][number]['runs'], version = 1): RecordFile => ({
  version,
  groups: [{ shape, runs }],
});

test('a run is found by the options that a trainer takes, and has what the file has', () => {
  const { runs, faults } = readRecord(fileOf({ tupe: { lookup: cell() } }));
  expect(faults).toEqual([]);
  const run = (seed: number) =>
    runs.get(keyOf({ options: modelOptions('lookup', 'tupe', { ...shape, seed }) }));
  expect(run(1)).toMatchObject({ steps: 2000, numbers: 7, stepsToAim: 5, diverged: false });
  expect(run(2)).toMatchObject({ right: right(6).map((count) => count / 20), stepsToAim: null });
  expect(run(3)).toBeUndefined();
});

test('of another version nothing is taken; of another length or a way that is not known, the rest is', () => {
  expect(readRecord(fileOf({ add: { lookup: cell() } }, 2))).toEqual({
    runs: new Map(),
    faults: ['The recorded runs are of version 2, and this page reads version 1.'],
  });
  const { runs, faults } = readRecord(
    fileOf({ add: { lookup: cell(), roll: cell(12) }, adds: { lookup: cell() } }),
  );
  expect(runs.size).toBe(2);
  expect(faults).toEqual([
    'The recorded runs of add on roll are of another length.',
    'The recorded way in “adds” is not known here.',
  ]);
  expect(readRecord(undefined)).toEqual({ runs: new Map(), faults: [] });
});

test('a table names what is wrong, draws the rest, and trains nothing unasked', async () => {
  const file = fileOf({ add: { lookup: cell() }, 'concat-half': { lookup: cell(12) } });
  const state = {
    ...initialState(schemesTasks.figure.controls),
    seeds: 2,
    schemes: ['add', 'concat-half', 'tupe'],
    tasks: ['lookup'],
  } as const;
  const job = {
    ...alone(),
    live: { again: false, state: () => state, frame() {}, turn: async () => 'go' },
  } as never;
  const data = await schemesTasks.compute({ ...library(), recorded: async () => file }, state, job);
  const { figure } = schemesTasks;
  expect(figure.remark?.(data, state)).toBe(
    'The recorded runs of concat-half on lookup are of another length.',
  );
  expect(data.cells.map(([cell]) => cell?.accuracy?.count ?? 0)).toEqual([2, 0, 0]);
  expect(figure.describe(data, state)).toMatch(/^4 of 6 runs still to come, or to be asked for\./);
});

const file: RecordFile = JSON.parse(
  readFileSync(new URL('../../web/figures/recorded/runs.json', import.meta.url), 'utf8'),
);

test('all that ships can be read, in five seeds each', () => {
  const { runs, faults } = readRecord(file);
  expect(faults).toEqual([]);
  const cells = file.groups.flatMap(({ runs }) => Object.values(runs).flatMap((of) => Object.values(of)));
  expect(runs.size).toBe(5 * cells.length);
});

const importing = (path: string) => import(new URL(`../../web/${path}.ts`, import.meta.url).href);

test('Learn’s figures open without training anything, with what the trainer gives', async () => {
  const { counted, made: trainers } = countedTrainers({ ...loaded, ...library(), recorded: loaded.recorded });
  const terms = 'token-token.position-position';
  for (const [figure, settings] of [
    [keepApart, {}],
    [fourTasks, {}],
    [fourTasks, { terms }],
    [fourTasks, { terms, when: 'during' }],
  ] as const) {
    const { state } = await run<unknown>(figure, settings);
    await figure.compute(counted, state as never, alone());
    expect(trainers()).toBe(0);
  }
  for (const [name, text] of Object.entries(await ofLearning(importing, await load({ simd: 'plain' })))) {
    const file = new URL(`../../web/figures/recorded/${name}.json`, import.meta.url);
    expect(readFileSync(file, 'utf8') === text, `npm run record -- --seconds makes ${name}.json anew`).toBe(
      true,
    );
  }
});

test('a run of it, trained anew, is what it was', async () => {
  const superpose = await load({ simd: 'plain' });
  const group = file.groups[0] as RecordFile['groups'][number];
  const one = {
    shape: group.shape,
    way: 'concat-half',
    task: 'lookup',
    seed: 2,
    cell: group.runs['concat-half']?.lookup,
  };
  expect(one.cell?.right[1]).toHaveLength(checkpointsTo(2000).length);
  expect(await isSame(importing, superpose, one)).toBe(true);
  const first = one.cell?.first.map((step) => (step ?? 0) + 5);
  expect(await isSame(importing, superpose, { ...one, cell: { ...one.cell, first } })).toBe(false);
});
