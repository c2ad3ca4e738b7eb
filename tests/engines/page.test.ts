// The page loads in Firefox and in WebKit and shows the numbers that Node computes. Chromium's tests, in
// tests/page, go deeper; here it is the engines that are tried.
import { load, loadMiniLM } from 'superpose';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { dotProductsFor, numbersIn, printed1, printed2, quoted1 } from '../page/support/computed.ts';
import { readFigure1, readFigure2 } from '../page/support/shown.ts';
import { startSite } from '../page/support/site.ts';
import { type Engine, firefox, lacking, webkit } from './engines.ts';

const starters = { firefox, webkit };
const inCi = process.env.CI === 'true';

/** Opens the page. An error in it fails the test, and so does a request outside of its folder. */
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

/** What `read` finds in the page, as soon as it finds something. */
async function shown<T>(engine: Engine, read: () => T | undefined): Promise<T> {
  // WebDriver says null for undefined.
  const found = async () => (await engine.evaluate(read)) ?? undefined;
  await expect.poll(found, { timeout: 30_000 }).toBeDefined();
  return (await found()) as T;
}

for (const name of ['firefox', 'webkit'] as const) {
  const missing = lacking[name]();
  if (missing.length > 0 && !inCi)
    console.log(`Not on this machine: ${missing.join(', ')}; ${name} is skipped.`);

  describe.skipIf(missing.length > 0 && !inCi)(name, () => {
    test('adding versus concatenating', async () => {
      const engine = await visit(starters[name]);
      const figure = await shown(engine, readFigure1);
      // WebKit has no relaxed SIMD, Firefox has: the build that each takes rounds its own way, but not in
      // the digits that are printed.
      const found = await dotProductsFor(await load(), figure);
      expect(figure).toMatchObject(printed1(found, figure.places));
      expect(numbersIn(figure.finding)).toEqual(quoted1(found));
    });

    test.runIf(inject('withModel'))('one score, four questions', async () => {
      const engine = await visit(starters[name]);
      const figure = await shown(engine, readFigure2);
      const model = await loadMiniLM(await load());
      // `kept` is there only when terms are switched off; WebDriver cannot carry an undefined.
      const { residual, kept, ...rest } = printed2(
        await model.decompose(figure.tokens.slice(1, -1).join(' ')),
        {
          head: figure.head,
          cell: [figure.query[1], figure.key[1]],
        },
      );
      expect(figure).toMatchObject(rest);
      expect(kept ?? figure.kept ?? undefined).toBeUndefined();
      // The residual is rounding itself: only its size is the same.
      expect(figure.residual).toMatch(/^\d\.\d × 10⁻¹[³⁴⁵]$/);
      expect(residual).toMatch(/^\d\.\d × 10⁻¹[³⁴⁵]$/);
    });
  });
}
