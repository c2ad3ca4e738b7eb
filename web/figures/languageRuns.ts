// The recorded language models of figure “language”: their ways in, its views, what is read of the file, and means over
// runs.
import type { SchemeId, SmallSuperpose } from 'superpose';
import type { Controls, StateOf } from './controls.js';
import type { Compute } from './figure.js';

export const groups = {
  nowhere: 'nowhere',
  input: 'at the input',
  values: 'in attention, values too',
  first: 'in the first layer’s scores alone',
  scores: 'in every layer’s scores alone',
} as const;

/** The ways in: the label of each, where position goes, the scheme whose scores its row opens, and a sentence. */
const wayTexts = {
  none: {
    label: 'no position',
    group: 'nowhere',
    scheme: 'none',
    sentence: 'Nothing says where a token stands. Each still sees only those before it.',
  },
  project: {
    label: 'concatenated, mapped back',
    group: 'input',
    scheme: 'concat-full',
    sentence: 'The two are concatenated, and a matrix maps them back to the old width.',
  },
  'add-sinusoid': {
    label: 'added sinusoid',
    group: 'input',
    scheme: 'add',
    sentence: 'A fixed pattern of waves is added to each token’s vector.',
  },
  'add-disjoint-start': {
    label: 'added, begun apart',
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
    label: 'added, cross terms cut',
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
    label: 'concatenated, same width',
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
    label: 'values too, first layer',
    group: 'values',
    scheme: 'add',
    sentence: 'The first layer’s queries, keys and values read a position beside the token.',
  },
  'add-normalized-to-attention': {
    label: 'values too, every layer',
    group: 'values',
    scheme: 'add',
    sentence: 'The queries, keys and values of every layer read one.',
  },
  'add-to-first-attention': {
    label: 'not into the stream',
    group: 'values',
    scheme: 'add',
    sentence: 'Only what the first layer’s attention reads has positions added to it.',
  },
  'add-to-first-queries-keys': {
    label: 'nor into values',
    group: 'first',
    scheme: 'add',
    sentence: 'Only the first layer’s queries and keys have positions added to them.',
  },
  'add-normalized-to-first-queries-keys': {
    label: 'normalized apart',
    group: 'first',
    scheme: 'add',
    sentence: 'The same, with tokens and positions normalized before they are added.',
  },
  'add-normalized-to-queries-keys': {
    label: 'in every layer',
    group: 'scores',
    scheme: 'add',
    sentence: 'The same in every layer.',
  },
  'concat-to-queries-keys': {
    label: 'in every layer, concatenated',
    group: 'scores',
    scheme: 'concat-full',
    sentence: 'In every layer queries and keys read the token and, beside it, its position.',
  },
  rope: {
    label: 'rotated (RoPE)',
    group: 'scores',
    scheme: 'rope',
    sentence: 'Each query and key is turned by an angle that grows with its position.',
  },
  tupe: {
    label: 'scores kept separate (TUPE)',
    group: 'scores',
    scheme: 'tupe-a',
    sentence: 'Tokens are compared with tokens and positions with positions; the scores are added.',
  },
  'decoupled-rope': {
    label: 'alongside (DeepSeek’s rotated part)',
    group: 'scores',
    scheme: 'decoupled-rope',
    sentence:
      'Beside the 64 numbers of a head’s query or key stand 32 that are turned. Nothing else is DeepSeek’s.',
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
  way: LanguageWay;
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

/** How far a way is ahead of adding, as tools/language recorded it of the same source, task and settings. */
export interface Lead extends Pick<Run, 'source' | 'way' | 'task' | 'steps' | 'rate' | 'quiet' | 'rowRate'> {
  /** How many runs it compares: of this way, and of adding. */
  seeds: number;
  addedSeeds: number;
  /** The difference of the means; below 0, the way is behind. */
  lead: number;
  /** Half of Welch's 95 % interval. */
  margin: number;
}

/** Runs of one way by one implementation: the project’s own, or the one before it. */
export interface Made {
  own: boolean;
  runs: Run[];
  mean: number;
  /** Of these very runs; undefined of adding itself, and of a single run. */
  lead?: Lead | undefined;
  /** By the parts of the training at which it was looked at. */
  curve: Map<number, number>;
}

export interface Row {
  way: LanguageWay;
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
  /** What a mean moved by when only the learning rate was another, at most; and of which ways it is known. */
  byRate: { most: number; ways: LanguageWay[]; own: boolean };
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
export function readRuns(file: unknown): {
  sources: Source[];
  runs: Run[];
  leads: Lead[];
  problems: string[];
} {
  const { format, version, sources, runs, leads } = (file ?? {}) as Record<string, unknown>;
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
    if (!isLanguageWay(run.way)) problems.add(`a way called ${run.way}`);
    else if (!shown) problems.add(`runs of ${run.steps} steps`);
    else if (!complete) problems.add(`a run of “${labelOf(run.way)}” that lacks numbers`);
    else return true;
    return false;
  });
  return { sources, runs: usable, leads: Array.isArray(leads) ? leads : [], problems: [...problems] };
}

export const compute: Compute<typeof controls, Data> = async (library, { view, ways }) => {
  const { sources, runs, leads, problems } = readRuns(await library.recorded?.('language'));
  const superpose = await library.small();
  const runsOf = (name: ViewName) =>
    runs.filter(({ task, source }) => {
      const { task: asked, width } = views[name];
      return task === asked && sources[source]?.size.width === width;
    });
  const rowsOf = (name: ViewName, ways: readonly LanguageWay[], lengths: readonly number[]): Row[] =>
    lengths.flatMap((steps) =>
      ways.flatMap((way) => {
        const here = runsOf(name).filter(
          (run) => run.way === way && run.steps === steps && isAsScripted(run),
        );
        const made = [true, false].flatMap((own) => {
          const by = here.filter(({ source }) => (sources[source]?.by === 'tools/language') === own);
          return by.length > 0 ? [madeOf(superpose, own, by, sources, leads)] : [];
        });
        const { batch = 0, size } = sources[here[0]?.source ?? -1] ?? {};
        const tokens = (steps * batch * (size?.length ?? 0)) / 1e6;
        return made.length > 0 ? [{ way, steps, tokens, made }] : [];
      }),
    );
  const { lengths } = views[view];
  const few = firstWays[view];
  const wanted = ways === 'few' ? few : [...new Set([...(view === 'ladder' ? few : []), ...languageWays])];
  const rows = rowsOf(view, wanted, ways === 'few' && view === 'ladder' ? lengths.slice(0, 1) : lengths);
  const lacking = few.filter((way) => !rows.some((row) => row.way === way)).map(labelOf);
  return {
    rows,
    larger: { short: rowsOf('short', languageWays, [3000]), long: rowsOf('long', languageWays, [9000]) },
    byRate: movedByRate(
      superpose,
      runsOf(view).filter(({ steps }) => lengths.includes(steps)),
      sources,
    ),
    parts: [...new Set(runsOf(view).flatMap(({ source }) => sources[source]?.curve ?? []))].sort(),
    problems: [
      ...(lacking.length > 0 ? [`The file has no runs of: ${lacking.join('; ')}.`] : []),
      ...(problems.length > 0 ? [`Not drawn: ${problems.join('; ')}.`] : []),
    ],
  };
};

const isAsScripted = ({ rate, quiet, rowRate = 1 }: Pick<Run, 'rate' | 'quiet' | 'rowRate'>): boolean =>
  rate === asScripted.rate && quiet === asScripted.quiet && rowRate === asScripted.rowRate;

const meanOf = (superpose: SmallSuperpose, runs: readonly Run[], of: (run: Run) => number): number =>
  superpose.summary(Float64Array.from(runs, of)).mean;

function madeOf(
  superpose: SmallSuperpose,
  own: boolean,
  runs: Run[],
  sources: readonly Source[],
  leads: readonly Lead[],
): Made {
  const [first] = runs;
  const parts = sources[first?.source ?? -1]?.curve ?? [];
  const curve = parts.map((part, k) => {
    const here = runs.filter(({ source }) => sources[source]?.curve[k] === part);
    return [part, meanOf(superpose, here, ({ losses }) => losses[k] as number)] as const;
  });
  const lead = leads.find(
    (one) =>
      one.source === first?.source &&
      one.way === first.way &&
      one.task === first.task &&
      one.steps === first.steps &&
      one.seeds === runs.length &&
      isAsScripted(one),
  );
  return { own, runs, mean: meanOf(superpose, runs, endOf), lead, curve: new Map(curve) };
}

function movedByRate(superpose: SmallSuperpose, runs: readonly Run[], sources: readonly Source[]) {
  const varied = runs.filter((run) => isAsScripted({ ...run, rate: asScripted.rate }));
  const moves = varied.flatMap((one) => {
    const same = varied.filter(
      ({ way, source, steps }) => way === one.way && source === one.source && steps === one.steps,
    );
    const at = (rate: number) =>
      meanOf(
        superpose,
        same.filter((run) => run.rate === rate),
        endOf,
      );
    if (one.rate === asScripted.rate || !same.some(isAsScripted)) return [];
    return [{ ...one, move: Math.abs(at(one.rate) - at(asScripted.rate)) }];
  });
  return {
    most: Math.max(0, ...moves.map(({ move }) => move)),
    ways: [...new Set(moves.map(({ way }) => way))],
    own: moves.some(({ source }) => sources[source]?.by === 'tools/language'),
  };
}
