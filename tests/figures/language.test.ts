// The recorded language models: means against those taken by hand from the file, and files that are not as they should be.
import { expect, test } from 'vitest';
import * as language from '../../web/figures/language.ts';
import { readRuns } from '../../web/figures/languageRuns.ts';
import file from '../../web/figures/recorded/language.json' with { type: 'json' };
import { expectSoundPictures, expectTextsApart, loaded, run } from './support.ts';

const own = (source: number) => file.sources[source]?.by === 'tools/language';
const widthOf = (source: number) => file.sources[source]?.size.width;

/** Of the runs as scripted, from the file. */
function meanOf(arm: string, steps: number, width: number, by: boolean, at = 0.002): number {
  const ends = file.runs.flatMap((one) => {
    const { source, task, rate, quiet, bitsPerByte = Number.NaN } = one;
    const asked = one.arm === arm && one.steps === steps && widthOf(source) === width && own(source) === by;
    const scripted =
      task === 'causal' && rate === at && quiet === 1 && !('rowRate' in one && one.rowRate !== 1);
    return asked && scripted ? [bitsPerByte] : [];
  });
  return ends.reduce((sum, one) => sum + one, 0) / ends.length;
}

const lead = (arm: string, steps: number, width: number, by: boolean) =>
  (meanOf('added', steps, width, by) - meanOf(arm, steps, width, by)).toFixed(3).replace('-', '−');

test('the leads are those of means over the file’s runs, of both implementations', async () => {
  const { figure, data, state } = await run(language, { ways: 'all' });
  const [soon, late] = [3000, 9000].map(
    (steps) =>
      `${lead('concatenated', steps, 256, true)} (${steps === 3000 ? 'other code: ' : ''}${lead('concatenated', steps, 256, false)})`,
  );
  const said = figure.describe(data, state);
  expect(said).toContain(
    `Dividing the same width between them led adding by ${soon} bits per byte after 24.6 million tokens and by ${late} after 73.7.`,
  );
  const [back, others] = [true, false].map((own) => lead('projected', 3000, 256, own).slice(1));
  expect(said).toContain(`mapping back trailed adding by ${back} (other code: ${others}) bits per byte`);
  for (const [name, arm] of Object.entries({ RoPE: 'rotated', TUPE: 'separate-scores' }))
    expect(said).toContain(`${name} ${lead(arm, 3000, 256, true)} (${lead(arm, 3000, 256, false)})`);
});

// As answer.json and verdicts.json say.
test.each([0.001, 0.002, 0.004])('at a rate of %d the first implementation led by concatenating', (rate) => {
  expect(meanOf('concatenated', 3000, 256, false, rate)).toBeLessThan(
    meanOf('added', 3000, 256, false, rate),
  );
});

test('what led adding at first and is behind it later is said to trail it', async () => {
  const { figure, data, state } = await run(language, { view: 'ladder' });
  const [soon, late] = [3000, 9000].map((steps) => lead('nor-into-values', steps, 256, true));
  expect(late).toMatch(/^−/);
  expect(figure.describe(data, state)).toContain(
    `it led adding by ${soon} bits per byte after 24.6 million tokens and trailed it by ${late?.slice(1)} after 73.7.`,
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
  expectTextsApart(result);
  const { figure, data, state } = result;
  const { rows } = figure.table(data, state);
  for (const row of rows) expect(row.slice(0, 7).every((cell) => cell !== '')).toBe(true);
});

test('a run beyond the axis stands at its edge, with its number; the cursor joins runs of one seed', async () => {
  const { figure, data, state } = await run(language, { view: 'masked' });
  const far = file.runs.filter(({ task, loss }) => task === 'masked' && loss > 6);
  const texts = figure
    .scene(data, state, 640)
    .marks.flatMap((mark) => (mark.mark === 'text' ? [mark.text] : []));
  expect(texts).toContain(`${far[0]?.loss.toFixed(2)} →`);
  const [joined] = figure.focus?.(data, state, { i: 0, j: 1 }, 640) ?? [];
  // As many as ways were trained that long.
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
  const of = (arm: string, steps: number) =>
    file.runs.flatMap((one) =>
      one.arm === arm && one.task === 'masked' && one.steps === steps ? [one.loss] : [],
    );
  const mean = (arm: string) => (of(arm, 3000).reduce((sum, one) => sum + one) / 3).toFixed(3);
  expect(Math.max(...of('concatenated', 5000))).toBeLessThan(Math.min(...of('added', 5000)));
  for (const arm of ['rotated', 'separate-scores'])
    expect(Math.max(...of(arm, 3000))).toBeLessThan(Math.min(...of('added', 3000)));
  expect(figure.describe(data, state)).toContain(
    `After 3,000 steps, 24.6 million tokens, means were ${mean('concatenated')} concatenated, ${mean('added')} added. After 5,000 steps, 41.0 million tokens, each concatenated run was below all 3 added ones; 1 of these stayed at ${Math.max(...of('added', 5000)).toFixed(2)}, so no mean.`,
  );
});

test('a file of another version is refused, and what cannot be drawn is named', async () => {
  const sentence = /come as superpose-language, version 1\. This file is/;
  expect(() => readRuns({ ...file, version: 2 })).toThrow(sentence);
  expect(() => readRuns(undefined)).toThrow(sentence);
  const [first, second, third, ...rest] = file.runs;
  const broken = [
    { ...first, steps: 3100 },
    { ...second, arm: 'guessed' },
    { ...third, losses: [] },
  ];
  const kept = rest.filter(({ arm }) => arm !== 'rotated');
  const recorded = async () => ({ ...file, runs: [...broken, ...kept] });
  const state = { view: 'short', ways: 'few', curves: false } as const;
  const job = { signal: new AbortController().signal, progress: () => {} };
  const data = await language.compute({ ...loaded, recorded }, state, job);
  const remark = language.figure.remark?.(data, state);
  expect(remark).toContain('no runs of: rotated (RoPE).');
  expect(remark).toContain(
    'Not drawn: runs of 3100 steps; a way called guessed; a run of “added” that lacks numbers.',
  );
  expect(data.rows.map(({ arm }) => arm)).toContain('concatenated');
});

test('in the file a run is there once, of a source that is there', () => {
  const names = file.runs.map((run) => {
    const { source, arm, task, steps, rate, quiet, seed } = run;
    const rowRate = 'rowRate' in run ? run.rowRate : 1;
    return [source, arm, task, steps, rate, quiet, rowRate, seed].join();
  });
  expect(new Set(names).size).toBe(file.runs.length);
  for (const { source } of file.runs) expect(file.sources[source]?.size.layers).toBeGreaterThan(0);
});

test('in the file bits per byte are the loss in nats a token, by the bytes of a token', () => {
  for (const run of file.runs) {
    if (run.bitsPerByte === undefined) continue;
    const bits = run.loss / Math.LN2 / (file.sources[run.source]?.bytesPerToken ?? 0);
    expect(Math.abs(bits - run.bitsPerByte)).toBeLessThan(1.5e-4);
  }
});

test('in the file a curve has a point where its source says', () => {
  for (const run of file.runs) expect(run.losses).toHaveLength(file.sources[run.source]?.curve.length ?? 0);
});

test('in the file a way in has as many weights in both implementations', () => {
  const counted = new Map<string, number>();
  for (const { arm, source, weights } of file.runs) {
    const name = `${arm} ${file.sources[source]?.size.width}`;
    expect(weights).toBe(counted.get(name) ?? weights);
    counted.set(name, weights);
  }
});
