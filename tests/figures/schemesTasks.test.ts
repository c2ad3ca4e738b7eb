// Cells of the table, against the figure that a click opens and against the claims about them.
import { expect, test } from 'vitest';
import { readState, writtenState } from '../../web/figures/controls.ts';
import * as fourTasks from '../../web/figures/fourTasks.ts';
import * as schemesTasks from '../../web/figures/schemesTasks.ts';
import { percent } from '../../web/plot/format.ts';
import { expectSoundPictures, expectToStopMidway, run } from './support.ts';
import { expectTextsApart } from './texts.ts';
import { expectNothingToStay, watched } from './training.ts';

const textOf = ({ figure, data, state }: Awaited<ReturnType<typeof run>>, i: number, j: number) =>
  figure
    .readout(data, state, { i, j })
    .map((piece) => (typeof piece === 'string' ? piece : piece.text))
    .join('');

test.each([
  ['prev', 3, 'untied'],
  ['rev', 3, 'concat-24'],
  ['roll', 2, 'cut'],
] as const)('a click on %s opens the run that the cell is of', async (task, panel, row) => {
  const result = await run(schemesTasks, {
    schemes: `add.${row}`,
    tasks: `badge.${task}`,
    seed: 3,
    sigma: 0.2,
  });
  const { figure, data, state } = result;
  // Rows are in the table's order, whatever order they are requested in.
  const i = data.cells.findIndex((cells: { row: string }[]) => cells[0]?.row === row);
  const opened = figure.opens?.(data, state, { i, j: 1 });
  expect(opened?.figure).toBe(fourTasks.figure);
  const { controls } = fourTasks.figure;
  // The state can be written in a link.
  const texts = writtenState(controls, opened?.state ?? {});
  expect(readState(controls, texts)).toEqual({ state: opened?.state, refused: [] });
  const shown = await run(fourTasks, Object.fromEntries(texts));
  const { accuracy } = shown.data.panels[panel];
  const [cell] = data.cells[i][1].runs;
  expect(cell.accuracy).toBe(accuracy.at(-1));
  const first = accuracy.findIndex((right: number) => right >= 0.99);
  expect(cell.stepsToAim).toBe(first < 0 ? null : first * 8);
  expect(textOf(result, i, 1)).toContain(`${percent(cell.accuracy)} right`);
});

test('several seeds are their mean, how much they differ, and a dot each', async () => {
  const settings = { schemes: 'add.untied', tasks: 'badge.lookup', seeds: 3 };
  const result = await run(schemesTasks, settings);
  expectSoundPictures(result);
  expectTextsApart(result);
  const { figure, data, state } = result;
  const right = data.cells[1][1].runs.map((run: { accuracy: number }) => run.accuracy) as number[];
  const mean = right.reduce((a, b) => a + b) / 3;
  const deviation = Math.sqrt(right.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 2);
  const said = `lookup ${(100 * mean).toFixed(1)} ± ${(100 * deviation).toFixed(1)}\u202f%`;
  expect(figure.describe(data, state)).toContain(said);
  const dots = figure
    .scene(data, state, 700)
    .marks.flatMap((mark) => (mark.mark === 'path' ? [mark.d.split('M').length - 1] : []));
  expect(dots).toEqual([3, 3, 3, 3]);
  // Untied, lookup stays as without scores; added, it is learned.
  expect(mean).toBeLessThan(0.25);
  expect(data.cells[0][1].accuracy.least).toBeGreaterThan(0.98);
  expect(textOf(result, 1, 1)).toContain('first at 99\u202f%: never');
  expect(figure.table(data, state).rows).toHaveLength(12);
});

test('it fills in cell by cell, and says how many are to come', async () => {
  const settings = { schemes: 'none.untied.rope.t5', tasks: 'badge', seed: 5 };
  const { state, data } = await run(schemesTasks, settings);
  const { frames, job } = watched<typeof data>(state);
  const seen = await run(schemesTasks, settings, job);
  expect(seen.data).toEqual(data);
  expect(frames).toHaveLength(5);
  const [, one] = frames;
  expect(seen.figure.describe(one, state)).toContain('3 of 4 cells are still to come.');
  expect(seen.figure.readout(one, state, { i: 2, j: 0 }).at(-1)).toContain('not trained yet');
  expectSoundPictures({ ...seen, data: one });
  expect(seen.figure.describe(data, state)).toContain('badge by all 4');
});

test('without positions or tasks there is nothing to train, and that is said', async () => {
  for (const settings of [{ schemes: '' }, { tasks: '' }]) {
    const result = await run(schemesTasks, settings);
    expectSoundPictures(result);
    expect(result.figure.describe(result.data, result.state)).toContain('Choose positions and a task.');
    expect(result.figure.opens?.(result.data, result.state, { i: 0, j: 0 })).toBeUndefined();
  }
});

test('its first view is the whole table: ten schemes and the floor, five tasks', () => {
  const { initial: schemes } = schemesTasks.figure.controls.schemes;
  expect(schemes).toHaveLength(11);
  const scene = schemesTasks.figure.scene(
    {
      cells: schemes.map((row) =>
        schemesTasks.figure.controls.tasks.initial.map((task) => ({
          row,
          task,
          runs: [undefined],
          accuracy: undefined,
          first: undefined,
        })),
      ),
    },
    readState(schemesTasks.figure.controls, []).state,
    350,
  );
  expect(scene.regions).toMatchObject([{ rows: 11, columns: 5 }]);
  for (const { width } of scene.regions) expect(width / 5).toBeGreaterThan(44);
});

test('it stops midway, and nothing of it stays in memory', async () => {
  await expectToStopMidway(schemesTasks);
  await expectNothingToStay(schemesTasks, { schemes: 'add', tasks: 'badge.prev' });
});
