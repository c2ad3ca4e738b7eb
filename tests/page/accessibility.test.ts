// What a machine can see of how the page is to use without a mouse, without eyes, and by its markup.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type axeCore from 'axe-core';
import { HtmlValidate } from 'html-validate';
import { expect, test } from 'vitest';
import { dist } from './support/site.ts';
import { figure1, figure2, surface, visit } from './support/visit.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [390, 1440]) {
    test(`axe finds nothing, ${colorScheme}, ${width} px`, async () => {
      const { page } = await visit({ colorScheme, viewport: { width, height: 900 } });
      await figure2(page).locator('.finding').waitFor();
      await figure1(page).locator('summary').click();
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() =>
        (window as unknown as { axe: typeof axeCore }).axe.run(document),
      );
      const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
      expect(told).toEqual([]);
    });
  }
}

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

test('Tab visits every control once and leaves the figures again', async () => {
  const { page } = await visit();
  await figure2(page).locator('.finding').waitFor();
  const focused = () =>
    page.evaluate(() => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      return element === document.body || !element
        ? ''
        : `${element.localName} ${element.getAttribute('name') ?? element.getAttribute('aria-roledescription') ?? element.textContent?.trim().slice(0, 20)}`;
    });
  const path: string[] = [];
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    const here = await focused();
    if (here === '') break;
    path.push(here);
  }
  expect(path.length).toBeLessThan(60);
  for (const control of [
    'input source',
    'input d',
    'input scale',
    'input n',
    'button Draw again',
    'div scatter plot',
    'input view',
    'input centred',
    'select head',
    'div heat maps',
  ]) {
    expect(path).toContain(control);
  }
});

test('arrow keys choose a pair and a cell, and the change is read out', async () => {
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

test('a tap on a map chooses its cell', async () => {
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
