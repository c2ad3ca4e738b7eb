// Keys keep moving the presentation on, whatever was touched before; and what Escape closes.
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
/** The addresses of all screens, as the list has them. */
async function screensOf(page: Page): Promise<string[]> {
  await page.keyboard.press('o');
  const all = await inside(page, '.slides a').evaluateAll((links) =>
    links.map((link) => (link as HTMLAnchorElement).hash),
  );
  return all;
}
/** Where five presses of Page Down lead, of which the first on a question shows the answer. */
const fiveFrom = (screens: readonly string[], from: string): string[] =>
  screens
    .slice(screens.indexOf(from))
    .flatMap((at, place) => [...(place > 0 ? [at] : []), ...(/\/(bet|claim)\b/.test(at) ? [at] : [])])
    .slice(0, 5);
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
  'a card, with the mouse': ['', (page) => pressed(page, '.knob.part')],
  'a card, with a finger': ['', (page) => tapped(page, '.knob.part')],
  'a slider, by key': [
    '',
    async (page) => {
      await inside(page, slider).focus();
      await page.keyboard.press('ArrowRight');
    },
  ],
  'Replay, with the mouse': ['task', (page) => pressed(page, 'button.main')],
  'Replay, with a finger': ['task', (page) => tapped(page, 'button.main')],
  'Replay, by key': ['task', (page) => inside(page, 'button.main').first().press('Enter')],
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
  'a list, by key': [
    'separate/4',
    async (page) => {
      await inside(page, 'select').first().focus();
      await page.keyboard.press('End');
    },
  ],
  'a text': ['sum', (page) => inside(page, 'textarea').first().fill('Another one.')],
  'the code, and the list of all screens': [
    '',
    async (page) => {
      await pressed(page, '.bar .code');
      await page.keyboard.press('Escape');
      await pressed(page, '.bar .place');
      await page.keyboard.press('Escape');
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
    const before = await fragment(page);
    const seen = await fiveOn(page, 'PageDown');
    expect(await focused(page)).toBe('present');
    // The same keys lead back, to what was set.
    for (let back = 0; back < 5 && (await fragment(page)) !== before; back++)
      await page.keyboard.press('PageUp');
    expect(await fragment(page)).toBe(before);
    await page.keyboard.press('ArrowRight');
    expect(await fragment(page)).toBe(seen[0]);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('End');
    const [last, all] = ((await inside(page, '.bar .place').textContent()) ?? '').split(' of ');
    expect(last).toBe(all);
    await page.keyboard.press('Home');
    const first = await fragment(page);
    await page.keyboard.press('Space');
    expect(await fragment(page)).not.toBe(first);
    await page.keyboard.press('Shift+Space');
    expect(await fragment(page)).toBe(first);
    const screens = await screensOf(page);
    expect(seen).toEqual(fiveFrom(screens, at ? `#present/${at}` : '#present'));
    // Once for the list, and once more for the presentation.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await expect.poll(() => dialog(page).count()).toBe(0);
  },
);

modelTest('who presses Previous by key stays on it, until there is nothing before', async () => {
  const page = await presenting('sum');
  await page.keyboard.press('Tab');
  await dialog(page).getByRole('button', { name: 'Previous' }).focus();
  await page.keyboard.press('Enter');
  expect(await fragment(page)).toBe('#present/answer');
  await page.keyboard.press('Enter');
  expect(await fragment(page)).toBe('#present');
  expect(await focused(page)).toBe('present');
  await page.keyboard.press('PageDown');
  expect(await fragment(page)).toBe('#present/answer');
});

modelTest('Escape lets go of a place that is held, and then leaves', async () => {
  const page = await presenting('');
  await inside(page, '.surface').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => inside(page, '.reading.active').count()).toBe(1);
  expect(await inside(page, '.readout').textContent()).toContain('Held');
  await page.keyboard.press('Escape');
  await expect.poll(() => inside(page, '.readout').textContent()).not.toContain('Held');
  expect(await dialog(page).count()).toBe(1);
  await page.keyboard.press('Escape');
  await expect.poll(() => dialog(page).count()).toBe(0);
});

modelTest('Escape undoes a drag that is under way, and the presentation stays', async () => {
  const page = await presenting('');
  const pull = () =>
    page.evaluate(() => document.querySelector<FigureElement>('.present superpose-figure')?.state.pull);
  const { x, y } = await middleOf(page, '.knob.part');
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 60, y, { steps: 3 });
  await expect.poll(pull).not.toBe(0);
  await page.keyboard.press('Escape');
  await expect.poll(pull).toBe(0);
  await page.mouse.move(x - 80, y, { steps: 3 });
  await page.mouse.up();
  expect(await pull()).toBe(0);
  expect(await dialog(page).count()).toBe(1);
});
