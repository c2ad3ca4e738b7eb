// Failures outside the page: each ends in a plain sentence where the reader looks, the rest of the page
// goes on, and "Try again" helps once the cause is gone.
import type { Locator, Page } from 'playwright';
import { describe, expect, inject, test } from 'vitest';
import { readFigure } from './support/shown.ts';
import type { Site } from './support/site.ts';
import { figureOf, modelTest, stepsCameBy, unfold, visit } from './support/visit.ts';

/** A figure's error message once it appears: a whole sentence, and a way to try again. */
async function complaintOf(figure: Locator): Promise<string> {
  const alert = figure.getByRole('alert');
  // The content above may have pushed the figure away from the reader, so that it has not asked yet.
  const shown = async () => {
    await figure.scrollIntoViewIfNeeded();
    return alert.isVisible();
  };
  await expect.poll(shown).toBe(true);
  const sentence = (await alert.textContent()) ?? '';
  expect(sentence).toMatch(/^[A-Z].*[.)] Try again$/);
  return sentence;
}

/** Brings a figure near, so that it asks for what it needs. */
async function brought(page: Page, name: string): Promise<Locator> {
  const figure = figureOf(page, name);
  await unfold(page, name);
  await figure.scrollIntoViewIfNeeded();
  await stepsCameBy(page);
  return figure;
}
/**
 * A figure in a beat, at the step that needs no model. Going to the step would set the figure's state, so
 * this goes there only if the figure is out of sight.
 */
async function figure1(page: Page): Promise<Locator> {
  const figure = figureOf(page, 'dot-products');
  const inSight = await figure.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  });
  if (!inSight) await page.locator('#dot-products h3 > a').click();
  await stepsCameBy(page);
  return figure;
}
/** A figure in a card, which needs the model. */
const figure2 = (page: Page) => brought(page, 'gauge');

const tryAgain = (figure: Locator) => figure.getByRole('button', { name: 'Try again' }).click();

/** Waits until a figure shows numbers and no error. */
async function recovers(figure: Locator): Promise<void> {
  await figure.locator('.surface').waitFor({ timeout: 10_000 });
  await expect.poll(() => figure.getByRole('alert').count()).toBe(0);
}

/** Figure 1 with all its settings in sight. */
async function figure1Open(page: Page): Promise<Locator> {
  const figure = await figure1(page);
  await figure.locator('details.more').evaluate((more: HTMLDetailsElement) => {
    more.open = true;
  });
  return figure;
}

/** Sets the number of tokens of figure 1. */
const fillN = async (page: Page, n: string) => (await figure1Open(page)).locator('input[name=n]').fill(n);

/** Checks that figure 1 answers its sliders. */
async function goesOn(page: Page): Promise<void> {
  for (const [n, pairs] of Object.entries({ 5: 10, 6: 15 })) {
    await fillN(page, n);
    await expect
      .poll(async () => (await page.evaluate(readFigure, 'dot-products'))?.finding)
      .toContain(`Over ${pairs} pairs`);
  }
}

describe('the part that computes', () => {
  const troubles: [string, (site: Site) => void, RegExp][] = [
    ['.wasm is not there', (site) => site.lose(/\.wasm$/), /WebAssembly file .*the server answered 404/],
    [
      '.wasm is only half there',
      (site) => site.truncate(/\.wasm$/),
      /WebAssembly file is damaged or incomplete/,
    ],
    ['.wasm breaks off', (site) => site.cut(/\.wasm$/), /WebAssembly file broke off/],
    ['worker is not there', (site) => site.lose(/worker-.*\.js$/), /compute worker failed to load/],
  ];
  test.each(troubles)('the %s', async (_, site, sentence) => {
    const { page, site: served } = await visit({ of: 'gauge', site });
    expect(await complaintOf(await figure2(page))).toMatch(sentence);
    expect(await complaintOf(await figure1(page))).toMatch(sentence);
    expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(true);

    served.mend();
    await tryAgain(await figure1(page));
    await recovers(await figure1(page));
    await goesOn(page);
    if (!inject('withModel')) return;
    await tryAgain(await figure2(page));
    await recovers(await figure2(page));
  });

  test('the picture of the first view stands in for it alone, or is said to', async () => {
    const { page } = await visit({ of: 'gauge', site: (site) => site.lose(/\.wasm$/) });
    const first = 'It shows the figure’s first view';
    expect(await complaintOf(await figure2(page))).not.toContain(first);
    await figure1(page);
    await fillN(page, '5');
    await expect.poll(async () => complaintOf(await figure1(page))).toContain(first);
  });

  test('the .wasm is slow', async () => {
    let release = () => {};
    const { page } = await visit({
      of: 'gauge',
      site: (site) => {
        release = site.hold(/\.wasm$/);
      },
    });
    await (await figure1(page)).getByText('Computing…').waitFor();
    expect(await (await figure1Open(page)).getByRole('slider').count()).toBe(3);
    expect(await (await figure1(page)).locator('img').isVisible()).toBe(true);
    release();
    await recovers(await figure1(page));
  });

  test('no memory is left for a result, in the middle of a computation', async () => {
    const { page } = await visit({
      of: 'gauge',
      site: (site) =>
        site.prefix(
          /worker-.*\.js$/,
          `let refusing = false;
          let refused = 0;
          const channel = new BroadcastChannel('memory');
          channel.onmessage = ({ data }) => { refusing = data; channel.postMessage(refused); };
          globalThis.Float64Array = new Proxy(Float64Array, {
            construct(made, given, as) {
              if (!refusing || !ArrayBuffer.isView(given[0])) return Reflect.construct(made, given, as);
              refused++;
              throw new RangeError('Array buffer allocation failed');
            },
          });`.replaceAll('\n', ''),
        ),
    });
    /** Begins or ends refusing memory. Returns how often memory has been refused so far. */
    const refuse = (refusing: boolean) =>
      page.evaluate(
        (data) =>
          new Promise<number>((resolve) => {
            const channel = new BroadcastChannel('memory');
            channel.onmessage = (event) => resolve(event.data);
            channel.postMessage(data);
          }),
        refusing,
      );
    await recovers(await figure1(page));
    const brokeOff = 'The computation broke off, most likely for want of memory. Ask for less, or try again.';
    await refuse(true);
    await fillN(page, '7');
    expect(await complaintOf(await figure1(page))).toContain(brokeOff);
    // Still too little memory: the same sentence, and nothing worse.
    const first = await refuse(true);
    expect(first).toBeGreaterThan(0);
    await tryAgain(await figure1(page));
    await expect.poll(() => refuse(true)).toBeGreaterThan(first);
    expect(await complaintOf(await figure1(page))).toContain(brokeOff);
    await refuse(false);
    await tryAgain(await figure1(page));
    await recovers(await figure1(page));
    await goesOn(page);
  });

  test('the browser has no WebAssembly', async () => {
    const { page } = await visit({
      of: 'gauge',
      first: () => Reflect.deleteProperty(window, 'WebAssembly'),
      // A worker has its own global object.
      site: (site) => site.prefix(/worker-.*\.js$/, 'delete self.WebAssembly;'),
    });
    for (const figure of [await figure1(page), await figure2(page)]) {
      expect(await complaintOf(figure)).toMatch(/no WebAssembly SIMD.* Any browser since 2023 has it/);
    }
  });
});

describe('the model', () => {
  test('is not there at all', async () => {
    const { page } = await visit({ of: 'gauge', site: (site) => site.lose(/^model\//) });
    for (const name of ['gauge', 'one-score']) {
      expect(await complaintOf(await brought(page, name))).toContain('The MiniLM files are not there');
    }
    await goesOn(page);
    await (await figure1(page)).getByLabel('Your sentence (MiniLM)').check();
    expect(await complaintOf(await figure1(page))).toContain('The MiniLM files are not there');
    await (await figure1(page)).getByLabel('Random (seeded)').check();
    await recovers(await figure1(page));
  });

  const troubles: [string, (site: Site) => void, RegExp][] = [
    ['words are missing', (site) => site.lose(/words-\d+\./), /words-\d+\.bin .*the server answered 404/],
    ['words are half there', (site) => site.truncate(/words-\d+\./), /words-\d+\.bin is damaged/],
  ];
  modelTest.each(troubles)('%s', async (_, site, sentence) => {
    const { page, site: served } = await visit({ of: 'gauge', site });
    expect(await complaintOf(await figure2(page))).toMatch(sentence);
    await goesOn(page);
    served.mend();
    await tryAgain(await figure2(page));
    await recovers(await figure2(page));
  });

  modelTest('is slow', async () => {
    let release = () => {};
    const { page } = await visit({
      of: 'gauge',
      site: (site) => {
        release = site.hold(/^model\//);
      },
    });
    await (await figure2(page)).getByText('Fetching MiniLM').waitFor();
    await goesOn(page);
    release();
    await recovers(await figure2(page));
    expect(await (await figure2(page)).getByText('Fetching MiniLM').count()).toBe(0);
  });
});

/** Loads the pictures that would wait until the reader is near. */
const picturesThere = (page: Page): Promise<unknown> =>
  page.evaluate(() =>
    Promise.all(
      [...document.images].map((image) => {
        image.loading = 'eager';
        return image.decode();
      }),
    ),
  );

modelTest('the network goes once the page is there, and comes back', async () => {
  const { page } = await visit({ of: 'gauge' });
  // The code that answers bets is loaded when a bet is near.
  await unfold(page, 'collisions');
  await page.locator('.bet').first().scrollIntoViewIfNeeded();
  const there = () => performance.getEntriesByType('resource').some(({ name }) => name.includes('/bets-'));
  await expect.poll(() => page.evaluate(there)).toBe(true);
  await page.evaluate(() => scrollTo(0, 0));
  const box = figureOf(page, 'gauge').locator('textarea');
  await recovers(await figure1(page));
  await recovers(await figure2(page));
  await picturesThere(page);
  await page.context().setOffline(true);
  await goesOn(page);
  await box.fill('zebras xylophone quartz');
  expect(await complaintOf(await figure2(page))).toContain('is there a network?');
  // Words that are already loaded need no network.
  await box.fill('the other bank');
  await recovers(await figure2(page));
  await box.fill('zebras xylophone quartz');
  await complaintOf(await figure2(page));
  await page.context().setOffline(false);
  await tryAgain(await figure2(page));
  await recovers(await figure2(page));
});

test.each([
  ['verdicts', 'Why are positions added', 'Is information lost?', 'oblique'],
  ['evidence', 'Evidence', 'What is one attention score made of?', 'dot-products'],
])('JavaScript is off: the text stays and says what is missing: %s', async (of, title, heading, name) => {
  const { page, site } = await visit({ of, javaScriptEnabled: false });
  const lines = [
    page.getByRole('heading', { level: 1, name: title }),
    page.getByRole('heading', { name: heading }),
    // Playwright's text search ignores the contents of a noscript.
    page.locator('noscript p'),
    page.locator(`superpose-figure[name=${name}] img`),
    page.locator(`superpose-figure[name=${name}] .finding`),
  ];
  for (const line of lines) expect(await line.isVisible()).toBe(true);
  expect(await page.locator('noscript p').textContent()).toContain('JavaScript and WebAssembly');
  expect(site.requests.filter((path) => /\.wasm$|\/model\//.test(path))).toEqual([]);
});

test('JavaScript is off: on a phone the contents stay at the top of the page', async () => {
  const { page } = await visit({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  await page.locator('footer').scrollIntoViewIfNeeded();
  expect((await page.locator('.contents').boundingBox())?.y).toBeLessThan(-844);
});

test('JavaScript is off: nothing is offered that does nothing, and filters of claims need no script', async () => {
  const { page } = await visit({ javaScriptEnabled: false });
  await page.locator('.verdict > summary').first().click();
  for (const dead of ['.bet', '.contents button', 'a[href="#present"]', '.verdict .see[href*="figure="]'])
    expect(await page.locator(dead).filter({ visible: true }).count(), dead).toBe(0);
  const shown = page.locator('.verdict').filter({ visible: true });
  const all = await shown.count();
  await page.getByLabel('Verdict').selectOption('False');
  expect(await shown.count()).not.toBe(all);
  expect(await page.locator('.more-claims').isVisible()).toBe(false);
});
