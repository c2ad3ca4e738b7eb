// A figure that is shown while it runs: it shows frames on the way, uses the newest settings, can be paused
// and stepped, waits in a hidden tab, and keeps still for a reader who prefers that. And a table of trained models, whose cells link to their runs.
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { expected } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { drawn, figureOf, openMenu, surface, visit } from './support/visit.ts';

const name = 'four-tasks';
const now = (page: Page) => page.evaluate(readFigure, name);
const button = (page: Page, label: string) =>
  figureOf(page, name).getByRole('button', { name: label, exact: true });

/** Records the steps of each picture. */
const watch = (page: Page) =>
  figureOf(page, name).evaluate((element) => {
    const steps: number[] = [];
    Object.assign(window, { steps });
    element.addEventListener('superpose-drawn', () =>
      steps.push((element as never as { result: { data: { steps: number } } }).result.data.steps),
    );
  });
const nextFrame = (page: Page) =>
  page.evaluate(
    () => new Promise<void>((go) => requestAnimationFrame(() => requestAnimationFrame(() => go()))),
  );
const stepsSeen = (page: Page) => page.evaluate(() => [...(window as never as { steps: number[] }).steps]);

async function agrees(page: Page): Promise<void> {
  const shown = await drawn(page, name);
  expect(shown.problems).toEqual([]);
  expect(shown.finding).toBe((await expected(name, shown.state)).finding);
}

test('the finished picture stays until its numbers are there; then training is shown while it goes on', async () => {
  const { page } = await visit();
  await watch(page);
  await agrees(page);
  expect(new Set(await stepsSeen(page))).toEqual(new Set([200]));
  await watch(page);
  await button(page, 'Train').click();
  await expect.poll(async () => (await stepsSeen(page)).length).toBeGreaterThan(0);
  await agrees(page);
  const seen = await stepsSeen(page);
  expect(seen.length).toBeGreaterThan(5);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen.at(-1)).toBe(200);
});

test('of many settings the newest is trained, and a term is cut without training anew', async () => {
  const { page } = await visit();
  await agrees(page);
  const sigma = figureOf(page, name).locator('input[name=sigma]');
  for (let k = 0; k < 4; k++) await sigma.press('ArrowRight');
  expect((await now(page))?.busy).toBe(true);
  await agrees(page);
  expect((await now(page))?.drawn).toMatchObject({ sigma: 0.4 });
  await watch(page);
  await figureOf(page, name).locator('input[name=terms][value=token-token]').uncheck();
  await agrees(page);
  expect(new Set(await stepsSeen(page))).toEqual(new Set([200]));
});

test('it is held, stepped, looked at with a term cut, and goes on', async () => {
  const { page } = await visit();
  await drawn(page, name);
  await button(page, 'Step').click();
  await expect.poll(async () => (await now(page))?.finding).toContain('After 8 steps');
  await button(page, 'Step').click();
  await expect.poll(async () => (await now(page))?.finding).toContain('After 16 steps');
  expect((await now(page))?.busy).toBe(true);
  await figureOf(page, name).locator('input[name=terms][value=token-token]').uncheck();
  await expect.poll(async () => (await now(page))?.finding).toMatch(/After 16 steps.*With token → token cut/);
  await button(page, 'Continue').click();
  await agrees(page);
  await button(page, 'Train').click();
  await button(page, 'Pause').click();
  await button(page, 'Continue').waitFor();
  // The worker answers in order: after another figure's answer, no frame from before the pause is under way.
  await drawn(page, 'overlap');
  await nextFrame(page);
  const held = await now(page);
  expect(held?.busy).toBe(true);
  await drawn(page, 'gram');
  await nextFrame(page);
  expect((await now(page))?.finding).toBe(held?.finding);
  // A setting that starts a new training ends the pause.
  await figureOf(page, name).locator('input[name=sigma]').press('ArrowRight');
  await agrees(page);
});

test('in a hidden tab it waits', async () => {
  const { page } = await visit();
  await drawn(page, name);
  const hide = (hidden: boolean) =>
    page.evaluate((to) => {
      Object.defineProperty(document, 'hidden', { get: () => to, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await hide(true);
  await watch(page);
  await button(page, 'Train').click();
  await expect.poll(() => stepsSeen(page)).toEqual([0]);
  // The worker also answers other questions in the meantime.
  for (const other of ['overlap', 'gram']) await drawn(page, other);
  expect(await stepsSeen(page)).toEqual([0]);
  await hide(false);
  await agrees(page);
});

test('who prefers less motion sees the end first, and the way there when asked for', async () => {
  const { page } = await visit({ reducedMotion: 'reduce' });
  await watch(page);
  await agrees(page);
  expect(await stepsSeen(page)).toEqual([200]);
  await button(page, 'Train').click();
  await agrees(page);
  expect((await stepsSeen(page)).length).toBeGreaterThan(5);
});

test('Reset leaves a run that was begun, and shows the finished table again', async () => {
  const { page } = await visit();
  await drawn(page, 'schemes-tasks');
  const said = async () => (await page.evaluate(readFigure, 'schemes-tasks'))?.finding;
  const figure = figureOf(page, 'schemes-tasks');
  await openMenu(figure);
  const press = (label: string) => figure.getByRole('button', { name: label, exact: true }).press('Enter');
  const finished = 'both learn all four tasks';
  await press('Reset');
  await expect.poll(said).toContain(finished);
  await press('Step');
  await expect.poll(said).toMatch(/^\d+ of \d+ runs still to come/);
  await press('Reset');
  await expect.poll(said).toContain(finished);
  await figure.getByRole('button', { name: 'Run it here' }).waitFor();
});

const table = 'schemes-tasks';
const side = 'add-or-concatenate';
const several =
  'size=large&norm=with&steps=200&seeds=1&seed=11&schemes=none.add.untied&tasks=badge.lookup.prev';

test('a click on a cell opens its run, and so does Enter', async () => {
  const two = 'size=small&norm=with&steps=200&seeds=1&schemes=concat.concat-8&tasks=badge.lookup';
  const { page } = await visit({ fragment: `#v=1&figure=${table}&${two}` });
  const { state } = await drawn(page, table);
  expect(state).toMatchObject({ schemes: ['concat', 'concat-8'], tasks: ['badge', 'lookup'] });
  // Not under “More settings”.
  const place = (selector: string) => figureOf(page, table).locator(selector).count();
  expect(await Promise.all(['button.main', 'details.more button.main'].map(place))).toEqual([1, 0]);
  const box = await surface(figureOf(page, table)).boundingBox();
  // The last of two rows, the second column.
  await surface(figureOf(page, table)).click({ position: { x: (box?.width ?? 0) - 40, y: 110 } });
  const opened = () => page.evaluate(readFigure, side).then((shown) => shown?.state);
  await expect.poll(opened).toMatchObject({ task: 'lookup', form: 'concat-8', seed: 1 });
  expect(new URL(page.url()).hash).toContain(`figure=${side}`);
  await drawn(page, side);
  await page.goBack();
  await drawn(page, table);
  await surface(figureOf(page, table)).press('ArrowUp');
  await surface(figureOf(page, table)).press('Enter');
  await expect.poll(opened).toMatchObject({ task: 'lookup', form: 'concat' });
});

test('what is trained on the page is what Node trains', async () => {
  const { page } = await visit({ fragment: `#v=1&figure=${table}&${several}` });
  const shown = await drawn(page, table);
  expect(shown.problems).toEqual([]);
  expect(shown.finding).toBe((await expected(table, shown.state)).finding);
});
