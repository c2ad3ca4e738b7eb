// Each link of the table of claims, clicked: the figure shows the state that it names, and says what is quoted.
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Verdict } from '../../web/build/verdicts.ts';
import { readFigure } from './support/shown.ts';
import { drawn, modelTest, visit } from './support/visit.ts';

const verdicts: Verdict[] = JSON.parse(
  readFileSync(new URL('../../web/page/verdicts.json', import.meta.url), 'utf8'),
);

/** Lists as links and verdicts.json write them. */
const asLinked = (state: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(state).map(([name, value]) => [name, Array.isArray(value) ? value.join('.') : value]),
  );

modelTest('every link opens the figure that shows its claim', async () => {
  const { page } = await visit();
  const links = page.locator('.verdicts tbody a');
  expect(await links.count()).toBe(verdicts.length);
  for (const [place, { claim, figure, settings, section, shows }] of verdicts.entries()) {
    await links.nth(place).click();
    if (!figure) {
      expect(new URL(page.url()).hash).toBe(`#${section}`);
      expect(await page.locator(`#${section}`).count()).toBe(1);
      continue;
    }
    await expect
      .poll(() => page.evaluate(readFigure, figure).then((shown) => shown && asLinked(shown.state)), {
        message: claim,
      })
      .toMatchObject(settings ?? {});
    const { finding, readout, picture, problems } = await drawn(page, figure);
    expect(problems).toEqual([]);
    const said = [finding, readout, picture].join(' ').replace(/\u202f/g, ' ');
    for (const quoted of shows) expect(said).toContain(quoted);
  }
});

modelTest('the bets come back at the end, judged by what is computed there', async () => {
  const { page } = await visit();
  const told = (name: string) => page.locator(`#bets-told [data-bet=${name}]`);
  await page.getByLabel('That depends on the weights').check();
  await page.getByLabel('Yes, a sum cannot be taken apart').check();
  await page.locator('#bets-form input[name=width]').fill('4');
  await page.locator('#your-bets').scrollIntoViewIfNeeded();
  await expect.poll(() => told('cross').textContent(), { timeout: 60_000 }).toContain('You were right');
  await expect.poll(() => told('lost').textContent(), { timeout: 60_000 }).toContain('Not quite');
  await expect.poll(() => told('width').textContent(), { timeout: 60_000 }).toMatch(/You were right.*64/);
  // They are kept for the tab.
  await page.reload();
  expect(await page.getByLabel('That depends on the weights').isChecked()).toBe(true);
});
