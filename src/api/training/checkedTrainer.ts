// The options of a trainer, checked.
import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { pairTerms } from '../scores/schemeTerms.js';
import { checkedBatch, checkedTask, type TaskOptions, type TrainingBatch } from './tasks.js';
import type {
  BatchesTrainerOptions,
  TaskTrainerOptions,
  TrainerOptions,
  TrainingScheme,
  TrainingTerm,
} from './trainerOptions.js';

const tableNames = ['learned', 'sinusoid', 'frozen'] as const;
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

/** Checks the options of a trainer, before anything is allocated. */
export function checkedTrainer(raw: RawModule, options: TrainerOptions) {
  check.object('options', options);
  const given = options as Partial<TaskTrainerOptions & BatchesTrainerOptions>;
  if ((given.task == null) === (given.batches == null)) {
    throw new TypeError(
      `A trainer takes either task or batches; ${given.task == null ? 'neither' : 'both'} of them ${given.task == null ? 'is' : 'are'} given.`,
    );
  }
  if (given.batches != null && typeof given.batches !== 'function')
    check.refuse('batches', 'a function that gives tokens and targets', given.batches, false);

  const schemes = raw.trainingSchemes();
  const ids = schemes.map(({ id }) => id);
  const place = check.placeIn('scheme', given.scheme ?? 'add', ids);
  const facts = schemes[place] as SchemeFacts;
  const scheme = facts.id;
  const tableOf = check.placeIn('table', given.table ?? 'learned', tableNames);
  const d_model = check.integer('d_model', given.d_model ?? 32, 1);
  if (scheme === 'concat' && d_model < 2)
    throw new RangeError(`d_model must be from 2 up to be parted by 'concat'; it is ${d_model}.`);
  const d_position = check.integer(
    'd_position',
    given.d_position ?? Math.max(1, Math.floor(d_model / 2)),
    1,
    Math.max(1, d_model - 1),
  );
  const stream = facts.width * d_model;
  const heads = given.heads ?? 2;
  const d_head = check.headWidth(heads, stream, 'the stream', 'channels');
  if (scheme === 'rope' && d_head % 2 !== 0) {
    throw new RangeError(
      `heads must divide the ${stream} channels of the stream into even widths for 'rope', which turns pairs; ${heads} makes them ${d_head}.`,
    );
  }
  const layers = check.integer('layers', given.layers ?? 1, 1, 12);
  const flags = {
    layerNorm: check.flag('layerNorm', given.layerNorm ?? true),
    causal: check.flag('causal', given.causal ?? false),
    zeroScores: check.flag('zeroScores', given.zeroScores ?? false),
    fixedTokens: check.flag('fixedTokens', given.fixedTokens ?? false),
    fixedPositions: check.flag('fixedPositions', given.fixedPositions ?? false),
    scaleTokens: check.flag('scaleTokens', given.scaleTokens ?? false),
  };
  const single = check.precision(given.precision ?? 'float32') === 'float32';
  const rate = (name: string, value: unknown) => check.representable(name, value, single, 0);
  const positive = (name: string, value: unknown) =>
    check.representable(name, check.positive(name, value), single);
  const beta = (name: string, value: unknown) => {
    const checked = check.number(name, value, 0);
    if (checked >= 1) check.refuse(name, 'below 1', checked);
    return checked;
  };
  const sigma = rate('sigma', given.sigma ?? 0.1);
  const sigmas = {
    sigmaTokens: rate('sigmaTokens', given.sigmaTokens ?? sigma),
    sigmaPositions: rate('sigmaPositions', given.sigmaPositions ?? (scheme === 'multiply' ? 1 : sigma)),
  };
  const numbers = {
    ...sigmas,
    learningRate: rate('learningRate', given.learningRate ?? 5e-3),
    weightDecay: rate('weightDecay', given.weightDecay ?? 0.01),
    warmUp: check.integer('warmUp', given.warmUp ?? 20, 0),
    steps: check.integer('steps', given.steps ?? 200, 1),
    beta1: beta('beta1', given.beta1 ?? 0.9),
    beta2: beta('beta2', given.beta2 ?? 0.98),
    epsilon: positive('epsilon', given.epsilon ?? 1e-8),
    clip: positive('clip', given.clip ?? 1),
  };
  const seed = check.seed('seed', given.seed ?? 1);
  const belongs = (there: boolean, sentence: string, value: unknown) => {
    if (!there && value !== undefined) throw new RangeError(`${sentence}; the scheme is '${scheme}'.`);
  };
  belongs(scheme === 'concat', "d_position belongs to 'concat'", given.d_position);
  belongs(facts.hasTable, 'table belongs to schemes with position rows', given.table);
  const noTerms = noTermsOf(facts, flags.zeroScores);
  const cuts = checkedTerms('cuts', given.cuts ?? [], noTerms);

  const model = {
    cuts,
    noTerms,
    facts,
    scheme: place,
    stream,
    table: tableOf,
    d_model,
    d_position,
    heads,
    layers,
    ...flags,
    ...numbers,
    seed,
    single,
  };
  const memory = (sizes: { vocabulary: number; classes: number; positions: number }, tokens: number) => {
    const bytes = memoryOf({ ...sizes, stream, heads, layers, single }) + 8 * tokens;
    check.fits(`A model of ${stream} channels, ${layers} layers and ${sizes.positions} positions`, bytes);
    return bytes;
  };
  if (given.batches) {
    const { batches } = given;
    const vocabulary = check.integer('vocabulary', given.vocabulary, 1);
    const classes = check.integer('classes', given.classes, 1);
    check.object('evaluation', given.evaluation);
    const n = (given.evaluation as TrainingBatch).n;
    const positions = check.integer('positions', given.positions ?? n, 1);
    const sizes = { vocabulary, classes, positions };
    const evaluation = checkedBatch('evaluation', given.evaluation, sizes);
    const bytes = memory(sizes, evaluation.tokens.length);
    return { ...model, ...sizes, evaluation, batches, bytes };
  }
  const task = checkedTask(raw, given as TaskOptions);
  const positions = check.integer('positions', given.positions ?? task.n, task.n);
  const sequences = check.integer('sequences', given.sequences ?? 32, 1, maxSequences);
  const evaluationSequences = check.integer(
    'evaluationSequences',
    given.evaluationSequences ?? 128,
    1,
    maxSequences,
  );
  const bytes = memory({ ...task, positions }, task.n * (sequences + 2 * evaluationSequences));
  return { ...model, ...task, positions, sequences, evaluationSequences, bytes };
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

interface Sizes {
  vocabulary: number;
  classes: number;
  positions: number;
  stream: number;
  heads: number;
  layers: number;
  single: boolean;
}

/** An upper bound on a trainer's memory: see Model::take_memory(), Fusion, and row_angles(), which is in double. */
function memoryOf({ vocabulary: V, classes, positions: L, stream: D, heads, layers, single }: Sizes) {
  const most = Math.max(L, 64);
  const layer = most * (11 * D + L * heads + 2) + 10 * D * D;
  const part = most * (21 * D + classes + 1) + 3 * D * classes;
  const positional = (2 * heads + 5) * L * L + 8 * L * D + D * D;
  const tables = 3 * (V + L) * D + 2 * D * D;
  const parameters = (V + L + classes + 2 * D) * D + layers * 4 * D * D + heads * 2 * L;
  const values = layers * layer + part + positional + tables + 5 * parameters;
  return (single ? 4 : 8) * values + 8 * 6 * (V + L) * D;
}
