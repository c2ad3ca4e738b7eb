// Figures that come, move and go, and a page that is left and returned to, hold no more memory, listeners or
// workers than after the first few. The run is short, unless SUPERPOSE_SOAK_FIGURES says how many figures.
import puppeteer, { type Browser, type CDPSession, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { chromiumOptions, fullChromium } from '../../tools/chromium.mjs';
import { startSite } from './support/site.ts';
import { folderWith } from './support/visit.ts';

const figures = Number(process.env.SUPERPOSE_SOAK_FIGURES ?? 40);
/** How many figures come before the first measurement. */
const first = Math.min(50, figures / 2);
const returns = Math.max(2, figures / 50);

let browser: Browser;
beforeAll(async () => {
  browser = await puppeteer.launch({
    // The browser without windows cannot go back to a page as it was.
    executablePath: fullChromium ?? '/usr/bin/chromium',
    args: [...(chromiumOptions.args ?? []), '--no-sandbox'],
  });
});
afterAll(() => browser?.close());

async function opened(): Promise<{ page: Page; session: CDPSession; address: string }> {
  const site = await startSite();
  onTestFinished(() => site.stop());
  const page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  onTestFinished(() => page.close());
  await page.goto(`${site.address}${folderWith('dot-products')}`);
  await page.evaluate(() => document.querySelector('superpose-figure[name=dot-products]')?.scrollIntoView());
  await page.waitForFunction(
    () =>
      !!(document.querySelector('superpose-figure[name=dot-products]') as { result?: unknown } | null)
        ?.result,
  );
  return { page, session: await page.createCDPSession(), address: site.address };
}

/** What remains after everything collectable is collected. */
async function remaining(page: Page, session: CDPSession) {
  for (let again = 0; again < 3; again++) {
    await session.send('HeapProfiler.collectGarbage');
    await page.evaluate(() => new Promise((done) => setTimeout(done, 50)));
  }
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return {
    listeners: of('JSEventListeners'),
    heap: of('JSHeapUsedSize'),
    nodes: of('Nodes'),
    workers: page.workers().length,
  };
}

test(`${figures} figures come, are moved and go`, async () => {
  const { page, session } = await opened();
  await session.send('Performance.enable');
  await page.evaluate(() => {
    const home = document.createElement('div');
    home.id = 'soak';
    document.body.prepend(home);
    window.scrollTo(0, 0);
  });
  const come = (from: number, to: number) =>
    page.evaluate(
      async (low, high) => {
        const home = document.getElementById('soak') as HTMLElement;
        for (let k = low; k < high; k++) {
          const figure = document.createElement('superpose-figure') as HTMLElement & { result?: unknown };
          figure.setAttribute('name', ['dot-products', 'encoding'][k % 2] as string);
          figure.setAttribute('seed', String(k));
          home.append(figure);
          // One in three is removed before it has answered; the others are moved first.
          if (k % 3 !== 0) {
            const wrapper = document.createElement('section');
            home.append(wrapper);
            wrapper.append(figure);
            for (let wait = 0; wait < 400 && !figure.result; wait++)
              await new Promise((done) => setTimeout(done, 10));
            if (!figure.result) throw new Error(`Figure ${k} has shown nothing.`);
          }
          home.replaceChildren();
        }
        await new Promise((done) => setTimeout(done, 300));
      },
      from,
      to,
    );
  await come(0, first);
  const before = await remaining(page, session);
  await come(first, figures);
  const after = await remaining(page, session);
  if (process.env.SUPERPOSE_SOAK_FIGURES)
    console.log(
      `after ${first} figures ${JSON.stringify(before)}, after ${figures} ${JSON.stringify(after)}`,
    );
  expect(after.workers).toBe(before.workers);
  expect(after.listeners).toBeLessThanOrEqual(before.listeners);
  expect(after.nodes).toBeLessThanOrEqual(before.nodes + 50);
  expect(after.heap).toBeLessThan(before.heap + 2 ** 20);
});

test('a page that is left and come back to is the one that was left, and answers', async () => {
  const { page, address } = await opened();
  for (let again = 0; again < returns; again++) {
    await page.evaluate(() => {
      window.addEventListener('pageshow', ({ persisted }) => Object.assign(window, { persisted }), {
        once: true,
      });
    });
    await page.goto(`${address}THIRD-PARTY.txt`).catch(() => {});
    await page.goBack();
    expect(await page.evaluate(() => (window as { persisted?: boolean }).persisted)).toBe(true);
    const n = String(5 + (again % 2));
    await page.evaluate((to) => {
      const figure = document.querySelector('superpose-figure[name=dot-products]');
      const input = figure?.shadowRoot?.querySelector('input[name=n]') as HTMLInputElement;
      input.value = to;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }, n);
    await page.waitForFunction(
      (pairs) =>
        document
          .querySelector('superpose-figure[name=dot-products]')
          ?.shadowRoot?.querySelector('.finding')
          ?.textContent?.includes(`Over ${pairs} pairs`),
      {},
      (Number(n) * (Number(n) - 1)) / 2,
    );
    expect(page.workers().length).toBeLessThanOrEqual(1);
  }
});
