// What the sections on other schemes, the sandbox and published results say, checked against the library, the
// data file and the registry.
import { readFileSync } from 'node:fs';
import { load } from 'superpose';
import { beforeAll, expect, test } from 'vitest';
import { placeIn, published, withPublished } from '../../web/build/published.ts';
import * as oneScore from '../../web/figures/oneScore.ts';
import * as schemes from '../../web/figures/schemes.ts';
import { run } from '../figures/support.ts';

const html = readFileSync(new URL('../../web/index.html', import.meta.url), 'utf8');
const page = html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
const said = (sentence: string) => expect(page).toContain(sentence);

let superpose: Awaited<ReturnType<typeof load>>;
beforeAll(async () => {
  superpose = await load();
});

const numbers =
  'eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );
const spelled = (count: number) => numbers[count - 8] as string;

test('how many schemes depend on the offset alone', async () => {
  said('Add the same sinusoids, or put random weights between, and that is lost.');
  for (const seed of [1, 2, 3]) {
    const { data } = await run(schemes, { seed });
    const depends = Object.entries(data.schemes as Record<string, { logits: { depends: string } }>);
    const offset = spelled(depends.filter(([, { logits }]) => logits.depends === 'offset').length);
    const some = `${offset[0]?.toUpperCase()}${offset.slice(1)} of the ${spelled(depends.length)}`;
    said(
      `${some} give scores that depend on the offset between two positions and on nothing else. All do so by construction but one.`,
    );
    const of = Object.fromEntries(depends.map(([id, { logits }]) => [id, logits.depends]));
    expect(of['concat-raw']).toBe('offset');
    for (const id of ['add', 'concat-full', 'concat-block-diagonal']) expect(of[id]).toBe('places');
  }
});

test('what ρ does with random tables', async () => {
  said('Raise ρ and position → position takes over; at 0 only token → token is left.');
  const shares = async (scale: number): Promise<number[]> =>
    (await run(oneScore, { weights: 'seeded', layer: 'bare', d: 64, gauge: 'raw', scale })).data.panels.map(
      ({ share }: { share: number }) => share,
    );
  const high = await shares(4);
  expect(Math.max(...high)).toBe(high[3]);
  const none = await shares(0);
  expect(none[0]).toBeCloseTo(1, 5);
});

test('TUPE’s averages are those of its columns, and the steps between them what the page says', () => {
  const value = (id: string) => Number(published.find((one) => one.id === id)?.value);
  const averaged = published.filter(({ parts }) => parts);
  expect(averaged).toHaveLength(6);
  for (const { value: printed, parts = [] } of averaged) {
    expect(parts).toHaveLength(9);
    const mean = parts.reduce((sum, part) => sum + part, 0) / 9;
    // The printed mean and its columns have two decimals: allow its rounding, and one unit for how it rounds.
    expect(Math.abs(mean - Number(printed))).toBeLessThan(0.01);
  }
  const step = (from: string, to: string) => (value(to) - value(from)).toFixed(2);
  said(
    `BERT gains ${step('tupe-bert-a', 'tupe-a')} points of GLUE average on the way from added positions to TUPE-A: ${step('tupe-bert-a', 'tupe-bert-a-d')} come with projections of their own, with all four terms kept, ${step('tupe-bert-a-d', 'tupe-a-tie-cls')} with leaving out the cross terms and ${step('tupe-a-tie-cls', 'tupe-a')} with the reset of [CLS].`,
  );
  said(`a masked one fails: ${value('haviv-masked-none')} against about 4.`);
  for (const kind of ['learned', 'sinusoidal', 'alibi']) {
    expect(value(`haviv-masked-${kind}`)).toBeCloseTo(4, 0);
    const loss = value('haviv-wikitext-none') / value(`haviv-wikitext-${kind}`);
    expect(loss).toBeGreaterThan(1);
    expect(loss).toBeLessThan(1.1);
  }
});

test('the tables of published results have every value, its source and the mark', () => {
  expect(html).toContain('<published></published>');
  const tables = withPublished('<published></published>');
  const sources = new Set(published.map(({ source }) => source));
  expect(new Set(published.map(({ id }) => id)).size).toBe(published.length);
  expect(tables.match(/published, not computed here/g)).toHaveLength(sources.size);
  expect(tables.match(/<td>[\d.]+<svg/g)).toHaveLength(published.length);
  for (const { value, url, what } of published) {
    expect(url).toMatch(/^https:\/\/arxiv\.org\/abs\/\d{4}\.\d{5}$/);
    expect(tables).toContain(`href="${url}"`);
    const row = tables.split('</tr>').filter((text) => text.includes(`>${what}<`));
    expect(row.some((text) => text.includes(`<td>${value}<svg`))).toBe(true);
  }
});

test('the dot beside a published number shows where it lies between its column’s extremes', () => {
  const [tupe = ''] = withPublished('<published></published>').split('</table>');
  const found = [...tupe.matchAll(/<td>([\d.]+)<svg.*?cx="(\d+)"/g)].map(([, value, cx]) => [
    Number(value),
    Number(cx),
  ]);
  expect(found).toHaveLength(published.filter(({ id }) => id.startsWith('tupe')).length);
  const values = found.map(([value]) => value as number);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  for (const [value, cx] of found as [number, number][]) {
    expect(Math.abs(cx - 4 - (92 * (value - low)) / (high - low))).toBeLessThanOrEqual(0.5);
  }
  // All equal gives the middle.
  expect(placeIn([4.92, 4.92], 4.92)).toBe(0.5);
});

test('the table of formulas is the registry', () => {
  const row =
    /<tr><th scope="row">(.*?)<small>(.*?)<\/small><\/th><td><tex>(.*?)<\/tex><\/td><td><tex>(.*?)<\/tex><\/td><\/tr>/g;
  const found = [...html.matchAll(row)].map(([, name, source, formula, parameters]) => ({
    name,
    formula,
    parameters,
    source: source?.replace(/<[^>]*>/g, ''),
  }));
  expect(found).toEqual(
    superpose.schemeRegistry().map(({ name, bidirectionalFormula: formula, parameters, source }) => ({
      name,
      formula,
      parameters,
      source,
    })),
  );
});
