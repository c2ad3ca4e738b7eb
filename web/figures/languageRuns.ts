// The recorded language models of figure “language”: their ways in, its views, and what is read of the file.
import type { SchemeId } from 'add-or-concatenate';
import type { Controls, StateOf } from './controls.js';
import type { Compute } from './figure.js';

export const groups = {
  nowhere: 'nowhere',
  input: 'at the input',
  values: 'in attention, values too',
  first: 'in the first layer’s scores alone',
  scores: 'in every layer’s scores alone',
} as const;

/**
 * The ways in: the label of each, where position goes, the scheme whose scores its row opens, and a
 * sentence.
 */
const wayTexts = {
  none: {
    label: 'no position',
    group: 'nowhere',
    scheme: 'none',
    sentence: 'Nothing says where a token stands. Each still sees only those before it.',
  },
  project: {
    label: 'projected back',
    group: 'input',
    scheme: 'concat-full',
    sentence:
      'The two are concatenated, and a matrix maps them back to the old width. How well that does depends on size, start and seed.',
  },
  'add-sinusoid': {
    label: 'added sinusoid',
    group: 'input',
    scheme: 'add',
    sentence: 'A fixed pattern of waves is added to each token’s vector.',
  },
  'add-disjoint-start': {
    label: 'added, separate channels at first',
    group: 'input',
    scheme: 'add',
    sentence: 'Added. At the start, tokens and positions use different channels.',
  },
  add: {
    label: 'added',
    group: 'input',
    scheme: 'add',
    sentence: 'A learned vector for each position is added to the token’s, before the first layer.',
  },
  'add-without-cross-terms': {
    label: 'added without cross terms',
    group: 'input',
    scheme: 'add',
    sentence: 'Added. The first layer’s scores leave out token with position.',
  },
  'concat-half': {
    label: 'concatenated, half each',
    group: 'input',
    scheme: 'concat-full',
    sentence: 'Half of the channels hold the token, half the position.',
  },
  'concat-sixteenth': {
    label: 'concatenated, a sixteenth',
    group: 'input',
    scheme: 'concat-full',
    sentence: 'One channel in sixteen holds the position, the others the token.',
  },
  'concat-quarter': {
    label: 'concatenated (same width)',
    group: 'input',
    scheme: 'concat-full',
    sentence: 'Three quarters of the channels hold the token, one quarter the position.',
  },
  'add-quarter-wider': {
    label: 'added, 320 wide',
    group: 'input',
    scheme: 'add',
    sentence: 'Added, in a model a quarter wider.',
  },
  'concat-quarter-wider': {
    label: 'concatenated, 320 wide',
    group: 'input',
    scheme: 'concat-full',
    sentence: 'The position has 64 channels of its own beside the token’s 256.',
  },
  'add-normalized-to-first-attention': {
    label: 'first layer, normalized separately',
    group: 'values',
    scheme: 'add',
    sentence: 'The first layer’s queries, keys and values read a position beside the token.',
  },
  'add-normalized-to-attention': {
    label: 'every layer’s attention',
    group: 'values',
    scheme: 'add',
    sentence: 'The queries, keys and values of every layer read a position beside the token.',
  },
  'add-to-first-attention': {
    label: 'first layer’s attention only',
    group: 'values',
    scheme: 'add',
    sentence: 'Only what the first layer’s attention reads has positions added to it.',
  },
  'add-to-first-queries-keys': {
    label: 'first layer’s queries and keys only',
    group: 'first',
    scheme: 'add',
    sentence: 'Only the first layer’s queries and keys have positions added to them.',
  },
  'add-normalized-to-first-queries-keys': {
    label: 'the same, normalized separately',
    group: 'first',
    scheme: 'add',
    sentence:
      'As in the row of the first layer’s queries and keys, with tokens and positions normalized before they are added.',
  },
  'add-normalized-to-queries-keys': {
    label: 'every layer’s queries and keys',
    group: 'scores',
    scheme: 'add',
    sentence: 'The queries and keys of every layer have a normalized position added to the normalized token.',
  },
  'concat-to-queries-keys': {
    label: 'every layer, concatenated',
    group: 'scores',
    scheme: 'concat-full',
    sentence: 'In every layer queries and keys read the token and, beside it, its position.',
  },
  rope: {
    label: 'RoPE',
    group: 'scores',
    scheme: 'rope',
    sentence: 'Each query and key is rotated by an angle that grows with its position.',
  },
  tupe: {
    label: 'TUPE (separate scores)',
    group: 'scores',
    scheme: 'tupe-a',
    sentence: 'Tokens are compared with tokens and positions with positions; the scores are added.',
  },
  'decoupled-rope': {
    label: 'decoupled RoPE (DeepSeek’s)',
    group: 'scores',
    scheme: 'decoupled-rope',
    sentence:
      'Beside the 64 numbers of a head’s query or key stand 32 that are rotated. Nothing else is DeepSeek’s.',
  },
} as const satisfies Record<
  string,
  { label: string; group: keyof typeof groups; scheme: SchemeId; sentence: string }
>;
export type LanguageWay = keyof typeof wayTexts;

export const languageWays = /* @__PURE__ */ Object.keys(wayTexts) as LanguageWay[];
export const isLanguageWay = (name: string): name is LanguageWay => Object.hasOwn(wayTexts, name);
export const labelOf = (way: LanguageWay): string => wayTexts[way].label;
export const groupOf = (way: LanguageWay): keyof typeof groups => wayTexts[way].group;
export const schemeOf = (way: LanguageWay): SchemeId => wayTexts[way].scheme;
export const sentenceOf = (way: LanguageWay): string => wayTexts[way].sentence;

export type ViewName = 'short' | 'long' | 'masked' | 'ladder';
const six: LanguageWay[] = ['none', 'add', 'concat-quarter', 'rope', 'tupe', 'decoupled-rope'];
/** The rows in sight before all are asked for. On the ladder each changes one thing of the one before it. */
export const firstWays: Record<ViewName, readonly LanguageWay[]> = {
  short: six,
  long: ['add', 'concat-quarter', 'add-to-first-attention', 'add-to-first-queries-keys', 'rope'],
  masked: ['add', 'concat-quarter', 'rope', 'tupe'],
  ladder: [
    'add',
    'concat-quarter',
    'add-to-first-attention',
    'add-to-first-queries-keys',
    'add-normalized-to-first-queries-keys',
    'add-normalized-to-queries-keys',
  ],
};

const options = {
  short: '25 million tokens',
  long: '74 million',
  masked: 'masked',
  ladder: 'a smaller model, step by step',
} satisfies Record<ViewName, string>;

export const controls = {
  view: { kind: 'choice', label: 'Trained on', options, initial: 'short', radio: true },
  ways: { kind: 'choice', label: 'Ways', options: { few: 'few', all: 'all' }, initial: 'few', radio: true },
  curves: { kind: 'toggle', more: true, label: 'Learning curves', initial: false },
} as const satisfies Controls;
export type State = StateOf<typeof controls>;

/** What is read of a source; the file says more of it. */
export interface Source {
  by: string;
  device: string;
  size: { width: number; length: number };
  batch: number;
  /** Where on its way a run was measured, as parts of its steps. */
  curve: number[];
}

/** Drawn like every other matrix, drawn so that rows keep their length, or leaving tokens as they are. */
export type ProjectionStart = 'normal' | 'fan-in' | 'identity';

/** What runs must have in common to be compared. */
interface Settings {
  source: number;
  task: 'causal' | 'masked';
  steps: number;
  rate: number;
  /** The size of position rows at the start, as a part of the protocol's. */
  quiet: number;
  /** The learning rate of position rows, as a part of the others'. */
  rowRate?: number | undefined;
  /** How a projection's matrix starts; other ways have none. */
  start?: ProjectionStart | undefined;
}

export interface Run extends Settings {
  way: LanguageWay;
  seed: number;
  weights: number;
  /** Nats a token, at the end and on the way. */
  loss: number;
  losses: number[];
  bitsPerByte?: number;
}
export const endOf = (run: Run): number => run.bitsPerByte ?? run.loss;

/** How far a way is ahead of adding: the difference of the means; below 0, the way is behind. */
export interface Lead {
  lead: number;
  /** Half of Welch's 95 % interval. */
  margin: number;
  /** How many runs are compared: of this way, and of adding. */
  seeds: number;
  addedSeeds: number;
}

/** The mean of a way's runs at their end and along their curve, as tools/language computed it. */
interface Means extends Settings, Partial<Omit<Lead, 'seeds'>> {
  way: LanguageWay;
  mean: number;
  /** At the parts of the training that the source names, nats a token. */
  curve: number[];
}

/** All runs of one way with the same settings, and their means, as the file has them. */
interface RecordedResult extends Means {
  weights: number;
  runs: Omit<Run, keyof Settings | 'way' | 'weights'>[];
}

/** The same with what the source says of it. */
export interface Result extends Means {
  /** Whether tools/language trained it, and not the implementation before it. */
  ours: boolean;
  device: string;
  width: number;
  /** What a run reads, in millions of tokens. */
  tokens: number;
  /** The parts of the training at which it was measured. */
  parts: number[];
  runs: Run[];
}

/** The lead of a result; adding itself and single runs have none. */
export const leadOf = ({ lead, margin, runs, addedSeeds }: Result): Lead | undefined =>
  lead === undefined || margin === undefined || addedSeeds === undefined
    ? undefined
    : { lead, margin, seeds: runs.length, addedSeeds };

export interface Row {
  way: LanguageWay;
  /** How the matrix of a projection starts: each start has a row of its own. */
  start: Settings['start'];
  /** Where it was trained, if the project’s script has another row of the same, from another machine. */
  device?: string;
  steps: number;
  tokens: number;
  /** One by the project’s script first, then another implementation’s. */
  results: Result[];
}

export interface Data {
  rows: Row[];
  /** All of 25 and of 74 million tokens, for sentences that compare them. */
  larger: Record<'short' | 'long', Row[]>;
  /**
   * By how much a mean moved at most when only the learning rate changed, and of which ways that is known.
   */
  byRate: { most: number; ways: LanguageWay[]; ours: boolean };
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

/** Whether the figure reads a result: it compares learning rates, but no other change of the protocol. */
export const isRead = ({ quiet, rowRate = 1 }: Pick<Settings, 'quiet' | 'rowRate'>): boolean =>
  quiet === asScripted.quiet && rowRate === asScripted.rowRate;

const isAsScripted = (settings: Settings): boolean => isRead(settings) && settings.rate === asScripted.rate;

const keyOf = ({
  source,
  way,
  task,
  steps,
  rate,
  quiet,
  rowRate = 1,
  start,
}: Settings & { way: string }): string => [source, way, task, steps, rate, quiet, rowRate, start].join();

/** Reads the file. What cannot be drawn is named. */
export function readResults(file: unknown): { results: Result[]; problems: string[] } {
  const { format, version, sources, results } = (file ?? {}) as Record<string, unknown>;
  const lists = [sources, results];
  if (format !== 'superpose-language' || version !== 1 || !lists.every(Array.isArray))
    throw new Error(
      `Recorded language models come as superpose-language, version 1. This file is ${format ?? 'nothing of the kind'}, version ${version ?? 'none'}.`,
    );
  const problems = new Set<string>();
  const complete = (results as RecordedResult[]).flatMap((result): Result[] => {
    const { source, way, task, steps, rate, quiet, rowRate, start, weights } = result;
    const common = { source, way, task, steps, rate, quiet, rowRate, start, weights };
    const runs = result.runs.map((run): Run => ({ ...common, ...run }));
    const origin = (sources as Source[])[source];
    // A mean is of all its runs, so one that cannot be drawn hides the others.
    const [problem] = runs.flatMap((run) => problemOf(run, origin) ?? []);
    if (problem) problems.add(problem);
    if (problem || !origin) return [];
    const { by, device, size, batch, curve } = origin;
    const tokens = (steps * batch * size.length) / 1e6;
    const ours = by === 'tools/language';
    return [{ ...result, ours, device, width: size.width, tokens, parts: curve, runs }];
  });
  return { results: complete, problems: [...problems] };
}

function problemOf(run: Run, source: Source | undefined): string | undefined {
  const shown = Object.values(views).some(
    ({ task, width, lengths }) =>
      task === run.task && width === source?.size.width && lengths.includes(run.steps),
  );
  const numbers = [endOf(run), ...(run.losses ?? [])];
  const complete = numbers.length === 1 + (source?.curve.length ?? 0) && numbers.every(Number.isFinite);
  if (!isLanguageWay(run.way)) return `a way called ${run.way}`;
  if (!shown) return `runs of ${run.steps} steps`;
  return complete ? undefined : `a run of “${labelOf(run.way)}” that lacks numbers`;
}

export const compute: Compute<typeof controls, Data> = async (library, { view, ways }) => {
  const { results: all, problems } = readResults(await library.recorded?.('language'));
  const resultsOf = (name: ViewName) => {
    const { task, width, lengths } = views[name];
    return all.filter(
      (result) => result.task === task && result.width === width && lengths.includes(result.steps),
    );
  };
  const rowsOf = (name: ViewName, ways: readonly LanguageWay[], lengths = views[name].lengths): Row[] =>
    lengths.flatMap((steps) =>
      ways.flatMap((way) => {
        const results = resultsOf(name)
          .filter((result) => result.way === way && result.steps === steps && isAsScripted(result))
          .sort((a, b) => Number(b.ours) - Number(a.ours));
        const starts = [...new Set(results.map(({ start }) => start))];
        return starts.flatMap((start): Row[] => {
          const started = results.filter((result) => result.start === start);
          const again = started.filter(({ ours }) => ours).slice(1);
          const row = { way, start, steps, tokens: started[0]?.tokens ?? 0 };
          return [
            { ...row, results: started.filter((result) => !again.includes(result)) },
            ...again.map((result) => ({ ...row, device: result.device, results: [result] })),
          ];
        });
      }),
    );
  const first = firstWays[view];
  const rows =
    ways === 'all'
      ? rowsOf(view, [...new Set([...(view === 'ladder' ? first : []), ...languageWays])])
      : rowsOf(view, first, view === 'ladder' ? views.ladder.lengths.slice(0, 1) : undefined).filter(
          ({ device }) => !device,
        );
  const lacking = first.filter((way) => !rows.some((row) => row.way === way)).map(labelOf);
  return {
    rows,
    larger: { short: rowsOf('short', languageWays), long: rowsOf('long', languageWays) },
    byRate: movedByRate(resultsOf(view)),
    parts: [...new Set(resultsOf(view).flatMap(({ parts }) => parts))].sort(),
    problems: [
      ...(lacking.length > 0 ? [`The file lacks runs of: ${lacking.join('; ')}.`] : []),
      ...(problems.length > 0 ? [`Not drawn: ${problems.join('; ')}.`] : []),
    ],
  };
};

function movedByRate(results: readonly Result[]): Data['byRate'] {
  const moves = results.flatMap((result) => {
    const atScripted = results.find(
      (other) => isAsScripted(other) && keyOf(other) === keyOf({ ...result, rate: asScripted.rate }),
    );
    if (!atScripted || result === atScripted) return [];
    return [{ ...result, move: Math.abs(result.mean - atScripted.mean) }];
  });
  return {
    most: Math.max(0, ...moves.map(({ move }) => move)),
    ways: [...new Set(moves.map(({ way }) => way))],
    ours: moves.some(({ ours }) => ours),
  };
}
