// The page at the widths of phones and of walls, and in both colour schemes.
import { expect, test } from 'vitest';
import { figure1, figure2, visit } from './support/visit.ts';

for (const width of [320, 390, 768, 1440, 3840]) {
  test(`nothing is wider than a window of ${width} px`, async () => {
    const { page } = await visit({ viewport: { width, height: 900 } });
    await figure2(page).locator('.finding').waitFor();
    const overhang = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(await overhang()).toBeLessThanOrEqual(0);
    await figure2(page).getByLabel('All sixteen terms').check();
    await figure2(page).locator('canvas[data-panel="15"]').waitFor();
    expect(await overhang()).toBeLessThanOrEqual(0);
  });
}

test('what is read does not move while the figures load', async () => {
  const { page } = await visit({
    viewport: { width: 390, height: 844 },
    first: () => {
      const shifts: number[] = [];
      Object.assign(window, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
      }).observe({ type: 'layout-shift', buffered: true });
    },
  });
  await figure2(page).locator('.finding').waitFor();
  const shifts = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts);
  expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBeLessThan(0.1);
});

test('a change of colour scheme redraws what is drawn', async () => {
  const { page } = await visit({ colorScheme: 'light' });
  await figure2(page).locator('.finding').waitFor();
  const pictures = () =>
    page.evaluate(() =>
      ['superpose-dot-products', 'superpose-decompose'].map((name) =>
        document.querySelector(name)?.shadowRoot?.querySelector('canvas')?.toDataURL(),
      ),
    );
  const light = await pictures();
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect
    .poll(async () => (await pictures()).map((picture, at) => picture !== light[at]))
    .toEqual([true, true]);
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
