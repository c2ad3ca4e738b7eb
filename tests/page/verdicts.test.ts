// Clicks links of the table of claims, one of each kind: the figure shows the named state, and says what is
// quoted. tests/tools/prose.test.ts computes what every claim quotes.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import type { Verdict } from '../../web/build/verdicts.ts';
import { figures } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { drawn, figureOf, modelTest, visit } from './support/visit.ts';

const verdicts: Verdict[] = JSON.parse(
  readFileSync(new URL('../../web/page/verdicts.json', import.meta.url), 'utf8'),
);

const kindOf = ({ figure }: Verdict) =>
  !figure ? 'published' : figures[figure]?.live ? 'of a figure that trains' : 'of one that computes';
/** The first of each kind, by its place in the table. */
const sample = new Map([...verdicts.entries()].reverse().map(([place, verdict]) => [kindOf(verdict), place]));

/** Lists as links and verdicts.json write them. */
const asLinked = (state: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(state).map(([name, value]) => {
      if (typeof value === 'boolean') return [name, value ? 'yes' : 'no'];
      return [name, Array.isArray(value) ? value.join('.') : value];
    }),
  );

modelTest('a link opens the figure that shows its claim, with the claim above and the focus', async () => {
  const { page } = await visit();
  const claims = page.locator('.verdict');
  await page.getByLabel(/^all \d+$/).check();
  expect(await claims.count()).toBe(verdicts.length);
  for (const place of sample.values()) {
    const { claim, tag, figure, settings, section, shows } = verdicts[place] as Verdict;
    const item = claims.nth(place);
    await item.locator('summary').click();
    await item.locator('a.see').click();
    if (!figure) {
      await expect.poll(() => new URL(page.url()).hash).toBe(`#${section}`);
      // Published results are in a card, which is open now.
      const card = page.locator(`#${section}`);
      await expect.poll(() => card.evaluate((place) => place === document.activeElement)).toBe(true);
      expect(await card.locator('table').first().isVisible()).toBe(true);
      expect(await page.locator('.claimed').innerText()).toContain(tag);
      continue;
    }
    await expect
      .poll(() => page.evaluate(readFigure, figure).then((shown) => shown && asLinked(shown.state)), {
        message: claim,
      })
      .toMatchObject(settings ?? {});
    const { finding, readout, picture, problems } = await drawn(page, figure);
    expect(problems).toEqual([]);
    const shown = [finding, readout, picture].join(' ').replace(/\u202f/g, ' ');
    // In pictures the indices of formulas are set, not letters of their own.
    for (const quoted of shows) expect(shown).toContain(quoted.replace('ₕ', 'h'));
    const line = () => page.locator('.claimed').innerText();
    await expect.poll(line, { message: claim, timeout: 20_000 }).toContain(claim);
    expect(await line()).toContain(tag);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe(figure);
  }
});

modelTest('Back returns to the claim', async () => {
  const { page } = await visit();
  // Also if the address there names another figure, which stays as it is.
  const all = figureOf(page, 'language').locator('input[name=ways][value=all]');
  await all.check();
  await expect.poll(() => page.url()).toContain('ways=all');
  const item = page.locator('.verdict:not(.later)').first();
  await item.locator('summary').click();
  const see = item.locator('a.see');
  await see.scrollIntoViewIfNeeded();
  const place = await page.evaluate(() => scrollY);
  await see.click();
  const line = page.locator('.claimed');
  await line.getByRole('button', { name: 'Back' }).click();
  await expect.poll(() => see.evaluate((link) => link === document.activeElement)).toBe(true);
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(place);
  expect(await line.count()).toBe(0);
  await page.locator('.contents a[href="#limits"]').click();
  await expect.poll(() => page.url()).toContain('#limits');
  expect(await all.isChecked()).toBe(true);
});

/** Opens the cards that bets stand in. */
const openBets = (page: Page) =>
  page.evaluate(() => {
    for (const bet of document.querySelectorAll('.bet')) bet.closest('details')?.setAttribute('open', '');
  });

modelTest('a bet is answered right below it, the answer first, and not before', async () => {
  const { page } = await visit();
  expect(await page.locator('.bet ~ h2, h2:has(~ .bet)').allInnerTexts()).toEqual([
    'Separate: can a sum be taken apart?',
  ]);
  expect(await page.locator('#check-collisions .card-finding').isVisible()).toBe(false);
  await openBets(page);
  const answer = (name: string) => page.locator(`[data-answer=${name}]`);
  expect(await answer('lost').textContent()).toBe('');
  await page.getByLabel('Yes, a sum cannot be taken apart').check();
  await page.locator('.bet input[name=width]').fill('4');
  const expectAnswer = (name: string) => expect.poll(() => answer(name).textContent());
  await expectAnswer('lost').toMatch(/^Nothing is lost, but it is harder to read\. You said: Yes/);
  await expectAnswer('width').toMatch(/^d = \d+\. /);
  await page.locator('#check-collisions').evaluate((card: HTMLDetailsElement) => {
    card.open = false;
  });
  expect(await page.locator('#check-collisions .card-finding').isVisible()).toBe(true);
  // They are kept for this tab.
  await page.reload();
  await openBets(page);
  const choice = page.getByLabel('Yes, a sum cannot be taken apart');
  await choice.scrollIntoViewIfNeeded();
  await expect.poll(() => choice.isChecked()).toBe(true);
});

modelTest(
  'a bet made before the page can take it is answered as well, and replaces an older one',
  async () => {
    const { page, site } = await visit();
    await openBets(page);
    await page.getByLabel('Yes, a sum cannot be taken apart').check();
    const answer = (name: string) => page.locator(`[data-answer=${name}]`);
    await expect.poll(() => answer('lost').textContent()).toMatch(/You said: Yes/);
    const release = site.hold(/bets-/);
    await page.reload();
    await openBets(page);
    await page.getByLabel('Nothing is lost, but it is harder to read').check();
    await page.locator('.bet input[name=width]').fill('4');
    expect(await answer('lost').textContent()).toBe('');
    release();
    const expectAnswer = (name: string) => expect.poll(() => answer(name).textContent());
    await expectAnswer('lost').toMatch(/You were right\./);
    await expectAnswer('width').toMatch(/^d = \d+\. /);
    expect(await page.evaluate(() => JSON.parse(sessionStorage.getItem('superpose-bets') ?? '{}'))).toEqual({
      lost: 'price',
      width: '64',
    });
  },
);
