// One run with a trainer that keeps count: when accuracy is measured, where the run pauses, what it reports,
// that it can go on, when runs stand still, and that the trainer is freed however it ends.
import { load, type Superpose, type TaskTrainerOptions } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import {
  checkpointsTo,
  accuracyAt as kept,
  lengths,
  standsStill,
  startedRun,
  trainingRun,
} from '../../web/figures/runs/trainingRun.ts';

interface Made {
  /** Accuracy after so many steps. */
  accuracyAt?: (steps: number) => number;
  divergesAt?: number;
}

function fakeLibrary({ accuracyAt = () => 0, divergesAt = Infinity }: Made) {
  const noted: { strides: number[]; deleted: number } = { strides: [], deleted: 0 };
  const trainer = {
    steps: 0,
    get diverged() {
      return this.steps >= divergesAt;
    },
    step(count: number) {
      if (!(count > 0)) throw new RangeError('count must be a whole number from 1 up.');
      noted.strides.push(count);
      this.steps += count;
    },
    evaluate() {
      return { accuracy: accuracyAt(this.steps) };
    },
    parameters: () => ({ W: { data: new Float32Array(1), rows: 1, columns: 1 } }),
    delete() {
      noted.deleted += 1;
    },
  };
  const superpose = { trainer: () => trainer } as unknown as Superpose;
  return { superpose, noted };
}

const optionsFor = (steps: number) => ({ options: { task: 'prev', seed: 1 } as TaskTrainerOptions, steps });

test('accuracy is looked at every few steps until the aim is met, and kept at steps that all runs have', async () => {
  const { superpose, noted } = fakeLibrary({ accuracyAt: (steps) => (steps >= 15 ? 0.99 : 0.98) });
  const run = await trainingRun(superpose, optionsFor(103));
  expect(noted.strides).toEqual([5, 5, 5, 35, 40, 10, 3]);
  expect(run).toMatchObject({ steps: 103, right: [0.99, 0.99, 0.99], stepsToAim: 15, diverged: false });
  expect(checkpointsTo(103)).toEqual([50, 100, 103]);
  expect(Object.keys(run.parameters)).toEqual(['W']);
  expect(noted.deleted).toBe(1);
});

test('the aim that is lost again was met; the first time counts', async () => {
  const { superpose } = fakeLibrary({ accuracyAt: (steps) => (steps === 15 ? 1 : 0.5) });
  expect(await trainingRun(superpose, optionsFor(30))).toMatchObject({ right: [0.5], stepsToAim: 15 });
});

test('a run that goes on is one run, and an aim that is never met is null', async () => {
  const accuracyAt = (steps: number) => steps / 20_000;
  const [once, twice] = [fakeLibrary({ accuracyAt }), fakeLibrary({ accuracyAt })];
  const complete = await trainingRun(once.superpose, optionsFor(4000));
  const parts = startedRun(twice.superpose, optionsFor(4000).options);
  await parts.trainTo(2000);
  expect(parts.result()).toMatchObject({ steps: 2000, stepsToAim: null });
  await parts.trainTo(4000);
  expect(parts.result()).toEqual(complete);
  expect(complete.right).toHaveLength(checkpointsTo(4000).length);
  for (const [at, right] of [
    [0, 50],
    [55, 50],
    [399, 200],
    [2000, 2000],
    [9000, 4000],
  ] as const)
    expect(accuracyAt(right)).toBe(kept(complete, at));
});

test('it rests after forty steps or more, and not at the ends', async () => {
  const { superpose, noted } = fakeLibrary({});
  const rests: number[] = [];
  await trainingRun(superpose, optionsFor(90), async () => {
    rests.push(noted.strides.reduce((sum, stride) => sum + stride, 0));
  });
  expect(rests).toEqual([40, 80]);
});

test('a run that diverges stops there and says so, and what it got right then counts for the rest', async () => {
  const { superpose, noted } = fakeLibrary({ divergesAt: 10, accuracyAt: (steps) => steps / 100 });
  const run = await trainingRun(superpose, optionsFor(100));
  expect(run).toMatchObject({ diverged: true, stepsToAim: null, right: [0.1, 0.1] });
  expect(noted).toMatchObject({ strides: [5, 5], deleted: 1 });
});

test('the trainer is freed when a rest is ended', async () => {
  const { superpose, noted } = fakeLibrary({});
  const ended = trainingRun(superpose, optionsFor(100), () => Promise.reject(new Error('cancelled')));
  await expect(ended).rejects.toThrow('cancelled');
  expect(noted.deleted).toBe(1);
});

test('runs stand still when their mean moves by less than a point over the last half', async () => {
  const superpose = await load();
  const of = (middle: number, end: number) =>
    ({
      steps: 2000,
      right: checkpointsTo(2000).map((at) => (at === 1000 ? middle : at > 1000 ? end : 0)),
    }) as never;
  expect(standsStill(superpose, [of(0.5, 0.512), of(0.5, 0.506)])).toBe(true);
  expect(standsStill(superpose, [of(0.5, 0.512), of(0.5, 0.51)])).toBe(false);
  expect(standsStill(superpose, [of(0.6, 0.5), of(0.5, 0.6)])).toBe(true);
  expect(lengths.every((length) => checkpointsTo(length).includes(length / 2))).toBe(true);
});
