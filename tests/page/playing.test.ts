// The first figure's run is replayed, scrubbed, and trained again: what the worker is asked for, and what is
// shown.
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { expected } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { drawn, figureOf, settled, sharedVisit, visit } from './support/visit.ts';

const name = 'add-or-concatenate';
const patience = { timeout: 20_000 };
const now = (page: Page) => page.evaluate(readFigure, name);
const button = (page: Page, label: string) =>
  figureOf(page, name).getByRole('button', { name: label, exact: true });

/** Records the step of each picture. */
const watch = (page: Page) =>
  figureOf(page, name).evaluate((element) => {
    const steps: number[] = [];
    Object.assign(window, { steps });
    element.addEventListener('superpose-drawn', () =>
      steps.push((element as never as { result: { state: { step: number } } }).result.state.step),
    );
  });
/** One page for readers who do not mind motion; the last test trains on it. */
const shared = sharedVisit();
const stepsSeen = (page: Page) => page.evaluate(() => [...(window as never as { steps: number[] }).steps]);

test('a replay goes from the first steps to the last, and nothing is fetched for it', async () => {
  const { page, site } = await shared();
  await settled(page, name);
  const requests = site.requests.length;
  await watch(page);
  await button(page, 'Replay the training').click();
  await expect.poll(async () => (await now(page))?.state.step, patience).not.toBe(200);
  await expect.poll(async () => (await now(page))?.state.step, patience).toBe(200);
  const seen = await stepsSeen(page);
  expect(seen[0]).toBeLessThan(20);
  expect(seen.length).toBeGreaterThan(10);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen.at(-1)).toBe(200);
  expect(site.requests.slice(requests).filter((path) => /recorded|second|model\//.test(path))).toEqual([]);
  // The replay can be cut short.
  await button(page, 'Replay the training').click();
  await button(page, 'To the end').click();
  await expect.poll(async () => (await now(page))?.drawn?.step, patience).toBe(200);
  await expect.poll(() => button(page, 'Replay the training').count(), patience).toBe(1);
});

test('with less motion a replay shows four stills and its last frame', async () => {
  const { page } = await visit({ reducedMotion: 'reduce' });
  await expect.poll(async () => (await settled(page, name)).drawn?.step, patience).toBe(200);
  await watch(page);
  await button(page, 'Replay the training').click();
  await expect.poll(async () => (await now(page))?.drawn?.step, patience).not.toBe(200);
  await expect.poll(async () => (await now(page))?.drawn?.step, patience).toBe(200);
  const seen = [...new Set(await stepsSeen(page))];
  expect(seen).toHaveLength(5);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
});

test('a screen reader is not left with what an earlier step said', async () => {
  const { page } = await visit();
  await settled(page, name);
  const spoken = async () =>
    (await figureOf(page, name).locator('[aria-live=polite]').first().textContent())?.replace(/\s+/g, ' ');
  await figureOf(page, name).locator('.surface').press('ArrowRight');
  await expect.poll(spoken, patience).toContain('answers');
  await button(page, 'Replay the training').click();
  await expect.poll(spoken, patience).toBe('This takes 5 seconds.');
  await expect.poll(spoken, patience).toBe((await settled(page, name)).finding);
});

test('a step is shown at once, is in the link, and stays when the question changes', async () => {
  const { page } = await shared();
  await settled(page, name);
  const slider = figureOf(page, name).locator('input[name=step]');
  await slider.press('ArrowLeft');
  await expect.poll(async () => (await now(page))?.drawn?.step, patience).toBe(180);
  await slider.press('Home');
  await expect.poll(async () => (await now(page))?.drawn?.step, patience).toBe(0);
  await expect.poll(() => page.url()).toContain('step=0');
  await drawn(page, name);
  await figureOf(page, name).locator('input[name=task][value=prev]').check();
  await expect.poll(async () => (await now(page))?.drawn, patience).toMatchObject({ step: 0, task: 'prev' });
  expect((await now(page))?.finding).toBe(
    (await expected(name, (await settled(page, name)).state)).finding.replace(/\s+/g, ' '),
  );
});

test('another seed is trained here, with the full module, and the same comes of it in Node', async () => {
  const { page, site } = await shared();
  await drawn(page, name);
  const largeModules = () =>
    site.requests.filter((path) => /superpose-(plain|relaxed)-.*\.wasm$/.test(path)).length;
  expect(largeModules()).toBe(0);
  const step = figureOf(page, name).locator('label', { has: page.locator('input[name=step]') });
  await figureOf(page, name).locator('input[name=step]').press('End');
  await expect.poll(() => step.innerText(), patience).toBe('Step 200');
  await figureOf(page, name).locator('input[name=seed]').fill('7');
  await figureOf(page, name).locator('input[name=seed]').press('Enter');
  // While models train, the slider says how far they have got.
  await button(page, 'Step').click();
  await expect.poll(() => step.innerText(), patience).toMatch(/^Step \d+ so far$/);
  await button(page, 'Continue').click();
  await expect.poll(async () => (await settled(page, name)).drawn?.seed).toBe(7);
  const shown = await settled(page, name);
  expect(await step.innerText()).toBe('Step 200');
  expect(largeModules()).toBe(1);
  expect(shown.problems).toEqual([]);
  expect(shown.finding).toBe((await expected(name, shown.state)).finding.replace(/\s+/g, ' '));
  // The button trains what is set, even where a run of it is recorded.
  expect(await button(page, 'Train it here').count()).toBe(1);
});
