// Clicks links in the list of claims, one of each kind: the figure shows the named state, and says what the
// claim quotes. tests/tools/prose.test.ts computes what every claim quotes.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import type { Verdict } from '../../web/build/verdicts.ts';
import { figures } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { clickedAt, drawn, figureOf, folderWith, modelTest, settled, visit } from './support/visit.ts';

const verdicts: Verdict[] = JSON.parse(
  readFileSync(new URL('../../web/page/verdicts.json', import.meta.url), 'utf8'),
);

const kindOf = ({ figure }: Verdict) => {
  if (!figure) return 'published';
  const on = folderWith(figure) === '' ? 'the same page' : 'the other page';
  return `${figures[figure]?.live ? 'of a figure that trains' : 'of one that computes'}, on ${on}`;
};
/** The index in verdicts.json of the first claim of each kind. */
const sample = new Map([...verdicts.entries()].reverse().map(([place, verdict]) => [kindOf(verdict), place]));

/** Lists as links and verdicts.json write them. */
const asLinked = (state: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(state).map(([name, value]) => {
      if (typeof value === 'boolean') return [name, value ? 'yes' : 'no'];
      return [name, Array.isArray(value) ? value.join('.') : value];
    }),
  );

modelTest.each([...sample.entries()])(
  'a link opens the figure that shows its claim, with the claim above and the focus: %s',
  async (_, place) => {
    const { page } = await visit();
    const claims = page.locator('.verdict');
    await page.getByLabel(/^all \d+$/).check();
    expect(await claims.count()).toBe(verdicts.length);
    const { claim, tag, figure, settings, section, shows } = verdicts[place] as Verdict;
    const item = claims.nth(place);
    await item.locator('summary').click();
    await item.locator('a.see').click();
    const line = () => page.locator('.claimed').innerText();
    if (!figure) {
      await expect.poll(() => new URL(page.url()).hash).toBe(`#${section}`);
      // Published results are in a card, which is open now.
      const card = page.locator(`#${section}`);
      await expect.poll(() => card.evaluate((place) => place === document.activeElement)).toBe(true);
      expect(await card.locator('table').first().isVisible()).toBe(true);
      expect(await line()).toContain(tag);
      return;
    }
    await expect
      .poll(() => page.evaluate(readFigure, figure).then((shown) => shown && asLinked(shown.state)), {
        message: claim,
      })
      .toMatchObject(settings ?? {});
    const { finding, readout, picture, problems } = await drawn(page, figure);
    expect(problems).toEqual([]);
    const shown = [finding, readout, picture].join(' ').replace(/\u202f/g, ' ');
    // In pictures the indices of formulas are set as subscripts, without letters such as ₕ.
    for (const quoted of shows) expect(shown).toContain(quoted.replace('ₕ', 'h'));
    await expect.poll(line, { message: claim, timeout: 20_000 }).toContain(claim);
    expect(await line()).toContain(tag);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe(figure);
  },
);

modelTest('Back returns to the claim', async () => {
  const { page } = await visit();
  // This works even if the address names another figure, which stays as it is.
  await settled(page, 'language');
  const all = figureOf(page, 'language').locator('input[name=ways][value=all]');
  await all.check();
  await expect.poll(() => page.url()).toContain('ways=all');
  const item = page.locator('.verdict:not(.later)').first();
  await item.locator('summary').click();
  const see = item.locator('a.see');
  // In the window, not on the page: figures above come live meanwhile.
  const top = () => see.evaluate((link) => link.getBoundingClientRect().top);
  const place = await clickedAt(see);
  const line = page.locator('.claimed');
  await line.getByRole('button', { name: 'Back' }).click();
  await expect.poll(() => see.evaluate((link) => link === document.activeElement)).toBe(true);
  await expect.poll(async () => Math.abs((await top()) - place)).toBeLessThanOrEqual(1);
  expect(await line.count()).toBe(0);
  await page.locator('.contents a[href="#limits"]').click();
  await expect.poll(() => page.url()).toContain('#limits');
  expect(await all.isChecked()).toBe(true);
});

/** Each bet, a figure on its page, how a reader bets, and the answer. */
const bets: [name: string, of: string, bet: (page: Page) => Promise<void>, answer: RegExp][] = [
  [
    'lost',
    'oblique',
    (page) => page.getByLabel('Yes, a sum cannot be taken apart').check(),
    /^Nothing is lost, but it is harder to read\. You said: Yes/,
  ],
  [
    'width',
    'collisions',
    (page) => page.locator('.bet input[name=width]').fill('1'),
    /^d = 64\. You said: d = 8\./,
  ],
];
const answerOf = (page: Page, name: string) => page.locator(`[data-answer=${name}]`);
/** Opens the card that has a bet. */
const openBet = (page: Page) =>
  page.evaluate(() => document.querySelector('.bet')?.closest('details')?.setAttribute('open', ''));

modelTest.each(bets)(
  'the bet “%s” is answered right below it, the answer first, and not before',
  async (name, of, bet, expected) => {
    const { page } = await visit({ of });
    const finding = page.locator('.check:has(.bet) .card-finding');
    // A closed card says what its figure found, but not what the bet asks.
    if (of === 'collisions') expect(await finding.innerText()).toMatch(/^At width 8, \d+\s%[^;]*\.$/);
    await openBet(page);
    await page.locator('.bet').scrollIntoViewIfNeeded();
    expect(await answerOf(page, name).textContent()).toBe('');
    await bet(page);
    const answer = () => answerOf(page, name).textContent();
    await expect.poll(answer).toMatch(expected);
    if (of === 'collisions') {
      await page.locator('#check-collisions').evaluate((card: HTMLDetailsElement) => {
        card.open = false;
      });
      expect(await finding.innerText()).toMatch(/; at 64, /);
    }
    // The bet is kept for this tab.
    await page.reload();
    await openBet(page);
    await page.locator('.bet').scrollIntoViewIfNeeded();
    await expect.poll(answer).toMatch(expected);
  },
);

modelTest.each(bets)(
  'the bet “%s”, made before the page can take it, is answered as well, and replaces an older one',
  async (name, of, bet) => {
    const { page, site } = await visit({ of });
    await openBet(page);
    await bet(page);
    const answer = () => answerOf(page, name).textContent();
    await expect.poll(answer).toMatch(/You said: /);
    const release = site.hold(/bets-/);
    await page.reload();
    await openBet(page);
    if (name === 'lost') await page.getByLabel('Nothing is lost, but it is harder to read').check();
    else await page.locator('.bet input[name=width]').fill('4');
    expect(await answer()).toBe('');
    release();
    await expect.poll(answer).toMatch(/You were right\./);
    expect(await page.evaluate(() => JSON.parse(sessionStorage.getItem('superpose-bets') ?? '{}'))).toEqual({
      [name]: name === 'lost' ? 'price' : '64',
    });
  },
);
