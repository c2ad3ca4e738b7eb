// A figure that is shown while it runs: it shows frames on the way, uses the newest settings, can be paused
// and stepped, waits in a hidden tab, and keeps still for a reader who prefers that. And a table of trained
// models, whose cells link to their runs.
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import type { FigureElement } from '../../web/element/figureElement.ts';
import { expected, follow } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { drawn, figureOf, placeOf, resetOf, sharedVisits, surface, visit } from './support/visit.ts';

const now = (page: Page, name: string) => page.evaluate(readFigure, name);
const button = (page: Page, name: string, label: string) =>
  figureOf(page, name).getByRole('button', { name: label, exact: true });

/** Records how far each picture is: its steps, or how many of its models have been trained again. */
const watch = (page: Page, name: string) =>
  figureOf(page, name).evaluate((element) => {
    const seen: number[] = [];
    Object.assign(window, { seen });
    type Point = { runs: ({ anew?: true } | undefined)[] };
    element.addEventListener('superpose-drawn', () => {
      const { steps, points } = (
        element as never as { result: { data: { steps: number; points: Point[][] } } }
      ).result.data;
      seen.push(steps ?? points.flat().flatMap(({ runs }) => runs.filter((run) => run?.anew)).length);
    });
  });
const nextFrame = (page: Page) =>
  page.evaluate(
    () => new Promise<void>((go) => requestAnimationFrame(() => requestAnimationFrame(() => go()))),
  );
const seenBy = (page: Page) => page.evaluate(() => [...(window as never as { seen: number[] }).seen]);

async function agrees(page: Page, name: string): Promise<void> {
  const shown = await drawn(page, name);
  expect(shown.problems).toEqual([]);
  expect(shown.finding).toBe((await expected(name, shown.state)).finding);
}

test('the picture stays until its numbers are there; it is held, stepped, and looked at with a term cut', async () => {
  const name = 'four-tasks';
  const { page } = await visit({ of: name });
  const finding = async () => (await now(page, name))?.finding;
  await watch(page, name);
  await agrees(page, name);
  const term = figureOf(page, name).locator('input[name=terms][value=token-token]');
  await term.uncheck();
  await agrees(page, name);
  await term.check();
  await agrees(page, name);
  expect(new Set(await seenBy(page))).toEqual(new Set([200]));
  await watch(page, name);
  await button(page, name, 'Step').click();
  await expect.poll(finding).toContain('After 8 steps');
  // The finding is also spoken, though the run is not over.
  const heard = () => figureOf(page, name).locator('[aria-live]').textContent();
  await expect.poll(heard).toContain('After 8 steps');
  await button(page, name, 'Step').click();
  await expect.poll(finding).toContain('After 16 steps');
  expect((await now(page, name))?.busy).toBe(true);
  await term.uncheck();
  await expect.poll(finding).toMatch(/After 16 steps.*With token → token cut/);
  // A busy machine may finish the first steps before it has drawn the untrained model.
  expect((await seenBy(page)).filter((steps) => steps > 0)).toEqual([8, 16, 16]);
});

/** Twenty small models, none of them recorded, in a card, where no step of a beat sets anything. */
const cells = 'narrow';
const sharing = sharedVisits();
const small = async (seed: number) => {
  const { page } = await sharing(cells);
  await follow(page, cells, { seeds: '1', seed: String(seed) });
  return page;
};

test('of many settings the newest is trained', async () => {
  const page = await small(11);
  await watch(page, cells);
  for (const task of ['badge', 'prev', 'roll'])
    await figureOf(page, cells).locator('select[name=task]').selectOption(task);
  expect((await now(page, cells))?.busy).toBe(true);
  await agrees(page, cells);
  expect((await now(page, cells))?.drawn).toMatchObject({ task: 'roll' });
});

test('paused, it stands still, and goes on; another setting starts anew', async () => {
  const page = await small(12);
  const main = figureOf(page, cells).locator('button.main').first();
  await main.evaluate((element: HTMLElement) => {
    element.click();
    element.click();
  });
  await button(page, cells, 'Continue').waitFor();
  // The worker answers in order: after another figure's answer, no frame from before the pause is under way.
  await drawn(page, 'overlap');
  await nextFrame(page);
  const paused = await now(page, cells);
  expect(paused?.busy).toBe(true);
  await drawn(page, 'gram');
  await nextFrame(page);
  expect((await now(page, cells))?.finding).toBe(paused?.finding);
  await watch(page, cells);
  await button(page, cells, 'Continue').click();
  await agrees(page, cells);
  const seen = await seenBy(page);
  expect(seen.length).toBeGreaterThan(5);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen.at(-1)).toBe(20);
  await button(page, cells, 'Step').click();
  expect((await now(page, cells))?.busy).toBe(true);
  await figureOf(page, cells).locator('select[name=task]').selectOption('prev');
  await agrees(page, cells);
});

test('in a hidden tab it waits', async () => {
  const page = await small(13);
  const hide = (hidden: boolean) =>
    page.evaluate((to) => {
      Object.defineProperty(document, 'hidden', { get: () => to, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await hide(true);
  await watch(page, cells);
  await button(page, cells, 'Run it here').click();
  await expect.poll(() => seenBy(page)).toEqual([0]);
  // The worker also answers other questions in the meantime.
  for (const other of ['encoding', 'collisions']) await drawn(page, other);
  expect(await seenBy(page)).toEqual([0]);
  await hide(false);
  await agrees(page, cells);
});

test('who prefers less motion sees the end first, and the way there when asked for', async () => {
  const page = await small(14);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await watch(page, cells);
  await follow(page, cells, { seeds: '1', seed: '15' });
  await agrees(page, cells);
  expect(await seenBy(page)).toHaveLength(1);
  await button(page, cells, 'Run it here').click();
  await agrees(page, cells);
  expect((await seenBy(page)).length).toBeGreaterThan(5);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
});

test('Reset leaves a run that was begun, and shows the finished table again', async () => {
  const { page } = await sharing('schemes-tasks');
  await drawn(page, 'schemes-tasks');
  const finding = async () => (await page.evaluate(readFigure, 'schemes-tasks'))?.finding;
  const figure = figureOf(page, 'schemes-tasks');
  const finished = 'both learn all four tasks';
  await figure.evaluate((element) => (element as FigureElement).show([]));
  await expect.poll(finding).toContain(finished);
  await figure.getByRole('button', { name: 'Step', exact: true }).press('Enter');
  // The recorded results stay in sight.
  const sentence = '1 of 180 runs done anew, in framed cells; the others are from before.';
  await expect.poll(finding).toBe(sentence);
  await resetOf(figure).press('Enter');
  await expect.poll(finding).toContain(finished);
  expect(await resetOf(figure).count()).toBe(0);
  await figure.getByRole('button', { name: 'Run it here' }).waitFor();
});

const table = 'schemes-tasks';
const side = 'add-or-concatenate';
const several = 'size=large&norm=with&steps=50&seeds=1&seed=11&schemes=add.tupe&tasks=badge.prev';

test('a click on a cell opens its run, and so does Enter', async () => {
  const two = 'size=small&norm=with&steps=200&seeds=1&schemes=concat-half.concat-quarter&tasks=badge.lookup';
  const { page } = await visit({ fragment: `#v=1&figure=${table}&${two}` });
  const { state } = await drawn(page, table);
  expect(state).toMatchObject({ schemes: ['concat-half', 'concat-quarter'], tasks: ['badge', 'lookup'] });
  // Not under “More settings”.
  const place = (selector: string) => figureOf(page, table).locator(selector).count();
  expect(await Promise.all(['button.main', 'details.more button.main'].map(place))).toEqual([1, 0]);
  // The last of two rows, the second column.
  const position = await placeOf(figureOf(page, table), { i: 1, j: 1 });
  await surface(figureOf(page, table)).click({ position });
  const opened = () => page.evaluate(readFigure, side).then((shown) => shown?.state);
  await expect.poll(opened).toMatchObject({ task: 'lookup', form: 'concat-quarter', seed: 1 });
  await expect.poll(() => page.url()).toContain(`figure=${side}`);
  await drawn(page, side);
  await page.goBack();
  await drawn(page, table);
  await surface(figureOf(page, table)).press('ArrowUp');
  await surface(figureOf(page, table)).press('Enter');
  await expect.poll(opened).toMatchObject({ task: 'lookup', form: 'concat-half' });
});

test('what is trained on the page is what Node trains', async () => {
  const { page } = await visit({ fragment: `#v=1&figure=${table}&${several}` });
  const shown = await drawn(page, table);
  expect(shown.problems).toEqual([]);
  expect(shown.finding).toBe((await expected(table, shown.state)).finding);
});
