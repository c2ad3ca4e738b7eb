// The page starts in Firefox and in WebKit, follows its sliders, and trains in its worker. What figures say there is compared
// with Node by tests/embed/support/embeds.ts, in every engine; Chromium's tests, in tests/page, go deeper. And axe looks at a
// whole visit, light and dark, in all three: at colours, names, roles and live regions.
import { describe, expect, onTestFinished, test } from 'vitest';
import { faultsOf } from '../page/support/axe.ts';
import { startSite } from '../page/support/site.ts';
import { openChromium } from './chromium.ts';
import { type Engine, firefox, lacking, shown, webkit } from './engines.ts';

const starters = { chromium: openChromium, firefox, webkit };
const inCi = process.env.CI === 'true';

for (const name of ['firefox', 'webkit'] as const) {
  const missing = lacking[name]();
  if (missing.length > 0 && !inCi)
    console.log(`Not on this machine: ${missing.join(', ')}; ${name} is skipped.`);

  test.skipIf(missing.length > 0 && !inCi)(
    `a slider moves its figure, and a model is trained: ${name}`,
    async () => {
      const site = await startSite();
      onTestFinished(() => site.stop());
      const engine = await starters[name]();
      onTestFinished(() => engine.close());
      await engine.open(site.address);
      await shown(engine, 'dot-products');
      await engine.evaluate(() => {
        const slider = document
          .querySelector('superpose-figure[name=dot-products]')
          ?.shadowRoot?.querySelector('input[name=n]') as HTMLInputElement;
        slider.value = '7';
        slider.dispatchEvent(new Event('input', { bubbles: true }));
      });
      expect((await shown(engine, 'dot-products')).finding).toContain('Over 21 pairs');
      await engine.evaluate(() => {
        location.hash = '#v=1&figure=four-tasks&seed=7';
      });
      const state = async () => (await shown(engine, 'four-tasks')).drawn;
      await expect.poll(state, { timeout: 240_000 }).toMatchObject({ seed: 7 });
      expect((await shown(engine, 'four-tasks')).problems).toEqual([]);
      expect(engine.complaints).toEqual([]);
      // Nothing is asked for outside the page's folder.
      const folder = new URL(site.address).pathname;
      expect(site.requests.filter((path) => !path.startsWith(folder))).toEqual([]);
    },
  );
}

/** Runs in the page. */
const press = (selector: string) => document.querySelector<HTMLElement>(selector)?.click();
const goTo = (fragment: string) => {
  location.hash = fragment;
};
const dialogOpen = (host: string) => {
  const one = document.querySelector(host);
  return (one?.shadowRoot?.querySelector('dialog') ?? one)?.matches('dialog[open]:modal') ?? false;
};
const closeEmbed = () =>
  document.querySelector('superpose-embed-builder')?.shadowRoot?.querySelector('dialog')?.close();

/** What a visit comes by, each added to what is there already. */
const visit: [what: string, come: (engine: Engine) => Promise<unknown>][] = [
  ['the first screen', (engine) => shown(engine, 'add-or-concatenate')],
  [
    'a beat, and a card and the claims, opened',
    async (engine) => {
      await shown(engine, 'dot-products');
      for (const part of ['#check-narrow > summary', '.kinds [type=checkbox]', '.verdict > summary'])
        await engine.evaluate(press, part);
      await shown(engine, 'narrow');
    },
  ],
  [
    'the Embed dialog',
    async (engine) => {
      await engine.evaluate(press, 'superpose-figure[name=one-layer] > .embed');
      await expect.poll(() => engine.evaluate(dialogOpen, 'superpose-embed-builder')).toBe(true);
    },
  ],
  [
    'Present',
    async (engine) => {
      await engine.evaluate(closeEmbed);
      await engine.evaluate(goTo, '#present/mix');
      await expect.poll(() => engine.evaluate(dialogOpen, 'dialog.present')).toBe(true);
    },
  ],
];

for (const name of ['chromium', 'firefox', 'webkit'] as const) {
  const missing = name === 'chromium' ? [] : lacking[name]();
  describe.skipIf(missing.length > 0 && !inCi)(name, () => {
    test.each(['light', 'dark'] as const)('axe finds nothing, %s', async (scheme) => {
      const site = await startSite();
      onTestFinished(() => site.stop());
      const engine = await starters[name]({ scheme });
      onTestFinished(() => engine.close());
      await engine.open(site.address);
      const faults: Record<string, string[]> = {};
      for (const [what, come] of visit) {
        await come(engine);
        const found = await faultsOf(engine);
        if (found.length > 0) faults[what] = found;
      }
      expect(faults).toEqual({});
      expect(engine.complaints).toEqual([]);
    });
  });
}
