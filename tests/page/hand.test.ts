// What a hand or a key does in a figure's picture: pointing, pressing, dragging, and closing what it opened.
import type { Locator, Page } from 'playwright';
import { expect, test } from 'vitest';
import type { Scene } from '../../web/plot/scene.ts';
import { expected, withoutRounding } from './support/expected.ts';
import { readFigure } from './support/shown.ts';
import { drawn, figureOf, modelTest, placeOf, resetOf, settled, surface, visit } from './support/visit.ts';

const name = 'dot-products';
const scaleOf = async (page: Page) => (await page.evaluate(readFigure, name))?.state.scale;
const framed = (page: Page, of: string) => figureOf(page, of).locator('.frame *').count();

// In the reader's own state, because a step of a beat marks the place that the step names.
test('nothing is marked or read out until something points: a pointer', async () => {
  const { page } = await visit({ fragment: '#v=1&figure=dot-products&d=32' });
  await settled(page, name);
  // Until the link's state is there, the step beside the figure marks its place.
  await expect.poll(async () => (await page.evaluate(readFigure, name))?.readout).toBe('');
  expect(await framed(page, name)).toBe(0);
  const position = await placeOf(figureOf(page, name), { i: 2, j: 3 });
  await surface(figureOf(page, name)).hover({ position });
  await expect.poll(async () => (await page.evaluate(readFigure, name))?.readout).toContain('concatenated');
  expect(await framed(page, name)).toBeGreaterThan(0);
});

test('nor a key: the focus shows where the keys begin', async () => {
  const { page } = await visit({ of: name });
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
  // In the window, not on the page: what loads above may change its height, and the browser compensates.
  const top = () => figure.evaluate((element) => element.getBoundingClientRect().top);
  const before = await top();
  await page.keyboard.press(key);
  await page.evaluate(() => new Promise((done) => setTimeout(done, 200)));
  expect(Math.abs((await top()) - before)).toBeLessThan(1);
  await expect.poll(() => figure.locator('.held').count()).toBe(1);
});

test('a handle that is dragged sets its slider, on axes that stay until it is let go', async () => {
  const { page } = await visit({ of: name });
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
  // The knob's middle is where the picture has its handle, and the knob can be grabbed beside its middle.
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
  await page.mouse.move(x + width / 2 + 8, y + height / 2 + 9);
  expect(await scaleOf(page)).toBe(1);
  await page.mouse.move(x + width / 2 - 2, y + height / 2 + 8, { steps: 5 });
  await expect.poll(() => scaleOf(page)).not.toBe(1);
  const axis = (texts: string[]) => texts.filter((text) => /^−?\d+$/.test(text)).join();
  await expect.poll(async () => (await page.evaluate(readFigure, name))?.busy).toBe(false);
  expect(axis(await ticks())).toBe(axis(before));
  // The knob stays under the pointer, which holds it 8 px beside its middle, even once it is let go of.
  const underPointer = async () => {
    const now = (await knob.boundingBox()) as { x: number };
    return Math.abs(now.x - (x - 10));
  };
  expect(await underPointer()).toBeLessThan(2);
  await page.mouse.up();
  const shown = await drawn(page, name);
  expect(await underPointer()).toBeLessThan(2);
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
  const { page } = await visit({ of: name });
  await settled(page, name);
  const menu = figureOf(page, name).locator('details.menu');
  const summary = menu.locator('summary');
  // The menu listens for Escape once the browser has told it that it is open.
  const toggled = menu.evaluate(
    (element) =>
      new Promise<void>((done) => element.addEventListener('toggle', () => done(), { once: true })),
  );
  await summary.click();
  await toggled;
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
  const { page } = await visit({ of: 'dot-products' });
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

const layer = 'one-layer';
const layerState = async (page: Page) => (await page.evaluate(readFigure, layer))?.state;
const cardOf = (page: Page) => figureOf(page, layer).locator('.knob.part');
const gripOf = (page: Page) => figureOf(page, layer).locator('.knob:not(.part)');

/** The middle of a bar's channel in the window: of the token, or of the position. */
const barIn = (page: Page, i: number, j: number): Promise<[x: number, y: number]> =>
  figureOf(page, layer).evaluate(
    (element, { i, j }) => {
      const { scene } = (element as never as { picture: { view: { scene: Scene } } }).picture.view;
      const box = element.shadowRoot?.querySelector('.surface')?.getBoundingClientRect() as DOMRect;
      for (const { pick } of scene.regions) {
        if (typeof pick !== 'object') continue;
        const { x, y, cursors } = pick.points;
        const k = cursors.findIndex((cursor) => cursor.i === i && cursor.j === j);
        if (k >= 0) return [box.x + (x[k] as number), box.y + (y[k] as number)];
      }
      throw new Error('no such bar');
    },
    { i, j },
  );

test('on a phone a swipe from a bar or a card scrolls, a tap reads, and only a grip edits', async () => {
  const { page } = await visit(onPhone);
  const { state: initial } = await settled(page, layer);
  const figure = figureOf(page, layer);
  const scrolled = () => page.evaluate(() => scrollY);
  for (const place of [() => barIn(page, 0, 3), () => middleOf(cardOf(page))]) {
    await figure.scrollIntoViewIfNeeded();
    const before = await scrolled();
    const [x, y] = await place();
    await swipe(page, ...line(x, y, 0, y > 400 ? -200 : 200));
    await expect.poll(scrolled).not.toBe(before);
    expect(await layerState(page)).toEqual(initial);
  }
  await figure.scrollIntoViewIfNeeded();
  await page.touchscreen.tap(...(await barIn(page, 0, 3)));
  await expect.poll(() => figure.locator('.readout').textContent()).toMatch(/^\s*token, channel 3/);
  expect((await layerState(page))?.token).toBe('');
  const grip = gripOf(page);
  await expect.poll(() => grip.count()).toBe(1);
  const shownBy = (element: Element) => getComputedStyle(element, '::before').borderTopStyle;
  expect(await grip.evaluate(shownBy)).toBe('solid');
  const before = await scrolled();
  const [left, top] = await middleOf(grip);
  const middle = async () => (await barIn(page, 0, 3))[1];
  const from = top - (await middle());
  const way = from > 0 ? -30 : 30;
  await swipe(page, ...line(left, top, 0, way));
  await expect.poll(async () => (await layerState(page))?.token).not.toBe('');
  expect(await scrolled()).toBe(before);
  const [now, drawn] = [(await layerState(page))?.token, await settled(page, layer)];
  expect(String(now).split(' ')).toHaveLength(drawn.state.d as number);
  // Relative to the bars, the grip is where the finger has let go of it.
  await expect
    .poll(async () => Math.abs((await middleOf(grip))[1] - (await middle()) - from - way))
    .toBeLessThan(4);
  // By key: a browser makes no click of a tap that follows a swipe too soon.
  await resetOf(figure).press('Enter');
  await expect.poll(() => layerState(page)).toEqual(initial);
});

test('on a phone the numbers of a place leave the grip of ρ and the button of a replay free', async () => {
  const { page } = await visit({ ...onPhone, fragment: '#v=1&figure=dot-products&d=32' });
  await settled(page, name);
  const figure = figureOf(page, name);
  const { x, y } = await placeOf(figure, { i: 2, j: 3 });
  const box = await surface(figure).boundingBox();
  await page.touchscreen.tap((box?.x ?? 0) + x, (box?.y ?? 0) + y);
  await expect.poll(() => figure.locator('.readout').textContent()).toContain('concatenated');
  const [numbers, grip] = await Promise.all(
    ['.readout', '.knob'].map((part) => figure.locator(part).boundingBox()),
  );
  expect(grip?.height).toBeGreaterThan(20);
  expect((grip?.y ?? 0) + (grip?.height ?? 0)).toBeLessThanOrEqual(numbers?.y ?? 0);
});

test('on a phone a replay is played beside its picture, without the whole figure', async () => {
  const { page } = await visit(onPhone);
  await figureOf(page, 'add-or-concatenate').scrollIntoViewIfNeeded();
  const replay = page.locator('#task .replay');
  await expect.poll(() => replay.textContent()).toBe('Replay the training');
  await replay.tap();
  await expect.poll(() => replay.textContent()).toBe('To the end');
  const step = async () => (await page.evaluate(readFigure, 'add-or-concatenate'))?.state.step;
  expect(await step()).not.toBe(200);
  await replay.tap();
  await expect.poll(step).toBe(200);
  await expect.poll(() => replay.textContent()).toBe('Replay the training');
});

test('on a phone W₂ is dragged sideways, and goes on by itself when it is nearly there', async () => {
  const { page } = await visit(onPhone);
  await settled(page, layer);
  const figure = figureOf(page, layer);
  await figure.scrollIntoViewIfNeeded();
  const before = await page.evaluate(() => scrollY);
  const [x, y] = await middleOf(cardOf(page));
  await swipe(page, ...line(x, y, -60, 0));
  await expect.poll(async () => Math.abs((await middleOf(cardOf(page)))[0] - x + 60)).toBeLessThan(2);
  const { pull } = (await layerState(page)) ?? {};
  expect(pull).toBeGreaterThan(0.3);
  expect(pull).toBeLessThan(0.6);
  await swipe(page, ...line(x - 60, y, -x + 70, 0));
  await expect.poll(async () => (await layerState(page))?.pull).toBe(1);
  expect((await settled(page, layer)).finding).toContain('Concatenating has become adding');
  expect(await page.evaluate(() => scrollY)).toBe(before);
  // A tap on the card reads what is on the card, unless it follows a swipe too soon.
  const tapped = async () => {
    await page.touchscreen.tap(...(await middleOf(cardOf(page))));
    return figure.locator('.readout').textContent();
  };
  await expect.poll(tapped, { interval: 1000 }).toMatch(/^\s*W₂, row \d, column \d: /);
  expect((await layerState(page))?.pull).toBe(1);
});

test('the mouse drags W₂, Escape takes it back, and a button and keys do what the mouse does', async () => {
  const { page } = await visit();
  await settled(page, layer);
  const figure = figureOf(page, layer);
  const pull = async () => (await layerState(page))?.pull;
  const [x, y] = await middleOf(cardOf(page));
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 100, y, { steps: 4 });
  await settled(page, layer);
  expect(await pull()).toBeGreaterThan(0.2);
  await expect.poll(async () => Math.abs((await middleOf(cardOf(page)))[0] - x + 100)).toBeLessThan(2);
  await page.keyboard.press('Escape');
  await expect.poll(pull).toBe(0);
  await page.mouse.up();
  // A drag is no click: nothing is held.
  expect(await figure.locator('.held').count()).toBe(0);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 500, y, { steps: 4 });
  await page.mouse.up();
  await expect.poll(pull).toBe(1);
  await expect.poll(() => page.url()).toContain('pull=1');
  await figure.getByRole('button', { name: 'Take W₂ back' }).click();
  await expect.poll(pull).toBe(0);
  await figure.locator('input[name=pull]').focus();
  for (const key of ['ArrowRight', 'ArrowUp']) await page.keyboard.press(key);
  await expect.poll(pull).toBe(0.02);
  // The slider is out of sight, so the focus is shown on the card that the slider moves.
  expect(await cardOf(page).evaluate((card) => getComputedStyle(card).outlineStyle)).toBe('solid');
  await page.keyboard.press('End');
  await expect.poll(pull).toBe(1);
  await page.keyboard.press('Home');
  await expect.poll(pull).toBe(0);
});

/** In the page: holds back the pause before the card moves, until the test lets it pass. */
const holdPause = () => {
  const [start, clear] = [window.setTimeout, window.clearTimeout];
  const held = -1;
  window.setTimeout = ((call: () => void, time?: number) =>
    time === 1100 ? Object.assign(window, { pause: call }) && held : start(call, time)) as never;
  window.clearTimeout = ((timer?: number) =>
    timer === held ? Object.assign(window, { pause: undefined }) : clear(timer)) as never;
};

/** In the page: lets the pause pass, and returns how far to the left the card goes, and where it ends. */
async function moveOfCard(figure: Element): Promise<{ asks: boolean; far: number; back: number }> {
  const { pause } = window as { pause?: () => void };
  const place = () =>
    (figure as never as { picture: { view: { scene: Scene } } }).picture.view.scene.handles?.[0]?.x ?? 0;
  const start = place();
  let least = start;
  pause?.();
  const end = performance.now() + 1500;
  while (performance.now() < end) {
    await new Promise((done) => requestAnimationFrame(done));
    least = Math.min(least, place());
  }
  return { asks: pause !== undefined, far: start - least, back: place() - start };
}

test('the card invites once, unless motion is to be reduced or the reader was there before', async () => {
  const reach = async (options: { reducedMotion?: 'reduce' }, isThere = false) => {
    const { page } = await visit({ ...options, first: holdPause });
    await settled(page, layer);
    if (isThere) await surface(figureOf(page, layer)).hover({ position: { x: 20, y: 80 } });
    await page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
    return figureOf(page, layer).evaluate(moveOfCard);
  };
  const moved = await reach({});
  expect(moved).toMatchObject({ asks: true, back: 0 });
  expect(moved.far).toBeGreaterThan(8);
  expect(moved.far).toBeLessThan(20);
  expect(await reach({ reducedMotion: 'reduce' })).toEqual({ asks: false, far: 0, back: 0 });
  expect(await reach({}, true)).toEqual({ asks: true, far: 0, back: 0 });
});

test('the card does not move while it is out of sight, or below a dialog', async () => {
  const { page } = await visit({ first: holdPause });
  await settled(page, layer);
  const isAboutToMove = () => page.evaluate(() => (window as { pause?: () => void }).pause !== undefined);
  await expect.poll(isAboutToMove).toBe(true);
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await expect.poll(isAboutToMove).toBe(false);
  await page.evaluate(() => scrollTo(0, 0));
  await expect.poll(isAboutToMove).toBe(true);
  const dialog = await page.evaluateHandle(() => {
    const dialog = document.body.appendChild(document.createElement('dialog'));
    dialog.showModal();
    return dialog;
  });
  expect(await figureOf(page, layer).evaluate(moveOfCard)).toMatchObject({ asks: true, far: 0 });
  await dialog.evaluate((element) => element.close());
  expect((await figureOf(page, layer).evaluate(moveOfCard)).far).toBeGreaterThan(8);
});

test('where a finger drags, there is a grip with a sign on it, and everywhere else the page scrolls', async () => {
  const seen: [part: boolean, touch: string, grip: string, sign: string][] = [];
  for (const of of ['one-layer', 'add-or-concatenate', 'dot-products', 'oblique']) {
    const { page } = await visit({ ...onPhone, of });
    await settled(page, of);
    const [touch, knobs] = await figureOf(page, of).evaluate((figure) => {
      const root = figure.shadowRoot as ShadowRoot;
      return [
        getComputedStyle(root.querySelector('.surface') as Element).touchAction,
        [...root.querySelectorAll('.knob')].map((knob): [boolean, string, string, string] => [
          knob.matches('.part'),
          getComputedStyle(knob).touchAction,
          getComputedStyle(knob, '::before').content,
          getComputedStyle(knob, '::after').backgroundImage,
        ]),
      ] as const;
    });
    expect(touch, of).toBe('pan-y pinch-zoom');
    expect(knobs.length, of).toBeGreaterThan(0);
    seen.push(...knobs);
  }
  for (const [part, touch, grip, sign] of seen) {
    expect([touch, grip]).toEqual(part ? ['pan-y pinch-zoom', 'none'] : ['none', '""']);
    expect(sign).toMatch(/^radial-gradient/);
  }
});

test('a mouse edits a bar by the grip on it, and by nothing else', async () => {
  const { page } = await visit();
  await settled(page, layer);
  const token = async () => (await layerState(page))?.token;
  const [x, y] = await barIn(page, 0, 2);
  await page.mouse.move(x, y);
  const grip = gripOf(page);
  await expect.poll(() => grip.count()).toBe(1);
  const [left, top] = await middleOf(grip);
  expect(left).toBeCloseTo(x, 0);
  // Beside the grip.
  const beside = top > y ? y - 40 : y + 40;
  await page.mouse.move(x, beside);
  await page.mouse.down();
  await page.mouse.move(x, beside - 20, { steps: 3 });
  await page.mouse.up();
  expect(await token()).toBe('');
  await page.mouse.move(left, top);
  await page.mouse.down();
  await page.mouse.move(left, top - 20, { steps: 3 });
  await page.mouse.up();
  await expect.poll(token).not.toBe('');
});

test('a finger that swipes from a slider scrolls, and the slider stays where it was', async () => {
  const { page } = await visit(onPhone);
  await settled(page, layer);
  await figureOf(page, layer).locator('details.more summary').click();
  const slider = figureOf(page, layer).locator('input[name=d]');
  await slider.scrollIntoViewIfNeeded();
  const before = await page.evaluate(() => scrollY);
  const box = (await slider.boundingBox()) as Box;
  const [x, y] = [box.x + 0.7 * box.width, box.y + box.height / 2];
  await swipe(page, ...line(x, y, 0, -200));
  await expect.poll(() => page.evaluate(() => scrollY)).not.toBe(before);
  await expect.poll(async () => (await layerState(page))?.d).toBe(8);
  expect(await slider.inputValue()).toBe('8');
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
