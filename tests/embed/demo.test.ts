// The demo blog page as shipped: five figures, embedded in five ways, are all shown.
import { expect, inject, onTestFinished, test } from 'vitest';
import { openChromium } from '../engines/chromium.ts';
import { findingOf, readFigures, withoutResidual } from './support/figures.ts';
import { startServers } from './support/servers.ts';

test('five figures in five ways', async () => {
  const servers = await startServers(() => ({ html: '' }));
  onTestFinished(() => servers.stop());
  const engine = await openChromium();
  onTestFinished(() => engine.close());
  await engine.open(`${servers.site}demo/`);
  const { page } = engine;
  const trained = inject('withModel');
  const patience = { timeout: 30_000 };

  const framed = async (place: number) => {
    await page.locator('iframe').nth(place).scrollIntoViewIfNeeded();
    const frame = page
      .frames()
      .find((frame) => frame.parentFrame() && (place === 0) === frame.url().includes('/figures/'));
    const [shownFigure] = (await frame?.evaluate(readFigures).catch(() => [])) ?? [];
    return withoutResidual(shownFigure?.finding);
  };
  await expect.poll(() => framed(0), patience).toBe(await findingOf('dot-products', { n: '16' }));
  await page.locator('superpose-figure').scrollIntoViewIfNeeded();
  const scripted = async () => withoutResidual((await engine.evaluate(readFigures))[0]?.finding);
  await expect
    .poll(scripted, patience)
    .toBe(
      withoutResidual(
        await (trained ? findingOf('one-score', { head: '0' }) : findingOf('dot-products', { n: '24' })),
      ),
    );
  await expect
    .poll(() => framed(1), patience)
    .toBe(
      withoutResidual(
        await (trained
          ? findingOf('one-score', { text: 'A figure in one file carries its own words.' })
          : findingOf('dot-products')),
      ),
    );
  for (const image of await page.locator('main > p img, main > a img').all()) {
    await image.scrollIntoViewIfNeeded();
    const shown = () => image.evaluate((element) => (element as HTMLImageElement).naturalWidth);
    await expect.poll(shown, patience).toBeGreaterThan(0);
  }
  expect(await page.locator('iframe:not([title])').count()).toBe(0);
  expect(engine.complaints).toEqual([]);
});
