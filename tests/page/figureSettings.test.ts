// Every figure's settings, as a reader changes them: by inputs, by the link that is copied, and by Reset. The result is
// compared with what Node computes for the same state; tests/figures/counted.test.ts goes through every choice.
import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { isDear } from '../figures/shorter.ts';
import { agrees, go } from './support/agreement.ts';
import { figures, initialState, names, withoutRounding, writeLink } from './support/expected.ts';
import { readFigure, type Shown } from './support/shown.ts';
import { drawn, figureOf, fold, modelTest, sharedVisit } from './support/visit.ts';

const visit = sharedVisit();

/**
 * Moves every input as a hand would, from the first view on. A figure that trains is left alone until the last input has
 * moved: it draws only the newest settings.
 */
async function inputsChangeTheirSettings(page: Page, name: string): Promise<Shown> {
  const figure = figureOf(page, name);
  const { controls, runs } = figures[name] as (typeof figures)[string];
  await go(page, name, {});
  await drawn(page, name);
  for (const [setting, control] of Object.entries(controls) as [string, { kind: string }][]) {
    const input = figure.locator(`[name="${setting}"]`);
    // A setting without effect in this state has no input.
    if ((await input.count()) === 0) continue;
    const before = JSON.stringify((await page.evaluate(readFigure, name))?.state[setting]);
    if (['range', 'steps'].includes(control.kind)) {
      const at = await input.inputValue();
      await input.press(isDear(name, setting) ? 'ArrowRight' : 'End');
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
    if (!runs) await drawn(page, name);
  }
  const shown = await drawn(page, name);
  await agrees(name, shown);
  return shown;
}

async function resetLeadsToTheFirstView(page: Page, name: string): Promise<void> {
  const { controls, settle, runs } = figures[name] as (typeof figures)[string];
  await figureOf(page, name).getByRole('button', { name: 'Reset' }).click();
  const initial = initialState(controls);
  const first = settle?.(initial, undefined) ?? initial;
  await expect.poll(async () => (await page.evaluate(readFigure, name))?.state).toEqual(first);
  if (!runs) await drawn(page, name);
  // The address follows a moment later, and is then that of the first view.
  const link = writeLink(name, controls, first);
  await expect.poll(() => new URL(page.url()).hash).toBe(link);
}

/** Where links are opened that another page has copied; the browser's other pages are closed with it. */
const elsewhere = new WeakMap<Page, Page>();

async function copiedLinkOpensTheSameView(
  page: Page,
  name: string,
  address: string,
  changed: Shown,
): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await figureOf(page, name).getByRole('button', { name: 'Copy link' }).click();
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

describe.each(names)('%s', (name) => {
  modelTest('its settings: each input, the link that it copies, and Reset', async () => {
    const { page, site } = await visit();
    const changed = await inputsChangeTheirSettings(page, name);
    await copiedLinkOpensTheSameView(page, name, site.address, changed);
    await resetLeadsToTheFirstView(page, name);
    await fold(page, name);
  });
});
