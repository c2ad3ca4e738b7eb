// Reset is in sight while a figure's state is another than the author's or its step's. Its space is reserved
// before, and the focus stays in the figure when Reset disappears. opened.test.ts tests it in every figure.
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import type { FigureElement } from '../../web/element/figureElement.ts';
import { readFigure } from './support/shown.ts';
import { figureOf, resetOf, settled, visit } from './support/visit.ts';

const stateOf = async (page: Page, name: string) => (await page.evaluate(readFigure, name))?.state;

/** Changes a setting of a figure as a reader does, and waits until the figure shows that. */
async function change(page: Page, name: string, setting: string, value: number): Promise<void> {
  await figureOf(page, name).evaluate(
    (element, [setting, value]) => (element as FigureElement).request.change(setting, value, true),
    [setting, value] as const,
  );
  await settled(page, name);
}

test('in a beat Reset goes back to the step, and the focus to the menu', async () => {
  const { page } = await visit({ of: 'oblique' });
  await settled(page, 'oblique');
  const figure = figureOf(page, 'oblique');
  const stage = page.locator('.stage', { has: figure });
  // “When room runs out”.
  await stage.locator('h3 a').nth(2).click();
  await settled(page, 'oblique');
  expect((await stateOf(page, 'oblique'))?.k2).toBe(24);
  expect(await resetOf(figure).count()).toBe(0);
  await change(page, 'oblique', 'k2', 9);
  expect(await stage.getAttribute('data-by-step')).toBeNull();
  const { title } = await figure.evaluate((element) => ({
    title: (element as FigureElement).request.figure?.title,
  }));
  expect(await resetOf(figure).getAttribute('aria-label')).toBe(`Reset: ${title}`);
  await resetOf(figure).press('Enter');
  await expect.poll(async () => (await stateOf(page, 'oblique'))?.k2).toBe(24);
  await expect.poll(() => resetOf(figure).count()).toBe(0);
  await expect.poll(() => stage.getAttribute('data-by-step')).toBe('');
  const focused = () => document.activeElement?.shadowRoot?.activeElement?.textContent;
  expect(await page.evaluate(focused)).toBe('Tools');
});

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

test('on a phone it is on the bar of a beat whose picture is alone, and covers nothing of that', async () => {
  const { page } = await visit({ ...phone, of: 'oblique' });
  await settled(page, 'oblique');
  const figure = figureOf(page, 'oblique');
  const stage = page.locator('.stage', { has: figure });
  await stage.evaluate((element) => element.removeAttribute('data-expanded'));
  await stage.scrollIntoViewIfNeeded();
  const before = await stateOf(page, 'oblique');
  expect(await resetOf(figure).count()).toBe(0);
  const stays = () => stage.locator('.stays').evaluate((element) => element.getBoundingClientRect().height);
  const height = await stays();
  await figure.evaluate((element) => (element as FigureElement).request.change('k2', 9, true));
  await resetOf(figure).waitFor();
  expect(await stays()).toBe(height);
  const box = (await resetOf(figure).boundingBox()) ?? expect.fail();
  const bar = (await stage.locator('.expand').boundingBox()) ?? expect.fail();
  expect(box.y).toBeGreaterThanOrEqual(bar.y);
  expect(box.y + box.height).toBeLessThanOrEqual(bar.y + bar.height);
  await resetOf(figure).tap();
  await expect.poll(() => stateOf(page, 'oblique')).toEqual(before);
  expect(await resetOf(figure).count()).toBe(0);
  // The menu is hidden there.
  const focused = () => document.activeElement?.shadowRoot?.activeElement?.className;
  expect(await page.evaluate(focused)).toContain('surface');
});

test('under the first figure it is at the window’s edge for a finger, and takes no room', async () => {
  const { page } = await visit(phone);
  await settled(page, 'one-layer');
  const figure = figureOf(page, 'one-layer');
  const heights = await figure.evaluate((element) => {
    const part = (name: string) => element.shadowRoot?.querySelector(`.${name}`) as HTMLElement;
    return [false, true].map((shown) => {
      part('reset').classList.toggle('idle', !shown);
      part('reading').classList.toggle('active', shown);
      const { offsetHeight } = element as HTMLElement;
      part('reset').classList.toggle('idle', true);
      part('reading').classList.toggle('active', false);
      return offsetHeight;
    });
  });
  expect(heights[1]).toBe(heights[0]);
  await page.evaluate(() => scrollTo(0, 0));
  await figure.evaluate((element) => (element as FigureElement).request.change('pull', 0.5, true));
  await resetOf(figure).waitFor();
  const { y, height } = (await resetOf(figure).boundingBox()) ?? expect.fail();
  expect(y + height).toBeLessThanOrEqual(844);
  await resetOf(figure).tap();
  await expect.poll(async () => (await stateOf(page, 'one-layer'))?.pull).toBe(0);
  await expect.poll(() => resetOf(figure).count()).toBe(0);
});

test('on paper there is none', async () => {
  const { page } = await visit();
  await settled(page, 'one-layer');
  await change(page, 'one-layer', 'pull', 0.5);
  await resetOf(figureOf(page, 'one-layer')).waitFor();
  await page.emulateMedia({ media: 'print' });
  expect(await resetOf(figureOf(page, 'one-layer')).count()).toBe(0);
});
