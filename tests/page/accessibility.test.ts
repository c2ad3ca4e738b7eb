// What can be checked automatically about using the page without a mouse or without sight, and its markup.
import { join } from 'node:path';
import { HtmlValidate } from 'html-validate';
import type { Locator } from 'playwright';
import { expect, test } from 'vitest';
import { pageFolders } from '../../web/build/places.ts';
import { faultsOf } from './support/axe.ts';
import { figures, follow, names } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { dist } from './support/site.ts';
import {
  drawn,
  figureOf,
  modelTest,
  namesOn,
  openMenu,
  placeOf,
  settled,
  sharedVisits,
  surface,
  visit,
} from './support/visit.ts';

/** Each page of figures at 1440 × 900, shared by tests that change little in it. */
const reading = sharedVisits();

/** The figure that brings things up; the rest of the page is examined by opened.test.ts. */
const dots = 'superpose-figure[name=dot-products]';

modelTest('axe finds nothing in what choices bring up', async () => {
  const { page } = await visit({ of: 'dot-products', viewport: { width: 390, height: 900 } });
  await drawn(page, 'dot-products');
  const figure = figureOf(page, 'dot-products');
  await figure.getByLabel('Your sentence (MiniLM)').check();
  await figure.getByRole('textbox', { name: 'Your sentence' }).fill('word '.repeat(200));
  await figure.getByText('Only the first 128').waitFor();
  const copy = (await openMenu(figure)).getByRole('button', { name: 'Copy link' });
  await copy.focus();
  const before = await copy.boundingBox();
  await copy.press('Enter');
  await figure.getByText('This is the link').or(figure.getByText('Link copied')).waitFor();
  // If the button had moved, the pointer would be on another one.
  expect(await copy.boundingBox()).toEqual(before);
  expect(await faultsOf(page, {}, dots)).toEqual([]);
});

test('axe finds nothing in what failures bring up', async () => {
  const { page } = await visit({
    of: 'dot-products',
    colorScheme: 'dark',
    site: (site) => site.lose(/\.wasm$/),
  });
  await figureOf(page, 'dot-products').scrollIntoViewIfNeeded();
  await figureOf(page, 'dot-products').getByRole('alert').waitFor();
  expect(await faultsOf(page, {}, dots)).toEqual([]);
});

test('axe finds nothing in a link that cannot be followed', async () => {
  const { page } = await visit({ fragment: '#v=1&figure=dot-products&d=7&bogus=1' });
  await figureOf(page, 'dot-products').getByText('is not a value of Width d').waitFor();
  expect(await faultsOf(page, {}, dots)).toEqual([]);
});

test('a finding can be read until the next is there, light and dark', async () => {
  const { page } = await visit();
  await settled(page, 'add-or-concatenate');
  const finding = figureOf(page, 'add-or-concatenate').locator('#finding');
  await finding.evaluate(async (sentence) => {
    sentence.classList.add('old');
    await Promise.all(sentence.getAnimations().map(({ finished }) => finished));
  });
  const ofColours = { runOnly: ['color-contrast'] };
  const within = 'superpose-figure[name=add-or-concatenate]';
  expect(await faultsOf(page, ofColours, within)).toEqual([]);
  const ink = () => finding.evaluate((sentence) => getComputedStyle(sentence).color);
  const light = await ink();
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(ink).not.toBe(light);
  expect(await faultsOf(page, ofColours, within)).toEqual([]);
});

test.each(pageFolders)('the markup of /%s is valid', async (folder) => {
  const report = await new HtmlValidate({
    extends: ['html-validate:recommended'],
    // Vite has its own way of writing void elements and attributes.
    rules: { 'void-style': 'off', 'attr-quotes': 'off', 'require-sri': 'off', 'long-title': 'off' },
  }).validateFile(join(dist, folder, 'index.html'));
  expect(
    report.results.flatMap(({ messages }) => messages.map(({ message, line }) => `${line}: ${message}`)),
  ).toEqual([]);
});

/** The name of the focused element, in figures, too; empty when nothing in the page has the focus. */
function focused(): string {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  if (!element || element === document.body) return '';
  const name = element.getAttribute('name') ?? element.className;
  const host = (element.getRootNode() as ShadowRoot).host ?? element.closest('superpose-figure');
  const figure = host?.getAttribute('name') ?? '';
  const outlined = getComputedStyle(element).outlineStyle === 'solid' ? '' : 'without an outline';
  return [figure, name || element.localName, outlined, element.textContent?.trim().slice(0, 20)].join(' ');
}

modelTest(
  'Tab visits every input and every tool of a figure, in the order in which they are read',
  async () => {
    const { page } = await reading('mix');
    const { state } = await drawn(page, 'dot-products');
    const figure = figureOf(page, 'dot-products');
    await openMenu(figure);
    await figure.locator('[name=tokens]').first().focus();
    const path: string[] = [];
    for (let tabs = 0; tabs < 30; tabs++) {
      const here = await page.evaluate(focused);
      if (!here.startsWith('dot-products')) break;
      path.push(here.replace('dot-products ', '').split(' ')[0] as string);
      expect(here).not.toContain('without an outline');
      await page.keyboard.press('Tab');
    }
    expect(state.tokens).toBe('seeded');
    expect(path).toEqual([
      ...['tokens', 'positions', 'scale'],
      // More settings, which include the seed with Again.
      ...['summary', 'd', 'recipes', 'n', 'seed', 'button'],
      'surface',
      // The menu: the table, four files, Copy link, Embed.
      'summary',
      ...Array(6).fill('button'),
      'embed',
    ]);
  },
);

modelTest('a pointer chooses a cell, a click holds it and another lets it go', async () => {
  const { page } = await reading('mix');
  await drawn(page, 'one-score');
  const map = surface(figureOf(page, 'one-score'));
  const cursor = async () => (await page.evaluate(readFigure, 'one-score'))?.cursor;
  // Inside the map of the score: a click on a term’s map switches the term off.
  const [first, second] = [
    { i: 2, j: 3 },
    { i: 4, j: 5 },
  ];
  const position = await placeOf(figureOf(page, 'one-score'), first);
  const elsewhere = { position: await placeOf(figureOf(page, 'one-score'), second) };
  await map.hover({ position });
  expect(await cursor()).toEqual(first);
  await map.click({ position });
  await map.hover(elsewhere);
  expect(await cursor()).toEqual(first);
  await map.click({ position });
  await map.hover(elsewhere);
  expect(await cursor()).toEqual(second);
});

modelTest('a tap chooses a cell, and everything that shows it follows', async () => {
  const { page } = await visit({ of: 'one-score', hasTouch: true, viewport: { width: 390, height: 844 } });
  await drawn(page, 'one-score');
  const cell = await placeOf(figureOf(page, 'one-score'), { i: 2, j: 3 }, 'token-token');
  await surface(figureOf(page, 'one-score')).tap({ position: cell });
  const { cursor, readout, tokens } = (await page.evaluate(readFigure, 'one-score')) ?? {};
  expect(cursor).toEqual({ i: 2, j: 3 });
  expect(readout).toContain(`Query ${tokens?.[cursor?.i as number]} (${cursor?.i}), key`);
  // The tap reads the term's map, and leaves the term on.
  expect((await page.evaluate(readFigure, 'one-score'))?.state.on).toHaveLength(5);
  const readoutLine = figureOf(page, 'one-score').locator('.readout');
  await page.locator('#ask .stage').evaluate((stage) => stage.removeAttribute('data-expanded'));
  const { display, position } = await readoutLine.evaluate((element) => {
    const { display, position } = getComputedStyle(element);
    return { display, position };
  });
  expect([display, position]).toEqual(['block', 'absolute']);
});

modelTest('a pair of tokens is the same in every figure that shows them', async () => {
  const { page } = await visit({ of: 'dot-products' });
  await drawn(page, 'dot-products');
  await figureOf(page, 'dot-products').getByLabel('Your sentence (MiniLM)').check();
  await drawn(page, 'dot-products');
  await drawn(page, 'one-score');
  await surface(figureOf(page, 'one-score')).focus();
  for (const key of ['Home', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
  const { cursor } = (await page.evaluate(readFigure, 'one-score')) ?? {};
  expect((await page.evaluate(readFigure, 'dot-products'))?.cursor).toEqual(cursor);
});

modelTest('the name of a term lights it up in the figures, and a figure lights up its name', async () => {
  const { page } = await reading('mix');
  await drawn(page, 'one-score');
  const lit = () =>
    page.evaluate(() => [
      document.body.dataset.lit,
      document
        .querySelector('superpose-figure[name=one-score]')
        ?.shadowRoot?.querySelector<HTMLElement>('.root')?.dataset.lit,
    ]);
  await page.locator('#mix-title').hover();
  expect(await lit()).toEqual([undefined, undefined]);
  const name = page.locator('#ask li > span[data-term=position-token]').first();
  await name.scrollIntoViewIfNeeded();
  await name.hover();
  await expect.poll(lit).toEqual(['position-token', 'position-token']);
  const position = await placeOf(figureOf(page, 'one-score'), { i: 0, j: 0 }, 'token-token');
  await surface(figureOf(page, 'one-score')).hover({ position });
  await expect.poll(lit).toEqual(['token-token', 'token-token']);
});

modelTest('a pointer is not talked to; keys and a held cell are, and a slider once it rests', async () => {
  const { page } = await visit({ of: 'one-score' });
  await drawn(page, 'one-score');
  const figure = figureOf(page, 'one-score');
  const map = surface(figure);
  const live = figure.locator('[aria-live]');
  const position = await placeOf(figure, { i: 4, j: 5 });
  await map.hover({ position: await placeOf(figure, { i: 2, j: 3 }) });
  await map.hover({ position });
  expect(await live.count()).toBe(1);
  expect(await live.innerText()).toBe('');
  await map.click({ position });
  const spoken = await live.innerText();
  expect(spoken).toMatch(/Query .* token → token .* position → position/);
  await map.press('ArrowRight');
  await expect.poll(() => live.innerText()).not.toBe(spoken);
  await figure.getByRole('slider', { name: 'Head' }).press('ArrowRight');
  const { finding } = await drawn(page, 'one-score');
  await expect.poll(async () => (await live.innerText()).replace(/\s+/g, ' ')).toBe(finding);
});

modelTest(
  'who follows a step’s link hears what its picture finds, once; of claims, how many are left',
  async () => {
    const { page } = await visit();
    await drawn(page, 'oblique');
    const heard = figureOf(page, 'oblique').locator('[aria-live]');
    expect(await heard.innerText()).toBe('');
    await heard.evaluate((live) => {
      const spoken: string[] = [];
      Object.assign(window, { spoken });
      new MutationObserver(() => spoken.push(live.textContent ?? '')).observe(live, {
        characterData: true,
        childList: true,
        subtree: true,
      });
    });
    await page.locator('#separate .step h3 a').nth(1).click();
    const { finding } = await settled(page, 'oblique');
    const spoken = () => page.evaluate(() => (window as never as { spoken: string[] }).spoken);
    await expect.poll(spoken).toHaveLength(1);
    expect((await spoken())[0]?.replace(/\s+/g, ' ')).toContain(finding);
    await page.getByLabel('Verdict').selectOption('False');
    const claims = page.locator('.verdict');
    const left = await claims.filter({ visible: true }).count();
    expect(left).toBeLessThan(await claims.count());
    const status = page.locator('.kinds').getByRole('status');
    expect(await status.innerText()).toBe(`${left} of ${await claims.count()} claims are shown.`);
  },
);

test('a number that only its colour names is named to those who do not see it', async () => {
  const { page } = await reading('mix');
  await drawn(page, 'dot-products');
  const readout = figureOf(page, 'dot-products').locator('.readout');
  for (const name of ['token → position', 'position → token'])
    expect(await readout.getByRole('img', { name }).count()).toBe(1);
  await surface(figureOf(page, 'dot-products')).press('ArrowRight');
  await expect
    .poll(() => figureOf(page, 'dot-products').locator('[aria-live]').innerText())
    .toMatch(/token → position [+−].* position → token [+−]/);
});

modelTest('no sign is left for a voice to spell', async () => {
  const { page } = await visit();
  await settled(page, 'schemes-tasks');
  // A picture in a state of its own, not a step’s, says its finding itself.
  await follow(page, 'add-or-concatenate', { form: 'concat-quarter' });
  const heard = await page.locator('body').ariaSnapshot();
  expect(heard).toContain('Adding loses no information');
  expect(heard).toContain('At the same width, both learn it.');
  expect(heard).not.toMatch(/[✓✗]/);
});

modelTest('five tabs reach the first figure, and the first offers to go there at once', async () => {
  const { page } = await visit();
  await settled(page, 'add-or-concatenate');
  await page.evaluate(() => scrollTo(0, 0));
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to the first figure' });
  expect(await skip.evaluate((link) => link === document.activeElement)).toBe(true);
  let tabs = 1;
  for (let here = await page.evaluate(focused); !here.startsWith('one-layer') && tabs < 20; tabs++) {
    expect(here).not.toContain('without an outline');
    await page.keyboard.press('Tab');
    here = await page.evaluate(focused);
  }
  expect(tabs).toBeLessThanOrEqual(5);
  await skip.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(focused)).toMatch(/^one-layer surface/);
});

test.each([
  ['one-layer', 900],
  ['schemes-tasks', 900],
  ['schemes-tasks', 600],
])(
  'the menu of %s is in a window of %s px, over everything, with the pointer elsewhere',
  async (name, height) => {
    const { page } = await reading('verdicts');
    await page.setViewportSize({ width: 1440, height });
    await drawn(page, name);
    await page.locator('#language-title').hover();
    // The menu's button is the last part of the figure in the window.
    await figureOf(page, name)
      .locator('.menu')
      .evaluate((element) => element.scrollIntoView({ block: 'end' }));
    const menu = await openMenu(figureOf(page, name));
    const covered = await menu.getByRole('button').evaluateAll((buttons) =>
      buttons.map((button) => {
        const { left, right, top, bottom } = button.getBoundingClientRect();
        const host = (button.getRootNode() as ShadowRoot).host;
        return document.elementFromPoint((left + right) / 2, (top + bottom) / 2) !== host;
      }),
    );
    expect(covered.length).toBeGreaterThan(2);
    expect(covered).not.toContain(true);
    await figureOf(page, name).locator('.menu > summary').press('Enter');
    await page.setViewportSize({ width: 1440, height: 900 });
  },
);

test('every figure has a heading, in a closed card too, and headings skip no level', async () => {
  for (const name of names) {
    const { page } = await reading(name);
    const { title } = figures[name] as (typeof figures)[string];
    // A beat shows only one of its figures at a time, as the steps pass.
    await page.evaluate((figureName) => {
      const figure = document.querySelector(`superpose-figure[name="${figureName}"]`);
      for (const shot of figure?.closest('.stays')?.querySelectorAll<HTMLElement>('.shot') ?? [])
        shot.hidden = !shot.contains(figure);
    }, name);
    expect(await page.getByRole('heading', { name: title, exact: true }).count(), title).toBe(1);
  }
});

test('the bets are named', async () => {
  const { page } = await visit({ fragment: '#check-collisions' });
  const width = page.locator('.bet').getByRole('slider', { name: 'Width d' });
  await width.press('ArrowRight');
  await expect.poll(() => width.getAttribute('aria-valuetext')).toBe('64');
});

modelTest.each([
  ['verdicts', 'sum'],
  ['evidence', 'one-score'],
])(
  'on paper every figure of the page of %s has its picture and its finding, whether it was reached or not',
  async (section, live) => {
    const { page } = await visit({ of: section });
    await drawn(page, live);
    await page.emulateMedia({ media: 'print' });
    const widthOf = (part: Locator) => part.evaluate((element) => element.getBoundingClientRect().width);
    const pageWidth = await widthOf(page.locator(`#${section}`));
    for (const name of namesOn(section)) {
      const figure = figureOf(page, name);
      // Cards stand below one another.
      expect(await widthOf(figure), name).toBeGreaterThan(0.9 * pageWidth);
      const seen = (parts: string) => figure.locator(parts).filter({ visible: true });
      expect(await seen('img, .surface').count(), name).toBe(1);
      expect(await seen('.finding').innerText(), name).toMatch(/\d/);
      expect(await seen('.controls, .menu').count(), name).toBe(0);
    }
    // A live picture keeps its shape, because its labels are placed over its colours.
    const shape = await surface(figureOf(page, live)).evaluate((element) => {
      element.style.width = '300px';
      const { width, height } = element.getBoundingClientRect();
      const [, , across = 0, down = 0] = (element.querySelector('.marks')?.getAttribute('viewBox') ?? '')
        .split(' ')
        .map(Number);
      return [height / width, down / across];
    });
    expect(shape[0]).toBeCloseTo(shape[1] as number, 2);
  },
);

test('the name of a term stands on one line, with one line under it, at any width', async () => {
  const { page } = await visit({ of: 'one-score' });
  for (const width of [390, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    const broken = await page
      .locator('span[data-term]')
      .evaluateAll((names) =>
        names
          .filter(
            (name) =>
              name.getClientRects().length > 1 || getComputedStyle(name).textDecorationSkipInk !== 'none',
          )
          .map((name) => name.textContent),
      );
    expect(broken, `${width}`).toEqual([]);
  }
  expect(await page.locator('span[data-term]').count()).toBeGreaterThan(10);
});
