// What the page says of all schemes: the table of formulas, and how many depend on the offset alone.
import { readFileSync } from 'node:fs';
import { load } from 'superpose';
import { beforeAll, expect, test } from 'vitest';
import * as schemes from '../../web/figures/schemes.ts';
import { run } from '../figures/support.ts';

const html = readFileSync(new URL('../../web/index.html', import.meta.url), 'utf8');
const page = html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
const said = (sentence: string) => expect(page).toContain(sentence);

let superpose: Awaited<ReturnType<typeof load>>;
beforeAll(async () => {
  superpose = await load();
});

const numbers =
  'eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );
const spelled = (count: number) => numbers[count - 8] as string;

test('how many schemes depend on the offset alone', async () => {
  said('Add the same sinusoids, or put random weights between, and that is lost.');
  for (const seed of [1, 2, 3]) {
    const { data } = await run(schemes, { seed });
    const depends = Object.entries(data.schemes as Record<string, { logits: { depends: string } }>);
    const offset = spelled(depends.filter(([, { logits }]) => logits.depends === 'offset').length);
    const some = `${offset[0]?.toUpperCase()}${offset.slice(1)} of the ${spelled(depends.length)}`;
    said(
      `${some} give scores that depend on the offset between two positions and on nothing else. All do so by construction but one.`,
    );
    const of = Object.fromEntries(depends.map(([id, { logits }]) => [id, logits.depends]));
    expect(of['concat-raw']).toBe('offset');
    for (const id of ['add', 'concat-full', 'concat-block-diagonal']) expect(of[id]).toBe('places');
  }
});

test('the table of formulas is the registry', () => {
  const row =
    /<tr><th scope="row">(.*?)<small>(.*?)<\/small><\/th><td><tex>(.*?)<\/tex><\/td><td><tex>(.*?)<\/tex><\/td><\/tr>/g;
  const found = [...html.matchAll(row)].map(([, name, source, formula, parameters]) => ({
    name,
    formula,
    parameters,
    source: source?.replace(/<[^>]*>/g, ''),
  }));
  expect(found).toEqual(
    superpose.schemeRegistry().map(({ name, bidirectionalFormula: formula, parameters, source }) => ({
      name,
      formula,
      parameters,
      source,
    })),
  );
});
