// A beat's picture: its tools are within reach at every step, and a state that came from elsewhere stays as
// long as the reader is there.
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { readFigure, untilDrawn } from './support/shown.ts';
import {
  clickedAt,
  figureOf,
  modelTest,
  settled,
  sharedVisits,
  stepsCameBy,
  visit,
} from './support/visit.ts';

/** Each page of figures, shared by tests that scroll. */
const scrolling = sharedVisits();
const current = (page: Page, beat: string) =>
  page.locator(`#${beat} .stage:not(.single) .step a[aria-current]`);
/** Whether a beat is at its last step. */
const isLast = (page: Page, beat: string) =>
  page.locator(`#${beat} .step:last-child a[aria-current]`).isVisible();
/** How far the end of a figure lies below the window. */
const below = (page: Page, name: string) =>
  figureOf(page, name).evaluate((element) => element.getBoundingClientRect().bottom - innerHeight);

modelTest.each([
  ['mix', 'dot-products'],
  ['separate', 'oblique'],
  ['sum', 'sum'],
  ['task', 'add-or-concatenate'],
  ['ask', 'one-score'],
  ['learn', 'four-tasks'],
])('who scrolls to the tools of the first picture of “%s” keeps its state', async (beat, name) => {
  const { page } = await scrolling(beat);
  await settled(page, name);
  const steps = page.locator(`#${beat} .stage:not(.single) .step h3 a`);
  await page.locator(`#${beat} .stage:not(.single)`).evaluate((element) => element.scrollIntoView());
  await stepsCameBy(page);
  const before = (await page.evaluate(readFigure, name))?.state;
  const first = await steps.first().innerText();
  for (let tries = 0; tries < 60 && (await below(page, name)) > 0; tries++) {
    await page.evaluate(() => scrollBy(0, 40));
    await stepsCameBy(page);
  }
  expect(await below(page, name)).toBeLessThanOrEqual(0);
  expect(await current(page, beat).innerText()).toBe(first);
  expect((await page.evaluate(readFigure, name))?.state).toEqual(before);
  // All other steps still take their turn.
  const last = await steps.last().innerText();
  for (let tries = 0; tries < 60 && (await current(page, beat).innerText()) !== last; tries++) {
    await page.evaluate(() => scrollBy(0, 40));
    await stepsCameBy(page);
  }
  const menu = page.locator(`#${beat} .stage:not(.single) .shot:not([hidden]) .menu > summary`);
  await menu.dispatchEvent('click');
  await page.evaluate(() => scrollBy(0, -600));
  await stepsCameBy(page);
  expect(await current(page, beat).innerText()).toBe(last);
  await menu.dispatchEvent('click');
});

modelTest('a step marks the place that it names, and the next one takes the mark away', async () => {
  const { page } = await scrolling('ask');
  const go = (step: number) => page.locator('#ask .step h3 a').nth(step).click();
  const readout = figureOf(page, 'one-score').locator('.readout');
  await go(0);
  await expect.poll(() => readout.innerText(), { timeout: 20_000 }).toContain('Query she (8), key so (7)');
  await go(1);
  await expect.poll(() => readout.innerText()).not.toContain('Query');
});

modelTest('a link within a step changes the picture, but neither the step nor the place', async () => {
  const { page } = await scrolling('separate');
  await page.locator('#separate .step h3 a').last().click();
  await settled(page, 'keep-apart');
  const link = page.locator('#separate .step a', { hasText: '0.52' });
  const from = await clickedAt(link);
  await expect.poll(async () => (await page.evaluate(readFigure, 'keep-apart'))?.state.task).toBe('badge');
  // Figures above may still settle by a line.
  await expect
    .poll(async () => Math.abs(((await link.boundingBox())?.y ?? Infinity) - from))
    .toBeLessThan(40);
  expect(await page.locator('#separate .single a[aria-current]').count()).toBe(1);
});

modelTest('a link to a later picture of a beat marks a step of that picture', async () => {
  const { page } = await visit({ fragment: '#v=1&figure=four-tasks' });
  await expect.poll(() => page.evaluate(untilDrawn, 'four-tasks'), { timeout: 20_000 }).toBe(true);
  const marked = current(page, 'learn');
  await expect.poll(() => marked.count()).toBe(1);
  expect(await marked.getAttribute('href')).toContain('figure=four-tasks');
  await page.evaluate(() => scrollBy(0, 20));
  await stepsCameBy(page);
  expect(await marked.getAttribute('href')).toContain('figure=four-tasks');
});

modelTest('a picture that waits is pale at a step that is about another state', async () => {
  const { page } = await visit({
    of: 'mix',
    site: (site) => {
      site.hold(/\.wasm$/);
    },
  });
  const picture = figureOf(page, 'dot-products').locator('css:light=picture');
  const opacity = () => picture.evaluate((element) => getComputedStyle(element).opacity);
  for (const [step, expected] of ['1', '0.25'].entries()) {
    await page.locator('#mix .step h3 a').nth(step).click();
    await expect.poll(opacity, { message: `step ${step}` }).toBe(expected);
  }
});

modelTest('a page opened at a step’s address shows its picture whole', async () => {
  const { page } = await visit({ fragment: '#v=1&figure=one-score&head=11' });
  await expect.poll(() => page.evaluate(untilDrawn, 'one-score'), { timeout: 20_000 }).toBe(true);
  expect(await isLast(page, 'ask')).toBe(true);
  await expect.poll(() => below(page, 'one-score')).toBeLessThanOrEqual(0);
  expect((await figureOf(page, 'one-score').boundingBox())?.y).toBeGreaterThanOrEqual(0);
});

modelTest('a state that a link gave stays until the reader has left, not until another step', async () => {
  const patient = { timeout: 20_000 };
  const { page } = await visit({ fragment: '#dot-products' });
  await settled(page, 'dot-products');
  // The step beside the figure is already current when the link is followed.
  await expect.poll(() => current(page, 'mix').count(), patient).toBe(1);
  await page.evaluate(() => {
    location.hash = '#v=1&figure=dot-products&d=256';
  });
  const state = async () => (await page.evaluate(readFigure, 'dot-products'))?.drawn;
  await expect.poll(async () => (await state())?.d, patient).toBe(256);
  const first = await current(page, 'mix').innerText();
  await stepsCameBy(page);
  await page.evaluate(() => scrollBy(0, 1.5 * innerHeight));
  await expect.poll(() => current(page, 'mix').innerText(), patient).not.toBe(first);
  await expect.poll(async () => (await state())?.d, patient).not.toBe(256);
});
