// What is said of a family of models, and what is said of BERT: the model that figures open on is one, and its readers
// fetch no other row.

/** The members of a config.json; none without one. */
export type Config = Readonly<Record<string, unknown>>;

/** The names of a layer’s tensors behind its number. Where queries, keys and values have one name, a tensor has all three. */
export interface LayerNames {
  /** W_Q */
  readonly query: string;
  /** W_K */
  readonly key: string;
  /** W_V */
  readonly value: string;
  /** W_O */
  readonly output: string;
  /** The norm of attention, before it or after. */
  readonly attentionNorm: string;
  /** The MLP’s first map. */
  readonly up: string;
  /** Its second. */
  readonly down: string;
  /** The norm of the MLP. */
  readonly mlpNorm: string;
  /** What the first map is multiplied by, after the activation. */
  readonly gate?: string;
  /** The norm of each head's queries, before they turn. */
  readonly queryNorm?: string;
  /** The same of keys. */
  readonly keyNorm?: string;
}

/** Whether there is something, or the member of config.json that says so; left out there, there is not. */
type Flag = boolean | string;

/** What the table says of a family. Members are those of config.json, by their names. */
export interface Family {
  /** Its name in prose. */
  readonly name: string;
  /** The model_type that its config.json may have. */
  readonly types: readonly string[];
  /** What its first layer reads, in a sentence. */
  readonly about: string;
  /** The tables that are added; without one of positions, queries and keys turn by angles. */
  readonly tables: { readonly token: string; readonly position?: string; readonly segment?: string };
  /** The row of the position table that the first token gets, where it is not row 0; padding has the row before. */
  readonly firstPosition?: number;
  /** After the sum of the tables. */
  readonly embeddingNorm?: string;
  /** What is before the number of a layer. */
  readonly stack: string;
  /** What its tensors are called, after that number. */
  readonly layer: LayerNames;
  /** After the last layer. Such a family normalizes before what a layer does, others after it. */
  readonly finalNorm?: string;
  /** Other names that the file may have: masks and angles that were saved with it. `#` stands for a number. */
  readonly besides?: readonly string[];
  /** Whether the weights of maps are [in, out]. */
  readonly transposed?: true;
  /** What its norms are; RMSNorm has no bias. */
  readonly norms: 'layer_norm' | 'rms_norm';
  /** Which maps have biases. */
  readonly biases: { readonly attention: Flag; readonly output: Flag; readonly mlp: Flag };
  /** Whether a query sees no later key. */
  readonly causal: boolean;
  /** How many tokens of the family's own a sentence begins and ends with. */
  readonly markers: { readonly before: 0 | 1; readonly after: 0 | 1 };
  /** The members that give sizes. */
  readonly sizes: {
    readonly vocabulary: string;
    /** Rows of the position table, or how many tokens there may be. */
    readonly positions: string;
    readonly segments?: string;
    readonly d_model: string;
    readonly inner: string;
    readonly layers: string;
    readonly heads: string;
    readonly keyHeads?: string;
    readonly d_head?: string;
  };
  /** The member that gives the ε of norms, or ε. */
  readonly epsilon: string | number;
  /** The member that names the activation, and what it is otherwise. */
  readonly activation: readonly [member: string, usual: string];
  /** The member that gives the base of the angles, and what it is otherwise. */
  readonly angles?: readonly [member: string, usual: number];
  /**
   * How many keys a query sees, itself counted: the member, what it is otherwise, whether another switches it on, and which
   * says from which layer on, unless layer_types does; without one, in all layers.
   */
  readonly window?: {
    readonly member: string;
    readonly usual: number;
    readonly used?: string;
    readonly from?: readonly [member: string, usual: number];
  };
  /** Members that change what it computes, each with the values that are read; left out, a member has the first. */
  readonly config: Readonly<Record<string, readonly unknown[]>>;
}

const bertLayer = {
  query: 'attention.self.query',
  key: 'attention.self.key',
  value: 'attention.self.value',
  output: 'attention.output.dense',
  attentionNorm: 'attention.output.LayerNorm',
  up: 'intermediate.dense',
  down: 'output.dense',
  mlpNorm: 'output.LayerNorm',
} as const;

export const everywhere = { attention: true, output: true, mlp: true } as const;

/** What most families call their sizes. */
export const usualSizes = {
  vocabulary: 'vocab_size',
  positions: 'max_position_embeddings',
  d_model: 'hidden_size',
  inner: 'intermediate_size',
  layers: 'num_hidden_layers',
  heads: 'num_attention_heads',
} as const;

/** What BERT and those that took over its names have in common. */
export const likeBert = {
  about: 'Token, position and segment rows are added and normalized before W_Q and W_K read them.',
  tables: {
    token: 'embeddings.word_embeddings',
    position: 'embeddings.position_embeddings',
    segment: 'embeddings.token_type_embeddings',
  },
  embeddingNorm: 'embeddings.LayerNorm',
  stack: 'encoder.layer',
  layer: bertLayer,
  besides: ['embeddings.position_ids', 'embeddings.token_type_ids'],
  norms: 'layer_norm',
  biases: everywhere,
  causal: false,
  markers: { before: 1, after: 1 },
  sizes: { ...usualSizes, segments: 'type_vocab_size' },
  epsilon: 'layer_norm_eps',
  activation: ['hidden_act', 'gelu'],
  config: { position_embedding_type: ['absolute'], is_decoder: [false], add_cross_attention: [false] },
} as const satisfies Partial<Family>;

export const bert = { ...likeBert, name: 'BERT', types: ['bert'] } as const satisfies Family;
