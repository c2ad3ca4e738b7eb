// The whole page with every figure drawn, at the widths of phones and of huge screens and in both colour
// schemes. It is opened once and examined in many ways: first as it is read, then with all its tables and
// cards open.
import type { Page } from 'playwright';
import { expect } from 'vitest';
import type { FigureElement } from '../../web/element/figureElement.ts';
import type { Control, Controls, Value } from '../../web/figures/controls.ts';
import { shorter } from '../figures/support.ts';
import { faultsOf } from './support/axe.ts';
import { figures, follow } from './support/expected.ts';
import { readCanvas } from './support/shown.ts';
import { drawn, figureOf, modelTest, namesOn, resetOf, sharedVisits } from './support/visit.ts';

const widths = [320, 360, 390, 768, 1440, 3840];
const visits = sharedVisits({ viewport: { width: 320, height: 900 } });
/** A section of each page, by which the page is opened. */
const sections = ['verdicts', 'evidence'];

const read = new WeakSet<Page>();
const unfolded = new WeakSet<Page>();

/** The page with every figure drawn. */
async function asRead(section: string) {
  const opened = await visits(section);
  const names = namesOn(section);
  if (!read.has(opened.page)) {
    for (const name of names) {
      if (name in shorter) await follow(opened.page, name, {});
      else await drawn(opened.page, name);
    }
    await opened.page.evaluate(showAllShots);
  }
  read.add(opened.page);
  return opened;
}

/** The page with every figure drawn, and with all tables and everything else below the figures open. */
async function allOpen(section: string) {
  const opened = await asRead(section);
  const { page } = opened;
  if (!unfolded.has(page)) {
    await page.evaluate(openAll);
    await expect.poll(() => page.evaluate(countTables)).toBe(namesOn(section).length);
    await page.evaluate(dropRows);
  }
  unfolded.add(page);
  return opened;
}

/**
 * A beat shows only one of its figures at a time. All are to be examined, so here they stand one below the
 * other.
 */
function showAllShots(): void {
  for (const shot of document.querySelectorAll<HTMLElement>('.shot')) shot.style.display = 'block';
}

function openAll(): void {
  for (const figure of document.querySelectorAll('superpose-figure')) {
    figure.shadowRoot?.querySelector<HTMLElement>('.tools > [aria-expanded=false]')?.click();
  }
  for (const details of document.querySelectorAll<HTMLDetailsElement>('details.closer')) details.open = true;
}

/** How many figures show their numbers. */
function countTables(): number {
  const figures = [...document.querySelectorAll('superpose-figure')];
  return figures.filter((figure) => figure.shadowRoot?.querySelector('tbody tr')).length;
}

/** Keeps only some of each table's rows: they are alike, and axe reads even hidden ones. */
function dropRows(): void {
  for (const figure of document.querySelectorAll('superpose-figure')) {
    const rows = figure.shadowRoot?.querySelectorAll<HTMLElement>('tbody tr:nth-child(n + 13)') ?? [];
    for (const row of rows) row.remove();
  }
}

/** Sets the window's width, and waits until the page is laid out and painted. */
async function at(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.evaluate(
    () => new Promise((settled) => requestAnimationFrame(() => requestAnimationFrame(settled))),
  );
}

/** The faults found at each width, without the widths that have none. */
async function atEveryWidth(page: Page, ...looks: (() => string[])[]): Promise<Record<number, string[]>> {
  const result: Record<number, string[]> = {};
  for (const width of widths) {
    await at(page, width);
    for (const look of looks) result[width] = [...(result[width] ?? []), ...(await page.evaluate(look))];
    if (result[width]?.length === 0) delete result[width];
  }
  return result;
}

/** By how much the page is wider than its window. */
function overhang(): string[] {
  const beyond = document.documentElement.scrollWidth - window.innerWidth;
  return beyond > 0 ? [`${beyond} px too wide`] : [];
}

/** Labels with their values, and options of lists, that do not fit in their places. */
function cutOff(): string[] {
  return [...document.querySelectorAll('superpose-figure')].flatMap((figure) =>
    [...(figure.shadowRoot?.querySelectorAll('label, legend, .label') ?? [])]
      // A handle in the picture stands for an input by hand, which only keys and voices reach.
      .filter((label) => !label.closest('.by-hand') && label.scrollWidth > label.clientWidth + 1)
      .map((label) => `${figure.getAttribute('name')}: ${label.textContent?.trim()} is cut off`),
  );
}

/** Inputs that reach out of their figure's settings, into its picture. */
function reachingOut(): string[] {
  return [...document.querySelectorAll('superpose-figure')].flatMap((figure) => {
    const controls = figure.shadowRoot?.querySelector('.controls');
    const end = controls?.getBoundingClientRect().bottom ?? 0;
    return [...(controls?.querySelectorAll('label, input, button') ?? [])]
      .filter((input) => input.checkVisibility() && !input.closest('.by-hand'))
      .filter((input) => input.getBoundingClientRect().bottom > end + 1)
      .map(
        (input) =>
          `${figure.getAttribute('name')}: ${input.textContent?.trim() || input.nodeName} reaches out`,
      );
  });
}

modelTest.each(sections)(
  'every request stays in the folder that the site was put in: %s',
  async (section) => {
    const { site } = await asRead(section);
    const folder = new URL(site.address).pathname;
    expect(site.requests.length).toBeGreaterThan(namesOn(section).length);
    expect(site.requests.filter((path) => !path.startsWith(folder))).toEqual([]);
  },
);

modelTest.each(sections)(
  'every figure is a landmark with its title, and its inputs and its picture are in it: %s',
  async (section) => {
    const { page } = await asRead(section);
    for (const name of namesOn(section)) {
      const { title } = figures[name] as (typeof figures)[string];
      const group = page.getByRole('region', { name: title, exact: true });
      expect(await group.count(), title).toBe(1);
      expect(await group.getByRole('application').getAttribute('aria-describedby')).toBe('finding');
      const sliders = await figureOf(page, name).locator('input[type=range]').all();
      for (const slider of sliders) {
        const label = (await slider.locator('xpath=..').innerText()).replace(/\s*\S*$/, '');
        expect(await group.getByRole('slider', { name: label }).count(), label).toBeGreaterThan(0);
      }
    }
  },
);

modelTest.each(sections)(
  'in a window of 320 to 3840 px no label is cut off, no input reaches into its picture, and nothing is wider: %s',
  async (section) => {
    const { page } = await asRead(section);
    expect(await atEveryWidth(page, cutOff, reachingOut, overhang)).toEqual({});
  },
);

/** Another value of a setting, next to its initial one. */
function otherValue(control: Control): Value {
  switch (control.kind) {
    case 'range':
      return control.initial + (control.initial < control.max ? control.step : -control.step);
    case 'steps':
      return control.values.find((value) => value !== control.initial) as number;
    case 'choice':
      return Object.keys(control.options).find((option) => option !== control.initial) as string;
    case 'several':
      return control.initial.length > 1 ? control.initial.slice(1) : Object.keys(control.options);
    case 'toggle':
      return !control.initial;
    case 'seed':
      return control.initial + 1;
    case 'text':
      return `${control.initial} `;
  }
}

/** Whether the figure shows Reset at first, with another value of a setting, and after Reset was pressed. */
async function showsReset(
  element: Element,
  [setting, value]: readonly [string, Value],
): Promise<{ shows: boolean[]; stays: boolean }> {
  const figure = element as FigureElement;
  const { request, renderRoot } = figure;
  const button = renderRoot.querySelector<HTMLElement>('.reset');
  const isShown = async () => {
    await figure.updateComplete;
    return button?.checkVisibility({ visibilityProperty: true }) ?? false;
  };
  const shows: boolean[] = [];
  await request.reset();
  const before = JSON.stringify(request.settings);
  shows.push(await isShown());
  request.change(setting, value, true);
  shows.push(await isShown());
  button?.focus({ preventScroll: true });
  button?.click();
  while (JSON.stringify(request.settings) !== before) await new Promise((soon) => setTimeout(soon, 10));
  shows.push(await isShown());
  return { shows, stays: (renderRoot as ShadowRoot).activeElement !== null };
}

modelTest.each(sections)(
  'every figure that has been set otherwise shows Reset, which goes back and disappears: %s',
  async (section) => {
    const { page } = await asRead(section);
    for (const name of namesOn(section)) {
      const { controls } = figures[name] as (typeof figures)[string];
      if (name in shorter) {
        // Computing this figure's first view takes long.
        expect(await resetOf(figureOf(page, name)).count(), name).toBe(1);
        continue;
      }
      const [setting, control] = Object.entries(controls as Controls)[0] as [string, Control];
      const seen = await figureOf(page, name).evaluate(showsReset, [setting, otherValue(control)] as const);
      expect(seen, name).toEqual({ shows: [false, true, false], stays: true });
    }
  },
);

modelTest.each([
  ['verdicts', 'sum', 32],
  ['evidence', 'dot-products', 128],
])(
  'nothing is wider than its window with all tables open, long words and many: %s',
  async (section, name, longest) => {
    const { page } = await allOpen(section);
    const figure = figureOf(page, name);
    if (name === 'dot-products') await figure.getByLabel('Your sentence (MiniLM)').check();
    await figure.locator('textarea').fill(`${'x'.repeat(300)} ${'word '.repeat(200)}`);
    await figure.getByText(`Only the first ${longest} of`).waitFor();
    expect(await atEveryWidth(page, overhang)).toEqual({});
  },
);

modelTest.each([
  ['verdicts', 'oblique'],
  ['evidence', 'dot-products'],
])('axe finds nothing, light at 390 px and dark at 1440 px: %s', async (section, name) => {
  const { page } = await allOpen(section);
  await at(page, 390);
  expect(await faultsOf(page)).toEqual([]);
  const light = await page.evaluate(readCanvas, name);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(() => page.evaluate(readCanvas, name)).not.toBe(light);
  await at(page, 1440);
  expect(await faultsOf(page)).toEqual([]);
});
