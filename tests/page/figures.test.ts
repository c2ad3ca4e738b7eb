// Figures as a reader uses them: keys, table, files, every kind of input, the link that is copied, and
// Reset; compared with what Node computes for the same state. The element works the same for every figure, so
// only a few are tested. Each figure's views and every choice of its settings are computed by
// tests/figures/everyFigure.test.ts; running.test.ts runs figures that train.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { type Control, readState, written } from '../../web/figures/controls.ts';
import {
  agrees,
  expected,
  figures,
  go,
  names,
  readLink,
  toCsv,
  toJson,
  withoutRounding,
  writeLink,
} from './support/expected.ts';
import { readFigure, readTable, type Shown } from './support/shown.ts';
import {
  drawn,
  figureOf,
  fold,
  modelTest,
  openMenu,
  resetOf,
  sharedVisits,
  surface,
} from './support/visit.ts';

const visit = sharedVisits();

const kindsOf = (name: string) =>
  (Object.values(figures[name]?.controls ?? {}) as Control[]).map((control) =>
    control.kind === 'choice' ? `choice, ${control.radio ? 'buttons' : 'list'}` : control.kind,
  );
/** As many figures that do not train as it takes to have every kind of input. */
const sample: string[] = [];
for (const name of names) {
  const has = new Set(sample.flatMap(kindsOf));
  if (!figures[name]?.live && kindsOf(name).some((kind) => !has.has(kind))) sample.push(name);
}

async function keysMoveTheCursor(page: Page, name: string): Promise<void> {
  // Going there may make another step of a beat current.
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
    // With a single row the figure does not use these keys: they scroll the page, perhaps to the next step of
    // a beat.
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
  const menu = await openMenu(figureOf(page, name));
  await menu.getByRole('button', { name: button, exact: true }).click();
  return readFile(await (await download).path());
}

/** The saved files have the figure's numbers, and do not depend on its width. */
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
  // The picture has a margin, a title and the settings.
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
  await (await openMenu(figureOf(page, name))).getByText('The numbers as a table').click();
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

/** Expects each input to show the setting that is in force, which may be another than was asked for. */
async function inputsShowTheState(page: Page, name: string): Promise<void> {
  const { state } = (await page.evaluate(readFigure, name)) as Shown;
  const inputs = await figureOf(page, name)
    .locator('[name]:is(input, select, textarea)')
    .evaluateAll((all) =>
      (all as HTMLInputElement[]).map((input) => ({
        setting: input.name,
        value: input.value,
        on: !['checkbox', 'radio'].includes(input.type) || input.checked,
      })),
    );
  for (const [setting, control] of Object.entries(figures[name]?.controls ?? {}) as [string, Control][]) {
    const inputsOfSetting = inputs.filter((input) => input.setting === setting);
    if (inputsOfSetting.length === 0) continue;
    const on = inputsOfSetting.filter((input) => input.on).map(({ value }) => value);
    const shown =
      control.kind === 'toggle'
        ? written(control, on.length > 0)
        : control.kind === 'steps'
          ? written(control, control.values[Number(on[0])] as number)
          : on.join('.');
    expect(shown, `${name} ${setting}`).toBe(written(control, state[setting] as string));
  }
}

/** Moves every input as a hand would, starting from the first view. */
async function inputsChangeTheirSettings(page: Page, name: string): Promise<Shown> {
  const figure = figureOf(page, name);
  const { controls } = figures[name] as (typeof figures)[string];
  await go(page, name, {});
  await drawn(page, name);
  for (const [setting, control] of Object.entries(controls) as [string, { kind: string }][]) {
    const input = figure.locator(`[name="${setting}"]`);
    // A setting without effect in this state has no input.
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
    else if (control.kind === 'seed') await figure.locator(`[name="${setting}"] + button`).click();
    else await input.fill('a quick test of typing');
    const now = async () => JSON.stringify((await page.evaluate(readFigure, name))?.state[setting]);
    await expect.poll(now, { message: `${name} ${setting}` }).not.toBe(before);
    await drawn(page, name);
    await inputsShowTheState(page, name);
  }
  const shown = await drawn(page, name);
  await agrees(name, shown);
  return shown;
}

async function resetLeadsBack(page: Page, name: string): Promise<void> {
  const { controls, settle } = figures[name] as (typeof figures)[string];
  const step = readLink(
    await figureOf(page, name).evaluate(
      (figure) => figure.closest('.stage')?.querySelector<HTMLAnchorElement>('a[aria-current]')?.hash ?? '',
    ),
  );
  await resetOf(figureOf(page, name)).press('Enter');
  const ofStep = step && 'figure' in step && step.figure === name ? step.settings : [];
  const initial = readState(controls, ofStep).state;
  const first = settle?.(initial, undefined) ?? initial;
  await expect.poll(async () => (await page.evaluate(readFigure, name))?.state).toEqual(first);
  await drawn(page, name);
  // The address follows a moment later.
  const link = writeLink(name, controls, first);
  await expect.poll(() => new URL(page.url()).hash).toBe(link);
}

/** For each page, a second one that opens the links copied from it. Both are closed with the browser. */
const elsewhere = new WeakMap<Page, Page>();

async function copiedLinkOpensTheSameView(
  page: Page,
  name: string,
  address: string,
  changed: Shown,
): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await (await openMenu(figureOf(page, name))).getByRole('button', { name: 'Copy link' }).click();
  await figureOf(page, name).getByText('Link copied').waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link.startsWith(address)).toBe(true);
  const second = elsewhere.get(page) ?? (await page.context().newPage());
  elsewhere.set(page, second);
  await second.goto(link);
  const reopened = await drawn(second, name);
  expect(reopened.state).toEqual(changed.state);
  expect(withoutRounding(reopened.finding)).toBe(withoutRounding(changed.finding));
  await fold(second, name);
}

modelTest.each(sample)('%s, its first view: keys, table and files', async (name) => {
  const { page } = await visit(name);
  await keysMoveTheCursor(page, name);
  await tableHoldsItsNumbers(page, name);
  await filesHoldItsNumbers(page, name);
  await filesHoldItsPicture(page, name);
  await fold(page, name);
});

modelTest.each(sample)('%s, its settings: each input, the link that it copies, and Reset', async (name) => {
  const { page, site } = await visit(name);
  const changed = await inputsChangeTheirSettings(page, name);
  await copiedLinkOpensTheSameView(page, name, site.address, changed);
  await resetLeadsBack(page, name);
  await fold(page, name);
});

// A figure's settle() may set back the very setting that was changed, or another.
modelTest('what a figure sets back, its inputs show set back', async () => {
  let { page } = await visit('dot-products');
  const input = (name: string, setting: string) => figureOf(page, name).locator(`[name="${setting}"]`);
  const setBack = async (name: string, setting: string, value: unknown) => {
    const now = async () => (await page.evaluate(readFigure, name))?.state[setting];
    await expect.poll(now).toBe(value);
    await drawn(page, name);
    await inputsShowTheState(page, name);
  };
  await go(page, 'dot-products', {});
  await drawn(page, 'dot-products');
  await input('dot-products', 'positions').selectOption('random');
  await setBack('dot-products', 'positions', 'random');
  // The first time the value changes; the second time the value in force is already the one set back to.
  for (const _ of ['changed', 'as it was']) {
    await input('dot-products', 'positions').selectOption('learned');
    await setBack('dot-products', 'positions', 'interleaved');
  }
  await fold(page, 'dot-products');
  ({ page } = await visit('oblique'));
  await go(page, 'oblique', { d: '16' });
  await drawn(page, 'oblique');
  await input('oblique', 'k1').press('End');
  await setBack('oblique', 'k1', 16);
  await fold(page, 'oblique');
});
