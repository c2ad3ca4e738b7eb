// The page starts in Firefox and in WebKit, follows its sliders, and trains in its worker. What figures say there is compared
// with Node by tests/embed/support/embeds.ts, in every engine; Chromium's tests, in tests/page, go deeper.
import { expect, onTestFinished, test } from 'vitest';
import { startSite } from '../page/support/site.ts';
import { firefox, lacking, shown, webkit } from './engines.ts';

const starters = { firefox, webkit };
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
