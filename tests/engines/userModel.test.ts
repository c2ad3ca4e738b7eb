// A model or table dropped on the page in Firefox and in WebKit gives the same figures as in Chromium, with
// Node's numbers. tests/page/userModel.test.ts tests a decoder's files, and everything that its figures say.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openModel, type Table } from 'add-or-concatenate';
import { describe, expect, onTestFinished, test } from 'vitest';
import { about } from '../../web/plot/format.ts';
import { plain } from '../api/support/builds.ts';
import { tableFiles } from '../api/support/files.ts';
import { inPrecision } from '../api/support/numbers.ts';
import { startSite } from '../page/support/site.ts';
import { folderWith } from '../page/support/visit.ts';
import { firefox, lacking, shown, webkit } from './engines.ts';

const starters = { firefox, webkit };
const inCi = process.env.CI === 'true';
const folder = fileURLToPath(new URL('../reference/checkpoints/bert', import.meta.url));

/** Runs in the page: drops files with these bytes on a part of the card, once that exists. */
function drop(files: readonly (readonly [name: string, base64: string])[], part = '.user-model'): boolean {
  const card = document.querySelector('#user-model') as HTMLDetailsElement;
  card.open = true;
  const tables = card.querySelector<HTMLDetailsElement>('.user-model > details');
  if (tables && part !== '.user-model') tables.open = true;
  const target = card.querySelector(part);
  if (!target) return false;
  const dataTransfer = new DataTransfer();
  for (const [name, base64] of files) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    dataTransfer.items.add(new File([bytes], name));
  }
  target.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  return true;
}

for (const name of ['firefox', 'webkit'] as const) {
  describe.skipIf(lacking[name]().length > 0 && !inCi)(name, () => {
    test('dropped files of a model, then tables of tokens and of positions, give their figures', async () => {
      const site = await startSite();
      onTestFinished(() => site.stop());
      const engine = await starters[name]();
      onTestFinished(() => engine.close());
      await engine.open(`${site.address}${folderWith('user-model')}`);
      const files = readdirSync(folder).map((file): [string, string] => [
        file,
        readFileSync(`${folder}/${file}`, 'base64'),
      ]);
      await expect.poll(() => engine.evaluate(drop, files)).toBe(true);
      const model = await openModel(plain, folder);
      const { overlap } = await model.report();
      const actual = await shown(engine, 'user-model-overlap');
      expect(actual.problems).toEqual([]);
      expect(actual.finding).toContain(`Weighted by energy: ${about(overlap?.raw as number)} times`);
      expect((await shown(engine, 'user-model-heads')).problems).toEqual([]);
      expect((await shown(engine, 'user-model-one-score')).tokens).toEqual(['2', '3', '4', '5']);
      const [tokens, positions] = [40, 70].map((rows) =>
        inPrecision<Table>(plain.randomNormal({ rows, columns: 8, seed: rows }), 'float32'),
      ) as [Table, Table];
      const words = Array.from({ length: 40 }, (_, row) => `word-${row}`);
      const dropped = (kind: string, table: typeof tokens, file: string) => {
        const bytes = Buffer.from(tableFiles(table, words)[file] as Uint8Array);
        const files: [string, string][] = [[file, bytes.toString('base64')]];
        return expect.poll(() => engine.evaluate(drop, files, `.user-table [data-kind=${kind}]`)).toBe(true);
      };
      await dropped('token', tokens, 'words.csv');
      expect((await shown(engine, 'user-table-dot-products')).tokens?.[3]).toBe('word-3');
      await dropped('position', positions, 'rows.npy');
      const raw = plain.energyOverlap({ tokens, positions });
      await expect
        .poll(async () => (await shown(engine, 'user-table-overlap')).finding)
        .toContain(`Weighted by energy: ${about(raw)} times`);
      expect((await shown(engine, 'user-table-collisions')).finding).toMatch(/Among 40 rows of the file/);
      expect(engine.complaints).toEqual([]);
    });
  });
}
