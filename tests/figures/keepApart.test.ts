// The figure's models, against the library's trainers stepped by hand, and A against its definition.
import { load, type Table } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import * as keepApart from '../../web/figures/keepApart.ts';
import { expectSoundPictures, run } from './support.ts';
import { watched } from './training.ts';

/** Rows of a table, each minus the mean row. */
function centred({ data, rows, columns }: Table): number[][] {
  const all = Array.from({ length: rows }, (_, r) => Array.from(data.slice(r * columns, (r + 1) * columns)));
  const mean = Array.from(
    { length: columns },
    (_, c) => all.reduce((sum, row) => sum + (row[c] as number), 0) / rows,
  );
  return all.map((row) => row.map((value, c) => value - (mean[c] as number)));
}
const dot = (a: number[], b: number[]) => a.reduce((sum, value, k) => sum + value * (b[k] as number), 0);
const size = (rows: number[][]) => rows.reduce((sum, row) => sum + dot(row, row), 0);

/** D ‖E Pᵀ‖² / (‖E‖² ‖P‖²). */
function overlapOf(tokens: Table, positions: Table): number {
  const [e, p] = [centred(tokens), centred(positions)];
  const products = e.flatMap((row) => p.map((other) => dot(row, other) ** 2));
  return (tokens.columns * products.reduce((a, b) => a + b)) / (size(e) * size(p));
}

const result = await run(keepApart, { seed: 3, d_model: 16, task: 'prev' });

test('A, accuracy and rows are those of trainers stepped by hand', async () => {
  expectSoundPictures(result);
  const { data, figure, state } = result;
  expect(data.curves).toHaveLength(5);
  const superpose = await load();
  const trainer = superpose.trainer({ task: 'prev', d_model: 16, seed: 4, schedule: 'constant' });
  for (const point of [0, 5, 25]) {
    if (point > 0) trainer.step(8 * point - trainer.steps);
    const { E, P } = trainer.parameters();
    expect(data.curves[1].overlap[point]).toBeCloseTo(overlapOf(E as Table, P as Table), 6);
    expect(data.curves[1].accuracy[point]).toBe(trainer.evaluate().accuracy);
  }
  trainer.delete();
  const ends = data.curves.map(({ overlap }: { overlap: number[] }) => overlap.at(-1));
  const mean = ends.reduce((a: number, b: number) => a + b) / 5;
  expect(figure.describe(data, state)).toContain(`A is ${mean.toFixed(2)} ± `);
  // The plane's axes are orthogonal, so no row is longer in it than in full.
  const first = superpose.trainer({ task: 'prev', d_model: 16, seed: 3 });
  const lengths = centred(first.parameters().E as Table).map((row) => Math.sqrt(dot(row, row)));
  data.plans[0].tokens.x.forEach((x: number, row: number) => {
    const inPlane = Math.hypot(x, data.plans[0].tokens.y[row]);
    expect(inPlane).toBeLessThanOrEqual((lengths[row] as number) * (1 + 1e-6));
  });
  first.delete();
});

test('rows that are fixed stay where they were', async () => {
  const { data } = await run(keepApart, { rows: 'neither', d_model: 12 });
  for (const { overlap } of data.curves) expect(overlap.at(-1)).toBe(overlap[0]);
  for (const plan of data.plans) expect(plan).toEqual(data.plans[0]);
  expect(data.accuracy.largest).toBeLessThan(0.6);
});

test('while it runs its planes stand still, and show the rows as they will be shown afterwards', async () => {
  const { figure, data, state } = await run(keepApart, { seed: 12, d_model: 12 });
  const { frames, job } = watched<object>(state);
  await run(keepApart, { seed: 12, d_model: 12 }, job);
  const planes = (shown: unknown, j: number) =>
    figure
      .scene(shown, state, 700, undefined, { i: 0, j })
      .marks.flatMap((mark) => (mark.mark === 'dots' ? [[Array.from(mark.x), Array.from(mark.y)]] : []));
  for (const [j, frame] of frames.entries()) expect(planes(frame, 25)).toEqual(planes(data, j));
});

test('the last seed is followed by the first', async () => {
  const { data, figure, state } = await run(keepApart, { seed: 4294967295, d_model: 8 });
  const seeds = figure.table(data, state).rows.map(([seed]) => seed);
  expect([...new Set(seeds)]).toEqual([4294967295, 0, 1, 2, 3]);
});

test('the rows are shown at the step that is pointed at', () => {
  const { figure, data, state } = result;
  const seen = (j?: number) => {
    const { marks } = figure.scene(data, state, 700, undefined, j === undefined ? undefined : { i: 0, j });
    const title = marks.flatMap((mark) =>
      mark.mark === 'text' && mark.text.startsWith('After') ? [mark.text] : [],
    );
    const dots = marks.flatMap((mark) => (mark.mark === 'dots' ? [Array.from(mark.x)] : []));
    // The dots come in this order: tokens and positions before training, then now.
    return { title, tokens: dots[2] as number[], before: dots[0] as number[] };
  };
  expect(seen().title).toEqual(['After 200 steps']);
  expect(seen(4).title).toEqual(['After 32 steps']);
  const [start, some, end] = [seen(0), seen(4), seen()];
  const shift = (start.tokens[0] as number) - (start.before[0] as number);
  // At the start both pictures are the same, side by side.
  start.tokens.forEach((x, row) => {
    expect(x - shift).toBeCloseTo(start.before[row] as number, 9);
  });
  expect(some.tokens).not.toEqual(start.tokens);
  expect(some.tokens).not.toEqual(end.tokens);
});
