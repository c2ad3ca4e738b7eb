// The reference, api/, as a reader uses it: its markup, its filter, and what is left without scripts.
import { join } from 'node:path';
import { HtmlValidate } from 'html-validate';
import { expect, test } from 'vitest';
import { faultsOf } from './support/axe.ts';
import { dist } from './support/site.ts';
import { type VisitOptions, visit } from './support/visit.ts';

const open = async (options: VisitOptions = {}) => {
  const { page } = await visit({ folder: 'api/', ...options });
  return page;
};

test('the markup is valid', async () => {
  const report = await new HtmlValidate({
    extends: ['html-validate:recommended'],
    // Anchors of methods have a dot: OpenedModel.forward.
    rules: {
      'void-style': 'off',
      'require-sri': 'off',
      'long-title': 'off',
      'valid-id': ['error', { relaxed: true }],
    },
  }).validateFile(join(dist, 'api/index.html'));
  const messages = report.results.flatMap((result) => result.messages);
  expect(messages.map(({ message, line }) => `${line}: ${message}`)).toEqual([]);
});

test.each([
  [390, 'dark'],
  [1440, 'light'],
] as const)(
  '%i pixels wide and %s: axe finds nothing, and nothing is wider than the window',
  async (width, colorScheme) => {
    const page = await open({ viewport: { width, height: 900 }, colorScheme });
    expect(await faultsOf(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  },
);

test('the filter leaves what has every word, in the overview and in full, and a link to the rest removes it', async () => {
  const page = await open();
  const filter = page.getByRole('searchbox', { name: 'Filter' });
  const row = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true });
  const shown = () => page.locator('.entry:visible').count();
  const all = await shown();
  await filter.fill('ATTENTION layer softmax');
  expect(await row('forwardPass.attention()').isVisible()).toBe(true);
  expect(await row('sinusoidal()').isVisible()).toBe(false);
  expect(await row('load()').isVisible()).toBe(false);
  const left = await shown();
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(all / 5);
  expect(await page.locator('#filtered').textContent()).toBe(`${left} of ${all}`);
  await filter.fill('qqq');
  expect(await shown()).toBe(0);
  expect(await page.locator('.group:visible, .details:visible').count()).toBe(0);
  await page.evaluate(() => location.assign('#sinusoidal'));
  await page.locator('#sinusoidal').waitFor({ state: 'visible' });
  expect(await filter.inputValue()).toBe('');
  expect(await shown()).toBe(all);
});

test('without scripts everything is there except the filter', async () => {
  const page = await open({ javaScriptEnabled: false });
  expect(await page.getByRole('searchbox').count()).toBe(0);
  expect(await page.getByRole('heading', { name: 'trainer()', exact: true }).isVisible()).toBe(true);
});
