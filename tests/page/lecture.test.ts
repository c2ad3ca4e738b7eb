// What a lecture needs from Present: beginning where the reader is, a list of all screens, questions with
// answers, a large code, a blank screen, settings that stay, and a handout on paper.
import type { Page } from 'playwright';
import { expect } from 'vitest';
import type { FigureElement } from '../../web/element/figureElement.ts';
import { modelTest, visit } from './support/visit.ts';

const dialog = (page: Page) => page.locator('dialog.present');
const fragment = (page: Page) => page.evaluate(() => decodeURIComponent(location.hash));
const inside = (page: Page, selector: string) => dialog(page).locator(selector);
/** The addresses of all screens, as the list has them. */
async function screensOf(page: Page): Promise<string[]> {
  await page.keyboard.press('o');
  const all = await inside(page, '.slides a').evaluateAll((links) =>
    links.map((link) => (link as HTMLAnchorElement).hash),
  );
  await page.keyboard.press('o');
  return all;
}
/** The state of the screen's figure, once its picture is fitted. */
async function shown(page: Page) {
  const fitted = () => {
    const figure = document.querySelector<FigureElement>('.present superpose-figure');
    return figure?.result !== undefined && !figure.busy && figure.style.visibility === '';
  };
  await expect.poll(() => page.evaluate(fitted), { timeout: 240_000 }).toBe(true);
  return page.evaluate(() => document.querySelector<FigureElement>('.present superpose-figure')?.state ?? {});
}

modelTest('it begins with what is in the window, and leaves the page there', async () => {
  const { page } = await visit();
  const verdicts = page.locator('.verdicts');
  await verdicts.scrollIntoViewIfNeeded();
  await verdicts.evaluate((element) => scrollBy(0, element.getBoundingClientRect().top - 100));
  const before = await page.evaluate(() => scrollY);
  const from = page.getByRole('link', { name: 'Present from here', includeHidden: false });
  await from.click();
  await dialog(page).waitFor();
  expect(await fragment(page)).toBe('#present/claim');
  await page.keyboard.press('Escape');
  await expect.poll(() => dialog(page).count()).toBe(0);
  expect(Math.abs((await page.evaluate(() => scrollY)) - before)).toBeLessThan(2);
  // From a step of the first stage, Present opens the screen of that step.
  const step = page.locator('.stage .step').nth(1);
  await step.getByRole('link').first().click();
  await expect.poll(() => step.locator('[aria-current]').count()).toBe(1);
  await from.click();
  await dialog(page).waitFor();
  expect(await inside(page, '.said h2').textContent()).toBe(await step.locator('h3').textContent());
});

modelTest('the list of all screens leads to each, by pointer and by key', async () => {
  const { page } = await visit({ fragment: '#present' });
  await shown(page);
  await inside(page, '.place').click();
  const links = inside(page, '.slides a');
  const all = await links.count();
  expect(await inside(page, '.place').textContent()).toBe(`1 of ${all}`);
  expect(
    new Set(await links.evaluateAll((each) => each.map((link) => (link as HTMLAnchorElement).hash))).size,
  ).toBe(all);
  expect(await links.first().getAttribute('aria-current')).toBe('true');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const third = await links.nth(2).getAttribute('href');
  await page.keyboard.press('Enter');
  expect(await fragment(page)).toBe(third);
  expect(await inside(page, '.slides').count()).toBe(0);
  // Escape closes the list, not the presentation.
  await page.keyboard.press('o');
  await page.keyboard.press('Escape');
  expect(await inside(page, '.slides').count()).toBe(0);
  await page.keyboard.press('o');
  await links.last().click();
  expect(await inside(page, '.place').textContent()).toBe(`${all} of ${all}`);
  await page.keyboard.press('PageUp');
  expect(await inside(page, '.place').textContent()).toBe(`${all - 1} of ${all}`);
});

modelTest('a bet and a claim are asked, and answered before one goes on; what was chosen stays', async () => {
  const { page } = await visit({ fragment: '#present/bet/lost' });
  const choices = inside(page, '.choices button');
  await expect.poll(() => choices.count()).toBe(3);
  await page.keyboard.press('PageDown');
  expect(await fragment(page)).toBe('#present/bet/lost');
  await expect.poll(() => inside(page, '.outcome').textContent()).toMatch(/noise can grow \d/);
  expect(await inside(page, '.outcome').textContent()).not.toContain('You said');
  await choices.first().click();
  await expect
    .poll(() => inside(page, '.outcome').textContent())
    .toContain('You said: Yes, a sum cannot be taken apart');
  await page.keyboard.press('PageDown');
  expect(await fragment(page)).not.toBe('#present/bet/lost');
  await page.keyboard.press('PageUp');
  expect(await choices.first().getAttribute('aria-pressed')).toBe('true');
  expect(await inside(page, '.outcome').textContent()).toContain('You said');
  await page.evaluate(() => {
    location.hash = '#present/claim';
  });
  const claim = page.locator('.verdict').first();
  await expect.poll(() => inside(page, '.said h2').textContent()).toContain('Adding loses');
  const tag = (await claim.getAttribute('data-tag')) as string;
  await inside(page, '.choices').getByRole('button', { name: tag, exact: true }).click();
  await expect.poll(() => inside(page, '.outcome').textContent()).toContain('You were right.');
  const verdict = await claim.locator('strong').textContent();
  expect(await inside(page, '.outcome').textContent()).toContain(verdict);
  // The figure that shows it is a screen away.
  await inside(page, '.said').getByRole('link', { name: 'See it' }).click();
  await shown(page);
});

modelTest('the code fills the screen, and b makes it black, until any key', async () => {
  const { page } = await visit({ fragment: '#present' });
  await shown(page);
  const small = await inside(page, '.bar .code svg').boundingBox();
  await inside(page, '.bar .code').click();
  const large = await inside(page, '.large svg').boundingBox();
  expect(large?.height).toBeGreaterThan(0.7 * 900);
  expect(large?.height).toBeGreaterThan(3 * (small?.height ?? Infinity));
  expect(await inside(page, '.large').textContent()).toContain(new URL(page.url()).origin);
  await page.keyboard.press('Escape');
  expect(await inside(page, '.large').count()).toBe(0);
  for (const key of ['b', '.']) {
    await page.keyboard.press(key);
    expect(await page.evaluate(() => document.elementFromPoint(700, 450)?.className)).toBe('cover blank');
    await page.keyboard.press('PageDown');
    expect(await inside(page, '.blank').count()).toBe(0);
    expect(await fragment(page)).toBe('#present');
  }
});

modelTest('a finger that swipes turns the screens, unless it sets something', async () => {
  const { page } = await visit({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    fragment: '#present',
  });
  await shown(page);
  const [, second] = await screensOf(page);
  const swipe = (selector: string, from: number, to: number) =>
    inside(page, selector)
      .first()
      .evaluate(
        (target, [from, to]) => {
          const touch = (clientX: number) =>
            new Touch({ identifier: 1, target, clientX: clientX as number, clientY: 300 });
          const options = { bubbles: true, composed: true };
          const begins = [touch(from as number)];
          target.dispatchEvent(
            new TouchEvent('touchstart', { ...options, touches: begins, changedTouches: begins }),
          );
          target.dispatchEvent(
            new TouchEvent('touchend', { ...options, changedTouches: [touch(to as number)] }),
          );
        },
        [from, to],
      );
  await swipe('.said', 300, 120);
  expect(await fragment(page)).toBe(second);
  await swipe('.said', 120, 300);
  expect(await fragment(page)).toBe('#present');
  await shown(page);
  await swipe('.said', 120, 140);
  await swipe('input', 300, 120);
  expect(await fragment(page)).toBe('#present');
});

modelTest('what was set on a screen stays when one comes back, and after a reload, until Reset', async () => {
  const { page } = await visit({ fragment: '#present' });
  const before = await shown(page);
  await inside(page, 'input[name=norm]').check();
  await expect.poll(() => fragment(page)).toMatch(/^#present\/start\/v=1&figure=/);
  const set = await shown(page);
  expect(set).not.toEqual(before);
  const place = await inside(page, '.place').textContent();
  await page.keyboard.press('PageDown');
  await page.keyboard.press('PageUp');
  expect(await shown(page)).toEqual(set);
  // Twice to the next screen and back, before any figure is set.
  await page.locator('dialog.present').evaluate((dialog) => {
    for (const key of ['PageDown', 'PageUp', 'PageDown', 'PageUp'])
      dialog.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, composed: true }));
  });
  expect(await shown(page)).toEqual(set);
  expect(await fragment(page)).toMatch(/^#present\/start\/v=1&figure=/);
  await page.reload();
  expect(await shown(page)).toEqual(set);
  expect(await inside(page, '.place').textContent()).toBe(place);
  await inside(page, '.bar').getByRole('button', { name: 'Reset' }).click();
  await expect.poll(() => shown(page)).toEqual(before);
  expect(await fragment(page)).toBe('#present');
});

modelTest(
  'the reader’s own sentence is presented, and so is the recorded one once it is taken back',
  async () => {
    const { page } = await visit({ fragment: '#present' });
    await shown(page);
    const at = await page.evaluate(() => {
      const step = [...document.querySelectorAll('.step')].find((each) =>
        each.innerHTML.includes('figure=sum'),
      );
      return [...document.querySelectorAll('.step')].indexOf(step as Element);
    });
    const title = await page.locator('.step').nth(at).locator('h3').textContent();
    await page.keyboard.press('o');
    await inside(page, '.slides')
      .getByText(title as string)
      .click();
    const { text } = await shown(page);
    const said = await page.locator('.step').nth(at).locator('p').textContent();
    expect(await inside(page, '#presented').textContent()).toContain(said);
    const field = inside(page, 'textarea[name=text]');
    await field.fill('The old dog sleeps.');
    await expect.poll(async () => (await shown(page)).text).toBe('The old dog sleeps.');
    // The screen now says something about this sentence, and typed letters are no keys of the presentation.
    await expect.poll(() => inside(page, '#presented').textContent()).not.toContain(said);
    await field.press('b');
    expect(await inside(page, '.blank').count()).toBe(0);
    // The field is read once the reader pauses.
    await expect
      .poll(() => page.evaluate(() => sessionStorage.getItem('superpose-texts')))
      .toContain('sleeps.b');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('PageUp');
    await expect.poll(async () => (await shown(page)).text).toBe('The old dog sleeps.b');
    await inside(page, 'button[aria-label^="Take it back"]').click();
    await expect.poll(async () => (await shown(page)).text).toBe(text);
    await expect.poll(() => inside(page, '#presented').textContent()).toContain(said);
  },
);

modelTest(
  'the handout is two to four sheets, legible, with the address, and without what hands do',
  async () => {
    const { page, site } = await visit({
      fragment: '#present',
      first: () => {
        window.print = () => document.body.setAttribute('data-printed', '');
      },
    });
    await shown(page);
    await page.keyboard.press('p');
    await page.locator('body[data-printed]').waitFor({ timeout: 240_000 });
    await page.emulateMedia({ media: 'print' });
    const sheet = page.locator('.handout');
    expect(await sheet.getByRole('link').first().getAttribute('href')).toBe(site.address);
    expect(await sheet.locator('svg[role=img]').isVisible()).toBe(true);
    expect(await sheet.locator('input, button, select, textarea, superpose-figure').count()).toBe(0);
    expect(await sheet.innerText()).not.toMatch(/\b(drag|pull|slider|press|click)/i);
    expect(await sheet.locator('img').count()).toBeGreaterThan(5);
    expect(await page.locator('main').isVisible()).toBe(false);
    const points = await sheet.evaluate((root) =>
      [...root.querySelectorAll('*')]
        .filter((element) => element.textContent?.trim() && !element.closest('svg'))
        .map((element) => (72 / 96) * Number.parseFloat(getComputedStyle(element).fontSize)),
    );
    expect(Math.min(...points)).toBeGreaterThanOrEqual(9);
    // The letters of pictures are at least 13 pixels high, and no picture is shown smaller than it was drawn.
    const shrunk = await sheet
      .locator('img')
      .evaluateAll((all) =>
        all.map((image) => image.getBoundingClientRect().width / (image as HTMLImageElement).naturalWidth),
      );
    expect(Math.min(...shrunk) * 13 * (72 / 96)).toBeGreaterThanOrEqual(9);
    const margin = '14mm';
    const pdf = await page.pdf({
      format: 'A4',
      margin: { top: margin, bottom: margin, left: margin, right: margin },
    });
    const sheets = pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;
    expect(sheets).toBeGreaterThanOrEqual(2);
    expect(sheets).toBeLessThanOrEqual(4);
  },
);
