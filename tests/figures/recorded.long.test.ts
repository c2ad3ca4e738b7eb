// The recordings that figures open with: training or computing them again gives the same numbers to the last
// digit.
import { readdirSync, readFileSync } from 'node:fs';
import { load, loadMiniLM } from 'add-or-concatenate';
import { expect, inject, test } from 'vitest';
import { isSame, ofLayers, ofTask } from '../../tools/record-runs.mjs';
import { verdicts } from '../../web/build/verdicts.ts';
import { readState } from '../../web/figures/controls.ts';
import * as keepApart from '../../web/figures/keepApart.ts';
import type { RecordFile } from '../../web/figures/runs/recordedRuns.ts';
import * as schemesTasks from '../../web/figures/schemesTasksRuns.ts';
import { recorded } from '../../web/worker/recorded.ts';
import { run } from './support.ts';

const folder = new URL('../../web/figures/recorded/', import.meta.url);

const importing = (path: string) => import(new URL(`../../web/${path}.ts`, import.meta.url).href);
const ofModel = ['depth', 'needsPositions'];
/** Recordings that tools/language trained on a GPU, and that are therefore not made again here. */
const elsewhere = ['language'];
const names = readdirSync(folder)
  .map((file) => file.replace('.json', ''))
  .filter((name) => !elsewhere.includes(name));

function expectSame(actual: Record<string, string>, expected: string[]) {
  expect(Object.keys(actual).sort()).toEqual(expected.sort());
  for (const [name, text] of Object.entries(actual)) {
    const same = readFileSync(new URL(`${name}.json`, folder), 'utf8') === text;
    expect(same, `${name}.json; node tools/record-runs.mjs makes it anew`).toBe(true);
  }
}

test('the first screen’s runs of one task are what the trainer gives', async () => {
  const superpose = await load({ simd: 'plain' });
  expect(await ofTask(importing, superpose, 'prev')).toEqual(await recorded('prev'));
});

test('one seed of the runs that each claim rests on, trained anew, is what was recorded', async () => {
  const superpose = await load({ simd: 'plain' });
  const { groups } = (await recorded('runs')) as RecordFile;
  const resting = verdicts.flatMap(({ figure, settings }) => (figure === 'schemes-tasks' ? [settings] : []));
  expect(resting.length).toBeGreaterThanOrEqual(8);
  const runs = new Map<string, unknown>();
  for (const settings of resting) {
    const texts = Object.entries(settings ?? {}).map(([name, value]) => [name, String(value)] as const);
    const { state } = readState(schemesTasks.controls, texts);
    const d_model = state.size === 'small' ? 16 : 32;
    const expected = { d_model, layers: state.layers, norm: state.norm };
    const group = groups.find(({ shape }) =>
      Object.entries(expected).every(([name, value]) => shape[name as 'layers'] === value),
    ) as RecordFile['groups'][number];
    for (const way of state.schemes)
      for (const task of state.tasks) {
        const cell = group.runs[way]?.[task];
        const run = { shape: group.shape, way, task, seed: 1 + (runs.size % 5), cell };
        runs.set(JSON.stringify([group.shape, way, task]), run);
      }
  }
  for (const [name, one] of runs) expect(await isSame(importing, superpose, one as never), name).toBe(true);
}, 1_800_000);

test('after 200 steps wide tables overlap more than narrow ones, and large ones more than small', async () => {
  const overlapOf = async (settings: Record<string, string | number>) =>
    (await run(keepApart, settings)).data.overlap;
  const [narrow, wide, large] = [
    await overlapOf({ d_model: 16 }),
    await overlapOf({ d_model: 64 }),
    await overlapOf({ sigma: 0.5 }),
  ];
  expect(wide.mean).toBeGreaterThan(narrow.mean + narrow.standardDeviation);
  expect(large.least).toBeGreaterThan(narrow.largest);
}, 600_000);

test('after 2,000 steps the overlap of tokens and positions has no order of widths, and has gone on to fall', async () => {
  const overlapOf = async (settings: Record<string, string | number>) =>
    (await run(keepApart, { steps: 2000, ...settings })).data.overlap.mean;
  const [narrow, middle, wide] = [
    await overlapOf({ d_model: 16 }),
    await overlapOf({}),
    await overlapOf({ d_model: 64 }),
  ] as const;
  expect(narrow).toBeGreaterThan(wide);
  expect(wide).toBeGreaterThan(middle);
  for (const task of ['lookup', 'badge']) {
    const early = (await run(keepApart, { task })).data.overlap.mean;
    expect(task === 'lookup' ? middle : await overlapOf({ task })).toBeLessThan(0.9 * early);
  }
}, 600_000);

test.runIf(inject('withModel'))(
  'what was computed of all layers is what they give',
  async () => {
    const superpose = await load({ simd: 'plain' });
    expectSame(await ofLayers(importing, superpose, await loadMiniLM(superpose)), [...ofModel]);
  },
  300_000,
);

test('each is found by its name, and no other', async () => {
  for (const name of names) {
    expect(await recorded(name)).toEqual(JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')));
  }
  expect(await recorded('nothing')).toBeUndefined();
});
