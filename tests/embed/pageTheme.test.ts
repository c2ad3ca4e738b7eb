// Whether the page around a figure is light or dark behind it, and when that may have changed.
import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { openPage, painted, scriptOf } from './support/module.ts';

async function paged(body: string, head = ''): Promise<Page> {
  const page = await openPage(body, head);
  await page.addScriptTag({ content: await scriptOf('pageTheme') });
  return page;
}
const themeOf = (page: Page) => page.evaluate("embed.pageTheme(document.querySelector('#it'))");
const here = '<i id="it"></i>';

describe('the theme around an element', () => {
  test.each([
    ['rgb(255, 255, 255)', 'light'],
    ['rgb(0, 0, 0)', 'dark'],
    // Colours count as bright as they look: green is bright, and red and blue are not.
    ['rgb(0, 255, 0)', 'light'],
    ['rgb(255, 0, 0)', 'dark'],
    ['rgb(120, 120, 120)', 'dark'],
    ['rgb(140, 140, 140)', 'light'],
    ['oklch(0.2 0.02 260)', 'dark'],
    ['color-mix(in srgb, white, black 10%)', 'light'],
  ])('is that of %s: %s', async (colour, theme) => {
    const other = theme === 'light' ? '#111' : '#eee';
    const page = await paged(
      `<div style="background:${other}"><div style="background:${colour}">${here}</div></div>`,
    );
    expect(await themeOf(page)).toBe(theme);
  });

  test('is that of the nearest background that covers what is behind it, now', async () => {
    const page = await paged(
      `<main style="background:#111"><p style="background:rgb(255 255 255 / 20%)"><b>${here}</b></p></main>`,
      '<style>body { background: #fff }</style>',
    );
    expect(await themeOf(page)).toBe('dark');
    expect(await themeOf(page)).toBe('dark');
    await page.evaluate("document.querySelector('p').style.background = 'rgb(255 255 255 / 80%)'");
    expect(await themeOf(page)).toBe('light');
    await page.evaluate("document.querySelector('p').style.background = ''");
    expect(await themeOf(page)).toBe('dark');
    await page.evaluate("document.querySelector('main').style.background = ''");
    expect(await themeOf(page)).toBe('light');
    // The element's own background does not count.
    await page.evaluate("document.querySelector('#it').style.background = '#000'");
    expect(await themeOf(page)).toBe('light');
  });

  test('goes up through shadows, by the slot that the element stands in', async () => {
    const page = await paged(
      `<div style="background:#fff"><blog-card>${here}</blog-card></div><div id="dark" style="background:#111"></div>`,
    );
    const slotted = await page.evaluate(`
      window.card = document.querySelector('blog-card').attachShadow({ mode: 'open' });
      card.innerHTML = '<div style="background:#222"><slot></slot></div>';
      embed.pageTheme(document.querySelector('#it'))`);
    expect(slotted).toBe('dark');
    const inShadow = await page.evaluate(`
      card.innerHTML = '<b></b>';
      document.querySelector('#dark').append(document.querySelector('blog-card'));
      embed.pageTheme(card.querySelector('b'))`);
    expect(inShadow).toBe('dark');
  });

  const dark = 'dark' as const;
  test.each([
    ['nothing', '', dark, 'light'],
    ['a scheme that is dark', '<style>:root { color-scheme: dark }</style>', 'light', 'dark'],
    [
      'schemes, of which the reader prefers one',
      '<style>:root { color-scheme: light dark }</style>',
      dark,
      'dark',
    ],
    [
      'schemes, of which the reader prefers the other',
      '<style>:root { color-scheme: light dark }</style>',
      'light',
      'light',
    ],
    ['a scheme that is light', '<style>:root { color-scheme: light }</style>', dark, 'light'],
    ['it in its head', '<meta name="color-scheme" content="dark">', 'light', 'dark'],
    ['it in its head, for either', '<meta name="color-scheme" content="light dark">', dark, 'dark'],
    [
      'its style stronger than its head',
      '<meta name="color-scheme" content="dark"><style>i { color-scheme: light }</style>',
      dark,
      'light',
    ],
  ] as const)('without any background, of a page that says %s', async (_, head, reader, theme) => {
    const page = await openPage(here, head);
    await page.emulateMedia({ colorScheme: reader });
    await page.addScriptTag({ content: await scriptOf('pageTheme') });
    expect(await themeOf(page)).toBe(theme);
  });
});

describe('a change', () => {
  const counting = async () => {
    const page = await paged(here);
    await page.evaluate(`
      window.heard = [];
      window.stops = ['a', 'b'].map((name) => embed.watchPageTheme(() => heard.push(name)));
    `);
    const nowAfter = async (code: string) => {
      await page.evaluate(`heard.length = 0; ${code}`);
      await painted(page);
      return page.evaluate('[...new Set(heard)].join()');
    };
    return { page, nowAfter };
  };

  test('is heard of by all who listen, whatever it is, until they stop', async () => {
    const { page, nowAfter } = await counting();
    const dark = "document.documentElement.className += ' dark'";
    const changes = [
      dark,
      "document.body.dataset.theme = 'dark' + Math.random()",
      "document.dispatchEvent(new Event('transitionend'))",
    ];
    for (const change of changes) expect(await nowAfter(change), change).toBe('a,b');
    expect(await nowAfter("document.querySelector('#it').className = 'x'")).toBe('');
    await page.evaluate('heard.length = 0');
    await page.emulateMedia({ colorScheme: 'dark' });
    await painted(page);
    expect(await page.evaluate('heard.join()')).toBe('a,b');

    await page.evaluate('stops[0]()');
    for (const change of changes) expect(await nowAfter(change), change).toBe('b');
    await page.evaluate('stops[1]()');
    for (const change of changes) expect(await nowAfter(change), change).toBe('');
    await page.evaluate('heard.length = 0');
    await page.emulateMedia({ colorScheme: 'light' });
    await painted(page);
    expect(await page.evaluate('heard.join()')).toBe('');

    // A listener that comes afterwards hears each change once.
    await page.evaluate("window.again = embed.watchPageTheme(() => heard.push('c'))");
    for (const change of changes) {
      expect(await nowAfter(change), change).toBe('c');
      expect(await page.evaluate('heard.length'), change).toBe(1);
    }
  });

  test('of a switch is heard when it has been painted, so that its colours are there', async () => {
    const { page } = await counting();
    const early = await page.evaluate(async () => {
      const { heard } = window as unknown as { heard: string[] };
      document.documentElement.className = 'dark';
      await Promise.resolve();
      return heard.length;
    });
    expect(early).toBe(0);
    await painted(page);
    expect(await page.evaluate('heard.length')).toBe(2);
  });
});
