// One figure as an element of its page: moved, failing to draw, failing to compute, and recovering.
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import type { AnyFigure } from '../../web/figures/figure.ts';
import { expected, figures } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { codeOf } from './support/site.ts';
import { drawn, figureOf, openMenu, unfold, visit } from './support/visit.ts';

type Live = HTMLElement & { loaded(): Promise<AnyFigure> };

const name = 'gram';
const fragment = `#v=1&figure=${name}&of=shift`;
const problems = async (page: Page) => (await page.evaluate(readFigure, name))?.problems.join(' ') ?? '';

test.each(['scene', 'describe', 'readout', 'cells', 'focus'])(
  'a figure whose %s throws says so, keeps its inputs, and shows the next settings',
  async (part) => {
    const { page } = await visit({ fragment: `${fragment}&k=4` });
    await drawn(page, name);
    const element = figureOf(page, name);
    const { finding } = (await page.evaluate(readFigure, name)) ?? {};
    await element.evaluate(async (element: Live, broken) => {
      const figure = (await element.loaded()) as unknown as Record<string, unknown>;
      const sound = figure[broken] as ((...all: unknown[]) => unknown) | undefined;
      figure[broken] = (...all: unknown[]) => {
        if ((all[1] as { k: number }).k === 5) throw new Error('the pen broke');
        return sound?.apply(figure, all) ?? [];
      };
    }, part);
    await element.locator('input[name=k]').press('ArrowRight');
    await expect
      .poll(() => problems(page))
      .toBe('This figure could not be drawn with these settings; others may work (the pen broke). Try again');
    // The previous picture stays, as after a failed computation.
    expect((await page.evaluate(readFigure, name))?.finding).toBe(finding);
    await element.locator('input[name=k]').press('ArrowRight');
    const shown = await drawn(page, name);
    expect(shown.problems).toEqual([]);
    expect(shown.finding).toBe((await expected(name, shown.state)).finding);
  },
);

test('numbers that cannot be put into a table leave the figure as it is', async () => {
  const { page } = await visit({ fragment });
  await drawn(page, name);
  const element = figureOf(page, name);
  await element.evaluate(async (element: Live) => {
    ((await element.loaded()) as { table: unknown }).table = () => {
      throw new Error('the pen broke');
    };
  });
  await (await openMenu(element)).getByText('The numbers as a table').click();
  await expect.poll(() => problems(page)).toBe('The table could not be made (the pen broke).');
  await element.locator('input[name=k]').press('End');
  const shown = await drawn(page, name);
  expect(shown.finding).toBe((await expected(name, shown.state)).finding);
});

test('a worker that broke is ended, and another one goes on', async () => {
  const { page } = await visit({ fragment });
  await drawn(page, name);
  const [worker] = page.workers();
  expect(page.workers()).toHaveLength(1);
  const ended = new Promise((closed) => worker?.once('close', closed));
  // An error like a trap in WebAssembly, but outside of any question.
  await worker?.evaluate(() => {
    setTimeout(() => {
      throw new Error('broken on purpose');
    });
  });
  await ended;
  expect(page.workers()).toHaveLength(0);
  await figureOf(page, name).locator('input[name=k]').press('End');
  const shown = await drawn(page, name);
  expect(shown.finding).toBe((await expected(name, shown.state)).finding);
  expect(page.workers()).toHaveLength(1);
});

test('code of a figure that was not there comes at the first “Try again”', async () => {
  const code = codeOf(figures[name]?.title as string);
  const { page, site } = await visit({ of: name, site: (broken) => broken.lose(code) });
  const element = figureOf(page, name);
  await unfold(page, name);
  await element.scrollIntoViewIfNeeded();
  await expect.poll(() => problems(page)).toContain('code could not be loaded');
  const again = element.getByRole('button', { name: 'Try again' });
  // A figure that comes into view tries by itself, and a press would only join that attempt, so it must end.
  await page.waitForLoadState('networkidle');
  site.mend();
  await again.dispatchEvent('click');
  expect((await drawn(page, name)).problems).toEqual([]);
});
