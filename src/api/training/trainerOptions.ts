// What a trainer can be told.
import type { pairTerms } from '../scores/scores.js';
import type { TaskOptions, TrainingBatch } from './tasks.js';

/**
 * How order gets into a small model: 'add', x = e + p; 'concat', x = [e | p] in the same width;
 * 'concat-wide', each as wide as d_model; 'tupe', separate scores of positions with their own weights
 * (TUPE, arXiv 2006.15595); 'rope', queries and keys turned (arXiv 2104.09864); 'alibi' (arXiv 2108.12409);
 * 't5', a bias for each head and offset (arXiv 1910.10683), one bucket per offset; 'none'.
 *
 * 'add-to-queries-keys': queries and keys of every layer read x + p, and values x = e. 'project': [e | p] W_f, which is adding with two
 * learned maps. 'multiply': e (1 + p).
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
 * The model, from tokens [n] to logits [n, classes]: layers of attention, and an unembedding of its own. Nothing has a
 * bias, and LayerNorm has only a gain, so a score is exactly the four terms of e and p.
 */
export interface TrainingModelOptions {
  /** Default 'add'. */
  scheme?: TrainingScheme;
  /**
   * Where the position rows come from, under a scheme that has them: 'learned', drawn and trained unless
   * fixedPositions is set; 'sinusoid', computed and not trained. Default 'learned'.
   */
  table?: 'learned' | 'sinusoid';
  /** D, channels of the stream, from 1 up; 'concat-wide' doubles them. Default 32. */
  d_model?: number;
  /** Channels of a position in 'concat', from 1 to d_model − 1. Default half of d_model. */
  d_position?: number;
  /** H; it divides the stream’s channels, for 'rope' into even widths. Default 2. */
  heads?: number;
  /** From 1 to 12. Default 1. */
  layers?: number;
  /** Whether there is a LayerNorm before attention and unembedding. Default true. */
  layerNorm?: boolean;
  /** Whether query i sees keys j ≤ i only. Default false. */
  causal?: boolean;
  /** Sets all scores to 0: the task's floor, without attention’s choice. Default false. */
  zeroScores?: boolean;
  /** Whether token rows stay as they were drawn. Default false. */
  fixedTokens?: boolean;
  /** Whether position rows stay as they were drawn; a sinusoid always does. Default false. */
  fixedPositions?: boolean;
  /** Token and position rows are drawn from N(0, sigma²); sinusoids get this rms. From 0 up. Default 0.1. */
  sigma?: number;
  /** The same for token rows alone, from 0 up. Default sigma. */
  sigmaTokens?: number;
  /** The same for position rows alone, from 0 up. Default sigma, but 1 for 'multiply'. */
  sigmaPositions?: number;
  /** Whether token rows are multiplied by √d, the root of their width, as read (arXiv 1706.03762). Default false. */
  scaleTokens?: boolean;
  /** L, rows of the position table and longest sequence, from n up. Default n. */
  positions?: number;
}

/**
 * AdamW (arXiv 1711.05101) with β₁ 0.9, β₂ 0.98 and ε 1e-8, with warm-up, and the norm of all gradients together clipped to
 * 1. The rate of step s, from 1, is learningRate · min(1, s/warmUp), and with schedule 'cosine' also times 0.1 + 0.45 (1 + cos πs/steps); beyond `steps`
 * that stays as at `steps`.
 */
export interface TrainingOptimizerOptions {
  /** From 0 up. Default 0.005. */
  learningRate?: number;
  /** Weight decay of everything except gains, from 0 up. Default 0.01. */
  weightDecay?: number;
  /** Steps until the rate is full, from 0 up. Default 20. */
  warmUp?: number;
  /** Default 'cosine'. */
  schedule?: 'cosine' | 'constant';
  /** Steps of the cosine, from 1 up; training may go on beyond them. Default 200. */
  steps?: number;
}

interface AnyTrainerOptions extends TrainingModelOptions, TrainingOptimizerOptions {
  /** Terms removed from the first layer’s scores from the start, as by cutTerms(). Default none. */
  cuts?: readonly TrainingTerm[];
  /** Seed of parameters and examples: equal seeds give equal runs. From 0 to 2³² − 1, default 1. */
  seed?: number;
}

/** A trainer on examples of a task. */
export interface TaskTrainerOptions extends AnyTrainerOptions, TaskOptions {
  /** Sequences per step, from 1 to 65536. Default 32. */
  sequences?: number;
  /** Sequences for measuring accuracy, terms and shares, from 1 to 65536. Default 128. */
  evaluationSequences?: number;
}

/** A trainer on your own examples. */
export interface OwnTrainerOptions extends AnyTrainerOptions {
  /** The batch for measuring accuracy, terms and shares; step() is given others. */
  evaluation: TrainingBatch;
  /** Token ids are below this; from 1 up. */
  vocabulary: number;
  /** Targets are below this; from 1 up. */
  classes: number;
}

export type TrainerOptions = TaskTrainerOptions | OwnTrainerOptions;
