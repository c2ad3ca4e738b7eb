// Cells of the table, against the figure that a click opens and against the claims about them.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as addOrConcatenate from '../../web/figures/addOrConcatenate.ts';
import type { Data } from '../../web/figures/addOrConcatenateRuns.ts';
import { readState, writtenState } from '../../web/figures/controls.ts';
import { accuracyAt } from '../../web/figures/runs/trainingRun.ts';
import { type WayName, wayIn } from '../../web/figures/runs/ways.ts';
import * as schemesTasks from '../../web/figures/schemesTasks.ts';
import { captionOf } from '../../web/plot/format.ts';
import { library } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';
import { expectSoundPictures, run } from './support.ts';
import { alone, watched } from './training.ts';

const textOf = ({ figure, data, state }: Awaited<ReturnType<typeof run>>, i: number, j: number) =>
  figure
    .readout(data, state, { i, j })
    .map((piece) => (typeof piece === 'string' ? piece : piece.text))
    .join('');

const recipeRows = ['add-sinusoid-scaled', 'add-sinusoid-unscaled'];

test('rows of recipes are the library’s, and say how loud positions are at both ends', async () => {
  const settings = {
    size: 'large',
    norm: 'with',
    steps: 200,
    seeds: 1,
    schemes: recipeRows.join('.'),
    tasks: 'prev',
  };
  const result = await run(schemesTasks, settings);
  expectSoundPictures(result);
  const superpose = await library().superpose();
  for (const [i, recipe] of superpose.loudnessRecipes({ d_model: 32 }).slice(0, 2).entries()) {
    using trainer = superpose.trainer({
      task: 'prev',
      n: 16,
      steps: 2 ** 22,
      seed: 1,
      ...wayIn(recipeRows[i] as WayName).options(32),
    });
    const ratio = () => {
      const { tokens, positions } = trainer.loudness();
      return ((positions as number) / tokens).toFixed(2);
    };
    const before = ratio();
    // This is the length of 16 token rows that are drawn at random; the recipe gives the expectation.
    expect(Math.abs(Number(before) / (recipe.positions / recipe.tokens) - 1)).toBeLessThan(0.1);
    trainer.step(200);
    const sentence = `Length of positions over tokens: prev ${before} → ${ratio()}.`;
    expect(textOf(result, i, 0)).toContain(sentence);
    expect(result.figure.opens?.(result.data, result.state, { i, j: 0 })).toBeUndefined();
  }
});

test('a few rows begin with what they learn, or with the tasks that tell them apart', async () => {
  const result = await run(schemesTasks, {
    norm: 'with',
    steps: 200,
    seeds: 1,
    seed: 6,
    schemes: 'add.concat-wide',
    tasks: 'badge.lookup',
  });
  const { figure, data, state } = result;
  const of = (...right: number[][]) => {
    const cells = right.map((row, i) =>
      row.map((mean, j) => ({ ...data.cells[i][j], accuracy: { ...data.cells[i][j].accuracy, mean } })),
    );
    return figure.describe({ cells, faults: [] }, state);
  };
  expect(of([1, 0.99], [1, 1])).toMatch(/^Learned to 99\s%: badge and lookup\. Right after 200 steps/);
  expect(of([1, 0.98], [1, 0.3])).toMatch(/^Learned to 99\s%: badge\. /);
  expect(of([0.98, 0.3], [0.5, 0.3])).toMatch(/^Not learned to 99\s%: badge and lookup\. /);
  expect(of([1, 0.98], [1, 1])).toMatch(/^These two differ in lookup\. /);
  expect(of([0.3, 0.98], [1, 1])).toMatch(/^These two differ in badge and lookup\. /);
});

test('several seeds are their mean, how much they differ, and a dot each', async () => {
  const settings = {
    size: 'large',
    norm: 'with',
    steps: 200,
    seeds: 3,
    seed: 7,
    schemes: 'add.tupe',
    tasks: 'badge.lookup',
  };
  const result = await run(schemesTasks, settings);
  expectSoundPictures(result);
  const { figure, data, state } = result;
  const right = data.cells[1][1].runs.map((run: { right: number[] }) => run.right.at(-1)) as number[];
  const mean = right.reduce((a, b) => a + b) / 3;
  const deviation = Math.sqrt(right.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 2);
  const sentence = `lookup ${(100 * mean).toFixed(1)} ± ${(100 * deviation).toFixed(1)}\u202f%`;
  expect(figure.describe(data, state)).toContain(sentence);
  const dots = figure
    .scene(data, state, 700)
    .marks.flatMap((mark) => (mark.mark === 'path' ? [mark.d.split('M').length - 1] : []));
  expect(dots).toEqual([3, 3, 3, 3]);
  expect(textOf(result, 1, 1)).toContain('first at 99\u202f%: not in 200 steps');
  expect(figure.table(data, state).rows).toHaveLength(12);
});

test('it fills in cell by cell, and says how many are to come', async () => {
  const settings = {
    norm: 'with',
    steps: 200,
    seeds: 1,
    seed: 9,
    schemes: 'none.tupe.rope.t5',
    tasks: 'badge',
  };
  const { frames, job } = watched<{ cells: { runs: { anew?: true }[] }[][] }>({});
  const seen = await run(schemesTasks, settings, job);
  const { state, data } = await run(schemesTasks, settings);
  const [, partial] = frames as [object, object];
  expect(seen.figure.describe(partial, state)).toContain('3 of 4 runs still to come, or to be asked for.');
  expect(seen.figure.readout(partial, state, { i: 2, j: 0 }).at(-1)).toContain('not trained yet');
  expect(seen.figure.describe(data, state)).toContain('badge by all 4');
  // When runs are trained again, each old one stays until its new one is there, and cells with new ones are
  // framed.
  frames.length = 0;
  await run(schemesTasks, settings, job);
  const anew = ({ cells }: (typeof frames)[0]) =>
    cells.flatMap((row) => row.flatMap(({ runs }) => runs.map((of) => of?.anew)));
  expect(anew(frames[1] as (typeof frames)[0])).toEqual([true, undefined, undefined, undefined]);
  expect(seen.figure.describe(frames[1], state)).toBe(
    '1 of 4 runs done anew, in framed cells; the others are from before.',
  );
  const framed = seen.figure
    .scene(frames[1], state, 700)
    .marks.filter((mark) => mark.mark === 'box' && mark.stroke === 'accent' && mark.fill === 'field');
  expect(framed).toHaveLength(1);
});

test('without positions or tasks there is nothing to train, and that is said', async () => {
  for (const settings of [{ schemes: '' }, { tasks: '' }]) {
    const result = await run(schemesTasks, settings);
    expectSoundPictures(result);
    expect(result.figure.describe(result.data, result.state)).toContain('Choose positions and a task.');
    expect(result.figure.opens?.(result.data, result.state, { i: 0, j: 0 })).toBeUndefined();
  }
});

/** The first view, or the view after a press of its button, from the recorded runs. */
async function opened(pressed = false) {
  const { figure, compute } = schemesTasks;
  const { state: first } = readState(figure.controls, []);
  const state = pressed ? { ...first, ...figure.buttons?.(first)[0]?.sets } : first;
  return { figure, state, data: await compute({ ...library(), recorded }, state, alone()) };
}

test('its first view is the whole table: nine rows by four tasks, over five seeds', async () => {
  const result = await opened();
  expectSoundPictures(result);
  const { figure, data, state } = result;
  for (const width of [350, 1048]) {
    const [region] = figure.scene(data, state, width).regions;
    expect(region).toMatchObject({ rows: 9, columns: 4 });
    expect((region?.width ?? 0) / 4).toBeGreaterThan(44);
  }
  expect(figure.table(data, state).rows).toHaveLength(180);
  const texts = figure
    .scene(data, state, 1048)
    .marks.flatMap((mark) => (mark.mark === 'text' ? mark.text : []));
  for (const label of ['token', 'position'].flatMap((kind) => [
    `token asks ${kind}:`,
    `position asks ${kind}:`,
  ]))
    expect(texts).toContain(label);
});

test('its models are those of the first screen, seed for seed, and a click on one leads there', async () => {
  const { figure, state, data } = await opened();
  let compared = 0;
  for (const [i, row] of data.cells.entries()) {
    for (const [j, { row: name, task, runs }] of row.entries()) {
      const screen = (await recorded(`${task}Separate`)) as Data;
      const model = screen.models[name as keyof typeof screen.models];
      const shown = figure.opens?.(data, state, { i, j });
      expect(shown?.figure).toBe(model && addOrConcatenate.figure);
      if (!model) continue;
      expect(shown?.state).toMatchObject({ task, separate: 'yes' });
      const texts = writtenState(addOrConcatenate.figure.controls, shown?.state ?? {});
      expect(readState(addOrConcatenate.figure.controls, texts)).toEqual({
        state: shown?.state,
        refused: [],
      });
      expect(runs.map((run) => run && Math.round(accuracyAt(run, 2000) * screen.questions))).toEqual(
        model.right.map((of) => of.at(-1)),
      );
      expect(runs.map((run) => run?.numbers)).toEqual(Array(5).fill(model.parameters));
      compared += 1;
    }
  }
  expect(compared).toBe(16);
});

test('numbers to learn are those of the tables and weights; tables that stay as drawn are not counted', async () => {
  const settings = {
    schemes: 'add.add-sinusoid.tupe',
    tasks: 'lookup.roll',
    steps: 50,
    seeds: 1,
    norm: 'with',
  };
  const { data } = await run(schemesTasks, settings);
  const [n, d] = [10, 16];
  // Token rows, weights of attention, two gains, and answers.
  const without = (tokens: number, answers: number) => tokens * d + 4 * d * d + 2 * d + answers * d;
  const [lookup, roll] = [without(n, n), without(4 * n, 4)];
  const separate = 2 * d * d;
  expect(
    data.cells.map((row: { runs: { numbers: number }[] }[]) => row.map(({ runs }) => runs[0]?.numbers)),
  ).toEqual([
    [lookup + n * d, roll + n * d],
    [lookup + n * d + separate, roll + n * d + separate],
    [lookup, roll],
  ]);
});

test('the caption says what adding and concatenating learn, and what separate scores did not, within which steps', async () => {
  const { figure, data, state } = await opened();
  const lost = data.cells.flatMap((row) =>
    row.filter(({ accuracy }) => (accuracy?.mean ?? 0) < 0.99).map((cell) => `${cell.row} ${cell.task}`),
  );
  expect(lost).toEqual([
    ...['concat-wide-without-cross-terms', 'add-without-cross-terms', 'tupe'].flatMap((row) => [
      `${row} lookup`,
      `${row} roll`,
    ]),
    ...['badge', 'lookup', 'roll', 'prev'].map((task) => `uniform-attention ${task}`),
  ]);
  const sentence = figure.describe(data, state);
  expect(captionOf(sentence)[0]).toBe(
    'In one layer without LayerNorm, adding and concatenating both learn all four tasks.',
  );
  expect(sentence).toContain(
    'With 10 tokens, models with separate scores for token and position did not learn lookup and roll within 16,000 steps. ',
  );
  /** The data with another accuracy in these rows. */
  const changed = (rows: string[], mean: number) => ({
    cells: data.cells.map((row) =>
      row.map((cell) =>
        rows.includes(cell.row) && cell.accuracy ? { ...cell, accuracy: { ...cell.accuracy, mean } } : cell,
      ),
    ),
    faults: [],
  });
  expect(figure.describe(changed(['concat-half'], 0.98), state)).toMatch(
    /^In one layer without LayerNorm, at least 99/,
  );
  expect(
    figure.describe(
      changed(['concat-wide-without-cross-terms', 'add-without-cross-terms', 'tupe'], 1),
      state,
    ),
  ).toContain('So do models with separate scores for token and position.');
  expect(figure.describe(changed(['tupe'], 1), state)).toContain(
    'these were not learned within 16,000 steps: lookup and roll by concatenated 16 + 16, block-diagonal and added without cross terms. ',
  );
  // A view of fewer steps of these runs names its own step.
  const early = await run(schemesTasks, { steps: 400 });
  expect(early.figure.describe(early.data, early.state)).toContain('within 400 steps');
  const some = data.cells.map((row) =>
    row.map((cell) => ({ ...cell, runs: [undefined, ...cell.runs.slice(1)] })),
  );
  expect(figure.describe({ cells: some, faults: [] }, state)).toMatch(/^\d+ of \d+ runs still to come, /);
});

test('other ways in are a press away, trained beforehand, and a press leads back', async () => {
  const result = await opened(true);
  expectSoundPictures(result);
  const { figure, data, state } = result;
  const rows = data.cells.map((row) => row[0]?.row);
  expect(rows).toEqual(['add', 'add-to-queries-keys', 'project', 'multiply', 'uniform-attention']);
  expect(state.tasks).toEqual(['badge', 'lookup', 'roll', 'prev', 'where']);
  const [back] = figure.buttons?.(state) ?? [];
  expect({ ...state, ...back?.sets }).toEqual((await opened()).state);
  // A press sets nothing that the sentence does not say.
  expect(figure.describe(data, state)).toMatch(/^In one layer with LayerNorm, .* where by /);
  expect(back?.sets).not.toHaveProperty('size');
  // The numbers for lookup: those of adding, and how many each way has besides.
  const numbers = data.cells.map((row) => row[1]?.runs.map((run) => run?.numbers));
  const more = [0, 0, 512, 0, 0];
  expect(numbers).toEqual(more.map((weights) => Array(5).fill(1536 + weights)));
  const texts = figure
    .scene(data, state, 1048)
    .marks.flatMap((mark) => (mark.mark === 'text' ? mark.text : []));
  expect(texts).toContain('Projected back: W[e; p] = Ae + Bp');
  // No cell there opens a run that the other figure does not have.
  expect(figure.opens?.(data, state, { i: 1, j: 0 })).toBeUndefined();
  expect(figure.opens?.(data, state, { i: 0, j: 4 })).toBeUndefined();
});

test('what claims and the text lead to is recorded, so that it opens finished', async () => {
  const pages = ['verdicts', 'beats'].map((name) =>
    readFileSync(new URL(`../../web/page/${name}.json`, import.meta.url), 'utf8'),
  );
  const places: { settings: Record<string, string> }[] = [];
  for (const text of pages)
    JSON.parse(text, (_, value) => {
      if (value?.figure === 'schemes-tasks') places.push(value);
      return value;
    });
  expect(places.length).toBeGreaterThan(8);
  const { small, memoize } = library({});
  const untrained = {
    small,
    memoize,
    recorded,
    superpose: () => Promise.reject(new Error('This would be trained.')),
  };
  const job = { signal: new AbortController().signal, progress() {} };
  for (const { settings } of places) {
    const { state } = readState(
      schemesTasks.figure.controls,
      Object.entries(settings).map(([name, value]) => [name, String(value)]),
    );
    const { cells } = await schemesTasks.compute(untrained as never, state, job);
    expect(cells.length * (cells[0]?.length ?? 0)).toBeGreaterThan(0);
  }
});
