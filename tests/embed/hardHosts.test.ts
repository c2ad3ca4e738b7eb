// Difficult pages: on each, figures take the best form that the page allows, without avoidable messages on
// its console.
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { iframe } from '../../web/page/snippets.ts';
import { openChromium } from '../engines/chromium.ts';
import { figure, inPage, type Made, openBlog, page, patience, script, settled } from './support/embeds.ts';
import { findingOf, readFigures, wishOf } from './support/figures.ts';

async function open(make: Made, before?: (page: Page) => Promise<unknown>) {
  const chromium = await openChromium();
  await before?.(chromium.page);
  const messages: string[] = [];
  chromium.page.on('console', (message) => {
    // The missing icon is the blog's own affair.
    if (['error', 'warning'].includes(message.type()) && !message.location().url.endsWith('favicon.ico'))
      messages.push(message.text());
  });
  const opened = await openBlog(async () => chromium, make);
  return { ...opened, browserPage: chromium.page, said: messages };
}

const lazy = figure('name="dot-products" n="6"').replace(' src=', ' class="lazyload" data-src=');
/**
 * Names of members that figures, marks, answers and options may or may not have, and of members that other
 * people's libraries add.
 */
const names =
  'again anchor answer apart attribute before bold boxes button clone converter dashed data each enter error extend failure fill focus follows fraction frame handles held id include ink isEmpty italic job kind label live look more opacity options outdated paused picture plays print problem progress radio recipes remark runs separate shift size spans state stroke subtitle term text turn type wide';
const live: [string, Made][] = [
  [
    'a base that points elsewhere',
    ({ site }) => ({
      html: page(
        figure('name="dot-products" n="6"') + script(site),
        '<base href="/not/here/" target="_top">',
      ),
    }),
  ],
  [
    'no referrer',
    ({ site }) => ({
      html: page(figure('name="dot-products" n="6"') + script(site)),
      headers: { 'Referrer-Policy': 'no-referrer' },
    }),
  ],
  ['pictures that are rewritten for lazy loading', ({ site }) => ({ html: page(lazy + script(site)) })],
  [
    'a page that adds fifty names to Object.prototype, and takes at() from arrays',
    ({ site }) => ({
      html: page(
        `<script>for (const name of '${names}'.split(' ')) Object.prototype[name] = 'theirs'; delete Array.prototype.at</script>${figure('name="dot-products" n="6"')}${script(site)}`,
      ),
    }),
  ],
  [
    'a page that isolates itself',
    ({ site }) => ({
      html: page(figure('name="dot-products" n="6"') + script(site)),
      headers: {
        'Cross-Origin-Embedder-Policy': 'require-corp',
        'Cross-Origin-Opener-Policy': 'same-origin',
      },
    }),
  ],
];
test.each(live)('a live figure, and a quiet console: %s', async (_, make) => {
  const { engine, said: messages } = await open(make);
  const [shownFigure] = await settled(inPage(engine));
  expect(shownFigure).toMatchObject({ finding: await findingOf('dot-products', { n: '6' }), problem: '' });
  expect([...engine.complaints, ...messages]).toEqual([]);
});

test('a page whose remove() throws hears of no error', async () => {
  const { engine, said: messages } = await open(({ site }) => ({
    html: page(
      `<script>Element.prototype.remove = () => { throw new Error('theirs') }</script>${figure('name="dot-products" n="6"')}${script(site)}`,
    ),
  }));
  await expect
    .poll(() => messages.join(), patience)
    .toContain('“dot-products” could not be drawn on this page');
  expect(engine.complaints).toEqual([]);
});

test('a page whose remove() does nothing shows the figure alone', async () => {
  const {
    engine,
    browserPage,
    said: messages,
  } = await open(({ site }) => ({
    html: page(
      `<script>Element.prototype.remove = () => {}</script>${figure('name="dot-products" n="6"')}${script(site)}`,
    ),
  }));
  await settled(inPage(engine));
  const others = browserPage.locator('superpose-figure :is(.over, .note, img)').filter({ visible: true });
  expect(await others.count()).toBe(0);
  expect([...engine.complaints, ...messages]).toEqual([]);
});

test('a page that isolates itself may frame figures and show pictures', async () => {
  const {
    engine,
    browserPage,
    said: messages,
  } = await open(({ site }) => ({
    html: page(
      `<img src="${site}pictures/dot-products-wide.svg" alt=""><script src="${site}resize.js"></script><iframe title="F" src="${site}figures/dot-products/"></iframe>`,
    ),
    headers: {
      'Cross-Origin-Embedder-Policy': 'require-corp',
      'Cross-Origin-Opener-Policy': 'same-origin',
    },
  }));
  expect(await browserPage.evaluate(() => crossOriginIsolated)).toBe(true);
  expect(await browserPage.evaluate(() => document.images[0]?.naturalWidth)).toBeGreaterThan(0);
  const inFrame = async () => (await engine.evaluateInFrame(readFigures))[0]?.finding;
  await expect.poll(inFrame, patience).toBe(await findingOf('dot-products'));
  expect([...engine.complaints, ...messages]).toEqual([]);
});

test('a blocker drops the .wasm: the picture stays, with a sentence that says which file and a way to try again', async () => {
  const {
    engine,
    said: messages,
    servers,
  } = await open(
    ({ site }) => ({ html: page(figure('name="dot-products" n="6"') + script(site)) }),
    (page) => page.route(/\.wasm$/, (route) => route.abort('blockedbyclient')),
  );
  const [shownFigure] = await settled(inPage(engine));
  expect(shownFigure).toMatchObject({ finding: '', picture: true });
  // The picture comes from the author, who has saved it in this state.
  expect(shownFigure?.problem).toMatch(/^The picture stands still\. The WebAssembly file .*Try again/);
  // A blocker, a policy and a lost network look alike, so the sentence asks about each that the author can
  // change.
  expect(shownFigure?.problem).toContain(
    `is there a network, and does the page’s policy allow connections to ${new URL(servers.site).host}?`,
  );
  // The browser itself reports the missing file; we add nothing to that.
  expect(messages.filter((text) => !/Failed to load resource/.test(text))).toEqual([]);
});

test('an element without a picture shows the site’s after a failure, but not where it is of another state', async () => {
  const bare = (settings: string) => `<superpose-figure name="dot-products" ${settings}></superpose-figure>`;
  const { engine, browserPage } = await open(
    ({ site }) => ({ html: page(bare('') + bare('n="6"') + script(site)) }),
    (page) => page.route(/\.wasm$/, (route) => route.abort('blockedbyclient')),
  );
  await settled(inPage(engine), 2);
  const pictures = await browserPage
    .locator('superpose-figure')
    .evaluateAll((all) => all.map((element) => element.shadowRoot?.querySelectorAll('img').length));
  expect(pictures).toEqual([1, 0]);
});

/** A blog with the dialog's frame, changed. */
async function openFrame(changed: (snippet: string) => string) {
  const request = await wishOf('dot-products', {}, '');
  const { browserPage, servers } = await open(
    ({ site }) => ({ html: page(changed(iframe({ ...request, home: site }))) }),
    // In a headless browser nobody could be asked for the permission.
    (blog) => blog.context().grantPermissions(['clipboard-write']),
  );
  const frame = browserPage.frameLocator('iframe');
  await frame.getByText('Tools').click();
  const opened = async () => {
    const popup = browserPage.waitForEvent('popup');
    await frame.getByRole('link', { name: 'Open in Superpose' }).click();
    const figure = (await popup).locator('superpose-figure[name=dot-products]');
    return { popup: await popup, figure };
  };
  return { frame, opened, servers };
}

test('from a frame a link is copied, and the page opens and computes', async () => {
  const { frame, opened } = await openFrame((snippet) => snippet);
  await frame.getByRole('button', { name: 'Copy link' }).click();
  await frame.getByText('Link copied.').waitFor();
  const { figure } = await opened();
  await figure.locator('.surface').waitFor();
  expect(await figure.getByRole('alert').count()).toBe(0);
});

test('from a frame that lets nothing out of its sandbox, the page says so, with a link to copy', async () => {
  const { frame, opened, servers } = await openFrame((snippet) =>
    snippet.replace(' allow-popups-to-escape-sandbox', '').replace(' allow="clipboard-write"', ''),
  );
  await frame.getByRole('button', { name: 'Copy link' }).click();
  const status = frame.getByText('Copying is blocked. This is the link:');
  expect(await status.textContent()).toContain(`${servers.site}#v=1&figure=dot-products&`);
  const { figure, popup } = await opened();
  expect(await figure.getByRole('alert').textContent()).not.toContain('Reload');
  const sentence = popup.getByText('This page is in a sandbox');
  expect(await sentence.textContent()).toContain(`Copy its address into a new tab: ${popup.url()}`);
  expect(await sentence.getByRole('link').getAttribute('href')).toBe(popup.url());
  // The sentence is in sight, wherever the link led to.
  const seen = await sentence.evaluate((line) => {
    const { left, top } = line.getBoundingClientRect();
    return scrollY > 500 && line.contains(document.elementFromPoint(left + 9, top + 9));
  });
  expect(seen).toBe(true);
});

test('a frame that may run no scripts shows the picture and what it says', async () => {
  const { browserPage } = await open(({ site }) => ({
    html: page(
      `<iframe sandbox title="Dot products" width="700" height="700" src="${site}figures/dot-products/"></iframe>`,
    ),
  }));
  const inFrame = browserPage.frameLocator('iframe');
  await inFrame.locator('superpose-figure').waitFor();
  const pictures = inFrame.locator('superpose-figure :is(svg, img)').filter({ visible: true });
  await expect.poll(() => pictures.count(), patience).toBeGreaterThan(0);
  expect(await inFrame.locator('superpose-figure').textContent()).toContain(await findingOf('dot-products'));
  // The note is there because a link may have asked for another state. Playwright's text search ignores the
  // contents of a noscript.
  const note = inFrame.locator('noscript p');
  expect(await note.textContent()).toBe('Without scripts, this is the figure’s first view.');
  expect(await note.isVisible()).toBe(true);
  // The wide picture is as wide as the frame, except for the page's margins.
  expect((await pictures.first().boundingBox())?.width).toBeGreaterThan(650);
});

test('a style for print that hides frames leaves the link, and prints a figure as it is', async () => {
  const { engine, browserPage } = await open(({ site }) => ({
    html: page(
      `${figure('name="dot-products" n="6"')}<iframe title="F" src="${site}figures/dot-products/"></iframe><p><a id="link" href="${site}">Dot products, in Superpose</a></p>${script(site)}`,
      '<style>@media print{iframe{display:none}}</style>',
    ),
  }));
  await settled(inPage(engine));
  await browserPage.emulateMedia({ media: 'print' });
  expect(await browserPage.locator('#link').isVisible()).toBe(true);
  expect(await browserPage.locator('iframe').isVisible()).toBe(false);
  expect(await browserPage.locator('superpose-figure .finding').isVisible()).toBe(true);
});
