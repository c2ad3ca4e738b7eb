// A model of each mechanism, opened from a dropped folder in Chromium, Firefox and WebKit and averaged over a corpus,
// stands beside those opened before it, with Node's numbers.
import { openModel } from 'superpose';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chromiumPath } from '../../tools/chromium.mjs';
import { type DrawnModel, drawing } from '../api/model/drawn.ts';
import { plain } from '../api/support/builds.ts';
import { folderOf } from '../figures/ownOpened.ts';
import { dropFolder, filesIn } from '../page/support/dropFolder.ts';
import { readFigure, readTable } from '../page/support/shown.ts';
import { startSite } from '../page/support/site.ts';
import { withoutNumpy } from '../tools/support/numpy.ts';
import { openChromium } from './chromium.ts';
import { firefox, lacking, webkit } from './engines.ts';
import { shown } from './figureShown.ts';

const starters = { chromium: openChromium, firefox, webkit };
const inCi = process.env.CI === 'true';
const lacks = (name: keyof typeof starters) =>
  name === 'chromium' ? chromiumPath === undefined : lacking[name]().length > 0;

const { folder, draw } = drawing<DrawnModel, { cases: DrawnModel[] }>('relative');
const models = [
  { path: folderOf('gpt2'), mechanism: 'added table' },
  { path: `${folder}/llama`, mechanism: 'RoPE' },
  { path: `${folder}/bloom`, mechanism: 'ALiBi' },
  { path: `${folder}/t5`, mechanism: 'T5’s bias' },
  { path: `${folder}/deberta`, mechanism: 'rows for distances' },
];
const corpus = Array.from({ length: 14 }, (_, line) => [
  2,
  ...Array.from({ length: 6 }, (_, at) => 3 + ((line * line + 5 * at + line * at) % 8)),
  3,
]);
const ids = [2, 9, 4, 5, 9, 6, 11];

/** Of every head, layer by layer: what reads position. */
async function wantedOf(path: string): Promise<{ name: string; shares: number[] }> {
  const model = await openModel(plain, path);
  const means = await model.corpusMeans({ sentences: corpus.map((ids) => ({ ids })), scores: true });
  const shares: number[] = [];
  for (let layer = 0; layer < model.layers; layer++) {
    const scores = await model.decompose({ ids }, { layer, way: 'mechanism', means });
    const { parts } = scores;
    const pairs = [
      ['token', 'position'],
      ['position', 'token'],
      ['position', 'position'],
    ] as const;
    for (const [head] of scores.heads.entries())
      shares.push(
        pairs.reduce((sum, [query, key]) => {
          const at = (head * parts.length + parts.indexOf(query)) * parts.length + parts.indexOf(key);
          return sum + (scores.shares[at] as number);
        }, 0),
      );
  }
  model.delete();
  return { name: model.name, shares };
}

/** Runs in the page: presses the button that averages, with this corpus; false until it is there. */
function average(corpus: string): boolean {
  const form = document.querySelector<HTMLFormElement>('#own-model form:has(textarea[name=corpus])');
  const ids = form?.querySelector('textarea');
  if (!form || !ids) return false;
  ids.value = corpus;
  form.querySelector('button')?.click();
  return true;
}

/** Runs in the page. */
const status = () => document.querySelector('#own-model .own > [role=status]')?.textContent ?? '';

/** Runs in the page: types ids into a figure, and unfolds its table. */
function typeIds(figure: string, ids: string): void {
  const root = document.querySelector(`superpose-figure[name="${figure}"]`)?.shadowRoot;
  for (const summary of root?.querySelectorAll('summary') ?? [])
    if (summary.textContent?.includes('as a table') && !summary.parentElement?.hasAttribute('open'))
      summary.click();
  const input = root?.querySelector<HTMLInputElement>('input[type=text], textarea');
  if (!input) return;
  input.value = ids;
  input.dispatchEvent(new Event('input', { bubbles: true }));
  input.dispatchEvent(new Event('change', { bubbles: true }));
}

const patience = { timeout: 60_000 };

describe.skipIf(withoutNumpy)('a model of each mechanism', () => {
  const wanted: Awaited<ReturnType<typeof wantedOf>>[] = [];
  beforeAll(async () => {
    await draw();
    for (const { path } of models) wanted.push(await wantedOf(path));
  }, 120_000);

  for (const name of ['chromium', 'firefox', 'webkit'] as const)
    test.skipIf(lacks(name) && !inCi)(
      `side by side in ${name}`,
      async () => {
        const site = await startSite();
        onTestFinished(() => site.stop());
        const engine = await starters[name]();
        onTestFinished(() => engine.close());
        await engine.open(site.address);
        for (const [place, { path }] of models.entries()) {
          await expect.poll(() => engine.evaluate(dropFolder, filesIn(path)), patience).toBe(true);
          const called = wanted[place]?.name as string;
          await expect.poll(() => engine.evaluate(status), patience).toContain(`${called}, 0 MB; opened`);
          const lines = corpus.map((one) => one.join(', ')).join('\n');
          await expect.poll(() => engine.evaluate(average, lines), patience).toBe(true);
          await expect
            .poll(() => engine.evaluate(status), patience)
            .toContain(`${called}: its queries and keys`);
          await shown(engine, 'own-side-by-side');
          // Typed again if the figure was drawn anew meanwhile.
          await expect
            .poll(
              async () => {
                const drawn = (await engine.evaluate(readFigure, 'own-side-by-side'))?.drawn?.ids;
                if (drawn !== ids.join(', ')) {
                  // Figures above it grow meanwhile, and one out of sight is not drawn.
                  await shown(engine, 'own-side-by-side');
                  await engine.evaluate(typeIds, 'own-side-by-side', ids.join(', '));
                }
                return drawn;
              },
              { ...patience, interval: 3000 },
            )
            .toBe(ids.join(', '));
          if (place > 0)
            expect((await shown(engine, 'own-heads')).finding).toContain('in the corpus-mean gauge');
        }
        const { problems, finding } = await shown(engine, 'own-side-by-side');
        expect(problems).toEqual([]);
        for (const [place, { mechanism }] of models.entries())
          expect(finding).toContain(`${wanted[place]?.name} (${mechanism})`);
        await engine.evaluate(typeIds, 'own-side-by-side', ids.join(', '));
        const rows = async () => engine.evaluate(readTable, 'own-side-by-side');
        await expect.poll(async () => (await rows()).length, patience).toBeGreaterThan(10);
        const [columns = [], ...cells] = await rows();
        const at = (column: string) => columns.indexOf(column);
        for (const { name: called, shares } of wanted) {
          const heads = cells.filter((row) => row[at('model')] === called && row[at('head')] !== 'mean');
          expect(heads, called).toHaveLength(shares.length);
          for (const [head, row] of heads.entries())
            expect(Number(row[at('reads position')]?.replace('−', '-')), `${called}, ${head}`).toBeCloseTo(
              shares[head] as number,
              2,
            );
        }
        expect(engine.complaints).toEqual([]);
      },
      240_000,
    );
});
