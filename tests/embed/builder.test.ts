// The embed builder: everything that it offers is pasted into another page, or opened from disk, and must
// show the figure in the same state.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Frame } from 'playwright';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openChromium } from '../engines/chromium.ts';
import { findingOf, readFigures, withoutResidual } from './support/figures.ts';
import { startServers } from './support/servers.ts';

const patience = { timeout: 30_000 };

/** Opens the page with a figure in a state, and the figure's builder. */
async function openBuilder(name: string, settings: Record<string, string>) {
  const servers = await startServers(() => ({ html: '' }));
  onTestFinished(() => servers.stop());
  const engine = await openChromium();
  onTestFinished(() => engine.close());
  const { page } = engine;
  const link = new URLSearchParams({ v: '1', figure: name, ...settings });
  await engine.open(`${servers.site}#${link}`);
  const figure = page.locator(`superpose-figure[name=${name}]`);
  const finding = await findingOf(name, settings);
  const shown = async () => withoutResidual((await figure.locator('.finding').last().textContent()) ?? '');
  await expect.poll(shown, patience).toBe(withoutResidual(finding));
  // A click of Playwright scrolls further than a hand would, to another step of the figure’s beat.
  await figure.locator('.menu > summary').press('Enter');
  await figure.getByRole('button', { name: 'Embed' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  // The dialog opens on the first of its choices.
  expect(await dialog.getByRole('radio').first().isChecked()).toBe(true);
  const choose = (kind: string) => dialog.getByRole('radio', { name: kind, exact: true }).check();
  return {
    ...engine,
    servers,
    dialog,
    finding,
    choose,
    /** The text to paste, or the piece of it that goes into `into`. */
    text: async (kind: string, into = '') => {
      await choose(kind);
      return dialog.getByRole('textbox', { name: `What to paste${into && ` into ${into}`}` }).inputValue();
    },
    async saved(kind: string, which: RegExp = /^Save/) {
      await choose(kind);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: which }).first().click(),
      ]);
      const folder = await mkdtemp(join(tmpdir(), 'superpose-saved-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const name = download.suggestedFilename();
      const file = join(folder, name);
      await download.saveAs(file);
      return { file, name };
    },
  };
}

const state = { n: '9', d: '16' };
const html = (body: string) => `<!DOCTYPE html><title>A blog</title>${body}`;

test('the dialog keeps the state that it was opened in while the page behind it moves on', async () => {
  const { page, text } = await openBuilder('dot-products', state);
  const snippet = await text('HTML with scripts');
  expect(snippet).toContain('n="9"');
  const n = () =>
    page.evaluate(() => {
      const figure = document.querySelector('superpose-figure[name=dot-products]');
      return (figure as unknown as { result: { state: { n: number } } }).result.state.n;
    });
  await page.evaluate(() => document.querySelector<HTMLElement>('#mix .step:last-child h3 > a')?.click());
  await expect.poll(n, patience).not.toBe(9);
  await text('No scripts (frame)');
  expect(await text('HTML with scripts')).toBe(snippet);
});

test('whoever embeds what is still computed is told so', async () => {
  const { page, dialog } = await openBuilder('narrow', { steps: '50', seeds: '1' });
  const status = dialog.getByRole('status');
  expect(await status.innerText()).toBe('');
  await page.keyboard.press('Escape');
  const figure = page.locator('superpose-figure[name=narrow]');
  await figure.locator('.menu > summary').press('Enter');
  await figure.getByRole('button', { name: 'Step', exact: true }).press('Enter');
  await figure.getByRole('button', { name: 'Continue' }).waitFor();
  await figure.getByRole('button', { name: 'Embed' }).press('Enter');
  await expect.poll(() => status.innerText()).toContain('what is shown so far');
});

test('on a phone no control of the dialog reaches beyond it', async () => {
  const { page, dialog } = await openBuilder('dot-products', state);
  await page.setViewportSize({ width: 390, height: 844 });
  const beyond = await dialog.evaluate((box) => {
    const { left, right } = box.getBoundingClientRect();
    return [...box.querySelectorAll('select, input, button, textarea')]
      .filter(
        (element) =>
          element.getBoundingClientRect().right > right || element.getBoundingClientRect().left < left,
      )
      .map((element) => element.outerHTML.slice(0, 60));
  });
  expect(beyond).toEqual([]);
});

test('the preview takes no focus, so Escape closes the dialog after a click in it, too', async () => {
  const { page, dialog, choose } = await openBuilder('dot-products', state);
  await choose('No scripts (frame)');
  const preview = (await dialog.locator('.preview').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.click(preview.x + preview.width / 2, preview.y + preview.height / 2);
  await page.keyboard.press('Escape');
  await expect.poll(() => dialog.isVisible(), patience).toBe(false);
  const focused = () => document.activeElement?.shadowRoot?.activeElement?.textContent;
  expect(await page.evaluate(focused)).toBe('Tools');
});

test('the frame, pasted into a blog', async () => {
  const { text, servers, open, evaluateInFrame, evaluate, finding, dialog, complaints } = await openBuilder(
    'dot-products',
    state,
  );
  await dialog.getByRole('checkbox', { name: 'Seed' }).uncheck();
  const snippet = await text('No scripts (frame)');
  expect(snippet).toMatch(/title="[^"]+"/);
  servers.publish({ html: html(snippet) });
  await open(servers.blog);
  const readFinding = () =>
    evaluateInFrame(readFigures).then(
      ([shownFigure]) => shownFigure?.finding,
      () => '',
    );
  await expect.poll(readFinding, patience).toBe(finding);
  const names = await evaluateInFrame(() =>
    [...(document.querySelector('superpose-figure')?.shadowRoot?.querySelectorAll('input') ?? [])].map(
      (element) => element.name,
    ),
  );
  expect(names).toContain('n');
  expect(names).not.toContain('seed');
  const height = () => evaluate(() => document.querySelector('iframe')?.clientHeight ?? 0);
  await expect.poll(height, patience).not.toBe(700);
  expect(await evaluate(() => document.querySelector('a')?.getAttribute('href'))).toContain('n=9');
  expect(complaints).toEqual([]);
});

test('a width that is too small becomes the smallest, the second time too', async () => {
  const { text, dialog } = await openBuilder('one-layer', {});
  await text('No scripts (frame)');
  const field = dialog.getByRole('spinbutton', { name: 'Width' });
  for (const width of ['100', '7']) {
    await field.fill(width);
    await field.press('Tab');
    await expect.poll(() => field.inputValue(), patience).toBe('280');
  }
  expect(await text('No scripts (frame)')).toContain('width="280"');
});

// In the lower of the two windows the preview is out of sight.
test.each([
  [320, 720],
  [700, 480],
])('the frame’s height is what its page takes at a width of %i', async (width, windowHeight) => {
  const { text, servers, open, evaluateInFrame, resize, dialog } = await openBuilder('one-layer', {});
  await resize(1280, windowHeight);
  await text('No scripts (frame)');
  const field = dialog.getByRole('spinbutton', { name: 'Width' });
  await field.fill(String(width));
  await field.press('Tab');
  // The preview reports its height once it is drawn at that width.
  const shown = dialog.getByRole('spinbutton', { name: 'Height' });
  const preview = () =>
    (dialog.page().frames().at(-1) as Frame).evaluate(() => [
      innerWidth,
      Math.ceil(document.body.getBoundingClientRect().height),
    ]);
  await expect
    .poll(
      async () =>
        JSON.stringify([width, Number(await shown.inputValue())]) === JSON.stringify(await preview()),
      patience,
    )
    .toBe(true);
  const snippet = await text('No scripts (frame)');
  expect(snippet).toContain(`width="${width}"`);
  const height = Number(snippet.match(/height="(\d+)"/)?.[1]);
  servers.publish({ html: html(snippet) });
  await open(servers.blog);
  await expect.poll(async () => (await evaluateInFrame(readFigures))[0]?.finding, patience).toBeTruthy();
  const taken = await evaluateInFrame(() => document.documentElement.scrollHeight);
  expect(taken).toBeLessThanOrEqual(height);
  expect(taken).toBeGreaterThan(height - 4);
});

test('the script tag, pasted into a blog, in the theme that was chosen', async () => {
  const { text, servers, open, evaluate, finding, dialog, complaints } = await openBuilder(
    'dot-products',
    state,
  );
  await dialog.getByRole('combobox', { name: 'Theme' }).selectOption('dark');
  const snippet = await text('HTML with scripts');
  servers.publish({ html: html(snippet) });
  await open(servers.blog);
  await expect.poll(async () => (await evaluate(readFigures))[0]?.finding, patience).toBe(finding);
  expect(await evaluate(() => document.querySelector('superpose-figure')?.getAttribute('theme'))).toBe(
    'dark',
  );
  expect(complaints).toEqual([]);
});

test('the pictures of a state that were saved beside the page stand in for it: a wide one, and a narrow one on phones', async () => {
  const { text, saved, servers, page, finding } = await openBuilder('dot-products', state);
  // The snippet as a feed or a page without scripts shows it: without the last line, and without styles.
  const snippet = await text('HTML with scripts');
  const feed = snippet.replace(/<script.*/, '').replace(/ style="[^"]*"/g, '');
  for (const which of [/^Save .*(?<!narrow)\.svg$/, /^Save .*-narrow\.svg$/]) {
    const { file, name } = await saved('HTML with scripts', which);
    expect(snippet).toContain(`="${name}"`);
    const svg = await readFile(file, 'utf8');
    expect(svg).toContain(`<desc>${finding}</desc>`);
    servers.putBeside(name, svg);
  }
  servers.publish({ html: html(feed) });
  for (const [width, drawn] of [
    [1280, 700],
    [390, 350],
  ] as const) {
    await page.setViewportSize({ width, height: 844 });
    await page.goto(servers.blog);
    const image = page.locator('superpose-figure img');
    const natural = () => image.evaluate((element) => (element as HTMLImageElement).naturalWidth);
    await expect.poll(natural, patience).toBe(drawn);
  }
});

test('what goes with the pictures of a state is true of each way', async () => {
  const { dialog, choose } = await openBuilder('dot-products', state);
  const pictures = dialog.getByText('The pictures of this state go');
  const says = async (kind: string) => {
    await choose(kind);
    return pictures.innerText();
  };
  const until = 'They are shown until the figure is live, where it cannot be, and in feeds.';
  expect(await says('HTML with scripts')).toBe(`The pictures of this state go beside the page. ${until}`);
  expect(await says('No frames (picture)')).toBe('The pictures of this state go beside the page.');
  expect(await says('MDX or React')).toBe(
    `The pictures of this state go into the app’s public folder. ${until}`,
  );
  await choose('No scripts (frame)');
  expect(await dialog.getByText('The last line, a script, is optional').isVisible()).toBe(true);
});

test('the first view needs no picture to be saved: the site has it', async () => {
  const { text, dialog } = await openBuilder('dot-products', {});
  expect(await text('HTML with scripts')).toContain('/dot-products-wide.svg');
  expect(await dialog.getByRole('button', { name: /^Save/ }).count()).toBe(0);
});

test('JSX has braces for styles and an async script, and what was copied is said', async () => {
  const { dialog, text, complaints } = await openBuilder('dot-products', state);
  expect(await text('MDX or React', 'the post')).toMatch(
    /^<superpose-figure name="dot-products" d="16" n="9" style=\{\{ display: 'block'[\s\S]*srcSet="[\s\S]*style=\{\{ maxWidth[\s\S]* \/><\/picture><\/a>[\s\S]*<script type="module" async /,
  );
  expect(await text('MDX or React', 'an app with the package')).toContain("from 'add-or-concatenate/embed'");
  await dialog.getByRole('button', { name: 'Copy for the post' }).click();
  const readText = () => dialog.getByRole('status').last().textContent();
  await expect.poll(readText).toMatch(/: for the post, 4 lines\./);
  expect(complaints).toEqual([]);
});

test('the picture is the state’s, Markdown and the citation say what it is', async () => {
  const { text, saved, finding, servers } = await openBuilder('dot-products', state);
  const { file, name } = await saved('No frames (picture)');
  expect(name).toMatch(/^dot-products-[0-9a-f]{8}\.svg$/);
  expect(await readFile(file, 'utf8')).toContain(`<desc>${finding}</desc>`);
  const markdown = await text('No frames (picture)', 'Markdown');
  expect(markdown).toContain(finding);
  expect(markdown).toContain(`](${name})](`);
  expect(markdown).toContain(`${servers.site}#v=1&figure=dot-products`);
  expect(await text('No frames (picture)', 'HTML')).toContain(`<img src="${name}"`);
  const citation = await text('No frames (picture)', 'a .bib file');
  expect(citation).toMatch(/^@misc\{superpose-dot-products,/);
  expect(citation).toMatch(/Superpose \d+\.\d+\.\d+/);
  expect(citation).toContain('n = 9');
});

test('one file, opened from disk, with a link to where it comes from', async () => {
  const { saved, open, evaluate, finding, servers, complaints } = await openBuilder('dot-products', state);
  const { file } = await saved('One file');
  await servers.stop();
  // The file is made to be passed on, so it says where the licences are, and asks for no font.
  const html = await readFile(file, 'utf8');
  expect(html).not.toContain('@font-face');
  expect(html).toMatch(
    new RegExp(`<body>\\n +<!-- Superpose, MIT, .* The licences: ${servers.site}THIRD-PARTY\\.txt -->`),
  );
  await open(pathToFileURL(file).href);
  await expect.poll(async () => (await evaluate(readFigures))[0]?.finding, patience).toBe(finding);
  expect((await evaluate(readFigures))[0]?.link).toContain(servers.site);
  expect(complaints).toEqual([]);
});

test.runIf(inject('withModel'))(
  'one file with a sentence of one’s own carries its words, and says what it lacks',
  async () => {
    const text = 'Zebras graze where antelopes once slept.';
    const { saved, open, evaluate, finding, servers, page } = await openBuilder('one-score', {
      text,
      head: '4',
    });
    const { file } = await saved('One file');
    await servers.stop();
    await open(pathToFileURL(file).href);
    const shown = async () => withoutResidual((await evaluate(readFigures))[0]?.finding);
    await expect.poll(shown, patience).toBe(withoutResidual(finding));
    await page.getByText('More settings').click();
    await page.getByRole('textbox', { name: 'Your sentence' }).fill('Quite another one.');
    await expect
      .poll(async () => (await evaluate(readFigures))[0]?.problem, patience)
      .toContain('carries only the tokens that it was made with');
  },
);
