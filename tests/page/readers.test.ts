// Five readers and what they come for: a student, a blogger, an engineer, someone on a phone, someone at a
// keyboard. accessibility.test.ts counts tabs, headings, landmarks and the parts on paper.
import { chromium } from 'playwright';
import { expect, onTestFinished, test } from 'vitest';
import { chromiumOptions } from '../../tools/chromium.mjs';
import { expected, figures } from './support/expected.ts';
import { readFigure, readTable } from './support/shown.ts';
import { startSite } from './support/site.ts';
import { drawn, figureOf, modelTest, settled, surface, visit } from './support/visit.ts';

const patience = { timeout: 20_000 };

modelTest(
  'a student: the picture on the first screen, then the figure behind a clause of the answer',
  async () => {
    const { page } = await visit();
    // The page as it loads, without scrolling to the figure.
    await expect
      .poll(async () => (await page.evaluate(readFigure, 'add-or-concatenate'))?.drawn, patience)
      .toBeDefined();
    expect(await page.evaluate(() => scrollY)).toBe(0);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toMatch(/added, not concatenated\?$/);
    const clause = page.locator('.answer a.see').last();
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

test('a blogger: two clicks to what to paste', async () => {
  const { page, complaints } = await visit({
    fragment: '#dot-products',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await drawn(page, 'dot-products');
  await figureOf(page, 'dot-products').getByRole('button', { name: 'Embed' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()), patience)
    .toMatch(/<(superpose-figure|iframe)[^>]*dot-products/);
  // The preview is a frame without an origin, whose worker is a blob of its own.
  const others = complaints.filter((one) => !one.startsWith('request to blob:null/'));
  complaints.splice(0, complaints.length, ...others);
});

test('an engineer: the file has the numbers of the table, more of their digits than the readout', async () => {
  const { page } = await visit({ fragment: '#dot-products' });
  const { readout } = await drawn(page, 'dot-products');
  const figure = figureOf(page, 'dot-products');
  await figure.getByText('The numbers as a table').click();
  await expect.poll(async () => (await page.evaluate(readTable, 'dot-products')).length).toBeGreaterThan(10);
  const shown = await page.evaluate(readTable, 'dot-products');
  await figure.getByText('Save', { exact: false }).first().click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    figure.getByRole('button', { name: 'CSV' }).click(),
  ]);
  let csv = '';
  for await (const part of await download.createReadStream()) csv += part;
  const rows = csv
    .trim()
    .split('\r\n')
    .map((row) => row.split(','));
  expect(rows[0]).toEqual(shown[0]);
  const digits = (text: string) => (text.match(/\d/g) ?? []).length;
  expect(Math.max(...(rows[1] as string[]).map(digits))).toBeGreaterThan(10);
  for (const number of readout.match(/[+−]?\d+\.\d+/g) ?? []) expect(digits(number)).toBeLessThanOrEqual(4);
});

test('on a phone: an answer that is tapped says where its token looked, and nothing is wider than the screen', async () => {
  const { page } = await visit({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const name = 'add-or-concatenate';
  const shown = await settled(page, name);
  // The places of answers are part of the picture's data.
  const { figure, data, state } = (await expected(name, shown.state)).rendered;
  const scene = figure.scene(data, state, shown.width);
  const places = scene.regions.flatMap(({ pick }) => (typeof pick === 'object' ? [pick.points] : []));
  const tapped = { i: 2, j: 3 };
  const [x, y] = places.flatMap((points) =>
    points.cursors.flatMap(({ i, j }, k) =>
      i === tapped.i && j === tapped.j ? [points.x[k] as number, points.y[k] as number] : [],
    ),
  ) as [number, number];
  const box = await surface(figureOf(page, name)).boundingBox();
  const scale = (box?.width ?? 0) / scene.width;
  await page.touchscreen.tap((box?.x ?? 0) + scale * x, (box?.y ?? 0) + scale * y);
  const said = figure
    .readout(data, state, tapped)
    .map((piece) => (typeof piece === 'string' ? piece : piece.text))
    .join('');
  expect(said).toMatch(/position 3 looks (at position|nowhere)/);
  await expect
    .poll(async () => (await page.evaluate(readFigure, name))?.readout, patience)
    .toBe(said.replace(/\s+/g, ' '));
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

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
  expect(await page.evaluate(() => getComputedStyle(document.body).fontSize)).toBe('32px');
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
    .evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
  expect(new Set(swatches).size).toBeGreaterThanOrEqual(5);
  const bars = await figureOf(page, 'one-score')
    .locator('.marks rect')
    .evaluateAll((all) => all.map((one) => getComputedStyle(one).fill));
  expect(new Set(bars).size).toBeGreaterThanOrEqual(5);
});

modelTest('less motion: the first picture is there at once, and nothing moves', async () => {
  const { page } = await visit({ reducedMotion: 'reduce' });
  await drawn(page, 'add-or-concatenate');
  const moving = await page.evaluate(() => document.getAnimations().length);
  expect(moving).toBe(0);
});

modelTest('on paper: a file of pages, each figure among them', async () => {
  const { page } = await visit();
  await drawn(page, 'add-or-concatenate');
  const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
  expect(pdf.slice(0, 5)).toBe('%PDF-');
  const pages = pdf.match(/\/Type\s*\/Page\b/g) ?? [];
  expect(pages.length).toBeGreaterThan(10);
  expect(pages.length).toBeLessThanOrEqual(20);
});
