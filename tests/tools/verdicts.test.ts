// Each verdict of the table against the figure that its link opens: the figure says what the verdict quotes,
// and no number in a verdict comes from elsewhere.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, inject, test } from 'vitest';
import { published } from '../../web/build/published.ts';
import { linkOf, verdicts } from '../../web/build/verdicts.ts';
import * as fourTasks from '../../web/figures/fourTasks.ts';
import * as keepApart from '../../web/figures/keepApart.ts';
import * as schemes from '../../web/figures/schemes.ts';
import { run } from '../figures/support.ts';

const folder = fileURLToPath(new URL('../../build/', import.meta.url));
const headless: typeof import('../../web/node/index.ts') = await import(
  /* @vite-ignore */ pathToFileURL(`${folder}package/node/index.js`).href
);
const render = headless.renderer(pathToFileURL(`${folder}model/`));
const flat = (text: string) => text.replace(/\s+/g, ' ');
/** Numbers; not the indices and names that have digits in them, as p₂₀ and d/2. */
const numbersIn = (text: string): string[] =>
  flat(text)
    .replace(/tensor2tensor|d\/2|√2/g, '')
    .match(/(?<![\p{L}\d.,])[×−]?\d+(?:[.,]\d+)*/gu) ?? [];

test('numbers are found in sentences', () => {
  expect(numbersIn('p₂₀, d/2, 1.00 at ρ = 0.0625, −2.4 % of 5,000, ×3.345; 8.1 × 10⁻⁵.')).toEqual([
    '1.00',
    '0.0625',
    '−2.4',
    '5,000',
    '×3.345',
    '8.1',
    '10',
  ]);
});

for (const verdict of verdicts) {
  const { claim, why, figure, section, shows } = verdict;
  const withoutModel =
    !inject('withModel') && figure && ['overlap', 'tables', 'one-score', 'heads'].includes(figure);
  test.skipIf(withoutModel)(claim, async () => {
    const known = new Set(numbersIn(`${claim} ${shows.join(' ; ')}`));
    if (!figure) {
      expect(section).toBe('schemes');
      expect(why).toContain('Published, not computed here.');
      expect(shows).toEqual([]);
      return;
    }
    const link = headless.readLink(linkOf(verdict, headless));
    if (!link || 'refused' in link) throw new Error(`The link of “${claim}” cannot be read.`);
    expect(link.figure).toBe(figure);
    const { figure: shown, data, state, refused } = await render(link.figure, link.settings);
    expect(refused).toEqual([]);
    const readout = shown
      .readout(data, state, shown.firstCursor?.(data, state) ?? { i: 0, j: 0 })
      .map((piece) => (typeof piece === 'string' ? piece : piece.text))
      .join('');
    const texts = shown
      .scene(data, state, 1048)
      .marks.flatMap((mark) => (mark.mark === 'text' ? [mark.text] : []));
    const said = flat([shown.describe(data, state), readout, ...texts].join('\n'));
    expect(shows.length).toBeGreaterThan(0);
    for (const part of shows) {
      expect(said, 'the figure').toContain(part);
      expect(flat(why), 'the verdict').toContain(part);
    }
    for (const number of numbersIn(why)) expect(known, number).toContain(number);
  });
}

const value = (id: string) => Number(published.find((one) => one.id === id)?.value);
const verdictOn = (start: string): string => verdicts.find(({ claim }) => claim.startsWith(start))?.why ?? '';

test('the published verdict quotes differences of the published averages', () => {
  const gain = (from: string, to: string) => (value(to) - value(from)).toFixed(2);
  const why = verdictOn('Without the cross terms');
  const named = [
    gain('tupe-bert-a', 'tupe-a'),
    gain('tupe-bert-a-d', 'tupe-a-tie-cls'),
    gain('tupe-bert-a', 'tupe-bert-a-d'),
    gain('tupe-a-tie-cls', 'tupe-a'),
  ];
  expect(numbersIn(why)).toEqual(named);
});

test('what training shows is said of small models and these tasks', () => {
  const trained = verdicts.filter(({ figure }) => figure === 'four-tasks' || figure === 'keep-apart');
  expect(trained.length).toBeGreaterThanOrEqual(10);
  for (const { why, figure } of trained) {
    expect(why).toContain('Small models, these tasks.');
    // That figure trains one model a task, the other one five.
    if (figure === 'four-tasks') expect(why).toContain('One seed.');
  }
});

/** The first step at which a task has 99 % right; infinite when there is none. */
const firstAt = (data: { panels: { accuracy: number[] }[] }) =>
  data.panels.map(({ accuracy }) => {
    const first = accuracy.findIndex((right) => right >= 0.99);
    return first < 0 ? Number.POSITIVE_INFINITY : first;
  });

test('sooner, later and never: as the verdicts on training say', async () => {
  const of = async (scheme: string) =>
    firstAt((await run(fourTasks, { scheme })).data) as [number, number, number, number];
  const [added, untied, sinusoid] = [await of('add'), await of('untied'), await of('sinusoid')];
  // “badge is learned a little sooner than with added positions and prev later”, lookup and roll never.
  expect(untied[0]).toBeLessThan(added[0]);
  expect(untied[3]).toBeGreaterThan(added[3]);
  expect([untied[1], untied[2]]).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
  // “A learned table is there sooner wherever a place is needed.”
  for (const task of [1, 2, 3] as const) expect(added[task]).toBeLessThan(sinusoid[task]);
  // “With added positions they are soon all right.”
  const causal = firstAt((await run(fourTasks, { layers: 'causal' })).data);
  expect(causal[3]).toBeLessThanOrEqual(5);
  // “If every token sees all others, depth gives nothing of the kind.”
  const { panels } = (await run(fourTasks, { scheme: 'none', layers: 'two' })).data;
  expect(panels[3].accuracy.at(-1)).toBeLessThan(panels[3].floor + 0.05);
});

test('wide tables overlap more than narrow ones, large ones more than small, and both fixed fail when narrow', async () => {
  const overlapOf = async (settings: Record<string, string | number>) =>
    (await run(keepApart, settings)).data.overlap;
  const [narrow, wide, large] = [
    await overlapOf({ d_model: 16 }),
    await overlapOf({ d_model: 64 }),
    await overlapOf({ sigma: 0.5 }),
  ];
  expect(wide.mean).toBeGreaterThan(narrow.mean + narrow.standardDeviation);
  expect(large.least).toBeGreaterThan(narrow.largest);
  const fixed = (await run(keepApart, { rows: 'neither', d_model: 12 })).data;
  expect(fixed.accuracy.largest).toBeLessThan(0.6);
});

test('√(2d) keeps TUPE’s scores as far apart as those of words alone', async () => {
  expect(verdictOn('1/√(2d)')).toContain('dividing by √(2dₕ) instead of √dₕ undoes that');
  const deviation = (values: Float64Array) => {
    const mean = values.reduce((a, b) => a + b) / values.length;
    return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  };
  const ratios: number[] = [];
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const { data } = await run(schemes, { words: 'many', n: 48, seed });
    const [sum, words] = ['tupe-a', 'none'].map((id) => deviation(data.schemes[id].logits.values));
    ratios.push((sum as number) / (words as number));
  }
  // Without the factor it would be √2.
  const mean = ratios.reduce((a, b) => a + b) / ratios.length;
  expect(mean).toBeGreaterThan(0.9);
  expect(mean).toBeLessThan(1.1);
});
