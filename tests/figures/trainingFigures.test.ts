// What holds for every figure that trains models: it stops midway, frees its trainers, and ends with the
// same numbers whether it is watched or not.
import { describe, expect, test } from 'vitest';
import * as addOrConcatenate from '../../web/figures/addOrConcatenate.ts';
import * as fourTasks from '../../web/figures/fourTasks.ts';
import * as keepApart from '../../web/figures/keepApart.ts';
import * as narrow from '../../web/figures/narrow.ts';
import * as schemesTasks from '../../web/figures/schemesTasks.ts';
import { library } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';
import { expectSoundPictures, expectToStopMidway, run } from './support.ts';
import { alone, countedTrainers, watched } from './training.ts';

interface TrainingFigure {
  // biome-ignore lint/suspicious/noExplicitAny: a figure of any controls and data
  figure: any;
  /** A run that nothing has recorded, as settings of a link. */
  settings: Record<string, string | number>;
  /** How many frames a reader who never looks aside sees. */
  frames: number;
  /**
   * Whether its models are trained side by side; only these draw another frame when the reader looks aside.
   */
  together: boolean;
  /** Settings that the reader changes while it runs, and what each frame then says. */
  viewed?: { settings: object; says: string };
}

const figures: Record<string, TrainingFigure> = {
  'add-or-concatenate': {
    figure: addOrConcatenate,
    settings: { task: 'prev', n: 6 },
    frames: 41,
    together: true,
  },
  'four-tasks': {
    figure: fourTasks,
    settings: { sigma: 0.2 },
    frames: 26,
    together: true,
    viewed: { settings: { terms: ['token-token'] }, says: ' cut: ' },
  },
  'keep-apart': { figure: keepApart, settings: { d_model: 12 }, frames: 26, together: true },
  // Five models at four widths.
  narrow: { figure: narrow, settings: { steps: 50, seeds: 1 }, frames: 21, together: false },
  'schemes-tasks': {
    figure: schemesTasks,
    settings: { norm: 'with', steps: 200, seeds: 1, schemes: 'none.tupe.rope.t5', tasks: 'badge' },
    frames: 5,
    together: false,
  },
};

describe.each(Object.entries(figures))(
  '%s',
  (_, { figure, settings, frames: expected, together, viewed }) => {
    const { figure: drawn } = figure as typeof keepApart;
    const filled = (data: unknown, state: object) =>
      drawn
        .table(data as never, state as never)
        .rows.flat()
        .filter((cell) => cell !== '').length;

    test('it stops midway, and no trainer stays in memory', async () => {
      const { counted, open, steps } = countedTrainers();
      await expectToStopMidway(figure, settings, counted);
      expect(steps()).toBeGreaterThan(0);
      expect(open.size).toBe(0);
    });

    test('a run ends the same whether it is watched or not, and fills in frame by frame', async () => {
      // Each run has a library of its own, so that neither knows what the other has trained.
      const unwatched = await run(figure, { seed: 12, ...settings }, alone(), { ...library(), recorded });
      const state = { ...unwatched.state, ...viewed?.settings };
      const { frames, job } = watched<never>(state, ['go', 'look', 'go', 'go', 'look']);
      const seen = await run(figure, { seed: 12, ...settings }, job, { ...library(), recorded });
      expect(seen.figure.table(seen.data, seen.state)).toEqual(
        unwatched.figure.table(unwatched.data, unwatched.state),
      );
      // The watched run's data also say that it was trained here; all else is equal.
      expect(seen.data).toMatchObject(unwatched.data);
      expect(frames).toHaveLength(expected + (together ? 2 : 0));
      const parts = frames.map((frame) => filled(frame, state));
      expect(parts).toEqual([...parts].sort((first, other) => first - other));
      expect(parts.at(-1)).toBeGreaterThanOrEqual(filled(unwatched.data, state));
      // The reader looked aside after the first turn, and again after two more.
      const still = parts.flatMap((part, at) => (at > 0 && part === parts[at - 1] ? [at] : []));
      expect(still).toEqual(together ? [2, 5] : []);
      for (const frame of frames) expect(drawn.describe(frame, state as never)).toContain(viewed?.says ?? '');
      expectSoundPictures({ figure: drawn, data: frames[3], state });
    });
  },
);
