// A reader's visit to the page in Chromium, watched from start to end: whatever the page has to complain
// about, whatever it blocks and whatever it asks of other hosts fails the test.
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { type Site, startSite } from './site.ts';

export interface Visit {
  page: Page;
  site: Site;
  /** What went wrong so far; the test fails when anything is left in here at its end. */
  complaints: string[];
}

export interface VisitOptions extends BrowserContextOptions {
  /** Breaks the site before the page is asked for. */
  site?: (site: Site) => void;
  /** Runs in the page before its own scripts. */
  first?: () => void;
}

export const figure1 = (page: Page): Locator => page.locator('superpose-dot-products');
export const figure2 = (page: Page): Locator => page.locator('superpose-decompose');
/** Where a figure's arrow keys and pointers are listened to. */
export const surface = (figure: Locator): Locator => figure.locator('.surface');

/** A test that needs the model's files; without them it is skipped, unless somebody insists (CI=true). */
export const modelTest = test.runIf(inject('withModel'));

let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

/** Opens the page, in a browser profile and from a server of its own. */
export async function visit({ site: breakSite, first, ...options }: VisitOptions = {}): Promise<Visit> {
  browser ??= launch();
  const site = await startSite();
  onTestFinished(() => site.stop());
  breakSite?.(site);

  const context = await (await browser).newContext({ viewport: { width: 1440, height: 900 }, ...options });
  onTestFinished(() => context.close());
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
    if (!request.url().startsWith(site.address)) complaints.push(`request to ${request.url()}`);
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
  onTestFinished(() => expect(complaints).toEqual([]));

  const page = await context.newPage();
  await page.goto(site.address);
  return { page, site, complaints };
}

async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: inject('chromium'),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
