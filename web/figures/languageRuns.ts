// The recorded language models of figure “language”: its views, what is read of the file, and means over runs.
import type { SmallSuperpose } from 'superpose';
import type { Controls, StateOf } from './controls.js';
import type { Compute } from './figure.js';
import { type ArmName, armNames, firstArms, isArm, nameOf, type ViewName } from './languageArms.js';

const options = {
  short: '25 million tokens',
  long: '74 million',
  masked: 'masked',
  ladder: 'a smaller model, step by step',
} satisfies Record<ViewName, string>;

export const controls = {
  view: { kind: 'choice', label: 'Trained on', options, initial: 'short', radio: true },
  ways: { kind: 'choice', label: 'Ways', options: { few: 'few', all: 'all' }, initial: 'few', radio: true },
  curves: { kind: 'toggle', label: 'Learning curves', initial: false },
} as const satisfies Controls;
export type State = StateOf<typeof controls>;

interface Source {
  by: string;
  size: { width: number; length: number };
  batch: number;
  /** Where on its way a run was looked at, as parts of its steps. */
  curve: number[];
}

export interface Run {
  source: number;
  arm: ArmName;
  task: 'causal' | 'masked';
  steps: number;
  rate: number;
  /** How large position rows begin, and how fast they learn, of what the others do. */
  quiet: number;
  rowRate?: number;
  seed: number;
  weights: number;
  /** Nats a token, at the end and on the way. */
  loss: number;
  losses: number[];
  bitsPerByte?: number;
}
export const endOf = (run: Run): number => run.bitsPerByte ?? run.loss;

/** Runs of one way by one implementation: the project’s own, or the one before it. */
export interface Made {
  own: boolean;
  runs: Run[];
  mean: number;
  /** By the parts of the training at which it was looked at. */
  curve: Map<number, number>;
}

export interface Row {
  arm: ArmName;
  steps: number;
  /** What a run reads, in millions. */
  tokens: number;
  /** The project’s own first. */
  made: Made[];
}

export interface Data {
  rows: Row[];
  /** All of 25 and of 74 million tokens, for sentences that compare them. */
  larger: Record<'short' | 'long', Row[]>;
  /** What a mean moved by when only the learning rate was another, at most. */
  byRate: number;
  /** All parts of the training that a curve has a point at. */
  parts: number[];
  /** What the file lacks, or has and cannot be drawn. */
  problems: string[];
}

/** The settings of the protocol; other runs only say what settings do. */
const asScripted = { rate: 0.002, quiet: 1, rowRate: 1 };
const views: Record<ViewName, { task: Run['task']; width: number; lengths: readonly number[] }> = {
  short: { task: 'causal', width: 256, lengths: [3000] },
  long: { task: 'causal', width: 256, lengths: [9000] },
  masked: { task: 'masked', width: 256, lengths: [3000, 5000] },
  ladder: { task: 'causal', width: 128, lengths: [2000, 4000] },
};

/** What can be used of the file; what cannot is named. */
export function readRuns(file: unknown): { sources: Source[]; runs: Run[]; problems: string[] } {
  const { format, version, sources, runs } = (file ?? {}) as Record<string, unknown>;
  if (format !== 'superpose-language' || version !== 1 || !Array.isArray(sources) || !Array.isArray(runs))
    throw new Error(
      `Recorded language models come as superpose-language, version 1. This file is ${format ?? 'nothing of the kind'}, version ${version ?? 'none'}.`,
    );
  const problems = new Set<string>();
  const usable = runs.filter((run: Run): boolean => {
    const from: Source | undefined = sources[run.source];
    const shown = Object.values(views).some(
      ({ task, width, lengths }) =>
        task === run.task && width === from?.size.width && lengths.includes(run.steps),
    );
    const numbers = [endOf(run), ...(run.losses ?? [])];
    const complete = numbers.length === 1 + (from?.curve.length ?? 0) && numbers.every(Number.isFinite);
    if (!isArm(run.arm)) problems.add(`a way called ${run.arm}`);
    else if (!shown) problems.add(`runs of ${run.steps} steps`);
    else if (!complete) problems.add(`a run of “${nameOf(run.arm)}” that lacks numbers`);
    else return true;
    return false;
  });
  return { sources, runs: usable, problems: [...problems] };
}

export const compute: Compute<typeof controls, Data> = async (library, { view, ways }) => {
  const { sources, runs, problems } = readRuns(await library.recorded?.('language'));
  const superpose = await library.small();
  const runsOf = (name: ViewName) =>
    runs.filter(({ task, source }) => {
      const { task: asked, width } = views[name];
      return task === asked && sources[source]?.size.width === width;
    });
  const rowsOf = (name: ViewName, arms: readonly ArmName[], lengths: readonly number[]): Row[] =>
    lengths.flatMap((steps) =>
      arms.flatMap((arm) => {
        const here = runsOf(name).filter(
          (run) => run.arm === arm && run.steps === steps && isAsScripted(run),
        );
        const made = [true, false].flatMap((own) => {
          const by = here.filter(({ source }) => (sources[source]?.by === 'tools/language') === own);
          return by.length > 0 ? [madeOf(superpose, own, by, sources)] : [];
        });
        const { batch = 0, size } = sources[here[0]?.source ?? -1] ?? {};
        const tokens = (steps * batch * (size?.length ?? 0)) / 1e6;
        return made.length > 0 ? [{ arm, steps, tokens, made }] : [];
      }),
    );
  const { lengths } = views[view];
  const few = firstArms[view];
  const wanted = ways === 'few' ? few : [...new Set([...(view === 'ladder' ? few : []), ...armNames])];
  const rows = rowsOf(view, wanted, ways === 'few' && view === 'ladder' ? lengths.slice(0, 1) : lengths);
  const lacking = few.filter((arm) => !rows.some((row) => row.arm === arm)).map(nameOf);
  return {
    rows,
    larger: { short: rowsOf('short', armNames, [3000]), long: rowsOf('long', armNames, [9000]) },
    byRate: movedByRate(superpose, runsOf(view)),
    parts: [...new Set(runsOf(view).flatMap(({ source }) => sources[source]?.curve ?? []))].sort(),
    problems: [
      ...(lacking.length > 0 ? [`The file has no runs of: ${lacking.join('; ')}.`] : []),
      ...(problems.length > 0 ? [`Not drawn: ${problems.join('; ')}.`] : []),
    ],
  };
};

const isAsScripted = ({ rate, quiet, rowRate = 1 }: Run): boolean =>
  rate === asScripted.rate && quiet === asScripted.quiet && rowRate === asScripted.rowRate;

const meanOf = (superpose: SmallSuperpose, runs: readonly Run[], of: (run: Run) => number): number =>
  superpose.summary(Float64Array.from(runs, of)).mean;

function madeOf(superpose: SmallSuperpose, own: boolean, runs: Run[], sources: readonly Source[]): Made {
  const parts = sources[runs[0]?.source ?? -1]?.curve ?? [];
  const curve = parts.map((part, k) => {
    const here = runs.filter(({ source }) => sources[source]?.curve[k] === part);
    return [part, meanOf(superpose, here, ({ losses }) => losses[k] as number)] as const;
  });
  return { own, runs, mean: meanOf(superpose, runs, endOf), curve: new Map(curve) };
}

function movedByRate(superpose: SmallSuperpose, runs: readonly Run[]): number {
  const varied = runs.filter((run) => isAsScripted({ ...run, rate: asScripted.rate }));
  const moves = varied.flatMap((one) => {
    const same = varied.filter(
      ({ arm, source, steps }) => arm === one.arm && source === one.source && steps === one.steps,
    );
    const at = (rate: number) =>
      meanOf(
        superpose,
        same.filter((run) => run.rate === rate),
        endOf,
      );
    return same.some(isAsScripted) ? [Math.abs(at(one.rate) - at(asScripted.rate))] : [];
  });
  return Math.max(0, ...moves);
}
