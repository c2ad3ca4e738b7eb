// A slider never waits for an answer that nobody wants any more.
import { expect, test } from 'vitest';
import { readFigure1 } from './support/shown.ts';
import { figure1, visit } from './support/visit.ts';

/** Counts what the page asks of its worker. */
const countQuestions = () => {
  const asked: unknown[] = [];
  Object.assign(window, { asked });
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (this: Worker, ...message: unknown[]) {
    asked.push(message[0]);
    return postMessage.apply(this, message as never);
  } as never;
};

test('fifty steps of a slider in one go are two questions, and the last one counts', async () => {
  const { page } = await visit({ first: countQuestions });
  await expect.poll(() => page.evaluate(readFigure1)).toBeDefined();
  const asked = () =>
    page.evaluate(() =>
      (window as unknown as { asked: { task: string; request: { positionScale: number } }[] }).asked
        .filter(({ task }) => task === 'dotProducts')
        .map(({ request }) => request.positionScale),
    );
  expect(await asked()).toEqual([1]);

  // All of it in one turn of the page's loop, faster than any hand.
  await page.evaluate(() => {
    const slider = document
      .querySelector('superpose-dot-products')
      ?.shadowRoot?.querySelector('input[name=scale]') as HTMLInputElement;
    for (let step = 1; step <= 50; step++) {
      slider.value = String(step * 0.05);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }
  });
  // The first is on its way already; of the others only the newest is asked.
  await expect.poll(asked).toEqual([1, 0.05, 2.5]);
  await expect.poll(async () => (await page.evaluate(readFigure1))?.scale).toBe(2.5);
});

test('an answer to an older question never replaces a newer one', async () => {
  const { page } = await visit();
  await expect.poll(() => page.evaluate(readFigure1)).toBeDefined();
  const slider = figure1(page).locator('input[name=n]');
  // A large question, and a small one right behind it.
  await slider.fill('128');
  await slider.fill('3');
  await expect.poll(async () => (await page.evaluate(readFigure1))?.finding).toContain('Over 3 pairs');
  await page.evaluate(
    () => new Promise((settled) => requestAnimationFrame(() => requestAnimationFrame(settled))),
  );
  expect((await page.evaluate(readFigure1))?.finding).toContain('Over 3 pairs');
});
