// A reader's visit to the page in Chromium, watched from start to end: any complaint of the page, anything
// it blocks and any request to other hosts fails the test.
import type { BrowserContextOptions, Locator, Page } from 'playwright';
import { afterAll, expect, inject, onTestFailed, onTestFinished, test } from 'vitest';
import { pageFolders, placesOn, sourceOf } from '../../../web/build/places.ts';
import { decodedLink } from '../../../web/element/link.ts';
import { figures } from '../../../web/figures/index.ts';
import { placeOf as placeIn } from '../../../web/page/elsewhere.ts';
import type { Cursor, Region, Scene } from '../../../web/plot/scene.ts';
import { runningChromium } from '../../engines/chromium.ts';
import {
  readFigure,
  type Shown,
  stepsCameBy as stepsCameByInPage,
  unfold as unfoldInPage,
  untilDrawn,
} from './shown.ts';
import { type Site, startSite } from './site.ts';

export interface Visit {
  page: Page;
  site: Site;
  /** What has gone wrong so far; the test fails if anything is left in here at its end. */
  complaints: string[];
}

export interface VisitOptions extends BrowserContextOptions {
  /** Breaks the site before the page is requested. */
  site?: (site: Site) => void;
  /** Runs in the page before its own scripts. */
  first?: () => void;
  /** The fragment of the address. */
  fragment?: string;
  /** A figure or a section of the page to open, if the fragment does not lead to one. */
  of?: string;
  /** That page’s folder. */
  folder?: string;
}

/**
 * Clicks an element, and returns how far below the window's upper edge it was in that moment: the driver may
 * scroll before it clicks.
 */
export async function clickedAt(target: Locator): Promise<number> {
  const top = target.evaluate(
    (element) =>
      new Promise<number>((resolve) => {
        const tell = () => resolve(element.getBoundingClientRect().top);
        element.addEventListener('click', tell, { once: true });
      }),
  );
  await target.click();
  return top;
}

/**
 * A figure, searched for in the page's own tree only. Searching every figure's shadow tree, too, as
 * Playwright does, would take longer than everything else.
 */
export const figureOf = (page: Page, name: string): Locator =>
  page.locator(`css:light=superpose-figure[name="${name}"]`);
/** The element that listens for a figure's arrow keys and pointers. */
export const surface = (figure: Locator): Locator => figure.locator('.surface');

/**
 * The middle of a cell of a figure's picture, in pixels of its surface: of a term's map, or of the first map
 * or plot.
 */
export const placeOf = (
  figure: Locator,
  { i, j }: Cursor,
  term?: string,
): Promise<{ x: number; y: number }> =>
  figure.evaluate(
    (element, { i, j, term }) => {
      const { scene } = (element as unknown as { picture: { view: { scene: Scene } } }).picture.view;
      const surface = element.shadowRoot?.querySelector('.surface') as Element;
      const scale = surface.getBoundingClientRect().width / scene.width;
      const region = scene.regions.find((candidate) =>
        term ? candidate.term === term : !candidate.sets,
      ) as Region;
      if (typeof region.pick === 'object') {
        const { x, y, cursors } = region.pick.points;
        const point = cursors.findIndex((candidate) => candidate.i === i && candidate.j === j);
        return { x: scale * (x[point] as number), y: scale * (y[point] as number) };
      }
      return {
        x: scale * (region.x + ((j + 0.5) * region.width) / region.columns),
        y: scale * (region.y + ((i + 0.5) * region.height) / region.rows),
      };
    },
    { i, j, term },
  );

/** The button that goes back to the author's settings, if the figure has any others. */
export const resetOf = (figure: Locator): Locator => figure.getByRole('button', { name: /^Reset: / });

/**
 * Opens a figure's menu: the table, files, link and Embed. By key, as a click might scroll to another step.
 */
export async function openMenu(figure: Locator): Promise<Locator> {
  const menu = figure.locator('details.menu');
  if ((await menu.getAttribute('open')) === null) await menu.locator('summary').press('Enter');
  return menu;
}

/** A test that needs the model's files. Without them it is skipped, unless CI=true. */
export const modelTest = test.runIf(inject('withModel'));

const placesOf = new Map(pageFolders.map((folder) => [folder, placesOn(sourceOf(folder))]));
/** The folder of the page that has a figure or a section of this name; the first page’s if none has. */
export const folderWith = (place: string): (typeof pageFolders)[number] =>
  pageFolders.find((folder) => placesOf.get(folder)?.includes(place)) ?? '';
/** The names of the figures on the page that has this section. */
export const namesOn = (section: string): string[] =>
  Object.keys(figures).filter((name) => folderWith(name) === folderWith(section));

/** Opens a page of figures in a new browser profile, from a new server. */
export async function visit(options: VisitOptions = {}): Promise<Visit> {
  const { end, ...opened } = await open(options);
  onTestFinished(end);
  onTestFinished(() => expect(opened.complaints).toEqual([]));
  return opened;
}

/**
 * One page for all tests of a file. Each test leaves the page as it was; after a failed test there is a new
 * page.
 */
export function sharedVisit(options: VisitOptions = {}): () => Promise<Visit> {
  let shared: ReturnType<typeof open> | undefined;
  const leave = async () => {
    await (await shared)?.end();
    shared = undefined;
  };
  afterAll(leave);
  return async () => {
    onTestFailed(leave);
    shared ??= open(options);
    const { complaints } = await shared;
    onTestFinished(() => expect(complaints).toEqual([]));
    return shared;
  };
}

/** A shared visit to each page of figures; `of` names a figure or a section of the page that is wanted. */
export function sharedVisits(options: VisitOptions = {}): (of: string) => Promise<Visit> {
  const visits = new Map(pageFolders.map((folder) => [folder, sharedVisit({ ...options, folder })]));
  return async (of) => (visits.get(folderWith(of)) as () => Promise<Visit>)();
}

async function open({
  site: breakSite,
  first,
  fragment = '',
  of = placeIn(decodedLink(fragment)),
  folder = folderWith(of),
  ...options
}: VisitOptions = {}): Promise<Visit & { end(): Promise<void> }> {
  const site = await startSite();
  breakSite?.(site);

  const browser = await runningChromium();
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    ...options,
  });
  const complaints: string[] = [];
  context.on('console', (message) => {
    const expected = site.faulty.has(message.location().url);
    if (['error', 'warning'].includes(message.type()) && !expected) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  context.on('request', (request) => {
    const address = request.url().replace(/^blob:/, '');
    if (
      !address.startsWith(new URL(site.address).origin) ||
      (address === request.url() && !address.startsWith(site.address))
    )
      complaints.push(`request to ${request.url()}`);
  });
  await context.exposeBinding('complain', (_, complaint: string) => complaints.push(complaint));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
      (window as unknown as { complain(complaint: string): void }).complain(
        `${effectiveDirective} blocked ${blockedURI}`,
      ),
    );
  });
  if (first) await context.addInitScript(first);

  const page = await context.newPage();
  await page.goto(site.address + folder + fragment);
  const end = async () => {
    await context.close();
    await site.stop();
  };
  return { page, site, complaints, end };
}

/** Closes what is open in a figure, so that it costs the next one nothing. */
export const fold = (page: Page, name: string): Promise<void> =>
  figureOf(page, name).evaluate((figure) => {
    const card = figure.closest('details');
    for (const details of [card, ...(figure.shadowRoot?.querySelectorAll('details') ?? [])]) {
      if (details) details.open = false;
    }
  });

/** Opens the card that a figure is in, or shows it in its beat, if it is in one. */
export async function unfold(page: Page, name: string): Promise<void> {
  await figureOf(page, name).waitFor({ state: 'attached' });
  await page.evaluate(unfoldInPage, name);
}

/** Waits for the steps of beats: a step that becomes current sets its picture's state in the next frame. */
export const stepsCameBy = (page: Page): Promise<unknown> => page.evaluate(stepsCameByInPage);

/** Shows all inputs of a figure, not only the first ones, and points at its first place. */
const openAll = (page: Page, name: string): Promise<void> =>
  figureOf(page, name).evaluate(async (element) => {
    const figure = element as HTMLElement & { cursor: object; updateComplete: Promise<unknown> };
    const more = figure.shadowRoot?.querySelector<HTMLDetailsElement>('details.more');
    if (more) more.open = true;
    // biome-ignore lint/correctness/noSelfAssign: to set it is to point there
    figure.cursor = figure.cursor;
    await figure.updateComplete;
  });

/** What a figure shows once its drawing matches its settings, with all its inputs and a readout shown. */
export async function drawn(page: Page, name: string): Promise<Shown> {
  await settled(page, name);
  await openAll(page, name);
  return (await page.evaluate(readFigure, name)) as Shown;
}

/** What a figure shows once its drawing matches its settings; opens nothing in it, nor points at it. */
export async function settled(page: Page, name: string): Promise<Shown> {
  const figure = figureOf(page, name);
  await unfold(page, name);
  await figure.scrollIntoViewIfNeeded();
  await stepsCameBy(page);
  // The page itself watches, because asking it again and again would cost more than what is waited for.
  await expect
    .poll(() => page.evaluate(untilDrawn, name), { timeout: 240_000, message: `${name} is drawn` })
    .toBe(true);
  const shown = await page.evaluate(readFigure, name);
  return shown as Shown;
}
