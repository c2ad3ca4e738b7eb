// What a machine can see of how the page is to use without a mouse, without eyes, and by its markup.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type axeCore from 'axe-core';
import { HtmlValidate } from 'html-validate';
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { type Figure1, readFigure1, readFigure2 } from './support/shown.ts';
import { dist } from './support/site.ts';
import { figure1, figure2, modelTest, surface, visit } from './support/visit.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong with the page as it is now, as a list of sentences. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: typeof axeCore }).axe.run(document),
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [390, 1440]) {
    modelTest(`axe finds nothing, ${colorScheme}, ${width} px`, async () => {
      const { page } = await visit({ colorScheme, viewport: { width, height: 900 } });
      await figure2(page).locator('.finding').waitFor();
      await figure1(page).locator('summary').click();
      expect(await faultsOf(page)).toEqual([]);
    });
  }
}

modelTest('axe finds nothing in what choices bring up', async () => {
  const { page } = await visit({ viewport: { width: 390, height: 900 } });
  await figure2(page).locator('.finding').waitFor();
  await figure1(page).getByLabel('Your sentence in MiniLM (trained)').check();
  await figure1(page).getByRole('textbox').fill('word '.repeat(200));
  await figure1(page).getByText('Only the first 128').waitFor();
  await figure2(page).getByLabel('All sixteen terms').check();
  await figure2(page).locator('canvas[data-panel="15"]').waitFor();
  await figure2(page).getByRole('checkbox', { name: 'token → token' }).uncheck();
  await figure2(page).locator('[data-cell=kept]').waitFor();
  expect(await faultsOf(page)).toEqual([]);
});

test('axe finds nothing in what failures bring up', async () => {
  const { page } = await visit({ colorScheme: 'dark', site: (site) => site.lose(/\.wasm$/) });
  for (const figure of [figure1(page), figure2(page)]) await figure.getByRole('alert').waitFor();
  expect(await faultsOf(page)).toEqual([]);
});

test('the markup is valid', async () => {
  const report = await new HtmlValidate({
    extends: ['html-validate:recommended'],
    // Vite writes void elements and attributes in its own way.
    rules: { 'void-style': 'off', 'attr-quotes': 'off', 'require-sri': 'off', 'long-title': 'off' },
  }).validateFile(join(dist, 'index.html'));
  expect(
    report.results.flatMap(({ messages }) => messages.map(({ message, line }) => `${line}: ${message}`)),
  ).toEqual([]);
});

/** The label, or else the text, of what has the focus; empty when that is nothing in the page. */
function focused(): string {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  if (!element || element === document.body) return '';
  const label = [...((element as HTMLInputElement).labels?.[0]?.childNodes ?? [])]
    .filter((node) => node.nodeType === Node.TEXT_NODE)
    .map((node) => node.textContent?.trim())
    .find(Boolean);
  const attribute = element.getAttribute('aria-roledescription') ?? element.getAttribute('aria-label');
  return label ?? attribute ?? element.textContent?.trim() ?? '';
}

/** What has the focus after each press of a key, until nothing in the page has it or it begins again. */
async function walk(page: Page, key: string): Promise<string[]> {
  const path: string[] = [];
  for (;;) {
    await page.keyboard.press(key);
    const here = await page.evaluate(focused);
    if (here === '' || here === path[0]) return path;
    path.push(here);
    expect(path.length).toBeLessThan(100);
  }
}

modelTest('Tab visits every control, in the order in which they are read, and back again', async () => {
  const { page } = await visit();
  await figure2(page).locator('.finding').waitFor();
  const path = await walk(page, 'Tab');
  expect(path).toEqual([
    ...['Random (seeded)', 'Positions', 'Width d', 'Position scale ρ', 'Number of tokens', 'Draw again'],
    ...['scatter plot', 'The numbers as a table'],
    'Your sentence',
    ...['Four questions', 'Centre each row (what softmax sees)', 'Head of layer 0'],
    // It scrolls when there are many.
    'Tokens; the query is framed, the key is filled',
    'heat maps',
    ...['token → token', 'token → position', 'position → token', 'position → position', 'the rest'],
  ]);
  expect(await walk(page, 'Shift+Tab')).toEqual(path.reverse());
});

modelTest('the keys alone work every kind of control', async () => {
  const { page } = await visit();
  await figure2(page).locator('.finding').waitFor();
  const press = async (label: string, ...keys: string[]) => {
    for (let tabs = 0; (await page.evaluate(focused)) !== label; tabs++) {
      expect(tabs, `Tab to ${label}`).toBeLessThan(30);
      await page.keyboard.press('Tab');
    }
    for (const key of keys) await page.keyboard.press(key);
  };
  await press('Width d', 'Home', 'ArrowRight');
  await press('Draw again', 'Enter');
  await expect.poll(() => page.evaluate(readFigure1)).toMatchObject({ d: 3, seed: 2 });
  await press('Your sentence', 'Control+a', 'H', 'i');
  await expect.poll(async () => (await page.evaluate(readFigure2))?.tokens).toEqual(['[CLS]', 'hi', '[SEP]']);
  await press('Head of layer 0', 'ArrowDown');
  await expect.poll(async () => (await page.evaluate(readFigure2))?.finding).toContain('head 3');
  await press('the rest', 'Space');
  await expect.poll(async () => (await page.evaluate(readFigure2))?.kept).toBeDefined();
  // Back to the first control of the figure, whose arrow keys choose the other view.
  await figure2(page).getByLabel('Four questions').focus();
  await page.keyboard.press('ArrowRight');
  await figure2(page).locator('canvas[data-panel="15"]').waitFor();
});

modelTest('arrow keys choose a pair and a cell, and the change is read out', async () => {
  const { page } = await visit();
  await figure2(page).locator('.finding').waitFor();

  await surface(figure1(page)).focus();
  await page.keyboard.press('Home');
  const pair = figure1(page).locator('p.readout[aria-live=polite]');
  const before = await pair.textContent();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => pair.textContent()).not.toBe(before);

  await surface(figure2(page)).focus();
  const cell = figure2(page).locator('[aria-live=polite] h3');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => cell.textContent()).toBe('Query closed (5), key the (1)');
  await page.keyboard.press('End');
  await expect.poll(() => cell.textContent()).toBe('Query closed (5), key [SEP] (15)');
  await page.keyboard.press('ArrowRight');
  expect(await cell.textContent()).toBe('Query closed (5), key [SEP] (15)');
});

modelTest('a tap on a map chooses its cell', async () => {
  const { page } = await visit({ hasTouch: true, viewport: { width: 390, height: 844 } });
  await figure2(page).locator('.finding').waitFor();
  const map = figure2(page).locator('.map').first();
  await map.scrollIntoViewIfNeeded();
  const { width, height } = (await map.boundingBox()) as { width: number; height: number };
  // The middle of row 1, column 6, of 16.
  await map.tap({ position: { x: (6.5 / 16) * width, y: (1.5 / 16) * height } });
  await expect
    .poll(() => figure2(page).locator('[aria-live=polite] h3').textContent())
    .toBe('Query the (1), key , (6)');
});

test('a tap on a dot chooses its pair', async () => {
  const { page } = await visit({ hasTouch: true, viewport: { width: 390, height: 844 } });
  await expect.poll(() => page.evaluate(readFigure1)).toBeDefined();
  const dot = surface(figure1(page)).locator('circle');
  await surface(figure1(page)).focus();
  for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'End']) await page.keyboard.press(key);
  const chosen = (await page.evaluate(readFigure1)) as Figure1;
  const place = (await dot.boundingBox()) as { x: number; y: number; width: number; height: number };
  await page.keyboard.press('ArrowUp');
  await expect.poll(async () => (await page.evaluate(readFigure1))?.places).not.toEqual(chosen.places);

  await page.touchscreen.tap(place.x + place.width / 2, place.y + place.height / 2);
  // Dots stand for pairs i < j.
  const places = [...chosen.places].sort((a, b) => a - b);
  await expect.poll(async () => (await page.evaluate(readFigure1))?.places).toEqual(places);
});
