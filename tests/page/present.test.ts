// Present mode: one step a screen, by keys, at its own address, with nothing to scroll and a code to the
// same state.
import type { Page } from 'playwright';
import decodeQR from 'qr/decode.js';
import { expect } from 'vitest';
import type { FigureElement } from '../../web/element/figureElement.ts';
import type { Scene } from '../../web/plot/scene.ts';
import { readFigure } from './support/shown.ts';
import { drawn, modelTest, placeOf, visit } from './support/visit.ts';

const patience = { timeout: 20_000 };
/** How many screens there are. */
const screens = async (page: Page) =>
  Number(/\d+$/.exec((await dialog(page).locator('css:light=.bar .place').textContent()) ?? '')?.[0]);
const dialog = (page: Page) => page.locator('dialog.present');
const spoken = (page: Page) => dialog(page).locator('css:light=.said[aria-live=polite]');
// Read from the page, because Playwright may hear of a new address later than of the key that led there.
const fragment = (page: Page) => page.evaluate(() => decodeURIComponent(location.hash));

/** What the screen shows once its picture is fitted: in pixels of the window. */
async function shown(page: Page) {
  const fitted = () => {
    const figure = document.querySelector<FigureElement>('.present superpose-figure');
    if (figure?.result && !figure.busy && figure.style.visibility === '') return 'fitted';
    return `${location.hash}, ${figure?.getAttribute('name')}, busy: ${figure?.busy}, ${figure?.shadowRoot?.textContent}`;
  };
  // The figures of “learn” train here, which takes long on a busy machine.
  await expect.poll(() => page.evaluate(fitted), { timeout: 240_000 }).toBe('fitted');
  return page.evaluate(() => {
    const figure = document.querySelector('.present superpose-figure') as FigureElement;
    const screen = document.querySelector('.present') as HTMLElement;
    const boxOf = (element: Element | null | undefined) =>
      (element as Element).getBoundingClientRect().toJSON() as DOMRect;
    const labels = [...(figure.shadowRoot?.querySelectorAll('.surface .marks text') ?? [])].map((text) =>
      Number.parseFloat(getComputedStyle(text).fontSize),
    );
    return {
      figure: figure.getAttribute('name'),
      state: figure.state,
      picture: boxOf(figure.shadowRoot?.querySelector('.surface')),
      buttons: boxOf(figure.shadowRoot?.querySelector('.controls')),
      text: boxOf(screen.querySelector('.said > :last-child')),
      spoken: screen.querySelector('.said')?.textContent,
      code: boxOf(screen.querySelector('.bar svg[role]')),
      bar: boxOf(screen.querySelector('.bar')),
      label: Math.min(...labels) * figure.surroundings.scale,
      scrolls: Math.max(
        screen.scrollHeight - screen.clientHeight,
        getComputedStyle(document.documentElement).overflow === 'hidden' ? 0 : 1,
      ),
    };
  });
}

/** The code as a camera would see it. */
async function scanned(page: Page): Promise<string> {
  const { size, dark } = await dialog(page)
    .getByRole('img', { name: 'QR code' })
    .evaluate((svg: SVGSVGElement) => {
      const [from = 0, , size = 0] = (svg.getAttribute('viewBox') ?? '').split(' ').map(Number);
      const code = svg.querySelector('path:not(.ground)') as SVGPathElement;
      const places = Array.from({ length: size }, (_, place) => from + place + 0.5);
      const dark = places.flatMap((y) => places.map((x) => code.isPointInFill(new DOMPoint(x, y))));
      return { size, dark };
    });
  const each = 4;
  const data = new Uint8ClampedArray((size * each) ** 2 * 4).fill(255);
  for (let y = 0; y < size * each; y++) {
    for (let x = 0; x < size * each; x++) {
      if (dark[Math.floor(y / each) * size + Math.floor(x / each)])
        data.fill(0, (y * size * each + x) * 4, (y * size * each + x) * 4 + 3);
    }
  }
  return decodeQR({ width: size * each, height: size * each, data });
}

modelTest('keys go from screen to screen, each at its own address and said', async () => {
  const { page, site } = await visit();
  expect(site.requests.filter((path) => /present-/.test(path))).toEqual([]);
  await page.getByRole('link', { name: 'Present' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => spoken(page).innerText(), patience).toContain('Why are positions added');
  expect(await fragment(page)).toBe('#present');
  const count = await screens(page);
  expect(await spoken(page).textContent()).toContain(`1 of ${count}.`);
  const heard = page.getByRole('dialog', { name: 'Presentation', description: /^1 of / });
  expect(await heard.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press('ArrowRight');
  expect(await fragment(page)).toBe('#present/answer');
  for (const sentence of await page.locator('#answer .parts p').allTextContents())
    expect(await spoken(page).textContent()).toContain(sentence);
  await page.keyboard.press('Space');
  expect(await fragment(page)).toBe('#present/sum');
  // Another step, a bet, its answer, and the two screens that settle the bet.
  for (let times = 0; times < 5; times++) await page.keyboard.press('ArrowRight');
  expect(await fragment(page)).toBe('#present/separate/2');
  const step = page.locator('#separate .step').nth(1);
  expect(await spoken(page).textContent()).toContain(await step.locator('p').textContent());
  await expect.poll(async () => (await shown(page)).state.subspaces, patience).toBe('channels');
  await page.keyboard.press('End');
  expect(await spoken(page).textContent()).toContain(`${count} of ${count}.`);
  await page.keyboard.press('ArrowUp');
  expect(await spoken(page).textContent()).toContain(`${count - 1} of ${count}.`);
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowLeft');
  expect(await fragment(page)).toBe('#present');
});

modelTest('a screen is said once, also where its sentence comes with its picture', async () => {
  const { page } = await visit({ fragment: '#present' });
  await shown(page);
  await dialog(page)
    .locator('css:light=.said')
    .evaluate((element) => {
      const heard: string[] = [];
      Object.assign(window, { heard });
      new MutationObserver(() => {
        if (element.ariaLive === 'polite' && element.textContent !== heard.at(-1))
          heard.push(element.textContent ?? '');
      }).observe(element, { attributes: true, characterData: true, childList: true, subtree: true });
    });
  // The next screen is a question, which is spoken again with its answer.
  for (let place = 1; place < 4; place++) {
    await page.keyboard.press('ArrowRight');
    if ((await fragment(page)) !== '#present/answer') await shown(page);
  }
  const heard = await page.evaluate(() => (window as never as { heard: string[] }).heard);
  expect(heard.map((text) => /\d+ of \d+/.exec(text)?.[0])).toEqual(
    [2, 3, 4].map((place) => expect.stringMatching(`^${place} of`)),
  );
});

modelTest(
  'addresses that are badly encoded, or too long for a code, open it; its styles are there once',
  async () => {
    for (const hash of ['#present/%F0', `#present/v=1&figure=one-score&text=${'word '.repeat(900)}`]) {
      const { page } = await visit({ fragment: hash });
      await expect.poll(() => spoken(page).locator('h2').textContent(), patience).not.toBe('');
      const sheets = () => page.evaluate(() => document.adoptedStyleSheets.length);
      const before = await sheets();
      await page.keyboard.press('Escape');
      // The address is written last.
      await expect.poll(() => page.url(), patience).not.toContain('#present');
      await page.evaluate(() => {
        location.hash = '#present';
      });
      await dialog(page).waitFor();
      expect(await sheets()).toBe(before);
    }
  },
);

modelTest('Escape leaves it where it was, and so does going back', async () => {
  const { page } = await visit({ fragment: '#present/separate/2' });
  await shown(page);
  await page.keyboard.press('Escape');
  await expect.poll(() => dialog(page).count()).toBe(0);
  const step = page.locator('#separate .step').nth(1);
  await expect.poll(() => step.locator('[aria-current]').count()).toBe(1);
  expect(page.url()).toContain('#v=1&figure=oblique');
  const box = await page.locator('#separate .stays').first().boundingBox();
  expect(Math.abs(box?.y ?? Number.NaN)).toBeLessThan(450);
  const from = await page.evaluate(() => scrollY);
  for (const leave of [() => page.keyboard.press('Escape'), () => page.goBack()]) {
    await page.evaluate(() => {
      location.hash = '#present';
    });
    await dialog(page).waitFor();
    await leave();
    await expect.poll(() => dialog(page).count()).toBe(0);
    expect(await page.evaluate(() => scrollY)).toBe(from);
  }
  // And once more, as if it were the first time.
  await page.evaluate(() => {
    location.hash = '#present/sum';
  });
  expect((await shown(page)).figure).toBe('sum');
});

/** Sentences without a figure stand where a picture would, and their letters are as large. */
async function expectSentencesToFit(page: Page) {
  const fits = await spoken(page).evaluate((text) => {
    const { left, top, right, bottom } = text.getBoundingClientRect();
    const code = document.querySelector('.present .bar')?.getBoundingClientRect();
    const letters = Number.parseFloat(getComputedStyle(text).fontSize);
    return {
      inside: left >= 0 && top >= 0 && bottom <= innerHeight,
      besideCode: right <= (code?.left ?? 0),
      letters: letters / innerWidth,
    };
  });
  expect(fits).toMatchObject({ inside: true, besideCode: true });
  expect(fits.letters).toBeGreaterThanOrEqual(28 / 1440);
}

modelTest.each([
  [1280, 720],
  [1440, 900],
])('every screen fits its window, and nothing lies over anything: %i × %i', async (width, height) => {
  const { page } = await visit({ viewport: { width, height }, fragment: '#present' });
  const count = await screens(page);
  const texts = new Set<unknown>();
  for (let place = 0; place < count; place++) {
    const isQuestion = (await dialog(page).locator('css:light=.choices').count()) > 0;
    if (isQuestion || (await fragment(page)) === '#present/answer') {
      // A question comes with its answer.
      if (isQuestion) {
        await page.keyboard.press('ArrowRight');
        await expect
          .poll(() => dialog(page).locator('css:light=.outcome').textContent(), patience)
          .not.toContain('Computing');
      }
      await expectSentencesToFit(page);
      texts.add(await fragment(page));
      await page.keyboard.press('ArrowRight');
      continue;
    }
    const { figure, picture, buttons, text, bar, code, label, scrolls, ...screen } = await shown(page);
    const at = `${await fragment(page)}, ${figure}`;
    expect(scrolls, at).toBe(0);
    expect(Math.min(picture.left, picture.top), at).toBeGreaterThanOrEqual(0);
    expect(picture.bottom, at).toBeLessThanOrEqual(height);
    expect(picture.right, at).toBeLessThanOrEqual(text.left);
    expect(text.right, at).toBeLessThanOrEqual(width);
    expect(buttons.top, at).toBeGreaterThanOrEqual(text.bottom);
    expect(buttons.bottom, at).toBeLessThanOrEqual(bar.top);
    expect(bar.bottom, at).toBeLessThanOrEqual(height);
    expect(label, at).toBeGreaterThanOrEqual((20 * width) / 1920);
    expect(code.right - code.left, at).toBeLessThanOrEqual(0.5 * (text.right - text.left));
    texts.add(screen.spoken?.replace(/\d+ of \d+\./, ''));
    await page.keyboard.press('ArrowRight');
  }
  // No two screens have the same text.
  expect(texts.size).toBe(count);
});

modelTest('on a phone a screen is read from top to bottom, above buttons for fingers', async () => {
  const size = { width: 390, height: 844 };
  const { page } = await visit({ viewport: size, hasTouch: true, isMobile: true, fragment: '#present' });
  for (const at of ['#present', '#present/answer', '#present/task', '#present/sum', '#present/separate/2']) {
    await page.evaluate((to) => {
      location.hash = to;
    }, at);
    if (at !== '#present/answer') await shown(page);
    const seen = await dialog(page).evaluate((screen) => {
      const figure = screen.querySelector('superpose-figure') as
        | (Element & { surroundings: { scale: number } })
        | null;
      const inside = figure?.shadowRoot ?? undefined;
      const parts = ['.said', 'superpose-figure', '.bar'].flatMap(
        (selector) => screen.querySelector(selector) ?? [],
      );
      const buttons = [
        ...screen.querySelectorAll('button'),
        ...(inside?.querySelectorAll('.controls button') ?? []),
      ];
      const letters = [...screen.querySelectorAll('.said > *, .bar span')].map((element) =>
        Number.parseFloat(getComputedStyle(element).fontSize),
      );
      const labels = [...(inside?.querySelectorAll('.marks text') ?? [])].map(
        (element) =>
          Number.parseFloat(getComputedStyle(element).fontSize) * (figure?.surroundings.scale ?? 0),
      );
      const touched = buttons
        .filter((element) => element.checkVisibility())
        .map((element) => element.getBoundingClientRect());
      screen.scrollTo(0, screen.scrollHeight);
      const boxes = parts.map((element) => element.getBoundingClientRect());
      return {
        across: screen.scrollWidth,
        code: screen.querySelector('svg[role]')?.checkVisibility() ?? false,
        letters: Math.min(...letters),
        labels: Math.min(...labels),
        touched: Math.min(...touched.flatMap(({ width, height }) => [width, height])),
        below: Math.max(...touched.map(({ bottom }) => bottom)),
        overlap: Math.max(...boxes.slice(1).map(({ top }, place) => (boxes[place]?.bottom ?? 0) - top)),
        right: Math.max(...boxes.map(({ right }) => right)),
      };
    });
    expect(seen, at).toMatchObject({ across: size.width, code: false });
    expect(seen.letters, at).toBeGreaterThanOrEqual(14);
    expect(seen.labels, at).toBeGreaterThanOrEqual(13);
    expect(seen.touched, at).toBeGreaterThanOrEqual(44);
    expect(seen.below, at).toBeLessThanOrEqual(size.height);
    expect(seen.overlap, at).toBeLessThanOrEqual(1);
    expect(seen.right, at).toBeLessThanOrEqual(size.width);
  }
});

modelTest('the code leads to the same state on the page, which has no presentation', async () => {
  const { page, site } = await visit({ fragment: '#present' });
  await shown(page);
  expect(await scanned(page)).toBe(`${site.address}#`);
  await page.evaluate(() => {
    location.hash = '#present/separate/3';
  });
  await shown(page);
  const link = await scanned(page);
  expect(link).toContain(`${site.address}#v=1&figure=oblique`);
  expect(new URLSearchParams(link.split('#')[1]).get('k2')).toBe('24');
});

/** Whether each knob's middle is where the picture has its handle. */
function knobsInPlace(figure: Element): boolean[] {
  const { scene } = (figure as unknown as { picture: { view: { scene: Scene } } }).picture.view;
  const root = figure.shadowRoot as ShadowRoot;
  const surface = (root.querySelector('.surface') as Element).getBoundingClientRect();
  const scale = surface.width / scene.width;
  return [...root.querySelectorAll('.knob')].map((knob, place) => {
    const { x, y, width, height } = knob.getBoundingClientRect();
    const handle = scene.handles?.[place] ?? { x: Number.NaN, y: Number.NaN };
    const off = [x + width / 2 - surface.x - handle.x * scale, y + height / 2 - surface.y - handle.y * scale];
    return Math.hypot(...off) < 2;
  });
}

modelTest('what is dragged there changes its address and its code, and no figure of the page', async () => {
  const { page } = await visit({ fragment: '#present/mix' });
  await shown(page);
  const knob = dialog(page).locator('.knob');
  // The knob is where the larger picture has its dot.
  expect(await dialog(page).locator('superpose-figure').evaluate(knobsInPlace)).toEqual([true]);
  const { x, y, width, height } = (await knob.boundingBox()) as {
    x: number;
    y: number;
    width: number;
    height: number;
  };
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + 80, y + height / 2 + 80, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => fragment(page), patience).toMatch(/^#present\/[\w/]+\/v=1&figure=dot-products/);
  const { state } = await shown(page);
  expect(state.scale).not.toBe(1);
  expect(new URLSearchParams((await scanned(page)).split('#')[1]).get('scale')).toBe(String(state.scale));
  expect((await page.evaluate(readFigure, 'dot-products'))?.state.scale ?? 1).toBe(1);
  // The screen's text, which was about another state, is gone.
  await expect.poll(() => spoken(page).innerText(), patience).not.toContain('0.72');
  // The keys still belong to the presentation.
  await page.keyboard.press('ArrowRight');
  expect(await fragment(page)).toBe('#present/mix/2');
});

modelTest('a figure that is not on the path has a screen of its own, with what it finds', async () => {
  const { page } = await visit({ fragment: '#present/heads' });
  await shown(page);
  await expect
    .poll(() => spoken(page).innerText(), patience)
    .toMatch(/What drives each head[\s\S]*28\s%\sof head 11/);
  await page.evaluate(() => {
    location.hash = '#present/v=1&figure=dot-products&d=256';
  });
  await expect.poll(async () => (await shown(page)).state.d, patience).toBe(256);
  // What a picture opens is presented, too: in the grid, the runs of its first row.
  await page.evaluate(() => {
    location.hash = '#present/schemes-tasks';
  });
  await shown(page);
  const surface = dialog(page).locator('.surface');
  const position = await placeOf(dialog(page).locator('superpose-figure'), { i: 0, j: 2 });
  await surface.click({ position });
  // A click only reads. For a reader who comes by keyboard, Enter follows the link.
  await dialog(page).locator('.opens a').waitFor({ state: 'attached' });
  expect(await fragment(page)).toBe('#present/schemes-tasks');
  await page.keyboard.press('Tab');
  await surface.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => fragment(page), patience).toMatch(/^#present\/v=1&figure=/);
});

modelTest('who tabs to a picture moves about in it', async () => {
  const { page } = await visit({ fragment: '#present/mix', reducedMotion: 'reduce' });
  await shown(page);
  const within = () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.className);
  for (let tabs = 0; tabs < 10 && (await within()) !== 'surface'; tabs++) await page.keyboard.press('Tab');
  expect(await within()).toBe('surface');
  await page.keyboard.press('ArrowRight');
  expect(await fragment(page)).toBe('#present/mix');
  await page.keyboard.press('PageDown');
  expect(await fragment(page)).toBe('#present/mix/2');
  await page.keyboard.press('PageUp');
  expect(
    await page.evaluate(
      () => (document.querySelector('.present superpose-figure') as HTMLElement & { cursor: object }).cursor,
    ),
  ).not.toEqual({ i: 0, j: 0 });
});

modelTest('an address that is given while a screen is being set is followed', async () => {
  const { page } = await visit();
  await drawn(page, 'one-layer');
  await page.evaluate(() => {
    const { prototype } = customElements.get('superpose-figure') as { prototype: FigureElement };
    const show = prototype.show;
    prototype.show = async function (settings) {
      await show.call(this, settings);
      // In the moment before the presentation writes the address of its screen.
      if (this.closest('.present')) location.hash = '#v=1&figure=one-layer&pull=0.5';
    };
    location.hash = '#present/sum';
  });
  const pull = async () => (await drawn(page, 'one-layer')).state.pull;
  await expect.poll(pull, patience).toBe(0.5);
  await expect.poll(() => dialog(page).count()).toBe(0);
});

modelTest('without its code the page says so', async () => {
  const { page } = await visit({ site: (site) => site.lose(/present-.*\.js$/), fragment: '#present' });
  await page.getByText('The presentation could not be loaded').waitFor();
});
