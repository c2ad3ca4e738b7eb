// The recorded language models: means against those computed here from the file's runs, and files that are
// not as they should be.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLink, writeLink } from '../../web/element/link.ts';
import { initialState, readState } from '../../web/figures/controls.ts';
import type { Opens } from '../../web/figures/figure.ts';
import * as language from '../../web/figures/language.ts';
import { labelOf, languageWays, readResults } from '../../web/figures/languageRuns.ts';
import file from '../../web/figures/recorded/language.json' with { type: 'json' };
import { isWay, wayIn } from '../../web/figures/runs/ways.ts';
import { figure as schemes } from '../../web/figures/schemes.ts';
import { root } from '../package/support/project.ts';
import { python, withoutNumpy } from '../tools/support/numpy.ts';
import { expectSoundPictures, loaded, run } from './support.ts';

/** All runs in the file, each with the settings of its result. */
const recordedRuns = file.results.flatMap((result) => {
  const { source, way, task, steps, rate, quiet, rowRate, start, weights } = result;
  const runs: { seed: number; loss: number; bitsPerByte?: number; losses: number[] }[] = result.runs;
  return runs.map((run) => ({ source, way, task, steps, rate, quiet, rowRate, start, weights, ...run }));
});

/** All runs of a way with these settings. */
const runsOf = (way: string, { source, task, steps, rate, quiet, rowRate, start }: Settings) =>
  recordedRuns.filter((run) => {
    const same = run.source === source && run.task === task && run.steps === steps && run.rate === rate;
    // Only a projection has a start, and a file holds runs with several.
    const starts = way !== 'project' || run.start === start;
    return same && starts && run.quiet === quiet && run.rowRate === rowRate && run.way === way;
  });
const endsOf = (way: string, settings: Settings): number[] =>
  runsOf(way, settings).map((run) => run.bitsPerByte ?? run.loss);
type Settings = Pick<
  (typeof file.results)[number],
  'source' | 'task' | 'steps' | 'rate' | 'quiet' | 'rowRate' | 'start'
>;

const sum = (list: readonly number[]) => list.reduce((total, value) => total + value, 0);
const mean = (list: readonly number[]) => sum(list) / list.length;
const variance = (list: readonly number[]) =>
  sum(list.map((value) => (value - mean(list)) ** 2)) / (list.length - 1);

/**
 * The t beyond which, on both sides together, 5 % of Student's distribution lie, by its density in
 * rectangles.
 */
function quantile(degrees: number): number {
  const steps = 200_000;
  const density = (t: number) => (1 + t ** 2 / degrees) ** (-(degrees + 1) / 2);
  // t = s / (1 - s) maps all t to s from 0 to 1.
  const parts = Array.from({ length: steps }, (_, k) => (k + 0.5) / steps).map(
    (s) => [s / (1 - s), density(s / (1 - s)) / (1 - s) ** 2] as const,
  );
  const expected = 0.95 * sum(parts.map(([, part]) => part));
  let below = 0;
  for (const [t, part] of parts) {
    below += part;
    if (below >= expected) return t;
  }
  return Number.NaN;
}

test('the quantiles are those of a printed table', () => {
  const printed = { 1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 10: 2.228, 30: 2.042 };
  for (const [degrees, t] of Object.entries(printed))
    expect(Math.abs(quantile(Number(degrees)) - t)).toBeLessThan(0.001);
});

/** Welch's interval, written out. */
function welch(added: readonly number[], other: readonly number[]) {
  const parts = [added, other].map((list) => variance(list) / list.length) as [number, number];
  const pair = parts[0] + parts[1];
  const degrees = pair ** 2 / (parts[0] ** 2 / (added.length - 1) + parts[1] ** 2 / (other.length - 1));
  return { lead: mean(added) - mean(other), margin: quantile(degrees) * Math.sqrt(pair) };
}

test('every mean in the file is that of all its runs, and every lead has Welch’s interval', () => {
  const known = new Set<string>();
  for (const result of file.results) {
    const [added, other] = [endsOf('add', result), endsOf(result.way, result)];
    expect(other).toHaveLength(result.runs.length);
    expect(Math.abs(result.mean - mean(other))).toBeLessThan(6e-6);
    const curves = runsOf(result.way, result).map(({ losses }) => losses);
    for (const [k, loss] of result.curve.entries()) {
      expect(Math.abs(loss - mean(curves.map((losses) => losses[k] as number)))).toBeLessThan(5.01e-4);
    }
    // Every way with two runs or more has a lead, provided that adding has two.
    expect('lead' in result).toBe(result.way !== 'add' && Math.min(other.length, added.length) >= 2);
    if (result.lead !== undefined) {
      expect(result.addedSeeds).toBe(added.length);
      const { lead, margin } = welch(added, other);
      expect(Math.abs(result.lead - lead)).toBeLessThan(6e-6);
      expect(Math.abs(result.margin - margin)).toBeLessThan(6e-6 + 1e-3 * margin);
    }
    known.add(
      [
        result.source,
        result.task,
        result.steps,
        result.rate,
        result.quiet,
        result.rowRate,
        result.start,
        result.way,
      ].join(),
    );
  }
  expect(known.size).toBe(file.results.length);
});

test.skipIf(withoutNumpy)('the script writes the file as it is', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'language-')), 'language.json');
  const recorded = join(root, 'web/figures/recorded/language.json');
  writeFileSync(
    path,
    JSON.stringify({
      ...file,
      results: file.results.map((result) => ({ ...result, mean: 0, curve: [], lead: 0 })),
    }),
  );
  execFileSync(python, ['-B', join(root, 'tools/language/results.py'), path]);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(JSON.parse(readFileSync(recorded, 'utf8')));
});

const sourceOf = (ours: boolean, width: number) =>
  file.sources.findIndex(({ by, size }) => (by === 'tools/language') === ours && size.width === width);
const settingsOf = (steps: number, width: number, ours: boolean): Settings => ({
  source: sourceOf(ours, width),
  task: 'causal',
  steps,
  rate: 0.002,
  quiet: 1,
  rowRate: 1,
  start: ours ? 'normal' : 'fan-in',
});
function welchOf(way: string, steps: number, width: number, ours: boolean) {
  const settings = settingsOf(steps, width, ours);
  return welch(endsOf('add', settings), endsOf(way, settings));
}
/** “0.047 ± 0.009”, as the figure writes it. */
function sentence(way: string, steps: number, width: number, ours: boolean): string {
  const { lead, margin } = welchOf(way, steps, width, ours);
  const doubtful = Math.abs(lead) <= margin ? ', which includes 0' : '';
  return `${Math.abs(lead).toFixed(3)} ± ${margin.toFixed(3)}${doubtful}`;
}

test('what the figure says of leads has the intervals of all seeds, of both implementations', async () => {
  const { figure, data, state } = await run(language, { ways: 'all' });
  const words = figure.describe(data, state);
  const pair = (way: string, steps: number) =>
    `${sentence(way, steps, 256, true)} (${sentence(way, steps, 256, false)})`;
  expect(sentence('concat-quarter', 9000, 256, false)).toContain('which includes 0');
  expect(words).toContain('± Welch’s 95\u202f% interval over all seeds, 3 to 6 of each');
  // Every lead stands beside the number of tokens after which it was measured.
  const twice = { 'Concatenating at the same width': 'concat-quarter', RoPE: 'rope' };
  for (const [name, way] of Object.entries(twice))
    expect(words).toContain(
      ` ${name} beat adding by ${pair(way, 3000)} after 24.6 million tokens and by ${pair(way, 9000)} after 73.7 million.`,
    );
  const once = { TUPE: 'tupe', 'Decoupled RoPE': 'decoupled-rope' };
  for (const [name, way] of Object.entries(once))
    expect(words).toContain(` ${name} beat adding by ${pair(way, 3000)} after 24.6 million tokens.`);
  expect(words).toContain(
    ` Concatenated and projected back, compared with adding: behind by ${sentence('project', 3000, 256, true)}, its matrix drawn like every other at the start; behind by ${sentence('project', 3000, 256, false)}, its matrix scaled to keep lengths at the start (another implementation).`,
  );
  // Each start has a row of its own.
  const projected = data.rows.filter(({ way }: { way: string }) => way === 'project');
  expect(projected.map(({ start }: { start: string }) => start)).toEqual(['normal', 'fan-in']);
  // The readout and the table have the lead, too.
  const i = data.rows.findIndex(({ way }: { way: string }) => way === 'rope');
  const readout = figure.readout(data, state, { i, j: 0 });
  expect(readout.join('')).toContain(
    `All 3 seeds beside all 6 of adding: ahead by ${sentence('rope', 3000, 256, true)}.`,
  );
  const { columns, rows } = figure.table(data, state);
  const row =
    rows.find(([name, , by]) => name === 'RoPE' && String(by).startsWith('the project’s script')) ?? [];
  const { lead, margin } = welchOf('rope', 3000, 256, true);
  expect(row[columns.indexOf('ahead of adding')]).toBeCloseTo(lead, 5);
  expect(row[columns.indexOf('± 95 % (Welch)')]).toBeCloseTo(margin, 4);
});

test.each([
  [{}, '8.4 to 9.2'],
  [{ ways: 'all' }, '7.9 to 12.7'],
  [{ view: 'long' }, '8.4 to 9.0'],
  [{ view: 'ladder' }, '1.7 to 1.9'],
])('%j has models of %s million weights', async (settings, weights) => {
  const { figure, data, state } = await run(language, settings);
  expect(figure.describe(data, state)).toContain(`${weights} million weights.`);
});

test('the short answer, README and claims say of leads what the runs say', () => {
  const share = (steps: number, ours: boolean) => {
    const added = mean(endsOf('add', settingsOf(steps, 256, ours)));
    return (100 * welchOf('concat-quarter', steps, 256, ours).lead) / added;
  };
  // The lead of concatenating is about one percent after 3,000 steps and a quarter of a percent after 9,000.
  for (const own of [true, false]) {
    expect(Math.abs(share(3000, own) - 1)).toBeLessThan(0.2);
    expect(Math.abs(share(9000, own) - 0.25)).toBeLessThan(0.05);
  }
  const readme = readFileSync(join(root, 'README.md'), 'utf8').replace(/\s+/g, ' ');
  for (const steps of [3000, 9000]) expect(readme).toContain(sentence('rope', steps, 256, true));
  for (const [steps, own] of [
    [3000, true],
    [9000, true],
    [9000, false],
  ] as const)
    expect(readme).toContain(sentence('concat-quarter', steps, 256, own));
  // Every run of these ways ends ahead of all runs of adding and of concatenating.
  for (const [steps, ways] of [
    [3000, ['add-normalized-to-queries-keys', 'concat-to-queries-keys', 'rope', 'tupe', 'decoupled-rope']],
    [9000, ['rope']],
  ] as const)
    for (const own of [true, false])
      for (const way of ways) {
        const settings = settingsOf(steps, 256, own);
        const [best, other] = [endsOf(way, settings), endsOf('concat-quarter', settings)];
        expect(Math.max(...best)).toBeLessThan(Math.min(...other, ...endsOf('add', settings)));
      }
  // Adding that starts on separate channels: no difference that three runs could show.
  expect(sentence('add-disjoint-start', 3000, 256, false)).toContain('which includes 0');
  // Cross terms cut in the first layer: no cost is seen, but three runs of each implementation cannot show a
  // small one.
  for (const own of [true, false]) {
    const { lead } = welchOf('add-without-cross-terms', 3000, 256, own);
    expect(lead).toBeGreaterThan(0);
    expect(endsOf('add-without-cross-terms', settingsOf(3000, 256, own))).toHaveLength(3);
  }
});

test('the evidence has every lead, of all runs and of pairs, as they come out of the file', () => {
  const text = readFileSync(join(root, 'docs/evidence.md'), 'utf8');
  const printed = (value: number) => value.toFixed(3).slice(1);
  const signed = (value: number) => `${value < 0 ? '−' : '+'}${printed(Math.abs(value))}`;
  const inOrder = [false, true];
  let cells = 0;
  for (const [steps, heading] of [
    [3000, 'way, 24.6 M tokens'],
    [9000, 'way, 73.7 M tokens'],
  ] as const) {
    const table = text.slice(text.indexOf(`| ${heading}`)).split('\n\n')[0] as string;
    for (const line of table.split('\n').slice(2)) {
      const [, name = '', ...written] = line.split('|').map((cell) => cell.trim());
      const way = name.replaceAll('`', '');
      for (const [k, own] of inOrder.entries()) {
        const settings = settingsOf(steps, 256, own);
        const [added, other] = [endsOf('add', settings), endsOf(way, settings)];
        if (other.length < 2) {
          expect(written[2 * k], way).toBe('');
          continue;
        }
        const { lead, margin } = welch(added, other);
        expect(written[2 * k]).toBe(
          `${signed(lead)} ± ${printed(margin)} (${added.length}, ${other.length})`,
        );
        // Runs are listed in the order of their seeds.
        const pairs = other.map((end, seed) => (added[seed] as number) - end);
        const half = quantile(pairs.length - 1) * Math.sqrt(variance(pairs) / pairs.length);
        expect(written[2 * k + 1]).toBe(`${signed(mean(pairs))} ± ${printed(half)} (${pairs.length})`);
        cells += 2;
      }
    }
  }
  expect(cells).toBe(2 * (9 + 13 + 2 + 4));
});

// answer.json and verdicts.json make this claim.
test.each([0.001, 0.002, 0.004])('at a rate of %d the first implementation led by concatenating', (rate) => {
  const settings = { ...settingsOf(3000, 256, false), rate };
  expect(mean(endsOf('concat-quarter', settings))).toBeLessThan(mean(endsOf('add', settings)));
});

test('what another rate moved is said with whose it was', async () => {
  const { figure, data, state } = await run(language, { ways: 'all' });
  const at = (way: string, rate: number) => mean(endsOf(way, { ...settingsOf(3000, 256, false), rate }));
  const moves = ['add', 'concat-quarter'].flatMap((way) =>
    [0.001, 0.004].map((rate) => Math.abs(at(way, rate) - at(way, 0.002))),
  );
  expect(figure.describe(data, state)).toContain(
    `Another learning rate, tried for 2 ways by the other implementation, after 24.6 million tokens, moved means by up to ${Math.max(...moves).toFixed(3)}.`,
  );
  const longer = await run(language, { view: 'long', ways: 'all' });
  expect(longer.figure.describe(longer.data, longer.state)).toContain('One learning rate.');
});

test('a way that is ahead of adding at first and behind it later has a sign', async () => {
  const { figure, data, state } = await run(language, { view: 'ladder' });
  const [soon, late] = [3000, 9000].map((steps) => sentence('add-to-first-queries-keys', steps, 256, true));
  expect(welchOf('add-to-first-queries-keys', 9000, 256, true).lead).toBeLessThan(0);
  const words = figure.describe(data, state);
  const larger = `in larger models by ${soon} after 24.6 million tokens and was behind by ${late} after 73.7 million.`;
  const small = `${sentence('add-to-first-queries-keys', 2000, 128, true)} (${sentence('add-to-first-queries-keys', 2000, 128, false)}) after 4.1 million tokens`;
  expect(words).toContain(
    ` Position in the first layer’s queries and keys only beat adding by ${small}; ${larger}`,
  );
});

test('the smaller model’s leads are said at both lengths', async () => {
  const { figure, data, state } = await run(language, { view: 'ladder', ways: 'all' });
  const words = figure.describe(data, state);
  for (const [name, way] of Object.entries({
    'Concatenating at the same width': 'concat-quarter',
    'Position in the first layer’s attention only': 'add-to-first-attention',
  }))
    expect(words).toContain(
      ` ${name} beat adding by ${sentence(way, 2000, 128, true)} (${sentence(way, 2000, 128, false)}) after 4.1 million tokens and by ${sentence(way, 4000, 128, true)} after 8.2 million; in larger models by`,
    );
});

test('a smaller model whose matrix starts in another way is compared with adding on the same processor', async () => {
  const { figure, data, state } = await run(language, { view: 'ladder', ways: 'all' });
  const source = file.sources.findIndex(({ device }) => device.includes('AMD'));
  const behind = (start: string) => {
    const settings = { ...settingsOf(2000, 128, true), source };
    const { lead, margin } = welch(endsOf('add', settings), endsOf('project', { ...settings, start }));
    expect(lead).toBeLessThan(0);
    return `behind by ${Math.abs(lead).toFixed(3)} ± ${margin.toFixed(3)}${-lead <= margin ? ', which includes 0' : ''}`;
  };
  // Adding on that processor is a row of its own, and is not among the few that are shown first.
  const device = file.sources[source]?.device;
  const devicesOf = (rows: { way: string; device?: string }[]) =>
    rows.flatMap(({ way, device }) => (device ? [[way, device]] : []));
  expect(devicesOf(data.rows)).toEqual([['add', device]]);
  expect(devicesOf((await run(language, { view: 'ladder' })).data.rows)).toEqual([]);
  expect(figure.describe(data, state)).toContain(
    ` Concatenated and projected back, compared with adding: ${behind('normal')}, its matrix drawn like every other at the start; ${behind('fan-in')}, its matrix scaled to keep lengths at the start; ${behind('identity')}, its matrix leaving tokens as they are at the start.`,
  );
  const evidence = readFileSync(join(root, 'docs/evidence.md'), 'utf8').replace(/\s+/g, ' ');
  const inPairs = (start: string) => {
    const settings = { ...settingsOf(2000, 128, true), source };
    const added = endsOf('add', settings);
    const pairs = endsOf('project', { ...settings, start }).map((end, seed) => end - (added[seed] as number));
    const half = quantile(pairs.length - 1) * Math.sqrt(variance(pairs) / pairs.length);
    return `${mean(pairs).toFixed(3)} ± ${half.toFixed(3)}`.replaceAll('0.', '.');
  };
  expect(evidence).toContain(
    `behind by ${inPairs('normal')}, ${inPairs('fan-in')} and ${inPairs('identity')}.`,
  );
  const short = (text: string) => text.replace('behind ', '').replaceAll('0.', '.');
  expect(evidence).toContain(
    `nine pairs of nine: ${short(behind('normal'))} from N(0, 0.02²), ${short(behind('fan-in'))}, from fan-in and ${short(behind('identity'))}, from the identity`,
  );
});

test.each([
  {},
  { ways: 'all' },
  { view: 'long' },
  { view: 'masked' },
  { view: 'ladder', ways: 'all' },
  { curves: 'yes' },
])('its picture is sound: %j', async (settings) => {
  const result = await run(language, settings);
  expectSoundPictures(result);
  const { figure, data, state } = result;
  const { rows } = figure.table(data, state);
  for (const row of rows) expect(row.slice(0, 7).every((cell) => cell !== '')).toBe(true);
});

test('a run beyond the axis stands at its edge, with its number; the cursor joins runs of one seed', async () => {
  const { figure, data, state } = await run(language, { view: 'masked' });
  const far = recordedRuns.filter(({ task, loss }) => task === 'masked' && loss > 6);
  const texts = figure
    .scene(data, state, 640)
    .marks.flatMap((mark) => (mark.mark === 'text' ? [mark.text] : []));
  expect(texts).toContain(`${far[0]?.loss.toFixed(2)} →`);
  const [joined] = figure.focus?.(data, state, { i: 0, j: 1 }, 640) ?? [];
  // There are as many points as ways that were trained that long.
  expect(joined?.mark === 'path' && joined.d.split(/[ML]/).length - 1).toBe(4);
});

test.each([350, 412, 780])('each run has a dot that can be counted, %i wide', async (width) => {
  const { figure, data, state } = await run(language);
  const { pick } = figure.scene(data, state, width).regions[0] ?? expect.fail();
  const { x, y, cursors } = typeof pick === 'object' ? pick.points : expect.fail();
  for (let k = 0; k < x.length; k++)
    for (let l = 0; l < k; l++) {
      if (cursors[k]?.i !== cursors[l]?.i) continue;
      const apart = Math.hypot((x[k] as number) - (x[l] as number), (y[k] as number) - (y[l] as number));
      expect(apart).toBeGreaterThan(4.5);
    }
});

test('masked models are said by their length', async () => {
  const { figure, data, state } = await run(language, { view: 'masked' });
  const of = (way: string, steps: number) =>
    recordedRuns.flatMap((one) =>
      one.way === way && one.task === 'masked' && one.steps === steps ? [one.loss] : [],
    );
  const at3000 = (way: string) => mean(of(way, 3000)).toFixed(3);
  expect(Math.max(...of('concat-quarter', 5000))).toBeLessThan(Math.min(...of('add', 5000)));
  for (const way of ['rope', 'tupe'])
    expect(Math.max(...of(way, 3000))).toBeLessThan(Math.min(...of('add', 3000)));
  const { lead, margin } = welch(of('add', 3000), of('concat-quarter', 3000));
  const masked = `${lead.toFixed(3)} ± ${margin.toFixed(3)}`;
  expect(figure.describe(data, state)).toContain(
    `After 3,000 steps, 24.6 million tokens, means were ${at3000('concat-quarter')} concatenated, ${at3000('add')} added, a lead of ${masked}, which includes 0. After 5,000 steps, 41.0 million tokens, each concatenated run was below all 3 added ones; 1 of these stayed at ${Math.max(...of('add', 5000)).toFixed(2)}, so no mean.`,
  );
});

test('a file of another version is refused, and what cannot be drawn is named', async () => {
  const sentence = /come as superpose-language, version 1\. This file is/;
  expect(() => readResults({ ...file, version: 2 })).toThrow(sentence);
  expect(() => readResults(undefined)).toThrow(sentence);
  const [added, ...rest] = file.results;
  const [run, ...others] = added?.runs ?? [];
  const broken = [
    { ...added, steps: 3100 },
    { ...added, way: 'guessed' },
    { ...added, runs: [{ ...run, losses: [] }, ...others] },
  ];
  const withoutRope = rest.filter(({ way }) => way !== 'rope');
  const recorded = async () => ({ ...file, results: [...broken, ...withoutRope] });
  const state = { view: 'short', ways: 'few', curves: false } as const;
  const job = { signal: new AbortController().signal, progress: () => {} };
  const data = await language.compute({ ...loaded, recorded }, state, job);
  const remark = language.figure.remark?.(data, state);
  expect(remark).toContain('lacks runs of: RoPE.');
  expect(remark).toContain(
    'Not drawn: runs of 3100 steps; a way called guessed; a run of “added” that lacks numbers.',
  );
  expect(data.rows.map(({ way }) => way)).toContain('concat-quarter');
});

test('a way has one label, in language models and in the table of small ones', () => {
  for (const name of languageWays) {
    if (!isWay(name)) continue;
    // Widths and formulas belong to the small models' labels only.
    const label = wayIn(name)
      .label(16)
      .replace(/ \(\d+ wide\)| \d+ \+ \d+.*|:.*/, '');
    expect(labelOf(name).toLowerCase().startsWith(label.toLowerCase()), name).toBe(true);
  }
});

test('a row opens its scheme in the figure of schemes', async () => {
  const { figure, data, state } = await run(language, { ways: 'all' });
  const rows = data.rows as { way: string }[];
  expect(rows.length).toBeGreaterThan(5);
  for (const [i, { way }] of rows.entries()) {
    const shown = figure.opens?.(data, state, { i, j: 0 });
    if (!shown) throw new Error(`${way} opens nothing.`);
    const { figure: to, state: there } = shown as Opens;
    expect([to.name, to.title]).toEqual([schemes.name, schemes.title]);
    const link = readLink(writeLink(to.name, to.controls, there));
    if (!link || 'refused' in link) throw new Error(`${way} has no link.`);
    const { state: found, refused } = readState(schemes.controls, link.settings);
    expect(refused).toEqual([]);
    expect(found).toEqual({ ...initialState(schemes.controls), ...there });
  }
});

test('in the file a run is there once, of a source that is there', () => {
  const names = recordedRuns.map((run) => {
    const { source, way, task, steps, rate, quiet, rowRate, start, seed } = run;
    return [source, way, task, steps, rate, quiet, rowRate, start, seed].join();
  });
  expect(new Set(names).size).toBe(recordedRuns.length);
  for (const { source } of recordedRuns) expect(file.sources[source]?.size.layers).toBeGreaterThan(0);
});

test('in the file bits per byte are the loss in nats a token, by the bytes of a token', () => {
  for (const run of recordedRuns) {
    if (run.bitsPerByte === undefined) continue;
    const bits = run.loss / Math.LN2 / (file.sources[run.source]?.bytesPerToken ?? 0);
    expect(Math.abs(bits - run.bitsPerByte)).toBeLessThan(1.5e-4);
  }
});

test('in the file a curve has a point where its source says', () => {
  for (const run of recordedRuns)
    expect(run.losses).toHaveLength(file.sources[run.source]?.curve.length ?? 0);
});

test('in the file a way in has as many weights in both implementations', () => {
  const counted = new Map<string, number>();
  for (const { way, source, weights } of recordedRuns) {
    const name = `${way} ${file.sources[source]?.size.width}`;
    expect(weights).toBe(counted.get(name) ?? weights);
    counted.set(name, weights);
  }
});
