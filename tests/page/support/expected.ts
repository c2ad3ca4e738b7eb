// What a figure must show, computed in Node by the library's own build, and whether the page shows it. That
// the numbers are right is tested in tests/figures.
import type { Page } from 'playwright';
import { expect } from 'vitest';
import type { State } from '../../../web/figures/controls.ts';
import { headless, rendered } from '../../figures/rendered.ts';
import { shorter } from '../../figures/support.ts';
import { readFigure, type Shown } from './shown.ts';
import { drawn } from './visit.ts';

type Headless = typeof headless;

export const { initialState, toCsv, toJson, writeLink, readLink } = headless;
export const figures = headless.figures;
export const names = Object.keys(figures);

export interface Expected {
  rendered: Awaited<ReturnType<typeof rendered>>;
  finding: string;
  readout(cursor: { i: number; j: number }): string;
}

const flat = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The memoized results of the figure asked for last. */
let known = new Map<string, Promise<Expected>>();
let of: string | undefined;

/** The result for the state that a page says it is in. */
export function expected(name: string, state: Record<string, unknown>): Promise<Expected> {
  if (of !== name) known = new Map();
  of = name;
  const key = JSON.stringify(state);
  const memoized = known.get(key) ?? compute(name, state);
  known.set(key, memoized);
  return memoized;
}

async function compute(name: string, state: Record<string, unknown>): Promise<Expected> {
  const { controls } = figures[name] as Headless['figures'][string];
  const all = await rendered(name, headless.writtenState(controls, state as State));
  const { figure, data, state: settled } = all;
  return {
    rendered: all,
    finding: flat(figure.describe(data, settled)),
    readout: (cursor) =>
      flat(
        figure
          .readout(data, settled, cursor)
          .map((piece) => (typeof piece === 'string' ? piece : piece.text))
          .join(''),
      ),
  };
}

/** Replaces numbers that are rounding errors themselves, because only these differ between builds. */
export const withoutRounding = (text: string): string =>
  text
    .replace(/−?\d\.\d\s×\s10⁻¹[²-⁹]|−?\d\.\d\s×\s10⁻¹[⁰¹]/g, '≈0')
    .replace(/to within \d(\.\d)?\s×\s10⁻[⁶-⁹] of the largest/g, 'to within ≈0 of the largest');

/** Settings as a link writes them, converted to values of a state. */
export const typed = (name: string, settings: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(settings).map(([setting, text]) => {
      const { kind } = (figures[name] as Headless['figures'][string]).controls[setting] as { kind: string };
      if (kind === 'toggle') return [setting, text === 'yes'];
      if (kind === 'several') return [setting, text === '' ? [] : text.split('.')];
      return [setting, ['range', 'steps', 'seed'].includes(kind) ? Number(text) : text];
    }),
  );

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

/** Opens a state in the page that is already open, and waits until it is drawn. */
export async function follow(page: Page, name: string, settings: Record<string, string>): Promise<Shown> {
  await go(page, name, settings);
  return drawn(page, name);
}
