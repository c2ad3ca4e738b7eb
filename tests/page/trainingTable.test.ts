// A table of trained models on the page: its cells link to their runs, and it fills as they are trained.
import { expect, test } from 'vitest';
import { expected } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { drawn, figureOf, surface, visit } from './support/visit.ts';

const name = 'schemes-tasks';
const side = 'add-or-concatenate';
const several =
  'size=large&norm=with&steps=200&seeds=1&seed=11&schemes=none.add.untied&tasks=badge.lookup.prev';

test('a click on a cell opens its run, and so does Enter', async () => {
  const two = 'size=small&norm=with&steps=200&seeds=1&schemes=concat.concat-8&tasks=badge.lookup';
  const { page } = await visit({ fragment: `#v=1&figure=${name}&${two}` });
  const { state } = await drawn(page, name);
  expect(state).toMatchObject({ schemes: ['concat', 'concat-8'], tasks: ['badge', 'lookup'] });
  // Not under “More settings”.
  const place = (selector: string) => figureOf(page, name).locator(selector).count();
  expect(await Promise.all(['button.main', 'details.more button.main'].map(place))).toEqual([1, 0]);
  const box = await surface(figureOf(page, name)).boundingBox();
  // The last of two rows, the second column.
  await surface(figureOf(page, name)).click({ position: { x: (box?.width ?? 0) - 40, y: 110 } });
  const opened = () => page.evaluate(readFigure, side).then((shown) => shown?.state);
  await expect.poll(opened).toMatchObject({ task: 'lookup', form: 'concat-8', seed: 1 });
  expect(new URL(page.url()).hash).toContain(`figure=${side}`);
  await drawn(page, side);
  await page.goBack();
  await drawn(page, name);
  await surface(figureOf(page, name)).press('ArrowUp');
  await surface(figureOf(page, name)).press('Enter');
  await expect.poll(opened).toMatchObject({ task: 'lookup', form: 'concat' });
});

test('what is trained on the page is what Node trains', async () => {
  const { page } = await visit({ fragment: `#v=1&figure=${name}&${several}` });
  const shown = await drawn(page, name);
  expect(shown.problems).toEqual([]);
  expect(shown.finding).toBe((await expected(name, shown.state)).finding);
});
