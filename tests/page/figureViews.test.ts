// Every figure's first view, as a reader uses it: keys, table, files; compared with what Node computes.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { agrees } from './support/agreement.ts';
import { expected, names, toCsv, toJson, withoutRounding } from './support/expected.ts';
import { readFigure, readTable } from './support/shown.ts';
import { drawn, figureOf, fold, modelTest, sharedVisit, surface } from './support/visit.ts';

const visit = sharedVisit({ viewport: { width: 1440, height: 900 } });

async function keysMoveTheCursor(page: Page, name: string): Promise<void> {
  // To go there may bring another step of a beat by.
  await drawn(page, name);
  await surface(figureOf(page, name)).focus();
  const shown = await drawn(page, name);
  await agrees(name, shown);
  const { cursor, state } = shown;
  const { rendered, readout } = await expected(name, state);
  const { rows, columns } = rendered.figure.cells(rendered.data, rendered.state);
  let { i, j } = cursor;
  for (const key of [
    'Home',
    'ArrowRight',
    'ArrowRight',
    'ArrowDown',
    'ArrowDown',
    'End',
    'ArrowLeft',
    'ArrowUp',
  ]) {
    // With a single row these are not the figure's: they scroll the page, and may bring a beat's next step by.
    if (rows === 1 && /Up|Down/.test(key)) continue;
    await page.keyboard.press(key);
    if (key === 'Home') j = 0;
    if (key === 'End') j = columns - 1;
    if (key === 'ArrowRight') j = Math.min(columns - 1, j + 1);
    if (key === 'ArrowLeft') j = Math.max(0, j - 1);
    if (key === 'ArrowDown') i = Math.min(rows - 1, i + 1);
    if (key === 'ArrowUp') i = Math.max(0, i - 1);
    await expect
      .poll(async () => withoutRounding((await page.evaluate(readFigure, name))?.readout ?? ''))
      .toBe(withoutRounding(readout({ i, j })));
  }
}

async function saved(page: Page, name: string, button: string): Promise<Buffer> {
  const download = page.waitForEvent('download');
  const menu = figureOf(page, name).locator('details.save');
  if (!(await menu.evaluate((one: HTMLDetailsElement) => one.open))) await menu.locator('summary').click();
  await menu.getByRole('button', { name: button, exact: true }).click();
  return readFile(await (await download).path());
}

/** The files do not depend on the width: they contain only the numbers. */
async function filesHoldItsNumbers(page: Page, name: string): Promise<void> {
  const shown = await drawn(page, name);
  const { rendered } = await expected(name, shown.state);
  const near = (text: string) =>
    text.replace(/-?\d+\.?\d*(e-?\d+)?/g, (number) => Number(number).toPrecision(4));
  const settled = (text: string) => near(text).replace(/-?\d\.\d+e-1[0-9]/g, '0');
  expect(settled(String(await saved(page, name, 'CSV')))).toBe(settled(toCsv(rendered)));
  const json = JSON.parse(String(await saved(page, name, 'JSON')));
  expect(json).toMatchObject({ figure: name, version: 1, state: shown.state });
  expect(Object.keys(json)).toEqual(Object.keys(JSON.parse(toJson(rendered))));
  expect(json.rows).toHaveLength(JSON.parse(toJson(rendered)).rows.length);
}

async function filesHoldItsPicture(page: Page, name: string): Promise<void> {
  const shown = await drawn(page, name);
  const { rendered } = await expected(name, shown.state);
  const svg = String(await saved(page, name, 'SVG'));
  const picture = await page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
    return {
      error: parsed.querySelector('parsererror')?.textContent,
      title: parsed.querySelector('title')?.textContent,
      width: Number(parsed.documentElement.getAttribute('width')),
      height: Number(parsed.documentElement.getAttribute('height')),
    };
  }, svg);
  // It has a margin, its title and its settings.
  expect(picture).toMatchObject({
    error: undefined,
    title: rendered.figure.title,
    width: shown.width + 32,
  });
  expect(svg).toContain(`>${rendered.figure.title}</text>`);
  const texts = [...svg.matchAll(/>([^<]*)<\/text>/g)].map(([, text]) => text).join(' · ');
  expect(texts).toContain(`Superpose · ${page.url().split('#')[0]}`);
  const png = await saved(page, name, 'PNG');
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([
    2 * picture.width,
    2 * Math.round(picture.height),
  ]);
}

async function tableHoldsItsNumbers(page: Page, name: string): Promise<void> {
  const shown = await drawn(page, name);
  await figureOf(page, name).getByText('The numbers as a table').click();
  const { rendered } = await expected(name, shown.state);
  const { columns, rows } = rendered.figure.table(rendered.data, rendered.state);
  await expect.poll(async () => (await page.evaluate(readTable, name)).length).toBeGreaterThan(0);
  const [head, ...body] = await page.evaluate(readTable, name);
  expect(head).toEqual(columns);
  expect(body).toHaveLength(Math.min(300, rows.length));
  const number = (text: string) => Number(text.replace('−', '-'));
  const first = rows[0] ?? [];
  for (const [place, value] of first.entries()) {
    if (typeof value === 'string') expect(body[0]?.[place]).toBe(value.replace('-', '−'));
    else if (Number.isFinite(value) && Math.abs(value) > 1e-9)
      expect(number(body[0]?.[place] as string) / value).toBeCloseTo(1, 4);
  }
}

describe.each(names)('%s', (name) => {
  modelTest('its first view: keys, table and files', async () => {
    const { page } = await visit();
    await keysMoveTheCursor(page, name);
    await tableHoldsItsNumbers(page, name);
    await filesHoldItsNumbers(page, name);
    await filesHoldItsPicture(page, name);
    await fold(page, name);
  });
});
