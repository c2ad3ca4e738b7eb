// The options of a scheme. Ids, shapes, defaults and terms, and which scheme takes which options, are in the
// registry.
import type { RotaryConvention } from '../encodings/rotary.js';
import type { Floats, Linear, Table } from '../table.js';

/** Options of T5, and of TUPE-R, whose buckets are always for both directions. */
export interface BucketOptions {
  /** Whether keys after the query have their own buckets; without them, T5 is causal. Default true. */
  bidirectional?: boolean;
  /** The number of buckets: even and at least 4 when bidirectional, otherwise at least 2. Default 32. */
  buckets?: number;
  /**
   * The distance at which the last bucket begins. It must be above the number of exact buckets of a
   * direction, which is a quarter of `buckets`, or half of them with one direction. Default 128.
   */
  maxDistance?: number;
}

/**
 * A scheme and its options. Learned parts that are missing are drawn. Options that the scheme's entry in
 * schemeRegistry() does not list belong to other schemes and are ignored.
 */
export interface SchemeInput extends BucketOptions, RotaryConvention {
  /**
   * The scheme. schemeRegistry() has the formula and source of each. 'concat-raw' has no weights, so all its
   * heads are alike.
   */
  scheme: SchemeId;
  /** Token embeddings, [n, d]. */
  content: Table;
  /** The number of heads, from 1 up, which divides the rows of query and key. */
  heads: number;
  /** W_Q [heads · d_h, d] and its bias. By default it is drawn from N(0, 1/d), with d_h = d_head. */
  query?: Linear;
  /** W_K, likewise. */
  key?: Linear;
  /** d_h, if there is no query. Default d / heads, rounded down, at least 1. */
  d_head?: number;
  /** Replaces the scheme's factor of the logits, such as 1/√d_h; any finite number. */
  scale?: number;
  /** Which heads to return. Default all. */
  only?: readonly number[];
  /** Whether query i sees only keys j ≤ i. By default as the scheme was published. */
  causal?: boolean;
  /**
   * Which terms the score is split into: those of the scheme, or those of the analysis of variance. The
   * latter has one rule for all schemes: each term is what varies with the things that it is named after,
   * with all means removed, where the words of `content` are taken to be equally likely at every place. Then
   * `termNames` are `anovaTerms` for every scheme. Default 'scheme'.
   */
  terms?: 'scheme' | 'anova';
  /** The seed of the learned parts that are drawn, from 0 to 2³² − 1. Default 0. */
  seed?: number;
  /**
   * The standard deviation of drawn tables and vectors, at least 0. Default 0.02. That of drawn weights is
   * 1/√in.
   */
  standardDeviation?: number;
  /** ρ, the factor of positions that are added or concatenated; any finite number. Default 1. */
  positionScale?: number;
  /** d_p of concatenated and decoupled positions. Default d, and d_h for DIET-ABS. */
  d_position?: number;
  /** d_hp of block-diagonal weights. Default d_h. */
  d_position_head?: number;
  /** d_r of Transformer-XL's offsets. Default d. */
  d_offset?: number;
  /** d_r of decoupled RoPE, even. Default 2⌈d_h/4⌉. */
  d_rotary?: number;
  /** k of Shaw (default 16), of DeBERTa (from 1, default 512) and of DIET-REL (default 128). */
  clip?: number;
  /**
   * Added [n, d], concatenated [n, d_p]. TUPE: [n + 1, d], already normalized: rows 0 and 1 give θ₁ and θ₂,
   * token i has row i + 1.
   */
  position?: Table;
  /**
   * Full: U_Q, the position's columns of the joint weight, [heads · d_h, d_p]; the bias is query's.
   * Block-diagonal: U_Q [heads · d_hp, d_p]. TUPE: U^Q [heads · d_h, d]. DeBERTa: [heads · d_h, d], gives
   * q^r. DIET-ABS: a table [n, heads · d_p].
   */
  positionQuery?: Linear | Table;
  /** U_K, likewise; gives k^r. */
  positionKey?: Linear | Table;
  /** Shaw: [2k + 1, d_h], row clip(j − i) + k, shared by the heads. */
  offsetKeys?: Table;
  /** Transformer-XL: R, [2n − 1, d_r], row (i − j) + n − 1. Default: the sinusoid of i − j, sin | cos. */
  offsets?: Table;
  /** Transformer-XL: W_kR [heads · d_h, d_r]. */
  offsetKey?: Linear;
  /** Transformer-XL: u, [heads · d_h]; r_w_bias in the authors' code. */
  u?: Floats;
  /** Transformer-XL: v, [heads · d_h]; r_r_bias in the authors' code. */
  v?: Floats;
  /**
   * T5: [buckets, heads]. DIET-REL: R, [2k + 1, heads], row clip(i − j) + k. TUPE-R: [buckets + 1, heads];
   * row buckets/2 is for [CLS] to any token, row buckets for any token to [CLS]. It is added after the reset,
   * as in the released code; zeros in these two rows give equation 9.
   */
  bias?: Table;
  /** DeBERTa: [2k, d], row δ(i, j) = clamp(i − j + k, 0, 2k − 1). */
  distances?: Table;
  /** Decoupled RoPE: [heads · d_r, d]. */
  rotaryQuery?: Linear;
  /** Decoupled RoPE: [d_r, d], one for all heads, or [heads · d_r, d]. */
  rotaryKey?: Linear;
}

/** A scheme's id in schemeRegistry(). */
export type SchemeId =
  | 'none'
  | 'add'
  | 'concat-raw'
  | 'concat-full'
  | 'concat-block-diagonal'
  | 'shaw'
  | 'transformer-xl'
  | 't5'
  | 'alibi'
  | 'deberta'
  | 'tupe-a'
  | 'tupe-r'
  | 'diet-abs'
  | 'diet-rel'
  | 'rope'
  | 'decoupled-rope';
