// That a page's first figure comes near is noticed wherever it is, however late it comes, and only once.
import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { openPage, painted, scriptOf } from './support/module.ts';

const figure = '<superpose-figure></superpose-figure>';
const below = (pixels: number) => `<p style="height:${pixels}px">Words</p>`;
/** Code that defines a custom element with an open or closed shadow. */
const card = (mode: 'open' | 'closed', inside = figure) =>
  `customElements.define('blog-card', class extends HTMLElement {
    connectedCallback() { this.attachShadow({ mode: '${mode}' }).innerHTML = ${JSON.stringify(inside)}; } });`;

/** How often the page was told that a figure is near, and what failed. */
const outcomeOf = (page: Page) =>
  page.evaluate(() => (window as unknown as { said: { near: number; failed: string[] } }).said);

const start = (define = 'async () => {}') => `
  window.said = { near: 0, failed: [] };
  const define = ${define};
  embed.whenNear(() => { said.near += 1; return define(); }, (error) => said.failed.push(String(error)));`;

async function watched(body: string, define?: string): Promise<Page> {
  const page = await openPage(body);
  await page.addScriptTag({ content: await scriptOf('whenNear') });
  await page.evaluate(start(define));
  await painted(page);
  return page;
}
/** Waits until the search after the first layout is over, which would find figures that come meanwhile. */
const rested = (page: Page) => page.evaluate(() => new Promise((over) => setTimeout(over, 400)));
const nearAfter = async (page: Page, code = '') => {
  await page.evaluate(code);
  await painted(page);
  return (await outcomeOf(page)).near;
};

describe('a figure', () => {
  test('in view, and a second one: told once', async () => {
    const page = await watched(figure + figure);
    expect(await outcomeOf(page)).toEqual({ near: 1, failed: [] });
    expect(await nearAfter(page, `document.body.innerHTML += ${JSON.stringify(figure)}`)).toBe(1);
    expect(await nearAfter(page, "document.body.style.paddingTop = '5000px'; scrollTo(0, 5000)")).toBe(1);
  });

  test('in view, and another in an element that is defined later: told once', async () => {
    const page = await watched(`${figure}<blog-card></blog-card>`);
    expect(await nearAfter(page, card('open'))).toBe(1);
    expect(await nearAfter(page, "dispatchEvent(new Event('load'))")).toBe(1);
  });

  test('whose code does not come: what failed is said', async () => {
    const page = await watched(figure, "() => Promise.reject(new Error('gone'))");
    expect(await outcomeOf(page)).toEqual({ near: 1, failed: ['Error: gone'] });
  });

  test('a thousand pixels below is near; far below it is not, until the reader comes', async () => {
    const height = 720;
    expect((await outcomeOf(await watched(below(height + 1000) + figure))).near).toBe(1);
    const page = await watched(below(height + 3000) + figure);
    expect((await outcomeOf(page)).near).toBe(0);
    expect(await nearAfter(page, 'scrollTo(0, 2500)')).toBe(1);
  });

  const late: [string, string, string][] = [
    ['that comes by itself', '', "document.body.append(document.createElement('superpose-figure'))"],
    ['that comes within something', '', `document.body.innerHTML = '<main><b>${figure}</b></main>'`],
    [
      'deep in the page',
      '<main><section>Words<i></i></section></main>',
      `document.querySelector('i').innerHTML = '${figure}'`,
    ],
    [
      'in an open shadow that is there',
      '<main><div><template shadowrootmode="open"><i></i></template></div></main>',
      `document.querySelector('div').shadowRoot.querySelector('i').innerHTML = '${figure}'`,
    ],
    ['in an element that is defined later', '<blog-card></blog-card>', card('open')],
    [
      'in a shadow that an element is given later',
      '<div>Words</div>',
      `document.querySelector('div').attachShadow({ mode: 'open' }).innerHTML = '${figure}<p>Words</p>'`,
    ],
  ];
  test.each(late)('%s', async (_, body, code) => {
    const page = await watched(`<p>Words</p>${body}`);
    await rested(page);
    expect((await outcomeOf(page)).near).toBe(0);
    await page.evaluate(code);
    await expect.poll(async () => (await outcomeOf(page)).near).toBe(1);
  });

  test('is searched for once a page that is being resized rests, not at every step', async () => {
    const page = await openPage('<main>Words</main>');
    await page.addScriptTag({ content: await scriptOf('whenNear') });
    await page.evaluate(`
      window.searches = 0;
      const { querySelectorAll } = document;
      document.querySelectorAll = (...given) => { searches += 1; return querySelectorAll.apply(document, given); };
      window.later = [];
      const now = setTimeout;
      window.setTimeout = (work, wait) => wait ? later.push(work) : now(work);
    `);
    await page.evaluate(start());
    await painted(page);
    const searches = () => page.evaluate('searches') as Promise<number>;
    const before = await searches();
    for (const padding of [10, 20, 30, 40, 50]) {
      await page.evaluate((pixels) => {
        document.body.style.paddingTop = `${pixels}px`;
      }, padding);
      await painted(page);
    }
    expect(await searches()).toBe(before);
    await page.evaluate('for (const work of later.splice(0)) work()');
    const rested = await searches();
    expect(rested).toBeGreaterThan(before);
    // One search makes one or two queries, as before the page was resized.
    expect(rested - before).toBeLessThanOrEqual(2);
  });
});

describe('in a closed shadow', () => {
  test.each([
    ['a custom element that is defined', `<blog-card></blog-card><script>${card('closed')}</script>`, 1],
    ['with words between its tags', `<blog-card>Words</blog-card><script>${card('closed')}</script>`, 1],
    ['a custom element that nobody has defined', '<blog-card></blog-card>', 0],
    ['one whose shadow is open, and empty', `<blog-card></blog-card><script>${card('open', '')}</script>`, 0],
    ['an empty element that can have a shadow', '<section> </section>', 1],
    ['one with words', '<section>Words</section>', 0],
    ['one with a child', '<section><b></b></section>', 0],
    ['an empty element that can have none', '<em></em>', 0],
    ['none where there is a figure far below', `<section></section>${below(9000)}${figure}`, 0],
    ['an element far below', `${below(9000)}<section>`, 0],
  ])('%s', async (_, body, near) => {
    expect((await outcomeOf(await watched(`<p>Words</p>${body}`))).near).toBe(near);
  });

  test('an element that is defined later', async () => {
    const page = await watched('<p>Words</p><blog-card></blog-card>');
    expect((await outcomeOf(page)).near).toBe(0);
    expect(await nearAfter(page, card('closed'))).toBe(1);
  });

  test('a page that is still loading may yet have figures', async () => {
    const page = await openPage();
    let release = () => {};
    const released = new Promise<void>((go) => {
      release = go;
    });
    await page.route('https://blog.example/**', async (route) => {
      if (route.request().url().endsWith('.png')) await released;
      const body = '<section></section><img alt="" width="9" height="9" src="slow.png">';
      await route.fulfill({ contentType: 'text/html', body: `<!DOCTYPE html>${body}` });
    });
    await page.goto('https://blog.example/', { waitUntil: 'domcontentloaded' });
    await page.addScriptTag({ content: await scriptOf('whenNear') });
    await page.evaluate(start());
    await rested(page);
    expect(await page.evaluate(() => document.readyState)).toBe('interactive');
    expect((await outcomeOf(page)).near).toBe(0);
    release();
    await expect.poll(async () => (await outcomeOf(page)).near).toBe(1);
  });
});
