// The trainer: a small transformer in the module's memory, its steps, and its measurements.
import * as check from '../check.js';
import { type Handle, makeResident, type ResidentObject } from '../handle.js';
import type { RawModule } from '../module.js';
import { type Ids, type Table, table } from '../table.js';
import { type CheckedTrainer, checkedTerms, checkedTrainer, noSum } from './checkedTrainer.js';
import { batchNames, checkedBatch, checkedTokens, type TrainingBatch } from './tasks.js';
import type { TrainerOptions, TrainingTerm } from './trainerOptions.js';

export interface TrainingEvaluation {
  /** The mean cross-entropy over the targets, in nats. */
  readonly loss: number;
  /** The share of targets that have the largest logit; of equal logits, the first counts. */
  readonly accuracy: number;
  /** The number of targets. */
  readonly targets: number;
}

export interface TrainingSharesOptions {
  /**
   * 'raw': the rows as training left them. 'canonical': the rows minus each part’s mean over its sequence, so
   * that shares do not depend on the tables’ means. Default 'raw'.
   */
  gauge?: 'raw' | 'canonical';
}

/**
 * Shares of the terms in the variation of the first layer’s scores over keys. Raw shares sum to 1 over the
 * terms. In the canonical gauge, they sum to 1 together with the shares of terms with constants.
 */
export interface TrainingShares {
  /**
   * [4], the mean over the heads whose scores vary, in the order token-token, token-position, position-token,
   * position-position. Null for a scheme whose scores have no terms in this gauge, and for scores that do not
   * vary.
   */
  readonly mean: Float64Array | null;
  /** A sentence that says why `mean` is null; null if it is not. */
  readonly reason: string | null;
}

/** Root mean squares of the norms of rows. */
export interface TrainingLoudness {
  /** The root mean square of the norms of the token rows, as the model reads them. */
  readonly tokens: number;
  /** The same of the position rows in use; null for a scheme without position rows. */
  readonly positions: number | null;
}

/** A published way to initialize token and position rows. */
export interface LoudnessRecipe extends TrainingLoudness {
  /**
   * 'transformer': N(0, 1/d) times √d, and a sinusoid (arXiv 1706.03762). 'unscaled': the same without √d.
   * 'pytorch': N(0, 1) twice. 'bert': N(0, 0.02²) twice. 'gpt2': N(0, 0.02²) and N(0, 0.01²).
   */
  readonly name: 'transformer' | 'unscaled' | 'pytorch' | 'bert' | 'gpt2';
  /** The root mean square of a position row’s norm, by closed form. */
  readonly positions: number;
  /** ρ for dotProducts() of tokens from N(0, 1) with a sinusoid: √2 · positions / tokens. */
  readonly positionScale: number;
}

/**
 * How far token rows E and position rows P, each minus their mean row, share directions. Null for a scheme
 * without positions in the stream, and for rows that are all equal.
 */
export interface TrainingOverlap {
  /** A = D‖EPᵀ‖² / (‖E‖²‖P‖²): 0 if they are orthogonal, and 1 is expected for random rotations. */
  readonly overlap: number | null;
  /** A’s standard deviation over random rotations. */
  readonly chance: number | null;
  /** A sentence that says why `overlap` is null; null if it is not. */
  readonly reason: string | null;
}

/** Two directions that show how token rows and position rows separate. */
export interface TrainingDirections {
  /**
   * [2, D], rows of length 1: the leading direction of the token rows, and that of the position rows minus
   * its part along the first. Each is chosen without regard to the other table. Their largest entries are
   * positive. Null for a scheme without positions in the stream.
   */
  readonly directions: Table<Float64Array> | null;
  /** A sentence that says why `directions` is null; null if it is not. */
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
 * A model in training, in the module’s memory. Declare it with `using`, or call delete() when you no longer
 * need it. After that its methods throw.
 */
export interface Trainer extends Handle {
  /** The number of steps so far. */
  readonly steps: number;
  /** Whether a loss or gradient was not finite. That step changed nothing, and no step can follow it. */
  readonly diverged: boolean;
  /**
   * Takes 1 to 10,000 steps on its task, 1 by default, or one step on a batch of your own. Returns the loss
   * of each step; there are fewer if the run diverges. Throws RangeError or TypeError, and Error when the
   * run diverged before.
   */
  step(countOrBatch?: number | TrainingBatch): Float64Array;
  /**
   * Cuts exactly these terms of the first layer’s scores from now on, in steps and in all measurements. The
   * parameters stay. Throws RangeError or TypeError, also if scores have no terms.
   */
  cutTerms(terms: readonly TrainingTerm[]): void;
  /**
   * Returns loss and accuracy on the evaluation batch, or on a batch of your own. Throws RangeError or
   * TypeError.
   */
  evaluate(batch?: TrainingBatch): TrainingEvaluation;
  /**
   * Returns the logits, [sequences · n, classes], of complete sequences of n tokens. Throws RangeError or
   * TypeError.
   */
  logits(options: { n: number; tokens: Ids }): Table<Float64Array>;
  /**
   * Returns a layer’s attention weights, [sequences · heads · n, n], whose rows sum to 1. Layers count from
   * 0, which is the default. Throws RangeError or TypeError.
   */
  attention(options: { n: number; tokens: Ids; layer?: number }): Table<Float64Array>;
  /**
   * Returns the shares of the four terms over the evaluation batch, ⟨T̃, S̃⟩/‖S̃‖², with rows centred over
   * the keys that they see. The share of a cut term is 0. Throws RangeError or TypeError.
   */
  shares(options?: TrainingSharesOptions): TrainingShares;
  /** Returns how large token and position rows are. */
  loudness(): TrainingLoudness;
  /** Returns how far tokens and positions share directions. */
  overlap(): TrainingOverlap;
  /** Returns directions to project the rows on. For a steady view, take them once, at the end of a run. */
  directions(): TrainingDirections;
  /**
   * Returns the rows in use along directions [k, D] with k from 1 up. For an earlier step, first call
   * setParameters() with its E and P. Throws RangeError or TypeError, and Error where directions() is null.
   */
  coordinates(directions: Table): TrainingCoordinates;
  /**
   * Returns copies of all parameters, by name: E [V, d_token], P [L, d_position]; W_f [2D, D]; U_q and U_k
   * [d_position, D], T5 [H, 2L − 1]; for layer l: layers.l.g1 [1, D], layers.l.W_qkv [D, 3D], layers.l.W_o
   * [D, D]; gf [1, D], W_u [D, classes]. Weights are [in, out].
   */
  parameters(): Record<string, Table<Float64Array>>;
  /**
   * Replaces some or all parameters, or none when one of them is refused. The optimizer’s moments stay.
   * Throws RangeError or TypeError.
   */
  setParameters(parameters: Readonly<Record<string, Table>>): void;
}

/** @category Train a model */
interface TrainerApi {
  /**
   * Makes a small transformer to train on a task or on your own batches. A task’s floor is the accuracy of
   * the same model with `zeroScores`. Throws RangeError or TypeError before anything is allocated.
   */
  trainer(options: TrainerOptions): Trainer;
  /**
   * Returns how large token and position rows of a given width are when training begins, by closed form, in
   * recipes that people use. Throws RangeError or TypeError.
   */
  loudnessRecipes(options: { d_model: number }): LoudnessRecipe[];
}

const equalRows = 'All token rows or all position rows are equal.';
const maxSteps = 10_000;

export function trainerApi(raw: RawModule): TrainerApi {
  return {
    trainer: (options) => new ResidentTrainer(raw, checkedTrainer(raw, options)),
    loudnessRecipes(options) {
      check.knownOptions('options', options, { d_model: true });
      return raw.recipes(check.integer('d_model', options.d_model, 1)) as LoudnessRecipe[];
    },
  };
}

/** Sequences of n tokens without targets. */
type Sequences = { n: number; tokens: Ids };

class ResidentTrainer implements Trainer {
  declare readonly isAlive: () => boolean;
  declare readonly delete: () => void;
  declare readonly [Symbol.dispose]: () => void;
  readonly #raw: RawModule;
  readonly #checked: CheckedTrainer;
  readonly #resident: ResidentObject;
  #steps = 0;
  #diverged = false;
  #cuts: readonly TrainingTerm[];

  constructor(raw: RawModule, checked: CheckedTrainer) {
    const { seed, sequences = 0, evaluation, evaluationSequences = 0, bytes } = checked;
    const make = () =>
      raw.trainer(checked, checked, seed, evaluation ?? {}, checked, sequences, evaluationSequences);
    this.#raw = raw;
    this.#checked = checked;
    this.#resident = makeResident(raw, 'trainer', bytes, make, raw.deleteTrainer);
    this.#cuts = checked.cuts;
    raw.cutTrainerTerms(this.#resident.address(), checked.cuts);
    Object.assign(this, this.#resident.handle);
  }

  get steps() {
    return this.#steps;
  }

  get diverged() {
    return this.#diverged;
  }

  step(countOrBatch: number | TrainingBatch = 1) {
    const address = this.#resident.address();
    const batch = typeof countOrBatch === 'object' ? this.#copyOf(countOrBatch) : undefined;
    if (!batch && this.#checked.evaluation)
      check.refuse(
        'The argument of step() without a task',
        'a batch of tokens and targets',
        countOrBatch,
        false,
      );
    const count = batch ? 1 : check.integer('count', countOrBatch, 1, maxSteps);
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

  /** Checks a caller's batch and copies it. */
  #copyOf(batch: TrainingBatch) {
    const checked = checkedBatch('batch', batch, this.#checked);
    check.requireMemory(`${checked.tokens.length} tokens`, this.#raw.batchBytes(checked.tokens.length));
    return checked;
  }

  cutTerms(terms: readonly TrainingTerm[]) {
    const address = this.#resident.address();
    this.#cuts = checkedTerms('terms', terms, this.#checked.noTerms);
    this.#raw.cutTrainerTerms(address, this.#cuts);
  }

  evaluate(batch?: TrainingBatch): TrainingEvaluation {
    const address = this.#resident.address();
    return this.#raw.evaluateTrainer(address, this.#cuts, batch == null ? {} : this.#copyOf(batch));
  }

  logits(options: Sequences) {
    const { address, batch } = this.#withoutTargets(options, batchNames);
    const { length } = batch.tokens;
    const { classes } = this.#checked;
    check.requireMemory(`Logits of ${length} tokens`, this.#raw.trainerLogitsBytes(length, classes));
    return table(this.#raw.trainerLogits(address, batch), length, classes);
  }

  attention(options: Sequences & { layer?: number }) {
    const { address, batch } = this.#withoutTargets(options, { ...batchNames, layer: true });
    const layer = check.integer('layer', options.layer ?? 0, 0, this.#checked.layers - 1);
    const { heads } = this.#checked;
    const { length } = batch.tokens;
    check.requireMemory(
      `Attention of ${length} tokens`,
      this.#raw.trainerAttentionBytes(length, heads, batch.n),
    );
    return table(this.#raw.trainerAttention(address, batch, layer), length * heads, batch.n);
  }

  /** Checks sequences without targets, and makes a batch of them whose targets are ignored. */
  #withoutTargets<Options extends Sequences>(options: Options, names: check.OptionNames<Options>) {
    const address = this.#resident.address();
    check.knownOptions('options', options, names);
    const n = check.integer('n', options.n, 1, this.#checked.positions);
    const tokens = checkedTokens('tokens', options.tokens, n, this.#checked.vocabulary);
    return { address, batch: { n, tokens, targets: tokens } };
  }

  shares(options: TrainingSharesOptions = {}): TrainingShares {
    const address = this.#resident.address();
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
    const { tokens, positions } = this.#raw.trainerLoudness(this.#resident.address());
    return { tokens, positions: Number.isNaN(positions) ? null : positions };
  }

  overlap() {
    const address = this.#resident.address();
    const none = (reason: string) => ({ overlap: null, chance: null, reason });
    if (!this.#checked.facts.inStream) return none(noSum(this.#checked.facts));
    const { overlap, chance } = this.#raw.trainerOverlap(address);
    if (Number.isNaN(overlap)) return none(equalRows);
    return { overlap, chance, reason: null };
  }

  directions() {
    const address = this.#resident.address();
    if (!this.#checked.facts.inStream) return { directions: null, reason: noSum(this.#checked.facts) };
    const data = this.#raw.trainerDirections(address);
    return { directions: table(data, 2, data.length / 2), reason: null };
  }

  coordinates(directions: Table) {
    const address = this.#resident.address();
    const { facts, stream, vocabulary } = this.#checked;
    if (!facts.inStream) throw new Error(noSum(facts));
    const { rows } = check.table('directions', directions, { columns: stream });
    check.positive('directions.rows', rows);
    const { n } = (this.#checked.evaluation ?? this.#checked) as { n: number };
    check.requireMemory(
      `Coordinates along ${rows} directions`,
      this.#raw.trainerCoordinatesBytes(vocabulary, n, stream, rows),
    );
    const { tokens, positions } = this.#raw.trainerCoordinates(address, directions);
    return { tokens: table(tokens, vocabulary, rows), positions: table(positions, n, rows) };
  }

  parameters(): Record<string, Table<Float64Array>> {
    const all = this.#raw.trainerParameters(this.#resident.address());
    return Object.fromEntries(all.map(({ name, data, rows, columns }) => [name, table(data, rows, columns)]));
  }

  setParameters(parameters: Readonly<Record<string, Table>>) {
    const known = this.parameters();
    check.knownOptions('parameters', parameters, known as object as check.OptionNames<typeof parameters>);
    for (const [name, value] of Object.entries(parameters)) {
      const { rows, columns } = known[name] as Table;
      check.table(name, value, { rows, columns });
      for (const entry of value.data) check.single(`an entry of ${name}`, entry);
    }
    const address = this.#resident.address();
    for (const [name, { data }] of Object.entries(parameters))
      this.#raw.setTrainerParameter(address, name, data);
  }
}
