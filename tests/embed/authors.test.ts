// The advice of README.md and docs/hosts.md to authors, tried as it stands there: each snippet is taken from
// the document.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openChromium } from '../engines/chromium.ts';
import { root } from '../package/support/project.ts';
import { figure, inPage, openBlog, page, patience, script, settled } from './support/embeds.ts';
import { findingOf, readFigures } from './support/figures.ts';
import type { BlogPage, ServerOptions } from './support/servers.ts';

const guide = readFileSync(join(root, 'docs/hosts.md'), 'utf8');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The first block of this language below a heading. */
function snippet(text: string, heading: string, language: string): string {
  const [, below = ''] = text.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [, block] = below.match(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm')) ?? [];
  if (!block) throw new Error(`There is no ${language} below “${heading}”.`);
  return block;
}
const here = (heading: string, language: string) => snippet(guide, heading, language);

/** Opens a page with a snippet, in which the address of `site` replaces the document's. */
async function open(
  make: (site: string) => BlogPage,
  { beside = {}, ...options }: ServerOptions & { beside?: Record<string, string> } = {},
) {
  const chromium = await openChromium();
  const opened = await openBlog(
    async () => chromium,
    ({ site }) => {
      const { html, ...rest } = make(site);
      return { html: html.replaceAll('https://example.org/superpose/', site), ...rest };
    },
    {
      ...options,
      prepare: (servers) => {
        for (const [name, text] of Object.entries(beside)) servers.putBeside(name, text);
      },
    },
  );
  return { ...opened, browserPage: chromium.page };
}

type Opened = Awaited<ReturnType<typeof open>>;
const shows = ({ engine }: Opened, finding: string) =>
  expect.poll(async () => (await inPage(engine)())[0]?.finding, patience).toBe(finding);
/** Reads a style property of an element in a figure's shadow. */
const styleOf = ({ browserPage }: Opened, selector: string, property: string) =>
  browserPage
    .locator(`superpose-figure ${selector}`)
    .first()
    .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);

const sites: [string, string, string][] = [
  ['README.md', readme, 'Embed a figure in a minute'],
  ['docs/hosts.md', guide, 'The script tag'],
];
test.each(sites)('the script tag of %s', async (_, text, heading) => {
  const opened = await open(() => ({ html: page(snippet(text, heading, 'html')) }));
  await shows(opened, await findingOf('dot-products'));
  expect(opened.engine.complaints).toEqual([]);
});

test.each([1280, 390])(
  'the frame, in a window of %i: as high as what is in it, and no wider',
  async (width) => {
    const opened = await open(() => ({
      // Without its script, the frame has the height that the snippet gives it.
      html: page(
        here('The frame', 'html').replace(/<script.*/, ''),
        '<meta name="viewport" content="width=device-width">',
      ),
    }));
    await opened.browserPage.setViewportSize({ width, height: 844 });
    await settled(() => opened.engine.evaluateInFrame(readFigures));
    const needed = await opened.engine.evaluateInFrame(() =>
      Math.ceil(document.body.getBoundingClientRect().height),
    );
    const { high, wide, beyond } = await opened.engine.evaluate(() => ({
      high: document.querySelector('iframe')?.clientHeight ?? 0,
      wide: document.querySelector('iframe')?.clientWidth ?? 0,
      beyond: document.documentElement.scrollWidth - innerWidth,
    }));
    expect(Math.abs(high - needed)).toBeLessThan(45);
    expect(wide).toBe(Math.min(700, width - 16));
    expect(beyond).toBeLessThanOrEqual(0);
  },
);

/** A page with the document's recipe, into which the dialog's text is pasted without its last line. */
const throughInnerHtml = () => {
  const element = here('The script tag', 'html').replace(/<script.*\n/, '');
  const recipe = here('innerHTML', 'js').replace('PASTE THE ELEMENT HERE', element);
  expect(recipe).toContain('<img');
  return page(`<main></main><script>${recipe}</script>`);
};

test('innerHTML: the figure comes, in the place that its snippet reserved', async () => {
  const opened = await open(() => ({ html: throughInnerHtml() }));
  const height = () =>
    opened.browserPage.locator('superpose-figure').evaluate((element) => element.clientHeight);
  const reserved = await height();
  await shows(opened, await findingOf('dot-products'));
  expect(Math.abs((await height()) - reserved)).toBeLessThan(45);
  expect(opened.engine.complaints).toEqual([]);
});

test('innerHTML: where the module cannot be loaded, the picture stays, and nothing is thrown', async () => {
  const thrown: unknown[] = [];
  const opened = await open(() => ({ html: '' }), { cors: (file) => !file.startsWith('embed') });
  opened.browserPage.on('pageerror', (error) => thrown.push(error));
  const refused = opened.browserPage.waitForEvent('requestfailed');
  opened.servers.publish({
    html: throughInnerHtml().replaceAll('https://example.org/superpose/', opened.servers.site),
  });
  await opened.engine.open(opened.servers.blog);
  expect((await refused).url()).toContain('/embed-');
  const image = opened.browserPage.locator('superpose-figure img');
  await expect
    .poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth), patience)
    .toBeGreaterThan(0);
  expect(thrown).toEqual([]);
});

test('a strict style-src, with the styles in a file', async () => {
  const plain = here('The script tag', 'html').replace(/ style="[^"]*"/g, '');
  const messages: string[] = [];
  const opened = await open(
    (site) => {
      const { origin } = new URL(site);
      return {
        html: page(plain, '<link rel="stylesheet" href="styles.css">'),
        policy: `default-src 'none'; style-src 'self'; script-src ${origin} blob: 'wasm-unsafe-eval'; connect-src ${origin}; img-src ${origin}`,
      };
    },
    { beside: { 'styles.css': here('Strict style-src', 'css') } },
  );
  opened.browserPage.on('console', (message) => messages.push(message.text()));
  await opened.browserPage.reload();
  const reserved = await opened.browserPage
    .locator('superpose-figure')
    .evaluate((element) => element.clientHeight);
  await shows(opened, await findingOf('dot-products'));
  const taken = await opened.browserPage
    .locator('superpose-figure')
    .evaluate((element) => element.clientHeight);
  expect(Math.abs(taken - reserved)).toBeLessThan(45);
  expect(messages.filter((text) => /style/i.test(text))).toEqual([]);
  expect(opened.engine.complaints).toEqual([]);
});

test('the line of the frame that is optional: without it, a strict policy has nothing to report', async () => {
  const messages: string[] = [];
  const opened = await open((site) => ({
    html: page(here('The frame', 'html').replace(/<script.*/, '')),
    policy: `default-src 'none'; style-src 'unsafe-inline'; frame-src ${new URL(site).origin}`,
  }));
  opened.browserPage.on('console', (message) => messages.push(message.text()));
  await opened.browserPage.reload();
  await settled(() => opened.engine.evaluateInFrame(readFigures));
  expect(messages).toEqual([]);
  expect(opened.engine.complaints).toEqual([]);
});

test('a .wasm without CORS is what the figure says it is', async () => {
  const opened = await open((site) => ({ html: page(figure() + script(site)) }), {
    cors: (file) => !file.endsWith('.wasm'),
  });
  const [shownFigure] = await settled(inPage(opened.engine));
  const { host } = new URL(opened.servers.site);
  const [, sentence = ''] = guide.replace(/\s+/g, ' ').match(/the figure says: “([^”]*)”/) ?? [];
  expect(shownFigure?.problem).toContain(sentence.replace('example.org', host).replace(/\.$/, ''));
  expect(shownFigure).toMatchObject({ finding: '', picture: true });
});

describe('by name', () => {
  const finding = () => findingOf('dot-products');
  const ofSnippet = (heading: string) =>
    open((site) => ({ html: page(here(heading, 'html') + script(site)) }));

  test('slot="title"', async () => {
    const opened = await ofSnippet('slot="title"');
    await shows(opened, await finding());
    expect(await opened.browserPage.locator('superpose-figure h2').isVisible()).toBe(true);
    expect(await opened.browserPage.locator('superpose-figure h3').isVisible()).toBe(false);
  });

  test('keep', async () => {
    const opened = await ofSnippet('keep');
    await shows(opened, await finding());
    const inputs = opened.browserPage.locator('superpose-figure :is(input, select, textarea)');
    const names = await inputs.evaluateAll((all) => all.map((element) => (element as HTMLInputElement).name));
    expect(names.sort()).toEqual(['d', 'n']);
  });

  test('theme', async () => {
    const opened = await ofSnippet('theme');
    await shows(opened, await finding());
    expect(await styleOf(opened, '.root', 'color-scheme')).toBe('dark');
  });

  const styled = (heading: string) =>
    open((site) => ({
      html: page(figure() + script(site), `<style>${here(heading, 'css')}</style>`),
    }));

  test('::part, and each part that the document names', async () => {
    const opened = await styled('::part');
    await shows(opened, await finding());
    expect(await styleOf(opened, 'h3', 'font-family')).toBe('Georgia, serif');
    expect(await styleOf(opened, '.finding', 'font-size')).toBe('18px');
    const [, list = ''] = guide.match(/except through these parts:([\s\S]*?)```/) ?? [];
    const parts = new Set(
      await opened.browserPage
        .locator('superpose-figure [part]')
        .evaluateAll((all) => all.flatMap((element) => [...element.part])),
    );
    // The part `readout` is there only while a place is pointed at.
    await opened.browserPage.locator('superpose-figure .surface').focus();
    await expect.poll(() => opened.browserPage.locator('[part~=readout]').count(), patience).toBe(1);
    parts.add('readout');
    const named = [...list.matchAll(/`([a-z]+)`/g)].map(([, name]) => name as string);
    expect(named.length).toBeGreaterThan(4);
    for (const name of named) expect([...parts]).toContain(name);
  });

  test('colours and font, and each property that the document names', async () => {
    const opened = await styled('Colours and font');
    await shows(opened, await finding());
    expect(await styleOf(opened, '.finding', 'font-family')).toBe('Georgia, serif');
    expect(await styleOf(opened, '.finding', 'color')).toBe('rgb(34, 34, 34)');
    // Dots are on a canvas.
    const channels = await opened.browserPage.locator('superpose-figure canvas').evaluate((element) => {
      const canvas = element as HTMLCanvasElement;
      const context = canvas.getContext('2d') as CanvasRenderingContext2D;
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      // The most opaque pixel.
      let at = 0;
      for (let place = 0; place < data.length; place += 4)
        if ((data[place + 3] as number) > (data[at + 3] as number)) at = place;
      return [...data.slice(at, at + 3)];
    });
    for (const [at, value] of [0x8a, 0x2b, 0xe2].entries())
      expect(Math.abs((channels[at] as number) - value)).toBeLessThan(8);
    const [, table = ''] =
      guide.match(/Figures take these custom properties[\s\S]*?\n\| ---.*\n([\s\S]*?)\n\n/) ?? [];
    const names = [...table.matchAll(/`(--superpose-([a-z]+))`/g)];
    expect(names.length).toBeGreaterThan(6);
    for (const [, property = '', name = ''] of names) {
      const read = await opened.browserPage.locator('superpose-figure').evaluate(
        (element, [property, name]) => {
          element.style.setProperty(property as string, name === 'font' ? 'monospace' : 'rgb(1, 2, 3)');
          const root = getComputedStyle(element.shadowRoot?.querySelector('.root') as Element);
          return name === 'font' ? root.fontFamily : root.getPropertyValue(`--${name}`);
        },
        [property, name],
      );
      expect(read, property).toBe(name === 'font' ? 'monospace' : 'rgb(1, 2, 3)');
    }
  });

  test('events and properties, and figures of one group', async () => {
    const recipe = here('Events and properties', 'js');
    const opened = await open((site) => ({
      html: page(
        [16, 256].map((d) => figure(`name="dot-products" d="${d}" group="ρ"`)).join('') +
          `<script type="module">const console = { log: (...told) => { (globalThis.told ??= []).push(told) } };${recipe}</script>` +
          script(site),
      ),
    }));
    const { engine, browserPage } = opened;
    const shown = async () => (await inPage(engine)()).map(({ finding }) => finding);
    const expectedFor = (scale: string) =>
      Promise.all(['128', '256'].map((d) => findingOf('dot-products', { d, scale })));
    await browserPage.locator('superpose-figure').last().scrollIntoViewIfNeeded();
    await expect.poll(shown, patience).toEqual(await expectedFor('1'));
    const readMessages = () => browserPage.evaluate('globalThis.told');
    await expect.poll(readMessages, patience).toEqual([[128]]);
    await browserPage.locator('input[name=scale]').first().fill('0.5');
    await expect.poll(shown, patience).toEqual(await expectedFor('0.5'));
    await expect
      .poll(async () => ((await readMessages()) as unknown[]).at(-1), patience)
      .toMatchObject([{ d: 128, scale: 0.5 }, true]);
    expect(engine.complaints).toEqual([]);
  });
});
