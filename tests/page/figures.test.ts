// Every figure, as a reader uses it: each control, the keys, the link, the files; always against what Node
// computes for the same state.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import {
  expected,
  figures,
  names,
  toCsv,
  toJson,
  variations,
  withoutRounding,
  writeLink,
} from './support/expected.ts';
import { readFigure, readTable, type Shown } from './support/shown.ts';
import { drawn, figureOf, modelTest, surface, visit } from './support/visit.ts';

async function agrees(name: string, shown: Shown): Promise<void> {
  const { finding, readout } = await expected(name, shown.state);
  expect(withoutRounding(shown.finding)).toBe(withoutRounding(finding));
  expect(withoutRounding(shown.readout)).toBe(withoutRounding(readout(shown.cursor)));
  expect(shown.problems).toEqual([]);
}

/** Opens a state in the page that is already there, as a click on a link does. */
async function follow(page: Page, name: string, settings: Record<string, string>): Promise<Shown> {
  const fields = new URLSearchParams({ v: '1', figure: name, ...settings });
  await page.evaluate((fragment) => {
    location.hash = fragment;
  }, String(fields));
  await expect
    .poll(() => page.evaluate(readFigure, name).then((shown) => shown?.state))
    .toMatchObject(
      Object.fromEntries(
        Object.entries(settings).map(([setting, text]) => [setting, typed(name, setting, text)]),
      ),
    );
  return drawn(page, name);
}

function typed(name: string, setting: string, text: string): unknown {
  const control = (figures[name] as (typeof figures)[string]).controls[setting];
  if (control.kind === 'toggle') return text === 'yes';
  if (control.kind === 'several') return text === '' ? [] : text.split('.');
  return ['range', 'steps', 'seed'].includes(control.kind) ? Number(text) : text;
}

/** Settings that settle() may change to others when they stand alone. */
const settles = (name: string, setting: string, text: string): boolean => {
  const figure = figures[name] as (typeof figures)[string];
  const first = Object.fromEntries(
    Object.entries(figure.controls).map(([one, control]) => [one, (control as { initial: unknown }).initial]),
  );
  const asked = { ...first, [setting]: typed(name, setting, text) };
  return JSON.stringify(figure.settle?.(asked as never, undefined) ?? asked) !== JSON.stringify(asked);
};

/** Its first view, and every setting moved once by a link. */
async function showsWhatNodeComputes(page: Page, name: string): Promise<void> {
  await agrees(name, await drawn(page, name));
  for (const [setting, text] of variations(name)) {
    if (settles(name, setting, text)) continue;
    await agrees(name, await follow(page, name, { [setting]: text }));
  }
}

/** Every input, as a hand moves it; then back to the first view. */
async function inputsChangeTheirSettings(page: Page, name: string): Promise<void> {
  const figure = figureOf(page, name);
  await drawn(page, name);
  for (const [setting, control] of Object.entries(figures[name]?.controls ?? {}) as [
    string,
    { kind: string },
  ][]) {
    const input = figure.locator(`[name="${setting}"]`);
    // A setting that does nothing in this state has no input.
    if ((await input.count()) === 0) continue;
    const before = JSON.stringify((await page.evaluate(readFigure, name))?.state[setting]);
    if (['range', 'steps'].includes(control.kind)) {
      const at = await input.inputValue();
      await input.press('End');
      if ((await input.inputValue()) === at) await input.press('Home');
    } else if (control.kind === 'choice') {
      const radios = figure.locator(`input[type=radio][name="${setting}"]`);
      if ((await radios.count()) > 0) await radios.last().check();
      else {
        const last = (await input.locator('option').count()) - 1;
        const at = await input.evaluate((select: HTMLSelectElement) => select.selectedIndex);
        await input.selectOption({ index: at === last ? 0 : last });
      }
    } else if (control.kind === 'toggle') await input.setChecked(!(await input.isChecked()));
    else if (control.kind === 'several') await input.first().click();
    else if (control.kind === 'seed') await figure.getByRole('button', { name: 'Again' }).click();
    else await input.fill('a quick test of typing');
    const now = async () => JSON.stringify((await page.evaluate(readFigure, name))?.state[setting]);
    await expect.poll(now, { message: `${name} ${setting}` }).not.toBe(before);
    await drawn(page, name);
  }
  await agrees(name, await drawn(page, name));
  await figure.getByRole('button', { name: 'Reset' }).click();
  const first = await drawn(page, name);
  expect(first.state).toEqual((await expected(name, first.state)).rendered.state);
  // The address follows a moment later, and then is that of the first view.
  const { controls } = figures[name] as (typeof figures)[string];
  const link = writeLink(name, controls, first.state as never);
  await expect.poll(() => new URL(page.url()).hash).toBe(link);
}

async function keysMoveTheCursor(page: Page, name: string): Promise<void> {
  const { cursor, state } = await drawn(page, name);
  const { rendered, readout } = await expected(name, state);
  const { rows, columns } = rendered.figure.cells(rendered.data, rendered.state);
  await surface(figureOf(page, name)).focus();
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

async function copiedLinkOpensTheSameView(page: Page, name: string, address: string): Promise<void> {
  await drawn(page, name);
  const [setting, text] = variations(name).find(([one, value]) => !settles(name, one, value)) ?? [];
  const changed = setting ? await follow(page, name, { [setting]: text as string }) : await drawn(page, name);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await figureOf(page, name).getByRole('button', { name: 'Copy link' }).click();
  await figureOf(page, name).getByText('Link copied').waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link.startsWith(address)).toBe(true);
  const second = await page.context().newPage();
  await second.goto(link);
  const reopened = await drawn(second, name);
  expect(reopened.state).toEqual(changed.state);
  expect(withoutRounding(reopened.finding)).toBe(withoutRounding(changed.finding));
}

async function filesHoldWhatItShows(page: Page, name: string): Promise<void> {
  const shown = await drawn(page, name);
  const { rendered } = await expected(name, shown.state);
  const file = async (button: string) => {
    const download = page.waitForEvent('download');
    const menu = figureOf(page, name).locator('details.save');
    if (!(await menu.evaluate((one: HTMLDetailsElement) => one.open))) await menu.locator('summary').click();
    await menu.getByRole('button', { name: button, exact: true }).click();
    return readFile(await (await download).path());
  };
  const near = (text: string) =>
    text.replace(/-?\d+\.?\d*(e-?\d+)?/g, (number) => Number(number).toPrecision(4));
  const settled = (text: string) => near(text).replace(/-?\d\.\d+e-1[0-9]/g, '0');
  expect(settled(String(await file('CSV')))).toBe(settled(toCsv(rendered)));
  const json = JSON.parse(String(await file('JSON')));
  expect(json).toMatchObject({ figure: name, version: 1, state: shown.state });
  expect(Object.keys(json)).toEqual(Object.keys(JSON.parse(toJson(rendered))));
  expect(json.rows).toHaveLength(JSON.parse(toJson(rendered)).rows.length);

  const svg = String(await file('SVG'));
  const picture = await page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
    return {
      error: parsed.querySelector('parsererror')?.textContent,
      title: parsed.querySelector('title')?.textContent,
      width: Number(parsed.documentElement.getAttribute('width')),
      height: Number(parsed.documentElement.getAttribute('height')),
    };
  }, svg);
  // With a margin, its title and its settings.
  expect(picture).toMatchObject({
    error: undefined,
    title: rendered.figure.title,
    width: shown.width + 32,
  });
  expect(svg).toContain(`>${rendered.figure.title}</text>`);
  expect(svg).toContain('Superpose</text>');
  const png = await file('PNG');
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
  modelTest('its first view: keys, table and files, on a desk and on a phone', async () => {
    const { page } = await visit();
    await keysMoveTheCursor(page, name);
    await tableHoldsItsNumbers(page, name);
    await filesHoldWhatItShows(page, name);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(async () => (await page.evaluate(readFigure, name))?.width).toBeLessThan(390);
    await filesHoldWhatItShows(page, name);
  });

  modelTest('its settings: each link, each input, and the link that it copies', async () => {
    const { page, site } = await visit();
    await showsWhatNodeComputes(page, name);
    await figureOf(page, name).getByRole('button', { name: 'Reset' }).click();
    await inputsChangeTheirSettings(page, name);
    await copiedLinkOpensTheSameView(page, name, site.address);
  });
});
