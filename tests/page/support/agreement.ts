// Compares a figure on the page with what Node computes for its state.
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { shorter } from '../../figures/support.ts';
import { expected, typed, withoutRounding } from './expected.ts';
import { readFigure, type Shown } from './shown.ts';
import { drawn } from './visit.ts';

export async function agrees(name: string, shown: Shown): Promise<void> {
  const { finding, readout } = await expected(name, shown.state);
  expect(withoutRounding(shown.finding)).toBe(withoutRounding(finding));
  expect(withoutRounding(shown.readout)).toBe(withoutRounding(readout(shown.cursor)));
  expect(shown.problems).toEqual([]);
}

/** Opens a state in the page that is already open, as a click on a link does. */
export async function go(page: Page, name: string, settings: Record<string, string>): Promise<void> {
  const fields = new URLSearchParams({ v: '1', figure: name, ...shorter[name], ...settings });
  await page.evaluate((fragment) => {
    location.hash = fragment;
  }, String(fields));
  await expect
    .poll(() => page.evaluate(readFigure, name).then((shown) => shown?.state))
    .toMatchObject(typed(name, settings));
}

/** The same, and waits until it is drawn. */
export async function follow(page: Page, name: string, settings: Record<string, string>): Promise<Shown> {
  await go(page, name, settings);
  return drawn(page, name);
}
