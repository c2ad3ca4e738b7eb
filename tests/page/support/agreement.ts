// A figure on the page against what Node computes for the state that it is in.
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { shorter } from '../../figures/shorter.ts';
import { expected, figures, withoutRounding } from './expected.ts';
import { readFigure, type Shown } from './shown.ts';
import { drawn } from './visit.ts';

export async function agrees(name: string, shown: Shown): Promise<void> {
  const { finding, readout } = await expected(name, shown.state);
  expect(withoutRounding(shown.finding)).toBe(withoutRounding(finding));
  expect(withoutRounding(shown.readout)).toBe(withoutRounding(readout(shown.cursor)));
  expect(shown.problems).toEqual([]);
}

/** Opens a state in the page that is already there, as a click on a link does. */
export async function follow(page: Page, name: string, settings: Record<string, string>): Promise<Shown> {
  const fields = new URLSearchParams({ v: '1', figure: name, ...shorter[name], ...settings });
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

export function typed(name: string, setting: string, text: string): unknown {
  const control = (figures[name] as (typeof figures)[string]).controls[setting];
  if (control.kind === 'toggle') return text === 'yes';
  if (control.kind === 'several') return text === '' ? [] : text.split('.');
  return ['range', 'steps', 'seed'].includes(control.kind) ? Number(text) : text;
}

/** Settings that settle() may change to others when they stand alone. */
export const settles = (name: string, setting: string, text: string): boolean => {
  const figure = figures[name] as (typeof figures)[string];
  const first = Object.fromEntries(
    Object.entries(figure.controls).map(([one, control]) => [one, (control as { initial: unknown }).initial]),
  );
  const asked = { ...first, [setting]: typed(name, setting, text) };
  return JSON.stringify(figure.settle?.(asked as never, undefined) ?? asked) !== JSON.stringify(asked);
};
