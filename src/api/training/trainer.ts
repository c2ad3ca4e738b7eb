import * as check from '../check.js';
import { type Handle, held } from '../handle.js';
import type { RawModule } from '../module.js';
import { pairTerms } from '../scores/schemeTerms.js';
import { type Table, table } from '../table.js';
import { type CheckedTrainer, checkedTerms, checkedTrainer, noSum } from './checkedTrainer.js';
import { checkedBatch, checkedTokens, type TrainingBatch } from './tasks.js';
import type { TrainerOptions, TrainingTerm } from './trainerOptions.js';
import type {
  LoudnessRecipe,
  NoTrainingAngles,
  NoTrainingDirections,
  NoTrainingOverlap,
  NoTrainingShares,
  TrainingAngles,
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
   * Cuts exactly these terms from here on. What the model has learnt stays. Throws where shares() has none, and
   * RangeError, TypeError.
   */
  cutTerms(terms: readonly TrainingTerm[]): void;
  /** The share of right answers on the evaluation, or on a batch of your own. */
  accuracy(batch?: TrainingBatch): number;
  /** Loss and accuracy on the evaluation, or on a batch of your own. */
  evaluate(batch?: TrainingBatch): TrainingEvaluation;
  /** The evaluation with one more term cut from the first layer’s scores. Throws where shares() has none. */
  cut(term: TrainingTerm): TrainingEvaluation;
  /** The evaluation with one term alone, cut or not. */
  only(term: TrainingTerm): TrainingEvaluation;
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
   * Copies of all parameters, by name: E [V, d_token], P [L, d_position]; W_f [2D, D]; U_q and U_k [d_position, D],
   * T5 [H, 2L − 1]; for layer l: layers.l.g1 [1, D], layers.l.W_qkv [D, 3D], layers.l.W_o [D, D]; gf [1, D],
   * W_u [D, classes]. Weights are [in, out].
   */
  parameters(): Record<string, Table>;
  /** Replaces some or all parameters, or none when one does not fit. The optimizer’s moments stay. */
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
const maxSteps = 10_000;
/** A bit for each term. */
const allTerms = 2 ** pairTerms.length - 1;

export function trainerApi(raw: RawModule): TrainerApi {
  return {
    trainer: (options) => trainerOf(raw, checkedTrainer(raw, options)),
    loudnessRecipes(options) {
      check.object('options', options);
      return raw.recipes(check.integer('d_model', options.d_model, 1));
    },
  };
}

/** A trainer from checked options. */
export function trainerOf(raw: RawModule, checked: CheckedTrainer): Trainer {
  const { facts, heads, single, vocabulary, classes, positions, noTerms, stream } = checked;
  const sizes = { vocabulary, classes, positions };
  const options = { ...checked, batches: undefined, cuts: undefined, noTerms: undefined, facts: undefined };
  const trainer = held(raw, 'trainer', checked.bytes, () => raw.trainer(options), raw.deleteTrainer);
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
  const bitOf = (term: TrainingTerm): number => {
    trainer.address();
    const place = check.placeIn('term', term, pairTerms);
    if (noTerms !== null) throw new Error(noTerms);
    return 1 << place;
  };
  const cutTerms = (terms: readonly TrainingTerm[]) => {
    cuts = terms;
    kept = allTerms - terms.reduce((bits, term) => bits + (1 << pairTerms.indexOf(term)), 0);
    raw.trainerKeeps(trainer.address(), kept);
  };
  cutTerms(checked.cuts);
  const evaluationN = 'evaluation' in checked ? checked.evaluation.n : checked.n;
  const noRows = noSum(facts);
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
      if (noTerms !== null) return none(noTerms);
      if (gauge === 'canonical' && !facts.sums)
        return none(`Tokens and positions of '${facts.id}' share no stream.`);
      const { mean, byHead } = raw.trainerShares(address, gauge === 'canonical');
      if (mean.some(Number.isNaN)) return none('The scores do not vary over keys.');
      return { mean, byHead: table(byHead, heads, mean.length), reason: null };
    },
    loudness() {
      const { tokens, positions } = raw.trainerLoudness(trainer.address());
      return { tokens, positions: Number.isNaN(positions) ? null : positions };
    },
    overlap() {
      const address = trainer.address();
      const none = (reason: string) => ({ overlap: null, chanceBand: null, chanceExact: null, reason });
      if (!facts.inStream) return none(noRows);
      const { overlap, chanceBand, chanceExact } = raw.trainerOverlap(address);
      if (Number.isNaN(overlap)) return none(equalRows);
      return { overlap, chanceBand, chanceExact, reason: null };
    },
    angles() {
      const address = trainer.address();
      const none = (reason: string) => ({ smallest: null, smallestLeading: null, reason });
      if (!facts.inStream) return none(noRows);
      const { smallest, smallestLeading } = raw.trainerAngles(address);
      if (Number.isNaN(smallest)) return none(equalRows);
      return { smallest, smallestLeading, reason: null };
    },
    directions() {
      const address = trainer.address();
      if (!facts.inStream) return { directions: null, reason: noRows };
      const data = raw.trainerDirections(address);
      return { directions: table(data, 2, data.length / 2), reason: null };
    },
    coordinates(directions) {
      const address = trainer.address();
      if (!facts.inStream) throw new Error(noRows);
      const { rows } = check.table('directions', directions, { columns: stream });
      check.positive('directions.rows', rows);
      check.fits(`Coordinates along ${rows} directions`, 24 * rows * (vocabulary + evaluationN + stream));
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

function parametersOf(raw: RawModule, trainer: number): Record<string, Table> {
  const all = raw.trainerParameters(trainer);
  return Object.fromEntries(all.map(({ name, ...of }) => [name, of]));
}
