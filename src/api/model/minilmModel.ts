// What a loaded MiniLM can do.
import type { DecomposeInput } from '../scores/decompose.js';
import type { GaugeOptions } from '../scores/gauge.js';
import type { Scores } from '../scores/scores.js';
import type { Floats, FloatsOf, Precision, Table } from '../table.js';
import type { PositionChange } from './changedPositions.js';
import type { CorpusMeans, CorpusMeansOptions } from './corpusMeans.js';
import type { EncoderForward } from './encoder.js';
import type { PositionsTaken, TakenOptions } from './interventions.js';
import type { LayerDecomposeOptions, MiniLMForwardOptions } from './layerOptions.js';
import type { Sentence } from './sentence.js';

/** The three tables that BERT adds up, each [n, 384]. */
export type Summands<A extends Floats = Floats> = Record<'token' | 'position' | 'token_type', Table<A>>;

export interface DecomposeOptions<P extends Precision = 'float64'>
  extends Pick<DecomposeInput, 'only' | 'groups'>,
    GaugeOptions<FloatsOf<P>> {
  /** Default float64. */
  precision?: P;
}

export interface MiniLM {
  /** Width of the embeddings: 384. */
  readonly d_model: number;
  /** Heads of a layer: 12. */
  readonly heads: number;
  /** The longest sentence in tokens, [CLS] and [SEP] included: 512. */
  readonly positions: number;
  /**
   * Bytes of each of the six layers’ own files, which are fetched when forward() or decompose() needs them.
   */
  readonly layerBytes: readonly number[];
  /** Cuts a text of at most 100,000 characters into tokens, at most `most` of them. */
  tokenize(text: string, most?: number): Sentence;
  /** The word pieces of vocabulary indices, from 0 to 30,521. Throws RangeError, TypeError. */
  pieces(ids: readonly number[]): string[];
  /** The rows of the embedding tables for a sentence, before they are added and normalized. */
  summands<P extends Precision = 'float64'>(
    sentence: Sentence,
    precision?: P,
  ): Promise<Summands<FloatsOf<P>>>;
  /** The first layer's W_Q, W_K and LayerNorm, as decompose() takes them. */
  layer<P extends Precision = 'float64'>(
    precision?: P,
  ): Pick<Required<DecomposeInput<FloatsOf<P>>>, 'normalization' | 'query' | 'key' | 'heads'>;
  /**
   * The first layer's attention scores of a text, taken apart into the terms of token, position, token_type
   * and constant: sixteen per head. Exact up to rounding; see `residuals`. The default gauge is `canonical`.
   * In any gauge except `raw`, row 0 stands apart, because its token is always [CLS].
   */
  decompose<P extends Precision = 'float64'>(
    text: string | Sentence,
    options?: DecomposeOptions<P>,
  ): Promise<Scores<FloatsOf<P>> & { sentence: Sentence }>;
  /**
   * The scores of any layer, from 0, taken apart in one of three ways: see EncoderForward.decompose(). The
   * parts are token, position, token_type, attention, mlp and constant; or, by means, position, content and
   * constant. Needs the whole module, and fetches the files of the layers up to this one. Throws RangeError,
   * TypeError.
   */
  decompose<P extends Precision = 'float64'>(
    text: string | Sentence,
    options: LayerDecomposeOptions<P>,
  ): Promise<Scores<FloatsOf<P>> & { sentence: Sentence }>;
  /**
   * Runs the whole model on a text: states, scores and attention of each layer, and the embedding. The result
   * is valid until the next forward() or decompose() of the same precision. Needs the whole module, and
   * fetches the layers’ files, 21 MB in all; files that arrived before an abort are not fetched again. Throws
   * RangeError, TypeError, and the signal's reason when it is aborted.
   */
  forward<P extends Precision = 'float32'>(
    text: string | Sentence,
    options?: MiniLMForwardOptions<P>,
  ): Promise<EncoderForward<FloatsOf<P>> & { sentence: Sentence }>;
  /**
   * The mean decomposition of every state over windows of a corpus. Takes seconds; throws as forward() does,
   * and RangeError for fewer than four windows.
   */
  corpusMeans(options?: CorpusMeansOptions): Promise<CorpusMeans>;
  /**
   * What positions are for: the embedding when they are taken from values, from attention, or from everything. Throws as
   * forward() does.
   */
  withoutPositions(text: string | Sentence, options?: TakenOptions): Promise<PositionsTaken>;
  /** The rows of summands() after positions or word order are changed. Throws RangeError, TypeError. */
  changed<P extends Precision = 'float64'>(
    sentence: Sentence,
    change: PositionChange,
    precision?: P,
  ): Promise<Summands<FloatsOf<P>>>;
}
