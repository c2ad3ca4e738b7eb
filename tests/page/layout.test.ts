// The page keeps still and keeps up: while it loads, computes, changes its colours or is rearranged.
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { beats } from '../../web/build/beats.ts';
import { untilDrawn } from './support/shown.ts';
import type { Site } from './support/site.ts';
import {
  drawn,
  figureOf,
  modelTest,
  settled,
  sharedVisits,
  stepsCameBy,
  unfold,
  visit,
} from './support/visit.ts';

modelTest('a long computation says how far it is without moving the picture, stops and goes on', async () => {
  const { page } = await visit({ of: 'needs-positions', viewport: { width: 390, height: 900 } });
  await drawn(page, 'needs-positions');
  const figure = figureOf(page, 'needs-positions');
  await figure.getByLabel('Sentences').selectOption('dog');
  await figure.getByLabel('Here').check();
  await figure.getByRole('button', { name: 'Stop' }).click();
  await figure.getByRole('button', { name: 'Compute it' }).click();
  await settled(page, 'needs-positions');
  const top = () =>
    figure
      .locator('.surface')
      .evaluate(
        (picture) =>
          picture.getBoundingClientRect().top -
          (picture.getRootNode() as ShadowRoot).host.getBoundingClientRect().top,
      );
  const before = await top();
  await figure.getByLabel('Sentences').selectOption('passive');
  await figure.getByRole('progressbar', { name: 'Computed so far' }).waitFor();
  expect(await top()).toBe(before);
});

/** In the page: `moved` returns the browser's measure of all layout shifts since its last call. */
function watchShifts(): void {
  interface Shift extends PerformanceEntry {
    value: number;
    sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
  }
  let sum = 0;
  const moves: string[] = [];
  const add = (entries: PerformanceEntryList) => {
    for (const { value, sources } of entries as Shift[]) {
      sum += value;
      for (const { node, previousRect, currentRect } of sources) {
        const text = node?.textContent?.trim().slice(0, 30);
        const [from, to] = [previousRect, currentRect].map((box) => `${box.y} (${box.height})`);
        moves.push(`${value.toFixed(4)}: ${node?.nodeName} “${text}” from ${from} to ${to}`);
      }
    }
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: 'layout-shift', buffered: true });
  const moved = () => {
    add(observer.takeRecords());
    const soFar = sum;
    sum = 0;
    return soFar;
  };
  Object.assign(window, { moved, moves });
}
const movedIn = (page: Page) => page.evaluate(() => (window as unknown as { moved(): number }).moved());

/**
 * In the page: whether every figure in the window has drawn; without `inWindow`, whether no figure of the
 * page is still computing.
 */
function figuresAreThere(inWindow: boolean): boolean {
  return [
    ...document.querySelectorAll<HTMLElement & { result?: unknown; busy?: boolean }>('superpose-figure'),
  ].every((figure) => {
    if (!inWindow) return !figure.busy;
    const { top, bottom } = figure.getBoundingClientRect();
    return !figure.checkVisibility() || bottom < 0 || top > innerHeight || (figure.result && !figure.busy);
  });
}

/** Sends the font only once the page asks for the module, when the first figure is already laid out. */
async function sendFontLate(site: Site): Promise<void> {
  const release = site.hold(/\.woff2$/);
  await expect.poll(() => site.requests.some((path) => path.endsWith('.wasm'))).toBe(true);
  release();
}

/**
 * A reader who scrolls slowly comes to figures that are live; one who scrolls fast, to their placeholders,
 * and the font comes late, too.
 */
for (const [width, height, slowly] of [
  [390, 844, true],
  [1440, 900, true],
  [390, 844, false],
  [820, 1180, false],
  [1024, 768, false],
] as const) {
  const how = slowly ? 'slowly' : 'fast';
  modelTest(`who scrolls ${how} to the end sees nothing jump, ${width} × ${height} px`, async () => {
    const { page } = await visit({
      viewport: { width, height },
      site: (site) => void (slowly || sendFontLate(site)),
      first: watchShifts,
    });
    const patience = { timeout: 240_000 };
    const there = (inWindow: boolean) =>
      expect.poll(() => page.evaluate(figuresAreThere, inWindow), patience).toBe(true);
    await page.mouse.move(width / 2, height / 2);
    const shown = () =>
      page.evaluate(() => scrollY + innerHeight < document.documentElement.scrollHeight - 1);
    let sum = 0;
    while (await shown()) {
      const from = await page.evaluate(() => scrollY);
      await page.mouse.wheel(0, slowly ? 200 : 0.6 * height);
      await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(from);
      await stepsCameBy(page);
      if (slowly) await there(true);
      sum += await movedIn(page);
    }
    await page.evaluate(() => document.fonts.ready);
    await there(false);
    await stepsCameBy(page);
    sum += await movedIn(page);
    const moves = (await page.evaluate('moves.join("\\n")')) as string;
    expect(sum, moves).toBeLessThan(0.01);
  });
}

test.each([390, 768, 820, 840, 900, 1024, 1440])(
  'the first figure comes live in the place that was kept for it, %s px',
  async (width) => {
    let release = () => {};
    const { page } = await visit({
      viewport: { width, height: 900 },
      site: (site) => {
        release = site.hold(/\.wasm$/);
      },
    });
    const height = async () => (await figureOf(page, 'one-layer').boundingBox())?.height ?? 0;
    await page.evaluate(() => document.fonts.ready);
    const kept = await height();
    release();
    await settled(page, 'one-layer');
    expect(Math.abs((await height()) - kept)).toBeLessThan(2);
  },
);

/**
 * Everything arrives late and in turn: the module, then the model. A phone shows the picture alone, or the
 * whole figure.
 */
for (const [width, height, shows] of [
  [390, 844, ''],
  [390, 844, ', the whole figure'],
  [1440, 900, ''],
] as const) {
  modelTest(
    `what is read does not move while the figures load, ${width} × ${height} px${shows}`,
    async () => {
      const released: (() => void)[] = [];
      const { page } = await visit({
        of: 'dot-products',
        viewport: { width, height },
        site: (site) => {
          released.push(site.hold(/\.wasm$/), site.hold(/^model\//));
        },
        first: watchShifts,
      });
      const [releaseModule, releaseModel] = released as [() => void, () => void];
      const painted = () =>
        page.evaluate(
          () => new Promise((settled) => requestAnimationFrame(() => requestAnimationFrame(settled))),
        );
      const moved = () => movedIn(page);
      const figure = figureOf(page, 'dot-products');
      const shown = () => expect.poll(() => page.evaluate(untilDrawn, 'dot-products')).toBe(true);
      await figure.scrollIntoViewIfNeeded();
      let before = 0;
      if (shows) {
        await painted();
        before = await moved();
        await unfold(page, 'dot-products');
        await figure.scrollIntoViewIfNeeded();
        // The reader asked for this move, of which a busy machine shows the last part late.
        do await painted();
        while ((await moved()) > 0);
      }
      // Space for the inputs is reserved from the start, and the picture is replaced by the live figure.
      await figure.locator('.controls input').first().waitFor({ state: 'attached' });
      await painted();
      releaseModule();
      await shown();
      await painted();
      releaseModel();
      await shown();
      await painted();
      expect(before + (await moved())).toBeLessThan(0.01);
    },
  );
}

/** If the font comes too late, browsers go on with a system’s, in which some texts take one line more. */
test.each([
  ['keep-apart', 390, ''],
  ['keep-apart', 390, ', the font comes late'],
  ['keep-apart', 600, ''],
  ['keep-apart', 820, ''],
  ['keep-apart', 840, ''],
  ['keep-apart', 1024, ''],
  ['keep-apart', 1440, ''],
  ['language', 360, ''],
  ['language', 390, ''],
  ['language', 700, ''],
  ['language', 1440, ''],
  ['oblique', 1280, ''],
] as const)('%s comes live in the place that was kept for it, %s px%s', async (name, width, late) => {
  const isFontLate = late !== '';
  let release = () => {};
  const { page } = await visit({
    viewport: { width, height: 844 },
    site: (site) => {
      release = site.hold(/\.wasm$/);
      if (isFontLate) void sendFontLate(site);
    },
  });
  const figure = figureOf(page, name);
  const height = () => figure.evaluate((element) => element.getBoundingClientRect().height);
  if (!isFontLate) await page.evaluate(() => document.fonts.ready);
  const kept = await height();
  release();
  await figure.scrollIntoViewIfNeeded();
  await settled(page, name);
  expect(Math.abs((await height()) - kept)).toBeLessThan(12);
});

test('the picture that stands in for a beat’s figure is the one that comes live', async () => {
  const { page } = await visit({ viewport: { width: 1440, height: 900 }, javaScriptEnabled: false });
  const waiting = page.locator('superpose-figure[name=oblique] img');
  await waiting.scrollIntoViewIfNeeded();
  const before = await waiting.evaluate((element: HTMLImageElement) => ({
    ratio: element.naturalWidth / element.width,
    shape: element.width / element.height,
  }));
  // The picture was drawn for the width that it has there, and is not scaled.
  expect(before.ratio).toBeCloseTo(1, 2);
  const { page: live } = await visit({ fragment: '#v=1&figure=oblique&d=32' });
  await settled(live, 'oblique');
  const box = (await figureOf(live, 'oblique').locator('.surface').boundingBox()) as {
    width: number;
    height: number;
  };
  expect(Math.abs(box.width / before.shape - box.height)).toBeLessThan(2);
});

/**
 * In the page: how many marks, titles included, are cut where a beat's picture ends, and how much is blank
 * above and below the bar there.
 */
function atTheBar(name: string): { cut: number; above: number; below: number; sideways: number } {
  const figure = document.querySelector(`superpose-figure[name="${name}"]`) as Element;
  const surface = figure.shadowRoot?.querySelector('.surface') as Element;
  const stays = figure.closest('.stays') as Element;
  const bar = (stays.querySelector('.expand') as Element).getBoundingClientRect();
  const step = stays.closest('.stage')?.querySelector('.step') as Element;
  const marks = [...surface.querySelectorAll('.marks :is(text, :not(:has(*)))')].map((mark) =>
    mark.getBoundingClientRect(),
  );
  const boxes = (kind: string) =>
    [...surface.querySelectorAll(`.marks > ${kind}`)].map((mark) => mark.getBoundingClientRect());
  const left = Number.parseFloat(getComputedStyle(surface).clipPath.split(' ')[2] ?? '0');
  const last = surface.getBoundingClientRect().bottom;
  const edge = left > 0 ? last - left : bar.top;
  const end = Math.min(last, edge);
  return {
    cut: [
      ...marks.filter(({ top, bottom }) => top < edge - 1 && bottom > edge + 1),
      ...boxes('text').filter(
        (text) =>
          edge < bar.top - 1 &&
          Math.abs(text.bottom - edge + 2) < 3 &&
          boxes(':not(text)').some(
            ({ top, left, right }) =>
              top >= edge - 1 && top < edge + 12 && left < text.right && text.left < right,
          ),
      ),
    ].length,
    above: Math.round(bar.top - end),
    below: Math.round(step.getBoundingClientRect().top - bar.bottom),
    sideways: marks.filter(({ left, right }) => left < -1 || right > innerWidth + 1).length,
  };
}

const narrower = sharedVisits({ reducedMotion: 'reduce' });
for (const [width, height] of [
  [390, 844],
  [820, 1180],
  [1024, 768],
] as const) {
  modelTest(
    `above its steps no picture is cut in a part, and nothing is blank, ${width} × ${height} px`,
    async () => {
      for (const { beat, steps } of beats) {
        // A single step follows its picture, which is whole.
        if (steps.length < 2) continue;
        const { page } = await narrower(beat);
        await page.setViewportSize({ width, height });
        await stepsCameBy(page);
        const first = page.locator(`#${beat} .step h3 a`).first();
        await first.evaluate((link: HTMLElement) => link.click());
        const name = await page.evaluate(() => /figure=([a-z-]+)/.exec(location.hash)?.[1] ?? '');
        await expect.poll(() => page.evaluate(untilDrawn, name), { timeout: 120_000 }).toBe(true);
        await stepsCameBy(page);
        const { cut, above, below, sideways } = await page.evaluate(atTheBar, name);
        expect({ cut, sideways }, name).toEqual({ cut: 0, sideways: 0 });
        // A lower picture has the space that the beat's highest takes.
        expect(above + below, name).toBeLessThanOrEqual(height / 3);
      }
    },
  );
}

modelTest('what is used stays where it is, however many rows it brings up', async () => {
  const { page } = await visit();
  await settled(page, 'language');
  const all = figureOf(page, 'language').locator('[name=ways][value=all]');
  await all.scrollIntoViewIfNeeded();
  const { y = 0 } = (await all.boundingBox()) ?? {};
  await all.press(' ');
  await figureOf(page, 'language').getByText('values too').first().waitFor();
  expect((await all.boundingBox())?.y).toBeCloseTo(y, 0);
});

test('on paper a beat’s picture is whole and fits, with its sentence, and no step is pale', async () => {
  const { page } = await visit({ viewport: { width: 718, height: 400 }, reducedMotion: 'reduce' });
  await page.locator('#separate .step h3 a >> nth=0').evaluate((link: HTMLElement) => link.click());
  await expect.poll(() => page.evaluate(untilDrawn, 'oblique')).toBe(true);
  await page.emulateMedia({ media: 'print' });
  const seen = await page.locator('#separate .stage:not(.single)').evaluate((stage) => {
    const inside = stage.querySelector('superpose-figure')?.shadowRoot as ShadowRoot;
    const stays = stage.querySelector('.stays') as Element;
    const part = (selector: string) => inside.querySelector(selector) as Element;
    return {
      ends: stays.getBoundingClientRect().bottom >= part('.surface').getBoundingClientRect().bottom,
      fits: part('.surface').getBoundingClientRect().height < 0.75 * innerHeight,
      clip: getComputedStyle(part('.surface')).clipPath,
      sentence: part('.finding').getBoundingClientRect().height > 0,
      inks: new Set([...stage.querySelectorAll('.step')].map((step) => getComputedStyle(step).color)).size,
    };
  });
  expect(seen).toEqual({ ends: true, fits: true, clip: 'none', sentence: true, inks: 1 });
});

test.each([1, 1.5, 2, 3])(
  'below the bar of a beat nothing of its picture is left, ratio %s',
  async (ratio) => {
    const viewport = { width: 390, height: 843 };
    const { page } = await visit({ of: 'learn', viewport, deviceScaleFactor: ratio });
    await page.locator('#learn .stage').evaluate((element) => element.scrollIntoView());
    await page.evaluate(() => scrollBy(0, 120.4));
    // The steps are made invisible, since their letters may pass there.
    await page.locator('#learn .steps').evaluate((element) => void element.animate({ opacity: [0, 0] }, 1e9));
    await stepsCameBy(page);
    const { bottom } = await page
      .locator('#learn .expand')
      .evaluate((element) => element.getBoundingClientRect().toJSON() as DOMRect);
    const strip = await page.screenshot({
      clip: { x: 40, y: bottom - 3, width: 300, height: 3 + 1 / ratio },
    });
    const colours = await page.evaluate(
      async (png) => {
        const picture = Object.assign(new Image(), { src: png });
        await picture.decode();
        const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d', {
          willReadFrequently: true,
        }) as OffscreenCanvasRenderingContext2D;
        canvas.drawImage(picture, 0, 0);
        return Array.from({ length: picture.height }, (_, y) => {
          const row = new Uint32Array(canvas.getImageData(0, y, picture.width, 1).data.buffer);
          return new Set(row).size;
        });
      },
      `data:image/png;base64,${strip.toString('base64')}`,
    );
    expect(colours.length).toBeGreaterThanOrEqual(4);
    expect(colours).toEqual(colours.map(() => 1));
  },
);
