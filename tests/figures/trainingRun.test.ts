// One run from beginning to end, over a trainer that keeps count: when accuracy is measured, where it pauses,
// what it reports at the end, and that the trainer is freed however it ends.
import type { Superpose, TaskTrainerOptions } from 'superpose';
import { expect, test } from 'vitest';
import { trainingRun } from '../../web/figures/trainingRun.ts';

interface Made {
  planned?: number;
  /** Accuracy after so many steps. */
  accuracyAt?: (steps: number) => number;
  divergesAt?: number;
}

function made({ planned = 100, accuracyAt = () => 0, divergesAt = Infinity }: Made) {
  const noted: { strides: number[]; deleted: number } = { strides: [], deleted: 0 };
  const trainer = {
    steps: 0,
    plannedSteps: planned,
    get diverged() {
      return this.steps >= divergesAt;
    },
    step(count: number) {
      if (!(count > 0)) throw new RangeError('count must be a whole number from 1 up.');
      noted.strides.push(count);
      this.steps += count;
    },
    accuracy() {
      return accuracyAt(this.steps);
    },
    parameters: () => ({ W: { data: new Float32Array(1), rows: 1, columns: 1 } }),
    delete() {
      noted.deleted += 1;
    },
  };
  const superpose = { trainer: () => trainer } as unknown as Superpose;
  return { superpose, noted };
}

const options = { task: 'prev', seed: 1 } as unknown as TaskTrainerOptions;

test('accuracy is looked at every few steps until the aim is met, and then no step is too many', async () => {
  const { superpose, noted } = made({ planned: 103, accuracyAt: (steps) => (steps >= 15 ? 0.99 : 0.98) });
  const run = await trainingRun(superpose, options);
  expect(noted.strides).toEqual([5, 5, 5, 40, 40, 8]);
  expect(run).toMatchObject({ accuracy: 0.99, stepsToAim: 15, diverged: false });
  expect(Object.keys(run.parameters)).toEqual(['W']);
  expect(noted).toMatchObject({ deleted: 1 });
});

test('the aim that is lost again was met; the first time counts', async () => {
  const { superpose } = made({ planned: 30, accuracyAt: (steps) => (steps === 14 ? 1 : 0.5) });
  const run = await trainingRun(superpose, options, { every: 7 });
  expect(run).toMatchObject({ accuracy: 0.5, stepsToAim: 14 });
});

test('an aim that is never met is null, and the last stride is as long as what is left', async () => {
  const { superpose, noted } = made({ planned: 12, accuracyAt: () => 0.989 });
  expect((await trainingRun(superpose, options)).stepsToAim).toBeNull();
  expect(noted.strides).toEqual([5, 5, 2]);
});

test('it rests after every forty steps, and not at the ends', async () => {
  const { superpose, noted } = made({ planned: 90 });
  const rests: number[] = [];
  await trainingRun(superpose, options, {}, async () => {
    rests.push(noted.strides.reduce((sum, stride) => sum + stride, 0));
  });
  expect(rests).toEqual([40, 80]);
});

test('a run that diverges stops there and says so', async () => {
  const { superpose, noted } = made({ planned: 100, divergesAt: 10 });
  expect(await trainingRun(superpose, options)).toMatchObject({ diverged: true, stepsToAim: null });
  expect(noted.strides).toEqual([5, 5]);
  expect(noted.deleted).toBe(1);
});

test('the trainer is freed when a rest is ended', async () => {
  const { superpose, noted } = made({ planned: 100 });
  const ended = trainingRun(superpose, options, {}, () => Promise.reject(new Error('cancelled')));
  await expect(ended).rejects.toThrow('cancelled');
  expect(noted.deleted).toBe(1);
});
