// A frame and the page around it: each accepts the other's messages about heights and themes, and ignores any
// other message.
import type { Frame, Page } from 'playwright';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { reportHeight } from '../../web/embed/frameMessages.ts';
import { openPage, painted, scriptOf } from './support/module.ts';

/** A page that records its frames' messages, with one frame that holds a module. */
async function framed(
  module: string,
): Promise<{ page: Page; frame: Frame; heard: () => Promise<unknown[]> }> {
  const page = await openPage(
    `<script>window.heard = []; addEventListener('message', ({ data }) => heard.push(data))</script>
     <iframe title="A figure" srcdoc="<body style='margin:0'><div style='height:100px'></div></body>"></iframe>`,
  );
  await page.locator('iframe').contentFrame().locator('div').waitFor();
  const frame = page.frames()[1] as Frame;
  await frame.addScriptTag({ content: await scriptOf(module) });
  return { page, frame, heard: () => page.evaluate('heard') as Promise<unknown[]> };
}

const settle = async (page: Page) => {
  await painted(page);
  await painted(page);
};
const request = JSON.stringify({ context: 'superpose.theme' });
const themed = (theme: string) => JSON.stringify({ context: 'superpose.theme', theme });

describe('the theme around a frame', () => {
  test('is asked for, and heard from the page around alone', async () => {
    const { page, frame, heard } = await framed('frameMessages');
    await frame.evaluate('window.themes = []; embed.followTheme((theme) => themes.push(theme))');
    await settle(page);
    expect(await heard()).toEqual([request]);
    const around = (data: unknown) => page.evaluate((text) => frames[0]?.postMessage(text, '*'), data);
    for (const data of [themed('dark'), 'dark', themed('blue'), request, { theme: 'dark' }, themed('light')])
      await around(data);
    await settle(page);
    expect(await frame.evaluate('themes')).toEqual(['dark', 'light']);
    await frame.evaluate((text) => window.postMessage(text, '*'), themed('dark'));
    await settle(page);
    expect(await frame.evaluate('themes')).toEqual(['dark', 'light']);
  });

  test('is nobody’s affair where there is no frame', async () => {
    const page = await openPage();
    await page.addScriptTag({ content: await scriptOf('frameMessages') });
    await page.evaluate(`
      window.heard = [];
      addEventListener('message', ({ data }) => heard.push(data));
      embed.followTheme((theme) => heard.push(theme));
      postMessage(${JSON.stringify(themed('dark'))}, '*');
    `);
    await settle(page);
    expect(await page.evaluate('heard')).toEqual([themed('dark')]);
  });
});

describe('the height of a page in a frame', () => {
  const heightsOf = async (heard: () => Promise<unknown[]>) =>
    (await heard()).map((message) => JSON.parse(message as string));
  const drawn = "figure.dispatchEvent(new Event('superpose-drawn'))";

  test('is told once its figure is drawn, and again whenever it is another', async () => {
    const { page, frame, heard } = await framed('frameMessages');
    await frame.evaluate("window.figure = document.querySelector('div'); embed.reportHeight(figure)");
    const becomes = async (height: string) => {
      await frame.evaluate((source) => {
        (document.querySelector('div') as HTMLElement).style.height = source;
      }, height);
      await settle(page);
    };
    await becomes('120px');
    expect(await heard()).toEqual([]);
    await frame.evaluate(drawn);
    await settle(page);
    const src = 'about:srcdoc';
    expect(await heightsOf(heard)).toEqual([{ context: 'iframe.resize', src, height: 120 }]);
    await becomes('150.2px');
    await becomes('150.9px');
    await frame.evaluate(drawn);
    await settle(page);
    // Heights are rounded up to whole pixels, and the same height is not reported twice.
    expect((await heightsOf(heard)).map(({ height }) => height)).toEqual([120, 151]);
  });

  test('is told after five seconds where a figure is never drawn, or there is none', async () => {
    for (const figure of ["document.querySelector('div')", 'null']) {
      const { page, frame, heard } = await framed('frameMessages');
      // Unless it is paused, the clock also goes on by itself.
      await page.clock.install({ time: 0 });
      await page.clock.pauseAt(1000);
      await frame.evaluate(`embed.reportHeight(${figure})`);
      await page.clock.runFor(4900);
      expect(await heard()).toEqual([]);
      await page.clock.runFor(100);
      await expect.poll(async () => (await heightsOf(heard)).map(({ height }) => height)).toEqual([100]);
    }
  });

  afterEach(() => vi.unstubAllGlobals());
  test('has one observer where a figure is drawn after the wait is over', () => {
    vi.useFakeTimers();
    const observers = new Set<object>();
    vi.stubGlobal(
      'ResizeObserver',
      class {
        observe() {
          observers.add(this);
        }
      },
    );
    vi.stubGlobal('window', { parent: {} });
    vi.stubGlobal('document', { body: {} });
    vi.stubGlobal('history', { state: { given: 'here' } });
    const figure = new EventTarget();
    reportHeight(figure as Element);
    vi.runAllTimers();
    figure.dispatchEvent(new Event('superpose-drawn'));
    vi.useRealTimers();
    expect(observers.size).toBe(1);
  });

  test('is told to nobody where there is no frame', async () => {
    const page = await openPage('<p>Words</p>');
    await page.addScriptTag({ content: await scriptOf('frameMessages') });
    await page.evaluate(`
      window.heard = [];
      addEventListener('message', ({ data }) => heard.push(data));
      embed.reportHeight(document.querySelector('p'));
      document.querySelector('p').dispatchEvent(new Event('superpose-drawn'));
    `);
    await settle(page);
    expect(await page.evaluate('heard')).toEqual([]);
  });
});

describe('the page around, with resize.js', () => {
  const home = 'https://figures.example/superpose/';
  const figure = `${home}figures/gram/#v=1&figure=gram`;

  /**
   * A blog with these frames, each of which records what it is told; `script` is the attribute for resize.js.
   */
  async function blog(frames: string, script = `src="${home}resize.js"`) {
    const page = await openPage();
    const style = 'body { background: #fff } .dark body { background: #111 }';
    const inside = "<script>window.told=[];addEventListener('message',({data})=>told.push(data))</script>";
    const resize = await scriptOf('resize');
    await page.route(/^https:\/\/\w+\.example\//, (route) => {
      const address = new URL(route.request().url());
      if (address.pathname.endsWith('.js'))
        return route.fulfill({ contentType: 'text/javascript', body: resize });
      const isBlog = address.href === 'https://blog.example/';
      const body = isBlog ? `<style>${style}</style>${frames}<script ${script}></script>` : inside;
      return route.fulfill({ contentType: 'text/html', body: `<!DOCTYPE html><title>A page</title>${body}` });
    });
    await page.goto('https://blog.example/');
    const [, ...inner] = page.frames() as [Frame, ...Frame[]];
    for (const target of inner) await target.waitForLoadState();
    const says = async (data: unknown, frame = inner.at(-1) as Frame) => {
      await frame.evaluate((sent) => parent.postMessage(sent, '*'), data);
      await settle(page);
    };
    const heights = () =>
      page.evaluate(() => [...document.querySelectorAll('iframe')].map(({ style }) => style.height));
    return { page, inner, says, heights };
  }
  const frameOf = (attributes: string, id = 'any') =>
    `<iframe id="${id}" title="${id}" ${attributes} style="height:100px"></iframe>`;

  /** Two figures in frames, the second in a sandbox, and functions that send messages from them. */
  async function around() {
    const { page, inner, says, heights } = await blog(
      frameOf(`src="${figure}"`, 'one') + frameOf(`src="${figure}" sandbox="allow-scripts"`, 'two'),
    );
    const [target, two] = inner as [Frame, Frame];
    const themesOf = (frame = two) => frame.evaluate('told');
    return { page, one: target, two, says, heights, told: themesOf };
  }
  const resized = (height: unknown) => JSON.stringify({ context: 'iframe.resize', src: 'any', height });

  const html = "<script>window.told=[];addEventListener('message',({data})=>told.push(data))</script>";
  const data = `data:text/html,${encodeURIComponent(html)}`;
  test.each<[string, string, string?]>([
    ['has data for an address', `src="${data}"`],
    ['has data for an address, in a sandbox', `src="${data}" sandbox="allow-scripts"`],
    ['has its text in an attribute', `srcdoc="${html}"`],
    ['has a figure’s address too, and another text', `src="${figure}" srcdoc="${html}"`],
    ['is of another host', 'src="https://other.example/superpose/figures/gram/"'],
    ['is of another host, in a sandbox', 'src="https://other.example/" sandbox="allow-scripts"'],
    ['is of another folder of the figures’ host', 'src="https://figures.example/figures/gram/"'],
    ['is of a host that the script is not of', `src="${figure}"`, 'src="https://other.example/resize.js"'],
  ])('does not obey a frame that %s, nor answers it', async (_, attributes, script) => {
    const { inner, says, heights } = await blog(frameOf(attributes), script);
    for (const sent of [resized(19_000), request]) await says(sent);
    expect(await heights()).toEqual(['100px']);
    expect(await inner[0]?.evaluate('told')).toEqual([]);
  });

  test('does not obey a figure’s frame that has gone elsewhere', async () => {
    const { page, inner, says, heights } = await blog(frameOf(`src="${figure}"`));
    await says(resized(200));
    expect(await heights()).toEqual(['200px']);
    await inner[0]?.goto('https://other.example/');
    await says(resized(19_000), page.frames()[1]);
    expect(await heights()).toEqual(['200px']);
  });

  test('obeys a page in one file on the blog’s own server', async () => {
    const { says, heights } = await blog(frameOf('src="/one-file.html" sandbox="allow-scripts"'));
    await says(resized(333));
    expect(await heights()).toEqual(['333px']);
  });

  test('makes the frame that says so as high as it says, and no other', async () => {
    const { says, heights, one: frame } = await around();
    const nowAfter = async (data: unknown) => {
      await says(data);
      return (await heights())[1];
    };
    expect(await nowAfter(resized(250.3))).toBe('251px');
    expect(await nowAfter(resized(90_000))).toBe('6000px');
    expect(await nowAfter(resized(1e308))).toBe('6000px');
    expect(await nowAfter(resized(1))).toBe('1px');
    const nothing = [
      resized(0),
      resized(-3),
      resized('50'),
      resized(null),
      resized([50]),
      resized({ valueOf: 50 }),
      '{"context":"iframe.resize","height":-1e999}',
      'null "iframe.resize"',
      '"iframe.resize"',
      '["iframe.resize"]',
      ['iframe.resize'],
      { context: 'iframe.resize', height: 50 },
      'iframe.resize',
      JSON.stringify({ context: 'another.resize', height: 50 }),
      JSON.stringify({ context: 'another', height: 50, of: 'iframe.resize' }),
      resized(50).padEnd(10_001),
    ];
    for (const data of nothing) expect(await nowAfter(data), String(data)).toBe('1px');
    expect(await nowAfter(resized(50).padEnd(10_000))).toBe('50px');
    expect((await heights())[0]).toBe('100px');
    await says(resized(70), frame);
    expect(await heights()).toEqual(['70px', '50px']);
  });

  test('takes no height from anybody who is not in a frame of it', async () => {
    const { page, heights } = await around();
    await page.evaluate((text) => postMessage(text, '*'), resized(50));
    await settle(page);
    expect(await heights()).toEqual(['100px', '100px']);
  });

  test('tells a frame that asks which theme is around it, and what it becomes, each once', async () => {
    const { page, one: frame, says, told: themesOf } = await around();
    const dark = (is: boolean) =>
      page
        .evaluate((on) => document.documentElement.classList.toggle('dark', on), is)
        .then(() => settle(page));
    await dark(true);
    expect(await themesOf()).toEqual([]);
    await says(request);
    expect(await themesOf()).toEqual([themed('dark')]);
    await dark(false);
    await page.evaluate(() => document.body.setAttribute('data-any', 'thing'));
    await settle(page);
    expect(await themesOf()).toEqual([themed('dark'), themed('light')]);
    // A height is no question, but it is answered by the theme where the frame had been told none yet.
    await says(resized(80));
    expect(await themesOf()).toEqual([themed('dark'), themed('light')]);
    expect(await themesOf(frame)).toEqual([]);
    await says(resized(80), frame);
    expect(await themesOf(frame)).toEqual([themed('light')]);
    // A frame that is loaded again asks again.
    await says(request);
    expect(await themesOf()).toEqual([themed('dark'), themed('light'), themed('light')]);
  });

  test('a frame that was taken away is told nothing, nor when it is put back until it asks', async () => {
    const { page, one: frame, says, told: themesOf } = await around();
    await says(request);
    await says(request, frame);
    await page.evaluate(() => {
      document.querySelector('#two')?.remove();
      document.documentElement.classList.add('dark');
    });
    await settle(page);
    expect(await themesOf(frame)).toEqual([themed('light'), themed('dark')]);
  });
});
