// What figures open with was trained or computed beforehand. Done again, it is the same to the last digit.
import { readdirSync, readFileSync } from 'node:fs';
import { load, loadMiniLM } from 'superpose';
import { expect, inject, test } from 'vitest';
import { ofCells, ofLayers, ofTask } from '../../tools/record-runs.mjs';
import { recorded } from '../../web/worker/recorded.ts';

const folder = new URL('../../web/figures/recorded/', import.meta.url);

const figures = (name: string) => import(`../../web/figures/${name}.ts`);
const ofModel = ['depth', 'needsPositions'];
/** Trained by tools/language on a GPU, so not again here. */
const elsewhere = ['language'];
const names = readdirSync(folder)
  .map((file) => file.replace('.json', ''))
  .filter((name) => !elsewhere.includes(name));

function expectSame(made: Record<string, string>, wanted: string[]) {
  expect(Object.keys(made).sort()).toEqual(wanted.sort());
  for (const [name, text] of Object.entries(made)) {
    const same = readFileSync(new URL(`${name}.json`, folder), 'utf8') === text;
    expect(same, `${name}.json; node tools/record-runs.mjs makes it anew`).toBe(true);
  }
}

test('the recorded runs are what the trainer gives: one task of the first screen, and some of each table', async () => {
  const superpose = await load({ simd: 'plain' });
  expect(await ofTask(figures, superpose, 'prev')).toEqual(await recorded('prev'));
  for (const [name, every] of [
    ['schemesTasks', 36],
    ['narrow', 7],
  ] as const) {
    const some = <T>(all: readonly T[]) => all.filter((_, at) => at % every === 0);
    const wanted = some((await recorded(name)) as unknown[]);
    expect(wanted.length).toBeGreaterThan(2);
    expect(await ofCells(figures, superpose, name, some), name).toEqual(wanted);
  }
});

test.runIf(inject('withModel'))(
  'what was computed of all layers is what they give',
  async () => {
    const superpose = await load({ simd: 'plain' });
    expectSame(await ofLayers(figures, superpose, await loadMiniLM(superpose)), [...ofModel]);
  },
  300_000,
);

test('each is found by its name, and no other', async () => {
  for (const name of names) {
    // Outcomes are part of the figure's inputs, not of its data.
    if (name === 'outcomes') continue;
    expect(await recorded(name)).toEqual(JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')));
  }
  expect(await recorded('nothing')).toBeUndefined();
});
