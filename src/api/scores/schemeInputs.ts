// What callers may give each scheme. Ids, shapes, defaults and terms are the registry's.
import type { BucketOptions } from '../encodings/relativePosition.js';
import type { RotaryConvention } from '../encodings/rotary.js';
import type { Floats, Linear, Table } from '../table.js';

/** What all schemes share. */
export interface SchemeBase<A extends Floats = Floats> {
  /** Token embeddings, [n, d]. */
  content: Table<A>;
  /** From 1; it divides the rows of query and key. */
  heads: number;
  /** W_Q [heads · d_h, d] and its bias. Left out, it is drawn from N(0, 1/d), with d_h = d_head. */
  query?: Linear<A>;
  /** W_K, likewise. */
  key?: Linear<A>;
  /** d_h, when query is left out. Default d / heads, rounded down, at least 1. */
  d_head?: number;
  /** Replaces the scheme's own factor, such as 1/√d_h; any finite number. Default: the scheme's. */
  scale?: number;
  /** Which heads to return. Default all. */
  only?: readonly number[];
  /** Whether query i sees only the keys j ≤ i. Default: as the scheme is published. */
  causal?: boolean;
  /**
   * Which terms: the scheme's own, or what they ask about, by one rule for all schemes: a term asks about what
   * it varies with, all means removed. The words of `content` are taken as equally likely at every place. Then
   * `termNames` are those of `askedTerms` for every scheme. Default own.
   */
  terms?: 'own' | 'asked';
  /** Seed of the learned parts that are drawn, from 0 to 2³²-1. Default 0. */
  seed?: number;
  /** Standard deviation of the drawn tables and vectors, at least 0. Default 0.02. Drawn weights: 1/√in. */
  standardDeviation?: number;
}

/** Content alone; not causal by default. Scale 1/√d_h. */
export interface NoneInput<A extends Floats = Floats> extends SchemeBase<A> {
  /** No position at all. */
  scheme: 'none';
}

/** What adding and concatenating share. */
interface PositionTable<A extends Floats> {
  /** [n, d_p]; [n, d] when it is added. Left out, it is drawn. */
  position?: Table<A>;
  /** ρ, any finite number: the positions are multiplied by it. Default 1. */
  positionScale?: number;
}

/** W_Q(x_i + p_i) · W_K(x_j + p_j) / √d_h: four terms, a bias with the content. */
export interface AddInput<A extends Floats = Floats> extends SchemeBase<A>, PositionTable<A> {
  /** One projection of the sum. */
  scheme: 'add';
}

/** x_i · x_j + p_i · p_j, scale 1: W_Q and W_K are not used, so all heads are alike. */
export interface ConcatRawInput<A extends Floats = Floats> extends SchemeBase<A>, PositionTable<A> {
  /** Concatenated, no weights. */
  scheme: 'concat-raw';
  /** d_p, when position is left out. Default d. */
  d_position?: number;
}

/**
 * [W_Q U_Q][x_i; p_i] · [W_K U_K][x_j; p_j] / √d_h: four terms, a bias with the content. This is wide when d
 * + d_p exceeds the model's width, narrow when content and position share that width.
 */
export interface ConcatFullInput<A extends Floats = Floats> extends SchemeBase<A>, PositionTable<A> {
  /** Concatenated, any weights. */
  scheme: 'concat-full';
  /** d_p, when position is left out. Default d. */
  d_position?: number;
  /** U_Q, the position's columns of the joint weight, [heads · d_h, d_p]; the bias is query's. */
  positionQuery?: Linear<A>;
  /** U_K, likewise. */
  positionKey?: Linear<A>;
}

/** (q_i · k_j + U_Q p_i · U_K p_j) / √(d_h + d_hp): a sum of two scores (arXiv 2006.15595, eq. 7). */
export interface ConcatBlockDiagonalInput<A extends Floats = Floats> extends SchemeBase<A>, PositionTable<A> {
  /** Concatenated, with separate projections and head channels. */
  scheme: 'concat-block-diagonal';
  /** d_p, when position is left out. Default d. */
  d_position?: number;
  /** d_hp, when positionQuery is left out. Default d_h. */
  d_position_head?: number;
  /** U_Q [heads · d_hp, d_p] and its bias. */
  positionQuery?: Linear<A>;
  /** U_K, likewise. */
  positionKey?: Linear<A>;
}

/** q_i · (k_j + a_clip(j−i)) / √d_h (arXiv 1803.02155, eq. 4). */
export interface ShawInput<A extends Floats = Floats> extends SchemeBase<A> {
  /** Relative positions in the keys. */
  scheme: 'shaw';
  /** k, from 0. Default 16, or taken from offsetKeys. */
  clip?: number;
  /** [2k + 1, d_h], row clip(j − i) + k, shared by the heads. */
  offsetKeys?: Table<A>;
}

/** ((q_i + u) · k_j + (q_i + v) · W_kR R_{i−j}) / √d_h (arXiv 1901.02860, section 3.3). Causal. */
export interface TransformerXlInput<A extends Floats = Floats> extends SchemeBase<A> {
  /** Relative positions with two learned biases. */
  scheme: 'transformer-xl';
  /** R, [2n − 1, d_r], row (i − j) + n − 1. Default: the sinusoid of i − j, sin | cos. */
  offsets?: Table<A>;
  /** d_r, when offsets is left out. Default d. */
  d_offset?: number;
  /** W_kR [heads · d_h, d_r]. */
  offsetKey?: Linear<A>;
  /** u, [heads · d_h]; r_w_bias in the authors' code. */
  u?: A;
  /** v, [heads · d_h]; r_r_bias in the authors' code. */
  v?: A;
}

/** q_i · k_j + b_bucket(j−i), scale 1: T5 has no 1/√d at run time. Causal when not bidirectional. */
export interface T5Input<A extends Floats = Floats> extends SchemeBase<A>, BucketOptions {
  /** A bias for each bucket of offsets. */
  scheme: 't5';
  /** [buckets, heads] */
  bias?: Table<A>;
}

/** q_i · k_j / √d_h − m_h (i − j) (arXiv 2108.12409). Causal by default; otherwise −m_h |i − j|. */
export interface AlibiInput<A extends Floats = Floats> extends SchemeBase<A> {
  /** A penalty that grows with the distance. */
  scheme: 'alibi';
}

/** (q_i · k_j + q_i · k^r_δ(i,j) + k_j · q^r_δ) / √(3 d_h) (arXiv 2006.03654, eq. 4). */
export interface DebertaInput<A extends Floats = Floats> extends SchemeBase<A> {
  /** Content and position, disentangled. */
  scheme: 'deberta';
  /** k, from 1. Default 512, or taken from distances. */
  clip?: number;
  /** [2k, d], row δ(i, j) = clamp(i − j + k, 0, 2k − 1). */
  distances?: Table<A>;
  /** [heads · d_h, d], gives q^r. */
  positionQuery?: Linear<A>;
  /** [heads · d_h, d], gives k^r. */
  positionKey?: Linear<A>;
  /** The index of the position-to-content term: δ(j, i) in the paper, δ(i, j) in the released code. */
  convention?: 'paper' | 'released';
}

/** (q_i · k_j + U^Q p_i · U^K p_j) / √(2 d_h), [CLS] reset (arXiv 2006.15595, eqs. 7 to 9). */
export interface TupeInput<A extends Floats = Floats> extends SchemeBase<A>, BucketOptions {
  /** Untied positions; tupe-r adds relative ones. */
  scheme: 'tupe-a' | 'tupe-r';
  /** [n + 1, d], already normalized: rows 0 and 1 give θ₁ and θ₂, token i has row i + 1. */
  position?: Table<A>;
  /** U^Q [heads · d_h, d]; it has a bias in the released code. */
  positionQuery?: Linear<A>;
  /** U^K, likewise. */
  positionKey?: Linear<A>;
  /** Whether row and column 0 are θ₁ and θ₂. Default true; false is the paper's "tie-cls". */
  resetCls?: boolean;
  /**
   * tupe-r only, [buckets + 1, heads]. Row buckets/2 is for [CLS] to any token, row buckets for any token to
   * [CLS]. Added after the reset, as in the released code; zeros in these two rows give equation 9.
   */
  bias?: Table<A>;
}

interface Segments<A extends Floats> {
  /** E_S, [S², heads], row seg_i · S + seg_j. Left out, none. */
  segmentBias?: Table<A>;
  /** [n], from 0 to S − 1. */
  segmentIds?: readonly number[];
}

/** q_i · k_j / √d_h + p^Q_i · p^K_j + E_S: positions are not scaled (arXiv 2104.08698). */
export interface DietAbsInput<A extends Floats = Floats> extends SchemeBase<A>, Segments<A> {
  /** Decoupled absolute positions. */
  scheme: 'diet-abs';
  /** d_p, when the tables are left out. Default d_h. */
  d_position?: number;
  /** [n, heads · d_p] */
  positionQuery?: Table<A>;
  /** [n, heads · d_p] */
  positionKey?: Table<A>;
}

/** q_i · k_j / √d_h + R_clip(i−j) + E_S (arXiv 2104.08698). */
export interface DietRelInput<A extends Floats = Floats> extends SchemeBase<A>, Segments<A> {
  /** Decoupled relative positions. */
  scheme: 'diet-rel';
  /** k, from 0. Default 128, or taken from bias. */
  clip?: number;
  /** R, [2k + 1, heads], row clip(i − j) + k. */
  bias?: Table<A>;
}

/** (R_i q_i) · (R_j k_j) / √d_h (arXiv 2104.09864); d_h even. */
export interface RopeInput<A extends Floats = Floats> extends SchemeBase<A>, RotaryConvention {
  /** Queries and keys turned by their positions. */
  scheme: 'rope';
}

/** [q_i; R_i q^r_i] · [k_j; R_j k^r_j] / √(d_h + d_r) (DeepSeek-V2, arXiv 2405.04434). Causal. */
export interface DecoupledRopeInput<A extends Floats = Floats> extends SchemeBase<A>, RotaryConvention {
  /** Content and a rotary part, concatenated. */
  scheme: 'decoupled-rope';
  /** d_r, even, when rotaryQuery is left out. Default 2⌈d_h/4⌉. */
  d_rotary?: number;
  /** [heads · d_r, d] */
  rotaryQuery?: Linear<A>;
  /** [d_r, d], one for all heads, or [heads · d_r, d]. */
  rotaryKey?: Linear<A>;
}

/** A scheme and what it may be given. */
export type SchemeInput<A extends Floats = Floats> =
  | NoneInput<A>
  | AddInput<A>
  | ConcatRawInput<A>
  | ConcatFullInput<A>
  | ConcatBlockDiagonalInput<A>
  | ShawInput<A>
  | TransformerXlInput<A>
  | T5Input<A>
  | AlibiInput<A>
  | DebertaInput<A>
  | TupeInput<A>
  | DietAbsInput<A>
  | DietRelInput<A>
  | RopeInput<A>
  | DecoupledRopeInput<A>;

/** A scheme's id in schemeRegistry(). */
export type SchemeId = SchemeInput['scheme'];
