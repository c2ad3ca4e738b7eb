// The smallest widths at which models learn, against the library's trainers stepped by hand.
import { load } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import * as narrow from '../../web/figures/narrow.ts';
import { aboutPercent, percent } from '../../web/plot/format.ts';
import { expectSoundPictures, run } from './support.ts';
import { watched } from './training.ts';

const meanOf = (
  { data }: { data: { points: { accuracy: { mean: number } }[][] } },
  line: number,
  width: number,
) => data.points[line]?.[width]?.accuracy.mean as number;

test('each point is the mean of trainers stepped by hand', async () => {
  const result = await run(narrow, { task: 'prev', steps: 50, seeds: 2, seed: 4294967295, sigma: 0.2 });
  expectSoundPictures(result);
  const { data, figure, state } = result;
  const superpose = await load();
  const kinds = [
    { scheme: 'add' },
    { scheme: 'concat' },
    { scheme: 'add', fixedTokens: true, fixedPositions: true },
    { scheme: 'concat', fixedTokens: true, fixedPositions: true },
    { scheme: 'add', zeroScores: true },
  ] as const;
  // The numbers at d = 12, which the sentence and the first readout give.
  for (const [line, kind] of kinds.entries()) {
    const right = [4294967295, 0].map((seed) => {
      const trainer = superpose.trainer({
        ...kind,
        task: 'prev',
        d_model: 12,
        sigma: 0.2,
        steps: 2 ** 22,
        seed,
      });
      trainer.step(50);
      const accuracy = trainer.evaluate().accuracy;
      trainer.delete();
      return accuracy;
    });
    const mean = ((right[0] as number) + (right[1] as number)) / 2;
    expect(meanOf(result, line, 1)).toBeCloseTo(mean, 12);
    const sentence = figure
      .readout(data, state, { i: 0, j: 1 })
      .map((piece) => (typeof piece === 'string' ? piece : piece.text));
    expect(sentence.join('')).toContain(`d = 12: `);
    expect(sentence.join('')).toContain(percent(mean));
  }
  const needs = [0, 1, 2, 3].map((line) => {
    const place = [0, 1, 2, 3].findIndex((width) => meanOf(result, line, width) >= 0.99);
    return place < 0 ? 'more than 24' : String([8, 12, 16, 24][place]);
  });
  expect(figure.describe(data, state)).toContain(
    `${needs[0] === needs[1] ? `Learned tables did with ${needs[0]} dimensions, added or concatenated.` : `Learned tables did with ${needs[0]} dimensions added, ${needs[1]} concatenated.`} To get prev 99\u202f% right within 50 steps, frozen tables needed ${needs[2]} added; concatenated, ${needs[3]}`,
  );
  const { rows } = figure.table(data, state);
  expect(rows).toHaveLength(5 * 4 * 2);
  expect(new Set(rows.map(([, , seed]) => seed))).toEqual(new Set([4294967295, 0]));
});

test('in its first view, of recorded runs, learned tables do at d = 8, frozen ones not at 16, and at 24 both do', async () => {
  const result = await run(narrow);
  for (const line of [0, 1]) expect(meanOf(result, line, 0)).toBeGreaterThan(0.99);
  for (const line of [2, 3]) {
    expect(meanOf(result, line, 2)).toBeLessThan(0.99);
    expect(meanOf(result, line, 3)).toBeGreaterThan(0.99);
  }
  // The runs that did not learn the task had stood still by then.
  expect(result.figure.describe(result.data, result.state)).toContain(
    'within 2,000 steps, frozen tables needed 24 added; concatenated, 24.',
  );
  // The grid of widths is so coarse that it hides that concatenating was nearer at every width that was too
  // narrow.
  const parts = [0, 1, 2].map((width) => {
    const [added, beside] = [2, 3].map((line) => meanOf(result, line, width)) as [number, number];
    expect(beside).toBeGreaterThan(added + 0.05);
    return `${aboutPercent(added)} and ${aboutPercent(beside)} at ${[8, 12, 16][width]}`;
  });
  expect(result.figure.describe(result.data, result.state)).toContain(
    `Frozen, added and concatenated, they got ${parts[0]}, ${parts[1]} and ${parts[2]}.`,
  );
});

test('watched, it fills in width by width', async () => {
  const { frames, job } = watched<unknown>({});
  const { figure, state } = await run(narrow, { steps: 50, seed: 9, seeds: 1 }, job);
  const afterFive = frames[5];
  const saidAt = (j: number) =>
    figure
      .readout(afterFive, state, { i: 0, j })
      .map((piece) => (typeof piece === 'string' ? piece : piece.text))
      .join('');
  expect(saidAt(0)).not.toContain('not trained yet');
  expect(saidAt(1).match(/not trained yet/g)).toHaveLength(5);
  expect(figure.describe(afterFive, state)).toMatch(/^15 of 20 runs still to come/);
});
