// What a hand or a key does in a figure's picture: it points, presses, drags, and closes what it opened.
import type { Locator, Page } from 'playwright';
import { expect, test } from 'vitest';
import { expected, withoutRounding } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { drawn, figureOf, modelTest, openMenu, placeOf, settled, surface, visit } from './support/visit.ts';

const name = 'dot-products';
const scaleOf = async (page: Page) => (await page.evaluate(readFigure, name))?.state.scale;
const framed = (page: Page, of: string) => figureOf(page, of).locator('.frame *').count();

// In a state of one’s own: a step of a beat marks the place that it names.
test('nothing is marked or read out until something points: a pointer', async () => {
  const { page } = await visit({ fragment: '#v=1&figure=dot-products&d=32' });
  expect((await settled(page, name)).readout).toBe('');
  expect(await framed(page, name)).toBe(0);
  const position = await placeOf(figureOf(page, name), { i: 2, j: 3 });
  await surface(figureOf(page, name)).hover({ position });
  await expect.poll(async () => (await page.evaluate(readFigure, name))?.readout).toContain('concatenated');
  expect(await framed(page, name)).toBeGreaterThan(0);
});

test('nor a key: the focus shows where the keys begin', async () => {
  const { page } = await visit();
  await settled(page, name);
  await surface(figureOf(page, name)).focus();
  await expect.poll(async () => (await page.evaluate(readFigure, name))?.readout).toContain('concatenated');
  expect(await framed(page, name)).toBeGreaterThan(0);
});

test.each(['Enter', ' '])('“%s” does what a click does, and scrolls nothing', async (key) => {
  const { page } = await visit();
  await settled(page, 'schemes');
  const figure = figureOf(page, 'schemes');
  await surface(figure).focus();
  const before = await page.evaluate(() => scrollY);
  await page.keyboard.press(key);
  await page.evaluate(() => new Promise((done) => setTimeout(done, 200)));
  expect(await page.evaluate(() => scrollY)).toBe(before);
  await expect.poll(() => figure.locator('.held').count()).toBe(1);
});

test('a handle that is dragged sets its slider, on axes that stay until it is let go', async () => {
  const { page } = await visit();
  await settled(page, name);
  const figure = figureOf(page, name);
  const knob = figure.locator('.knob');
  expect(await knob.evaluate((element) => getComputedStyle(element).cursor)).toBe('grab');
  await knob.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await knob.boundingBox()) as {
    x: number;
    y: number;
    width: number;
    height: number;
  };
  const ticks = () => figure.locator('.marks text').allInnerTexts();
  const before = await ticks();
  // Its middle is where the picture says that it is, and it can be grabbed beside it.
  const place = await figure.evaluate((element) => {
    const [handle] = (
      element as never as { picture: { view: { scene: { handles: { x: number; y: number }[] } } } }
    ).picture.view.scene.handles;
    const box = element.shadowRoot?.querySelector('.surface')?.getBoundingClientRect();
    return handle && box && { x: box.x + handle.x, y: box.y + handle.y };
  });
  expect(place?.x).toBeCloseTo(x + width / 2, 0);
  expect(place?.y).toBeCloseTo(y + height / 2, 0);
  await page.mouse.move(x + width / 2 + 8, y + height / 2 + 8);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + 9, y + height / 2 + 8);
  expect(await scaleOf(page)).toBe(1);
  const box = (await surface(figure).boundingBox()) as { y: number; height: number };
  await page.mouse.move(x + width / 2, y + height / 2 + (y < box.y + box.height / 4 ? 40 : -40), {
    steps: 5,
  });
  await expect.poll(() => scaleOf(page)).not.toBe(1);
  const axis = (texts: string[]) => texts.filter((text) => /^−?\d+$/.test(text)).join();
  await expect.poll(async () => (await page.evaluate(readFigure, name))?.busy).toBe(false);
  expect(axis(await ticks())).toBe(axis(before));
  await page.mouse.up();
  const shown = await drawn(page, name);
  expect(await figure.locator('input[name=scale]').inputValue()).toBe(String(shown.state.scale));
  await expect.poll(() => page.url()).toContain(`scale=${shown.state.scale}`);
  expect(withoutRounding(shown.finding)).toBe(withoutRounding((await expected(name, shown.state)).finding));
});

modelTest('a slider over words says the word', async () => {
  const { page } = await visit();
  const { state, tokens } = await drawn(page, 'sum');
  const slider = figureOf(page, 'sum').locator('input[name=word]');
  const words = await figureOf(page, 'sum').evaluate(
    (element) => (element as never as { result: { data: { tokens: string[] } } }).result.data.tokens,
  );
  expect(tokens).toEqual([]);
  expect(await slider.getAttribute('aria-valuetext')).toBe(`${words[state.word as number]}, ${state.word}`);
  await slider.press('ArrowLeft');
  await expect
    .poll(() => slider.getAttribute('aria-valuetext'))
    .toBe(`${words[(state.word as number) - 1]}, ${(state.word as number) - 1}`);
});

test('Escape and a press elsewhere close the menu', async () => {
  const { page } = await visit();
  await settled(page, name);
  const menu = figureOf(page, name).locator('details.menu');
  const summary = menu.locator('summary');
  await summary.click();
  expect(await menu.getAttribute('open')).not.toBeNull();
  await page.keyboard.press('Escape');
  expect(await menu.getAttribute('open')).toBeNull();
  expect(await summary.evaluate((element: HTMLElement) => element.matches(':focus'))).toBe(true);
  await summary.click();
  const saved = page.waitForEvent('download');
  await menu.getByRole('button', { name: 'CSV' }).click();
  await saved;
  expect(await menu.getAttribute('open')).not.toBeNull();
  // On the page itself: nothing is in its corner.
  await page.locator('html').click({ position: { x: 1, y: 1 }, force: true });
  expect(await menu.getAttribute('open')).toBeNull();
});

test('grid lines are below square markers', async () => {
  const { page } = await visit();
  await settled(page, 'dot-products');
  const layers = await figureOf(page, 'dot-products').evaluate((element) =>
    [...(element.shadowRoot?.querySelector('.surface')?.children ?? [])].map((layer) => [
      layer.className.toString().replace(/.*SVGAnimatedString.*/, layer.getAttribute('class') ?? ''),
      layer.querySelectorAll('line.s-line').length,
    ]),
  );
  const lines = Object.fromEntries(layers.map(([name, count]) => [name || 'canvas', count]));
  expect(Object.keys(lines).slice(0, 3)).toEqual(['under', 'canvas', 'marks']);
  expect(lines.under).toBeGreaterThan(5);
  expect(lines.marks).toBe(0);
});

/** A finger goes down, along these points and up. */
async function swipe(page: Page, ...points: [x: number, y: number][]): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number }[]) =>
    cdp.send('Input.dispatchTouchEvent', { type, touchPoints });
  for (const [place, [x, y]] of points.entries())
    await touch(place === 0 ? 'touchStart' : 'touchMove', [{ x, y }]);
  await touch('touchEnd', []);
  await cdp.detach();
}

/** Points on a line, as a finger’s moves are reported. */
const line = (x: number, y: number, across: number, down: number): [number, number][] =>
  Array.from({ length: 11 }, (_, step) => [x + (step * across) / 10, y + (step * down) / 10]);

const onPhone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const middleOf = async (part: Locator): Promise<[x: number, y: number]> => {
  const { x, y, width, height } = (await part.boundingBox()) as Box;
  return [x + width / 2, y + height / 2];
};
interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

test('on a phone a swipe from a bar scrolls, a tap reads it, and only the grip on it edits', async () => {
  const { page } = await visit(onPhone);
  const of = 'one-layer';
  await settled(page, of);
  const figure = figureOf(page, of);
  const token = async () => (await page.evaluate(readFigure, of))?.state.token;
  const scrolled = () => page.evaluate(() => scrollY);
  const fields = figure.locator('.knob.field');
  const grips = figure.locator('.knob:not(.field)');
  expect(await fields.count()).toBe(4);
  for (let place = 0; place < 4; place++) {
    await fields.nth(place).scrollIntoViewIfNeeded();
    const before = await scrolled();
    const [x, y] = await middleOf(fields.nth(place));
    await swipe(page, ...line(x, y, 0, y > 400 ? -200 : 200));
    await expect.poll(scrolled).not.toBe(before);
    expect(await token()).toBe('');
  }
  await fields.first().scrollIntoViewIfNeeded();
  const [x, y] = await middleOf(fields.first());
  await page.touchscreen.tap(x, y);
  await expect.poll(() => figure.locator('.readout').textContent()).toMatch(/^\s*token, channel \d/);
  expect(await token()).toBe('');
  // One on each side: both ways read the same row.
  await expect.poll(() => grips.count()).toBe(2);
  const shownBy = (element: Element) => getComputedStyle(element, '::before').borderTopStyle;
  expect(await grips.first().evaluate(shownBy)).toBe('solid');
  const before = await scrolled();
  const [left, top] = await middleOf(grips.first());
  const middle = async () => (await middleOf(fields.first()))[1];
  const from = top - (await middle());
  const way = from > 0 ? -40 : 40;
  await swipe(page, ...line(left, top, 0, way));
  await expect.poll(token).not.toBe('');
  expect(await scrolled()).toBe(before);
  const [now, drawn] = [await token(), await settled(page, of)];
  expect(String(now).split(' ')).toHaveLength(drawn.state.d as number);
  // The grip is where the finger has let go of it, seen from the bars.
  await expect
    .poll(async () => Math.abs((await middleOf(grips.first()))[1] - (await middle()) - from - way))
    .toBeLessThan(4);
  await (await openMenu(figure)).getByRole('button', { name: 'Reset' }).click();
  await expect.poll(token).toBe('');
});

test('where a finger drags, there is a grip, and everywhere else the page scrolls', async () => {
  const { page } = await visit(onPhone);
  const seen: [field: boolean, touch: string, grip: string][] = [];
  for (const of of ['one-layer', 'add-or-concatenate', 'dot-products', 'oblique']) {
    await settled(page, of);
    const [touch, knobs] = await figureOf(page, of).evaluate((figure) => {
      const root = figure.shadowRoot as ShadowRoot;
      return [
        getComputedStyle(root.querySelector('.surface') as Element).touchAction,
        [...root.querySelectorAll('.knob')].map((knob): [boolean, string, string] => [
          knob.matches('.field'),
          getComputedStyle(knob).touchAction,
          getComputedStyle(knob, '::before').content,
        ]),
      ] as const;
    });
    expect(touch, of).toBe('pan-y pinch-zoom');
    expect(knobs.length, of).toBeGreaterThan(0);
    seen.push(...knobs);
  }
  for (const [field, touch, grip] of seen)
    expect([touch, grip]).toEqual(field ? ['pan-y pinch-zoom', 'none'] : ['none', '""']);
});

test('a mouse drags a bar where it is pressed, and sees no grip', async () => {
  const { page } = await visit();
  const of = 'one-layer';
  await settled(page, of);
  const [x, y] = await middleOf(figureOf(page, of).locator('.knob.field').first());
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y - 20, { steps: 3 });
  await page.mouse.up();
  await expect.poll(async () => (await page.evaluate(readFigure, of))?.state.token).not.toBe('');
  expect(await figureOf(page, of).locator('.knob:not(.field)').count()).toBe(0);
});

test('a finger that swipes from a slider scrolls, and the slider stays where it was', async () => {
  const { page } = await visit(onPhone);
  const of = 'one-layer';
  await settled(page, of);
  const slider = figureOf(page, of).locator('input[name=pull]');
  await slider.scrollIntoViewIfNeeded();
  const before = await page.evaluate(() => scrollY);
  const box = (await slider.boundingBox()) as Box;
  const [x, y] = [box.x + 0.7 * box.width, box.y + box.height / 2];
  await swipe(page, ...line(x, y, 0, -200));
  await expect.poll(() => page.evaluate(() => scrollY)).not.toBe(before);
  await expect.poll(async () => (await page.evaluate(readFigure, of))?.state.pull).toBe(0);
  expect(await slider.inputValue()).toBe('0');
});

test('on a phone a tap on a picture that leads elsewhere reads, and a link beside it leads on', async () => {
  const { page } = await visit(onPhone);
  const figure = figureOf(page, 'language');
  await figure.scrollIntoViewIfNeeded();
  await settled(page, 'language');
  const surface = figure.locator('.surface');
  await surface.scrollIntoViewIfNeeded();
  const box = (await surface.boundingBox()) as Box;
  await page.touchscreen.tap(box.x + box.width / 2, box.y + 60);
  await expect.poll(() => figure.locator('.readout').textContent()).toContain('bits per byte');
  await figure.locator('.opens a').waitFor();
  expect(new URL(page.url()).hash).not.toContain('figure=schemes');
});
