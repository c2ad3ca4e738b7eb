// Figure "Four tasks, four questions": four small models, each trained on a task that one term of the scores
// solves. The reader watches each term's share of the scores, and how much is right when a term is cut.
import { pairTerms } from 'add-or-concatenate';
import { aboutPercent, listed, percent } from '../plot/format.js';
import { latest } from '../plot/plainCopy.js';
import type { Figure, ReadoutPiece } from './figure.js';
import { picture } from './fourTasksPicture.js';
import { controls, type Data, isOfRecordedModels, offOf, type Panel } from './fourTasksRuns.js';
import { aim, divergedRemark, fourTasks, points, type SmallTask, steps, stride } from './runs/tasks.js';
import { crossTerms } from './runs/ways.js';
import { termLabels } from './terms.js';

export { compute } from './fourTasksRuns.js';

const termPlace = ({ term }: SmallTask) => pairTerms.indexOf(term as (typeof pairTerms)[number]);

/** How many points the curves have so far. */
const pointsOf = ({ panels }: Data): number => panels[0]?.accuracy.length ?? 1;

export const figure: Figure<typeof controls, Data> = {
  name: 'four-tasks',
  title: 'Four tasks, four questions',
  controls,
  source: () => 'seeded',
  live: {
    looks: ({ when }) => ['example', ...(when === 'after' ? (['terms'] as const) : [])],
  },
  redraws: true,
  buttons: ({ terms }) => {
    const without = pairTerms.filter((term) => terms.includes(term) && !crossTerms.includes(term));
    const removed = crossTerms.every((term) => !terms.includes(term));
    return [
      removed
        ? { label: 'Put the cross terms back', sets: { terms: pairTerms } }
        : { label: 'Remove the cross terms', sets: { terms: without } },
    ];
  },

  scene(data, state, width, _, cursor) {
    const last = pointsOf(data) - 1;
    return picture(data, state, width, Math.min(cursor?.j ?? last, last));
  },

  describe(data, state) {
    const { panels } = data;
    const off = offOf(state).map((term) => termLabels[term]);
    const tasks = fourTasks;
    const each = (say: (panel: Panel, task: SmallTask) => string) =>
      panels
        .map((panel, place) => `${tasks[place]?.task} ${say(panel, tasks[place] as SmallTask)}`)
        .join(', ');
    const without = state.when === 'during' && off.length > 0 ? `, trained without ${listed(off)}` : '';
    const solved = tasks.flatMap(({ task }, place) => {
      const { cut, accuracy } = panels[place] as Panel;
      return (cut ?? latest(accuracy)) >= aim ? [task] : [];
    });
    const sentences = [
      `Solved: ${listed(solved) || 'none'}. After ${data.steps} steps with LayerNorm${without}, right: ${each(({ accuracy }) => aboutPercent(latest(accuracy)))}.`,
    ];
    const shares = panels.map((panel) => latest(panel.shares));
    if (shares.every((share) => share !== null)) {
      const most = shares.filter(
        (share, place) => share[termPlace(tasks[place] as SmallTask)] === Math.max(...share),
      ).length;
      sentences.push(
        `In ${most} of ${tasks.length}, the term that the task asks for makes the scores vary most.`,
      );
    }
    if (panels.every(({ cut }) => cut !== null)) {
      sentences.push(`With ${listed(off)} cut: ${each(({ cut }) => aboutPercent(cut as number))}.`);
    }
    if (panels.every(({ floor }) => floor !== null)) {
      // The floor was measured at the end of a recorded run, which may be later than the step that is shown.
      const atEnd = data.steps < steps ? `, after ${steps} steps` : '';
      sentences.push(`With all scores 0${atEnd}: ${each(({ floor }) => aboutPercent(floor as number))}.`);
    }
    return sentences.join(' ');
  },

  cells: () => ({ rows: 1, columns: points }),
  firstCursor: () => ({ i: 0, j: points - 1 }),

  readout(data, _state, { j }) {
    const tasks = fourTasks;
    const last = pointsOf(data) - 1;
    const place = Math.min(j, last);
    const end = place === last;
    return [
      { text: `Step ${place * stride}`, strong: true },
      ': ',
      ...data.panels.flatMap((panel, k): ReadoutPiece[] => {
        const task = tasks[k] as SmallTask;
        const share = panel.shares[place]?.[termPlace(task)];
        const canonical = panel.canonical?.[termPlace(task)];
        const beside = end && canonical !== undefined ? ` (canonical ${percent(canonical)})` : '';
        return [
          `${task.task} ${percent(panel.accuracy[place] as number)} right`,
          ...(share === undefined
            ? []
            : [', ', { text: `${termLabels[task.term]} ${percent(share)}`, term: task.term }, beside]),
          k === data.panels.length - 1 ? '.' : '; ',
        ];
      }),
    ];
  },

  remark({ panels }, state) {
    const reason = panels.find((panel) => panel.reason)?.reason ?? '';
    const diverged = panels.some((panel) => panel.diverged) ? divergedRemark : '';
    const { seed, sigma } = controls;
    const floors = isOfRecordedModels(state)
      ? ''
      : `What is right with all scores 0 was recorded for seed ${seed.initial} and σ = ${sigma.initial} only.`;
    return [reason, diverged, floors].filter(Boolean).join(' ');
  },

  table: (data) => ({
    columns: [
      'task',
      'step',
      'right answers',
      ...pairTerms.map((term) => `share of ${termLabels[term]}`),
      ...pairTerms.map((term) => `canonical share of ${termLabels[term]}`),
      'right with terms cut',
      'right with all scores 0',
    ],
    rows: data.panels.flatMap((panel, k) =>
      panel.accuracy.map((accuracy, place) => {
        const end = place === panel.accuracy.length - 1;
        const four = (shares: number[] | null | undefined) => shares ?? pairTerms.map(() => '');
        return [
          fourTasks[k]?.task ?? '',
          place * stride,
          accuracy,
          ...four(panel.shares[place]),
          ...four(end ? panel.canonical : null),
          (end ? panel.cut : null) ?? '',
          (place * stride === steps ? panel.floor : null) ?? '',
        ];
      }),
    ),
  }),
};
