import * as check from '../check.js';
import { type Handle, held } from '../handle.js';
import type { Raw } from '../module.js';
import {
  checkedNames,
  checkedNormalization,
  checkedTables,
  type DecomposeInput,
  grouped,
  type Normalization,
} from '../scores/decompose.js';
import { checkedGauge, type GaugeOptions } from '../scores/gauge.js';
import { everywhere, fitsScores, type Scores } from '../scores/scores.js';
import { type Floats, type FloatsOf, type Linear, type Precision, type Table, table } from '../table.js';

/** How a layer turns queries and keys by their position (RoPE, arXiv 2104.09864). */
export interface LayerRotary {
  /**
   * θ_m, [pairs]: of each head, channels m and m + pairs are turned together by p θ_m (halves); those from 2 pairs
   * on stay as they are. Where a file’s pairs are neighbours, reorder the rows of W_Q and W_K (rotaryPermutation).
   */
  frequencies: Float64Array;
  /** Multiplies what is turned, in queries and in keys, so their product twice (YaRN). Above 0, default 1. */
  gain?: number;
}

/**
 * One layer of an encoder; weights are [out, in]. H is heads, G keyHeads and d_h d_head. A norm that is left out is
 * none.
 */
export interface EncoderLayer<A extends Floats = Floats> {
  /** W_Q [H d_h, d] and its bias. */
  query: Linear<A>;
  /** W_K [G d_h, d], likewise. */
  key: Linear<A>;
  /** W_V [G d_h, d], likewise. */
  value: Linear<A>;
  /** W_O [d, H d_h], likewise. */
  output: Linear<A>;
  /** After attention, or before it with `pre`. */
  attentionNorm?: Normalization<A>;
  /** [inner, d] */
  up: Linear<A>;
  /** [inner, d]: the MLP is W_down (g(W_gate x + b) ⊙ (W_up x + b)) + b (arXiv 2002.05202). Left out, it has no gate. */
  gate?: Linear<A>;
  /** [d, inner] */
  down: Linear<A>;
  /** After the MLP, or before it with `pre`. */
  mlpNorm?: Normalization<A>;
  /** Of each head’s query, [d_h], before it is turned (QK-norm, arXiv 2010.04245). */
  queryNorm?: Normalization<A>;
  /** Of each head’s key, likewise. */
  keyNorm?: Normalization<A>;
  /** Of what attention writes, b_O included, before it is added (arXiv 2408.00118). */
  outputNorm?: Normalization<A>;
  /** Of what the MLP writes, likewise. */
  downNorm?: Normalization<A>;
  /** Left out, nothing is turned in this layer. */
  rotary?: LayerRotary;
  /** The largest |i − j| at which a query sees a key, from 0; left out, any. */
  window?: number;
}

export interface EncoderInput<P extends Precision = 'float32'> {
  /** The width d of its states, from 1 up. */
  d_model: number;
  /** Query heads H, from 1 up. */
  heads: number;
  /** G, a divisor of heads: query head h reads key and value head ⌊hG/H⌋ (arXiv 2305.13245). Default heads. */
  keyHeads?: number;
  /** The width d_h of a head, from 1 up. Default d_model / heads, which must then divide it. */
  d_head?: number;
  /** The precision of the computation and of every array. Default float32. */
  precision?: P;
  /** Norms after attention and MLP (`post`, BERT) or before them (`pre`, GPT-2, Llama, ViT). Default `post`. */
  norm?: 'post' | 'pre';
  /** x + attention(norm(x)) + mlp(norm(x)), both of the same x (GPT-NeoX); with `pre` only. Default false. */
  parallel?: boolean;
  /** x Φ(x), its tanh form, max(x, 0), x / (1 + e^(−1.702x)), or x / (1 + e^(−x)). Default `gelu`. */
  activation?: ActivationName;
  /** Whether query i sees keys j ≤ i only. Default false. */
  causal?: boolean;
  /** The norm of the summed embeddings [e]; left out, none. */
  embeddingNorm?: Normalization<FloatsOf<P>>;
  /** The norm after the last layer; left out, none. */
  finalNorm?: Normalization<FloatsOf<P>>;
  /** [d, e], widens narrow embeddings after their norm; left out, e = d. */
  projection?: Linear<FloatsOf<P>>;
  /**
   * [buckets, heads], an even number of buckets from 4 up: b[bucket(j − i)], in T5’s buckets up to 128 tokens
   * away, is added to each head’s scores in every layer (MPNet, T5’s encoder). Left out, none.
   */
  relativeBias?: Table<FloatsOf<P>>;
  /** [heads]: slope × (j − i) is added to each head’s scores in every layer (ALiBi, arXiv 2108.12409). Left out, none. */
  slopes?: FloatsOf<P>;
  /**
   * Above 0: softmax is of cap tanh(score / cap) in every layer (arXiv 2408.00118). Logits, and their terms, are before
   * it, and what is the same for every key does change attention then. Left out, none.
   */
  cap?: number;
}

export interface ForwardInput<A extends Floats = Floats> {
  /** How many layers to run through, from 0; default all that were added. */
  layers?: number;
  /** [n], false for padding, which no query sees and the embedding leaves out. Default all true. */
  attended?: readonly boolean[];
  /** Keeps what logits(), attention() and decompose() need. Default true; a forward without it is faster. */
  scores?: boolean;
  /**
   * By layer, [n, d]: subtracted from what W_Q and W_K of that layer read and from nothing else, so only who
   * attends to whom changes.
   */
  unread?: Readonly<Record<number, Table<A>>>;
  /** By layer, [n, d]: subtracted from what W_V of that layer reads, so only what attention carries changes. */
  uncarried?: Readonly<Record<number, Table<A>>>;
  /**
   * By layer, [heads, n, n]: weights in place of the softmax of the layer’s scores, such as attention() of
   * another forward of as many tokens.
   */
  attention?: Readonly<Record<number, A>>;
  /** [n, d], subtracted from the state before layer 0, for all that reads it. */
  withheld?: Table<A>;
  /** Keeps each layer’s queries and keys before they are turned, for positionMeans() with `scores`. Default false. */
  projections?: boolean;
}

/** What an MLP does between its two maps. */
export type ActivationName = (typeof activationNames)[number];

/** How a layer’s scores are taken apart; see EncoderForward.decompose(). */
export type Way = (typeof ways)[number];

/** A state’s mean over a corpus, and its mean at each position. */
export interface StateMeans<A extends Floats = Floats> {
  /** μ, [d]. */
  readonly mean: A;
  /** pos_t of the rows from `first` on, [positions, d]. */
  readonly position: Table<A>;
  /** How many rows at the beginning have no position, since the model fixes their tokens. Default 1. */
  readonly first?: number;
}

/** The means of a layer’s queries [heads × d_head] and keys [keyHeads × d_head], before they are turned. */
export interface ScoreMeans<A extends Floats = Floats> {
  /** Of queries, head by head. */
  readonly query: StateMeans<A>;
  /** Of keys, with the same `first`. */
  readonly key: StateMeans<A>;
}

export interface EncoderDecomposeInput<A extends Floats = Floats>
  extends Pick<DecomposeInput<A>, 'only' | 'groups'>,
    GaugeOptions<A> {
  /** The layer whose scores to take apart, from 0. */
  layer: number;
  /** Default `direct`. */
  way?: Way;
  /** Means of the state that the layer reads for the way `mean`, of its queries and keys for `mechanism`. */
  means?: StateMeans<A> | ScoreMeans<A>;
}

export interface HeadOutputsInput<A extends Floats = Floats> extends EncoderDecomposeInput<A> {
  /** Whether to return every part of every chosen head’s output, [heads, parts, n, d]. Default false. */
  outputs?: boolean;
}

/** How much of what is written varies, and how much of that each part accounts for. */
export interface OutputVariation {
  /** [heads, parts]; they sum to 1 and may be negative. NaN where nothing varies by more than rounding. */
  readonly shares: Float64Array;
  /** [heads, parts]. Pooled shares are their sum over that of variances. */
  readonly covariances: Float64Array;
  /** [heads] */
  readonly variances: Float64Array;
}

/** What a layer’s heads write, as sums of the parts of what the layer reads. */
export interface HeadOutputs {
  /** Tokens. */
  readonly n: number;
  /** The heads that were asked for. */
  readonly heads: readonly number[];
  /** The groups; `apart`, the contrast of rows that stand apart, if there are any; the constant’s group last. */
  readonly parts: readonly string[];
  /** The gauge of the parts. */
  readonly gauge: Scores['gauge'];
  /** The rows that stand apart. */
  readonly apart: readonly number[];
  /** Of what differs between queries: the output less its mean over the used rows. */
  readonly overQueries: OutputVariation;
  /** Of the output less what attending to all used rows alike would write; keeps what all queries get. */
  readonly fromUniform: OutputVariation;
  /** [heads], the largest |sum of the parts − output|. */
  readonly residuals: Float64Array;
  /** The same of all heads together, one row each. */
  readonly layer: Pick<HeadOutputs, 'overQueries' | 'fromUniform' | 'residuals'>;
  /**
   * [heads, n, n], A_ij ‖W_O W_V (x_j − x̄)‖, x̄ the used rows’ mean: attention weighed by what it moves
   * (after Kobayashi et al., EMNLP 2020, who keep the bias of the values, which depends on a convention).
   */
  readonly weighted: Float64Array;
  /** [heads, parts, n, d]; empty unless asked for. */
  readonly outputs: Float64Array;
}

/** The result of one forward, valid until the encoder’s next one. */
export interface EncoderForward<A extends Floats = Floats> {
  /** Tokens. */
  readonly n: number;
  /** Layers it ran through. */
  readonly layers: number;
  /** The names of its summands. */
  readonly summands: readonly string[];
  /** [layers + 1, d]: the mean over tokens of the state after each number of layers, scaled to length one. */
  readonly embeddings: Table<A>;
  /** [d], the last of `embeddings`, after the final norm where there is one. */
  readonly embedding: A;
  /** [n, d], the state after so many layers, from 0, before the final norm. Throws RangeError. */
  state(layers: number): Table<A>;
  /** [n, d], the last state, after the final norm if all layers were run and there is one. */
  last(): Table<A>;
  /**
   * [heads, n, n], a layer's logits, from 0, for every pair of tokens, queries in rows, before any cap. Throws
   * RangeError.
   */
  logits(layer: number, only?: readonly number[]): A;
  /** [heads, n, n], the softmax of those, capped, over the allowed keys. Throws RangeError. */
  attention(layer: number, only?: readonly number[]): A;
  /**
   * A layer’s scores as terms of the parts that its input is the sum of, with every σ and all attention
   * frozen:
   *
   * - `direct`: the summands by the residual stream alone; `attention` and `mlp`, which is what those wrote;
   *   and `constant` (Mickus, Paperno & Constant, TACL 2022);
   * - `streams`: attention moves every part by W_O concat_h(A_h W_V x), and `attention` is empty;
   * - `mean`: `position`, the mean at each position over a corpus; `content`, what is left; and `constant`
   *   (Song & Zhong, arXiv 2310.04861). Rows before those of the means have no position;
   * - `mechanism`: what the score asks, by one rule for rotation, ALiBi, T5’s table and layers without any: a term
   *   asks about what it varies with, all means removed. Terms are `token` · `token`, `token` · `position`,
   *   `position` · `token`, `position` · `position` (the bias by offset is in it), `offset` · `offset` (token →
   *   token by offset), `constant` · `token` (the key’s own appeal) and `token` · `constant` (the same for every
   *   key); the others are zero. It has no gauge but its means: rows before their `first` stand apart, and the
   *   whole score of a pair with such a row is `constant` · `constant`.
   *
   * Exact up to rounding; see `residuals`. In the canonical gauge means are subtracted at the embedding and
   * before scoring: subtracting them before scoring alone leaves shares that depend on a shift of the tables.
   * For `direct` and `streams`, given means are subtracted at the embedding. A bias by offset is one more
   * part, `relative`, after all others; its terms with the others are zero. Throws RangeError, TypeError.
   */
  decompose(input: EncoderDecomposeInput<A>): Scores<A>;
  /**
   * [heads, pairs + 1]: how much of the variation of a head’s scores over keys each pair of channels that are turned
   * together accounts for, and last what is not turned. They sum to 1 and may be negative; NaN where nothing varies
   * by more than rounding. Throws RangeError.
   */
  channelPairs(layer: number, only?: readonly number[]): Table<Float64Array>;
  /**
   * What a layer reads, as the sum of the same parts, [n, d] each, the constant’s last. Throws RangeError, TypeError.
   */
  parts(input: EncoderDecomposeInput<A>): Readonly<Record<string, Table<A>>>;
  /**
   * What a layer’s heads write, W_O,h (Σ_j A_ij W_V,h x_j + b_V,h), as sums of the same parts, with all attention
   * frozen: whether values carry tokens or positions. Heads, parts and b_O add up to what attention writes, before
   * any `outputNorm`. In the canonical gauge the shares depend on no shift of the tables, no b_V and no basis of a head’s values.
   * Throws RangeError, TypeError.
   */
  headOutputs(input: HeadOutputsInput<A>): HeadOutputs;
}

/**
 * An encoder whose weights stay in the module’s memory, packed for its products. Call delete() when done with
 * it, or declare it with `using`.
 */
export interface Encoder<A extends Floats = Floats> extends Handle {
  /** How many layers were added. */
  readonly layers: number;
  /** Adds the next layer; its weights are copied. Throws RangeError, TypeError. */
  addLayer(layer: EncoderLayer<A>): void;
  /**
   * Runs summed embeddings through the layers: tables [n, e] by name, one for each summand that decompose()
   * is to tell apart. Throws RangeError, TypeError.
   */
  forward(summands: Readonly<Record<string, Table<A>>>, input?: ForwardInput<A>): EncoderForward<A>;
}

/**
 * How much of a state depends on the position alone. Even and odd windows are averaged apart and multiplied,
 * so that noise is not squared.
 */
export interface PositionFindings extends StateMeans<Float64Array> {
  /** The positions’ share of the mean ‖h − μ‖². */
  readonly positionEnergy: number;
  /** The share of it that a window’s own mean has. */
  readonly contextEnergy: number;
  /** How many directions the positions’ covariance C_P fills. */
  readonly participationRatio: number;
  /** A = d tr(C_P C) / (tr C_P tr C), C the content’s covariance: 1 expected of unrelated directions. */
  readonly overlap: number;
  /** The cosine of C_P with that of the state before layer 0, which comes from the position table. */
  readonly cosineWithFirst: number;
}

/** Means over a corpus of windows of equal length, state by state. */
export interface PositionMeans extends Handle {
  /** How many windows were added. */
  readonly windows: number;
  /**
   * Adds the states of a forward of at least first + positions rows: of each, the rows from `first` on. Throws
   * RangeError, TypeError.
   */
  add(forward: EncoderForward): void;
  /** Findings on the state after so many layers; needs at least four windows. Throws RangeError. */
  findings(layers: number): PositionFindings;
  /** Means of a layer’s queries and keys, from 0; needs `scores` and at least four windows. Throws RangeError. */
  scores(layer: number): ScoreMeans<Float64Array>;
}

export interface PositionMeansInput {
  /** Rows that have a position, from 2 up. */
  positions: number;
  /** Rows of each window before those. Default 1. */
  first?: number;
  /** The width of the states, from 1 up. */
  d_model: number;
  /** How many layers the windows are run through, from 0 up. */
  layers: number;
  /**
   * The widths of a layer’s queries, heads × d_head, and keys, keyHeads × d_head: their means are gathered too, from
   * forwards with `projections`. Left out, they are not.
   */
  scores?: Readonly<Record<'query' | 'key', number>>;
}

export interface EncoderApi {
  /**
   * A transformer whose input is a sum of rows, without layers at first: the forward of Devlin et al. 2019, or
   * with LayerNorm first (Xiong et al. 2020). Throws RangeError, TypeError.
   */
  encoder<P extends Precision = 'float32'>(input: EncoderInput<P>): Encoder<FloatsOf<P>>;
  /**
   * The mean decomposition of states, h = μ + pos_t + content (Song & Zhong, arXiv 2310.04861), gathered
   * window by window. Throws RangeError, TypeError.
   */
  positionMeans(input: PositionMeansInput): PositionMeans;
}

const activationNames = ['gelu', 'gelu_tanh', 'relu', 'quick_gelu', 'silu'] as const;
const ways = ['direct', 'streams', 'mean', 'mechanism'] as const;
const layerMembers = ['query', 'key', 'value', 'output', 'up', 'gate', 'down'] as const;
const noNorm = { kind: 0, gamma: undefined, beta: undefined, epsilon: 0 };

/** What positionMeans() needs of each forward, and the module that holds it. */
const inside = new WeakMap<
  object,
  {
    raw: Raw;
    of: () => {
      suffix: string;
      address: number;
      n: number;
      d: number;
      projected: Readonly<Record<'query' | 'key', number>> | undefined;
    };
    attended: readonly boolean[] | undefined;
  }
>();

export function encoderApi(raw: Raw): EncoderApi {
  return {
    encoder<P extends Precision = 'float32'>(input: EncoderInput<P>): Encoder<FloatsOf<P>> {
      return encoderOf<FloatsOf<P>>(raw, input as EncoderInput<Precision>);
    },

    positionMeans(input) {
      check.object('input', input);
      const positions = check.integer('positions', input.positions, 2);
      const first = check.integer('first', input.first ?? 1, 0);
      const d = check.integer('d_model', input.d_model, 1);
      const layers = check.integer('layers', input.layers, 0);
      const { scores } = input;
      if (scores !== undefined) check.object('scores', scores);
      const queries = scores ? check.integer('scores.query', scores.query, 1) : 0;
      const keys = scores ? check.integer('scores.key', scores.key, 1) : 0;
      const bytes = ((layers + 1) * (2 * positions + d + 2) * d + layers * positions * (queries + keys)) * 8;
      check.fits(`Means of ${layers + 1} states of ${positions} positions`, bytes);
      const mine = held(
        raw,
        'set of means',
        bytes,
        () => raw.positionMeans(layers + 1, positions, d, queries, keys),
        (address) => raw.deletePositionMeans(address),
      );
      let windows = 0;
      return {
        get windows() {
          return windows;
        },
        add(forward) {
          const means = mine.address();
          const found = typeof forward === 'object' && forward !== null ? inside.get(forward) : undefined;
          if (!found) return check.refuse('forward', "an encoder's forward", forward, false);
          // Addresses mean nothing in another module's memory.
          if (found.raw !== raw)
            throw new RangeError(
              'forward is of another module: an encoder and the means of its states must come of the same load().',
            );
          const { suffix, address: encoder, n, d: width, projected } = found.of();
          if (width !== d) check.refuseCount('forward', `states of ${d} channels`, width);
          if (n < first + positions) check.refuseCount('forward', `at least ${first + positions} rows`, n);
          if (forward.layers < layers)
            check.refuseCount('forward', `at least ${layers} layers`, forward.layers);
          if (found.attended?.slice(first, first + positions).includes(false))
            throw new RangeError('forward must have no padding among the rows that have a position.');
          if (scores && !projected)
            throw new RangeError('forward kept no queries and keys; run it with projections: true.');
          if (scores && projected && (projected.query !== queries || projected.key !== keys)) {
            throw new RangeError(
              `forward must have queries of ${queries} and keys of ${keys} channels; it has ${projected.query} and ${projected.key}.`,
            );
          }
          raw[`addToPositionMeans${suffix}`](means, encoder, first);
          windows += 1;
        },
        findings(layer) {
          const means = mine.address();
          check.integer('layers', layer, 0, layers);
          if (windows < 4) check.refuseCount('The means', 'at least 4 windows', windows);
          const { position, ...found } = raw.positionFindings(means, layer);
          return { ...found, position: table(position, positions, d), first };
        },
        scores(layer) {
          const means = mine.address();
          if (!scores) throw new RangeError('These means are of states alone; make them with scores.');
          check.index('layer', layer, layers);
          if (windows < 4) check.refuseCount('The means', 'at least 4 windows', windows);
          const of = (isKey: boolean, width: number) => {
            const { mean, position } = raw.projectionMeans(means, layer, isKey);
            return { mean, position: table<Float64Array>(position, positions, width), first };
          };
          return { query: of(false, queries), key: of(true, keys) };
        },
        ...mine.handle,
      };
    },
  };
}

function encoderOf<A extends Floats>(raw: Raw, input: EncoderInput<Precision>): Encoder<A> {
  check.object('input', input);
  const d = check.integer('d_model', input.d_model, 1);
  const precision = check.precision(input.precision ?? 'float32');
  const single = precision === 'float32';
  const d_head =
    input.d_head === undefined
      ? check.headWidth(input.heads, d, 'd_model', 'channels')
      : check.integer('d_head', input.d_head, 1);
  const heads = check.integer('heads', input.heads, 1);
  const keyHeads = check.integer('keyHeads', input.keyHeads ?? heads, 1);
  if (heads % keyHeads !== 0)
    throw new RangeError(`keyHeads must divide the ${heads} heads; ${keyHeads} does not.`);
  const [ofQueries, ofKeys] = [heads * d_head, keyHeads * d_head];
  const norm = check.placeOf('norm', input.norm ?? 'post', ['post', 'pre']);
  const parallel = check.flag('parallel', input.parallel ?? false);
  if (parallel && norm === 0)
    throw new RangeError("parallel needs norm 'pre': with 'post', the MLP reads what attention wrote.");
  const activation = check.placeOf('activation', input.activation ?? 'gelu', activationNames);
  const causal = check.flag('causal', input.causal ?? false);
  const like = (single ? new Float32Array() : new Float64Array()) as Floats as A;
  const suffix = single ? 'F32' : 'F64';
  const { projection } = input;
  if (projection !== undefined) check.linear('projection', projection, { rows: d });
  const width = projection?.weight.columns ?? d;
  const normOf = (name: string, given: Normalization | undefined, columns: number) => {
    if (given === undefined) return noNorm;
    const checked = checkedNormalization(given, columns, single, name);
    check.samePrecision({
      precision: like,
      [`${name}.gamma`]: checked.gamma,
      [`${name}.beta`]: checked.beta,
    });
    return checked;
  };
  const { relativeBias } = input;
  if (relativeBias !== undefined) {
    check.table('relativeBias', relativeBias, { columns: heads });
    check.samePrecision({ precision: like, 'relativeBias.data': relativeBias.data });
    const { rows } = relativeBias;
    // T5's buckets of both directions, for distances of up to 128.
    if (rows % 2 !== 0 || rows < 4 || rows > 510)
      check.refuseCount('relativeBias', 'an even number of rows, from 4 to 510', rows);
  }
  const { slopes } = input;
  if (slopes !== undefined) {
    check.floats('slopes', slopes, heads);
    check.samePrecision({ precision: like, slopes });
  }
  const cap = input.cap === undefined ? 0 : check.positive('cap', input.cap);
  const biased = relativeBias !== undefined || slopes !== undefined;
  const embeddingNorm = normOf('embeddingNorm', input.embeddingNorm, width);
  const finalNorm = normOf('finalNorm', input.finalNorm, d);
  if (projection) {
    check.samePrecision({
      precision: like,
      'projection.weight.data': projection.weight.data,
      'projection.bias': projection.bias,
    });
    check.fits('The projection', 2 * projection.weight.data.byteLength);
  }

  const mine = held(
    raw,
    'encoder',
    projection?.weight.data.byteLength ?? 0,
    () =>
      raw[`encoder${suffix}`]({
        heads,
        keyHeads,
        preNorm: norm === 1,
        parallel,
        causal,
        activation,
        embeddingNorm,
        finalNorm,
        projection,
        relativeBias,
        slopes,
        cap,
      }),
    (address) => raw[`deleteEncoder${suffix}`](address),
  );
  let layers = 0;
  /** The most values a token has inside an MLP. */
  let widest = 0;
  /** Of each layer. */
  const windows: number[] = [];
  let newest: object | undefined;
  // Memory held by the layers and the last forward.
  const releases: (() => void)[] = [];
  let [heldByRun, releaseRun] = [0, () => {}];
  const releaseAll = () => {
    raw.kept.delete(releaseAll);
    newest = undefined;
    for (const release of [releaseRun, ...releases]) release();
  };
  raw.kept.add(releaseAll);
  const alive = () => mine.address();
  const free = () => {
    mine.handle.delete();
    releaseAll();
  };

  return {
    get layers() {
      return layers;
    },
    addLayer(layer) {
      const encoder = alive();
      check.object('layer', layer);
      const inner = layer.up?.weight?.rows;
      const shape: Record<(typeof layerMembers)[number], check.Extents> = {
        query: { rows: ofQueries, columns: d },
        key: { rows: ofKeys, columns: d },
        value: { rows: ofKeys, columns: d },
        output: { rows: d, columns: ofQueries },
        up: { columns: d },
        gate: { rows: inner, columns: d },
        down: { rows: d, columns: inner },
      };
      let bytes = 0;
      for (const name of layerMembers) {
        if (name === 'gate' && layer.gate === undefined) continue;
        const { weight, bias } = check.linear(name, layer[name], shape[name]);
        check.samePrecision({
          precision: like,
          [`${name}.weight.data`]: weight.data,
          [`${name}.bias`]: bias,
        });
        bytes += weight.data.byteLength;
      }
      const rotary = checkedRotary(layer.rotary, d_head);
      const checked = {
        ...layer,
        attentionNorm: normOf('attentionNorm', layer.attentionNorm, d),
        mlpNorm: normOf('mlpNorm', layer.mlpNorm, d),
        queryNorm: normOf('queryNorm', layer.queryNorm, d_head),
        keyNorm: normOf('keyNorm', layer.keyNorm, d_head),
        outputNorm: normOf('outputNorm', layer.outputNorm, d),
        downNorm: normOf('downNorm', layer.downNorm, d),
        ...rotary,
        window: layer.window === undefined ? everywhere : check.integer('window', layer.window, 0),
      };
      // While it is added, a copy exists beside what stays.
      check.fits(`A layer of ${d} channels`, 3 * bytes);
      releases.push(check.hold(bytes));
      raw[`addEncoderLayer${suffix}`](encoder, checked);
      windows.push(checked.window);
      widest = Math.max(widest, (layer.gate ? 2 : 1) * (inner as number));
      layers += 1;
    },

    forward(summands, given = {}) {
      const encoder = alive();
      check.object('summands', summands);
      const names = checkedNames(Object.keys(summands));
      const taken = names.find((name) => ['attention', 'mlp'].includes(name));
      if (taken) throw new RangeError(`No summand may be named '${taken}': that is a part of its own.`);
      const { rows: n, data } = checkedTables(summands, names, width);
      check.samePrecision({ precision: like, summands: data });
      if (n === 0) check.refuseCount('summands', 'at least 1 row', 0);
      check.object('input', given);
      const through = check.integer('layers', given.layers ?? layers, 0, layers);
      const { attended, withheld } = given;
      const trace = check.flag('scores', given.scores ?? true);
      const projections = check.flag('projections', given.projections ?? false);
      if (attended !== undefined) {
        if (!Array.isArray(attended)) check.refuse('attended', `a list of ${n} flags`, attended, false);
        if (attended.length !== n) check.refuseCount('attended', `${n} flags`, attended.length);
        for (const one of attended) check.flag('an entry of attended', one);
        if (!attended.includes(true)) throw new RangeError('attended must leave a token; it leaves none.');
      }
      const taking = (name: string, one: Table<A>) => {
        check.table(name, one, { rows: n, columns: d });
        check.samePrecision({ precision: like, [`${name}.data`]: one.data });
      };
      const byLayer = <T>(
        name: 'unread' | 'uncarried' | 'attention',
        ask: (name: string, one: T) => void,
      ): (T | undefined)[] => {
        const rows = given[name] ?? {};
        check.object(name, rows);
        const all = Array<T | undefined>(through).fill(undefined);
        for (const [layer, one] of Object.entries(rows)) {
          const place = check.index(`a layer of ${name}`, Number(layer), through);
          ask(`${name}.${layer}`, one as T);
          all[place] = one as T;
        }
        return all;
      };
      const unread = byLayer<Table<A>>('unread', taking);
      const uncarried = byLayer<Table<A>>('uncarried', taking);
      const attention = byLayer<A>('attention', (name, weights) => {
        check.floats(name, weights, heads * n * n);
        check.samePrecision({ precision: like, [name]: weights });
      });
      const altered = [unread, uncarried, attention].some((layers) =>
        layers.some((one) => one !== undefined),
      );
      if (withheld !== undefined) taking('withheld', withheld);
      const cells = through * n;
      const kept =
        (trace ? cells * (2 * heads * n + 4 * d + ofQueries + ofKeys) : cells * d) +
        (projections ? cells * (ofQueries + ofKeys) : 0);
      // A traced run also keeps the parts that were asked for last.
      const parts = trace && through > 0 ? (names.length + 3) * n * d : 0;
      const within = 7 * d + Math.max(2 * ofQueries + 3 * ofKeys, widest) + 2 * n;
      const bytes = (kept + parts + n * within + names.length * n * width) * like.BYTES_PER_ELEMENT;
      // The last forward makes room for this one, but stays if that is refused.
      releaseRun();
      try {
        check.fits(`A forward of ${n} tokens through ${through} layers`, bytes);
        heldByRun = bytes;
      } finally {
        releaseRun = check.hold(heldByRun);
      }
      const asked = {
        layers: through,
        trace,
        projections,
        attended: attended?.map(Number),
        unread,
        uncarried,
        attention: attention.map((weights) => weights && table(weights, heads * n, n)),
        withheld,
      };
      const pooled = raw[`runEncoder${suffix}`](
        encoder,
        names.map((name) => summands[name]),
        asked,
      );
      const here = () => {
        const now = alive();
        if (newest !== found) {
          throw new Error(
            'The encoder has run again since; take what is wanted of a forward before the next.',
          );
        }
        return now;
      };
      const traced = () => {
        const now = here();
        if (!trace) throw new Error('This forward kept no scores; run it with scores: true.');
        return now;
      };
      const scoresOf = (layer: number, only: readonly number[] | undefined, attention: boolean): A => {
        const now = traced();
        check.index('layer', layer, through);
        return raw[`encoderScores${suffix}`](now, layer, attention, check.chosenHeads(only, heads));
      };
      const stateAt = (now: number, count: number) =>
        table<A>(raw[`encoderState${suffix}`](now, count), n, d);
      const found: EncoderForward<A> = {
        n,
        layers: through,
        summands: names,
        embeddings: table(pooled, through + 1, d),
        embedding: pooled.subarray(through * d) as A,
        state: (count) => stateAt(here(), check.integer('layers', count, 0, through)),
        last: () => stateAt(here(), -1),
        logits: (layer, only) => scoresOf(layer, only, false),
        attention: (layer, only) => scoresOf(layer, only, true),
        decompose(wanted) {
          if (wanted?.way === 'mechanism') return byMechanism(wanted);
          const { now, of, named } = partsOf(wanted);
          const widest = 2 * Math.max(d, ofQueries);
          fitsScores(n, of.parts + (biased ? 1 : 0), named.heads.length, widest, like);
          const result = raw[`decomposeEncoder${suffix}`](now, ...of.call, named.heads);
          const parts = biased ? [...of.names, 'relative'] : of.names;
          return { n, parts, ...named, ...seen(wanted.layer), ...result };
        },
        channelPairs(layer, only) {
          const now = traced();
          check.index('layer', layer, through);
          const chosen = check.chosenHeads(only, heads);
          const bytes = (2 * (ofQueries + ofKeys) + ofQueries) * n * like.BYTES_PER_ELEMENT;
          check.fits(`The pairs of channels of ${n} tokens`, bytes);
          const shares = raw[`channelPairs${suffix}`](now, layer, chosen);
          return table<Float64Array>(shares, chosen.length, shares.length / Math.max(1, chosen.length));
        },
        parts(wanted) {
          const { now, of } = partsOf(wanted);
          check.fits(`The ${of.parts} parts of ${n} tokens`, 4 * of.parts * n * d * like.BYTES_PER_ELEMENT);
          const found: A = raw[`encoderParts${suffix}`](now, ...of.call);
          const constant = of.names[of.constant] as string;
          const names = [...of.names.filter((name) => name !== constant), constant];
          const rows = (place: number) => found.slice(place * n * d, (place + 1) * n * d) as A;
          return Object.fromEntries(names.map((name, place) => [name, table(rows(place), n, d)]));
        },
        headOutputs(wanted) {
          const { now, of, named } = partsOf(wanted);
          const withOutputs = check.flag('outputs', wanted.outputs ?? false);
          const constant = of.names[of.constant] as string;
          const others = of.names.filter((name) => name !== constant);
          const parts = [...others, ...(named.apart.length > 0 ? ['apart'] : []), constant];
          if (others.includes('apart') && named.apart.length > 0) {
            throw new RangeError(
              "No group may be named 'apart': the rows that stand apart are a part of their own.",
            );
          }
          const widest = Math.max(d, ofQueries);
          const values = (2 * of.parts + 3 * parts.length + 8) * n * widest + 4 * d * widest;
          const results = named.heads.length * ((withOutputs ? parts.length * n * d : 0) + n * n);
          check.fits(
            `The outputs of ${named.heads.length} heads in ${parts.length} parts for ${n} tokens`,
            8 * (values + 2 * results),
          );
          const found = raw[`encoderOutputs${suffix}`](now, ...of.call, named.heads, withOutputs);
          const count = named.heads.length;
          // The heads’ rows and then the layer’s, over queries and then from uniform.
          const cut = (all: Float64Array, kind: number, width: number): [Float64Array, Float64Array] => {
            const from = kind * (count + 1) * width;
            const layer = from + count * width;
            return [all.slice(from, layer), all.slice(layer, layer + width)];
          };
          const variation = (kind: number, place: 0 | 1): OutputVariation => ({
            shares: cut(found.shares, kind, parts.length)[place],
            covariances: cut(found.covariances, kind, parts.length)[place],
            variances: cut(found.variances, kind, 1)[place],
          });
          const both = (place: 0 | 1) => ({
            overQueries: variation(0, place),
            fromUniform: variation(1, place),
            residuals: cut(found.residuals, 0, 1)[place],
          });
          const { weighted, outputs } = found;
          return { n, parts, ...named, ...both(0), layer: both(1), weighted, outputs };
        },
      };
      /** Refuses a forward whose scores are not those of its summands. */
      const whole = () => {
        const now = traced();
        if (attended?.includes(false)) {
          throw new Error('A padded sentence has the terms of the sentence without padding; run that.');
        }
        // What was subtracted or replaced is no part of the summands, so nothing would add up.
        if (withheld !== undefined || altered) {
          throw new Error(
            'The scores of a forward with withheld, unread, uncarried or attention are not those of its summands; run it without them.',
          );
        }
        return now;
      };
      /** Which keys the queries of a layer see, as scores record it. */
      const seen = (layer: number) => {
        const window = windows[layer] as number;
        return { causal, ...(window < everywhere && { window }), ...(cap > 0 && { cap }) };
      };
      const byMechanism = (wanted: EncoderDecomposeInput<A>): Scores<A> => {
        const now = whole();
        const layer = check.index('layer', wanted.layer, through);
        const only = check.chosenHeads(wanted.only, heads);
        const { groups } = checkedParts(names, wanted);
        if ((wanted.gauge ?? 'canonical') !== 'canonical' || wanted.apart !== undefined) {
          throw new RangeError(
            "The way 'mechanism' takes its gauge and the rows that stand apart from its means; leave out gauge and apart.",
          );
        }
        check.object('means', wanted.means);
        const { query, key } = wanted.means as ScoreMeans<A>;
        const means = {
          query: checkedMeans(query, n, ofQueries, like, 'means.query'),
          key: checkedMeans(key, n, ofKeys, like, 'means.key'),
        };
        if (means.query.first !== means.key.first)
          check.refuse('means.key.first', `${means.query.first}, as means.query.first is`, means.key.first);
        const apart = Array.from({ length: Math.min(n, means.query.first as number) }, (_, row) => row);
        const parts = groups.names;
        // Terms are formed in double, from copies of queries, keys and their means.
        fitsScores(n, parts.length, only.length, 2 * Math.max(d, ofQueries), like);
        check.fits(`${n} tokens by mechanism`, 8 * (24 * n * n + 8 * n * (ofQueries + ofKeys)));
        const found = raw[`mechanism${suffix}`](now, layer, means, apart, groups.of, parts.length, only);
        return { n, heads: only, parts, gauge: 'canonical', apart, ...seen(layer), ...found };
      };
      /** What decompose() and headOutputs() hand on of the layer's parts. */
      const partsOf = (wanted: EncoderDecomposeInput<A>) => {
        const now = whole();
        check.object('input', wanted);
        const layer = check.index('layer', wanted.layer, through);
        const { way, groups } = checkedParts(names, wanted);
        if (ways[way] === 'mechanism')
          throw new RangeError("The way 'mechanism' splits scores alone, not what a layer reads or writes.");
        const only = check.chosenHeads(wanted.only, heads);
        const byMeans = ways[way] === 'mean';
        const means = byMeans ? checkedMeans(wanted.means as StateMeans<A>, n, d, like) : undefined;
        const gauge = checkedGauge(wanted, names, width, like, n);
        if (byMeans && gauge.name === 'means') {
          throw new RangeError("gauge must be 'raw' or 'canonical' for the way 'mean', which has its means.");
        }
        const call = [layer, way, means, gauge, groups.of, groups.names.length] as const;
        const constant = groups.of.at(-1) as number;
        return {
          now,
          of: { call, names: groups.names, parts: groups.of.length, constant },
          named: { heads: only, gauge: gauge.name, apart: gauge.apart },
        };
      };
      newest = found;
      const projected = projections ? { query: ofQueries, key: ofKeys } : undefined;
      inside.set(found, { raw, of: () => ({ suffix, address: here(), n, d, projected }), attended });
      return found;
    },

    ...mine.handle,
    delete: free,
    ...(Symbol.dispose && { [Symbol.dispose]: free }),
  };
}

/** The way of a question about a layer that reads these summands, and its groups. */
export function checkedParts(
  summands: readonly string[],
  { way: named, groups }: { way?: unknown; groups?: DecomposeInput['groups'] },
) {
  const way = check.placeOf('way', named ?? 'direct', ways);
  const written = [...summands, 'attention', 'mlp', 'constant'];
  const parts = {
    mean: ['position', 'content', 'constant'],
    mechanism: ['token', 'position', 'constant', 'offset'],
  };
  return { way, groups: grouped({ direct: written, streams: written, ...parts }[ways[way] as Way], groups) };
}

function checkedRotary(given: LayerRotary | undefined, d_head: number) {
  if (given === undefined) return { frequencies: undefined, gain: 1 };
  check.object('rotary', given);
  const { frequencies, gain = 1 } = given;
  if (!(frequencies instanceof Float64Array))
    check.refuse('rotary.frequencies', 'a Float64Array', frequencies, false);
  check.floats('rotary.frequencies', frequencies);
  const most = Math.floor(d_head / 2);
  if (frequencies.length < 1 || frequencies.length > most) {
    const pairs =
      most === 0
        ? 'no values: a head of 1 channel has no pair'
        : `from 1 to ${most} values, one for each pair of a head’s ${d_head} channels`;
    check.refuseCount('rotary.frequencies', pairs, frequencies.length);
  }
  return { frequencies, gain: check.positive('rotary.gain', gain) };
}

function checkedMeans<A extends Floats>(
  given: StateMeans<A> | undefined,
  n: number,
  width: number,
  like: A,
  name = 'means',
): StateMeans<A> {
  check.object(name, given);
  const { mean, position } = given as StateMeans<A>;
  const first = check.integer(`${name}.first`, given?.first ?? 1, 0);
  check.floats(`${name}.mean`, mean, width);
  check.table(`${name}.position`, position, { columns: width });
  check.samePrecision({ precision: like, [`${name}.mean`]: mean, [`${name}.position.data`]: position.data });
  if (position.rows < n - first)
    check.refuseCount(`${name}.position`, `at least ${n - first} rows`, position.rows);
  return { mean, position, first };
}
