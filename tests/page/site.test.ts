// What the site needs from the network and from its server; and that the watch on requests, which all other
// tests rely on, sees what it should.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { expect, test } from 'vitest';
import { pageFolders } from '../../web/build/places.ts';
import { figures } from '../../web/figures/index.ts';
import { dist, files, isRecording, kilobytes, recordings } from './support/site.ts';
import { modelTest, visit } from './support/visit.ts';

const mark = 'THIRD-PARTY.txt';
/** Requests a file that no figure needs as soon as the figure of the address is drawn. Runs in the page. */
function markDrawn(): void {
  const name = /figure=([\w-]+)/.exec(location.hash)?.[1] ?? 'one-layer';
  const look = () => {
    const figure = document.querySelector(`superpose-figure[name="${name}"]`);
    if (figure && (figure as Element & { result?: unknown }).result)
      void fetch(new URL('../THIRD-PARTY.txt', document.querySelector('script')?.src));
    else setTimeout(look);
  };
  // Not requestAnimationFrame: on a busy machine the next figure's files would be requested before a frame.
  setTimeout(look);
}

for (const fragment of ['', '#v=1&figure=dot-products']) {
  modelTest(`the bytes before the first figure, at /${fragment}, stay within their budget`, async () => {
    const { site } = await visit({ fragment, first: markDrawn });
    const folder = new URL(site.address).pathname;
    const place = () => site.requests.indexOf(folder + mark);
    await expect.poll(place).toBeGreaterThan(0);
    const before = site.requests.slice(0, place());
    // Other figures in sight are loaded at the same time: their code, and what was recorded for them.
    const first = fragment ? 'dotProducts' : 'oneLayer';
    const others = Object.keys(figures).map((name) =>
      name.replace(/-(.)/g, (_, letter) => letter.toUpperCase()),
    );
    const names = [...others.filter((name) => name !== first), 'languageRuns', 'lookup'];
    const beside = new RegExp(`assets/(${names.join('|')})-`);
    const requested = new Set(
      before
        .map((path) => path.slice(folder.length).replace(/(^|\/)$/, '$1index.html'))
        .filter((path) => !beside.test(path)),
    );
    const needed = (...types: string[]) =>
      files.filter((file) => requested.has(file) && types.includes(extname(file)));
    expect(needed('.wasm')).toHaveLength(1);
    expect(1024 * kilobytes(needed('.js', '.html', '.css', '.wasm'))).toBeLessThan(150_000);
    expect(1024 * kilobytes(files.filter((file) => extname(file) === '.woff2'))).toBeLessThan(45_000);
  });
}

test('all scripts that a page of figures can ever load stay within their budget', () => {
  const all = files.filter((file) => /^assets\/.*\.js$/.test(file));
  expect(all.some((file) => file.includes('worker'))).toBe(true);
  // The recordings: one task's runs are fetched with the first figure, others when chosen.
  const runs = all.filter(isRecording);
  expect(runs).toHaveLength(recordings.length);
  expect(kilobytes(runs)).toBeLessThan(64);
  // Everything else, for a reader who sees every figure, presents, embeds, and opens models and tables.
  expect(kilobytes(all.filter((file) => !runs.includes(file)))).toBeLessThan(270);
});

test.each(pageFolders)('the page /%s asks nothing special of a server', async (folder) => {
  expect(files.filter((file) => file.endsWith('.mjs'))).toEqual([]);
  const page = readFileSync(join(dist, folder, 'index.html'), 'utf8');
  const addresses = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address as string);
  expect(addresses.length).toBeGreaterThan(2);
  // Places on the page, and sources that a reader may go to.
  const fetched = addresses.filter((address) => !/^(#|https:)/.test(address));
  expect(fetched.filter((address) => !address.startsWith(folder === '' ? './' : '../'))).toEqual([]);
  for (const address of fetched.map((whole) => whole.replace(/#.*/, ''))) {
    const file = join(dist, folder, address, address.endsWith('/') ? 'index.html' : '');
    expect(existsSync(file), address).toBe(true);
  }
});

test('a picture that stands still asks for no drag and no click', () => {
  const pictures = files.filter((file) => /^pictures.*\.svg$/.test(file));
  expect(pictures.length).toBeGreaterThan(20);
  const asks = (file: string) =>
    /drag|click/.test(readFileSync(join(dist, file), 'utf8').replace(/<[^>]*>/g, ''));
  expect(pictures.filter(asks)).toEqual([]);
});

test('no page, script or style names another host', () => {
  for (const name of files.filter((file) => ['.html', '.js', '.css'].includes(extname(file)))) {
    // A link to a source requests nothing until a reader follows it.
    const text = readFileSync(join(dist, name), 'utf8').replace(/<a\b[^>]*>/g, '');
    // Names of XML vocabularies look like addresses, but nobody requests them.
    const addresses = text.match(/\b(https?|wss?):\/\/[^\s"'`]*/g) ?? [];
    expect(
      addresses.filter((address) => !address.startsWith('http://www.w3.org/')),
      name,
    ).toEqual([]);
    expect(text.match(/(src|href)="\/|url\(['"]?\//g), name).toBeNull();
  }
});

test('a figure in one file carries a policy for just its own script and style', () => {
  const pages = files.filter((file) => /^figures.*\.html$/.test(file));
  expect(pages.length).toBeGreaterThan(1);
  for (const name of pages) {
    const page = readFileSync(join(dist, name), 'utf8');
    const policy = page.match(/http-equiv="Content-Security-Policy" content="([^"]*)"/)?.[1] ?? '';
    const inline = /(?<=^ +|<\/style>)<(style|script)>(.*?)<\/\1>/gms;
    const [style, code] = [...page.matchAll(inline)].map(
      ([, , text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
    );
    expect(policy).toContain(
      `default-src 'none'; script-src ${code} 'wasm-unsafe-eval'; style-src ${style};`,
    );
    expect(policy).toContain('worker-src blob:;');
    expect(policy).not.toMatch(/unsafe-inline|'unsafe-eval'/);
  }
});

test('every page that is not a framed figure asks for the font at once, since a late font is not shown', () => {
  const pages = files.filter((file) => file.endsWith('.html') && !/^(figures\/|demo\/one-file)/.test(file));
  expect(pages).toContain('demo/index.html');
  for (const name of pages)
    expect(readFileSync(join(dist, name), 'utf8'), name).toMatch(/<link[^>]* as="font"/);
});

test('every page carries the strict policy, but for the demo, which plays somebody’s blog', async () => {
  for (const name of files.filter((file) => file.endsWith('.html') && !/^(figures|demo)\//.test(file))) {
    const page = readFileSync(join(dist, name), 'utf8');
    const policy = page.match(/http-equiv="Content-Security-Policy" content="([^"]*)"/)?.[1] ?? '';
    const withFigures = pageFolders.some((folder) => name === `${folder}index.html`);
    const text = name === 'api/index.html' ? "'self'" : "'none'";
    const scripts = withFigures ? "'self' 'wasm-unsafe-eval'" : text;
    expect(policy, name).toContain(`default-src 'self'; script-src ${scripts};`);
    expect(policy).not.toMatch(/unsafe-inline|'unsafe-eval'|https?:/);
  }
});

test('the watch sees what the policy blocks, what is thrown and what is logged', async () => {
  const { page, complaints } = await visit();
  await page.evaluate(() => {
    const inline = document.createElement('script');
    inline.textContent = 'document.title = "injected"';
    document.head.append(inline);
    setTimeout(() => {
      throw new Error('thrown');
    });
    console.warn('logged');
  });
  await expect.poll(() => complaints.join('\n')).toMatch(/script-src-elem blocked inline/);
  await expect.poll(() => complaints.join('\n')).toMatch(/thrown/);
  expect(complaints).toContain('logged');
  expect(await page.title()).not.toBe('injected');
  complaints.length = 0;
});

// A page's policy does not bind its workers, so the request itself must be seen.
test('the watch sees what the worker asks of another host', async () => {
  const { page, complaints } = await visit({
    site: (site) => site.prefix(/worker-.*\.js$/, "fetch('http://elsewhere.invalid/').catch(() => {});"),
  });
  // The worker starts for the first figure that comes near.
  await page.locator('superpose-figure').first().scrollIntoViewIfNeeded();
  await expect.poll(() => complaints.join('\n')).toMatch(/request to http:\/\/elsewhere\.invalid/);
  complaints.length = 0;
});
