// Models tested on more places than they were trained on, against the library's trainers stepped by hand.
import { load } from 'superpose';
import { expect, test } from 'vitest';
import * as longer from '../../web/figures/longer.ts';
import { aboutPercent } from '../../web/plot/format.ts';
import { expectSoundPictures, expectToStopMidway, run } from './support.ts';
import { expectTextsApart } from './texts.ts';
import { expectNothingToStay, watched } from './training.ts';

const [learned, rope] = [0, 4];

test.each([
  ['one', {}],
  ['two', { layers: 2, heads: 4 }],
] as const)('%s: each point is right answers at its places alone', async (layers, deep) => {
  const result = await run(longer, { layers, steps: 50, seed: 6 });
  expectSoundPictures(result);
  expectTextsApart(result);
  const { data } = result;
  const superpose = await load();
  const options = { task: 'prev', symbols: 16, seed: 6 } as const;
  const trainer = superpose.trainer({
    ...options,
    ...deep,
    scheme: 'rope',
    positions: 32,
    causal: true,
    steps: 50,
  });
  trainer.step(50);
  const { tokens, targets } = superpose.taskExamples({ ...options, n: 32, sequences: 64 });
  const { data: logits, columns } = trainer.logits({ n: 32, tokens });
  trainer.delete();
  const right = Array.from(targets, (target, at) => {
    const own = logits.subarray(at * columns, (at + 1) * columns);
    return own.indexOf(Math.max(...own)) === target;
  });
  const share = (from: number, to: number) => {
    const of = right.filter((_, at) => at % 32 >= from && at % 32 < to && targets[at] !== -1);
    return of.filter(Boolean).length / of.length;
  };
  const curve = data.curves[rope];
  for (let part = 0; part < 8; part++)
    expect(curve.runs[0].along[part]).toBeCloseTo(share(4 * part, 4 * part + 4), 6);
  expect(curve.beyond.mean).toBeCloseTo(share(16, 32), 6);
});

test('in its first view RoPE goes on beyond the trained length and a learned table does not; both know the positions they were trained on', async () => {
  const { data, figure, state } = await run(longer);
  // Over two seeds: 0.98 to 1.00, and 0.07 to 0.12.
  expect(data.curves[rope].beyond.mean).toBeGreaterThan(0.9);
  expect(data.curves[learned].beyond.mean).toBeLessThan(0.2);
  for (const line of [rope, learned]) expect(data.curves[line].within.mean).toBeGreaterThan(0.98);
  const finding = figure.describe(data, state);
  const beyond: number[] = data.curves.map((curve: { beyond: { mean: number } }) => curve.beyond.mean);
  const falling = beyond.filter((right) => right < 0.9);
  expect(finding).toMatch(/At positions 16 to 31 [^;]*RoPE[^;]* at least 90.% right/);
  expect(finding).not.toMatch(/Added, learned[^;]* at least/);
  expect(finding).toContain(
    `of the other ${falling.length}, the best has ${aboutPercent(Math.max(...falling))}.`,
  );
});

test('watched, one line comes after another', async () => {
  const { state, data } = await run(longer, { steps: 50, seed: 12 });
  const { frames, job } = watched<typeof data>(state);
  const seen = await run(longer, { steps: 50, seed: 12 }, job);
  expect(seen.data).toEqual(data);
  expect(
    frames.map(({ curves }) => curves.filter(({ within }: { within?: object }) => within).length),
  ).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expectSoundPictures({ ...seen, data: frames[1] });
});

test('it stops midway, and nothing of it stays in memory', async () => {
  await expectToStopMidway(longer);
  await expectNothingToStay(longer, { steps: 50 });
});

const trained = (settings: Record<string, string | number>) =>
  run(longer, { steps: 100, seed: 4, ...settings });

test.each([{ of: 'rope' }, { of: 'rope', length: 64, base: 10 }, { of: 'table' }, { length: 64 }])(
  '%o is drawn',
  async (settings) => {
    const result = await trained(settings);
    expectSoundPictures(result);
    expectTextsApart(result);
  },
);

test('stretching and extending leave the trained model unchanged, and give the library’s own results', async () => {
  const superpose = await load();
  const { data } = await trained({ of: 'rope', base: 100 });
  const options = { task: 'prev', symbols: 16, seed: 4 } as const;
  const model = { ...options, scheme: 'rope', positions: 32, causal: true, base: 100 } as const;
  const trainer = superpose.trainer({ ...model, steps: 100 });
  trainer.step(100);
  const parameters = trainer.parameters();
  trainer.delete();
  const { tokens, targets } = superpose.taskExamples({ ...options, n: 32, sequences: 64 });
  const right = (stretch: object) => {
    const other = superpose.trainer({ ...model, ...stretch });
    other.setParameters(parameters);
    const beyond = targets.map((target, at) => (at % 32 >= 16 ? target : -1));
    const found = other.accuracy({ n: 32, tokens, targets: beyond });
    other.delete();
    return found;
  };
  const ramp = { factor: 2, trained: 16, alpha: 0.1, beta: 1 };
  const ways = [
    {},
    { stretch: { way: 'interpolate', factor: 2 } },
    // A head of 16 channels: the base times 2^(16/14).
    { base: 100 * 2 ** (16 / 14) },
    { stretch: { way: 'parts', ...ramp } },
    { stretch: { way: 'yarn', ...ramp } },
  ];
  for (const [line, way] of ways.entries()) expect(data.curves[line].beyond.mean).toBeCloseTo(right(way), 6);
  expect(
    new Set(data.curves.map((curve: { beyond: { mean: number } }) => curve.beyond.mean)).size,
  ).toBeGreaterThan(2);
});

test('rows of a table that was never trained there: copied, tiled and interpolated', async () => {
  const superpose = await load();
  const { data, figure, state } = await trained({ of: 'table' });
  const options = { task: 'prev', symbols: 16, seed: 4 } as const;
  const model = { ...options, scheme: 'add', positions: 32, causal: true } as const;
  const trainer = superpose.trainer({ ...model, steps: 100 });
  trainer.step(100);
  const parameters = trainer.parameters();
  const { tokens, targets } = superpose.taskExamples({ ...options, n: 32, sequences: 64 });
  const rowAt = [
    (p: number) => p,
    (p: number) => Math.min(p, 15),
    (p: number) => p % 16,
    (p: number) => (15 * p) / 31,
  ];
  for (const [line, at] of rowAt.entries()) {
    const { data: rows, columns } = parameters.P as { data: Float32Array; columns: number };
    const longerRows = rows.map((_, place) => {
      const [p, c] = [Math.floor(place / columns), place % columns];
      const [below, part] = [Math.floor(at(p) + 1e-12), at(p) - Math.floor(at(p) + 1e-12)];
      const row = (r: number) => rows[r * columns + c] as number;
      return part < 1e-9 ? row(below) : (1 - part) * row(below) + part * row(below + 1);
    });
    trainer.setParameters({ P: { data: longerRows, rows: 32, columns } });
    const beyond = targets.map((target, k) => (k % 32 >= 16 ? target : -1));
    expect(data.curves[line].beyond.mean).toBeCloseTo(
      trainer.accuracy({ n: 32, tokens, targets: beyond }),
      6,
    );
  }
  trainer.delete();
  expect(figure.describe(data, state)).toMatch(
    /^Rows tiled does best beyond .*right at positions 16 to 31: rows as drawn .*last row copied/,
  );
});
