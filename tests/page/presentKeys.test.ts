// Keys that presenting goes on with, whatever was touched before, and what Escape closes.
import type { Page } from 'playwright';
import { expect } from 'vitest';
import type { FigureElement } from '../../web/element/figureElement.ts';
import { modelTest, visit } from './support/visit.ts';

const dialog = (page: Page) => page.locator('dialog.present');
const fragment = (page: Page) => page.evaluate(() => location.hash);

/** Presents from a screen whose figure is there. */
async function presenting(at: string): Promise<Page> {
  const { page } = await visit({ hasTouch: true, fragment: at ? `#present/${at}` : '#present' });
  const fitted = () => {
    const figure = document.querySelector<FigureElement>('.present superpose-figure');
    return figure?.result !== undefined && !figure.busy && figure.style.visibility === '';
  };
  await expect.poll(() => page.evaluate(fitted)).toBe(true);
  return page;
}

/** The address after each of five presses of a key. */
async function fiveOn(page: Page, key: string): Promise<string[]> {
  const seen: string[] = [];
  for (let count = 0; count < 5; count++) {
    await page.keyboard.press(key);
    seen.push(await fragment(page));
  }
  return seen;
}
const screens = ['add-or-concatenate', 'language', 'answer', 'grid', 'mix'].map((at) => `#present/${at}`);
const focused = (page: Page) =>
  page.evaluate(() => {
    const on = document.activeElement;
    return on?.shadowRoot?.activeElement?.outerHTML ?? (on as HTMLElement).className ?? '';
  });
const inside = (page: Page, selector: string) => dialog(page).locator(selector);
const middleOf = async (page: Page, selector: string) => {
  const box = await inside(page, selector).first().boundingBox();
  return { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 };
};
const slider = 'input[name=pull]';
const pressed = async (page: Page, selector: string) => {
  const { x, y } = await middleOf(page, selector);
  await page.mouse.click(x, y);
};
const tapped = async (page: Page, selector: string) => {
  const { x, y } = await middleOf(page, selector);
  await page.touchscreen.tap(x, y);
};
/** What is touched on which screen, and how. */
const touches: Record<string, [at: string, touch: (page: Page) => Promise<unknown>]> = {
  'a slider, with the mouse': ['', (page) => pressed(page, slider)],
  'a slider, with a finger': ['', (page) => tapped(page, slider)],
  'a slider, by key': [
    '',
    async (page) => {
      await inside(page, slider).focus();
      await page.keyboard.press('ArrowRight');
    },
  ],
  'Replay, with the mouse': ['add-or-concatenate', (page) => pressed(page, 'button.main')],
  'Replay, with a finger': ['add-or-concatenate', (page) => tapped(page, 'button.main')],
  'Replay, by key': ['add-or-concatenate', (page) => inside(page, 'button.main').first().press('Enter')],
  'the picture, with the mouse': ['', (page) => pressed(page, '.surface')],
  'the picture, by key': [
    '',
    async (page) => {
      await inside(page, '.surface').focus();
      await page.keyboard.press('ArrowRight');
    },
  ],
  'Next and Previous, with the mouse': [
    '',
    async (page) => {
      await pressed(page, 'button[aria-label=Next]');
      await pressed(page, 'button[aria-label=Previous]');
    },
  ],
  'what is taken away': [
    '',
    async (page) => {
      await inside(page, slider).focus();
      await inside(page, slider).evaluate((element) => element.remove());
    },
  ],
};

modelTest.each(Object.entries(touches))(
  'the keys go on after this was touched: %s',
  async (_, [at, touch]) => {
    const page = await presenting(at);
    await touch(page);
    const from = screens.indexOf(`#present/${at}`) + 1;
    expect(await fiveOn(page, 'PageDown')).toEqual(
      [...screens, '#present/mix/2', '#present/mix/3'].slice(from, from + 5),
    );
    expect(await focused(page)).toBe('present');
    expect(await fiveOn(page, 'PageUp')).toHaveLength(5);
    expect(await fragment(page)).toBe(at ? `#present/${at}` : '#present');
    await page.keyboard.press('ArrowRight');
    expect(await fragment(page)).toBe(screens[from]);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('End');
    expect(await fragment(page)).toBe('#present/other-ways/3');
    await page.keyboard.press('Home');
    await page.keyboard.press('Space');
    expect(await fragment(page)).toBe(screens[0]);
    await page.keyboard.press('Shift+Space');
    expect(await fragment(page)).toBe('#present');
    await page.keyboard.press('Escape');
    await expect.poll(() => dialog(page).count()).toBe(0);
  },
);

modelTest('who presses Next by key stays on it, until there is nothing next', async () => {
  const page = await presenting('other-ways');
  await page.keyboard.press('Tab');
  await dialog(page).getByRole('button', { name: 'Next' }).focus();
  await page.keyboard.press('Enter');
  expect(await fragment(page)).toBe('#present/other-ways/2');
  await page.keyboard.press('Enter');
  expect(await fragment(page)).toBe('#present/other-ways/3');
  expect(await focused(page)).toBe('present');
  await page.keyboard.press('PageUp');
  expect(await fragment(page)).toBe('#present/other-ways/2');
});

modelTest('Escape lets go of a place that is held, and then leaves', async () => {
  const page = await presenting('');
  await inside(page, '.surface').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => inside(page, '.readout.pointed').count()).toBe(1);
  expect(await inside(page, '.readout').textContent()).toContain('Held');
  await page.keyboard.press('Escape');
  await expect.poll(() => inside(page, '.readout').textContent()).not.toContain('Held');
  expect(await dialog(page).count()).toBe(1);
  await page.keyboard.press('Escape');
  expect(await dialog(page).count()).toBe(0);
});

modelTest('Escape undoes a drag that is under way, and the presentation stays', async () => {
  const page = await presenting('');
  const token = () =>
    page.evaluate(() => document.querySelector<FigureElement>('.present superpose-figure')?.state.token);
  const { x, y } = await middleOf(page, '.knob.field');
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y - 20, { steps: 3 });
  await expect.poll(token).not.toBe('');
  await page.keyboard.press('Escape');
  await expect.poll(token).toBe('');
  await page.mouse.move(x, y + 20, { steps: 3 });
  await page.mouse.up();
  expect(await token()).toBe('');
  expect(await dialog(page).count()).toBe(1);
});
