// The page keeps still and keeps up: while it loads, computes, changes its colours or is rearranged.
import { expect, test } from 'vitest';
import { names } from './support/expected.ts';
import { readCanvas, readFigure } from './support/shown.ts';
import { drawn, figureOf, modelTest, settled, visit } from './support/visit.ts';

test('a long computation says how far it is without moving the picture', async () => {
  const { page } = await visit({ viewport: { width: 390, height: 900 } });
  await drawn(page, 'collisions');
  const figure = figureOf(page, 'collisions');
  const top = () =>
    figure
      .locator('.surface')
      .evaluate(
        (picture) =>
          picture.getBoundingClientRect().top -
          (picture.getRootNode() as ShadowRoot).host.getBoundingClientRect().top,
      );
  const before = await top();
  await figure.getByLabel('All of them').check();
  await figure.getByRole('progressbar', { name: 'Computed so far' }).waitFor();
  expect(await top()).toBe(before);
  await figure.getByRole('button', { name: 'Stop' }).click();
});

/** Everything arrives late and one after another: the module, then the model. */
for (const [width, height] of [
  [390, 844],
  [1440, 900],
] as const) {
  modelTest(`what is read does not move while the figures load, ${width} × ${height} px`, async () => {
    const released: (() => void)[] = [];
    const { page } = await visit({
      viewport: { width, height },
      site: (site) => {
        released.push(site.hold(/\.wasm$/), site.hold(/^model\//));
      },
      first: () => {
        const shifts: number[] = [];
        Object.assign(window, { shifts });
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
        }).observe({ type: 'layout-shift', buffered: true });
      },
    });
    const [releaseModule, releaseModel] = released as [() => void, () => void];
    const painted = () =>
      page.evaluate(
        () => new Promise((settled) => requestAnimationFrame(() => requestAnimationFrame(settled))),
      );
    await figureOf(page, 'dot-products').scrollIntoViewIfNeeded();
    // Space for the inputs is reserved from the start, and the picture is replaced by the live figure.
    await figureOf(page, 'dot-products').locator('.controls input').first().waitFor({ state: 'attached' });
    await painted();
    releaseModule();
    await settled(page, 'dot-products');
    await painted();
    releaseModel();
    await settled(page, 'dot-products');
    await painted();
    const shifts = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts);
    expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBeLessThan(0.01);
  });
}

test('a change of colour scheme redraws what is drawn', async () => {
  const { page } = await visit({ colorScheme: 'light' });
  await drawn(page, 'dot-products');
  const picture = () => page.evaluate(readCanvas, 'dot-products');
  const light = await picture();
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(picture).not.toBe(light);
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(picture).toBe(light);
});

test('a figure goes on when it is taken out and put back', async () => {
  const { page } = await visit();
  await drawn(page, 'dot-products');
  await page.evaluate(() => {
    const figure = document.querySelector('superpose-figure[name=dot-products]') as HTMLElement;
    const place = figure.parentElement as HTMLElement;
    figure.remove();
    place.append(figure);
  });
  await figureOf(page, 'dot-products').getByLabel('Number of tokens').fill('7');
  await expect
    .poll(async () => (await page.evaluate(readFigure, 'dot-products'))?.finding)
    .toContain('Over 21 pairs');
});

modelTest('nothing is computed for a figure that is far off', async () => {
  const { page } = await visit({ viewport: { width: 390, height: 700 } });
  await drawn(page, 'dot-products');
  await page.evaluate(() => scrollTo(0, 0));
  const last = names.at(-1) as string;
  expect((await page.evaluate(readFigure, last))?.drawn).toBeUndefined();
  await drawn(page, last);
});
