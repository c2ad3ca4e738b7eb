// The options of a trainer, checked.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { pairTerms } from '../scores/scores.js';
import { checkedBatch, checkedTask, type TaskOptions, type TrainingBatch, taskOptionNames } from './tasks.js';
import type {
  OwnTrainerOptions,
  TaskTrainerOptions,
  TrainerOptions,
  TrainingScheme,
  TrainingTerm,
} from './trainerOptions.js';

const tableNames = ['learned', 'sinusoid'] as const;
const scheduleNames = ['cosine', 'constant'] as const;
const maxSequences = 2 ** 16;

/** What a scheme is, as the core has it. */
export interface SchemeFacts {
  /** Its name. */
  id: TrainingScheme;
  /** Whether token and position rows are summands of its stream. */
  inStream: boolean;
  /** Whether queries and keys of the first layer read their sum. */
  sums: boolean;
  /** Whether a score of the first layer is a sum of terms of tokens and positions. */
  hasTerms: boolean;
  /** Whether positions have rows. */
  hasTable: boolean;
  /** Of its stream, in d_model. */
  width: number;
}

export const noSum = ({ id }: SchemeFacts) =>
  `The stream under '${id}' is no sum of token and position rows.`;

type Given = Partial<TaskTrainerOptions & OwnTrainerOptions>;

const commonNames: check.OptionNames<Omit<OwnTrainerOptions, 'evaluation' | 'vocabulary' | 'classes'>> = {
  scheme: true,
  table: true,
  d_model: true,
  d_position: true,
  heads: true,
  layers: true,
  layerNorm: true,
  causal: true,
  zeroScores: true,
  fixedTokens: true,
  fixedPositions: true,
  sigma: true,
  sigmaTokens: true,
  sigmaPositions: true,
  scaleTokens: true,
  positions: true,
  learningRate: true,
  weightDecay: true,
  warmUp: true,
  schedule: true,
  steps: true,
  cuts: true,
  seed: true,
};
const taskNames: check.OptionNames<TaskTrainerOptions> = {
  ...taskOptionNames,
  ...commonNames,
  sequences: true,
  evaluationSequences: true,
};
const ownNames: check.OptionNames<OwnTrainerOptions> = {
  evaluation: true,
  vocabulary: true,
  classes: true,
  ...commonNames,
};

/** Checks the options of a trainer, before anything is allocated. */
export function checkedTrainer(raw: RawModule, options: TrainerOptions) {
  check.knownOptions('options', options, { ...taskNames, ...ownNames });
  const given = options as Given;
  const isOwn = given.task == null;
  if (isOwn === (given.evaluation == null)) {
    throw new TypeError(
      `A trainer takes either task or evaluation; ${isOwn ? 'neither' : 'both'} of them ${isOwn ? 'is' : 'are'} given.`,
    );
  }
  // Each kind may be given the other's first option as undefined.
  if (isOwn) check.knownOptions('options', given, { ...ownNames, task: true } as check.OptionNames<Given>);
  else check.knownOptions('options', given, { ...taskNames, evaluation: true } as check.OptionNames<Given>);
  const model = checkedModel(raw, given);
  const optimizer = checkedOptimizer(given);
  const seed = check.seed('seed', given.seed ?? 1);
  const noTerms = noTermsOf(model.facts, model.zeroScores);
  const cuts = checkedTerms('cuts', given.cuts ?? [], noTerms);
  const examples: Examples = isOwn ? ownExamples(given) : taskExamples(raw, given);
  const checked = { ...model, ...optimizer, ...examples, seed, cuts, noTerms };
  const bytes = memoryOf(checked);
  check.fits(
    `A model of ${checked.stream} channels, ${checked.layers} layers and ${checked.positions} positions`,
    bytes,
  );
  return { ...checked, bytes };
}

function checkedModel(raw: RawModule, given: Given) {
  const schemes = raw.trainingSchemes();
  const ids = schemes.map(({ id }) => id);
  const scheme = check.oneOf('scheme', given.scheme ?? 'add', ids);
  const facts = schemes[ids.indexOf(scheme)] as SchemeFacts;
  const table = check.oneOf('table', given.table ?? 'learned', tableNames);
  const d_model = check.integer('d_model', given.d_model ?? 32, 1);
  if (facts.id === 'concat' && d_model < 2)
    throw new RangeError(`d_model must be from 2 up to be parted by 'concat'; it is ${d_model}.`);
  const half = Math.max(1, Math.floor(d_model / 2));
  const d_position = check.integer('d_position', given.d_position ?? half, 1, Math.max(1, d_model - 1));
  const stream = facts.width * d_model;
  const heads = given.heads ?? 2;
  const d_head = check.headWidth(heads, stream, 'the stream', 'channels');
  if (facts.id === 'rope' && d_head % 2 !== 0) {
    throw new RangeError(
      `heads must divide the ${stream} channels of the stream into even widths for 'rope', which turns pairs; ${heads} makes them ${d_head}.`,
    );
  }
  const belongs = (there: boolean, sentence: string, value: unknown) => {
    if (!there && value !== undefined) throw new RangeError(`${sentence}; the scheme is '${facts.id}'.`);
  };
  belongs(facts.id === 'concat', "d_position belongs to 'concat'", given.d_position);
  belongs(facts.hasTable, 'table belongs to schemes with position rows', given.table);
  const sigma = check.single('sigma', given.sigma ?? 0.1, 0);
  const ofPositions = given.sigmaPositions ?? (facts.id === 'multiply' ? 1 : sigma);
  return {
    ...{ facts, scheme, table, d_model, d_position, stream, heads },
    layers: check.integer('layers', given.layers ?? 1, 1, 12),
    layerNorm: check.flag('layerNorm', given.layerNorm ?? true),
    causal: check.flag('causal', given.causal ?? false),
    zeroScores: check.flag('zeroScores', given.zeroScores ?? false),
    fixedTokens: check.flag('fixedTokens', given.fixedTokens ?? false),
    fixedPositions: check.flag('fixedPositions', given.fixedPositions ?? false),
    scaleTokens: check.flag('scaleTokens', given.scaleTokens ?? false),
    sigmaTokens: check.single('sigmaTokens', given.sigmaTokens ?? sigma, 0),
    sigmaPositions: check.single('sigmaPositions', ofPositions, 0),
  };
}

function checkedOptimizer(given: Given) {
  return {
    learningRate: check.single('learningRate', given.learningRate ?? 5e-3, 0),
    weightDecay: check.single('weightDecay', given.weightDecay ?? 0.01, 0),
    schedule: check.oneOf('schedule', given.schedule ?? 'cosine', scheduleNames),
    warmUp: check.integer('warmUp', given.warmUp ?? 20, 0),
    steps: check.integer('steps', given.steps ?? 200, 1),
  };
}

type OwnExamples = ReturnType<typeof ownExamples>;
/** Of a task, or one's own. */
type Examples = Partial<OwnExamples & ReturnType<typeof taskExamples>> & Omit<OwnExamples, 'evaluation'>;

function ownExamples(given: Given) {
  const vocabulary = check.integer('vocabulary', given.vocabulary, 1);
  const classes = check.integer('classes', given.classes, 1);
  check.object('evaluation', given.evaluation);
  const { n } = given.evaluation as TrainingBatch;
  const positions = check.integer('positions', given.positions ?? n, 1);
  const sizes = { vocabulary, classes, positions };
  const evaluation = checkedBatch('evaluation', given.evaluation, sizes);
  return { ...sizes, evaluation, tokens: evaluation.tokens.length };
}

function taskExamples(raw: RawModule, given: Given) {
  const task = checkedTask(raw, given as TaskOptions);
  const positions = check.integer('positions', given.positions ?? task.n, task.n);
  const sequencesOf = (name: string, value: unknown) => check.integer(name, value, 1, maxSequences);
  const sequences = sequencesOf('sequences', given.sequences ?? 32);
  const evaluationSequences = sequencesOf('evaluationSequences', given.evaluationSequences ?? 128);
  const tokens = task.n * (sequences + 2 * evaluationSequences);
  return { ...task, positions, sequences, evaluationSequences, tokens };
}

/** Why a score of the first layer is not a sum of terms, in a sentence; null where it is one. */
function noTermsOf(scheme: SchemeFacts, zeroScores: boolean): string | null {
  if (zeroScores) return 'All scores are 0, so they have no terms.';
  if (scheme.hasTerms) return null;
  return scheme.hasTable
    ? noSum(scheme)
    : `Under '${scheme.id}' positions have no rows, so scores have no terms of them.`;
}

export function checkedTerms(name: string, value: unknown, noTerms: string | null): TrainingTerm[] {
  if (!Array.isArray(value)) check.refuse(name, 'an array of terms', value, false);
  for (const term of value) check.oneOf(`an entry of ${name}`, term, pairTerms);
  check.once(name, value);
  if (value.length > 0 && noTerms !== null) throw new RangeError(noTerms);
  return [...value];
}

export type CheckedTrainer = ReturnType<typeof checkedTrainer>;

type Size = 'vocabulary' | 'classes' | 'positions' | 'stream' | 'heads' | 'layers' | 'tokens';

/**
 * An upper bound on a trainer's memory: Model's Layer for each layer; Parts, Trace and what backward() has at once; Made,
 * its gradient and what makes both; parameters, their gradient, another one and two moments; decompositions of tables, in
 * double; `tokens` are ids of examples that are held.
 */
function memoryOf({
  vocabulary: V,
  classes,
  positions: L,
  stream: D,
  heads,
  layers,
  tokens,
}: Record<Size, number>) {
  const most = Math.max(L, 64);
  const layer = most * (8 * D + L * heads + 2) + 8 * D * D;
  const part = most * (32 * D + 2 * L * heads + 2 * classes + 4) + 4 * D * D + D * classes;
  const made = 8 * (V + L) * D + 2 * D * classes + 3 * heads * L * L + 8 * L * D + 4 * D * D + 2 * L * L;
  const parameters = (V + L + classes + 2 * D) * D + layers * 4 * D * D + heads * 2 * L;
  return 4 * (layers * layer + part + made + 5 * parameters) + 8 * 6 * (V + L) * D + 8 * tokens;
}
