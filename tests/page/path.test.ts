// The path through the page: short while its cards are closed, and always showing where the reader is.
import { expect, test } from 'vitest';
import { readFigure } from './support/shown.ts';
import { drawn, figureOf, modelTest, visit } from './support/visit.ts';

for (const [width, most] of [
  [1440, 16_000],
  [390, 26_000],
] as const) {
  modelTest(`the page is at most ${most} px high at a width of ${width}`, async () => {
    const { page } = await visit({ viewport: { width, height: 900 } });
    // The figures on the path get their live height, too.
    for (const figure of await page.locator('superpose-figure:not(details *)').all()) {
      await figure.scrollIntoViewIfNeeded();
      await figure.locator('.surface').waitFor();
    }
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(most);
  });
}

test('at most nine figures are on the path, and every other is in a card', async () => {
  const { page } = await visit();
  expect(await page.locator('superpose-figure:not(details *)').count()).toBeLessThanOrEqual(9);
  expect(await page.locator('details:not(.check) superpose-figure').count()).toBe(0);
  expect(await page.locator('details.check[open]').count()).toBe(0);
});

modelTest('a closed card loads and computes nothing; opened, or linked to, it is there', async () => {
  const { page, site } = await visit();
  await drawn(page, 'sum');
  const card = page.locator('#check-cosines');
  await card.scrollIntoViewIfNeeded();
  await page.waitForTimeout(500);
  expect((await page.evaluate(readFigure, 'cosines'))?.drawn).toBeUndefined();
  // The card shows a title, a picture and a finding.
  expect(await card.getByRole('heading').innerText()).toMatch(/\w/);
  expect(await card.locator('.says').innerText()).toMatch(/\d/);
  expect(
    await card.locator('summary img').evaluate((one: HTMLImageElement) => one.naturalWidth),
  ).toBeGreaterThan(0);
  await card.locator('summary').click();
  await expect
    .poll(async () => (await page.evaluate(readFigure, 'cosines'))?.drawn, { timeout: 20_000 })
    .toBeDefined();
  const second = await page.context().newPage();
  await second.goto(`${site.address}#v=1&figure=gram`);
  await expect
    .poll(async () => (await second.evaluate(readFigure, 'gram'))?.drawn, { timeout: 20_000 })
    .toBeDefined();
  const third = await page.context().newPage();
  await third.goto(`${site.address}#check-shift`);
  await expect
    .poll(async () => (await third.evaluate(readFigure, 'gram'))?.drawn, { timeout: 20_000 })
    .toBeDefined();
});

for (const [width, height] of [
  [390, 844],
  [1440, 900],
  [1920, 1080],
] as const) {
  modelTest(`the first figure is live on the first screen, ${width} × ${height}`, async () => {
    const { page, site } = await visit({ viewport: { width, height } });
    await expect
      .poll(async () => (await page.evaluate(readFigure, 'sum'))?.drawn, { timeout: 20_000 })
      .toBeDefined();
    expect(await page.evaluate(() => scrollY)).toBe(0);
    const box = await figureOf(page, 'sum').locator('.surface').boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(height);
    // It has requested one small file of the model.
    const ofModel = site.requests.filter((path) => path.includes('/model/'));
    expect(ofModel.map((path) => path.split('/').at(-1))).toEqual(['opening.safetensors']);
  });
}

test('its picture is there before any script', async () => {
  const { page } = await visit({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  const box = await figureOf(page, 'sum').locator('img').boundingBox();
  expect(box?.y).toBeLessThan(844);
});

test('the contents say where one is, beside the text and on a phone', async () => {
  const { page } = await visit();
  const here = () => page.locator('.contents [aria-current]').textContent();
  await page.locator('#room').scrollIntoViewIfNeeded();
  await page.evaluate(() => document.querySelector('#room')?.scrollIntoView());
  await expect.poll(here).toBe('Room');
  expect(await page.locator('.contents li').first().isVisible()).toBe(true);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => document.querySelector('#trained')?.scrollIntoView());
  const bar = page.locator('.contents button');
  await expect.poll(() => bar.innerText()).toMatch(/^\d+\/\d+ Heads/);
  expect((await bar.boundingBox())?.y).toBe(0);
  await bar.click();
  await page.locator('.contents').getByRole('link', { name: 'Mixing' }).click();
  await expect.poll(() => bar.innerText()).toMatch(/^\d+\/\d+ Mixing/);
  expect(await page.locator('.contents li').first().isVisible()).toBe(false);
});
