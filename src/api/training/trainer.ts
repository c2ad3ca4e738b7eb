import * as check from '../check.js';
import { type RotaryConvention, rotaryConvention, type Stretch } from '../encodings/rotary.js';
import { type Handle, held } from '../handle.js';
import type { Raw } from '../module.js';
import { type Floats, type Precision, type Table, table } from '../table.js';
import { checkedBatch, checkedTask, checkedTokens, type TaskOptions, type TrainingBatch } from './tasks.js';

const schemeNames = [
  'none',
  'add',
  'concat',
  'wide_concat',
  'untied',
  'rope',
  'alibi',
  't5',
  'qk',
  'values',
  'shortformer',
  'every_layer',
  'project',
  'gate',
  'row_gate',
  'film',
  'multiply',
] as const;
const otherWays = schemeNames.slice(schemeNames.indexOf('qk'));
const tableNames = ['learned', 'sinusoid', 'frozen'] as const;
const termNames = ['token_token', 'token_position', 'position_token', 'position_position'] as const;
/** Those of schemes without position rows. */
const askedNames = [...termNames, 'token_offset', 'key'] as const;

/**
 * How order gets into a small model: 'add', x = e + p; 'concat', x = [e | p] in the same width;
 * 'wide_concat', each as wide as d_model; 'untied', separate scores of positions with their own weights
 * (TUPE, arXiv 2006.15595); 'rope', queries and keys turned (arXiv 2104.09864); 'alibi' (arXiv 2108.12409);
 * 't5', a bias for each head and offset (arXiv 1910.10683), one bucket per offset; 'none'.
 *
 * Other ways in: 'qk', queries and keys of every layer read x + p and values x = e; 'values', the other way
 * round; 'shortformer', p added to the normalised input of queries and keys (arXiv 2012.15832);
 * 'every_layer', x = x + p before every layer; 'project', [e | p] W_f, which is adding with two learned maps;
 * 'gate', g e + (1 − g) p with g = σ([e | p] W_g) for each channel, and 'row_gate' with one g for a row;
 * 'film', e (1 + p W_γ) + p W_β (arXiv 1709.07871); 'multiply', e (1 + p).
 */
export type TrainingScheme = (typeof schemeNames)[number];

/** A term of the first layer's score: the query's part, then the key's. */
export type TrainingTerm = (typeof termNames)[number];

/**
 * Under 'none', 'rope', 'alibi' and 't5' positions have no rows, and a term asks about what it varies with, all means
 * removed: tokens' means are those of the evaluation, a turn's or a bias's that over the pairs that attend. Then there
 * are two terms more: 'token_offset', tokens with tokens by their distance, and 'key', what a key has whoever asks.
 */
export type AskedTrainingTerm = (typeof askedNames)[number];

/**
 * The model, from tokens [n] to logits [n, classes]: layers of attention, each with a GELU MLP if `mlp`, and
 * an unembedding of its own. Nothing has a bias, and LayerNorm has only a gain, so a score is exactly the
 * four terms of e and p.
 */
export interface TrainingModelOptions {
  /** Default 'add'. */
  scheme?: TrainingScheme;
  /**
   * Where the position rows come from, under a scheme that has them: 'learned', drawn and
   * trained; 'sinusoid', fixed; 'frozen', token and position rows drawn and both fixed. Default 'learned'.
   */
  table?: 'learned' | 'sinusoid' | 'frozen';
  /** D, channels of the stream, from 1 up; 'wide_concat' doubles them. Default 32. */
  d_model?: number;
  /** Channels of a position in 'concat', from 1 to d_model − 1. Default half of d_model. */
  d_position?: number;
  /** H; it divides the stream’s channels, for 'rope' into even widths. Default 2. */
  heads?: number;
  /** From 1 to 12. Default 1. */
  layers?: number;
  /** Whether there is a LayerNorm before attention, MLP and unembedding. Default true. */
  layerNorm?: boolean;
  /** Whether an MLP of 4 D channels follows attention. Default false. */
  mlp?: boolean;
  /** Whether query i sees keys j ≤ i only. Default false. */
  causal?: boolean;
  /** Sets all scores to 0: the task's floor, without attention’s choice. Default false. */
  zeroScores?: boolean;
  /** Whether token rows stay as drawn. Default false. */
  fixedTokens?: boolean;
  /** Whether position rows stay as drawn. Default false. */
  fixedPositions?: boolean;
  /** Token and position rows are drawn from N(0, sigma²); sinusoids get this rms. From 0 up. Default 0.1. */
  sigma?: number;
  /** The same for token rows alone, from 0 up. Default sigma. */
  sigmaTokens?: number;
  /** The same for position rows alone, from 0 up. Default sigma, but 1 for 'shortformer' and 'multiply'. */
  sigmaPositions?: number;
  /** Whether token rows are multiplied by √d, the root of their width, as read (arXiv 1706.03762). Default false. */
  scaleTokens?: boolean;
  /** Of 'rope', above 0: pair i turns by base^(−2i/d_h) radians a position. Default 10000. */
  base?: number;
  /** Of 'rope': how it is turned beyond the trained length. The parameters of a model trained without it go on. */
  stretch?: Stretch;
  /**
   * Whether answers are read with the token rows, logits = LN(x) ⊙ gf · Eᵀ: for as many classes as tokens, and
   * token rows as wide as the stream. Default false.
   */
  tied?: boolean;
  /** L, rows of the position table and longest sequence, from n up. Default n. */
  positions?: number;
}

/**
 * AdamW (arXiv 1711.05101) with warm-up, cosine decay and gradient clipping. The rate of step s, from 1, is
 * learningRate · min(1, s/warmUp) · (0.1 + 0.45 (1 + cos πs/steps)); beyond `steps` it stays as at `steps`.
 */
export interface TrainingOptimizerOptions {
  /** From 0 up. Default 0.005. */
  learningRate?: number;
  /** Weight decay of everything except gains, from 0 up. Default 0.01. */
  weightDecay?: number;
  /** Steps until the rate is full, from 0 up. Default 20. */
  warmUp?: number;
  /** Steps of the cosine, from 1 up; training may go on beyond them. Default 200. */
  steps?: number;
  /** Decay of the mean of gradients, at least 0 and below 1. Default 0.9. */
  beta1?: number;
  /** Decay of the mean of their squares, at least 0 and below 1. Default 0.98. */
  beta2?: number;
  /** Added to the root of that mean, above 0. Default 1e-8. */
  epsilon?: number;
  /** The largest norm of all gradients together, above 0. Default 1. */
  clip?: number;
}

interface AnyTrainerOptions extends TrainingModelOptions, TrainingOptimizerOptions {
  /** Terms removed from the first layer’s scores from the start, as by cutTerms(). Default none. */
  cuts?: readonly TrainingTerm[];
  /** Seed of parameters and examples: equal seeds give equal runs. From 0 to 2³² − 1, default 1. */
  seed?: number;
  /** The precision of the computation. Default 'float32'. */
  precision?: Precision;
}

/** A trainer on examples of a task. */
export interface TaskTrainerOptions extends AnyTrainerOptions, TaskOptions {
  /** Sequences per step, from 1 to 65536. Default 32. */
  sequences?: number;
  /** Sequences for measuring accuracy, terms and shares, from 1 to 65536. Default 128. */
  evaluationSequences?: number;
}

/** A trainer on your own examples. */
export interface BatchesTrainerOptions extends AnyTrainerOptions {
  /** Returns the batch of a step, counted from 0. The batch is copied. */
  batches: (step: number) => TrainingBatch;
  /** The batch for measuring accuracy, terms and shares. */
  evaluation: TrainingBatch;
  /** Token ids are below this; from 1 up. */
  vocabulary: number;
  /** Targets are below this; from 1 up. */
  classes: number;
}

export type TrainerOptions = TaskTrainerOptions | BatchesTrainerOptions;

export interface TrainingEvaluation {
  /** Mean cross-entropy over the targets, in nats. */
  readonly loss: number;
  /** The share of targets with the largest logit; of equal logits the first counts. */
  readonly accuracy: number;
  /** How many targets there are. */
  readonly targets: number;
}

export interface TrainingSharesOptions {
  /**
   * 'raw': the rows as training left them. 'canonical': minus each part’s mean over its sequence, so that
   * shares do not depend on the tables’ means. Default 'raw'. Schemes without position rows have canonical ones
   * alone.
   */
  gauge?: 'raw' | 'canonical';
}

/**
 * Shares of the terms in the variation of the first layer’s scores over keys. Raw ones sum to 1 over the
 * terms. For canonical ones, the rest is terms with constants. Under 'gate', 'row_gate', 'film' and 'multiply' terms
 * are those of the parts of fusion(), and the rest also has what their interaction does. Under schemes without
 * position rows all six sum to 1.
 */
export interface TrainingShares {
  /**
   * [4], over the heads, in the order of the term names: token_token, token_position, position_token,
   * position_position. Under schemes without position rows [6]: token_offset and key follow.
   */
  readonly mean: Float64Array;
  /** [heads, 4 or 6] */
  readonly byHead: Table<Float64Array>;
  /** Null, as there are shares. */
  readonly reason: null;
}

/** For a scheme whose scores have no terms in this gauge, or scores that do not vary. */
export interface NoTrainingShares {
  /** None. */
  readonly mean: null;
  /** None. */
  readonly byHead: null;
  /** Why, in a sentence. */
  readonly reason: string;
}

/**
 * What the first layer reads of a token at a place, as a sum of parts, over the evaluation’s tokens by how often
 * they occur and over all its places alike: a mean, a part of the token, one of the place, and the interaction
 * left over, which is 0 for every sum.
 */
export interface TrainingFusion {
  /** Share of the token’s part in the variation; with the other two it makes 1. */
  readonly tokens: number;
  /** Share of the place’s part. */
  readonly positions: number;
  /** Share of what is neither. */
  readonly interaction: number;
  /** The evaluation without the terms of the first layer’s scores that have an interaction in them. */
  readonly without: TrainingEvaluation;
  /** Null, as there are parts. */
  readonly reason: null;
}

/** For a scheme without position rows, or rows that do not vary. */
export interface NoTrainingFusion {
  /** None. */
  readonly tokens: null;
  /** None. */
  readonly positions: null;
  /** None. */
  readonly interaction: null;
  /** None. */
  readonly without: null;
  /** Why, in a sentence. */
  readonly reason: string;
}

/** Root mean squares of the norms of rows. */
export interface TrainingLoudness {
  /** Of the token rows as they are read. */
  readonly tokens: number;
  /** Of the position rows in use; null under a scheme that has none. */
  readonly positions: number | null;
}

/** A recipe for rows, with what a trainer takes for it. */
export interface LoudnessRecipe extends TrainingLoudness {
  /**
   * 'transformer': N(0, 1/d) times √d, and a sinusoid (arXiv 1706.03762). 'unscaled': the same without √d.
   * 'pytorch': N(0, 1) twice. 'bert': N(0, 0.02²) twice. 'gpt2': N(0, 0.02²) and N(0, 0.01²).
   */
  readonly name: 'transformer' | 'unscaled' | 'pytorch' | 'bert' | 'gpt2';
  /** For a trainer of this width. */
  readonly options: Required<
    Pick<TrainingModelOptions, 'd_model' | 'table' | 'sigmaTokens' | 'sigmaPositions' | 'scaleTokens'>
  >;
  /** Root mean square of a position row’s norm, by closed form. */
  readonly positions: number;
  /** ρ for dotProducts() of tokens from N(0, 1) with a sinusoid: √2 · positions / tokens. */
  readonly positionScale: number;
}

/** How far token rows E and position rows P, each minus their mean row, share directions. */
export interface TrainingOverlap {
  /** A = D‖EPᵀ‖² / (‖E‖²‖P‖²): 0 if orthogonal, 1 expected of random rotations. */
  readonly overlap: number;
  /** √(2/(PR_E · PR_P)), with participation ratios: A’s spread when D is far above them. */
  readonly chanceBand: number;
  /** A’s standard deviation over random rotations, for any D. */
  readonly chanceExact: number;
  /** Null, as there is an overlap. */
  readonly reason: null;
}

/** For a scheme without positions in the stream, or rows that are all equal. */
export interface NoTrainingOverlap {
  /** None. */
  readonly overlap: null;
  /** None. */
  readonly chanceBand: null;
  /** None. */
  readonly chanceExact: null;
  /** Why, in a sentence. */
  readonly reason: string;
}

/** Two directions that show how token and position rows move apart. */
export interface TrainingDirections {
  /**
   * [2, D], of length 1: the leading direction of the token rows, and that of the position rows minus its
   * part along the first. Each is chosen without regard to the other table. The largest entry is positive.
   */
  readonly directions: Table<Float64Array>;
  /** Null, as there are directions. */
  readonly reason: null;
}

/** For a scheme without positions in the stream. */
export interface NoTrainingDirections {
  /** None. */
  readonly directions: null;
  /** Why, in a sentence. */
  readonly reason: string;
}

/** Rows minus their mean row, along k directions. */
export interface TrainingCoordinates {
  /** [vocabulary, k] */
  readonly tokens: Table<Float64Array>;
  /** [n, k] */
  readonly positions: Table<Float64Array>;
}

/** Principal angles between token and position rows, each minus their mean row, in radians. */
export interface TrainingAngles {
  /** The smallest between the spans of all rows: 0 where their ranks add up to more than D. */
  readonly smallest: number;
  /** The smallest between their two leading directions each. */
  readonly smallestLeading: number;
  /** Null, as there are angles. */
  readonly reason: null;
}

/** For a scheme without positions in the stream, or rows that are all equal. */
export interface NoTrainingAngles {
  /** None. */
  readonly smallest: null;
  /** None. */
  readonly smallestLeading: null;
  /** Why, in a sentence. */
  readonly reason: string;
}

/**
 * A model in training, in the module’s memory. Declare it with `using`, or call delete() when done with it;
 * after that its methods throw.
 */
export interface Trainer extends Handle {
  /** Steps done. */
  readonly steps: number;
  /** Steps of its cosine. */
  readonly plannedSteps: number;
  /** The last step’s loss, before its update; NaN before the first step. */
  readonly loss: number;
  /** Whether a loss or gradient was not finite. That step changed nothing, and no more can follow. */
  readonly diverged: boolean;
  /**
   * Takes `count` steps, from 1 to 10,000, default 1, and returns their losses: fewer where the run diverges.
   * Throws an Error when it has diverged before, RangeError and TypeError for a batch that does not fit;
   * earlier steps stay done.
   */
  step(count?: number): Float64Array;
  /** The terms cut from the first layer’s scores, in steps and in everything measured. */
  readonly cuts: readonly TrainingTerm[];
  /**
   * Cuts exactly these terms from here on. What the model has learnt stays. Only where the scores are a sum of
   * parts of tokens and positions: throws under other schemes, and RangeError, TypeError.
   */
  cutTerms(terms: readonly TrainingTerm[]): void;
  /** The share of right answers on the evaluation, or on a batch of your own. */
  accuracy(batch?: TrainingBatch): number;
  /** Loss and accuracy on the evaluation, or on a batch of your own. */
  evaluate(batch?: TrainingBatch): TrainingEvaluation;
  /**
   * The evaluation with one more term cut from the first layer’s scores. Throws where shares() has none, and for
   * the two terms that only schemes without position rows have.
   */
  cut(term: AskedTrainingTerm): TrainingEvaluation;
  /** The evaluation with one term alone, cut or not. */
  only(term: AskedTrainingTerm): TrainingEvaluation;
  /** [sequences · n, classes], for whole sequences of n tokens. */
  logits(options: { n: number; tokens: Int32Array | readonly number[] }): Table;
  /**
   * What each token takes from each other in a layer, from 0, the default: [sequences · heads · n, n]. Rows sum
   * to 1.
   */
  attention(options: { n: number; tokens: Int32Array | readonly number[]; layer?: number }): Table;
  /**
   * Shares of the four terms over the evaluation, <T̃, S̃>/‖S̃‖², with rows centred over the keys they may
   * read; 0 for a cut term. Throws RangeError, TypeError.
   */
  shares(options?: TrainingSharesOptions): TrainingShares | NoTrainingShares;
  /** How the first layer’s rows are made of tokens and positions, and what their interaction does. */
  fusion(): TrainingFusion | NoTrainingFusion;
  /** How large token and position rows are. */
  loudness(): TrainingLoudness;
  /** How far tokens and positions share directions. */
  overlap(): TrainingOverlap | NoTrainingOverlap;
  /** The same in angles. */
  angles(): TrainingAngles | NoTrainingAngles;
  /** Directions to project the rows on. Take them once, at the end of a run, for a steady view. */
  directions(): TrainingDirections | NoTrainingDirections;
  /**
   * The rows in use, along directions [k, D] with k from 1 up. For an earlier step, first call
   * setParameters() with its E and P. Throws RangeError, TypeError, and where directions() has none.
   */
  coordinates(directions: Table): TrainingCoordinates;
  /**
   * Copies of all parameters, by name: E [V, d_token], P [L, d_position]; W_f [2D, D], W_g [2D, D] or [2D, 1],
   * W_gamma and W_beta [D, D]; U_q and U_k [d_position, D], T5 [H, 2L − 1]; for layer l: layers.l.g1 [1, D], layers.l.W_qkv [D, 3D], layers.l.W_o [D, D],
   * layers.l.g2 [1, D], layers.l.W_1 [D, 4D], layers.l.W_2 [4D, D]; gf [1, D], W_u [D, classes]. Weights are
   * [in, out].
   */
  parameters(): Record<string, Table>;
  /** Replaces some or all parameters, or none when one does not fit. The optimiser’s moments stay. */
  setParameters(parameters: Readonly<Record<string, Table>>): void;
  /** Another name for delete(). */
  close(): void;
}

export interface TrainerApi {
  /**
   * A small transformer to train here, on a task or on your own batches. A task’s floor is the accuracy of
   * the same model with `zeroScores`. Throws RangeError, TypeError.
   */
  trainer(options: TrainerOptions): Trainer;
  /** How large token and position rows of a width are when training begins, by closed form. Throws RangeError. */
  loudnessRecipes(options: { d_model: number }): LoudnessRecipe[];
}

const equalRows = 'All token rows or all position rows are equal.';
const maxSequences = 2 ** 16;
const maxSteps = 10_000;
/** Bits of all terms that any scheme has. */
const allTerms = 63;

const isOtherWay = (scheme: TrainingScheme) => (otherWays as readonly string[]).includes(scheme);
const noSum = (scheme: TrainingScheme) =>
  `The stream under '${scheme}' is no sum of token and position rows.`;
/** Whether token and position rows are summands of a scheme's stream. */
const inStream = (scheme: TrainingScheme) =>
  ['add', 'concat', 'wide_concat', 'every_layer', 'project'].includes(scheme);
/** Whether the first layer reads rows made of tokens and positions. */
const fuses = (scheme: TrainingScheme) => inStream(scheme) || isOtherWay(scheme);
/** Whether the stream is made of token and position rows, but is no sum of them. */
const interacts = (scheme: TrainingScheme) => schemeNames.indexOf(scheme) >= schemeNames.indexOf('gate');
/** Whether positions have no rows, so that terms are of what scores ask. */
const noTable = (scheme: TrainingScheme) => !fuses(scheme) && scheme !== 'untied';
/** Whether queries and keys of the first layer read their sum. */
const sums = (scheme: TrainingScheme) => inStream(scheme) || scheme === 'qk';

/** Checks the options of a trainer, before anything is allocated. */
export function checkedTrainer(raw: Raw, options: TrainerOptions) {
  check.object('options', options);
  const given = options as Partial<TaskTrainerOptions & BatchesTrainerOptions>;
  if ((given.task == null) === (given.batches == null)) {
    throw new TypeError(
      `A trainer takes either task or batches; ${given.task == null ? 'neither' : 'both'} of them ${given.task == null ? 'is' : 'are'} given.`,
    );
  }
  if (given.batches != null && typeof given.batches !== 'function')
    check.refuse('batches', 'a function that gives tokens and targets', given.batches, false);

  const scheme = schemeNames[check.placeIn('scheme', given.scheme ?? 'add', schemeNames)] as TrainingScheme;
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
  const stream = scheme === 'wide_concat' ? 2 * d_model : d_model;
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
    mlp: check.flag('mlp', given.mlp ?? false),
    causal: check.flag('causal', given.causal ?? false),
    zeroScores: check.flag('zeroScores', given.zeroScores ?? false),
    fixedTokens: check.flag('fixedTokens', given.fixedTokens ?? false),
    fixedPositions: check.flag('fixedPositions', given.fixedPositions ?? false),
    tied: check.flag('tied', given.tied ?? false),
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
  const loud = scheme === 'shortformer' || scheme === 'multiply';
  const sigmas = {
    sigmaTokens: rate('sigmaTokens', given.sigmaTokens ?? sigma),
    sigmaPositions: rate('sigmaPositions', given.sigmaPositions ?? (loud ? 1 : sigma)),
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
  const turned = rotaryConvention({ base: given.base, stretch: given.stretch } as RotaryConvention);
  if (scheme !== 'rope' && (given.base !== undefined || given.stretch !== undefined)) {
    throw new RangeError(`base and stretch belong to 'rope'; the scheme is '${scheme}'.`);
  }
  const noTerms = noTermsOf(scheme, flags.zeroScores);
  const cuts = checkedTerms('cuts', given.cuts ?? [], noTerms);

  const model = {
    cuts,
    noTerms,
    scheme,
    stream,
    table: tableOf,
    d_model,
    d_position,
    heads,
    layers,
    ...flags,
    ...numbers,
    ...turned,
    seed,
    single,
  };
  const memory = (sizes: { vocabulary: number; classes: number; positions: number }, tokens: number) => {
    if (flags.tied && (sizes.classes !== sizes.vocabulary || scheme.includes('concat'))) {
      throw new RangeError(
        `tied reads answers with the token rows: it takes as many classes as tokens, here ${sizes.classes} and ${sizes.vocabulary}, and no concatenation.`,
      );
    }
    const bytes = memoryOf({ ...sizes, stream, heads, layers, ...flags, scheme, single }) + 8 * tokens;
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
function noTermsOf(scheme: TrainingScheme, zeroScores: boolean): string | null {
  if (zeroScores) return 'All scores are 0, so they have no terms.';
  if (sums(scheme) || scheme === 'untied') return null;
  if (interacts(scheme) || noTable(scheme))
    return `Under '${scheme}' terms are cut only by cut() and only().`;
  return noSum(scheme);
}

function checkedTerms(name: string, value: unknown, noTerms: string | null): TrainingTerm[] {
  if (!Array.isArray(value)) check.refuse(name, 'an array of terms', value, false);
  for (const term of value) check.oneOf(`an entry of ${name}`, term, termNames);
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
  mlp: boolean;
  single: boolean;
  scheme: TrainingScheme;
  scaleTokens: boolean;
  tied: boolean;
}

/** An upper bound on a trainer's memory: see Model::take_memory() and row_angles(), which is in double. */
function memoryOf(sizes: Sizes) {
  const { vocabulary: V, classes, positions: L, stream: D, heads, layers, mlp, single } = sizes;
  const most = Math.max(L, 64);
  const wide = mlp ? 4 * D : 0;
  const layer = most * (8 * D + L * heads + 2 * (D + wide) + 2) + 10 * D * D + 4 * D * wide;
  const part = most * (20 * D + classes + wide + 1) + 3 * D * classes;
  const positional = (2 * heads + 5) * L * L + 8 * L * D + D * D;
  const parameters = (V + L + classes + 2 * D) * D + layers * (4 * D + 2 * wide) * D + heads * 2 * L;
  // Tables made of others, what queries and keys read besides, and weights.
  const ways = isOtherWay(sizes.scheme)
    ? 4 * (V + L) * D + (layers + 2) * most * (D + 1) + 4 * layers * L * D + 12 * D * D
    : 2 * V * D * Number(sizes.scaleTokens);
  const tied = sizes.tied ? 2 * V * D : 0;
  const values = tied + layers * layer + part + positional + ways + 5 * parameters;
  return (single ? 4 : 8) * values + 8 * 6 * (V + L) * D;
}

export function trainerApi(raw: Raw): TrainerApi {
  return {
    trainer: (options) => trainerOf(raw, checkedTrainer(raw, options)),
    loudnessRecipes(options) {
      check.object('options', options);
      return raw.recipes(check.integer('d_model', options.d_model, 1));
    },
  };
}

/** A trainer from checked options. */
export function trainerOf(raw: Raw, checked: CheckedTrainer): Trainer {
  const { scheme, heads, single, vocabulary, classes, positions, noTerms, stream } = checked;
  const sizes = { vocabulary, classes, positions };
  const trainer = held(
    raw,
    'trainer',
    checked.bytes,
    () =>
      raw.trainer({
        ...checked,
        scheme: schemeNames.indexOf(scheme),
        batches: undefined,
        cuts: undefined,
        noTerms: undefined,
      }),
    raw.deleteTrainer,
  );
  let done = 0;
  let loss = Number.NaN;
  let diverged = false;
  let stepping = false;
  let cuts: readonly TrainingTerm[] = [];
  let kept = allTerms;

  const noted = (address: number, losses: Float64Array) => {
    diverged = raw.trainerDiverged(address);
    done += losses.length - (diverged ? 1 : 0);
    loss = losses.at(-1) ?? loss;
    return losses;
  };
  const evaluated = (terms: number, batch?: TrainingBatch): TrainingEvaluation => {
    const address = trainer.address();
    const own = batch == null ? undefined : checkedBatch('batch', batch, sizes);
    if (own) check.fits(`${own.tokens.length} tokens`, 16 * own.tokens.length);
    return raw.evaluateTrainer(address, terms, own);
  };
  /** Why there are no terms to measure. */
  const unmeasured = (interacts(scheme) || noTable(scheme)) && !checked.zeroScores ? null : noTerms;
  const bitOf = (term: AskedTrainingTerm): number => {
    trainer.address();
    const place = check.placeIn('term', term, noTable(scheme) ? askedNames : termNames);
    if (unmeasured !== null) throw new Error(unmeasured);
    return 1 << place;
  };
  const cutTerms = (terms: readonly TrainingTerm[]) => {
    cuts = terms;
    kept = allTerms - terms.reduce((bits, term) => bits + (1 << termNames.indexOf(term)), 0);
    raw.trainerKeeps(trainer.address(), kept);
  };
  cutTerms(checked.cuts);
  const evaluationN = 'evaluation' in checked ? checked.evaluation.n : checked.n;
  const noRows = noSum(scheme);
  const batchesSteps = (count: number, batches: (step: number) => TrainingBatch) => {
    const losses = new Float64Array(count);
    for (let k = 0; k < count; k++) {
      const batch = checkedBatch('the batch', batches(done), sizes);
      // The callback that gave the batch may have deleted the trainer.
      const address = trainer.address(` while it was stepping, ${k} of ${count} steps done`);
      check.fits(`${batch.tokens.length} tokens`, 16 * batch.tokens.length);
      losses[k] = raw.trainerStep(address, batch);
      noted(address, losses.subarray(k, k + 1));
      if (diverged) return losses.slice(0, k + 1);
    }
    return losses;
  };
  /** A batch whose targets are ignored. */
  const unanswered = (options: { n: number; tokens: Int32Array | readonly number[] }) => {
    const address = trainer.address();
    check.object('options', options);
    const n = check.integer('n', options.n, 1, positions);
    const tokens = checkedTokens('tokens', options.tokens, n, vocabulary);
    return { address, batch: { n, tokens, targets: tokens } };
  };
  return {
    get steps() {
      return done;
    },
    plannedSteps: checked.steps,
    get loss() {
      return loss;
    },
    get diverged() {
      return diverged;
    },
    step(count = 1) {
      const address = trainer.address();
      check.integer('count', count, 1, maxSteps);
      if (stepping)
        throw new Error('This trainer is within a step: batches gives a batch, and calls no step().');
      if (diverged) {
        throw new Error(
          `This run diverged at step ${done + 1}: its loss or gradient is not finite. Give a lower learningRate.`,
        );
      }
      if (!('batches' in checked)) return noted(address, raw.trainerSteps(address, count));
      stepping = true;
      try {
        return batchesSteps(count, checked.batches);
      } finally {
        stepping = false;
      }
    },
    get cuts() {
      return [...cuts];
    },
    cutTerms(terms) {
      trainer.address();
      cutTerms(checkedTerms('terms', terms, noTerms));
    },
    accuracy: (batch) => evaluated(kept, batch).accuracy,
    evaluate: (batch) => evaluated(kept, batch),
    cut: (term) => evaluated(kept & ~bitOf(term)),
    only: (term) => evaluated(bitOf(term)),
    logits(options) {
      const { address, batch } = unanswered(options);
      const { length } = batch.tokens;
      check.fits(`Logits of ${length} tokens`, 16 * length * (1 + classes));
      return { data: raw.trainerLogits(address, batch), rows: length, columns: classes };
    },
    attention(options) {
      const { address, batch } = unanswered(options);
      const layer = check.integer('layer', options.layer ?? 0, 0, checked.layers - 1);
      const rows = batch.tokens.length * heads;
      check.fits(`Attention of ${batch.tokens.length} tokens`, 16 * (batch.tokens.length + rows * batch.n));
      return { data: raw.trainerAttention(address, batch, layer), rows, columns: batch.n };
    },
    shares(options = {}) {
      const address = trainer.address();
      check.object('options', options);
      const gauge = check.oneOf('gauge', options.gauge ?? 'raw', ['raw', 'canonical']);
      const none = (reason: string) => ({ mean: null, byHead: null, reason });
      if (unmeasured !== null) return none(unmeasured);
      if (gauge === 'raw' && noTable(scheme))
        return none(`'${scheme}' has shares only in the gauge 'canonical'.`);
      if (gauge === 'canonical' && scheme === 'untied')
        return none("Tokens and positions of 'untied' share no stream.");
      const { mean, byHead } = raw.trainerShares(address, gauge === 'canonical');
      if (mean.some(Number.isNaN)) return none('The scores do not vary over keys.');
      return { mean, byHead: table(byHead, heads, mean.length), reason: null };
    },
    fusion() {
      const address = trainer.address();
      const none = (reason: string) => ({
        ...{ tokens: null, positions: null, interaction: null, without: null },
        reason,
      });
      if (!fuses(scheme)) return none(noRows);
      check.fits('The rows of all tokens at all places', 32 * vocabulary * evaluationN * stream);
      const found = raw.trainerFusion(address);
      if (Number.isNaN(found.interaction)) return none('All rows are equal.');
      return { ...found, reason: null };
    },
    loudness() {
      const { tokens, positions } = raw.trainerLoudness(trainer.address());
      return { tokens, positions: Number.isNaN(positions) ? null : positions };
    },
    overlap() {
      const address = trainer.address();
      const none = (reason: string) => ({ overlap: null, chanceBand: null, chanceExact: null, reason });
      if (!inStream(scheme)) return none(noRows);
      const { overlap, chanceBand, chanceExact } = raw.trainerOverlap(address);
      if (Number.isNaN(overlap)) return none(equalRows);
      return { overlap, chanceBand, chanceExact, reason: null };
    },
    angles() {
      const address = trainer.address();
      const none = (reason: string) => ({ smallest: null, smallestLeading: null, reason });
      if (!inStream(scheme)) return none(noRows);
      const { smallest, smallestLeading } = raw.trainerAngles(address);
      if (Number.isNaN(smallest)) return none(equalRows);
      return { smallest, smallestLeading, reason: null };
    },
    directions() {
      const address = trainer.address();
      if (!inStream(scheme)) return { directions: null, reason: noRows };
      const data = raw.trainerDirections(address);
      return { directions: table(data, 2, data.length / 2), reason: null };
    },
    coordinates(directions) {
      const address = trainer.address();
      if (!inStream(scheme)) throw new Error(noRows);
      const columns = scheme === 'wide_concat' ? 2 * checked.d_model : checked.d_model;
      const { rows } = check.table('directions', directions, { columns });
      check.positive('directions.rows', rows);
      check.fits(`Coordinates along ${rows} directions`, 24 * rows * (vocabulary + evaluationN + columns));
      const { tokens, positions: places } = raw.trainerCoordinates(address, directions);
      return { tokens: table(tokens, vocabulary, rows), positions: table(places, evaluationN, rows) };
    },
    parameters() {
      return parametersOf(raw, trainer.address());
    },
    setParameters(parameters) {
      const address = trainer.address();
      check.object('parameters', parameters);
      const known = parametersOf(raw, address);
      for (const [name, value] of Object.entries(parameters)) {
        if (!Object.hasOwn(known, name)) {
          throw new RangeError(
            `There is no parameter called ${check.shown(name)}; this model has ${Object.keys(known).join(', ')}.`,
          );
        }
        const { rows, columns } = known[name] as Table;
        check.table(name, value, { rows, columns });
        if (single) for (const entry of value.data) check.representable(`an entry of ${name}`, entry, true);
      }
      for (const [name, { data }] of Object.entries(parameters)) raw.setTrainerParameter(address, name, data);
    },
    close: trainer.handle.delete,
    ...trainer.handle,
  };
}

function parametersOf(raw: Raw, trainer: number): Record<string, Table> {
  const all: { name: string; rows: number; columns: number; data: Floats }[] = raw.trainerParameters(trainer);
  return Object.fromEntries(all.map(({ name, ...of }) => [name, of]));
}
