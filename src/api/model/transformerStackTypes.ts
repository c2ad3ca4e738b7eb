// The types of a transformer stack: its options, its layers, its forward passes and their results.
import type * as check from '../check.js';
import type { Handle } from '../handle.js';
import type { DecomposeInput, Normalization } from '../scores/decompose.js';
import { type GaugeOptions, gaugeOptionNames } from '../scores/gauge.js';
import type { Scores } from '../scores/scores.js';
import type { Floats, Linear, Table } from '../table.js';

export const activationNames = ['gelu', 'gelu_tanh', 'relu', 'silu'] as const;
/** The activation of an MLP. */
export type ActivationName = (typeof activationNames)[number];

export const ways = ['direct', 'streams', 'mean', 'mechanism'] as const;
/** How a layer's scores are taken apart; see ForwardPass.decompose(). */
export type Way = (typeof ways)[number];

/** How a layer rotates queries and keys by their position (RoPE, arXiv 2104.09864). */
export interface LayerRotary {
  /**
   * θ_m, [pairs]. Channels m and m + pairs of each head are rotated together, by p θ_m at position p;
   * channels from 2 pairs on stay as they are. If a file pairs neighbouring channels instead, reorder the
   * rows of W_Q and W_K and their biases: in each head, the first channels of all pairs, then the second
   * ones.
   */
  frequencies: Floats;
}

/**
 * One layer of a transformer stack. Weights are [out, in]. H stands for heads, G for keyHeads and d_h for
 * d_head. A norm that is left out is not applied.
 */
export interface TransformerLayer {
  /** W_Q [H d_h, d] and its bias. */
  query: Linear;
  /** W_K [G d_h, d] and its bias. */
  key: Linear;
  /** W_V [G d_h, d] and its bias. */
  value: Linear;
  /** W_O [d, H d_h] and its bias. */
  output: Linear;
  /** The norm after attention, or before it with `pre`. */
  attentionNorm?: Normalization;
  /** The first map of the MLP, [inner, d]. */
  up: Linear;
  /**
   * The gate, [inner, d], with which the MLP is W_down (g(W_gate x + b) ⊙ (W_up x + b)) + b (arXiv
   * 2002.05202). If it is left out, the MLP has no gate.
   */
  gate?: Linear;
  /** The second map of the MLP, [d, inner]. */
  down: Linear;
  /** The norm after the MLP, or before it with `pre`. */
  mlpNorm?: Normalization;
  /** The norm of each head's query, [d_h], before it is rotated (QK-norm, arXiv 2010.04245). */
  queryNorm?: Normalization;
  /** The norm of each head's key, [d_h], before it is rotated. */
  keyNorm?: Normalization;
  /** How queries and keys are rotated; if it is left out, they are not. */
  rotary?: LayerRotary;
}

export interface TransformerStackInput {
  /** The width d of its states, from 1 up. */
  d_model: number;
  /** Query heads H, from 1 up. */
  heads: number;
  /**
   * Key heads G, a divisor of heads: query head h reads key and value head ⌊hG/H⌋ (arXiv 2305.13245). Default
   * heads.
   */
  keyHeads?: number;
  /** The width d_h of a head, from 1 up. Default d_model / heads, which must then divide it. */
  d_head?: number;
  /** Norms after attention and MLP (`post`, BERT) or before them (`pre`, GPT-2, Llama). Default `post`. */
  norm?: 'post' | 'pre';
  /**
   * The activation g of the MLP: x Φ(x) for `gelu`, its tanh form for `gelu_tanh`, max(x, 0) for `relu`, and
   * x / (1 + e^(−x)) for `silu`. Default `gelu`.
   */
  activation?: ActivationName;
  /** Whether query i sees only keys j ≤ i. Default false. */
  causal?: boolean;
  /** The norm of the summed embeddings. Default none. */
  embeddingNorm?: Normalization;
  /** The norm after the last layer. Default none. */
  finalNorm?: Normalization;
}

export interface ForwardInput {
  /** How many layers to run through, from 0. Default all that were added. */
  layers?: number;
  /**
   * Whether to keep what logits(), attention() and decompose() need. Default true; a pass without it is
   * faster.
   */
  scores?: boolean;
  /**
   * Attention weights by layer, [heads, n, n], in place of the softmax of the layer's scores: for example
   * those that attention() returns for another pass over as many tokens.
   */
  attention?: Readonly<Record<number, Floats>>;
  /**
   * Whether to keep each layer's queries and keys before they are rotated, and those of the layer after the
   * last one, for corpusMeans(). Default false.
   */
  projections?: boolean;
  /** Ends the pass, even in the middle of a layer. */
  signal?: AbortSignal | undefined;
}

export const forwardNames: check.OptionNames<ForwardInput> = {
  layers: true,
  scores: true,
  attention: true,
  projections: true,
  signal: true,
};

export interface StackDecomposeInput extends Pick<DecomposeInput, 'only' | 'groups'>, GaugeOptions {
  /** The layer whose scores are taken apart, from 0. */
  layer: number;
  /** Default `direct`. */
  way?: Way;
  /**
   * For the way `mean`, means of the state that the layer reads; for `mechanism`, of its queries and keys.
   */
  means?: StateMeans | ScoreMeans;
}

export const decomposeNames: check.OptionNames<StackDecomposeInput> = {
  layer: true,
  way: true,
  only: true,
  groups: true,
  means: true,
  ...gaugeOptionNames,
};

/** The result of one forward pass, valid until the stack's next pass. */
export interface ForwardPass {
  /** How many tokens it ran on. */
  readonly n: number;
  /** How many layers it ran through. */
  readonly layers: number;
  /** The names of its summands. */
  readonly summands: readonly string[];
  /**
   * [layers + 1, d]: the mean over tokens of the state after 0 layers, 1 layer and so on, scaled to length
   * one.
   */
  readonly embeddings: Table<Float64Array>;
  /** [d], the last of `embeddings`, after the final norm if there is one. */
  readonly embedding: Float64Array;
  /**
   * Returns the state after `layers` layers, from 0, and before the final norm, [n, d]. Throws RangeError.
   */
  state(layers: number): Table<Float64Array>;
  /** Returns the last state, [n, d], after the final norm if there is one and all layers were run. */
  last(): Table<Float64Array>;
  /**
   * Returns the attention logits of a layer, [heads, n, n], before the softmax: one for every pair of
   * tokens, with queries in rows. Logits of next tokens are not computed. The first layer is 0, and `only`
   * names the heads to return; by default all. Throws RangeError.
   */
  logits(layer: number, only?: readonly number[]): Float64Array;
  /**
   * Returns the attention weights of a layer, [heads, n, n], the softmax of the logits over the keys that
   * each query sees. The first layer is 0, and `only` names the heads to return; by default all. Throws
   * RangeError.
   */
  attention(layer: number, only?: readonly number[]): Float64Array;
  /**
   * Takes the scores of a layer apart into terms of the parts whose sum is its input. The σ of every norm
   * and all attention weights are held fixed. The ways differ in the parts:
   *
   * - `direct`: the summands as they pass along the residual stream alone; `attention` and `mlp`, which are
   *   what attention and MLPs wrote to it; and `constant` (Mickus, Paperno & Constant, TACL 2022);
   * - `streams`: attention moves every part x by W_O concat_h(A_h W_V x), so `attention` is empty;
   * - `mean`: `position`, which is the mean at a position over the windows of a corpus, less the overall
   *   mean; `content`, the rest; and `constant`, which is the overall mean (Song & Zhong, arXiv 2310.04861).
   *   Rows before the first row of the means have no position;
   * - `mechanism`: splits scores by what they depend on, with one rule for layers with and without RoPE. A
   *   term depends on what it is named after, and all its means are removed. The terms are `token` ·
   *   `token`, `token` · `position`, `position` · `token`, `position` · `position`, `offset` · `offset`
   *   (token and token by their offset), `constant` · `token` (the key alone) and `token` · `constant`; all
   *   others are zero. The last, `token` · `constant`, is the part that is the same for every key: the whole
   *   query, with its token, its position and its mean, times the mean key. The softmax ignores it, and so
   *   do shares. The means are the gauge of this way. Rows before their `first` are excluded, and the score
   *   of a pair with such a row is in `constant` · `constant`.
   *
   * Terms add up to the scores, up to rounding; see `residuals`. In the canonical gauge, `direct` and
   * `streams` subtract means twice, at the embedding and before scoring: if they were subtracted before
   * scoring alone, shares would depend on a shift of the tables. These two ways ignore `means`. Throws
   * RangeError, TypeError.
   */
  decompose(input: StackDecomposeInput): Scores;
}

/**
 * A stack of transformer layers whose weights stay in the module's memory, packed for its matrix products.
 * It computes in float32. Call delete() when you no longer need it, or declare it with `using`.
 */
export interface TransformerStack extends Handle {
  /** How many layers were added. */
  readonly layers: number;
  /**
   * Adds the next layer and copies its weights. Throws RangeError, TypeError; the stack is then unchanged.
   */
  addLayer(layer: TransformerLayer): Promise<void>;
  /**
   * Runs the sum of these tables, [n, d] each, through the layers; decompose() of the result separates
   * summands by their names. Other tasks may run meanwhile, and a later pass ends this one. Throws
   * RangeError, TypeError, or the signal's reason.
   */
  forward(summands: Readonly<Record<string, Table>>, input?: ForwardInput): Promise<ForwardPass>;
}

/** The mean of a state over a corpus, and its mean at each position. */
export interface StateMeans {
  /** μ, [d]. */
  readonly mean: Floats;
  /** The mean at each position less μ, from row `first` on, [positions, d]. */
  readonly position: Table;
  /** How many rows at the beginning have no position, because the model fixes their tokens. Default 1. */
  readonly first?: number;
}

/** The means of a layer's queries [heads × d_head] and keys [keyHeads × d_head], before they are rotated. */
export interface ScoreMeans {
  /** Of the queries, head by head. */
  readonly query: StateMeans;
  /** Of the keys, with the same `first`. */
  readonly key: StateMeans;
}

/**
 * How much of a state depends on the position alone. Even and odd windows are averaged separately, and
 * products are of one average with the other, so that noise is not squared.
 */
export interface PositionStatistics extends StateMeans {
  /** The share of positions in the mean ‖h − μ‖². */
  readonly positionEnergy: number;
  /** How many directions the covariance of positions, C_P, fills. */
  readonly participationRatio: number;
  /**
   * A = d tr(C_P C) / (tr C_P tr C), where C is the covariance of content; 1 is expected of unrelated
   * directions.
   */
  readonly overlap: number;
  /** The cosine of C_P with the C_P of the state before layer 0, which comes from the position table. */
  readonly cosineWithFirst: number;
}
