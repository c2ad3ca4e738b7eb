import * as check from '../check.js';
import type { RawModule } from '../module.js';
import { checkedTrainer } from './checkedTrainer.js';
import { type Trainer, trainerOf } from './trainer.js';
import type { TrainerOptions } from './trainerOptions.js';

export interface TrainOptions {
  /** Stops the run between two slices, which then throws the signal’s reason. The trainer stays as it is. */
  signal?: AbortSignal;
  /** Steps between two points of the curves, from 1 to 10,000. Default 5. */
  every?: number;
}

/** A point of a run’s curves. */
export interface TrainingPoint {
  /** Steps done. */
  readonly steps: number;
  /** Losses of the steps since the last point, each before its step's update. */
  readonly losses: Float64Array;
  /** Loss on the evaluation, in nats. */
  readonly loss: number;
  /** Accuracy on the evaluation. */
  readonly accuracy: number;
  /** [4], raw shares, mean over heads; null for a scheme without position rows. */
  readonly shares: Float64Array | null;
  /** [4], canonical shares; null also for 'untied'. */
  readonly canonical: Float64Array | null;
  /** Overlap A of token and position rows; null where the stream has no positions. */
  readonly overlap: number | null;
  /** Whether the run stops here because a loss or gradient was not finite. */
  readonly diverged: boolean;
}

export interface TrainApi {
  /**
   * Trains until the trainer’s planned steps are done or it diverges; the first point is before the first
   * step. Other work of the thread runs between points. A trainer made here, from options, is also deleted
   * here. Throws RangeError, TypeError, and an Error from the run when the trainer is deleted meanwhile.
   */
  train(trainer: Trainer | TrainerOptions, options?: TrainOptions): AsyncGenerator<TrainingPoint, void>;
}

/** The most steps taken without a break for the thread. */
const slice = 50;

function pointOf(trainer: Trainer, losses: Float64Array): TrainingPoint {
  const { loss, accuracy } = trainer.evaluate();
  const { mean: shares } = trainer.shares();
  return {
    steps: trainer.steps,
    losses,
    loss,
    accuracy,
    shares,
    canonical: shares && trainer.shares({ gauge: 'canonical' }).mean,
    overlap: trainer.overlap().overlap,
    diverged: trainer.diverged,
  };
}

const breath = () => new Promise((resolve) => setTimeout(resolve));

async function* run(trainer: Trainer, every: number, signal: AbortSignal | undefined) {
  signal?.throwIfAborted();
  yield pointOf(trainer, new Float64Array());
  while (trainer.steps < trainer.plannedSteps && !trainer.diverged) {
    const wanted = Math.min(every, trainer.plannedSteps - trainer.steps);
    const losses = new Float64Array(wanted);
    let count = 0;
    while (count < wanted && !trainer.diverged) {
      await breath();
      signal?.throwIfAborted();
      // Another run of the same trainer may have stepped meanwhile.
      const due = Math.min(slice, wanted - count, trainer.plannedSteps - trainer.steps);
      if (due <= 0 || trainer.diverged) break;
      const some = trainer.step(due);
      losses.set(some, count);
      count += some.length;
    }
    yield pointOf(trainer, losses.slice(0, count));
  }
}

export function trainApi(raw: RawModule): TrainApi {
  return {
    train(trainer, options = {}) {
      check.object('trainer', trainer);
      check.object('options', options);
      const { signal, every: given } = options;
      const every = check.integer('every', given ?? 5, 1, 10_000);
      if (signal != null && typeof signal.throwIfAborted !== 'function')
        check.refuse('signal', 'an AbortSignal', signal, false);
      if ('step' in trainer) return run(trainer, every, signal);
      const checked = checkedTrainer(raw, trainer);
      return (async function* () {
        const own = trainerOf(raw, checked);
        try {
          yield* run(own, every, signal);
        } finally {
          own.delete();
        }
      })();
    },
  };
}
