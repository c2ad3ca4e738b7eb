// Figure "Four tasks, four questions": four small models, each trained on a task that one term of the scores
// solves. The reader watches each term's share of the scores, and how much is right when a term is cut.
import { pairTerms, type Superpose, type Table, type Trainer, type TrainerOptions } from 'superpose';
import { aboutPercent, percent } from '../plot/format.js';
import { type Area, bars, horizontal, lineThrough, plane, textAt } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import { wrapped } from '../plot/wrapped.js';
import { type Controls, labelled, type StateOf } from './controls.js';
import type { Compute, Figure, Job, ReadoutPiece } from './figure.js';
import { latest, listed } from './lists.js';
import {
  aim,
  depthOf,
  divergedRemark,
  every,
  fourTasks,
  layersControl,
  modelOptions,
  n,
  points,
  type SmallTask,
  sigmaControl,
  steps,
  taskTexts,
} from './tasks.js';
import { termLabels } from './terms.js';
import { trainTogether, withTrainers } from './trainers.js';
import { crossTerms, type WayName, wayIn, waysIn } from './waysIn.js';

/** Ways in of which the picture shows a run. */
const schemes = [
  ...(['add', 'add-sinusoid', 'add-frozen', 'concat', 'concat-8', 'concat-4', 'concat-frozen'] as const),
  ...(['untied', 'rope', 'alibi', 't5', 'none'] as const),
] as const satisfies WayName[];
const hasTerms = (scheme: WayName): boolean => !wayIn(scheme).noTerms;

const places = Array.from({ length: points }, (_, place) => place);
const mostExamples = 40;

const controls = {
  digits: {
    kind: 'text',
    more: true,
    label: 'Sixteen digits of your own, 0–9 and a–f',
    initial: '',
    longest: 60,
  },
  example: { kind: 'range', more: true, label: 'Example', min: 1, max: mostExamples, step: 1, initial: 1 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  layers: { ...layersControl, more: true },
  sigma: { ...sigmaControl, more: true },
  scheme: {
    kind: 'choice',
    more: true,
    label: 'Positions',
    options: labelled(schemes, (name) => waysIn[name].name(32)),
    initial: 'add',
  },
  when: {
    kind: 'choice',
    more: true,
    label: 'Remove unticked terms',
    options: { after: 'after training', during: 'from the start' },
    initial: 'after',
    radio: true,
  },
  terms: {
    kind: 'several',
    more: true,
    label: 'Terms included',
    options: labelled(pairTerms, (term) => termLabels[term]),
    initial: pairTerms,
  },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

const asks = {
  badge: 'Which sign does the letter wear that I ask for?',
  lookup: 'My digit names a position, counted from 0: what stands there?',
  roll: 'At position k: which sign does the k-th letter wear?',
  prev: 'What stands one position before me?',
};

interface Curve {
  /** [points so far], from 0 to 1. */
  accuracy: number[];
  /** [points so far][4], raw; null where positions have no part in the scores, or nothing varies. */
  shares: (number[] | null)[];
  diverged: boolean;
}

/** What a model does with examples: its answers [sequences · n] and its attention [sequences · heads · n, n]. */
interface Moment {
  answers: number[];
  attention: Float32Array;
}

interface Example {
  tokens: number[];
  targets: number[];
  /** [points so far] */
  moments: Moment[];
}

interface Panel extends Curve {
  /** [4], of the model as it is now, in the canonical gauge. */
  canonical: number[] | null;
  /** Why there are no shares. */
  reason: string | null;
  /** Accuracy once the terms that are off are cut from the present model; null if none is cut that way. */
  cut: number | null;
  /** Accuracy of the same model with all scores 0; null until it has been measured. */
  floor: number | null;
  example: Example;
}

interface Data {
  panels: Panel[];
  /** Steps so far. */
  steps: number;
  note: string;
}

interface Trained {
  /** Of models without scores, by what those depend on. */
  floors: Floors;
  curves: Curve[];
  /** [tasks][points so far]: the models on their way. */
  parameters: Record<string, Table>[][];
  /** What they do with the examples at each point, [tasks][points so far], in the state of this key. */
  moments?: { key: string; of: Moment[][] };
  /** The panels of these models, as they were last shown. */
  looked?: { key: string; panels: PanelExamples[] };
}

/** A panel with all examples that can be chosen, one after the other. */
type PanelExamples = Omit<Panel, 'example'> & { examples: Example };

/** What a run depends on; the other settings only look at it. */
const keyOf = ({ scheme, layers, sigma, seed, when, terms }: State): string =>
  JSON.stringify([scheme, layers, sigma, seed, when === 'during' && hasTerms(scheme) ? terms : null]);

const offOf = ({ terms, scheme }: State) =>
  hasTerms(scheme) ? pairTerms.filter((term) => !terms.includes(term)) : [];

const optionsOf = ({ task }: SmallTask, state: State): TrainerOptions => ({
  ...modelOptions(task, state.scheme, state),
  cuts: state.when === 'during' ? offOf(state) : [],
});

export const compute: Compute<typeof controls, Data> = async (library, state, job) => {
  const superpose = await library.superpose();
  // They hardly depend on what can be set, so all that were measured are kept.
  const floors = library.kept('four-tasks: floors', '', (): Floors => new Map());
  const trained = await library.kept(
    'four-tasks',
    keyOf(state),
    () => train(floors, superpose, state, job),
    job.run?.again,
  );
  const floor = floors.get(state.layers) ?? (await measuredFloors(superpose, state, trained, job));
  floors.set(state.layers, floor);
  // Choosing another example computes nothing: all forty are answered at once, for less than the shares cost.
  const key = JSON.stringify([typedOf(state), state.when, state.terms, state.layers]);
  if (trained.looked?.key !== key) {
    const panels = await withTrainers(superpose, modelsOf(state), (lookers) =>
      panelsOf(superpose, lookers, trained, state),
    );
    trained.looked = { key, panels };
  }
  return dataOf(trained.looked.panels, state);
};

type Floors = Map<string, number[]>;

async function train(floors: Floors, superpose: Superpose, state: State, job: Job): Promise<Trained> {
  // Four models learn, and four of the same shape look at what these have learned so far.
  const models = modelsOf(state);
  return withTrainers(superpose, [...models, ...models], async (all) => {
    const [trainers, lookers] = [all.slice(0, models.length), all.slice(models.length)];
    const trained: Trained = {
      floors,
      curves: trainers.map(() => ({ accuracy: [], shares: [], diverged: false })),
      parameters: trainers.map(() => []),
    };
    const show = () => {
      if (!job.run) return;
      const now = job.run.state() as State;
      job.run.frame(dataOf(panelsOf(superpose, lookers, trained, now), now));
    };
    note(trainers, trained);
    show();
    await trainTogether(trainers, job, {
      looked(part) {
        note(trainers, trained);
        job.progress(part / (floors.has(state.layers) ? 1 : 2));
      },
      show,
    });
    return trained;
  });
}

/** Adds a point to each curve. */
function note(trainers: readonly Trainer[], { curves, parameters }: Trained): void {
  curves.forEach((curve, place) => {
    const trainer = trainers[place] as Trainer;
    parameters[place]?.push(trainer.parameters());
    const { mean } = trainer.shares();
    curve.accuracy.push(trainer.accuracy());
    curve.shares.push(mean && Array.from(mean));
    curve.diverged = trainer.diverged;
  });
}

/**
 * The accuracy in each task of a model with added positions whose scores are all 0. Meanwhile the trained
 * models can still be looked at.
 */
async function measuredFloors(
  superpose: Superpose,
  state: State,
  trained: Trained,
  job: Job,
): Promise<number[]> {
  const zero = fourTasks.map(({ task }) => ({
    task,
    n,
    ...depthOf(state.layers),
    steps,
    zeroScores: true,
  }));
  return withTrainers(superpose, zero, (trainers) =>
    withTrainers(superpose, modelsOf(state), async (lookers) => {
      await trainTogether(trainers, job, {
        looked: (part) => job.progress((1 + part) / 2),
        show(turned) {
          if (turned === 'go') return;
          const now = (job.run?.state() ?? state) as State;
          job.run?.frame(dataOf(panelsOf(superpose, lookers, trained, now), now));
        },
      });
      return trainers.map((trainer) => trainer.accuracy());
    }),
  );
}

const modelsOf = (state: State) => fourTasks.map((task) => optionsOf(task, state));

/** The digits that the reader has typed. */
const typedOf = ({ digits }: State): number[] =>
  [...digits.toLowerCase()]
    .filter((one) => /[0-9a-f]/.test(one))
    .slice(0, n)
    .map((digit) => Number.parseInt(digit, 16));

/** The panels of the models so far; the lookers take on their parameters. */
function panelsOf(
  superpose: Superpose,
  lookers: readonly Trainer[],
  trained: Trained,
  state: State,
): PanelExamples[] {
  const { curves, parameters } = trained;
  const off = state.when === 'after' ? offOf(state) : [];
  const tasks = fourTasks;
  const typed = typedOf(state);
  const key = JSON.stringify([typed, off]);
  if (trained.moments?.key !== key) trained.moments = { key, of: curves.map(() => []) };
  const moments = trained.moments.of;
  return lookers.map((looker, place): PanelExamples => {
    const examples = examplesOf(superpose, tasks[place] as SmallTask, typed);
    const known = moments[place] as Moment[];
    const models = parameters[place] as Record<string, Table>[];
    looker.cutTerms(off);
    for (const model of models.slice(known.length)) {
      looker.setParameters(model);
      known.push(momentOf(looker, examples.tokens));
    }
    looker.setParameters(latest(models));
    const cut = off.length > 0 ? looker.accuracy() : null;
    looker.cutTerms([]);
    const { mean, reason } = looker.shares({ gauge: 'canonical' });
    return {
      ...(curves[place] as Curve),
      canonical: mean && Array.from(mean),
      reason: reason ?? looker.shares().reason,
      cut,
      floor: trained.floors.get(state.layers)?.[place] ?? null,
      examples: { ...examples, moments: [...known] },
    };
  });
}

function momentOf(trainer: Trainer, tokens: number[]): Moment {
  const { data, columns } = trainer.logits({ n, tokens });
  const answers = tokens.map((_, place) => {
    const logits = data.subarray(place * columns, (place + 1) * columns);
    return logits.indexOf(Math.max(...logits));
  });
  return { answers, attention: Float32Array.from(trainer.attention({ n, tokens }).data) };
}

function dataOf(panels: readonly PanelExamples[], state: State): Data {
  const own = <T extends { length: number; slice(from: number, to: number): T }>(all: T): T => {
    const size = all.length / mostExamples;
    return all.slice((state.example - 1) * size, state.example * size);
  };
  const typed = typedOf(state).length;
  const lacking = n - typed;
  const note =
    typed > 0 && lacking > 0
      ? `You gave ${typed} of ${n} digits; the other ${lacking === 1 ? 'is' : `${lacking} are`} drawn.`
      : '';
  return {
    panels: panels.map(({ examples: { tokens, targets, moments }, ...panel }) => ({
      ...panel,
      example: {
        tokens: own(tokens),
        targets: own(targets),
        moments: moments.map(({ answers, attention }) => ({
          answers: own(answers),
          attention: own(attention),
        })),
      },
    })),
    steps: every * ((panels[0]?.accuracy.length ?? 1) - 1),
    note,
  };
}

/** Tokens and what is right. Typed digits come first. */
function examplesOf(
  superpose: Superpose,
  { task, term }: SmallTask,
  typed: readonly number[],
): Omit<Example, 'moments'> {
  const drawn = superpose.taskExamples({ task, n, sequences: mostExamples }).tokens;
  const tokens = Array.from(drawn);
  if (term === 'token-position' || term === 'position-position') {
    for (let at = 0; at < tokens.length; at++) tokens[at] = typed[at % n] ?? (tokens[at] as number);
  }
  return { tokens, targets: Array.from(superpose.taskTargets({ task, n, tokens }).targets) };
}

const round = (share: number) => `${Math.round(100 * share)}`.replace('-', '−');
const termPlace = ({ term }: SmallTask) => pairTerms.indexOf(term as (typeof pairTerms)[number]);

export const figure: Figure<typeof controls, Data> = {
  name: 'four-tasks',
  title: 'Four tasks, four questions',
  controls,
  source: () => 'seeded',
  runs: {
    looks: ({ when }) => ['example', 'digits', ...(when === 'after' ? (['terms'] as const) : [])],
  },
  redraws: true,
  buttons: ({ scheme, terms }) => {
    if (!hasTerms(scheme)) return [];
    const without = pairTerms.filter((term) => terms.includes(term) && !crossTerms.includes(term));
    const removed = crossTerms.every((term) => !terms.includes(term));
    return [
      removed
        ? { label: 'Put the cross terms back', sets: { terms: pairTerms } }
        : { label: 'Remove the cross terms', sets: { terms: without } },
    ];
  },
  unused: ({ scheme }) => (hasTerms(scheme) ? [] : ['terms', 'when']),

  scene(data, state, width, _, cursor) {
    const columns = width >= 760 ? 4 : width >= 330 ? 2 : 1;
    const gap = 18;
    const each = (width - gap * (columns - 1)) / columns;
    const tasks = fourTasks;
    const asked = tasks.map(({ task }) => wrapped(asks[task], each));
    const chart = columns === 4 ? 124 : 100;
    const above = 2 * line + 12 + line * Math.max(...asked.map(({ length }) => length)) + chart;
    const below = 2 * line + 2 * example + mapSide(each) + 10 + summary;
    const rows = Math.ceil(tasks.length / columns);
    const last = (data.panels[0]?.accuracy.length ?? 1) - 1;
    const point = Math.min(cursor?.j ?? last, last);
    // On a phone the curves of all four come before what each does at a step.
    const drawn = data.panels.map((panel, place) => {
      const x = (place % columns) * (each + gap);
      const row = Math.floor(place / columns);
      return drawPanel(panel, tasks[place] as SmallTask, asked[place] as string[], state, point, {
        chart,
        above: { x, y: row * (above + gap), width: each, height: above },
        below: { x, y: rows * (above + gap) + row * (below + gap), width: each, height: below },
      });
    });
    const height = rows * (above + below + 2 * gap) - gap;
    // Last, because a mark that comes and goes would change all marks after it.
    const wrong = drawn.map((one) => one.wrong).join('');
    const marks: Mark[] = [
      ...drawn.flatMap((one) => one.marks),
      ...(wrong ? [{ mark: 'path', d: wrong, stroke: 'warning', wide: 2 } as const] : []),
    ];
    return {
      width,
      height,
      marks,
      regions: drawn.map(({ inner }) => ({ ...inner, pick: 'across' as const, rows: 1, columns: points })),
    };
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
      `Solved: ${listed(solved) || 'none'}. After ${data.steps} steps${without}, right: ${each(({ accuracy }) => aboutPercent(latest(accuracy)))}.`,
    ];
    const shares = panels.map((panel) => latest(panel.shares));
    if (shares.every((share) => share !== null)) {
      const own = shares.filter(
        (share, place) => share[termPlace(tasks[place] as SmallTask)] === Math.max(...share),
      ).length;
      sentences.push(
        `In ${own} of ${tasks.length}, the term that the task needs makes the scores vary most.`,
      );
    }
    if (panels.every(({ cut }) => cut !== null)) {
      sentences.push(`With ${listed(off)} cut: ${each(({ cut }) => aboutPercent(cut as number))}.`);
    }
    if (panels.every(({ floor }) => floor !== null)) {
      sentences.push(`With all scores 0: ${each(({ floor }) => aboutPercent(floor as number))}.`);
    }
    return sentences.join(' ');
  },

  cells: () => ({ rows: 1, columns: points }),
  firstCursor: () => ({ i: 0, j: points - 1 }),

  readout(data, _state, { j }) {
    const tasks = fourTasks;
    const place = Math.min(j, (data.panels[0]?.accuracy.length ?? 1) - 1);
    const end = place === (data.panels[0]?.accuracy.length ?? 0) - 1;
    return [
      { text: `Step ${place * every}`, strong: true },
      ': ',
      ...data.panels.flatMap((panel, k): ReadoutPiece[] => {
        const task = tasks[k] as SmallTask;
        const share = panel.shares[place]?.[termPlace(task)];
        const canonical = end ? panel.canonical?.[termPlace(task)] : undefined;
        const beside = canonical === undefined ? '' : ` (canonical ${percent(canonical)})`;
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

  remark({ panels, note }, { layers, scheme }) {
    const reason = panels.find((panel) => panel.reason)?.reason ?? '';
    const diverged = panels.some((panel) => panel.diverged) ? divergedRemark : '';
    const deeper =
      layers === 'one'
        ? ''
        : 'Shares and cuts are of the first layer; the second can do without what is cut there.';
    return [reason, hasTerms(scheme) ? deeper : '', diverged, note].filter(Boolean).join(' ');
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
          place * every,
          accuracy,
          ...four(panel.shares[place]),
          ...four(end ? panel.canonical : null),
          (end ? panel.cut : null) ?? '',
          panel.floor ?? '',
        ];
      }),
    ),
  }),
};

const line = 16;
const example = 36;
const summary = 44;
/** Between the maps of the heads. */
const apart = 10;
const mapSide = (width: number) => Math.min(120, (width - apart) / 2);

/** Name, question and curves; then an example at a step, and what is left when terms are cut. */
function drawPanel(
  panel: Panel,
  task: SmallTask,
  asked: string[],
  state: State,
  point: number,
  { above, below, chart }: { above: Area; below: Area; chart: number },
) {
  const { when } = state;
  const { x, y, width } = above;
  const { term } = task;
  const marks: Mark[] = [
    { mark: 'box', x, y: y + 2, width: 13, height: 12, fill: term, term },
    textAt(x + 19, y + 13, task.task, { ink: 'ink', size: 14, bold: true }),
    textAt(x, y + 13 + line, termLabels[term], { term }),
    ...asked.map((text, k): Mark => textAt(x, y + 17 + (k + 2) * line, text, { ink: 'ink' })),
  ];
  const top = y + above.height - chart;
  const side = mapSide(width);
  const rows = below.y + line;
  const maps = rows + 2 * example + line;
  const bottom = maps + side + 10;
  const { tokens, targets, moments } = panel.example;
  const { answers, attention } = moments[point] as Moment;
  const { marks: shown, wrong } = drawExample({ tokens, targets, answers }, task, {
    x,
    y: rows,
    width,
    height: 2 * example,
  });
  const cut = when === 'after' && panel.cut !== null ? ', cut' : '';
  marks.push(
    textAt(x, rows - 5, `${task.task}, step ${point * every}${cut}`),
    ...shown,
    textAt(x, maps - 5, 'attention, both heads'),
  );
  for (const head of [0, 1]) {
    marks.push({
      mark: 'raster',
      x: x + head * (side + apart),
      y: maps,
      width: side,
      height: side,
      values: attention.subarray(head * n * n, (head + 1) * n * n),
      rows: n,
      columns: n,
      low: 0,
      high: 1,
      scale: 'sequential',
    });
  }
  const values = [...panel.accuracy, ...panel.shares.flatMap((shares) => shares ?? [])];
  const drawn = plane(
    { x, y: top, width, height: chart },
    { from: 0, to: steps, label: 'steps', nice: false, ticks: 2 },
    {
      from: Math.min(0, ...values),
      to: Math.max(1, ...values),
      label: '% right',
      ticks: 3,
      print: round,
    },
  );
  const at = places.slice(0, panel.accuracy.length).map((place) => place * every);
  marks.push(...drawn.marks);
  if (panel.floor !== null) {
    const level = drawn.y(panel.floor);
    const { inner } = drawn;
    marks.push(
      horizontal({ inner }, level, { ink: 'quiet', wide: 1.5, dashed: true }),
      textAt(inner.x + inner.width, level - 4, 'scores 0', { anchor: 'end' }),
    );
  }
  if (latest(panel.shares)) {
    marks.push(textAt(x + width, top + 10, 'term’s share', { anchor: 'end', ink: term, term }));
  }
  pairTerms.forEach((one, k) => {
    const shares = panel.shares.map((of) => of?.[k] ?? Number.NaN);
    const d = lineThrough(drawn, at, shares);
    if (d) marks.push({ mark: 'path', d, stroke: one, wide: one === term ? 2.5 : 1.5, term: one });
  });
  marks.push({ mark: 'path', d: lineThrough(drawn, at, panel.accuracy), stroke: 'ink', wide: 2 });
  const bar = (label: string, value: number | null, ink: Ink) => ({
    label,
    value: value ?? Number.NaN,
    text: value === null ? '–' : `${round(value)}\u202f%`,
    ink,
  });
  const list = [
    bar(when === 'after' ? 'as trained' : 'trained so', latest(panel.accuracy), 'ink'),
    ...(panel.cut === null ? [] : [bar('terms cut', panel.cut, term)]),
    bar('scores 0', panel.floor, 'quiet'),
  ];
  marks.push(...bars({ x, y: bottom, width, height: summary }, list, 0, 1));
  return { marks, wrong, inner: drawn.inner };
}

/** The input in two rows of eight, the model's answer below each token; `wrong` underlines wrong ones. */
function drawExample(
  { tokens, targets, answers }: { tokens: number[]; targets: number[]; answers: number[] },
  { task }: SmallTask,
  area: Area,
) {
  const texts = taskTexts[task];
  const across = n / 2;
  const wide = area.width / across;
  const marks: Mark[] = [];
  let wrong = '';
  tokens.forEach((token, place) => {
    const x = area.x + ((place % across) + 0.5) * wide;
    const y = area.y + Math.floor(place / across) * example;
    const right = targets[place] === answers[place];
    marks.push(
      { mark: 'box', x: x - wide / 2 + 1, y, width: wide - 2, height: 16, fill: 'field' },
      textAt(x, y + 12, texts.token(token), { anchor: 'middle', ink: 'quiet', size: 11 }),
    );
    if (targets[place] === -1) return;
    marks.push(
      textAt(x, y + 29, texts.answer(answers[place] as number), {
        anchor: 'middle',
        ink: right ? 'ink' : 'warning',
        bold: true,
      }),
    );
    if (!right) wrong += `M${(x - 6).toFixed(1)},${(y + 33).toFixed(1)}h12`;
  });
  return { marks, wrong };
}
