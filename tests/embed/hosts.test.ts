// Figures on pages with keys, styles, translators and policies of their own.
import { describe, expect, inject, test } from 'vitest';
import { openChromium } from '../engines/chromium.ts';
import { figure, inPage, type Made, openBlog, page, patience, script, settled } from './support/embeds.ts';
import { findingOf, readFigures } from './support/figures.ts';
import type { Servers } from './support/servers.ts';

type Options = { cors?: boolean; prepare?: (servers: Servers) => unknown };

/** Opens the blog with Playwright's own page, for real key presses. */
async function open(make: Made, options: Options = {}) {
  const chromium = await openChromium();
  const opened = await openBlog(async () => chromium, make, options);
  return { ...opened, browserPage: chromium.page };
}

const onBlog = (body: string, head = '') => open(({ site }) => ({ html: page(body + script(site), head) }));

/** Polls the first figure's finding. */
const shows = (engine: Parameters<typeof inPage>[0], finding: string) =>
  expect.poll(async () => (await inPage(engine)())[0]?.finding, patience).toBe(finding);

describe('keys', () => {
  const kinds = ['keydown', 'keypress', 'keyup', 'beforeinput', 'input', 'paste'];
  const listening = `<script>window.heard = []; for (const kind of ${JSON.stringify(kinds)})
    document.addEventListener(kind, (event) => heard.push(kind + ' ' + (event.key ?? '')))</script>`;
  const typed = figure('name="dot-products" tokens="sentence" text="one"');

  async function heardFrom(control: string) {
    const { browserPage } = await onBlog(listening + (control === 'textarea' ? typed : figure()));
    if (control !== 'textarea') await browserPage.getByText('More settings').press('Enter');
    const inside = browserPage.locator('superpose-figure').locator(control).first();
    await inside.focus();
    const heard = () => browserPage.evaluate('heard.splice(0)') as Promise<string[]>;
    const press = async (key: string) => {
      await browserPage.keyboard.press(key);
      return heard();
    };
    await heard();
    return { browserPage, inside, heard, press };
  }

  test.each([
    'textarea',
    'input[type=range]',
    'input[inputmode=numeric]',
    'select',
    'details.more > summary',
    'details.menu > summary',
    '.surface',
  ])(
    'that are pressed in a figure stay in it, and those of the page and the browser do not: %s',
    async (control) => {
      const { press } = await heardFrom(control);
      for (const key of ['/', 'a', '?', 'ArrowRight', 'ArrowUp', 'Home', 'End', 'Space', 'Space'])
        expect(await press(key), key).toEqual([]);
      for (const key of ['Shift', 'Escape', 'F2', 'Control+K', 'Alt+T'])
        expect(
          (await press(key)).filter((text) => text.startsWith('keydown')),
          key,
        ).not.toEqual([]);
      // The page does not see a key that the picture uses.
      expect((await press('PageDown')).includes('keydown PageDown')).toBe(control !== '.surface');
      expect((await press('Tab')).includes('keydown Tab')).toBe(true);
    },
  );

  test('that are typed arrive where they are typed, and text that is pasted', async () => {
    const { browserPage, inside, heard } = await heardFrom('textarea');
    await inside.press('End');
    await browserPage.keyboard.type('/s a');
    await inside.evaluate((box) =>
      box.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, composed: true })),
    );
    expect(await inside.inputValue()).toBe('one/s a');
    expect(await heard()).toEqual([]);
  });

  test('turn the page’s slides after its picture was clicked, and a slider then stays where it is', async () => {
    const { press, inside, browserPage } = await heardFrom('input[type=range]');
    await browserPage.evaluate(() =>
      document.addEventListener('keydown', (event) => {
        if (event.key === 'PageDown') event.preventDefault();
      }),
    );
    const before = await inside.inputValue();
    expect(await press('PageDown')).toContain('keydown PageDown');
    expect(await inside.inputValue()).toBe(before);
    await browserPage.locator('superpose-figure .surface').click();
    expect(await press('PageDown')).toContain('keydown PageDown');
  });

  test('that are pressed in what the page has put into the figure are the page’s', async () => {
    const title = typed.replace(
      '</superpose-figure>',
      '<h2 slot="title"><input id="theirs"></h2></superpose-figure>',
    );
    const { browserPage } = await onBlog(listening + title);
    await browserPage.locator('superpose-figure .finding').waitFor();
    await browserPage.locator('#theirs').press('/');
    expect(await browserPage.evaluate('heard')).toContain('keydown /');
  });

  test('are heard by a page that listens in the capture phase', async () => {
    const { press, browserPage } = await heardFrom('input[type=range]');
    await browserPage.evaluate(`addEventListener('keydown', ({ key }) => heard.push(key), true)`);
    expect(await press('/')).toEqual(['/']);
  });

  test('Escape closes the menu, then what the page has around it', async () => {
    const { browserPage } = await onBlog(
      `${listening}<dialog>${typed}</dialog><script>document.querySelector('dialog').showModal()</script>`,
    );
    const menu = browserPage.locator('superpose-figure details.menu');
    const isOpen = () => browserPage.evaluate(() => document.querySelector('dialog')?.open);
    for (const focus of ['kept', 'lost']) {
      await menu.locator('summary').click();
      await expect.poll(() => menu.locator('.tools').isVisible()).toBe(true);
      // The menu's own event `toggle` comes a little later.
      await browserPage.evaluate(
        () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
      );
      // As in browsers that do not focus a button that is pressed.
      if (focus === 'lost') await browserPage.evaluate(() => (document.activeElement as HTMLElement).blur());
      await browserPage.evaluate('heard.splice(0)');
      await browserPage.keyboard.press('Escape');
      expect(await menu.getAttribute('open')).toBeNull();
      expect(await isOpen()).toBe(true);
      expect(await browserPage.evaluate('heard')).toEqual([]);
    }
    await browserPage.keyboard.press('Escape');
    expect(await isOpen()).toBe(false);
  });
});

describe('attributes', () => {
  // The text is typed; whether there is a model to compute with does not matter here.
  const typed = 'name="dot-products" tokens="sentence" text="one"';

  test('a page that touches its elements while one types loses none of it', async () => {
    const { browserPage } = await onBlog(
      `${figure(typed)}<script>addEventListener('input', (event) => event.target.classList.toggle('busy'), true)</script>`,
    );
    const box = browserPage.locator('textarea');
    await box.press('End');
    await box.pressSequentially(' two three');
    expect(await box.inputValue()).toBe('one two three');
    await expect
      .poll(() => browserPage.locator('superpose-figure').getAttribute('text'), patience)
      .toBe('one two three');
    expect(await box.inputValue()).toBe('one two three');
  });

  test('showing a state discards what was typed a moment before', async () => {
    // Side by side, so that both are near the reader.
    const { browserPage } = await onBlog(
      `<div style="display:grid;grid-template-columns:1fr 1fr">${figure(typed)}${figure(typed)}</div>`,
    );
    await expect.poll(() => browserPage.locator('textarea').count(), patience).toBe(2);
    const text = await browserPage.evaluate(async () => {
      type Live = HTMLElement & { show(settings: string[][]): Promise<void>; state: { text: string } };
      const [first, second] = [...document.querySelectorAll('superpose-figure')] as unknown as Live[];
      const type = (live: Live | undefined) => {
        const box = live?.shadowRoot?.querySelector('textarea') as HTMLTextAreaElement;
        box.value = 'typed';
        box.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
      };
      type(first);
      await first?.show([]);
      // The second figure waits as long as the first before it computes, and started later.
      const heard = new Promise((change) => second?.addEventListener('superpose-change', change));
      type(second);
      await heard;
      return first?.state.text;
    });
    expect(text).toMatch(/^The river bank/);
  });

  test('another name is another figure, with its own attributes', async () => {
    const { engine } = await onBlog(figure('name="dot-products" d="128"'));
    await shows(engine, await findingOf('dot-products', { d: '128' }));
    await engine.evaluate(() => document.querySelector('superpose-figure')?.setAttribute('name', 'gram'));
    await shows(engine, await findingOf('gram', { d: '128' }));
    // All at once, so that each name is set while the previous figure is still loading.
    await engine.evaluate(() => {
      const element = document.querySelector('superpose-figure') as HTMLElement;
      for (const name of ['dot-products', 'nothing', 'dot-products']) element.setAttribute('name', name);
      element.setAttribute('n', '5');
    });
    await shows(engine, await findingOf('dot-products', { d: '128', n: '5' }));
    await engine.evaluate(() => document.querySelector('superpose-figure')?.setAttribute('name', 'nothing'));
    const problem = async () => (await inPage(engine)())[0]?.problem;
    await expect.poll(problem, patience).toContain('Unknown figure `nothing`. Figures: ');
    expect(engine.complaints).toEqual([]);
  });

  test.each([
    ['auto', 'light', 'rgba(0, 0, 0, 0)', ''],
    ['Dark', 'dark', 'rgb(18, 21, 27)', ''],
    [' light ', 'light', 'rgb(252, 252, 250)', ''],
    ['x', 'light', 'rgba(0, 0, 0, 0)', '“x” is not a theme; there are light, dark and auto.'],
  ])('theme="%s"', async (theme, themeName, paper, problem) => {
    const { engine } = await onBlog(figure(`name="gram" theme="${theme}"`));
    await shows(engine, await findingOf('gram'));
    const read = () =>
      engine.evaluate(() => {
        const root = document.querySelector('superpose-figure')?.shadowRoot;
        const canvas = root?.querySelector('canvas') as HTMLCanvasElement;
        const { data } = (canvas.getContext('2d') as CanvasRenderingContext2D).getImageData(
          0,
          0,
          canvas.width,
          canvas.height,
        );
        const part = root?.querySelector('.root') as Element;
        return {
          asked: part.getAttribute('data-theme') ?? '',
          // The figure's own background, or that of the surrounding page.
          paper: getComputedStyle(part).backgroundColor,
          problem: root?.querySelector('.problem')?.textContent ?? '',
          painted: data.some((value) => value > 0),
        };
      });
    await expect.poll(read, patience).toEqual({ asked: themeName, paper, problem, painted: true });
    expect(engine.complaints).toEqual([]);
  });

  test('a theme yields to forced colours: all that can be read stands out from them', async () => {
    const { engine, browserPage } = await onBlog(
      ['auto', 'dark', 'light'].map((theme) => figure(`name="dot-products" n="6" theme="${theme}"`)).join(''),
    );
    await settled(inPage(engine), 3);
    /**
     * The lowest contrast of each figure's words and lines with the reader's background, and the theme of its
     * maps.
     */
    const read = () =>
      engine.evaluate(() => {
        const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
        const context = canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
        const luminance = (colour: string) => {
          context.fillStyle = colour;
          context.fillRect(0, 0, 1, 1);
          const [red = 0, green = 0, blue = 0] = [...context.getImageData(0, 0, 1, 1).data].map((value) =>
            value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
          );
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const probe = document.body.appendChild(document.createElement('p'));
        probe.style.color = 'Canvas';
        const paper = luminance(getComputedStyle(probe).color);
        probe.remove();
        const contrast = (colour: string) => {
          const [low = 0, high = 0] = [luminance(colour), paper].sort((a, b) => a - b);
          return (high + 0.05) / (low + 0.05);
        };
        const words = '.marks text, h3, label:not(:has(:checked)), .finding, summary, .tools button, select';
        return [...document.querySelectorAll('superpose-figure')].map((element) => {
          const root = element.shadowRoot as ShadowRoot;
          const colours = [...root.querySelectorAll(words)].map((element) =>
            element instanceof SVGElement ? getComputedStyle(element).fill : getComputedStyle(element).color,
          );
          return {
            readable: Math.min(...colours.map(contrast)) >= 4.5,
            words: colours.length > 20,
            theme: (element as unknown as { surroundings: { theme: string } }).surroundings.theme,
          };
        });
      });
    for (const scheme of ['light', 'dark'] as const) {
      await browserPage.emulateMedia({ forcedColors: 'active', colorScheme: scheme });
      const same = { readable: true, words: true, theme: scheme };
      await expect.poll(read, patience).toEqual([same, same, same]);
    }
    await browserPage.emulateMedia({ forcedColors: 'none', colorScheme: 'light' });
    const themes = async () => (await read()).map(({ theme }) => theme);
    await expect.poll(themes, patience).toEqual(['light', 'dark', 'light']);
  });
});

describe('where it stands', () => {
  test('a change of its width is no error of the page, which may observe sizes too', async () => {
    const { engine, browserPage } = await onBlog(
      `<div id="column" style="width:700px"><article>${figure('name="dot-products" n="6"')}</article></div><p></p>`,
      `<script>
        window.errors = [];
        addEventListener('error', ({ message }) => errors.push(message));
        addEventListener('DOMContentLoaded', () => new ResizeObserver(() => {}).observe(document.querySelector('article')));
      </script>`,
    );
    await settled(inPage(engine));
    const surface = browserPage.locator('superpose-figure .surface');
    for (const width of [640, 500, 420, 340, 480, 600, 700]) {
      const before = await surface.evaluate((element) => (element as HTMLElement).dataset.size);
      await browserPage.locator('#column').evaluate((element, to) => {
        (element as HTMLElement).style.width = `${to}px`;
      }, width);
      await expect
        .poll(() => surface.evaluate((element) => (element as HTMLElement).dataset.size), patience)
        .not.toBe(before);
    }
    expect(await browserPage.evaluate('errors')).toEqual([]);
  });

  test('the margins that a page gives it are within its width', async () => {
    const { engine } = await open(({ site }) => ({
      html: page(
        `<div style="width:600px">${figure()}</div>${script(site)}`,
        '<style>superpose-figure{margin:0 20px;padding:0 5px;border:1px solid}</style>',
      ),
    }));
    await settled(inPage(engine));
    const width = () =>
      engine.evaluate(() => document.querySelector('superpose-figure')?.getBoundingClientRect().width);
    expect(await width()).toBe(560);
  });

  test('in view at once, its picture stays in place until the figure comes', async () => {
    const watched = `<script>
      window.tops = new Set();
      (function look() {
        const { top, height } = document.querySelector('img').getBoundingClientRect();
        if (height > 0) tops.add(Math.round(top));
        requestAnimationFrame(look);
      })();</script>`;
    // As in the snippets, where the picture is a block.
    const { engine } = await onBlog(figure().replace('<img ', '<img style="display:block" ') + watched);
    await shows(engine, await findingOf('dot-products'));
    const tops = await engine.evaluate(() => [...(window as unknown as { tops: Set<number> }).tops]);
    expect(tops).toHaveLength(1);
  });

  test('moved while it computes, it shows what it was asked', async () => {
    const { engine } = await onBlog(`<main>${figure()}</main><section></section>`);
    await shows(engine, await findingOf('dot-products'));
    await engine.evaluate(() => {
      const element = document.querySelector('superpose-figure') as HTMLElement;
      const slider = element.shadowRoot?.querySelector('input[name=n]') as HTMLInputElement;
      slider.value = '9';
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      document.querySelector('section')?.append(element);
    });
    await shows(engine, await findingOf('dot-products', { n: '9' }));
    expect(engine.complaints).toEqual([]);
  });

  test('moved into another document and back, it keeps its styles', async () => {
    const { engine } = await onBlog(`<main>${figure()}</main><iframe title="F"></iframe>`);
    await shows(engine, await findingOf('dot-products'));
    const positions = await engine.evaluate(() => {
      const element = document.querySelector('superpose-figure') as HTMLElement;
      const other = (document.querySelector('iframe') as HTMLIFrameElement).contentDocument as Document;
      return [document.body, other.body, document.body].map((place) => {
        place.append(element);
        return getComputedStyle(element.shadowRoot?.querySelector('.unseen') as Element).position;
      });
    });
    expect(positions).toEqual(['absolute', 'absolute', 'absolute']);
  });
});

describe('a translator that puts elements in place of text', () => {
  test('what is shown still follows the state, as in a figure beside it that is not translated', async () => {
    const { engine, browserPage } = await onBlog(figure('name="dot-products" n="8" group="ρ"').repeat(2));
    const readBoth = () => engine.evaluate(readFigures);
    await settled(readBoth, 2);
    for (const locator of await browserPage.locator('superpose-figure').all()) {
      await locator.locator('.menu > summary').click();
      await locator.getByText('The numbers as a table').click();
      await locator.locator('.surface').press('ArrowRight');
    }
    /** Text that has not changed may stay translated. */
    const texts = () =>
      browserPage.evaluate(() =>
        [...document.querySelectorAll('superpose-figure')].map(({ shadowRoot }) =>
          ['h3', '.finding', '.readout', 'label:has([name=scale]) .value', 'table', '.marks'].map(
            (selector) => shadowRoot?.querySelector(selector)?.textContent?.replace(/[«»]/g, '').trim(),
          ),
        ),
      );
    // Translates the whole first figure as Chromium's translator does.
    const translate = () =>
      browserPage.evaluate(() => {
        const root = document.querySelector('superpose-figure')?.shadowRoot as ShadowRoot;
        const walk = document.createTreeWalker(root.querySelector('.root') as Element, NodeFilter.SHOW_TEXT);
        const textNodes: Text[] = [];
        while (walk.nextNode())
          if (walk.currentNode.textContent?.trim()) textNodes.push(walk.currentNode as Text);
        for (const text of textNodes) {
          const font = document.createElement('font');
          font.appendChild(document.createElement('font')).textContent = `«${text.data}»`;
          text.replaceWith(font);
        }
        return textNodes.length;
      });
    for (const scale of ['0.5', '1.5']) {
      const before = await texts();
      expect(await translate()).toBeGreaterThan(50);
      expect(await texts()).toEqual(before);
      await browserPage.locator('input[name=scale]').first().fill(scale);
      const expected = await findingOf('dot-products', { n: '8', scale });
      await expect.poll(async () => (await readBoth())[1]?.finding, patience).toBe(expected);
      await expect.poll(async () => (await texts())[0], patience).toEqual((await texts())[1]);
      expect((await texts())[0]).not.toEqual(before[0]);
    }
    await translate();
    await engine.evaluate(() => {
      for (const element of document.querySelectorAll('superpose-figure'))
        element.setAttribute('name', 'gram');
    });
    const finding = await findingOf('gram', { scale: '1.5' });
    const renamed = ['Dot products of positions', finding];
    const named = async () => (await texts()).map((texts) => texts.slice(0, 2));
    await expect.poll(named, patience).toEqual([renamed, renamed]);
    expect(engine.complaints).toEqual([]);
  });
});

describe('a page that asks for Trusted Types', () => {
  const rules: [string, string, string][] = [
    ['any policy', '', 'blob worker'],
    ['those of the figures', '; trusted-types lit-html superpose', 'blob worker'],
    ['none for workers', '; trusted-types lit-html', 'page'],
  ];
  test.each(rules)('and allows %s', async (_, allowed, runsIn) => {
    const { engine } = await open(({ site }) => {
      const { origin } = new URL(site);
      return {
        html: page(figure('name="dot-products" n="8"') + script(site)),
        policy: `script-src ${origin} blob: 'wasm-unsafe-eval'; require-trusted-types-for 'script'${allowed}`,
      };
    });
    await shows(engine, await findingOf('dot-products', { n: '8' }));
    expect((await inPage(engine)())[0]).toMatchObject({ runsIn, problem: '' });
    await engine.evaluate(() => document.querySelector('superpose-figure')?.setAttribute('n', '5'));
    await shows(engine, await findingOf('dot-products', { n: '5' }));
    expect(engine.complaints).toEqual([]);
  });

  test('and allows no policy: the picture stays', async () => {
    const { engine, browserPage } = await open(({ site }) => ({
      html: page(`${figure()}${script(site)}`),
      policy: "require-trusted-types-for 'script'; trusted-types 'none'",
    }));
    const text = await browserPage.waitForEvent('console', (message) =>
      message.text().includes('could not be loaded'),
    );
    expect(text.text()).toContain('the pictures stay');
    const [shownFigure] = await inPage(engine)();
    expect(shownFigure).toMatchObject({ finding: '', picture: true });
    expect(engine.complaints).toEqual([]);
  });
});

describe('a frame', () => {
  const frame = (site: string, fragment: string) =>
    `<script>window.heard=[];addEventListener('message',({data})=>heard.push(String(data)))</script><iframe sandbox="allow-scripts" title="A figure" style="width:700px;height:900px" src="${site}figures/dot-products/${fragment}"></iframe>`;
  const framed = async (fragment: string) => {
    const opened = await open(({ site }) => ({ html: page(frame(site, fragment)) }), { cors: false });
    const read = () => opened.engine.evaluateInFrame(readFigures);
    await settled(read);
    return { ...opened, read };
  };

  test('tells the page around nothing that the reader types, not even after it was loaded again', async () => {
    const { browserPage, engine, servers } = await framed('#v=1&figure=dot-products&tokens=sentence');
    const address = `${servers.site}figures/dot-products/#v=1&figure=dot-products&tokens=sentence`;
    const inFrame = browserPage.frameLocator('iframe');
    const heard = () => engine.evaluate(() => (window as unknown as { heard: string[] }).heard);
    await inFrame.locator('textarea').fill('my secret');
    const fragment = () => engine.evaluateInFrame(() => location.hash);
    await expect.poll(fragment, patience).toContain('my+secret');
    for (const again of [false, true]) {
      if (again) {
        await browserPage.reload();
        await inFrame.locator('textarea').waitFor();
      }
      // When the figure's height changes, the frame reports the new height.
      const before = (await heard()).length;
      await inFrame.locator('superpose-figure').evaluate((element) => {
        element.style.paddingBottom = '99px';
      });
      await expect.poll(async () => (await heard()).length, patience).toBeGreaterThan(before);
      for (const message of await heard()) {
        expect(message).not.toMatch(/secret/);
        const { context, ...rest } = JSON.parse(message);
        expect(['iframe.resize', 'superpose.theme']).toContain(context);
        expect(rest).toEqual(context === 'iframe.resize' ? { src: address, height: expect.any(Number) } : {});
      }
    }
  });
});

describe('ten figures on one page', () => {
  const ten = (attributes: (place: number) => string) =>
    Array.from({ length: 10 }, (_, place) => figure(attributes(place))).join('');
  /** Scrolls to one figure after another, because each is computed when the reader gets to it. */
  async function reached(engine: Parameters<typeof inPage>[0]) {
    return settled(async () => {
      await engine.evaluate(() => {
        const waiting = [...document.querySelectorAll('superpose-figure')].find(
          (element) => !element.shadowRoot?.querySelector('.finding'),
        );
        waiting?.scrollIntoView();
      });
      return engine.evaluate(readFigures);
    }, 10);
  }
  /** Paths that were requested more than once. */
  const twice = (requests: readonly string[]) =>
    requests.filter((path, place) => requests.indexOf(path) !== place);

  test.runIf(inject('withModel'))('share one model', async () => {
    const { engine, browserPage, servers } = await onBlog(
      ten(
        (place) =>
          `name="one-score" text="${Array(place + 2)
            .fill('river')
            .join(' ')}"`,
      ),
    );
    const results = await reached(engine);
    expect(results.map(({ problem }) => problem).filter(Boolean)).toEqual([]);
    expect(browserPage.workers()).toHaveLength(1);
    expect(servers.requests.some((path) => path.startsWith('model/'))).toBe(true);
    expect(twice(servers.requests)).toEqual([]);
  });
});
