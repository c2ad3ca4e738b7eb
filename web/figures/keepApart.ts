// Figure "Do tokens and positions learn to keep apart?": while five small models learn a task, how much of
// their directions the token rows share with the position rows, and where both lie in a plane.
import type { Summary, Superpose, Table, Trainer, TrainerOptions } from 'add-or-concatenate';
import { aboutPercent, percent, readable } from '../plot/format.js';
import { type Area, curve, dotsAt, horizontal, lineThrough, plane, textAt } from '../plot/parts.js';
import { latest } from '../plot/plainCopy.js';
import type { Ink, Mark } from '../plot/scene.js';
import { type Controls, initialState, type StateOf } from './controls.js';
import type { Compute, Figure, Job } from './figure.js';
import { recordedOrTrained, trainSideBySide, withTrainers } from './runs/sideBySide.js';
import {
  accuracyAxis,
  constantRate,
  divergedRemark,
  mayTrain,
  n,
  points,
  seedAfter,
  sigmaControl,
  taskOptions,
} from './runs/tasks.js';
import { yieldThread } from './runs/trainingRun.js';

const seeds = 5;

const controls = {
  task: { kind: 'choice', label: 'Task', options: taskOptions, initial: 'lookup' },
  rows: {
    kind: 'choice',
    more: true,
    label: 'Rows that are trained',
    options: { both: 'Tokens and positions', positions: 'Positions only', neither: 'Neither' },
    initial: 'both',
  },
  d_model: { kind: 'steps', more: true, label: 'Width d', values: [8, 12, 16, 24, 32, 48, 64], initial: 32 },
  steps: { kind: 'steps', more: true, label: 'Steps', values: [200, 400, 1000, 2000], initial: 200 },
  seed: { kind: 'seed', more: true, label: 'First seed', initial: 1 },
  sigma: { ...sigmaControl, more: true },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

/** Steps from one measurement of the models to the next. */
const strideOf = ({ steps }: State) => steps / (points - 1);

interface Curve {
  /** [points so far], the overlap A of the rows. */
  overlap: number[];
  /** [points so far], by how much A varies by chance. */
  chance: number[];
  /** [points so far], from 0 to 1. */
  accuracy: number[];
}

/** Coordinates of the rows along two directions, which span the plane that is drawn. */
interface Plan {
  tokens: { x: number[]; y: number[] };
  positions: { x: number[]; y: number[] };
}

interface Data {
  /** One for each seed. */
  curves: Curve[];
  /** [points so far], the rows of the first seed; null at points that were not recorded. */
  plans: (Plan | null)[];
  /** The largest magnitude of a coordinate at any step. */
  extent: number;
  /** Over the seeds, now and before training. */
  overlap: Summary;
  overlapBefore: Summary;
  accuracy: Summary;
  diverged: boolean;
}

const optionsOf = ({ task, rows, d_model, sigma }: State, seed: number): TrainerOptions => ({
  task,
  n,
  scheme: 'add',
  d_model,
  sigma,
  steps: constantRate,
  seed,
  fixedTokens: rows !== 'both',
  fixedPositions: rows === 'neither',
});

export const compute: Compute<typeof controls, Data> = (library, state, job) => {
  const first = initialState(controls);
  const isFirst = Object.entries(first).every(([name, value]) => state[name as 'd_model'] === value);
  const memo = { name: 'keep-apart', key: state, file: isFirst ? 'keepApart' : undefined };
  return recordedOrTrained(library, job, memo, (superpose) => train(superpose, state, job));
};

async function train(superpose: Superpose, state: State, job: Job): Promise<Data> {
  const plans = await plansOf(superpose, state, job);
  const coordinates = plans.flatMap(({ tokens, positions }) =>
    [tokens.x, tokens.y, positions.x, positions.y].flat(),
  );
  const extent = Math.max(...coordinates.map(Math.abs));
  const curves = Array.from({ length: seeds }, (): Curve => ({ overlap: [], chance: [], accuracy: [] }));
  let diverged = false;
  const summaryOf = (numberOf: (curve: Curve) => number) =>
    superpose.summary(Float64Array.from(curves, numberOf));
  const data = (): Data => ({
    curves,
    plans: plans.slice(0, curves[0]?.overlap.length),
    extent,
    overlap: summaryOf(({ overlap }) => latest(overlap)),
    overlapBefore: summaryOf(({ overlap }) => overlap[0] as number),
    accuracy: summaryOf(({ accuracy }) => latest(accuracy)),
    diverged,
  });
  await trainSideBySide(superpose, job, {
    options: curves.map((_, k) => optionsOf(state, seedAfter(state.seed, k))),
    steps: state.steps,
    stride: strideOf(state),
    measure(trainers) {
      diverged = trainers.some((trainer) => trainer.diverged);
      for (const [k, curve] of curves.entries()) {
        const trainer = trainers[k] as Trainer;
        const { overlap, chance } = trainer.overlap();
        curve.overlap.push(overlap ?? Number.NaN);
        curve.chance.push(chance ?? Number.NaN);
        curve.accuracy.push(trainer.evaluate().accuracy);
      }
    },
    frame: data,
  });
  return data();
}

/**
 * The first seed's rows at each point, along the final directions, so that the axes stay while the rows move.
 * They come from an identical run, which is trained first and not shown.
 */
function plansOf(superpose: Superpose, state: State, job: Job): Promise<Plan[]> {
  return withTrainers(superpose, [optionsOf(state, state.seed)], async ([trainer]) => {
    if (!trainer) return [];
    const rows: { E: Table; P: Table }[] = [];
    const keepRows = () => {
      const { E, P } = trainer.parameters();
      rows.push({ E: E as Table, P: P as Table });
    };
    keepRows();
    while (rows.length < points && mayTrain(job, state.steps)) {
      await yieldThread(job);
      if (!trainer.diverged) trainer.step(strideOf(state));
      keepRows();
    }
    const { directions } = trainer.directions();
    return rows.map((tables) => {
      trainer.setParameters(tables);
      const { tokens, positions } = trainer.coordinates(directions as Table);
      return { tokens: axesOf(tokens), positions: axesOf(positions) };
    });
  });
}

const axesOf = ({ data }: Table) => ({
  x: Array.from(data).filter((_, place) => place % 2 === 0),
  y: Array.from(data).filter((_, place) => place % 2 === 1),
});

const plusMinus = ({ mean, standardDeviation }: Summary) =>
  `${mean.toFixed(2)} ± ${standardDeviation.toFixed(2)}`;

export const figure: Figure<typeof controls, Data> = {
  name: 'keep-apart',
  title: 'Do tokens and positions learn to keep apart?',
  controls,
  source: () => 'seeded',
  live: { looks: () => [] },
  redraws: true,

  scene(data, state, width, _, cursor) {
    const areas = arrange(width);
    const { curves } = data;
    const stride = strideOf(state);
    const at = Array.from({ length: points }, (_, place) => place * stride);
    const across = { from: 0, to: state.steps, label: 'steps', nice: false, ticks: 4 };
    const all = curves.flatMap(({ overlap, chance }) => [
      ...overlap,
      ...chance.map((by) => 1 + by),
      ...chance.map((by) => 1 - by),
    ]);
    const overlaps = plane(areas.overlap, across, {
      from: 0,
      to: Math.max(1.2, ...all.filter(Number.isFinite)),
      label: areas.overlap.width < 260 ? 'A, overlap of the two' : 'A, overlap of tokens and positions',
      ticks: 4,
    });
    const right = plane(areas.accuracy, across, { ...accuracyAxis, ticks: 3 });
    const { chance } = curves[0] as Curve;
    const level = overlaps.y(1);
    const { inner } = overlaps;
    const marks: Mark[] = [
      ...overlaps.marks,
      { mark: 'path', d: band(overlaps, at, chance), fill: 'quiet', opacity: 0.22 },
      horizontal({ inner }, level, { ink: 'quiet', dashed: true }),
      ...right.marks,
    ];
    // The first seed is drawn last, on top, because the rows below are its own.
    for (let place = curves.length - 1; place >= 0; place--) {
      const { overlap, accuracy } = curves[place] as Curve;
      const wide = place === 0 ? 2.5 : 1.2;
      const stroke: Ink = place === 0 ? 'accent' : 'quiet';
      marks.push(curve(overlaps, at.slice(0, overlap.length), overlap, { stroke, wide }));
      marks.push(curve(right, at.slice(0, accuracy.length), accuracy, { stroke, wide }));
    }
    const { plans, extent } = data;
    marks.push(...drawPlan('Rows before training', plans[0] as Plan, extent, areas.before));
    // The step that is pointed at, or the newest.
    const done = plans.findLastIndex((plan, at) => plan && at <= (cursor?.j ?? points));
    marks.push(...drawPlan(`After ${done * stride} steps`, plans[done] as Plan, extent, areas.now));
    const { overlap } = curves[0] as Curve;
    const [end, newest] = [at[overlap.length - 1] as number, latest(overlap)];
    marks.push(
      ...dotKey(areas.dots),
      // Left of where the last step is marked.
      textAt(overlaps.x(state.steps) - 9, overlaps.y(1 + (chance[0] ?? 0)) - 4, 'random rows', {
        anchor: 'end',
      }),
      // At the end of its line, above it unless the level of random rows is there.
      textAt(overlaps.x(end) - 9, overlaps.y(newest) + (newest < 0.8 ? -16 : 18), 'first seed', {
        anchor: 2 * end > state.steps ? 'end' : 'start',
        ink: 'accent',
      }),
    );
    return {
      width,
      height: areas.height,
      marks,
      regions: [overlaps, right].map((drawn) => ({
        ...drawn.inner,
        pick: 'across' as const,
        rows: 1,
        columns: points,
      })),
    };
  },

  describe(data, state) {
    const { task, d_model, sigma } = state;
    const done = ((data.curves[0]?.overlap.length ?? 1) - 1) * strideOf(state);
    if (done === 0) return `Not trained yet: it takes ${state.steps} steps, once you ask for it.`;
    const [from, to] = [data.overlapBefore.mean, data.overlap.mean].map((mean) => mean.toFixed(2));
    const head =
      data.overlap.mean < 0.8 * data.overlapBefore.mean
        ? `They drift apart: the overlap falls from ${from} to ${to}.`
        : `They hardly drift apart: the overlap was ${from} and is ${to}.`;
    return `${head} After ${done} steps of ${task} at d = ${d_model} and σ = ${sigma}, A is ${plusMinus(data.overlap)} over five seeds, down from ${plusMinus(data.overlapBefore)}: 0 means right angles, 1 chance. ${aboutPercent(data.accuracy.mean)} of the answers are right, with LayerNorm.`;
  },

  cells: () => ({ rows: 1, columns: points }),
  firstCursor: () => ({ i: 0, j: points - 1 }),

  readout({ curves }, state, { j }) {
    const place = Math.min(j, (curves[0]?.overlap.length ?? 1) - 1);
    const extremesOf = (values: number[]) => [Math.min(...values), Math.max(...values)] as const;
    const [least, most] = extremesOf(curves.map(({ overlap }) => overlap[place] as number));
    const [worst, best] = extremesOf(curves.map(({ accuracy }) => accuracy[place] as number));
    const first = curves[0] as Curve;
    return [
      { text: `Step ${place * strideOf(state)}`, strong: true },
      `: A from ${readable(least)} to ${readable(most)}, right answers from ${percent(worst)} to ${percent(best)}. `,
      `The first seed: A ${readable(first.overlap[place] as number)}; by chance it would be 1 ± ${readable(first.chance[place] as number)}.`,
    ];
  },

  remark: ({ diverged }) => (diverged ? divergedRemark : ''),

  table: ({ curves }, state) => ({
    columns: ['seed', 'step', 'A', 'A by chance varies by', 'right answers'],
    rows: curves.flatMap(({ overlap, chance, accuracy }, k) =>
      overlap.map((value, place) => [
        seedAfter(state.seed, k),
        place * strideOf(state),
        value,
        chance[place] as number,
        accuracy[place] as number,
      ]),
    ),
  }),
};

/** A band around 1, as wide as A varies by chance. */
function band(drawn: Parameters<typeof lineThrough>[0], at: number[], chance: number[]): string {
  const on = at.slice(0, chance.length);
  const up = lineThrough(
    drawn,
    on,
    chance.map((by) => 1 + by),
  );
  const down = lineThrough(
    drawn,
    [...on].reverse(),
    [...chance].reverse().map((by) => 1 - by),
  );
  return on.length > 1 ? `${up}${down.replace('M', 'L')}Z` : '';
}

/** Heights in pixels: the step above each plane, and the key of its dots below it. */
const above = 20;
const under = 24;
/** The height of a plane in the widest of the site's pictures, above which it does not grow, in pixels. */
const highest = 345;

/** The rows beside the curves, or above them. */
function arrange(width: number) {
  const beside = width >= 640;
  const gap = 16;
  const side = beside ? 0.34 * (width - 2 * gap) : (width - gap) / 2;
  const high = beside ? Math.min(Math.max(side, 330), highest) : side;
  const plan = (place: number): Area => ({
    x: place * (side + gap),
    y: 0,
    width: side,
    height: above + high,
  });
  const rows = above + high + under;
  const x = beside ? 2 * (side + gap) + 10 : 0;
  const [top, upper, lower] = beside ? [0, 0.56 * rows, 0.44 * rows] : [rows + 12, 200, 170];
  return {
    before: plan(0),
    now: plan(1),
    overlap: { x, y: top, width: width - x, height: upper },
    accuracy: { x, y: top + upper, width: width - x, height: lower },
    dots: above + high + 8,
    height: beside ? rows : top + upper + lower,
  };
}

/** Rows in a plane: along the main direction of the tokens, and along what the positions add to it. */
function drawPlan(title: string, { tokens, positions }: Plan, extent: number, area: Area): Mark[] {
  const [side, high] = [area.width, area.height - above];
  const [top, middle] = [area.y + above, { x: area.x + side / 2, y: area.y + above + high / 2 }];
  const scale = (0.5 * Math.min(side, high) - 8) / extent;
  const dots = ({ x, y }: Plan['tokens'], ink: Ink): Mark =>
    dotsAt(
      x.map((coordinate) => middle.x + scale * coordinate),
      y.map((coordinate) => middle.y - scale * coordinate),
      3.2,
      ink,
      0.85,
    );
  return [
    textAt(area.x, area.y + 12, title, { ink: 'ink' }),
    { mark: 'box', x: area.x, y: top, width: side, height: high, stroke: 'line' },
    { mark: 'line', x1: area.x, x2: area.x + side, y1: middle.y, y2: middle.y, ink: 'line' },
    { mark: 'line', x1: middle.x, x2: middle.x, y1: top, y2: top + high, ink: 'line' },
    dots(tokens, 'token-token'),
    dots(positions, 'position-position'),
    textAt(area.x + side - 4, top + high - 6, `${side < 230 ? 'tokens’' : 'the tokens’ main'} direction →`, {
      anchor: 'end',
    }),
    textAt(area.x + 4, top + 14, `↑ ${side < 230 ? 'positions add' : 'what the positions add to it'}`),
  ];
}

const dotKey = (y: number): Mark[] =>
  (
    [
      ['token rows', 'token-token', 0],
      ['position rows', 'position-position', 110],
    ] as const
  ).flatMap(([label, ink, x]): Mark[] => [
    { mark: 'dots', x: [x + 5], y: [y + 8], radius: 4, ink },
    textAt(x + 15, y + 12, label, { ink: 'ink' }),
  ]);
