// Figure "Added or concatenated?": small models learn one task side by side, with positions added, concatenated,
// and concatenated but kept from meeting the tokens. It opens with runs recorded beforehand.
import { aboutPercent } from '../plot/format.js';
import type { Cursor } from '../plot/scene.js';
import { arcsOf, type Row } from './addOrConcatenateParts.js';
import { picture, rowsOf } from './addOrConcatenatePicture.js';
import {
  controls,
  headsFrom,
  isAnswerRight,
  lastStep,
  lookAt,
  openingSteps,
  rightAt,
  shownNames,
  shownOf,
  taskOf,
  titles,
  widths,
} from './addOrConcatenateRuns.js';
import type { Figure, ReadoutPiece } from './figure.js';
import { listed } from './lists.js';
import {
  type Data,
  d_model,
  drawn,
  firstAsking,
  looks,
  type ModelName,
  names,
  type ShownName,
  seeds,
  stride,
} from './smallModels.js';
import { aim, divergedRemark, seedAfter, steps } from './tasks.js';

/** The part of a replay in which the vectors are put together. */
const opening = 0.2;

export const figure: Figure<typeof controls, Data> = {
  name: 'add-or-concatenate',
  title: 'Added or concatenated?',
  controls,
  source: () => 'seeded',
  below: true,
  runs: { looks: () => ['form', 'step'], button: 'Train it here' },
  plays: {
    setting: 'step',
    button: 'Replay the training',
    seconds: 5,
    at(part) {
      if (part < opening) return (part / opening - 1) * openingSteps;
      const along = ((part - opening) / (1 - opening)) * (looks.length - 1);
      const before = Math.min(Math.floor(along), looks.length - 2);
      const [from, to] = [looks[before] as number, looks[before + 1] as number];
      return from + (along - before) * (to - from);
    },
  },

  /** While models train, the later steps are those to come. */
  named(data) {
    const last = lastStep(data);
    return last < steps ? { step: looks.map((at) => (at > last ? `${last} so far` : String(at))) } : {};
  },

  scene: picture,

  describe(data, state) {
    const step = Math.max(0, Math.min(state.step, lastStep(data)));
    const right = (name: ModelName) => aboutPercent(rightAt(data, name, step));
    const { form, task } = state;
    const wide = (name: ShownName) =>
      `${widths[name].split(' = ')[0]}, ${data.models[name].parameters.toLocaleString('en')} numbers`;
    const found = shownNames(state).map((name) => rightAt(data, name, step) >= aim);
    const head =
      !found[0] || !found[1]
        ? `After ${step} steps, right: ${right('add')} added, ${right(form)} concatenated, ${right('apart')} never meeting.`
        : found[2]
          ? 'All three learn it: here tokens and positions need not meet.'
          : 'Two of three learn it: in this task tokens and positions must meet.';
    const guessed = aboutPercent(rightAt(data, 'zero', lastStep(data)));
    return `${head} After ${step} steps of ${task}, mean share right over ${seeds} seeds: ${right('add')} added (${wide('add')}), ${right(form)} concatenated (${wide(form)}), ${right('apart')} never to meet, ${guessed} guessing.`;
  },

  cells: ({ tokens }) => ({ rows: 3, columns: tokens.length }),
  follows: ['task', 'n', 'seed'],
  firstCursor: ({ targets }): Cursor => ({ i: 0, j: firstAsking(targets) }),

  readout(data, state, { i, j }) {
    const name = shownNames(state)[i] as ShownName;
    const task = taskOf(state);
    const { tokens, targets } = data;
    const look = lookAt(data, state.step);
    const token = task.token(tokens[j] as number, tokens.length);
    const said: ReadoutPiece[] = [{ text: titles[name], strong: true }, `: “${token}” at position ${j} `];
    const places = tokens.flatMap((_, to) => {
      const much = headsFrom(data, name, look, j, to).map(
        ({ head, percents }) => `${percents}\u202f% of head ${head + 1}`,
      );
      return much.length > 0 ? [`position ${to} (${listed(much)})`] : [];
    });
    said.push(places.length > 0 ? `looks at ${listed(places)}` : `gives no token ${drawn}\u202f% of a head`);
    const target = targets[j] as number;
    if (target < 0) return [...said, '; it asks nothing.'];
    const answer = task.answer(shownOf(data, name).answers[look]?.[j] as number);
    const right = isAnswerRight(data, name, look, j);
    const says = right ? ', which is right' : `; right would be ${task.answer(target)}`;
    return [...said, ', and answers ', { text: answer, strong: true }, `${says}.`];
  },

  focus(data, state, { i, j }, width) {
    const name = shownNames(state)[i] as ShownName;
    const row = rowsOf(data, state, width)[i] as Row;
    const d = arcsOf(data, name, lookAt(data, state.step), row, (from) => from === j).looking;
    return d ? [{ mark: 'path', d, stroke: 'ink', wide: 3 }] : [];
  },

  remark: ({ diverged }) => (diverged ? divergedRemark : ''),

  table: (data, state) => ({
    columns: ['positions', 'numbers to learn', 'seed', 'step', 'right answers'],
    rows: names.flatMap((name) =>
      data.models[name].right.flatMap((of, k) =>
        of.map((count, point) => [
          name === 'wider'
            ? `added, ${2 * d_model} wide`
            : name === 'zero'
              ? 'all scores 0'
              : `${titles[name].toLowerCase()}, ${widths[name]}`,
          data.models[name].parameters,
          seedAfter(state.seed, k),
          point * stride,
          count / data.questions,
        ]),
      ),
    ),
  }),
};
