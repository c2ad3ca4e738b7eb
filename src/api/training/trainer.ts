import * as check from '../check.js';
import { type Handle, held, type OwnedObject } from '../handle.js';
import type { RawModule } from '../module.js';
import { pairTerms } from '../scores/schemeTerms.js';
import { type Table, table } from '../table.js';
import { type CheckedTrainer, checkedTerms, checkedTrainer, noSum } from './checkedTrainer.js';
import { checkedBatch, checkedTokens, type TrainingBatch } from './tasks.js';
import type { TrainerOptions, TrainingTerm } from './trainerOptions.js';
import type {
  LoudnessRecipe,
  TrainingCoordinates,
  TrainingDirections,
  TrainingEvaluation,
  TrainingLoudness,
  TrainingOverlap,
  TrainingShares,
  TrainingSharesOptions,
} from './trainerResults.js';

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
   * Takes `count` steps, from 1 to 10,000, default 1, and returns their losses: fewer where the run diverges.
   * Throws an Error when it has diverged before, RangeError and TypeError for a batch that does not fit;
   * earlier steps stay done.
   */
  step(count?: number): Float64Array;
  /**
   * Cuts exactly these terms of the first layer’s scores from here on, in steps and in everything measured. What the
   * model has learnt stays. Throws where shares() has none, and RangeError, TypeError.
   */
  cutTerms(terms: readonly TrainingTerm[]): void;
  /** The share of right answers on the evaluation, or on a batch of your own. */
  accuracy(batch?: TrainingBatch): number;
  /** Loss and accuracy on the evaluation, or on a batch of your own. */
  evaluate(batch?: TrainingBatch): TrainingEvaluation;
  /** [sequences · n, classes], for whole sequences of n tokens. */
  logits(options: { n: number; tokens: Int32Array | readonly number[] }): Table<Float64Array>;
  /**
   * What each token takes from each other in a layer, from 0, the default: [sequences · heads · n, n]. Rows sum
   * to 1.
   */
  attention(options: {
    n: number;
    tokens: Int32Array | readonly number[];
    layer?: number;
  }): Table<Float64Array>;
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
    trainer: (options) => trainerOf(raw, checkedTrainer(raw, options)),
    loudnessRecipes(options) {
      check.object('options', options);
      return raw.recipes(check.integer('d_model', options.d_model, 1)) as LoudnessRecipe[];
    },
  };
}

/** A trainer from checked options. */
export const trainerOf = (raw: RawModule, checked: CheckedTrainer): Trainer => new HeldTrainer(raw, checked);

type Batches = (step: number) => TrainingBatch;
type Unanswered = { n: number; tokens: Int32Array | readonly number[] };

class HeldTrainer implements Trainer {
  declare readonly isAlive: () => boolean;
  declare readonly delete: () => void;
  declare readonly [Symbol.dispose]: () => void;
  readonly #raw: RawModule;
  readonly #checked: CheckedTrainer;
  readonly #held: OwnedObject;
  #steps = 0;
  #diverged = false;
  #stepping = false;
  #cuts: readonly TrainingTerm[];

  constructor(raw: RawModule, checked: CheckedTrainer) {
    const { seed, sequences = 0, evaluation, evaluationSequences = 0, bytes } = checked;
    const made = () =>
      raw.trainer(checked, checked, seed, evaluation ?? {}, checked, sequences, evaluationSequences);
    this.#raw = raw;
    this.#checked = checked;
    this.#held = held(raw, 'trainer', bytes, made, raw.deleteTrainer);
    this.#cuts = checked.cuts;
    raw.trainerKeeps(this.#held.address(), kept(checked.cuts));
    Object.assign(this, this.#held.handle);
  }

  get steps() {
    return this.#steps;
  }

  get diverged() {
    return this.#diverged;
  }

  step(count = 1) {
    const address = this.#held.address();
    check.integer('count', count, 1, maxSteps);
    if (this.#stepping)
      throw new Error('This trainer is within a step: batches gives a batch, and calls no step().');
    if (this.#diverged) {
      throw new Error(
        `This run diverged at step ${this.#steps + 1}: its loss or gradient is not finite. Give a lower learningRate.`,
      );
    }
    const { batches } = this.#checked;
    if (!batches) return this.#noted(address, this.#raw.trainerSteps(address, count));
    this.#stepping = true;
    try {
      return this.#batchesSteps(count, batches);
    } finally {
      this.#stepping = false;
    }
  }

  #noted(address: number, losses: Float64Array) {
    this.#diverged = this.#raw.trainerDiverged(address);
    this.#steps += losses.length - (this.#diverged ? 1 : 0);
    return losses;
  }

  #batchesSteps(count: number, batches: Batches) {
    const losses = new Float64Array(count);
    for (let k = 0; k < count; k++) {
      const batch = checkedBatch('the batch', batches(this.#steps), this.#checked);
      // The callback that gave the batch may have deleted the trainer.
      const address = this.#held.address(` while it was stepping, ${k} of ${count} steps done`);
      check.fits(`${batch.tokens.length} tokens`, 16 * batch.tokens.length);
      losses[k] = this.#raw.trainerStep(address, batch);
      this.#noted(address, losses.subarray(k, k + 1));
      if (this.#diverged) return losses.slice(0, k + 1);
    }
    return losses;
  }

  cutTerms(terms: readonly TrainingTerm[]) {
    const address = this.#held.address();
    this.#cuts = checkedTerms('terms', terms, this.#checked.noTerms);
    this.#raw.trainerKeeps(address, kept(this.#cuts));
  }

  accuracy(batch?: TrainingBatch) {
    return this.evaluate(batch).accuracy;
  }

  evaluate(batch?: TrainingBatch): TrainingEvaluation {
    const address = this.#held.address();
    const own = batch == null ? undefined : checkedBatch('batch', batch, this.#checked);
    if (own) check.fits(`${own.tokens.length} tokens`, 16 * own.tokens.length);
    return this.#raw.evaluateTrainer(address, kept(this.#cuts), own ?? {});
  }

  logits(options: Unanswered) {
    const { address, batch } = this.#unanswered(options);
    const { length } = batch.tokens;
    const { classes } = this.#checked;
    check.fits(`Logits of ${length} tokens`, 16 * length * (1 + classes));
    return table(this.#raw.trainerLogits(address, batch), length, classes);
  }

  attention(options: Unanswered & { layer?: number }) {
    const { address, batch } = this.#unanswered(options);
    const layer = check.integer('layer', options.layer ?? 0, 0, this.#checked.layers - 1);
    const rows = batch.tokens.length * this.#checked.heads;
    check.fits(`Attention of ${batch.tokens.length} tokens`, 16 * (batch.tokens.length + rows * batch.n));
    return table(this.#raw.trainerAttention(address, batch, layer), rows, batch.n);
  }

  /** A batch whose targets are ignored. */
  #unanswered(options: Unanswered) {
    const address = this.#held.address();
    check.object('options', options);
    const n = check.integer('n', options.n, 1, this.#checked.positions);
    const tokens = checkedTokens('tokens', options.tokens, n, this.#checked.vocabulary);
    return { address, batch: { n, tokens, targets: tokens } };
  }

  shares(options: TrainingSharesOptions = {}): TrainingShares {
    const address = this.#held.address();
    const { noTerms, facts } = this.#checked;
    check.object('options', options);
    const gauge = check.oneOf('gauge', options.gauge ?? 'raw', ['raw', 'canonical']);
    if (noTerms !== null) return { mean: null, reason: noTerms };
    if (gauge === 'canonical' && !facts.sums)
      return { mean: null, reason: `Tokens and positions of '${facts.id}' share no stream.` };
    const mean = this.#raw.trainerShares(address, gauge === 'canonical');
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
    check.object('parameters', parameters);
    for (const [name, value] of Object.entries(parameters)) {
      const own = known[name];
      if (own === undefined || !Object.hasOwn(known, name)) {
        throw new RangeError(
          `There is no parameter called ${check.shown(name)}; this model has ${Object.keys(known).join(', ')}.`,
        );
      }
      check.table(name, value, { rows: own.rows, columns: own.columns });
      for (const entry of value.data) check.single(`an entry of ${name}`, entry);
    }
    const address = this.#held.address();
    for (const [name, { data }] of Object.entries(parameters))
      this.#raw.setTrainerParameter(address, name, data);
  }
}

/** Which terms are kept, as the module takes it. */
const kept = (cuts: readonly TrainingTerm[]) => pairTerms.map((term) => Number(!cuts.includes(term)));
