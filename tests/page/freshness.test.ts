// A figure never waits for an answer that is no longer wanted, and never replaces an answer by an older one.
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { expected, figures, writeLink } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { drawn, figureOf, modelTest, visit } from './support/visit.ts';

/** Records the questions that the page sends to its worker. */
const noteQuestions = () => {
  const asked: unknown[] = [];
  Object.assign(window, { asked });
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (this: Worker, ...message: unknown[]) {
    if (!('cancel' in (message[0] as object))) asked.push(message[0]);
    return postMessage.apply(this, message as never);
  } as never;
};
const askedIn = async (page: Page, figure: string, setting: string) => {
  const all = (await page.evaluate('window.asked')) as { figure: string; state: Record<string, unknown> }[];
  return all.filter((request) => request.figure === figure).map(({ state }) => state[setting]);
};

const name = 'dot-products';

test('fifty steps of a slider in one go are two questions, and the figure ends on the last', async () => {
  const { page } = await visit({ of: name, first: noteQuestions });
  await drawn(page, name);
  // All in one turn of the page's event loop, faster than any hand.
  await page.evaluate(() => {
    const slider = document
      .querySelector('superpose-figure[name=dot-products]')
      ?.shadowRoot?.querySelector('input[name=scale]') as HTMLInputElement;
    for (let step = 1; step <= 50; step++) {
      slider.value = String(step * 0.05);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }
  });
  const shown = await drawn(page, name);
  expect(shown.state.scale).toBe(2.5);
  expect(shown.finding).toBe((await expected(name, shown.state)).finding);
  // The first question is sent before the second setting comes; of the others, only the newest is asked.
  expect(await askedIn(page, name, 'scale')).toEqual([1, 0.05, 2.5]);
});

modelTest('a sentence given up while its words are on their way', async () => {
  const { page, site } = await visit({ of: 'one-score' });
  await drawn(page, 'one-score');
  const box = figureOf(page, 'one-score').locator('textarea');
  const before = site.requests.length;
  const release = site.hold(/words-/);
  await box.fill('zebra crossings');
  await expect.poll(() => site.requests.slice(before).join()).toContain('words-');
  await box.fill('the other bank');
  // Typed text is passed on after a pause; only the answer shows that this has happened.
  release();
  await expect
    .poll(async () => (await page.evaluate(readFigure, 'one-score'))?.tokens)
    .toEqual(['[CLS]', 'the', 'other', 'bank', '[SEP]']);
});

/** The marks in the document, and those of a cursor in the first cell. */
const picture = async (page: Page, name: string): Promise<string[]> =>
  figureOf(page, name).evaluate(async (element) => {
    const figure = element as HTMLElement & { cursor: object; updateComplete: Promise<unknown> };
    figure.cursor = { i: 0, j: 0 };
    await figure.updateComplete;
    return ['.marks', '.frame'].map((layer) => figure.shadowRoot?.querySelector(layer)?.innerHTML ?? '');
  });

// A step rewrites only the marks that changed: in some steps as many as before, in others more or fewer.
modelTest.each([
  ['gram', ['positions', 'd']],
  ['dot-products', ['n', 'scale']],
  ['one-layer', ['pull', 'd']],
  ['one-score', ['head']],
])('after steps of its sliders, %s shows what it shows when it is opened there', async (name, sliders) => {
  const { page } = await visit({ of: name });
  await drawn(page, name);
  for (const slider of sliders) {
    for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowRight']) {
      await figureOf(page, name).locator(`input[name=${slider}]`).press(key);
      await drawn(page, name);
    }
  }
  const { state } = await drawn(page, name);
  const stepped = await picture(page, name);
  expect(stepped[0]?.length).toBeGreaterThan(1000);
  const { controls } = figures[name] as (typeof figures)[string];
  const { page: opened } = await visit({ fragment: writeLink(name, controls, state as never) });
  await drawn(opened, name);
  expect(await picture(opened, name)).toEqual(stepped);
});

test('a step to an axis with another number of ticks leaves the other marks in the document', async () => {
  const { page } = await visit({ of: name });
  const figure = figureOf(page, name);
  const labels = async () => (await drawn(page, name)).picture.split(' ').length;
  const before = await labels();
  const paths = await figure.locator('.marks path').elementHandles();
  expect(paths.length).toBeGreaterThan(0);
  await figure.locator('input[name=scale]').press('ArrowRight');
  expect(await labels()).not.toBe(before);
  for (const path of paths) expect(await path.evaluate(({ isConnected }) => isConnected)).toBe(true);
});
