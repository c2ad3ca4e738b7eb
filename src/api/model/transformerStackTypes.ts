// What a transformer stack is made of, asked for and returns, in words and types.
import type * as check from '../check.js';
import type { Handle } from '../handle.js';
import type { DecomposeInput, Normalization } from '../scores/decompose.js';
import { type GaugeOptions, gaugeOptionNames } from '../scores/gauge.js';
import type { Scores } from '../scores/scores.js';
import type { Floats, Linear, Table } from '../table.js';

export const activationNames = ['gelu', 'gelu_tanh', 'relu', 'silu'] as const;
export const ways = ['direct', 'streams', 'mean', 'mechanism'] as const;
/** How a layer turns queries and keys by their position (RoPE, arXiv 2104.09864). */
export interface LayerRotary {
  /**
   * θ_m, [pairs]: of each head, channels m and m + pairs are turned together by p θ_m (halves); those from 2 pairs
   * on stay as they are. Where a file’s pairs are neighbours, reorder the rows of W_Q and W_K (rotaryPermutation).
   */
  frequencies: Floats;
}

/**
 * One layer of a transformer stack; weights are [out, in]. H is heads, G keyHeads and d_h d_head. A norm that is left out is
 * none.
 */
export interface TransformerLayer {
  /** W_Q [H d_h, d] and its bias. */
  query: Linear;
  /** W_K [G d_h, d], likewise. */
  key: Linear;
  /** W_V [G d_h, d], likewise. */
  value: Linear;
  /** W_O [d, H d_h], likewise. */
  output: Linear;
  /** After attention, or before it with `pre`. */
  attentionNorm?: Normalization;
  /** [inner, d] */
  up: Linear;
  /** [inner, d]: the MLP is W_down (g(W_gate x + b) ⊙ (W_up x + b)) + b (arXiv 2002.05202). Left out, it has no gate. */
  gate?: Linear;
  /** [d, inner] */
  down: Linear;
  /** After the MLP, or before it with `pre`. */
  mlpNorm?: Normalization;
  /** Of each head’s query, [d_h], before it is turned (QK-norm, arXiv 2010.04245). */
  queryNorm?: Normalization;
  /** Of each head’s key, likewise. */
  keyNorm?: Normalization;
  /** Left out, nothing is turned in this layer. */
  rotary?: LayerRotary;
}

/** Reads a tensor block by block, in order; `from` is a block’s first row. */
export type ReadTensor = (visit: (block: Table, from: number) => void) => Promise<void>;

/** A map that goes into the module while its tensor is read, and is whole nowhere else. */
export interface ReadMap {
  /** [out, in] */
  readonly weight: { readonly rows: number; readonly columns: number; readonly read: ReadTensor };
  /** [out] */
  readonly bias?: Floats | undefined;
  /** Which map of the tensor it is … */
  readonly place: number;
  /** … of so many. */
  readonly of: number;
  /** Whether the tensor is [in, out]. */
  readonly transposed: boolean;
}

/** A layer whose maps may be read while they are added. */
export type ReadLayer = {
  [Name in keyof TransformerLayer]: NonNullable<TransformerLayer[Name]> extends { weight: unknown }
    ? TransformerLayer[Name] | ReadMap
    : TransformerLayer[Name];
};

export interface TransformerStackInput {
  /** The width d of its states, from 1 up. */
  d_model: number;
  /** Query heads H, from 1 up. */
  heads: number;
  /** G, a divisor of heads: query head h reads key and value head ⌊hG/H⌋ (arXiv 2305.13245). Default heads. */
  keyHeads?: number;
  /** The width d_h of a head, from 1 up. Default d_model / heads, which must then divide it. */
  d_head?: number;
  /** Norms after attention and MLP (`post`, BERT) or before them (`pre`, GPT-2, Llama). Default `post`. */
  norm?: 'post' | 'pre';
  /** x Φ(x), its tanh form, max(x, 0), or x / (1 + e^(−x)). Default `gelu`. */
  activation?: ActivationName;
  /** Whether query i sees keys j ≤ i only. Default false. */
  causal?: boolean;
  /** The norm of the summed embeddings; left out, none. */
  embeddingNorm?: Normalization;
  /** The norm after the last layer; left out, none. */
  finalNorm?: Normalization;
}

export interface ForwardInput {
  /** How many layers to run through, from 0; default all that were added. */
  layers?: number;
  /** Keeps what logits(), attention() and decompose() need. Default true; a forward without it is faster. */
  scores?: boolean;
  /**
   * By layer, [heads, n, n]: weights in place of the softmax of the layer’s scores, such as attention() of
   * another forward of as many tokens.
   */
  attention?: Readonly<Record<number, Floats>>;
  /** Keeps each layer’s queries and keys before they are turned, for the library’s own means. Default false. */
  projections?: boolean;
  /** Ends the run, within a layer too. */
  signal?: AbortSignal | undefined;
}

export const forwardNames: check.OptionNames<ForwardInput> = {
  layers: true,
  scores: true,
  attention: true,
  projections: true,
  signal: true,
};

/** What an MLP does between its two maps. */
export type ActivationName = (typeof activationNames)[number];

/** How a layer’s scores are taken apart; see ForwardPass.decompose(). */
export type Way = (typeof ways)[number];

export interface StackDecomposeInput extends Pick<DecomposeInput, 'only' | 'groups'>, GaugeOptions {
  /** The layer whose scores to take apart, from 0. */
  layer: number;
  /** Default `direct`. */
  way?: Way;
  /** Means of the state that the layer reads for the way `mean`, of its queries and keys for `mechanism`. */
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

/** The result of one forward, valid until the stack’s next one. */
export interface ForwardPass {
  /** Tokens. */
  readonly n: number;
  /** Layers it ran through. */
  readonly layers: number;
  /** The names of its summands. */
  readonly summands: readonly string[];
  /** [layers + 1, d]: the mean over tokens of the state after each number of layers, scaled to length one. */
  readonly embeddings: Table<Float64Array>;
  /** [d], the last of `embeddings`, after the final norm where there is one. */
  readonly embedding: Float64Array;
  /** [n, d], the state after so many layers, from 0, before the final norm. Throws RangeError. */
  state(layers: number): Table<Float64Array>;
  /** [n, d], the last state, after the final norm if all layers were run and there is one. */
  last(): Table<Float64Array>;
  /**
   * [heads, n, n], a layer's logits, from 0, for every pair of tokens, queries in rows. Throws RangeError.
   */
  logits(layer: number, only?: readonly number[]): Float64Array;
  /** [heads, n, n], the softmax of those over the allowed keys. Throws RangeError. */
  attention(layer: number, only?: readonly number[]): Float64Array;
  /**
   * A layer’s scores as terms of the parts that its input is the sum of, with every σ and all attention
   * frozen:
   *
   * - `direct`: the summands by the residual stream alone; `attention` and `mlp`, which is what those wrote;
   *   and `constant` (Mickus, Paperno & Constant, TACL 2022);
   * - `streams`: attention moves every part by W_O concat_h(A_h W_V x), and `attention` is empty;
   * - `mean`: `position`, the mean at each position over a corpus; `content`, what is left; and `constant`
   *   (Song & Zhong, arXiv 2310.04861). Rows before those of the means have no position;
   * - `mechanism`: what the score asks, by one rule for layers that turn and layers that do not: a term asks about what it varies with, all means removed. Terms are `token` · `token`, `token` · `position`,
   *   `position` · `token`, `position` · `position`, `offset` · `offset` (token →
   *   token by offset), `constant` · `token` (the key’s own appeal) and `token` · `constant` (the same for every
   *   key); the others are zero. It has no gauge but its means: rows before their `first` are excluded, and the
   *   whole score of a pair with such a row is `constant` · `constant`.
   *
   * Exact up to rounding; see `residuals`. In the canonical gauge means are subtracted at the embedding and
   * before scoring: subtracting them before scoring alone leaves shares that depend on a shift of the tables.
   * For `direct` and `streams`, given means are subtracted at the embedding. Throws RangeError, TypeError.
   */
  decompose(input: StackDecomposeInput): Scores;
}

/**
 * A transformer stack whose weights stay in the module’s memory, packed for its products. It computes in float32. Call delete()
 * when done with it, or declare it with `using`.
 */
export interface TransformerStack extends Handle {
  /** How many layers were added. */
  readonly layers: number;
  /** Adds the next layer; its weights are copied. Throws RangeError, TypeError; then nothing of it stays. */
  addLayer(layer: TransformerLayer): Promise<void>;
  /**
   * Runs summed embeddings through the layers: tables [n, d] by name, one for each summand that decompose() is to tell
   * apart. Other work may run meanwhile; a later forward ends this one. Throws RangeError, TypeError, the signal's reason.
   */
  forward(summands: Readonly<Record<string, Table>>, input?: ForwardInput): Promise<ForwardPass>;
}

/** A state’s mean over a corpus, and its mean at each position. */
export interface StateMeans {
  /** μ, [d]. */
  readonly mean: Floats;
  /** pos_t of the rows from `first` on, [positions, d]. */
  readonly position: Table;
  /** How many rows at the beginning have no position, since the model fixes their tokens. Default 1. */
  readonly first?: number;
}

/** The means of a layer’s queries [heads × d_head] and keys [keyHeads × d_head], before they are turned. */
export interface ScoreMeans {
  /** Of queries, head by head. */
  readonly query: StateMeans;
  /** Of keys, with the same `first`. */
  readonly key: StateMeans;
}

/**
 * How much of a state depends on the position alone. Even and odd windows are averaged apart and multiplied,
 * so that noise is not squared.
 */
export interface PositionFindings extends StateMeans {
  /** The positions’ share of the mean ‖h − μ‖². */
  readonly positionEnergy: number;
  /** How many directions the positions’ covariance C_P fills. */
  readonly participationRatio: number;
  /** A = d tr(C_P C) / (tr C_P tr C), C the content’s covariance: 1 expected of unrelated directions. */
  readonly overlap: number;
  /** The cosine of C_P with that of the state before layer 0, which comes from the position table. */
  readonly cosineWithFirst: number;
}

export interface TransformerStackApi {
  /**
   * A transformer whose input is a sum of rows, without layers at first: the forward of Devlin et al. 2019, or
   * with LayerNorm first (Xiong et al. 2020). Throws RangeError, TypeError.
   */
  transformerStack(input: TransformerStackInput): TransformerStack;
}
