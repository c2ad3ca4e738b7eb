// A snippet at the top of a page reserves the space that the figure takes, so that nothing moves when the
// figure becomes live.
import { expect, test } from 'vitest';
import { scriptTag } from '../../web/page/snippets.ts';
import { openChromium } from '../engines/chromium.ts';
import { openBlog, page, patience } from './support/embeds.ts';
import { wishOf } from './support/figures.ts';

/** Self-contained: adds up how much of what the reader sees moves by itself. */
function watchShifts(): void {
  Object.assign(window, { shifts: 0 });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      (window as unknown as { shifts: number }).shifts += (entry as never as { value: number }).value;
  }).observe({ type: 'layout-shift', buffered: true });
}

const style = `<meta name="viewport" content="width=device-width">
  <style>body{max-width:700px;margin:0 auto;padding:8px;font:18px/1.6 serif}</style>`;
const below = '<p>Words of a post that stand below the figure and must not move.</p>'.repeat(30);

/**
 * Figures with their inputs above or below the picture, short and long, at their first view and in another
 * state.
 */
const shown: [name: string, settings: Record<string, string>][] = [
  ['collisions', {}],
  ['one-layer', {}],
  ['dot-products', { n: '9', d: '16' }],
  ['gauge', {}],
  // In this state the narrow drawing grows with the window, and the wide one is half as high.
  ['dot-products', { positions: 'random', scale: '1.7' }],
];

test.each(
  [1280, 680, 560, 414, 390].flatMap((width) => shown.map(([name, settings]) => ({ width, name, settings }))),
)(
  'in a window of $width nothing moves when $name becomes live, $settings',
  async ({ width, name, settings }) => {
    const chromium = await openChromium();
    await chromium.resize(width, 844);
    await chromium.page.addInitScript(watchShifts);
    const { servers } = await openBlog(
      async () => chromium,
      () => ({ html: '' }),
    );
    const request = await wishOf(name, settings, servers.site);
    servers.publish({ html: page(scriptTag(request) + below, style) });
    await chromium.open(servers.blog);
    const placed = () =>
      chromium.page.evaluate(() => {
        const element = document.querySelector('superpose-figure') as HTMLElement;
        const root = element.shadowRoot?.querySelector('.finding')?.closest('.root');
        return { reserved: element.clientHeight, taken: root?.clientHeight ?? 0 };
      });
    const { reserved } = await placed();
    await expect.poll(async () => (await placed()).taken, patience).toBeGreaterThan(0);
    const { taken } = await placed();
    // The reserved height is at most two lines of text too large or too small.
    expect(Math.abs(reserved - taken)).toBeLessThan(45);
    // Anything that moves does so in one of the frames after the figure is drawn.
    const shifts = await chromium.page.evaluate(async () => {
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
      await new Promise((later) => setTimeout(later));
      return (window as unknown as { shifts: number }).shifts;
    });
    expect(shifts).toBeLessThanOrEqual(0.02);
    expect(chromium.complaints).toEqual([]);
  },
);
