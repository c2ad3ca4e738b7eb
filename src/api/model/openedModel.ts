// What is asked of an opened model, and what it can do.
import type { DecomposeInput } from '../scores/decompose.js';
import type { GaugeOptions } from '../scores/gauge.js';
import type { Scores } from '../scores/scores.js';
import type { Ids, Table } from '../table.js';
import type { Superpose } from '../whole.js';
import type { CorpusMeans } from './corpusMeans.js';
import type { FamilyId } from './families.js';
import type { FirstLayer, OwnRows } from './firstLayer.js';
import type { ModelReport } from './modelReport.js';
import type { Sentence } from './sentence.js';
import type { SlidingWindow } from './slidingWindow.js';
import type { ForwardInput, ForwardPass, Way } from './transformerStack.js';
import type { SlicesWatch } from './watch.js';

export interface OpenModelOptions extends SlicesWatch {
  /**
   * The family of the model, where no config.json with a model_type says it. Names of tensors do not: one that is
   * taken for another gives wrong numbers.
   */
  family?: FamilyId;
  /** Heads, in case there is no config.json to give them. */
  heads?: number;
  /** ε of the norms, in the same case. */
  epsilon?: number;
  /** Starts the whole module when forward() and the like need it, for a model opened over the small one. */
  rest?: () => Promise<Superpose>;
}

/** The sentence whose scores are taken apart. */
export type ModelInput =
  /** A text, which needs tokenizer.json beside the weights. */
  | string
  /** Vocabulary indices, including the special tokens that the model expects. */
  | { readonly ids: Ids; readonly tokens?: readonly string[] };

export interface OpenDecomposeOptions
  extends Pick<DecomposeInput, 'only' | 'groups'>,
    GaugeOptions,
    SlicesWatch {
  /** The layer whose scores to take apart, from 0. Left out, the first, with the summands and `constant` as parts. */
  layer?: number;
  /** See ForwardPass.decompose(). Default `direct`; `mechanism` for a model whose queries and keys turn. */
  way?: Way;
  /** From corpusMeans(); needed for the ways `mean` and `mechanism`, and so for a model whose queries and keys turn. */
  means?: Pick<CorpusMeans, 'states' | 'scores'>;
}

export interface OpenCorpusMeansOptions extends SlicesWatch {
  /**
   * Plain sentences, or vocabulary indices including the tokens that every sentence of the model begins and
   * ends with. Default corpusSentences.
   */
  sentences?: readonly ModelInput[];
  /** Called with the fraction of the windows done, from 0 to 1. */
  done?: (fraction: number) => void;
  /** Gathers means of every layer’s queries and keys too. Default: of a model that adds no positions. */
  scores?: boolean;
}

export type PositionChange =
  /**
   * Every row is replaced by one row: `sentence`, the mean of the rows that are replaced, which keeps the result
   * independent of a shift of the tables, and leaves row 0 alone where the model fixes the first token; or `table`, the
   * mean of all rows.
   */
  | { mean: 'sentence' | 'table' }
  /**
   * Rows are taken so many places further down the table, from 0. Where the model fixes the first token, row 0 stays.
   */
  | { shift: number }
  /** [n]: position i gets the token that was at order[i]. */
  | { order: readonly number[] };

export interface OpenForwardOptions extends ForwardInput, SlicesWatch {
  /** Rows in place of the sentence’s own, from changed(). */
  summands?: Readonly<Record<string, Table>>;
}

/**
 * The embedding after each number of layers, [layers + 1, d], by what the positions are taken from. `nothing`;
 * `everything`: each position row is replaced by the mean of all, but for row 0 where the model fixes the first token.
 * `allButAttention` runs without positions and attends as the unchanged run does; `attention` runs with them and attends
 * as the run without. Attention is copied between runs, so that no part has to be told from another.
 */
export type PositionsTaken = Readonly<
  Record<'nothing' | 'allButAttention' | 'attention' | 'everything', Table<Float64Array>>
>;

export interface OpenedModel {
  /** The family of the opened model. */
  readonly family: FamilyId;
  /** Its usual name. */
  readonly name: string;
  /** What its first layer reads, and which layers slide, in sentences. */
  readonly about: string;
  /** Width of a state. */
  readonly d_model: number;
  /** Heads of queries; undefined where neither config.json nor the caller gives them. */
  readonly heads: number | undefined;
  /** ε of the norms; undefined likewise. */
  readonly epsilon: number | undefined;
  /** Rows of the token table. */
  readonly vocabulary: number;
  /**
   * How many tokens it takes through all layers: those of its table of positions, else what config.json says, and no more
   * than its window; 0 where nothing says it.
   */
  readonly positions: number;
  /**
   * How many keys a query sees in the layers that slide; undefined where none does. Windows are not computed: where such a
   * layer is run, a sentence has at most as many tokens. The layers before the first of them take longer ones.
   */
  readonly slidingWindow: SlidingWindow | undefined;
  /** The rows that a sentence sums: `position` is among them unless queries and keys turn. */
  readonly summands: readonly string[];
  /** Whether a query sees no later key. */
  readonly causal: boolean;
  /** Rows whose token the family fixes, the default of decompose(): see GaugeOptions. */
  readonly excludedRows: readonly number[];
  /** How many tokens every sentence begins and ends with alike. */
  readonly markers: { readonly before: number; readonly after: number };
  /** Whether a tokenizer.json is beside the weights, so that a text can be given. */
  readonly readsText: boolean;
  /** Names of the files with its weights. */
  readonly files: readonly string[];
  /** Bytes of the model’s files, few of which are read. */
  readonly bytes: number;
  /** Layers. */
  readonly layers: number;
  /**
   * Sixteen hexadecimal digits that another file shares only by chance: a digest of the headers, the sizes,
   * and the first layer’s queries and keys, up to a million bytes of each.
   */
  digest(): Promise<string>;
  /**
   * Cuts a text of at most 100,000 characters with the tokenizer.json beside the weights, into at most `most` tokens.
   * Throws RangeError where there is no such file.
   */
  tokenize(text: string, most?: number): Promise<Sentence>;
  /** The texts of vocabulary indices; their numbers without a tokenizer.json. Throws RangeError, TypeError. */
  pieces(ids: Ids): Promise<string[]>;
  /** The tables’ norms, cosines, directions and Gram matrix. */
  report(options?: SlicesWatch): Promise<ModelReport>;
  /**
   * The scores of a layer taken apart. Without `layer` and `way`, those of the first: its parts are the summands and
   * `constant`, and little of the file is read. Of a later layer, or in a way of one’s own, the parts are those of
   * ForwardPass.decompose(), and the layers up to it are read and run in float32. Shares leave out the rows in
   * `excludedRows` in either gauge; see GaugeOptions. Exact up to rounding. That the terms add up does not prove that the
   * file was read as its model reads it. Throws RangeError, TypeError.
   */
  decompose(input: ModelInput, options?: OpenDecomposeOptions): Promise<Scores & { sentence: Sentence }>;
  /**
   * Runs the model on a sentence: states, scores and attention of each layer, and the embedding, a mean over
   * tokens. The result is valid until the next forward() or decompose() of a layer. The layers stay in the
   * module’s memory until delete(). Throws RangeError, TypeError, and the signal's reason when it is aborted.
   */
  forward(input: ModelInput, options?: OpenForwardOptions): Promise<ForwardPass & { sentence: Sentence }>;
  /**
   * The mean decomposition of every state over windows of a corpus: 30 pieces (fewer if the model has fewer
   * positions), between what all sentences begin and end with. Takes seconds to minutes; throws as
   * forward() does, and RangeError for fewer than four windows. Of a model whose queries and keys turn, their means
   * are gathered too unless `scores` is false.
   */
  corpusMeans(options?: OpenCorpusMeansOptions): Promise<CorpusMeans>;
  /**
   * What positions are for: the embedding when they are taken from values, from attention, or from everything. Throws as
   * forward() does.
   */
  withoutPositions(input: ModelInput, options?: SlicesWatch): Promise<PositionsTaken>;
  /**
   * The first layer's W_Q and W_K and the norm before them, as decompose() takes them. Throws RangeError for a model
   * whose queries and keys turn.
   */
  layer(): Promise<FirstLayer>;
  /** The rows that a sentence sums, [n, d] each, by name. Throws RangeError, TypeError. */
  rows(input: ModelInput): Promise<OwnRows>;
  /**
   * The rows of a sentence after its positions or word order are changed, for forward(). Positions count from
   * 0, whatever row of the table the model begins with. Throws RangeError, TypeError.
   */
  changed(input: ModelInput, change: PositionChange): Promise<OwnRows>;
  /** Frees the layers that forward() and decompose() keep; the next call reads them again. */
  delete(): void;
}
