// Figure "Added or concatenated?": small models learn one task side by side, with positions added,
// concatenated and, if the reader wants, concatenated with separate scores. It opens with recorded runs.
import { aboutPercent, listed } from '../plot/format.js';
import { latest } from '../plot/plainCopy.js';
import type { Cursor } from '../plot/scene.js';
import { arcsOf, picture, type Row, rowsOf } from './addOrConcatenatePicture.js';
import {
  controls,
  type Data,
  drawn,
  firstQuestion,
  headsFrom,
  isAnswerRight,
  lastStep,
  lookAt,
  looks,
  modelOf,
  namesOf,
  rightAt,
  type ShownName,
  type State,
  seeds,
  shortNameOf,
  shownNames,
  shownOf,
  stepAt,
  stepsOf,
  taskOf,
  titles,
  widths,
} from './addOrConcatenateRuns.js';
import type { Figure, ReadoutPiece } from './figure.js';
import { aim, divergedRemark, seedAfter } from './runs/tasks.js';

export { compute } from './addOrConcatenateRuns.js';

const words = (count: number) => count.toLocaleString('en');
/** The caption's first sentence; undefined unless adding and concatenating both learn the task. */
function headOf(data: Data, state: State, [added, concatenated, separate]: boolean[]): string | undefined {
  if (!added || !concatenated) return undefined;
  if (separate) return 'All three learn it, with separate scores too.';
  if (separate === undefined)
    return state.form === 'concat-wide'
      ? 'Both learn it; concatenated is twice as wide.'
      : 'At the same width, both learn it.';
  const end = data.separate?.end.step ?? lastStep(data);
  return stepAt(state) < lastStep(data)
    ? undefined
    : `In one layer without LayerNorm, separate scores did not learn it in ${words(end)} steps.`;
}

/** How the recorded models with separate scores end without LayerNorm, and what they reach with it. */
function separateSentence({ separate }: Data, state: State): string {
  if (state.separate === 'no' || !separate) return '';
  const { end, norm } = separate;
  const withNorm = norm.find(({ right }) => right >= aim) ?? latest(norm);
  return ` Concatenated is as wide as separate scores here. The same models with separate scores have ${aboutPercent(end.right)} after ${words(end.step)} steps. With LayerNorm they have ${aboutPercent(withNorm.right)} after ${words(withNorm.step)}.`;
}

export const figure: Figure<typeof controls, Data> = {
  name: 'add-or-concatenate',
  title: 'Added or concatenated?',
  controls,
  source: () => 'seeded',
  below: true,
  live: { looks: () => ['form', 'step'], button: 'Train it here' },
  plays: {
    setting: 'step',
    button: 'Replay the training',
    seconds: 5,
    at(part) {
      const along = part * (looks.length - 1);
      const before = Math.min(Math.floor(along), looks.length - 2);
      const [from, to] = [looks[before] as number, looks[before + 1] as number];
      return from + (along - before) * (to - from);
    },
  },

  /** While models train, each value beyond the latest step is labelled with that step and “so far”. */
  named(data, state) {
    const last = lastStep(data);
    const real = (step: number) => stepAt({ ...state, step });
    return { step: looks.map((at) => (real(at) > last ? `${last} so far` : real(at).toLocaleString('en'))) };
  },

  scene: picture,

  /** Beside separate scores, concatenation always has their width, so there is no form to choose. */
  unused: ({ separate }) => (separate === 'yes' ? ['form'] : []),

  describe(data, state) {
    const last = lastStep(data);
    if (last === 0) return `Not trained yet: it takes ${words(stepsOf(state))} steps, once you ask for it.`;
    const step = Math.max(0, Math.min(stepAt(state), last));
    const shown = shownNames(state);
    const right = shown.map((name) => `${aboutPercent(rightAt(data, name, step))} ${shortNameOf(name)}`);
    const learn = shown.map((name) => rightAt(data, name, step) >= aim);
    return `${headOf(data, state, learn) ?? `After ${words(step)} steps, right: ${listed(right)}.`} Share right after ${words(step)} steps of ${state.task}${
      state.separate === 'yes' ? ' without LayerNorm' : ' with LayerNorm'
    }, mean of ${seeds} seeds: ${right.join(', ')}; ${aboutPercent(rightAt(data, 'uniform-attention', step))} with equal attention.${separateSentence(data, state)}`;
  },

  cells: ({ tokens }, state) => ({ rows: shownNames(state).length, columns: tokens.length }),
  follows: ['task', 'separate', 'n', 'seed'],
  firstCursor: ({ targets }): Cursor => ({ i: 0, j: firstQuestion(targets) }),

  readout(data, state, { i, j }) {
    const name = shownNames(state)[i] as ShownName;
    const task = taskOf(state);
    const { tokens, targets } = data;
    const look = lookAt(data, state);
    const token = task.token(tokens[j] as number, tokens.length);
    const pieces: ReadoutPiece[] = [{ text: titles[name], strong: true }, `: “${token}” at position ${j} `];
    const places = tokens.flatMap((_, to) => {
      const much = headsFrom(data, name, look, j, to).map(
        ({ head, percents }) => `${percents}\u202f% of head ${head + 1}`,
      );
      return much.length > 0 ? [`position ${to} (${listed(much)})`] : [];
    });
    pieces.push(
      places.length > 0 ? `looks at ${listed(places)}` : `gives no token ${drawn}\u202f% of a head`,
    );
    const target = targets[j] as number;
    if (target < 0) return [...pieces, '; it asks nothing.'];
    const answer = task.answer(shownOf(data, name).answers[look]?.[j] as number);
    const right = isAnswerRight(data, name, look, j);
    const says = right ? ', which is right' : `; right would be ${task.answer(target)}`;
    return [...pieces, ', and answers ', { text: answer, strong: true }, `${says}.`];
  },

  focus(data, state, { i, j }, width) {
    const name = shownNames(state)[i] as ShownName;
    const row = rowsOf(data, state, width)[i] as Row;
    const d = arcsOf(data, name, lookAt(data, state), row, (from) => from === j).looking;
    return d ? [{ mark: 'path', d, stroke: 'ink', wide: 3 }] : [];
  },

  remark: ({ diverged }) => (diverged ? divergedRemark : ''),

  table: (data, state) => ({
    columns: ['positions', 'numbers to learn', 'seed', 'step', 'right answers'],
    rows: namesOf(state).flatMap((name) => {
      const { right, parameters } = modelOf(data, name);
      return right.flatMap((of, k) =>
        of.map((count, point) => [
          name === 'uniform-attention' ? 'all scores 0' : `${titles[name].toLowerCase()}, ${widths[name]}`,
          parameters,
          seedAfter(state.seed, k),
          point * data.stride,
          count / data.questions,
        ]),
      );
    }),
  }),
};
