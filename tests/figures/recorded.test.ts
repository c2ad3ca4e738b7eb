// What figures open with was trained beforehand. Trained again, it is the same to the last digit.
import { readdirSync, readFileSync } from 'node:fs';
import { load } from 'superpose';
import { expect, test } from 'vitest';
import { recordings } from '../../tools/record-runs.mjs';
import { recorded } from '../../web/worker/recorded.ts';

const folder = new URL('../../web/figures/recorded/', import.meta.url);

test('the recorded runs are what the trainer gives', async () => {
  const made = await recordings(
    (name: string) => import(`../../web/figures/${name}.ts`),
    await load({ simd: 'plain' }),
  );
  expect(Object.keys(made).map((name) => `${name}.json`)).toEqual(
    expect.arrayContaining(readdirSync(folder)),
  );
  for (const [name, text] of Object.entries(made)) {
    const same = readFileSync(new URL(`${name}.json`, folder), 'utf8') === text;
    expect(same, `${name}.json; node tools/record-runs.mjs makes it anew`).toBe(true);
  }
});

test('each is found by its name, and no other', async () => {
  for (const file of readdirSync(folder)) {
    const name = file.replace('.json', '');
    // Outcomes are part of the figure's inputs, not of its data.
    if (name === 'outcomes') continue;
    expect(await recorded(name)).toEqual(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
  }
  expect(await recorded('nothing')).toBeUndefined();
});
