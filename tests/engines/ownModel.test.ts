// A model that is dropped on the page in Firefox and in WebKit gives the figures that it gives in Chromium, with Node's
// numbers.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openModel } from 'superpose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { about, aboutPercent } from '../../web/plot/format.ts';
import { plain } from '../api/support/builds.ts';
import { readFigure } from '../page/support/shown.ts';
import { startSite } from '../page/support/site.ts';
import { type Engine, firefox, lacking, webkit } from './engines.ts';

const starters = { firefox, webkit };
const inCi = process.env.CI === 'true';
const folderOf = (name: string) =>
  fileURLToPath(new URL(`../reference/checkpoints/${name}`, import.meta.url));

/** Runs in the page: drops files of these bytes on the card, as soon as it takes any. */
function drop(files: readonly (readonly [name: string, base64: string])[]): boolean {
  const card = document.querySelector('#own-model') as HTMLDetailsElement;
  card.open = true;
  const own = card.querySelector('.own');
  if (!own) return false;
  const dataTransfer = new DataTransfer();
  for (const [name, base64] of files) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    dataTransfer.items.add(new File([bytes], name));
  }
  own.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  return true;
}

async function shown(engine: Engine, name: string) {
  await expect
    .poll(
      async () => {
        await engine.evaluate(
          (one: string) => document.querySelector(`superpose-figure[name="${one}"]`)?.scrollIntoView(),
          name,
        );
        const found = await engine.evaluate(readFigure, name);
        return Boolean(found?.drawn) && !found?.busy;
      },
      { timeout: 60_000, interval: 200, message: name },
    )
    .toBe(true);
  const found = await engine.evaluate(readFigure, name);
  if (!found) throw new Error(`There is no figure ${name}.`);
  return found;
}

for (const name of ['firefox', 'webkit'] as const) {
  describe.skipIf(lacking[name]().length > 0 && !inCi)(name, () => {
    test.each(['gpt2', 'bert', 'vit'])('a dropped file of %s’s layout gives its figures', async (family) => {
      const site = await startSite();
      onTestFinished(() => site.stop());
      const engine = await starters[name]();
      onTestFinished(() => engine.close());
      await engine.open(site.address);
      const files = readdirSync(folderOf(family)).map((file): [string, string] => [
        file,
        readFileSync(`${folderOf(family)}/${file}`, 'base64'),
      ]);
      await expect.poll(() => engine.evaluate(drop, files), { timeout: 30_000 }).toBe(true);
      const model = await openModel(plain, folderOf(family));
      const { overlap, offsets } = await model.report();
      const found = await shown(engine, 'own-overlap');
      expect(found.problems).toEqual([]);
      expect(found.finding).toContain(`overlap ${about(overlap?.raw as number)} times`);
      const gram = await shown(engine, 'own-gram');
      if (offsets) expect(gram.finding).toContain(aboutPercent(offsets.centred.share).replace(/\s/g, ' '));
      if (model.picture) return;
      const heads = await shown(engine, 'own-heads');
      expect(heads.problems).toEqual([]);
      expect(heads.finding).toMatch(/^For this sentence, in the canonical gauge/);
      expect((await shown(engine, 'own-one-score')).tokens).toEqual(['0', '1', '2', '3']);
      expect(engine.complaints).toEqual([]);
    });
  });
}
