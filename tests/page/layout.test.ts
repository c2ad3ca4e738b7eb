// The page at the widths of phones and of walls, and in both colour schemes.
import { expect, test } from 'vitest';
import { figure1, figure2, modelTest, visit } from './support/visit.ts';

for (const width of [320, 390, 768, 1440, 3840]) {
  modelTest(`nothing is wider than a window of ${width} px`, async () => {
    const { page } = await visit({ viewport: { width, height: 900 } });
    const overhang = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    await figure2(page).locator('.finding').waitFor();
    expect(await overhang()).toBeLessThanOrEqual(0);
    await figure2(page).getByLabel('All sixteen terms').check();
    await figure2(page).locator('canvas[data-panel="15"]').waitFor();
    await figure1(page).locator('summary').click();
    expect(await overhang()).toBeLessThanOrEqual(0);
    await figure1(page).getByLabel('Your sentence in MiniLM (trained)').check();
    await figure1(page)
      .getByRole('textbox')
      .fill(`${'x'.repeat(300)} ${'word '.repeat(200)}`);
    await figure1(page).getByText('Only the first 128').waitFor();
    await figure2(page).getByText('Only the first 128').waitFor();
    expect(await overhang()).toBeLessThanOrEqual(0);
  });
}

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
    await figure1(page).getByText('Computing…').waitFor();
    await painted();
    releaseModule();
    await figure1(page).locator('.finding').waitFor();
    await painted();
    releaseModel();
    await figure2(page).locator('.finding').waitFor();
    await painted();
    const shifts = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts);
    expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBeLessThan(0.1);
  });
}

modelTest('a change of colour scheme redraws what is drawn', async () => {
  const { page } = await visit({ colorScheme: 'light' });
  await figure2(page).locator('.finding').waitFor();
  const pictures = () =>
    page.evaluate(() =>
      ['superpose-dot-products', 'superpose-decompose'].flatMap((name) =>
        [...(document.querySelector(name)?.shadowRoot?.querySelectorAll('canvas') ?? [])].map((canvas) =>
          canvas.toDataURL(),
        ),
      ),
    );
  const light = await pictures();
  await page.emulateMedia({ colorScheme: 'dark' });
  // The scatter, five terms, the score and its softmax.
  await expect
    .poll(async () => (await pictures()).filter((picture, at) => picture !== light[at]).length)
    .toBe(8);
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(pictures).toEqual(light);
});

test('figures keep their places when one is taken out and put back', async () => {
  const { page } = await visit();
  await figure1(page).locator('.finding').waitFor();
  await page.evaluate(() => {
    const figure = document.querySelector('superpose-dot-products') as HTMLElement;
    const place = figure.parentElement as HTMLElement;
    figure.remove();
    place.append(figure);
  });
  await figure1(page).getByLabel('Number of tokens').fill('7');
  await expect.poll(() => figure1(page).locator('.finding').textContent()).toContain('Over 21 pairs');
});
