// A page of one file, from its script alone: what it shows for the data that it was made with, and for links.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import type { SinglePage } from '../../web/embed/single.ts';
import { root } from '../package/support/project.ts';
import { patience } from './support/embeds.ts';
import { findingOf } from './support/figures.ts';
import { openPage, scriptOf } from './support/module.ts';

const script = scriptOf('single');
const wasmOf = (name: string) => readFileSync(join(root, `build/package/wasm/${name}-plain.wasm`), 'base64');

/** Opens such a page with these data, at an address that ends in `end`. */
async function opened(
  data: Partial<SinglePage>,
  end = '',
  site = 'https://blog.example/f/',
  wasm = wasmOf('superpose'),
): Promise<Page> {
  const page = await openPage();
  const figure: SinglePage = { figure: 'dot-products', settings: [], model: 'model/', ...data };
  const code = (await script).replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const body = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>F</title><link rel="icon" href="data:,"></head><body>
    <superpose-figure name="${figure.figure}"><p>Words</p></superpose-figure>
    <script type="application/json" id="superpose-page">${JSON.stringify(figure)}</script>
    <script type="application/octet-stream" id="superpose-wasm">${wasm}</script>
    <script>${code}</script></body></html>`;
  await page.route(`${site}**`, (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(site + end);
  return page;
}
const read = (page: Page) =>
  page.evaluate(() => {
    const element = document.querySelector('superpose-figure') as HTMLElement;
    const text = (selector: string) => element.shadowRoot?.querySelector(selector)?.textContent?.trim() ?? '';
    return {
      finding: text('.finding'),
      problem: text('.problem'),
      runsIn: element.shadowRoot?.querySelector('.root')?.getAttribute('data-runs-in'),
      link: element.shadowRoot?.querySelector('a[target]')?.getAttribute('href') ?? '',
      theme: element.getAttribute('theme'),
      keep: element.getAttribute('keep'),
    };
  });
const shows = async (page: Page, settings: Record<string, string>) => {
  const finding = await findingOf('dot-products', settings);
  await expect.poll(async () => (await read(page)).finding, patience).toBe(finding);
  return read(page);
};

describe('a page of one file', () => {
  test('shows what it was made with, computed in a worker of its own script, with a link to where it comes from', async () => {
    const page = await opened({ settings: [['n', '6']], theme: 'dark', keep: 'n d', home: '../site/' });
    const view = await shows(page, { n: '6' });
    expect(view).toMatchObject({ problem: '', runsIn: 'blob worker', theme: 'dark', keep: 'n d' });
    expect(view.link).toMatch(/^https:\/\/blog\.example\/site\/#v=1&figure=dot-products&/);
  });

  test('without a home or a theme has no link, and none of the attributes', async () => {
    const view = await shows(await opened({ settings: [['n', '6']] }), { n: '6' });
    expect(view).toMatchObject({ link: '', theme: null, keep: null, problem: '' });
  });

  test('its link is stronger, settings, theme and all, and is followed', async () => {
    const page = await opened(
      { settings: [['n', '6']], theme: 'dark', keep: 'n' },
      '#v=1&figure=dot-products&n=5&theme=light',
    );
    expect(await shows(page, { n: '5' })).toMatchObject({ theme: 'light', keep: 'n', problem: '' });
    await page.evaluate(() => {
      location.hash = '#v=1&figure=dot-products&d=128&keep=d';
    });
    expect(await shows(page, { d: '128' })).toMatchObject({ theme: 'dark', keep: 'd', problem: '' });
    await page.evaluate(() => {
      location.hash = '';
    });
    expect(await shows(page, { n: '6' })).toMatchObject({ theme: 'dark', keep: 'n', problem: '' });
  });

  test.each([
    ['#v=1&figure=gram&d=128', 'This link asks for a figure called “gram”; this page has dot-products.'],
    [`#v=1&figure=${'x'.repeat(60)}`, `called “${'x'.repeat(40)}”;`],
    ['#v=2&figure=dot-products&n=8', 'This link is of version “2”'],
  ])('a link that is not its own is refused, and the first view shown: %s', async (end, sentence) => {
    const view = await shows(await opened({ settings: [['n', '6']], theme: 'dark' }, end), { n: '6' });
    expect(view.problem).toContain(sentence);
    expect(view.theme).toBe('dark');
  });

  test.each([
    [
      '#v=1&figure=dot-products&n=5',
      [],
      'It shows the figure’s first view, not the one that was asked for. ',
    ],
    ['', [], ''],
    [
      '#v=1&figure=dot-products&n=5',
      [['n', '6']],
      'It shows the state that this file was made with, not the one that was asked for. ',
    ],
    ['', [['n', '6']], ''],
    ['#v=1&figure=dot-products&n=6&theme=dark', [['n', '6']], ''],
  ] as [string, [string, string][], string][])(
    'one that fails says what its picture shows, unless that is what was asked for: %s %j',
    async (end, settings, sentence) => {
      const page = await opened({ settings }, end, undefined, btoa('no module'));
      await expect.poll(async () => (await read(page)).problem, patience).toContain('Try again');
      expect((await read(page)).problem).toMatch(
        new RegExp(`^The picture stands still\\. ${sentence}(?!It shows)[A-Z]`),
      );
    },
  );

  test('what the reader sets stands in its address, with its theme and what can be set', async () => {
    const page = await opened({ keep: 'n d' }, '#v=1&figure=dot-products&n=6&theme=dark');
    await shows(page, { n: '6' });
    await page.getByText('More settings').click();
    await page.locator('input[name=n]').first().fill('9');
    await shows(page, { n: '9' });
    const settings = async () => new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
    await expect.poll(async () => (await settings()).get('n'), patience).toBe('9');
    const written = await settings();
    expect([written.get('figure'), written.get('theme'), written.get('keep')]).toEqual([
      'dot-products',
      'dark',
      'n d',
    ]);
    // The address that the page was given is kept, for messages to the surrounding page.
    expect(await page.evaluate(() => history.state.given)).toMatch(
      /#v=1&figure=dot-products&n=6&theme=dark$/,
    );
  });

  test('a reset goes back to the author’s link, also after the page was loaded again', async () => {
    const page = await opened({ keep: 'n', settings: [['n', '6']] }, '#v=1&figure=dot-products&n=5&d=128');
    await shows(page, { n: '5', d: '128' });
    const slider = page.locator('input[name=n]').first();
    await page.getByText('More settings').click();
    await slider.fill('9');
    await shows(page, { n: '9', d: '128' });
    await expect.poll(() => page.url(), patience).toContain('n=9');
    await page.reload();
    await shows(page, { n: '9', d: '128' });
    await page.getByRole('button', { name: 'Reset' }).click();
    await shows(page, { n: '5', d: '128' });
  });

  test('a link that was encoded on its way is read, or said to be broken', async () => {
    const link = encodeURIComponent(encodeURIComponent('v=1&figure=dot-products&n=5&theme=dark'));
    expect(await shows(await opened({}, `#${link}`), { n: '5' })).toMatchObject({
      theme: 'dark',
      problem: '',
    });
    const broken = await opened({ settings: [['n', '6']] }, '#v%3D1%26figure%3Ddot-products%26n%3D%E0%A4');
    expect((await shows(broken, { n: '6' })).problem).toContain('This link is damaged');
  });
});
