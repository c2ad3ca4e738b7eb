// The figure's four models, against the library's trainers stepped by hand.
import { load } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import * as fourTasks from '../../web/figures/fourTasks.ts';
import { aboutPercent } from '../../web/plot/format.ts';
import { column, expectSoundPictures, loaded, run } from './support.ts';
import { alone, countedTrainers } from './training.ts';

const tasks = ['badge', 'lookup', 'roll', 'prev'] as const;
/** All terms but the cross terms. */
const terms = 'token-token.position-position';
/** Settings of other models than those of the first view. */
const others = { seed: 5, sigma: 0.2 };
/** Each set of models is trained once, and also looked at without the cross terms. */
const [first, firstCut] = [await run(fourTasks), await run(fourTasks, { terms })];
const [whole, other] = [await run(fourTasks, others), await run(fourTasks, { ...others, terms })];
const lastOf = <T>(list: T[]): T => list[list.length - 1] as T;

test('its curves and cuts are those of trainers stepped by hand', async () => {
  expectSoundPictures(other);
  const { data, figure, state } = other;
  const superpose = await load();
  const finding = figure.describe(data, state);
  for (const [place, task] of tasks.entries()) {
    const panel = data.panels[place];
    const trainer = superpose.trainer({ task, seed: 5, sigma: 0.2, steps: 2 ** 22 });
    trainer.step(80);
    expect(panel.accuracy[10]).toBe(trainer.evaluate().accuracy);
    expect(panel.shares[10]).toEqual([...(trainer.shares().mean ?? [])]);
    trainer.step(120);
    expect(lastOf(panel.accuracy)).toBe(trainer.evaluate().accuracy);
    expect(panel.canonical).toEqual([...(trainer.shares({ gauge: 'canonical' }).mean ?? [])]);
    trainer.cutTerms(['token-position', 'position-token']);
    expect(panel.cut).toBe(trainer.evaluate().accuracy);
    trainer.delete();
    for (const value of [lastOf(panel.accuracy), panel.cut])
      expect(finding).toContain(`${task} ${aboutPercent(value)}`);
  }
});

test('its floors are those of trainers stepped by hand, and are shown for their seed and σ alone', async () => {
  const superpose = await load();
  const { data, figure, state } = first;
  const finding = figure.describe(data, state);
  expect(finding).toContain('With all scores 0: ');
  expect(figure.remark?.(data, state)).toBe('');
  for (const [place, task] of tasks.entries()) {
    const trainer = superpose.trainer({ task, seed: 1, zeroScores: true, steps: 2 ** 22 });
    trainer.step(200);
    // The floor is recorded with four digits.
    const { floor } = data.panels[place];
    expect(floor).toBe(Number(trainer.evaluate().accuracy.toPrecision(4)));
    trainer.delete();
    expect(finding).toContain(`${task} ${aboutPercent(floor)}`);
  }
  // While a run is under way, the floors are those of an earlier run.
  expect(figure.describe({ ...data, steps: 50 }, state)).toContain('With all scores 0, after 200 steps: ');

  for (const settings of [{ seed: 5 }, { sigma: 0.2 }]) {
    const another = await run(fourTasks, settings);
    expect(another.data.panels.map(({ floor }: { floor: unknown }) => floor)).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(another.figure.describe(another.data, another.state)).not.toContain('With all scores 0');
    expect(new Set(column(another, 'right with all scores 0'))).toEqual(new Set(['']));
    expect(another.figure.remark?.(another.data, another.state)).toBe(
      'What is right with all scores 0 was recorded for seed 1 and σ = 0.1 only.',
    );
  }
});

test('in its first view each task has its one term, and all is right; without both cross terms two tasks are at their floors after 200 steps', () => {
  expectSoundPictures(first);
  const { data } = firstCut;
  for (const [place] of tasks.entries()) {
    const { shares, accuracy, cut, floor, example } = data.panels[place];
    const now = lastOf(shares as number[][]);
    expect(now.indexOf(Math.max(...now))).toBe(place);
    expect(lastOf(accuracy)).toBeGreaterThan(0.98);
    if (place === 1 || place === 2) expect(cut).toBeLessThan(floor + 0.03);
    else expect(cut).toBeGreaterThan(0.98);
    const { example: uncut, cut: none } = first.data.panels[place];
    expect(none).toBeNull();
    const asked = uncut.targets
      .map((target: number, at: number) => [target, at])
      .filter(([target]: number[]) => target !== -1);
    const right = (answers: number[]) =>
      asked.filter(([target, at]: number[]) => answers[at as number] === target).length / asked.length;
    expect(right(lastOf(uncut.moments as Moment[]).answers)).toBeGreaterThan(0.9);
    const left = right(lastOf(example.moments as Moment[]).answers);
    if (place === 1 || place === 2) expect(left).toBeLessThan(0.8);
    else expect(left).toBeGreaterThan(0.9);
  }
});

interface Moment {
  answers: number[];
  attention: Float32Array;
}

test('answers and attention at each point are those of a model trained up to there, with and without cuts', async () => {
  const superpose = await load();
  for (const cuts of [[], ['token-position', 'position-token'] as const]) {
    const { data } = cuts.length > 0 ? other : whole;
    const { tokens, moments } = data.panels[1].example;
    expect(moments).toHaveLength(26);
    const trainer = superpose.trainer({ task: 'lookup', seed: 5, sigma: 0.2, steps: 2 ** 22 });
    trainer.step(40);
    trainer.cutTerms([...cuts]);
    const { attention, answers } = moments[5] as Moment;
    const expected = trainer.attention({ n: 16, tokens }).data;
    attention.forEach((weight, at) => {
      expect(weight).toBeCloseTo(expected[at] as number, 6);
    });
    const { data: logits, columns } = trainer.logits({ n: 16, tokens });
    answers.forEach((answer, at) => {
      const row = logits.subarray(at * columns, (at + 1) * columns);
      expect(row[answer]).toBe(Math.max(...row));
    });
    trainer.delete();
  }
});

test('the picture shows the step that is pointed at, and says which it is', async () => {
  const { figure, data, state } = other;
  const said = (j: number) =>
    figure
      .scene(data, state, 1048, undefined, { i: 0, j })
      .marks.flatMap((mark) => (mark.mark === 'text' && mark.text.includes(', step ') ? [mark.text] : []));
  const all = (step: number) =>
    ['badge', 'lookup', 'roll', 'prev'].map((task) => `${task}, step ${step}, cut`);
  expect(said(5)).toEqual(all(40));
  expect(said(25)).toEqual(all(200));
  const maps = (j: number) =>
    figure
      .scene(data, state, 1048, undefined, { i: 0, j })
      .marks.flatMap((mark) => (mark.mark === 'raster' ? [[...Array.from(mark.values)]] : []));
  expect(maps(5)).toHaveLength(8);
  expect(maps(5)[2]).toEqual([...data.panels[1].example.moments[5].attention.slice(0, 256)]);
  expect(maps(5)).not.toEqual(maps(25));
});

test('one button removes the cross terms, and puts them back', async () => {
  const { figure, state } = first;
  const [remove] = figure.buttons?.(state) ?? [];
  expect(remove?.sets).toEqual({ terms: ['token-token', 'position-position'] });
  const [back] = figure.buttons?.({ ...state, ...remove?.sets } as never) ?? [];
  expect(back?.label).toContain('back');
  expect(back?.sets).toEqual({ terms: state.terms });
});

test('settings that only look at the models train none, others do, and at the end none is left', async () => {
  const { counted, open, made, steps } = countedTrainers(loaded);
  // The models were last looked at without the cross terms; now they are looked at with all terms again.
  const { data, state } = await run(fourTasks, others);
  // Another example needs no new model, and is shown by a figure that opens with it.
  const another = await fourTasks.compute(counted, { ...state, example: 4 } as never, alone());
  expect(made()).toBe(0);
  for (const [place, { example }] of another.panels.entries()) {
    expect(example.tokens).toHaveLength(16);
    expect(example.tokens).not.toEqual(data.panels[place].example.tokens);
  }
  await fourTasks.compute(counted, { ...state, terms: ['token-token'], example: 4 } as never, alone());
  expect(made()).toBe(4);
  expect(steps()).toBe(0);
  const during = { ...state, when: 'during', terms: terms.split('.') };
  const { panels } = await fourTasks.compute(counted, during as never, alone());
  expect(steps()).toBe(4 * 25);
  expect(open.size).toBe(0);
  // Models that train without the cross terms have no share of them.
  for (const { shares, cut, canonical } of panels) {
    expect([cut, canonical]).toEqual([null, null]);
    for (const of of shares) expect([of?.[1], of?.[2]]).toEqual([0, 0]);
  }
  expect(lastOf(panels[1]?.accuracy ?? [])).toBeLessThan(0.5);
  expect(lastOf(panels[0]?.accuracy ?? [])).toBeGreaterThan(0.98);
});
