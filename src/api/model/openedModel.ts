// The types of an opened model: its options, its methods and what they return.

import type { Superpose } from '../fullModule.js';
import type { DecomposeInput } from '../scores/decompose.js';
import type { GaugeOptions } from '../scores/gauge.js';
import type { Scores } from '../scores/scores.js';
import type { Ids, Table } from '../table.js';
import type { CorpusMeans } from './corpusMeans.js';
import type { FamilyId } from './families.js';
import type { FirstLayer } from './firstLayer.js';
import type { SummandRows } from './model.js';
import type { ModelReport } from './modelReport.js';
import type { SlidingWindow } from './rotaryConfig.js';
import type { ModelInput, Sentence } from './sentences.js';
import type { ForwardInput, ForwardPass, Way } from './transformerStack.js';
import type { SlicesWatch } from './watch.js';

export interface OpenModelOptions extends SlicesWatch {
  /**
   * The family of the model, if no config.json with a model_type says it. Names of tensors do not tell
   * families apart, and a model that is read as one of another family gives wrong numbers.
   */
  family?: FamilyId;
  /** The number of heads of a layer, from 1 up, if no config.json gives it. */
  heads?: number;
  /** ε of the norms, from 0 up, if no config.json gives it. */
  epsilon?: number;
  /**
   * How many bytes the layers may take in memory, where a weight takes four; from 0 to 2³⁰, the default. A
   * model that needs more can run too: its first layers stay, and each of the others is read again in every
   * pass, when it runs. Results are the same bit for bit.
   */
  layerBytes?: number;
  /**
   * For a model that is opened with the small module: starts the full one when forward() or another method
   * needs it.
   */
  rest?: () => Promise<Superpose>;
}

export interface OpenDecomposeOptions
  extends Pick<DecomposeInput, 'only' | 'groups'>,
    GaugeOptions,
    SlicesWatch {
  /**
   * The layer whose scores are taken apart, from 0. Default: the first layer, with the summands and
   * `constant` as parts.
   */
  layer?: number;
  /**
   * See ForwardPass.decompose(). Default `direct`, or `mechanism` for a model with RoPE. `direct` and
   * `streams` also work for models with RoPE, and need no means.
   */
  way?: Way;
  /**
   * The result of corpusMeans(), which the ways `mean` and `mechanism` need; so a model with RoPE needs it
   * by default.
   */
  means?: Pick<CorpusMeans, 'states' | 'scores'>;
}

export interface OpenCorpusMeansOptions extends SlicesWatch {
  /**
   * How many layers are run, from 0. Default all. To decompose the scores of layer l, the means after l
   * layers are needed; for the first layer, no layer need be run.
   */
  layers?: number;
  /**
   * Plain sentences, or vocabulary indices that include the special tokens at the beginning and end of every
   * sentence. Default: corpusSentences.
   */
  sentences?: readonly ModelInput[];
  /** Called with the fraction of the windows that are done, from 0 to 1. */
  done?: (fraction: number) => void;
  /**
   * Whether the means of every layer's queries and keys are gathered too. Default: only for a model with
   * RoPE.
   */
  scores?: boolean;
}

export type PositionChange =
  /**
   * Every position row is replaced by one row. `sentence` is the mean of the rows that are replaced, which
   * makes the result independent of a shift of the tables; it leaves row 0 alone if the model fixes the first
   * token. `table` is the mean of all rows of the table.
   */
  | { mean: 'sentence' | 'table' }
  /**
   * Position rows are taken from `shift` rows further down the table. Row 0 stays if the model fixes the
   * first token.
   */
  | { shift: number }
  /** [n]: position i gets the token that was at order[i]. */
  | { order: readonly number[] };

export interface OpenForwardOptions extends ForwardInput, SlicesWatch {
  /** Rows in place of the sentence's own, from changed(). */
  summands?: Readonly<Record<string, Table>>;
}

/**
 * The embedding after 0 layers, 1 layer and so on, [layers + 1, d], by what positions are removed from. For
 * `everything`, each position row of the sentence is replaced by their mean, except row 0 if the model fixes
 * the first token. `allButAttention` runs without positions, with the attention weights of the unchanged
 * run; `attention` runs with positions, but with the attention weights of the run without them. Attention
 * weights are copied between runs, so no state has to be split.
 */
export type PositionsRemoved = Readonly<
  Record<'nothing' | 'allButAttention' | 'attention' | 'everything', Table<Float64Array>>
>;

export interface OpenedModel {
  /** The id of the family. */
  readonly family: FamilyId;
  /** The family's name in prose. */
  readonly name: string;
  /** What the first layer reads, and which layers have a window, in sentences. */
  readonly about: string;
  /** The width of a state. */
  readonly d_model: number;
  /** The number of query heads; undefined if neither config.json nor the caller gives it. */
  readonly heads: number | undefined;
  /** ε of the norms; undefined if neither config.json nor the caller gives it. */
  readonly epsilon: number | undefined;
  /** The number of rows of the token table. */
  readonly vocabulary: number;
  /**
   * How many tokens a sentence may have: the rows of the position table, or else what config.json says, and
   * no more than a sliding window has keys; 0 if nothing says it.
   */
  readonly positions: number;
  /**
   * The layers whose queries see only the nearest keys; undefined if there are none. Windows are not
   * computed: to run such a layer, a sentence may have at most as many tokens as the window has keys. Layers
   * before the first of these take longer sentences.
   */
  readonly slidingWindow: SlidingWindow | undefined;
  /**
   * The names of the tables whose rows are summed for a sentence; `position` is missing for a model with
   * RoPE.
   */
  readonly summands: readonly string[];
  /** Whether a query sees no later key. */
  readonly causal: boolean;
  /** Rows whose token the family fixes. decompose() excludes them by default: see GaugeOptions. */
  readonly excludedRows: readonly number[];
  /** How many special tokens every sentence begins and ends with. */
  readonly markers: { readonly before: number; readonly after: number };
  /** Whether there is a tokenizer.json beside the weights, so that a text can be given. */
  readonly readsText: boolean;
  /** The names of the files with the weights. */
  readonly files: readonly string[];
  /** The size of these files in bytes, only a few of which are read. */
  readonly bytes: number;
  /** How many layers there are. */
  readonly layers: number;
  /**
   * Returns a digest of the model, sixteen hexadecimal digits that another model shares only by chance. It
   * covers the headers, the sizes of the files, and up to 2²⁰ bytes each of the first layer's queries and
   * keys.
   */
  digest(): Promise<string>;
  /**
   * Cuts a text of at most 100,000 characters into at most `most` tokens, 2 or more, with the tokenizer.json
   * beside the weights. Throws RangeError if there is no such file.
   */
  tokenize(text: string, most?: number): Promise<Sentence>;
  /**
   * Returns the texts of vocabulary indices, or the indices as texts if there is no tokenizer.json. Throws
   * RangeError, TypeError.
   */
  pieces(ids: Ids): Promise<string[]>;
  /** Measures the model's tables of tokens and positions: lengths, cosines, directions and dot products. */
  report(options?: SlicesWatch): Promise<ModelReport>;
  /**
   * Takes the attention scores of a layer apart into terms. Without `layer` and `way`, the parts of the
   * first layer are the summands and `constant`, and little of the file is read. For a later layer, or in a
   * given way, the parts are those of ForwardPass.decompose(); the layers up to it are read, and run in
   * float32. For a long text, the terms of all heads do not fit into memory at once; `only` lists the heads
   * to take apart. Shares leave out the rows in `excludedRows` in either gauge; see GaugeOptions. Terms add
   * up to the scores, up to rounding; but that does not prove that the file was read as its own model would
   * read it. Throws RangeError, TypeError.
   */
  decompose(input: ModelInput, options?: OpenDecomposeOptions): Promise<Scores & { sentence: Sentence }>;
  /**
   * Runs the model on a sentence, and returns a pass, whose methods return the states, scores and attention
   * of each layer. Its embedding is the mean over tokens. The pass is valid until the next forward() or
   * decompose() of a layer. The first layers that fit stay in the module's memory until delete() or until
   * other calls need it; the others are read again in each pass. For such a layer, decompose() of the pass
   * throws: call decompose() of the model with `layer`. Throws RangeError, TypeError, and the signal's
   * reason when it is aborted.
   */
  forward(input: ModelInput, options?: OpenForwardOptions): Promise<ForwardPass & { sentence: Sentence }>;
  /**
   * Runs the model on a corpus, and returns the mean of every state at each position, for the ways `mean` and
   * `mechanism` of decompose(). A window has 30 tokens, or fewer if the model has fewer positions, between
   * the special tokens of a sentence. This takes seconds to minutes, and longer if layers are read again for
   * each window. Throws as forward() does, and RangeError for fewer than four windows.
   */
  corpusMeans(options?: OpenCorpusMeansOptions): Promise<CorpusMeans>;
  /**
   * Returns the embeddings of a sentence when positions are removed from attention, from all else, or from
   * everything. Throws as forward() does.
   */
  withoutPositions(input: ModelInput, options?: SlicesWatch): Promise<PositionsRemoved>;
  /**
   * Returns the first layer's W_Q and W_K and the norm before them, as decompose() takes them. Throws
   * RangeError for a model with RoPE.
   */
  layer(): Promise<FirstLayer>;
  /** Returns the rows that are summed for a sentence, [n, d] each, by name. Throws RangeError, TypeError. */
  rows(input: ModelInput): Promise<SummandRows>;
  /**
   * Returns the rows of a sentence after its positions or word order are changed, for forward(). Positions
   * count from 0, whatever row of the table the model begins with. Throws RangeError, TypeError.
   */
  changed(input: ModelInput, change: PositionChange): Promise<SummandRows>;
  /** Frees the layers that forward() and decompose() keep; the next call reads them again. */
  delete(): void;
}
