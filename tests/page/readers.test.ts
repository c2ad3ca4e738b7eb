// What readers come for and what they bring: a student at the first screen, text at 200 %, forced colours.
// accessibility.test.ts counts tabs, headings, landmarks and the parts on paper.
import { inflateSync } from 'node:zlib';
import { chromium } from 'playwright';
import { expect, onTestFinished, test } from 'vitest';
import { chromiumOptions } from '../../tools/chromium.mjs';
import { figures } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { startSite } from './support/site.ts';
import { drawn, figureOf, modelTest, visit } from './support/visit.ts';

const patience = { timeout: 20_000 };

modelTest(
  'a student: the picture on the first screen, then the figure behind a clause of the answer',
  async () => {
    const { page } = await visit();
    // The figure is drawn as the page loads, without scrolling to it.
    await expect
      .poll(async () => (await page.evaluate(readFigure, 'one-layer'))?.drawn, patience)
      .toBeDefined();
    expect(await page.evaluate(() => scrollY)).toBe(0);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toMatch(/added, not concatenated\?$/);
    const clause = page.locator('.answer a.see').first();
    const name = new URLSearchParams(((await clause.getAttribute('href')) ?? '').replace(/^.*#/, '')).get(
      'figure',
    );
    expect(Object.keys(figures)).toContain(name);
    await clause.click();
    await drawn(page, name as string);
    await expect.poll(async () => await inView(name as string), patience).toBe(true);

    async function inView(figure: string) {
      const box = await figureOf(page, figure).boundingBox();
      return box !== null && box.y < 900 && box.y + box.height > 0;
    }
  },
);

modelTest('text at 200 %: all of it is there, and the page does not scroll sideways', async () => {
  const site = await startSite();
  onTestFinished(() => site.stop());
  // The reader's own font size, not one of the page's.
  const browser = await chromium.launch({
    ...chromiumOptions,
    args: [...chromiumOptions.args, '--blink-settings=defaultFontSize=32'],
  });
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(site.address);
  await drawn(page, 'add-or-concatenate');
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe('32px');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280);
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll('h1, h2, h3, main p, summary')].flatMap((part) => {
      const { left, right, width } = part.getBoundingClientRect();
      const unseen = part.closest('.unseen, [hidden], details:not([open]) > :not(summary)');
      return width > 0 && !unseen && (left < -1 || right > innerWidth + 1) ? [part.textContent ?? ''] : [];
    }),
  );
  expect(cut).toEqual([]);
  // Words in pictures grow as well: 11 pixels or more have become 22.
  const sizes = await figureOf(page, 'add-or-concatenate')
    .locator('.marks')
    .evaluate((svg: SVGSVGElement) => {
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      return [...svg.querySelectorAll('text')].map((text) => scale * Number(text.getAttribute('font-size')));
    });
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(22);
});

modelTest('forced colours: what a colour says is still told apart', async () => {
  const { page } = await visit({ forcedColors: 'active', fragment: '#one-score' });
  await page.evaluate(() => document.querySelector('#check-one-score')?.setAttribute('open', ''));
  await drawn(page, 'one-score');
  const swatches = await figureOf(page, 'one-score')
    .locator('.swatch')
    .evaluateAll((all) => all.map((element) => getComputedStyle(element).backgroundColor));
  expect(new Set(swatches).size).toBeGreaterThanOrEqual(5);
  const bars = await figureOf(page, 'one-score')
    .locator('.marks rect')
    .evaluateAll((all) => all.map((element) => getComputedStyle(element).fill));
  expect(new Set(bars).size).toBeGreaterThanOrEqual(5);
});

test('on paper dots are there: squares, as in a cloud of many', async () => {
  const { page, site } = await visit();
  const picture = `${site.address}pictures/gram-wide.svg`;
  const text = await (await page.request.get(picture)).text();
  const dots = text.match(/M[\d.]+,[\d.]+h/g)?.length ?? 0;
  expect(text).toContain('stroke-linecap="square"');
  expect(dots).toBeGreaterThan(500);
  await page.setContent(`<img src="${picture}" width="700">`);
  await page.waitForFunction(() => document.images[0]?.complete);
  const pdf = await page.pdf({ format: 'A4' });
  const streams = [...pdf.toString('latin1').matchAll(/FlateDecode[^>]*>>\s*stream\r?\n/g)].map(
    ({ index, 0: { length } }) => {
      try {
        return inflateSync(pdf.subarray(index + length)).toString('latin1');
      } catch {
        return '';
      }
    },
  );
  // A dot is a stroke from a point to another beside it; one to the same point leaves no ink.
  const strokes = [...streams.join('').matchAll(/^(\S+ \S+) m\n(\S+ \S+) l$/gm)];
  expect(strokes.filter(([, from, to]) => from !== to).length).toBeGreaterThanOrEqual(dots);
});

modelTest.each(['add-or-concatenate', 'gram'])(
  'on paper: a file of pages, each figure among them, %s',
  async (name) => {
    const { page } = await visit({ of: name });
    await drawn(page, name);
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
    expect(pdf.slice(0, 5)).toBe('%PDF-');
    const pages = pdf.match(/\/Type\s*\/Page\b/g) ?? [];
    expect(pages.length).toBeGreaterThan(5);
    expect(pages.length).toBeLessThanOrEqual(15);
  },
);
