// What a file holds for a model's first scores: the names of its tensors, and what its family makes of them.

/** The families that can be read. */
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

/** Where the file has the weight [out, in] and the bias of a linear map. */
export interface LinearNames {
  /** [out, in] */
  weight: string;
  /** [out] */
  bias?: string | undefined;
  /** Which of several maps stacked in one tensor: the first of three is `[0, 3]`. */
  block?: readonly [place: number, of: number];
  /** Whether the tensor is [in, out]. */
  transposed?: boolean;
}

/** What a file holds of the first layer's scores, by the names of its tensors. */
export interface Layout {
  /** Its name in the library. */
  readonly family: FamilyId;
  /** Its usual name. */
  readonly name: string;
  /** What the input sums: rows of a table by id, patches of a picture, or neither. */
  readonly kind: 'tokens' | 'patches' | 'frames';
  /** Which of this family's scores are read, in a sentence. */
  readonly about: string;
  /** Width of the tables' rows. */
  readonly rowChannels: number;
  /** Width of what W_Q reads. */
  readonly d_model: number;
  /** Rows of the token table; 0 without one. */
  readonly vocabulary: number;
  /** Rows of the position table that are used; 0 without one. */
  readonly positions: number;
  /** The position row of the first token. */
  readonly firstPosition: number;
  /** The id of padding, where the family gives it no position. */
  readonly padding?: number;
  /** Rows of a sentence whose token the family fixes. */
  readonly apart: readonly number[];
  /** Whether a query sees no later key. */
  readonly causal: boolean;
  /** The number of heads, where the header tells. */
  readonly heads?: number;
  /** ε of the norms, where the implementation fixes it for the whole family. */
  readonly epsilon?: number;
  /** The members of config.json, or of its member `within`, that give heads and ε. */
  readonly config: { within?: string; heads: readonly string[]; epsilon: readonly string[] };
  /** The table of tokens. */
  readonly token?: string;
  /** The table of positions. */
  readonly position?: string;
  /** The table of segments. */
  readonly segment?: string;
  /** Applied to each token row before it is added. */
  readonly tokenProjection?: LinearNames;
  /** After the sum of the tables. */
  readonly embeddingNorm?: NormNames;
  /** After that norm. */
  readonly projection?: LinearNames;
  /** Before W_Q and W_K. */
  readonly attentionNorm?: NormNames;
  /** [buckets, heads], added to the scores after 1/√d_h. */
  readonly relativeBias?: string;
  /** W_Q. */
  readonly query?: LinearNames;
  /** W_K. */
  readonly key?: LinearNames;
  /** How an image model turns patches into rows. */
  readonly patch?: {
    /** [d, 3, p, p]. */
    projection: LinearNames;
    /** Pixels of a side. */
    side: number;
    /** Rows and columns of the grid. */
    grid: number;
    /** Rows before the patches; each has its own row of the position table. */
    before: readonly string[];
    /**
     * Default normalisation, without preprocessor_config.json: pixels from 0 to 1, minus mean, over
     * deviation.
     */
    mean: readonly number[];
    deviation: readonly number[];
  };
  /** Channels of all keys, where keys have fewer heads than queries. */
  readonly keyChannels?: number;
  /** The width of a head, where the header tells. */
  readonly d_head?: number;
}
