// Each verdict of the table against the figure that its link opens: the figure says what the verdict quotes,
// and every number in a verdict comes from there.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { askedTerms } from 'superpose';
import { expect, inject, test } from 'vitest';
import { published } from '../../web/build/published.ts';
import { linkOf, verdicts } from '../../web/build/verdicts.ts';
import { readState } from '../../web/figures/controls.ts';
import * as encoding from '../../web/figures/encoding.ts';
import * as keepApart from '../../web/figures/keepApart.ts';
import * as schemes from '../../web/figures/schemes.ts';
import { run } from '../figures/support.ts';

const folder = fileURLToPath(new URL('../../build/', import.meta.url));
const headless: typeof import('../../web/node/index.ts') = await import(
  /* @vite-ignore */ pathToFileURL(`${folder}package/node/index.js`).href
);
const render = headless.renderer(pathToFileURL(`${folder}model/`));
const flat = (text: string) => text.replace(/\s+/g, ' ');
/** Numbers, without indices and names that contain digits, such as p₂₀ and d/2. */
const numbersIn = (text: string): string[] =>
  flat(text)
    .replace(/tensor2tensor|d\/2|√2|arXiv \d{4}\.\d{5}|et al\. \d{4}/g, '')
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

test('six to eight claims come first, and each that depends says on what', () => {
  const first = verdicts.filter((one) => one.first);
  expect(first.length).toBeGreaterThanOrEqual(6);
  expect(first.length).toBeLessThanOrEqual(8);
  // Those that ask the same stand together.
  const asked = first.map(({ asks }) => asks).filter((asks, place, all) => asks !== all[place - 1]);
  expect(asked).toEqual([
    'Does it lose information?',
    'Why not concatenate?',
    'What does training do?',
    'Do other schemes do better?',
  ]);
  for (const { asks } of verdicts) expect(asked).toContain(asks);
  for (const { tag, on } of verdicts) expect(on !== undefined, on).toBe(tag === 'Depends');
  for (const { on } of verdicts) expect(on ?? 'on').toMatch(/^on\b/);
});

// What readers ask once they know that positions are added, by the claim that takes it up, and the view that answers.
test.each([
  ['Why in queries and keys, not in values?', 'Values need', 'needs-positions', { view: 'taken' }],
  ['Why times √d?', 'Embeddings are multiplied', 'dot-products', { recipes: true, scale: 8 }],
  ['Why 10000?', 'The base must', 'encoding', { of: 'base', base: 10_000 }],
  ['Does RoPE ask the four questions?', 'RoPE adds no', 'schemes', { scheme: 'rope', common: 1 }],
  [
    'What of gates and FiLM?',
    'Gates or FiLM',
    'schemes-tasks',
    { schemes: ['add', 'project', 'gate', 'film'] },
  ],
])('%s is answered in at most 20 words, by one view', (_, claim, figure, settings) => {
  const found = verdicts.filter((one) => one.claim.startsWith(claim));
  expect(found).toHaveLength(1);
  const [one] = found as [(typeof found)[0]];
  const words = one.verdict.split(/\s+/);
  expect(words.length).toBeGreaterThanOrEqual(4);
  expect(words.length).toBeLessThanOrEqual(20);
  const link = headless.readLink(linkOf(one, headless));
  if (!link || 'refused' in link) throw new Error(`The link of “${one.claim}” cannot be read.`);
  expect(link.figure).toBe(figure);
  const { controls } = headless.figures[figure] as (typeof headless.figures)[string];
  const { state, refused } = readState(controls, link.settings);
  expect(refused).toEqual([]);
  expect(state).toMatchObject(settings);
});

test('a verdict that cites a paper says that its numbers are not computed here', () => {
  const citing = verdicts.filter(({ why }) => why.includes('arXiv'));
  expect(citing.length).toBeGreaterThan(1);
  for (const { why } of citing) expect(why).toContain('published, not computed here');
});

for (const verdict of verdicts) {
  const { claim, why, figure, section, shows } = verdict;
  const withoutModel =
    !inject('withModel') && figure && ['overlap', 'sum', 'one-score', 'heads'].includes(figure);
  test.skipIf(withoutModel)(claim, async () => {
    const known = new Set(numbersIn(`${claim} ${shows.join(' ; ')}`));
    if (!figure) {
      expect(section).toBe('published');
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
    for (const number of numbersIn(`${verdict.verdict}. ${why}`)) expect(known, number).toContain(number);
  });
}

const value = (id: string) => Number(published.find((one) => one.id === id)?.value);
/** That a verdict says this, so that the words change only with what is computed beside them. */
const said = (sentence: string) => expect(verdicts.map(({ why }) => why).join('\n')).toContain(sentence);
const verdictOn = (start: string): string => verdicts.find(({ claim }) => claim.startsWith(start))?.why ?? '';

test('the published verdict quotes differences of the published averages', () => {
  const gain = (from: string, to: string) => (value(to) - value(from)).toFixed(2);
  const why = verdictOn('Without the cross terms GLUE');
  const named = [
    gain('tupe-bert-a', 'tupe-a'),
    gain('tupe-bert-a-d', 'tupe-a-tie-cls'),
    gain('tupe-bert-a', 'tupe-bert-a-d'),
    gain('tupe-a-tie-cls', 'tupe-a'),
  ];
  expect(numbersIn(why)).toEqual(named);
});

test('what training shows is said of small models, these tasks and five seeds', async () => {
  const training = ['four-tasks', 'keep-apart', 'schemes-tasks', 'narrow'];
  const trained = verdicts.filter(({ figure }) => training.includes(figure ?? ''));
  expect(trained.length).toBeGreaterThanOrEqual(10);
  for (const { why, figure, settings } of trained) {
    expect(why).toContain('Small models, these tasks.');
    expect(why).toContain('five seeds');
    // That figure always trains five.
    expect(figure === 'keep-apart' || settings?.seeds === 5).toBe(true);
  }
});

interface Cell {
  accuracy: { mean: number; least: number; largest: number };
  first: { mean: number; count: number } | undefined;
}

/** Rows of the table over five seeds, each with its four tasks; most were trained by the figures above. */
async function rowsOf(schemes: string, tasks = 'badge.lookup.roll.prev', layers = 'one'): Promise<Cell[][]> {
  const settings = { size: 'large', schemes, tasks, layers, seeds: '5' };
  const { data, refused } = await render('schemes-tasks', Object.entries(settings));
  expect(refused).toEqual([]);
  return (data as { cells: Cell[][] }).cells;
}

const columnsOf = (rows: Cell[][]): (Cell | undefined)[][] =>
  (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));

test('sooner, later and never: as the verdicts on training say, over five seeds', async () => {
  const [added, joined, cut, sinusoid] = (await rowsOf('add.concat.cut.sinusoid')) as [
    Cell[],
    Cell[],
    Cell[],
    Cell[],
  ];
  const firstOf = (row: Cell[], task: number) => row[task]?.first?.mean ?? Number.POSITIVE_INFINITY;
  said(
    'Added positions without their cross terms learn badge and prev a little sooner than with them. Lookup and roll, which need a cross term, are not learned at all in one layer',
  );
  for (const task of [0, 3]) expect(firstOf(cut, task)).toBeLessThan(firstOf(added, task));
  expect([cut[1]?.first, cut[2]?.first]).toEqual([undefined, undefined]);
  said('a fixed sinusoid is slower wherever a position is needed, and learns roll with only some seeds');
  for (const task of [1, 2, 3]) expect(firstOf(added, task)).toBeLessThan(firstOf(sinusoid, task));
  said('each of five seeds learns all four tasks to 99 %');
  said('Adding gets there a little sooner');
  for (const task of [0, 1, 2, 3]) {
    expect(firstOf(added, task)).toBeLessThan(firstOf(joined, task));
    expect(joined[task]?.accuracy.least).toBeGreaterThanOrEqual(0.99);
  }
  said('hardly more than without any scores');
  // The same for untied scores, which have none.
  for (const [cut, own, floor] of columnsOf(await rowsOf('cut.untied.zero', 'lookup.roll'))) {
    for (const cell of [cut, own])
      expect(cell?.accuracy.mean).toBeLessThan((floor?.accuracy.mean as number) + 0.04);
  }
  said('With added positions every answer is soon right.');
  const [causal] = await rowsOf('add.none.zero', 'prev', 'causal');
  expect(causal?.[0]?.first).toMatchObject({ count: 5 });
  expect(causal?.[0]?.first?.mean).toBeLessThan(50);
  said('If every token sees all others, depth gives nothing of the kind.');
  const [deep, floor] = await rowsOf('none.zero', 'prev', 'two');
  expect(deep?.[0]?.accuracy.mean).toBeLessThan((floor?.[0]?.accuracy.mean as number) + 0.04);
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

test('a smaller base sets neighbours farther apart', async () => {
  expect(verdictOn('The base must be')).toContain('A smaller base sets neighbours farther apart');
  const nearest = async (base: number) => {
    const of = { of: 'base', encoding: 'interleaved', positions: 512, base };
    return (await run(encoding, of)).data.nearest;
  };
  const all = await Promise.all([10, 100, 1000, 10_000, 100_000, 1_000_000].map(nearest));
  expect(all).toEqual([...all].sort((one, other) => other - one));
});

test('without anything in common RoPE hardly asks about positions, and what it asks of them is the distance', async () => {
  expect(verdictOn('RoPE adds no')).toContain(
    'The last depends on the distance alone. With nothing in common',
  );
  const rope = async (common: number) => (await run(schemes, { scheme: 'rope', words: 'many', common })).data;
  const withPositions = ({ schemes: all }: Awaited<ReturnType<typeof rope>>) =>
    (['token-position', 'position-token', 'position-position'] as const)
      .map((term) => Math.abs(all.rope.shares[askedTerms.indexOf(term)]))
      .reduce((sum, share) => sum + share);
  const [apart, shared] = [await rope(0), await rope(1)];
  expect(withPositions(apart)).toBeLessThan(0.04);
  expect(withPositions(shared)).toBeGreaterThan(0.2);
  const positions = shared.terms.find(({ name }: { name: string }) => name === 'position-position');
  expect(positions.depends).toBe('offset');
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
