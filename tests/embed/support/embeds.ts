// Other people's pages with figures in them, opened in any engine. Each figure's numbers are read and
// compared with Node's.
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { Engine } from '../../engines/engines.ts';
import { withoutRounding } from '../../page/support/expected.ts';
import { dist } from '../../page/support/site.ts';
import { findingOf, readFigures, type ShownFigure, withoutResidual } from './figures.ts';
import { type BlogPage, type ServerOptions, type Servers, startServers } from './servers.ts';

export const patience = { timeout: 60_000 };
export const script = (address: string) => `<script type="module" src="${address}embed.js"></script>`;
export const page = (body: string, head = '') =>
  `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A blog</title>${head}</head><body>${body}</body></html>`;
export const figure = (attributes = 'name="dot-products"') =>
  `<superpose-figure ${attributes}><a href="https://example.org/"><img alt="A picture" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='40' height='30'/>"></a></superpose-figure>`;

/**
 * Containers that shrink to their contents: styles of the container, and of a second one around the figure.
 */
const containers: Record<string, [string, string]> = {
  'flex-row': ['display:flex', ''],
  'flex-column': ['display:flex;flex-direction:column;align-items:center', ''],
  grid: ['display:grid;justify-items:center', ''],
  columns: ['display:grid;grid-template-columns:1fr', ''],
  float: ['', 'float:left'],
  'inline-block': ['display:inline-block', ''],
  'fit-content': ['width:fit-content', ''],
  'max-content': ['', 'width:max-content;max-width:100%'],
  'table-cell': ['display:table', 'display:table-cell'],
  absolute: ['position:relative;height:900px', 'position:absolute'],
};

export type Made = (addresses: { site: string; here: string }) => BlogPage;

/** A blog's page, in a new browser. */
export async function openBlog(
  start: () => Promise<Engine>,
  make: Made,
  { prepare, ...options }: ServerOptions & { prepare?: (servers: Servers) => unknown } = {},
): Promise<{ engine: Engine; servers: Servers }> {
  const servers = await startServers(make, options);
  onTestFinished(() => servers.stop());
  await prepare?.(servers);
  const engine = await start();
  onTestFinished(() => engine.close());
  await engine.open(servers.blog);
  return { engine, servers };
}

/** Waits until every figure shows a finding or a problem. */
export async function settled(read: () => Promise<ShownFigure[]>, count = 1): Promise<ShownFigure[]> {
  const ready = async () =>
    (await read().catch(() => [])).filter((shownFigure) => shownFigure.finding || shownFigure.problem).length;
  await expect.poll(ready, patience).toBe(count);
  return read();
}
export const inPage = (engine: Engine) => () => engine.evaluate(readFigures);

/** Self-contained, in a frame: the theme that its figure is asked for, and the frame's own background. */
export function shownIn(): { figure: string | undefined; paper: string } {
  const root = document.querySelector('superpose-figure')?.shadowRoot?.querySelector('.root');
  return {
    figure: root?.getAttribute('data-theme') ?? undefined,
    paper: getComputedStyle(document.body).backgroundColor,
  };
}

export function testEmbeds(start: () => Promise<Engine>): void {
  const open = (make: Made, options?: { cors?: boolean }) => openBlog(start, make, options);

  test('a blog of another origin: a worker made of a blob', async () => {
    const { engine, servers } = await open(({ site }) => ({ html: page(figure() + script(site)) }));
    const [shownFigure] = await settled(inPage(engine));
    expect(shownFigure).toMatchObject({
      finding: await findingOf('dot-products'),
      runsIn: 'blob worker',
      problem: '',
    });
    expect(shownFigure?.link).toMatch(new RegExp(`^${servers.site}#v=1&figure=dot-products&`));
    expect(engine.complaints).toEqual([]);
  });

  test('a blog of the same origin: a worker', async () => {
    const { engine } = await open(({ here }) => ({ html: page(figure() + script(here)) }));
    const [shownFigure] = await settled(inPage(engine));
    expect(shownFigure).toMatchObject({ finding: await findingOf('dot-products'), runsIn: 'worker' });
    expect(engine.complaints).toEqual([]);
  });

  test('a strict policy without blob: the page’s own thread', async () => {
    const { engine } = await open(({ site }) => {
      const { origin } = new URL(site);
      return {
        html: page(figure('name="dot-products" n="8"') + script(site)),
        policy: `default-src 'none'; script-src ${origin} 'wasm-unsafe-eval'; connect-src ${origin}; img-src data:`,
      };
    });
    const [shownFigure] = await settled(inPage(engine));
    expect(shownFigure).toMatchObject({
      finding: await findingOf('dot-products', { n: '8' }),
      runsIn: 'page',
    });
  });

  test('a policy that lets no WebAssembly run: the picture stays, with a sentence and a link', async () => {
    const { engine, servers } = await open(({ site }) => {
      const { origin } = new URL(site);
      return {
        html: page(figure() + script(site)),
        policy: `default-src 'none'; script-src ${origin}; connect-src ${origin}; img-src data:`,
      };
    });
    const [shownFigure] = await settled(inPage(engine));
    expect(shownFigure).toMatchObject({ finding: '', picture: true });
    expect(shownFigure?.problem).toContain('lets no WebAssembly run');
    expect(shownFigure?.link).toContain(servers.site);
  });

  test('a frame that may run scripts and nothing else, from a server without CORS', async () => {
    const { engine } = await open(
      ({ site }) => ({
        html: page(
          `<script src="${site}resize.js"></script><iframe sandbox="allow-scripts" title="Dot products" style="height:100px" src="${site}figures/dot-products/#v=1&figure=dot-products&n=8&keep=n"></iframe>`,
        ),
      }),
      { cors: false },
    );
    const read = () => engine.evaluateInFrame(readFigures);
    const [shownFigure] = await settled(read);
    expect(shownFigure).toMatchObject({
      finding: await findingOf('dot-products', { n: '8' }),
      runsIn: 'blob worker',
    });
    const height = () => engine.evaluate(() => document.querySelector('iframe')?.clientHeight ?? 0);
    await expect.poll(height, patience).toBeGreaterThan(300);
    const inputs = await engine.evaluateInFrame(
      () => document.querySelector('superpose-figure')?.shadowRoot?.querySelectorAll('input, select').length,
    );
    expect(inputs).toBe(1);
  });

  test('such a frame has the theme of the page around, and follows its switch', async () => {
    const { engine } = await open(
      ({ site }) => ({
        html: page(
          `<iframe sandbox="allow-scripts" title="Dot products" src="${site}figures/dot-products/#v=1&figure=dot-products&n=8"></iframe>`,
          // In the head, before the body exists.
          `<script src="${site}resize.js"></script><style>body{background:#fff}.dark body{background:#111}</style>`,
        ).replace('<html lang="en">', '<html lang="en" class="dark">'),
      }),
      { cors: false },
    );
    const shown = () => engine.evaluateInFrame(shownIn);
    await expect.poll(shown, patience).toEqual({ figure: 'dark', paper: 'rgb(18, 21, 27)' });
    await engine.evaluate(() => document.documentElement.classList.remove('dark'));
    await expect.poll(shown, patience).toEqual({ figure: 'light', paper: 'rgb(252, 252, 250)' });
    // An explicit theme takes precedence.
    await engine.evaluateInFrame(() => {
      location.hash += '&theme=dark';
    });
    await expect.poll(shown, patience).toEqual({ figure: 'dark', paper: 'rgb(18, 21, 27)' });
  });

  test('a picture has the theme that its address ends in', async () => {
    const { engine } = await open(({ here }) => ({
      html: page(
        ['', '#light', '#dark'].map((end) => `<img src="${here}pictures/one-layer-wide.svg${end}">`).join(''),
      ),
    }));
    // A picture in a chosen theme has no background, so the colour of its text shows the theme.
    const inks = { light: '22,24,29,255', dark: '236,238,242,255' };
    const drawnPictures = () =>
      engine.evaluate(
        (inks) =>
          [...document.images].map((image) => {
            const { naturalWidth: width, naturalHeight: height } = image;
            if (!image.complete || !width) return '';
            const canvas = Object.assign(document.createElement('canvas'), { width, height });
            const context = canvas.getContext('2d') as CanvasRenderingContext2D;
            context.drawImage(image, 0, 0);
            const { data } = context.getImageData(0, 0, width, height);
            const colours = new Set<string>();
            for (let at = 0; at < data.length; at += 4) colours.add(data.slice(at, at + 4).join());
            const themes = Object.entries(inks).flatMap(([theme, ink]) => (colours.has(ink) ? [theme] : []));
            return `${themes.join()}${data[3] === 0 ? ', no ground' : ''}`;
          }),
        inks,
      );
    await expect.poll(drawnPictures, patience).toEqual(['light', 'light, no ground', 'dark, no ground']);
  });

  test.runIf(inject('withModel'))('a sentence in such a frame comes with its words', async () => {
    const { engine, servers } = await open(
      ({ site }) => ({
        html: page(
          `<iframe sandbox="allow-scripts" title="One score" src="${site}figures/one-score/"></iframe>`,
        ),
      }),
      { cors: false },
    );
    const [shownFigure] = await settled(() => engine.evaluateInFrame(readFigures));
    expect(withoutResidual(shownFigure?.finding)).toBe(withoutResidual(await findingOf('one-score')));
    // The page carries everything that it shows.
    expect(servers.requests).toEqual(['figures/one-score/']);
  });

  /** Another sentence than the first view's, so the frame must read the model's files. */
  const text = 'Zebras graze where antelopes slept.';
  const readsModel = new URLSearchParams({ v: '1', figure: 'one-score', text });
  const inSandbox = (address: string) =>
    `<iframe sandbox="allow-scripts" title="One score" src="${address}#${readsModel}"></iframe>`;

  test.runIf(inject('withModel'))(
    'a frame whose build knows the site’s address reads the model in a sandbox',
    async () => {
      const { engine } = await openBlog(
        start,
        ({ here }) => ({ html: page(inSandbox(`${here.replace(/superpose\/$/, '')}frame.html`)) }),
        {
          prepare: ({ site, putBeside }) => {
            // The page as a build with SUPERPOSE_URL makes it, served at another address.
            const original = readFileSync(join(dist, 'figures/one-score/index.html'), 'utf8');
            const built = original
              .replace("connect-src 'self'", `connect-src 'self' ${new URL(site).origin}`)
              .replace('"home":"../../"', `"home":"${site}"`);
            putBeside('frame.html', built);
          },
        },
      );
      const [shownFigure] = await settled(() => engine.evaluateInFrame(readFigures));
      expect(shownFigure?.problem).toBe('');
      expect(withoutResidual(shownFigure?.finding)).toBe(
        withoutResidual(await findingOf('one-score', { text })),
      );
    },
  );

  test.runIf(inject('withModel'))(
    'a sandboxed frame that cannot read the model says what it lacks',
    async () => {
      const { engine } = await open(({ site }) => ({ html: page(inSandbox(`${site}figures/one-score/`)) }), {
        cors: false,
      });
      const [shownFigure] = await settled(() => engine.evaluateInFrame(readFigures));
      // In a sandboxed frame WebKit refuses 'self', and so cannot find out whether the server is there.
      const isSafari = await engine.evaluate(() => navigator.vendor.startsWith('Apple'));
      expect(shownFigure?.problem).toContain(
        isSafari
          ? 'In a sandboxed frame, Safari needs a build with SUPERPOSE_URL.'
          : 'which other sites’ pages and sandboxed frames need.',
      );
      expect(shownFigure).toMatchObject({ finding: '', picture: true });
    },
  );

  test('keys and text stay in a figure, but for those of the page; Escape closes the menu', async () => {
    const { engine } = await open(({ site }) => ({ html: page(figure('name="gram"') + script(site)) }));
    await settled(inPage(engine));
    const heard = await engine.evaluate(() => {
      const root = document.querySelector('superpose-figure')?.shadowRoot as ShadowRoot;
      const slider = root.querySelector('input[type=range]') as Element;
      const heard: string[] = [];
      for (const kind of ['keydown', 'keyup', 'input'])
        document.addEventListener(kind, (event) =>
          heard.push(`${kind} ${(event as KeyboardEvent).key ?? ''}`),
        );
      for (const key of ['/', ' ', 'ArrowRight', 'Home', 'Tab', 'PageDown']) {
        for (const kind of ['keydown', 'keyup'])
          slider.dispatchEvent(new KeyboardEvent(kind, { key, code: key, bubbles: true, composed: true }));
      }
      slider.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
      (root.querySelector('.menu > summary') as HTMLElement).click();
      return heard;
    });
    expect(heard).toEqual(['keydown Tab', 'keyup Tab', 'keydown PageDown', 'keyup PageDown']);
    const afterEscape = () =>
      engine.evaluate(() => {
        const menu = document
          .querySelector('superpose-figure')
          ?.shadowRoot?.querySelector('.menu') as Element;
        const pressed = { key: 'Escape', bubbles: true, composed: true, cancelable: true };
        // The focus need not be in the menu.
        const goesOn = document.body.dispatchEvent(new KeyboardEvent('keydown', pressed));
        return { open: menu.hasAttribute('open'), goesOn };
      });
    await expect.poll(afterEscape, patience).toEqual({ open: false, goesOn: false });
    expect(await afterEscape()).toEqual({ open: false, goesOn: true });
  });

  test('one file, opened from disk', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'superpose-file-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'a figure.html');
    await copyFile(join(dist, 'figures/dot-products/index.html'), file);
    const engine = await start();
    onTestFinished(() => engine.close());
    await engine.open(pathToFileURL(file).href);
    const [shownFigure] = await settled(inPage(engine));
    expect(shownFigure).toMatchObject({
      finding: await findingOf('dot-products'),
      runsIn: 'blob worker',
      link: '',
    });
    expect(engine.complaints).toEqual([]);
  });

  test('a hostile stylesheet changes nothing inside, and nothing inside gets out', async () => {
    const hostile =
      'html{font-size:5px}*{font:italic 40px cursive!important;color:red!important;display:inline!important;letter-spacing:9px!important;text-transform:uppercase!important;direction:rtl!important;line-height:3!important}';
    const { engine } = await open(({ site }) => ({
      html: page(`<p>Before</p>${figure()}${script(site)}`, `<style>${hostile}</style>`),
    }));
    // Even text in the head is shown, above the figure.
    await engine.evaluate(() => document.querySelector('superpose-figure')?.scrollIntoView());
    const [shownFigure] = await settled(inPage(engine));
    expect(shownFigure?.finding).toBe(await findingOf('dot-products'));
    const styles = await engine.evaluate(() => {
      const element = document.querySelector('superpose-figure') as HTMLElement;
      const inside = getComputedStyle(element.shadowRoot?.querySelector('.finding') as Element);
      // WebKit rounds: of 1.2rem it makes 19.200001 px.
      const pixels = (length: string) => Number.parseFloat(length).toFixed(3);
      const { fontStyle, letterSpacing, textTransform, direction } = inside;
      return {
        inside: { fontSize: pixels(inside.fontSize), fontStyle, letterSpacing, textTransform, direction },
        display: getComputedStyle(element).display,
        gap: pixels(getComputedStyle(element.shadowRoot?.querySelector('.controls') as Element).columnGap),
        outside: getComputedStyle(document.querySelector('p') as Element).color,
        sheets: document.styleSheets.length + document.adoptedStyleSheets.length,
      };
    });
    expect(styles).toEqual({
      inside: {
        fontSize: '15.000',
        fontStyle: 'normal',
        letterSpacing: 'normal',
        textTransform: 'none',
        direction: 'ltr',
      },
      display: 'block',
      gap: '19.200',
      outside: 'rgb(255, 0, 0)',
      sheets: 1,
    });
  });

  test.each([1000, 300])('in whatever stands around it, %s px wide, it has a width', async (room) => {
    const figures = Object.entries(containers).map(
      ([kind, [around, inside]]) =>
        `<div style="width:${room}px"><div id="${kind}" style="${around}"><div style="${inside}">${figure('name="gram"')}</div></div></div>`,
    );
    const direct = Object.entries(containers).map(
      ([kind, [around]]) =>
        `<div style="width:${room}px"><div id="${kind}-direct" style="${around}">${figure('name="gram"')}</div></div>`,
    );
    const { engine } = await open(({ site }) => ({
      html: page(figures.join('') + direct.join('') + script(site), '<style>body{margin:0}</style>'),
    }));
    const finding = await findingOf('gram');
    for (const kind of Object.keys(containers).flatMap((text) => [text, `${text}-direct`])) {
      const widths = async () => {
        const measured = await engine.evaluate((id) => {
          const around = document.getElementById(id as string) as HTMLElement;
          const element = around.querySelector('superpose-figure') as HTMLElement;
          element.scrollIntoView();
          return {
            figure: element.getBoundingClientRect().width,
            room: (around.parentElement as HTMLElement).clientWidth,
            finding: element.shadowRoot?.querySelector('.finding')?.textContent?.trim() ?? '',
          };
        }, kind);
        return {
          room: measured.room,
          drawn: withoutRounding(measured.finding) === withoutRounding(finding),
          wide: measured.figure >= Math.min(room, 500),
          inside: measured.figure <= room,
        };
      };
      await expect
        .poll(widths, { ...patience, message: kind })
        .toEqual({ room, drawn: true, wide: true, inside: true });
    }
  });
}
