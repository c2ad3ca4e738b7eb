// The page starts in Firefox and in WebKit, follows its sliders, and trains in its worker. What figures say
// there is compared with Node by tests/embed/support/embeds.ts, in every engine; Chromium's tests, in
// tests/page, go deeper. Axe also examines a whole visit: names, roles and live regions, and colours, light
// and dark. In Chromium, tests/page/opened.test.ts examines the page with everything open, and this file the
// dialogs.
import { describe, expect, onTestFinished, test } from 'vitest';
import { faultsOf } from '../page/support/axe.ts';
import { startSite } from '../page/support/site.ts';
import { openChromium } from './chromium.ts';
import { type Engine, firefox, lacking, shown, webkit } from './engines.ts';

const starters = { chromium: openChromium, firefox, webkit };
const inCi = process.env.CI === 'true';

async function opened(name: keyof typeof starters, scheme: 'light' | 'dark') {
  const site = await startSite();
  onTestFinished(() => site.stop());
  const engine = await starters[name]({ scheme });
  onTestFinished(() => engine.close());
  const openPage = (folder: string) => engine.open(site.address + folder);
  await openPage('');
  return { engine, site, openPage };
}

/** Runs in the page. */
const press = (selector: string) => document.querySelector<HTMLElement>(selector)?.click();
const goTo = (fragment: string) => {
  location.hash = fragment;
};
const dialogOpen = (host: string) => {
  const element = document.querySelector(host);
  return (element?.shadowRoot?.querySelector('dialog') ?? element)?.matches('dialog[open]:modal') ?? false;
};
const closeEmbed = () =>
  document.querySelector('superpose-embed-builder')?.shadowRoot?.querySelector('dialog')?.close();

type Come = (engine: Engine) => Promise<unknown>;
/** The stations of a visit to the first page: the part of the page to examine, and how to get there. */
const visit: [part: string | undefined, come: Come][] = [
  [
    undefined,
    async (engine) => {
      await shown(engine, 'add-or-concatenate');
      for (const part of ['.kinds [type=checkbox]', '.verdict > summary']) await engine.evaluate(press, part);
    },
  ],
  [
    'superpose-embed-builder',
    async (engine) => {
      await engine.evaluate(press, 'superpose-figure[name=one-layer] > .embed');
      await expect.poll(() => engine.evaluate(dialogOpen, 'superpose-embed-builder')).toBe(true);
    },
  ],
  [
    'dialog.present',
    async (engine) => {
      await engine.evaluate(closeEmbed);
      await engine.evaluate(goTo, '#present/sum');
      await expect.poll(() => engine.evaluate(dialogOpen, 'dialog.present')).toBe(true);
    },
  ],
];

/** The stations of a visit to the second page. */
const evidence: typeof visit = [
  [
    undefined,
    async (engine) => {
      await shown(engine, 'dot-products');
      await engine.evaluate(press, '#check-narrow > summary');
      await shown(engine, 'narrow');
    },
  ],
];

/** Runs axe on the parts of a visit. */
async function expectNoFaults(engine: Engine, options: Parameters<typeof faultsOf>[1], parts: typeof visit) {
  const byPart: Record<string, string[]> = {};
  for (const [part, come] of parts) {
    await come(engine);
    const faults = await faultsOf(engine, options, part);
    if (faults.length > 0) byPart[part ?? 'the page'] = faults;
  }
  expect(byPart).toEqual({});
}

const colours = { runOnly: ['color-contrast'] };

test('axe finds nothing in the dialogs, in Chromium, light and dark', async () => {
  for (const scheme of ['light', 'dark'] as const) {
    const { engine } = await opened('chromium', scheme);
    await shown(engine, 'one-layer');
    await expectNoFaults(engine, scheme === 'light' ? {} : colours, visit.slice(1));
    expect(engine.complaints).toEqual([]);
  }
});

for (const name of ['firefox', 'webkit'] as const) {
  const missing = lacking[name]();
  if (missing.length > 0 && !inCi)
    console.log(`Not on this machine: ${missing.join(', ')}; ${name} is skipped.`);

  describe.skipIf(missing.length > 0 && !inCi)(name, () => {
    test('a slider moves its figure, axe finds nothing, and a model is trained', async () => {
      const { engine, site, openPage } = await opened(name, 'light');
      // A figure outside the beats, because a passing step would set it again, and on a busy machine did.
      await shown(engine, 'one-layer');
      await engine.evaluate(() => {
        const slider = document
          .querySelector('superpose-figure[name=one-layer]')
          ?.shadowRoot?.querySelector('input[name=pull]') as HTMLInputElement;
        slider.value = slider.max;
        slider.dispatchEvent(new Event('input', { bubbles: true }));
      });
      expect((await shown(engine, 'one-layer')).finding).toContain('Concatenating has become adding');
      await expectNoFaults(engine, {}, visit);
      await engine.evaluate(goTo, '#v=1&figure=keep-apart&d_model=8&seed=7');
      const state = async () => (await shown(engine, 'keep-apart')).drawn;
      await expect.poll(state, { timeout: 240_000 }).toMatchObject({ seed: 7 });
      expect((await shown(engine, 'keep-apart')).problems).toEqual([]);
      await openPage('evidence/');
      await expectNoFaults(engine, {}, evidence);
      expect(engine.complaints).toEqual([]);
      // Nothing outside the page's folder is requested.
      const folder = new URL(site.address).pathname;
      expect(site.requests.filter((path) => !path.startsWith(folder))).toEqual([]);
    });

    test('axe finds no colour too pale in the dark', async () => {
      const { engine, openPage } = await opened(name, 'dark');
      await expectNoFaults(engine, colours, visit);
      await openPage('evidence/');
      await expectNoFaults(engine, colours, evidence);
      expect(engine.complaints).toEqual([]);
    });
  });
}
