import * as check from '../check.js';
import { type Handle, held, type OwnedObject } from '../handle.js';
import type { RawModule } from '../module.js';
import { type Ids, type Table, table } from '../table.js';
import { type CheckedTrainer, checkedTerms, checkedTrainer, noSum } from './checkedTrainer.js';
import { batchNames, checkedBatch, checkedTokens, type TrainingBatch } from './tasks.js';
import type { TrainerOptions, TrainingTerm } from './trainerOptions.js';

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
   * shares do not depend on the tables’ means. Default 'raw'.
   */
  gauge?: 'raw' | 'canonical';
}

/**
 * Shares of the terms in the variation of the first layer’s scores over keys. Raw ones sum to 1 over the
 * terms. For canonical ones, the rest is terms with constants.
 */
export interface TrainingShares {
  /**
   * [4], the mean over the heads whose scores vary, in the order of the term names: token-token, token-position,
   * position-token, position-position. Null for a scheme whose scores have no terms in this gauge, or scores that do not vary.
   */
  readonly mean: Float64Array | null;
  /** Why there are none, in a sentence; null where there are. */
  readonly reason: string | null;
}

/** Root mean squares of the norms of rows. */
export interface TrainingLoudness {
  /** Of the token rows as they are read. */
  readonly tokens: number;
  /** Of the position rows in use; null under a scheme that has none. */
  readonly positions: number | null;
}

/** A recipe for rows. */
export interface LoudnessRecipe extends TrainingLoudness {
  /**
   * 'transformer': N(0, 1/d) times √d, and a sinusoid (arXiv 1706.03762). 'unscaled': the same without √d.
   * 'pytorch': N(0, 1) twice. 'bert': N(0, 0.02²) twice. 'gpt2': N(0, 0.02²) and N(0, 0.01²).
   */
  readonly name: 'transformer' | 'unscaled' | 'pytorch' | 'bert' | 'gpt2';
  /** Root mean square of a position row’s norm, by closed form. */
  readonly positions: number;
  /** ρ for dotProducts() of tokens from N(0, 1) with a sinusoid: √2 · positions / tokens. */
  readonly positionScale: number;
}

/**
 * How far token rows E and position rows P, each minus their mean row, share directions. Null for a scheme without
 * positions in the stream, or rows that are all equal.
 */
export interface TrainingOverlap {
  /** A = D‖EPᵀ‖² / (‖E‖²‖P‖²): 0 if orthogonal, 1 expected of random rotations. */
  readonly overlap: number | null;
  /** A’s standard deviation over random rotations. */
  readonly chance: number | null;
  /** Why there is none, in a sentence; null where there is. */
  readonly reason: string | null;
}

/** Two directions that show how token and position rows move apart. */
export interface TrainingDirections {
  /**
   * [2, D], of length 1: the leading direction of the token rows, and that of the position rows minus its
   * part along the first. Each is chosen without regard to the other table. The largest entry is positive. Null for a
   * scheme without positions in the stream.
   */
  readonly directions: Table<Float64Array> | null;
  /** Why there are none, in a sentence; null where there are. */
  readonly reason: string | null;
}

/** Rows minus their mean row, along k directions. */
export interface TrainingCoordinates {
  /** [vocabulary, k] */
  readonly tokens: Table<Float64Array>;
  /** [n, k] */
  readonly positions: Table<Float64Array>;
}

/**
 * A model in training, in the module’s memory. Declare it with `using`, or call delete() when done with it;
 * after that its methods throw.
 */
export interface Trainer extends Handle {
  /** Steps done. */
  readonly steps: number;
  /** Whether a loss or gradient was not finite. That step changed nothing, and no more can follow. */
  readonly diverged: boolean;
  /**
   * Takes so many steps on its task, from 1 to 10,000, default 1, or one on a batch of your own, and returns their losses:
   * fewer where the run diverges. Throws an Error when it has diverged before, RangeError, TypeError.
   */
  step(asked?: number | TrainingBatch): Float64Array;
  /**
   * Cuts exactly these terms of the first layer’s scores from here on, in steps and in everything measured. What the
   * model has learnt stays. Throws where shares() has none, and RangeError, TypeError.
   */
  cutTerms(terms: readonly TrainingTerm[]): void;
  /** Loss and accuracy on the evaluation, or on a batch of your own. */
  evaluate(batch?: TrainingBatch): TrainingEvaluation;
  /** [sequences · n, classes], for whole sequences of n tokens. */
  logits(options: { n: number; tokens: Ids }): Table<Float64Array>;
  /**
   * What each token takes from each other in a layer, from 0, the default: [sequences · heads · n, n]. Rows sum
   * to 1.
   */
  attention(options: { n: number; tokens: Ids; layer?: number }): Table<Float64Array>;
  /**
   * Shares of the four terms over the evaluation, <T̃, S̃>/‖S̃‖², with rows centred over the keys they may
   * read; 0 for a cut term. Throws RangeError, TypeError.
   */
  shares(options?: TrainingSharesOptions): TrainingShares;
  /** How large token and position rows are. */
  loudness(): TrainingLoudness;
  /** How far tokens and positions share directions. */
  overlap(): TrainingOverlap;
  /** Directions to project the rows on. Take them once, at the end of a run, for a steady view. */
  directions(): TrainingDirections;
  /**
   * The rows in use, along directions [k, D] with k from 1 up. For an earlier step, first call
   * setParameters() with its E and P. Throws RangeError, TypeError, and where directions() has none.
   */
  coordinates(directions: Table): TrainingCoordinates;
  /**
   * Copies of all parameters, by name: E [V, d_token], P [L, d_position]; W_f [2D, D]; U_q and U_k [d_position, D],
   * T5 [H, 2L − 1]; for layer l: layers.l.g1 [1, D], layers.l.W_qkv [D, 3D], layers.l.W_o [D, D]; gf [1, D],
   * W_u [D, classes]. Weights are [in, out].
   */
  parameters(): Record<string, Table<Float64Array>>;
  /** Replaces some or all parameters, or none when one does not fit. The optimizer’s moments stay. */
  setParameters(parameters: Readonly<Record<string, Table>>): void;
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
const maxSteps = 10_000;

export function trainerApi(raw: RawModule): TrainerApi {
  return {
    trainer: (options) => new HeldTrainer(raw, checkedTrainer(raw, options)),
    loudnessRecipes(options) {
      check.knownOptions('options', options, { d_model: true });
      return raw.recipes(check.integer('d_model', options.d_model, 1)) as LoudnessRecipe[];
    },
  };
}

type Unanswered = { n: number; tokens: Ids };

class HeldTrainer implements Trainer {
  declare readonly isAlive: () => boolean;
  declare readonly delete: () => void;
  declare readonly [Symbol.dispose]: () => void;
  readonly #raw: RawModule;
  readonly #checked: CheckedTrainer;
  readonly #held: OwnedObject;
  #steps = 0;
  #diverged = false;
  #cuts: readonly TrainingTerm[];

  constructor(raw: RawModule, checked: CheckedTrainer) {
    const { seed, sequences = 0, evaluation, evaluationSequences = 0, bytes } = checked;
    const made = () =>
      raw.trainer(checked, checked, seed, evaluation ?? {}, checked, sequences, evaluationSequences);
    this.#raw = raw;
    this.#checked = checked;
    this.#held = held(raw, 'trainer', bytes, made, raw.deleteTrainer);
    this.#cuts = checked.cuts;
    raw.cutTrainerTerms(this.#held.address(), checked.cuts);
    Object.assign(this, this.#held.handle);
  }

  get steps() {
    return this.#steps;
  }

  get diverged() {
    return this.#diverged;
  }

  step(asked: number | TrainingBatch = 1) {
    const address = this.#held.address();
    const batch = typeof asked === 'object' ? this.#own(asked) : undefined;
    if (!batch && this.#checked.evaluation)
      check.refuse('what a trainer without a task steps on', 'a batch of tokens and targets', asked, false);
    const count = batch ? 1 : check.integer('count', asked, 1, maxSteps);
    if (this.#diverged) {
      throw new Error(
        `This run diverged at step ${this.#steps + 1}: its loss or gradient is not finite. Give a lower learningRate.`,
      );
    }
    const losses = batch
      ? Float64Array.of(this.#raw.trainerStep(address, batch))
      : this.#raw.trainerSteps(address, count);
    this.#diverged = this.#raw.trainerDiverged(address);
    this.#steps += losses.length - (this.#diverged ? 1 : 0);
    return losses;
  }

  /** A caller's batch, which is copied. */
  #own(batch: TrainingBatch) {
    const checked = checkedBatch('batch', batch, this.#checked);
    check.fits(`${checked.tokens.length} tokens`, 16 * checked.tokens.length);
    return checked;
  }

  cutTerms(terms: readonly TrainingTerm[]) {
    const address = this.#held.address();
    this.#cuts = checkedTerms('terms', terms, this.#checked.noTerms);
    this.#raw.cutTrainerTerms(address, this.#cuts);
  }

  evaluate(batch?: TrainingBatch): TrainingEvaluation {
    const address = this.#held.address();
    return this.#raw.evaluateTrainer(address, this.#cuts, batch == null ? {} : this.#own(batch));
  }

  logits(options: Unanswered) {
    const { address, batch } = this.#unanswered(options, batchNames);
    const { length } = batch.tokens;
    const { classes } = this.#checked;
    check.fits(`Logits of ${length} tokens`, 16 * length * (1 + classes));
    return table(this.#raw.trainerLogits(address, batch), length, classes);
  }

  attention(options: Unanswered & { layer?: number }) {
    const { address, batch } = this.#unanswered(options, { ...batchNames, layer: true });
    const layer = check.integer('layer', options.layer ?? 0, 0, this.#checked.layers - 1);
    const rows = batch.tokens.length * this.#checked.heads;
    check.fits(`Attention of ${batch.tokens.length} tokens`, 16 * (batch.tokens.length + rows * batch.n));
    return table(this.#raw.trainerAttention(address, batch, layer), rows, batch.n);
  }

  /** A batch whose targets are ignored. */
  #unanswered<Options extends Unanswered>(options: Options, names: check.OptionNames<Options>) {
    const address = this.#held.address();
    check.knownOptions('options', options, names);
    const n = check.integer('n', options.n, 1, this.#checked.positions);
    const tokens = checkedTokens('tokens', options.tokens, n, this.#checked.vocabulary);
    return { address, batch: { n, tokens, targets: tokens } };
  }

  shares(options: TrainingSharesOptions = {}): TrainingShares {
    const address = this.#held.address();
    const { noTerms, facts } = this.#checked;
    check.knownOptions('options', options, { gauge: true });
    const gauge = check.oneOf('gauge', options.gauge ?? 'raw', ['raw', 'canonical']);
    if (noTerms !== null) return { mean: null, reason: noTerms };
    if (gauge === 'canonical' && !facts.sums)
      return { mean: null, reason: `Tokens and positions of '${facts.id}' share no stream.` };
    const mean = this.#raw.trainerShares(address, gauge);
    if (mean.some(Number.isNaN)) return { mean: null, reason: 'The scores do not vary over keys.' };
    return { mean, reason: null };
  }

  loudness() {
    const { tokens, positions } = this.#raw.trainerLoudness(this.#held.address());
    return { tokens, positions: Number.isNaN(positions) ? null : positions };
  }

  overlap() {
    const address = this.#held.address();
    const none = (reason: string) => ({ overlap: null, chance: null, reason });
    if (!this.#checked.facts.inStream) return none(noSum(this.#checked.facts));
    const { overlap, chance } = this.#raw.trainerOverlap(address);
    if (Number.isNaN(overlap)) return none(equalRows);
    return { overlap, chance, reason: null };
  }

  directions() {
    const address = this.#held.address();
    if (!this.#checked.facts.inStream) return { directions: null, reason: noSum(this.#checked.facts) };
    const data = this.#raw.trainerDirections(address);
    return { directions: table(data, 2, data.length / 2), reason: null };
  }

  coordinates(directions: Table) {
    const address = this.#held.address();
    const { facts, stream, vocabulary } = this.#checked;
    if (!facts.inStream) throw new Error(noSum(facts));
    const { rows } = check.table('directions', directions, { columns: stream });
    check.positive('directions.rows', rows);
    const { n } = (this.#checked.evaluation ?? this.#checked) as { n: number };
    check.fits(`Coordinates along ${rows} directions`, 24 * rows * (vocabulary + n + stream));
    const { tokens, positions } = this.#raw.trainerCoordinates(address, directions);
    return { tokens: table(tokens, vocabulary, rows), positions: table(positions, n, rows) };
  }

  parameters(): Record<string, Table<Float64Array>> {
    const all = this.#raw.trainerParameters(this.#held.address());
    return Object.fromEntries(all.map(({ name, data, rows, columns }) => [name, table(data, rows, columns)]));
  }

  setParameters(parameters: Readonly<Record<string, Table>>) {
    const known = this.parameters();
    check.knownOptions('parameters', parameters, known as object as check.OptionNames<typeof parameters>);
    for (const [name, value] of Object.entries(parameters)) {
      const own = known[name] as Table;
      check.table(name, value, { rows: own.rows, columns: own.columns });
      for (const entry of value.data) check.single(`an entry of ${name}`, entry);
    }
    const address = this.#held.address();
    for (const [name, { data }] of Object.entries(parameters))
      this.#raw.setTrainerParameter(address, name, data);
  }
}
