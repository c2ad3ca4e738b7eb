// The page loads in Firefox and in WebKit and shows the numbers that Node computes. Chromium's tests, in
// tests/page, go deeper; these test the engines.
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { shorter } from '../figures/shorter.ts';
import { expected, typed } from '../page/support/expected.ts';
import { readFigure, type Shown, stepsCameBy, unfold, untilDrawn } from '../page/support/shown.ts';
import { startSite } from '../page/support/site.ts';
import { type Engine, firefox, lacking, webkit } from './engines.ts';

const starters = { firefox, webkit };
/** A canvas, a model's files, and a training in the worker. */
const tried = ['dot-products', 'one-score', 'four-tasks'];
const patience = { timeout: 240_000 };
const inCi = process.env.CI === 'true';

/** Opens the page. An error in it fails the test, and so does a request outside its folder. */
async function visit(start: () => Promise<Engine>): Promise<Engine> {
  const site = await startSite();
  onTestFinished(() => site.stop());
  const engine = await start();
  onTestFinished(() => engine.close());
  await engine.open(site.address);
  const folder = new URL(site.address).pathname;
  onTestFinished(() => {
    expect(engine.complaints).toEqual([]);
    expect(site.requests.filter((path) => !path.startsWith(folder))).toEqual([]);
  });
  return engine;
}

/** What a figure shows once its drawing matches its settings. */
async function drawn(engine: Engine, name: string): Promise<Shown> {
  const read = async () => (await engine.evaluate(readFigure, name)) as Shown;
  const settings = shorter[name];
  if (settings) {
    await engine.evaluate(
      (fragment: string) => {
        location.hash = fragment;
      },
      String(new URLSearchParams({ v: '1', figure: name, ...settings })),
    );
    await expect.poll(async () => (await read()).state, patience).toMatchObject(typed(name, settings));
  }
  await engine.evaluate(unfold, name);
  await engine.evaluate((one: string) => {
    document.querySelector(`superpose-figure[name="${one}"]`)?.scrollIntoView();
  }, name);
  await engine.evaluate(stepsCameBy);
  await expect
    .poll(() => engine.evaluate(untilDrawn, name), { ...patience, message: `${name} is drawn` })
    .toBe(true);
  // It is pointed at, so that it says what is there.
  await engine.evaluate((one: string) => {
    const figure = document.querySelector(`superpose-figure[name="${one}"]`) as unknown as { cursor: object };
    figure.cursor = { ...figure.cursor };
  }, name);
  return read();
}

/**
 * WebKit has no relaxed SIMD, but Firefox and Node do, so they round differently. Numbers are therefore
 * compared by their first three digits, and numbers that are rounding error not at all.
 */
const alike = (text: string): string =>
  text
    .replace(/−?\d\.\d\s×\s10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, '≈0')
    .replace(/\d+\.\d+/g, (number) => String(Number(Number(number).toPrecision(3))));

for (const name of ['firefox', 'webkit'] as const) {
  const missing = lacking[name]();
  if (missing.length > 0 && !inCi)
    console.log(`Not on this machine: ${missing.join(', ')}; ${name} is skipped.`);

  describe.skipIf(missing.length > 0 && !inCi)(name, () => {
    test.runIf(inject('withModel'))('figures show what Node computes', async () => {
      const engine = await visit(starters[name]);
      for (const figure of tried) {
        const shown = await drawn(engine, figure);
        const { finding, readout } = await expected(figure, shown.state);
        expect(alike(shown.finding)).toBe(alike(finding));
        expect(alike(shown.readout)).toBe(alike(readout(shown.cursor)));
        expect(shown.problems).toEqual([]);
      }
    });

    test('a slider moves, and the figure follows', async () => {
      const engine = await visit(starters[name]);
      await drawn(engine, 'dot-products');
      await engine.evaluate(() => {
        const slider = document
          .querySelector('superpose-figure[name=dot-products]')
          ?.shadowRoot?.querySelector('input[name=n]') as HTMLInputElement;
        slider.value = '7';
        slider.dispatchEvent(new Event('input', { bubbles: true }));
      });
      const shown = await drawn(engine, 'dot-products');
      expect(shown.finding).toContain('Over 21 pairs');
    });
  });
}
