// The path through the page: each step lasts long enough, and the page always shows where the reader is.
import { expect, test } from 'vitest';
import { beats } from '../../web/build/beats.ts';
import { readFigure, untilDrawn } from './support/shown.ts';
import { files, isRecording, kilobytes } from './support/site.ts';
import {
  drawn,
  figureOf,
  modelTest,
  namesOn,
  settled,
  sharedVisits,
  stepsCameBy,
  visit,
} from './support/visit.ts';

/** Each page at 1440 × 900, for tests that go along all of it. */
const sharedPages = sharedVisits();

/**
 * In the page: for each step of a beat, how many pixels the reader scrolls while the step is current and its
 * picture stays, and whether any step after the first was current before its picture stayed.
 */
async function wayOfSteps(beat: string): Promise<{ way: number[]; early: boolean }> {
  const stage = document.querySelector(`#${beat} .stage:not(.single)`) as HTMLElement;
  const stays = stage.querySelector('.stays') as HTMLElement;
  const steps = [...stage.querySelectorAll('.step')];
  const way = steps.map(() => 0);
  // The page looks for its step in the frame of the scroll event; a timeout set in a frame runs after it.
  const frame = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
  const look = async (y: number) => {
    scrollTo({ top: y, behavior: 'instant' });
    await frame();
    const top = Number.parseFloat(getComputedStyle(stays).top);
    const isPinned = Math.abs(stays.getBoundingClientRect().top - top) < 2;
    return { isPinned, at: steps.findIndex((step) => step.querySelector('[aria-current]')) };
  };
  let early = false;
  let seen = { isPinned: false, at: -1 };
  /** Scrolls on to `to`, in halves where something changes on the way, down to 20 px. */
  const scrollOn = async (from: number, to: number): Promise<void> => {
    const { isPinned, at } = await look(to);
    if ((isPinned !== seen.isPinned || at !== seen.at) && to - from > 20) {
      const middle = (from + to) / 2;
      await scrollOn(from, middle);
      await scrollOn(middle, to);
      return;
    }
    seen = { isPinned, at };
    if (isPinned && at >= 0) way[at] = (way[at] ?? 0) + to - from;
    if (!isPinned && at > 0 && (way[0] ?? 0) > 0 && way[at] === 0) early = true;
  };
  const start = stage.getBoundingClientRect().top + scrollY - innerHeight;
  for (let y = start; y < start + innerHeight + stage.offsetHeight; y += 160) await scrollOn(y, y + 160);
  return { way, early };
}

for (const [width, height] of [
  [1440, 900],
  [1024, 768],
  [390, 844],
] as const) {
  modelTest(
    `a step begins when its picture stays, and has at least 60 % of a window, ${width} × ${height} px`,
    async () => {
      for (const { beat, steps } of beats) {
        if (steps.length < 2) continue;
        const { page } = await sharedPages(beat);
        await page.setViewportSize({ width, height });
        const name = steps[0]?.figure as string;
        await settled(page, name);
        await page.locator(`#${beat} .stage:not(.single)`).evaluate((stage) => {
          stage.removeAttribute('data-expanded');
        });
        const { way, early } = await page.evaluate(wayOfSteps, beat);
        expect(early, beat).toBe(false);
        for (const pixels of way) expect(pixels, beat).toBeGreaterThanOrEqual(0.6 * height - 40);
        await page.setViewportSize({ width: 1440, height: 900 });
      }
    },
  );
}

/** In the page: the height of the largest blank in what the window shows of the step's stage. */
const blankBeside = (step: Element): number => {
  const stage = step.closest('.stage') as Element;
  const { top, bottom } = stage.getBoundingClientRect();
  let [filled, blank] = [Math.max(0, top), 0];
  const boxes = [...stage.querySelectorAll('.stays, .step > div')].map((part) =>
    part.getBoundingClientRect(),
  );
  for (const box of boxes.sort((one, other) => one.top - other.top)) {
    blank = Math.max(blank, Math.min(box.top, innerHeight) - filled);
    filled = Math.max(filled, box.bottom);
  }
  return Math.max(blank, Math.min(innerHeight, bottom) - filled);
};

modelTest.each(['sum', 'separate', 'mix'])(
  'the link of a step brings its picture’s tools into the window, too, and leaves no third of it blank: %s',
  async (of) => {
    const { page } = await sharedPages(of);
    const steps = page.locator('.step:not(:first-child)');
    for (const step of await steps.all()) {
      await step.getByRole('link').first().click();
      const name = await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('figure') ?? '');
      await expect.poll(() => page.evaluate(untilDrawn, name), { timeout: 240_000 }).toBe(true);
      // The placeholder may be lower than the live picture.
      await step.getByRole('link').first().click();
      await stepsCameBy(page);
      expect(await step.locator('[aria-current]').count(), name).toBe(1);
      const below = () =>
        figureOf(page, name).evaluate((element) => element.getBoundingClientRect().bottom - innerHeight);
      await expect.poll(below, { message: name }).toBeLessThanOrEqual(0);
      const blank = await step.evaluate(blankBeside);
      expect(blank, name).toBeLessThan((await page.evaluate(() => innerHeight)) / 3);
    }
  },
);

modelTest.each(beats.filter(({ steps }) => steps.length > 1).map(({ beat }) => beat))(
  'no third of a high window is blank below the picture of a step: %s',
  async (of) => {
    const { page } = await sharedPages(of);
    await page.setViewportSize({ width: 820, height: 1180 });
    for (const step of await page.locator(`#${of} .step`).all()) {
      await step.getByRole('link').first().click();
      await stepsCameBy(page);
      expect(await step.evaluate(blankBeside)).toBeLessThan(1180 / 3);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  },
);

modelTest.each(['sum', 'mix'])(
  'picture, settings and tools of a beat’s figure fit a window of 900 px: %s',
  async (of) => {
    const { page } = await sharedPages(of);
    for (const name of await page
      .locator('.stage superpose-figure')
      .evaluateAll((all) => all.map((element) => element.getAttribute('name') as string))) {
      await page.evaluate((figure) => {
        location.hash = `#v=1&figure=${figure}`;
      }, name);
      await settled(page, name);
      const figure = figureOf(page, name);
      expect((await figure.boundingBox())?.height, name).toBeLessThanOrEqual(820);
      // All other inputs are under “More settings”.
      const inSight = await figure.evaluate(
        (element) => element.shadowRoot?.querySelectorAll('.root > .controls > :not(.more)').length,
      );
      expect(inSight, name).toBeGreaterThan(0);
      expect(inSight, name).toBeLessThanOrEqual(of === 'sum' ? 2 : 3);
    }
  },
);

modelTest('who has followed every step has loaded the path’s scripts, within their budget', async () => {
  const { page, site } = await sharedPages('sum');
  await drawn(page, 'add-or-concatenate');
  for (const name of ['keep-apart', 'language', 'beside-added']) await settled(page, name);
  for (const bet of await page.locator('.bet').all()) await bet.scrollIntoViewIfNeeded();
  const folder = new URL(site.address).pathname;
  const requested = new Set(site.requests.map((path) => path.slice(folder.length)));
  const scripts = files.filter((file) => /^assets\/.*\.js$/.test(file) && requested.has(file));
  // A figure's two halves are files of the same name. Nothing of the evidence is loaded: it is another page.
  expect(scripts.filter((file) => file.startsWith('assets/besideAdded-'))).toHaveLength(2);
  const cards = new Set([...namesOn('evidence'), 'schemes', 'schemes-tasks']);
  expect(cards).toContain('gram');
  const inCard = (file: string) =>
    /^assets\/(\w+)-/.exec(file)?.[1]?.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);
  expect(scripts.filter((file) => cards.has(inCard(file) as string) && !isRecording(file))).toEqual([]);
  const code = scripts.filter((file) => !isRecording(file));
  expect(kilobytes(code)).toBeLessThan(141);
});

test('the figures of the evidence are in its beats or in a closed card', async () => {
  const { page } = await visit({ of: 'evidence' });
  expect(await page.locator('details:not(.check) superpose-figure').count()).toBe(0);
  expect(await page.locator('details.check[open]').count()).toBe(0);
});

modelTest('a closed card loads and computes nothing; opened, or linked to, it is there', async () => {
  const { page, site } = await visit({ of: 'evidence' });
  await drawn(page, 'dot-products');
  const card = page.locator('#check-narrow');
  await card.scrollIntoViewIfNeeded();
  // Another card, opened later, is live; the closed card has asked for nothing.
  await drawn(page, 'gram');
  await card.scrollIntoViewIfNeeded();
  await stepsCameBy(page);
  expect((await page.evaluate(readFigure, 'narrow'))?.drawn).toBeUndefined();
  expect(site.requests.filter((path) => path.includes('/assets/narrow-'))).toEqual([]);
  // The card shows a title and a finding.
  expect(await card.getByRole('heading').innerText()).toMatch(/\w/);
  expect(await card.locator('summary .card-finding').innerText()).toMatch(/\d/);
  await card.locator('summary').click();
  await expect.poll(async () => (await page.evaluate(readFigure, 'narrow'))?.drawn).toBeDefined();
  const second = await page.context().newPage();
  await second.goto(`${site.address}#v=1&figure=gram`);
  await expect.poll(async () => (await second.evaluate(readFigure, 'gram'))?.drawn).toBeDefined();
  const third = await page.context().newPage();
  await third.goto(`${site.address}#check-gram`);
  await expect.poll(async () => (await third.evaluate(readFigure, 'gram'))?.drawn).toBeDefined();
});

for (const [width, height] of [
  [390, 844],
  [1440, 900],
  [1920, 1080],
] as const) {
  modelTest(`the first figure is live on the first screen, ${width} × ${height}`, async () => {
    const { page, site } = await visit({ viewport: { width, height } });
    await expect.poll(async () => (await page.evaluate(readFigure, 'one-layer'))?.drawn).toBeDefined();
    expect(await page.evaluate(() => scrollY)).toBe(0);
    const box = await figureOf(page, 'one-layer').locator('.surface').boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(height);
    // The first figure needs neither the model nor the module that trains.
    expect(
      site.requests.filter((path) => /\/model\/|superpose-(plain|relaxed)-.*\.wasm$/.test(path)),
    ).toEqual([]);
  });
}

modelTest('a step sets its picture: scrolled to, forwards and backwards, and by its link', async () => {
  const { page } = await visit({ of: 'dot-products' });
  await page.locator('#dot-products').scrollIntoViewIfNeeded();
  const tokens = async () => (await page.evaluate(readFigure, 'dot-products'))?.drawn?.tokens;
  const scale = async () => (await page.evaluate(readFigure, 'dot-products'))?.drawn?.scale;
  await expect.poll(tokens).toBe('seeded');
  const scrolled = (way: number, value: () => Promise<unknown>, expected: unknown) =>
    expect
      .poll(
        async () => {
          if ((await value()) !== expected) await page.mouse.wheel(0, way);
          return value();
        },
        { timeout: 20_000, interval: 400 },
      )
      .toBe(expected);
  await page.mouse.move(400, 400);
  await scrolled(60, scale, 0);
  await scrolled(60, tokens, 'sentence');
  expect(await scale()).toBe(1);
  await scrolled(-60, scale, 0);
  expect(await page.evaluate(() => location.hash)).not.toContain('figure=');
  // By keyboard: the link of a step has the address of the step's state.
  const link = page.locator('#mix .step h3 a').last();
  await link.focus();
  await page.keyboard.press('Enter');
  await expect.poll(tokens).toBe('sentence');
  await expect.poll(() => page.url()).toContain('figure=dot-products&tokens=sentence');
  expect(await link.getAttribute('aria-current')).toBe('step');
  // The picture has stayed.
  const box = await figureOf(page, 'dot-products').locator('.surface').boundingBox();
  expect(box?.y).toBeGreaterThanOrEqual(0);
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(900);
});

modelTest('who tabs to a part of a picture that is not in sight keeps its state', async () => {
  const { page } = await visit({ viewport: { width: 1280, height: 440 }, fragment: '#dot-products' });
  const { state: before } = await settled(page, 'dot-products');
  const step = page.locator('#mix .step a[aria-current]');
  const first = await page.locator('#mix .step h3').first().textContent();
  await expect.poll(() => step.textContent()).toBe(first);
  const menu = figureOf(page, 'dot-products').locator('.menu > summary');
  const belowWindow = () => menu.evaluate((element) => element.getBoundingClientRect().top > innerHeight);
  await expect.poll(belowWindow).toBe(true);
  await menu.focus();
  // The focus brings the menu into sight, and further on another step becomes current.
  const further = async () => {
    await page.evaluate(() => scrollBy(0, 0.4 * innerHeight));
    return step.textContent();
  };
  await expect.poll(further).not.toBe(first);
  await stepsCameBy(page);
  expect((await page.evaluate(readFigure, 'dot-products'))?.state).toEqual(before);
});

modelTest('who has opened a picture’s numbers and scrolls through them keeps its state', async () => {
  const { page } = await visit({ viewport: { width: 1280, height: 720 }, fragment: '#dot-products' });
  const { state: before } = await settled(page, 'dot-products');
  const step = page.locator('#mix .step a[aria-current]');
  const first = await page.locator('#mix .step h3').first().textContent();
  await figureOf(page, 'dot-products').evaluate((figure) => {
    figure.shadowRoot?.querySelector<HTMLElement>('.tools > [aria-expanded]')?.click();
  });
  // Little by little: with its numbers open the picture is longer than its steps.
  for (let tries = 0; tries < 30; tries++) {
    await page.evaluate(() => scrollBy(0, 40));
    expect(await step.textContent()).toBe(first);
  }
  await stepsCameBy(page);
  expect((await page.evaluate(readFigure, 'dot-products'))?.state).toEqual(before);
});

test('without scripts all figures and steps of a beat stand in order', async () => {
  const { page } = await visit({ javaScriptEnabled: false });
  for (const name of ['oblique', 'keep-apart'])
    expect(await figureOf(page, name).locator('img').isVisible()).toBe(true);
  const tops = await page
    .locator('#separate .shot, #separate .step')
    .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().top));
  expect(tops.length).toBeGreaterThan(4);
});

test.each([390, 820, 1024, 1440])(
  'a presentation can be begun from the first screen, %s px',
  async (width) => {
    const { page } = await visit({ viewport: { width, height: 768 } });
    const link = page.getByRole('link', { name: 'present', includeHidden: false });
    expect((await link.boundingBox())?.y).toBeLessThan(700);
    await link.click();
    await page.getByRole('dialog', { name: 'Presentation' }).waitFor();
  },
);

test('its picture is there before any script', async () => {
  const { page } = await visit({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  const box = await figureOf(page, 'one-layer').locator('img').boundingBox();
  expect(box?.y).toBeLessThan(844);
});

test('the contents say where one is, beside the text and on a phone', async () => {
  const { page } = await visit();
  const here = () => page.locator('.contents [aria-current]').textContent();
  // This includes a section that is shorter than half of the window.
  for (const [section, name] of [
    ['separate', 'Is information lost?'],
    ['answer', 'The answer'],
  ] as const) {
    await page.evaluate((id) => document.getElementById(id)?.scrollIntoView(), section);
    await expect.poll(here).toBe(name);
  }
  expect(await page.locator('.contents li').first().isVisible()).toBe(true);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => document.querySelector('#verdicts')?.scrollIntoView());
  const bar = page.locator('.contents button');
  await expect.poll(() => bar.innerText()).toMatch(/^\d+\/\d+ Claims, checked/);
  expect((await bar.boundingBox())?.y).toBe(0);
  await bar.click();
  await page.locator('.contents').getByRole('link', { name: 'Is information lost?', exact: true }).click();
  await expect.poll(() => bar.innerText()).toMatch(/^\d+\/\d+ Is information lost\?/);
  expect(await page.locator('.contents li').first().isVisible()).toBe(false);
  // A tap beside the list closes the list and does nothing else; so does scrolling the page below it.
  const first = page.locator('.contents li').first();
  await bar.click();
  expect(await first.isVisible()).toBe(true);
  const list = (await page.locator('.contents ol').boundingBox()) as { y: number; height: number };
  const beside = { x: 195, y: (list.y + list.height + 844) / 2 };
  expect(await page.evaluate(({ x, y }) => document.elementFromPoint(x, y)?.className, beside)).toBe(
    'contents',
  );
  await page.mouse.click(beside.x, beside.y);
  expect(await first.isVisible()).toBe(false);
  await bar.click();
  await page.mouse.wheel(0, 40);
  await expect.poll(() => first.isVisible()).toBe(false);
  // At the end of the page the last section is current, however short it is.
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await expect.poll(() => bar.innerText()).toMatch(/^(\d+)\/\1 Limits/);
  // At the top no section is current.
  await page.evaluate(() => scrollTo(0, 0));
  await expect.poll(() => page.locator('.contents [aria-current]').count()).toBe(0);
});

modelTest(
  'on a phone a beat’s picture has no caption, because its step says it, until the reader opens everything',
  async () => {
    const { page } = await visit({ of: 'dot-products', viewport: { width: 390, height: 844 } });
    const figure = figureOf(page, 'dot-products');
    await figure.scrollIntoViewIfNeeded();
    await figure.locator('.surface').waitFor();
    expect(await figure.locator('.root > .finding').isVisible()).toBe(false);
    await page.locator('#mix .expand').click();
    expect(await figure.locator('.root > .finding').isVisible()).toBe(true);
  },
);
