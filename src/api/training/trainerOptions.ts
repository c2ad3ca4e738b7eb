// The options of a trainer.
import type { pairTerms } from '../scores/scores.js';
import type { TaskOptions, TrainingBatch } from './tasks.js';

/**
 * How the order of tokens gets into a small model: 'add', x = e + p; 'concat', x = [e | p] in the same
 * width; 'concat-wide', each as wide as d_model; 'tupe', positions have their own scores with their own
 * weights (TUPE, arXiv 2006.15595); 'rope', rotated queries and keys (arXiv 2104.09864); 'alibi' (arXiv
 * 2108.12409); 't5', a bias for each head and offset (arXiv 1910.10683), one bucket per offset; 'none'.
 *
 * 'add-to-queries-keys': queries and keys of every layer read x + p, and values x = e. 'project': [e | p]
 * W_f, which is adding with two learned maps. 'multiply': e (1 + p).
 */
export type TrainingScheme =
  | 'none'
  | 'add'
  | 'concat'
  | 'concat-wide'
  | 'tupe'
  | 'rope'
  | 'alibi'
  | 't5'
  | 'add-to-queries-keys'
  | 'project'
  | 'multiply';

/** A term of the first layer's score: the query's part, then the key's. */
export type TrainingTerm = (typeof pairTerms)[number];

/**
 * The model, from tokens [n] to logits [n, classes]: layers of attention, and an unembedding. Nothing has a
 * bias, and LayerNorm has only a gain, so a score is exactly the sum of the four terms of e and p.
 */
export interface TrainingModelOptions {
  /** How order gets in. Default 'add'. */
  scheme?: TrainingScheme;
  /**
   * Where the position rows come from, under a scheme that has them: 'learned', drawn and trained unless
   * fixedPositions is set; 'sinusoid', computed and not trained. Default 'learned'.
   */
  table?: 'learned' | 'sinusoid';
  /** D, the number of channels of the stream, from 1 up; 'concat-wide' doubles it. Default 32. */
  d_model?: number;
  /**
   * The number of channels of a position in 'concat', from 1 to d_model − 1. Default half of d_model, rounded
   * down.
   */
  d_position?: number;
  /** H, the number of heads, which divides the stream’s channels, for 'rope' into even widths. Default 2. */
  heads?: number;
  /** The number of layers, from 1 to 12. Default 1. */
  layers?: number;
  /** Whether there is a LayerNorm before attention and unembedding. Default true. */
  layerNorm?: boolean;
  /** Whether query i sees only keys j ≤ i. Default false. */
  causal?: boolean;
  /** Whether all scores are 0, which gives the task's floor: attention cannot choose. Default false. */
  zeroScores?: boolean;
  /** Whether token rows stay as they were drawn. Default false. */
  fixedTokens?: boolean;
  /** Whether position rows stay as they were drawn; a sinusoid always does. Default false. */
  fixedPositions?: boolean;
  /**
   * Token and position rows are drawn from N(0, sigma²), and sinusoids have this root mean square. From 0 up.
   * Default 0.1.
   */
  sigma?: number;
  /** sigma of token rows alone, from 0 up. Default sigma. */
  sigmaTokens?: number;
  /** sigma of position rows alone, from 0 up. Default sigma, but 1 for 'multiply'. */
  sigmaPositions?: number;
  /**
   * Whether the model multiplies token rows by √d, the root of their width, when it reads them (arXiv
   * 1706.03762). Default false.
   */
  scaleTokens?: boolean;
  /** L, the rows of the position table and the longest sequence, from n up. Default n. */
  positions?: number;
}

/**
 * The optimizer: AdamW (arXiv 1711.05101) with β₁ = 0.9, β₂ = 0.98, ε = 1e-8 and warm-up; the norm of all
 * gradients together is clipped to 1. The learning rate of step s, from 1 up, is learningRate · min(1,
 * s/warmUp). With the schedule 'cosine' it is also multiplied by 0.1 + 0.45 (1 + cos πs/steps), which stays
 * constant beyond `steps`.
 */
export interface TrainingOptimizerOptions {
  /** The full learning rate, from 0 up. Default 0.005. */
  learningRate?: number;
  /** The weight decay of everything except gains, from 0 up. Default 0.01. */
  weightDecay?: number;
  /** The number of steps until the learning rate is full, from 0 up. Default 20. */
  warmUp?: number;
  /** How the learning rate falls. Default 'cosine'. */
  schedule?: 'cosine' | 'constant';
  /** The number of steps of the cosine, from 1 up; training may go on beyond them. Default 200. */
  steps?: number;
}

/** Options of every trainer. */
export interface AnyTrainerOptions extends TrainingModelOptions, TrainingOptimizerOptions {
  /** Terms that are cut from the first layer’s scores from the start, as by cutTerms(). Default none. */
  cuts?: readonly TrainingTerm[];
  /** The seed of parameters and examples, from 0 to 2³² − 1. Equal seeds give equal runs. Default 1. */
  seed?: number;
}

/** Options of a trainer on the examples of a task. */
export interface TaskTrainerOptions extends AnyTrainerOptions, TaskOptions {
  /** The number of sequences per step, from 1 to 65536. Default 32. */
  sequences?: number;
  /** The number of sequences for evaluation, from 1 to 65536. Default 128. */
  evaluationSequences?: number;
}

/** Options of a trainer on your own examples. */
export interface BatchTrainerOptions extends AnyTrainerOptions {
  /** The batch for evaluation; each step() gets its own batch. */
  evaluation: TrainingBatch;
  /** The number of token ids, from 1 up; ids are below it. */
  vocabulary: number;
  /** The number of classes, from 1 up; targets are below it. */
  classes: number;
}

export type TrainerOptions = TaskTrainerOptions | BatchTrainerOptions;
