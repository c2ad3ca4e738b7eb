// What a file holds of a model's first scores: the names of its tensors, and what its family reads of them.

/** The families that a file can be of. */
export type FamilyId =
  | 'bert'
  | 'distilbert'
  | 'roberta'
  | 'electra'
  | 'mpnet'
  | 'gpt2'
  | 'opt'
  | 'vit'
  | 'clip-text'
  | 'clip-vision'
  | 'whisper-encoder'
  | 'whisper-decoder'
  | 'rope';

/** The names of a LayerNorm's gamma and beta in the file. */
export interface NormNames {
  /** [d] */
  gamma: string;
  /** [d] */
  beta: string;
}

/** Where a file has the weight [out, in] and the bias of a linear map. */
export interface LinearNames {
  /** [out, in] */
  weight: string;
  /** [out] */
  bias?: string | undefined;
  /** These of several maps that one tensor holds, one after another: the first of three is `[0, 3]`. */
  block?: readonly [place: number, of: number];
  /** The tensor is [in, out]. */
  transposed?: boolean;
}

/** What a file holds of the first layer's scores, by the names of its tensors. */
export interface Layout {
  /** As the library calls it. */
  readonly family: FamilyId;
  /** As one speaks of it. */
  readonly name: string;
  /** What is summed in the input: ids by a table, patches of a picture, or neither. */
  readonly kind: 'tokens' | 'patches' | 'frames';
  /** What of this family's scores is read, in a sentence. */
  readonly about: string;
  /** Width of the tables' rows. */
  readonly rowChannels: number;
  /** Width of what W_Q reads. */
  readonly d_model: number;
  /** Rows of the token table; 0 without one. */
  readonly vocabulary: number;
  /** Rows of the position table that are used; 0 without one. */
  readonly positions: number;
  /** The table's row of the first token. */
  readonly firstPosition: number;
  /** The id of padding, which the family numbers apart. */
  readonly padding?: number;
  /** Rows of a sentence whose token the family fixes. */
  readonly apart: readonly number[];
  /** Whether a query sees no later key. */
  readonly causal: boolean;
  /** Where the header gives it. */
  readonly heads?: number;
  /** Where the implementation has one number for all of the family. */
  readonly epsilon?: number;
  /** The members of config.json, or of a member of it, that say heads and ε. */
  readonly config: { within?: string; heads: readonly string[]; epsilon: readonly string[] };
  /** The table of tokens. */
  readonly token?: string;
  /** The table of positions. */
  readonly position?: string;
  /** The table of segments. */
  readonly segment?: string;
  /** Of each token row, before it is added. */
  readonly tokenProjection?: LinearNames;
  /** Behind the sum of the tables. */
  readonly embeddingNorm?: NormNames;
  /** Behind that norm. */
  readonly projection?: LinearNames;
  /** Before W_Q and W_K. */
  readonly attentionNorm?: NormNames;
  /** [buckets, heads], added to the scores after 1/√d_h. */
  readonly relativeBias?: string;
  /** W_Q. */
  readonly query?: LinearNames;
  /** W_K. */
  readonly key?: LinearNames;
  /** Of a picture: how its patches become rows. */
  readonly patch?: {
    /** [d, 3, p, p]. */
    projection: LinearNames;
    /** Pixels of a side. */
    side: number;
    /** Rows and columns of the grid. */
    grid: number;
    /** Rows that stand before the patches, each with its own row of the position table. */
    before: readonly string[];
    /** What pixels from 0 to 1 have taken from them, and are divided by, where preprocessor_config.json does not say. */
    mean: readonly number[];
    deviation: readonly number[];
  };
  /** Keys have fewer heads than queries: d of all keys. */
  readonly keyChannels?: number;
  /** Where the header gives the width of a head. */
  readonly d_head?: number;
}
