// What the page may ask of the worker, and what it answers.
import type { DotProducts } from 'superpose';

export type Encoding = 'interleaved' | 'concatenated' | 'random' | 'learned';

export interface DotProductsRequest {
  /** Random tokens, or the rows that MiniLM has for a text. */
  source: 'seeded' | 'sentence';
  text: string;
  /** Tokens and width; of a sentence, both are the model's. */
  n: number;
  d_model: number;
  positionScale: number;
  /** `learned` is MiniLM's own position table, for a sentence only. */
  encoding: Encoding;
  seed: number;
}

export interface DotProductsAnswer extends DotProducts<Float32Array> {
  n: number;
  d_model: number;
  /** Labels of the tokens. */
  tokens: string[];
  dropped: number;
}

export interface DecomposeRequest {
  text: string;
  head: number;
  /** Sets of terms to add up, each the indices of its terms among the sixteen. */
  panels: number[][];
  /** Which panels make up the score that softmax is taken of. */
  on: boolean[];
}

export interface Panel {
  sum: Float64Array;
  centred: Float64Array;
  share: number;
}

export interface DecomposeAnswer {
  tokens: string[];
  dropped: number;
  n: number;
  head: number;
  panels: Panel[];
  /** The direct logits, not the sum of the terms. */
  logits: Panel;
  /** The terms of the panels that are on. */
  kept: Panel & { softmax: Float64Array };
  /** The largest |sum of all terms − logits|. */
  residual: number;
}

export interface Tasks {
  dotProducts: { request: DotProductsRequest; answer: DotProductsAnswer };
  decompose: { request: DecomposeRequest; answer: DecomposeAnswer };
}

export type Task = keyof Tasks;

export interface Question<T extends Task = Task> {
  id: number;
  task: T;
  request: Tasks[T]['request'];
}

export type Reply = { id: number; answer: Tasks[Task]['answer'] } | { id: number; error: string };

/** Longest sentence that the page shows; the library takes the model's 512. */
export const mostTokens = 128;
