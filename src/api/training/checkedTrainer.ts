// Checks the options of a trainer, before anything is allocated.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { pairTerms } from '../scores/scores.js';
import { checkedBatch, checkedTask, type TaskOptions, type TrainingBatch, taskOptionNames } from './tasks.js';
import type {
  BatchTrainerOptions,
  TaskTrainerOptions,
  TrainerOptions,
  TrainingScheme,
  TrainingTerm,
} from './trainerOptions.js';

const tableNames = ['learned', 'sinusoid'] as const;
const scheduleNames = ['cosine', 'constant'] as const;
const maxSequences = 2 ** 16;

/** The properties of a scheme in the core. */
export interface SchemeFacts {
  /** Its name. */
  id: TrainingScheme;
  /** Whether token and position rows are summands of its stream. */
  inStream: boolean;
  /** Whether queries and keys of the first layer read the sum of token and position rows. */
  sums: boolean;
  /** Whether a score of the first layer is the sum of terms of tokens and positions. */
  hasTerms: boolean;
  /** Whether positions have rows. */
  hasTable: boolean;
  /** The width of its stream, in multiples of d_model. */
  width: number;
}

export const noSum = ({ id }: SchemeFacts) =>
  `The stream under '${id}' is no sum of token and position rows.`;

/** The options of either kind of trainer. */
type AnyOptions = Partial<TaskTrainerOptions & BatchTrainerOptions>;

const commonNames: check.OptionNames<Omit<BatchTrainerOptions, 'evaluation' | 'vocabulary' | 'classes'>> = {
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
const batchNames: check.OptionNames<BatchTrainerOptions> = {
  evaluation: true,
  vocabulary: true,
  classes: true,
  ...commonNames,
};

export function checkedTrainer(raw: RawModule, options: TrainerOptions) {
  check.knownOptions('options', options, { ...taskNames, ...batchNames });
  const input = options as AnyOptions;
  const hasNoTask = input.task == null;
  if (hasNoTask === (input.evaluation == null)) {
    throw new TypeError(`A trainer needs either task or evaluation; got ${hasNoTask ? 'neither' : 'both'}.`);
  }
  // The options of either kind may have `task` or `evaluation`, which belongs to the other kind, as
  // undefined.
  if (hasNoTask)
    check.knownOptions('options', input, { ...batchNames, task: true } as check.OptionNames<AnyOptions>);
  else
    check.knownOptions('options', input, { ...taskNames, evaluation: true } as check.OptionNames<AnyOptions>);
  const model = checkedModel(raw, input);
  const optimizer = checkedOptimizer(input);
  const seed = check.seed('seed', input.seed ?? 1);
  const noTerms = noTermsOf(model.facts, model.zeroScores);
  const cuts = checkedTerms('cuts', input.cuts ?? [], noTerms);
  const examples: Examples = hasNoTask ? userExamples(input) : taskExamples(raw, input);
  const checked = { ...model, ...optimizer, ...examples, seed, cuts, noTerms };
  const bytes = raw.trainerBytes(checked, checked.tokens);
  check.requireMemory(
    `A model of ${checked.stream} channels, ${checked.layers} layers and ${checked.positions} positions`,
    bytes,
  );
  return { ...checked, bytes };
}

function checkedModel(raw: RawModule, input: AnyOptions) {
  const schemes = raw.trainingSchemes();
  const ids = schemes.map(({ id }) => id);
  const scheme = check.oneOf('scheme', input.scheme ?? 'add', ids);
  const facts = schemes[ids.indexOf(scheme)] as SchemeFacts;
  const table = check.oneOf('table', input.table ?? 'learned', tableNames);
  const d_model = check.integer('d_model', input.d_model ?? 32, 1);
  if (facts.id === 'concat' && d_model < 2)
    throw new RangeError(`d_model must be from 2 up to be parted by 'concat'; it is ${d_model}.`);
  const half = Math.max(1, Math.floor(d_model / 2));
  const d_position = check.integer('d_position', input.d_position ?? half, 1, Math.max(1, d_model - 1));
  const stream = facts.width * d_model;
  const heads = input.heads ?? 2;
  const d_head = check.headWidth(heads, stream, 'the stream', 'channels');
  if (facts.id === 'rope' && d_head % 2 !== 0) {
    throw new RangeError(
      `heads must divide the ${stream} channels of the stream into even widths for 'rope', which turns pairs; ${heads} makes them ${d_head}.`,
    );
  }
  const belongs = (there: boolean, sentence: string, value: unknown) => {
    if (!there && value !== undefined) throw new RangeError(`${sentence}; the scheme is '${facts.id}'.`);
  };
  belongs(facts.id === 'concat', "d_position belongs to 'concat'", input.d_position);
  belongs(facts.hasTable, 'table belongs to schemes with position rows', input.table);
  const sigma = check.single('sigma', input.sigma ?? 0.1, 0);
  const ofPositions = input.sigmaPositions ?? (facts.id === 'multiply' ? 1 : sigma);
  return {
    facts,
    scheme,
    table,
    d_model,
    d_position,
    stream,
    heads,
    layers: check.integer('layers', input.layers ?? 1, 1, 12),
    layerNorm: check.flag('layerNorm', input.layerNorm ?? true),
    causal: check.flag('causal', input.causal ?? false),
    zeroScores: check.flag('zeroScores', input.zeroScores ?? false),
    fixedTokens: check.flag('fixedTokens', input.fixedTokens ?? false),
    fixedPositions: check.flag('fixedPositions', input.fixedPositions ?? false),
    scaleTokens: check.flag('scaleTokens', input.scaleTokens ?? false),
    sigmaTokens: check.single('sigmaTokens', input.sigmaTokens ?? sigma, 0),
    sigmaPositions: check.single('sigmaPositions', ofPositions, 0),
  };
}

function checkedOptimizer(input: AnyOptions) {
  return {
    learningRate: check.single('learningRate', input.learningRate ?? 5e-3, 0),
    weightDecay: check.single('weightDecay', input.weightDecay ?? 0.01, 0),
    schedule: check.oneOf('schedule', input.schedule ?? 'cosine', scheduleNames),
    warmUp: check.integer('warmUp', input.warmUp ?? 20, 0),
    steps: check.integer('steps', input.steps ?? 200, 1),
  };
}

type UserExamples = ReturnType<typeof userExamples>;
/** The examples of a task, or the caller's own. */
type Examples = Partial<UserExamples & ReturnType<typeof taskExamples>> & Omit<UserExamples, 'evaluation'>;

function userExamples(input: AnyOptions) {
  const vocabulary = check.integer('vocabulary', input.vocabulary, 1);
  const classes = check.integer('classes', input.classes, 1);
  check.object('evaluation', input.evaluation);
  const { n } = input.evaluation as TrainingBatch;
  const positions = check.integer('positions', input.positions ?? n, 1);
  const sizes = { vocabulary, classes, positions };
  const evaluation = checkedBatch('evaluation', input.evaluation, sizes);
  return { ...sizes, evaluation, tokens: evaluation.tokens.length };
}

function taskExamples(raw: RawModule, input: AnyOptions) {
  const task = checkedTask(raw, input as TaskOptions);
  const positions = check.integer('positions', input.positions ?? task.n, task.n);
  const sequencesOf = (name: string, value: unknown) => check.integer(name, value, 1, maxSequences);
  const sequences = sequencesOf('sequences', input.sequences ?? 32);
  const evaluationSequences = sequencesOf('evaluationSequences', input.evaluationSequences ?? 128);
  const tokens = task.n * (sequences + 2 * evaluationSequences);
  return { ...task, positions, sequences, evaluationSequences, tokens };
}

/** A sentence about why a score of the first layer is not a sum of terms; null where it is one. */
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
  check.distinct(name, value);
  if (value.length > 0 && noTerms !== null) throw new RangeError(noTerms);
  return [...value];
}

export type CheckedTrainer = ReturnType<typeof checkedTrainer>;
