// The families of models that can be opened. One row says all of one: the names of its tensors, the members of its
// config.json, and what it computes. recognize.ts, firstLayer.ts and ownLayers.ts read every family alike by it.
// Source: the reference implementations in Hugging Face's transformers.

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
  /** How many keys a query sees, itself counted: the member, what it is otherwise, and whether another switches it on. */
  readonly window?: { readonly member: string; readonly usual?: number; readonly used?: string };
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

const llamaLayer = {
  query: 'self_attn.q_proj',
  key: 'self_attn.k_proj',
  value: 'self_attn.v_proj',
  output: 'self_attn.o_proj',
  attentionNorm: 'input_layernorm',
  up: 'mlp.up_proj',
  gate: 'mlp.gate_proj',
  down: 'mlp.down_proj',
  mlpNorm: 'post_attention_layernorm',
} as const;

const everywhere = { attention: true, output: true, mlp: true } as const;

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
const likeBert = {
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

/** The same of Llama. */
const likeLlama = {
  about:
    'No table of positions is added: queries and keys turn by angles that grow with their position. Scores are taken apart by the means of queries and keys over a corpus. A query sees no later key.',
  tables: { token: 'embed_tokens' },
  stack: 'layers',
  layer: llamaLayer,
  finalNorm: 'norm',
  besides: ['layers.#.self_attn.rotary_emb.inv_freq'],
  norms: 'rms_norm',
  causal: true,
  // Whatever the first token is, later queries look at it: its rows are like no others.
  markers: { before: 1, after: 0 },
  sizes: { ...usualSizes, keyHeads: 'num_key_value_heads', d_head: 'head_dim' },
  epsilon: 'rms_norm_eps',
  activation: ['hidden_act', 'silu'],
  angles: ['rope_theta', 10_000],
  config: { partial_rotary_factor: [1] },
} as const satisfies Partial<Family>;

const qwenWindow = { member: 'sliding_window', used: 'use_sliding_window' } as const;

/** The families, by their names in the library. */
export const modelFamilies = {
  bert: { ...likeBert, name: 'BERT', types: ['bert'] },
  roberta: {
    ...likeBert,
    name: 'RoBERTa',
    types: ['roberta', 'xlm-roberta', 'camembert'],
    about: `${likeBert.about} The first position is in row 2.`,
    firstPosition: 2,
    config: { ...likeBert.config, pad_token_id: [1] },
  },
  distilbert: {
    ...likeBert,
    name: 'DistilBERT',
    types: ['distilbert'],
    about: 'Token and position rows are added and normalized before W_Q and W_K read them.',
    tables: { token: likeBert.tables.token, position: likeBert.tables.position },
    stack: 'transformer.layer',
    layer: {
      query: 'attention.q_lin',
      key: 'attention.k_lin',
      value: 'attention.v_lin',
      output: 'attention.out_lin',
      attentionNorm: 'sa_layer_norm',
      up: 'ffn.lin1',
      down: 'ffn.lin2',
      mlpNorm: 'output_layer_norm',
    },
    sizes: {
      ...usualSizes,
      d_model: 'dim',
      inner: 'hidden_dim',
      layers: 'n_layers',
      heads: 'n_heads',
    },
    epsilon: 1e-12,
    activation: ['activation', 'gelu'],
    config: {},
  },
  gpt2: {
    name: 'GPT-2',
    types: ['gpt2'],
    about:
      'Token and position rows are added; each layer normalizes what it reads. A query sees no later key.',
    tables: { token: 'wte', position: 'wpe' },
    stack: 'h',
    layer: {
      query: 'attn.c_attn',
      key: 'attn.c_attn',
      value: 'attn.c_attn',
      output: 'attn.c_proj',
      attentionNorm: 'ln_1',
      up: 'mlp.c_fc',
      down: 'mlp.c_proj',
      mlpNorm: 'ln_2',
    },
    finalNorm: 'ln_f',
    besides: ['h.#.attn.bias', 'h.#.attn.masked_bias'],
    transposed: true,
    norms: 'layer_norm',
    biases: everywhere,
    causal: true,
    markers: { before: 0, after: 0 },
    sizes: {
      vocabulary: 'vocab_size',
      positions: 'n_positions',
      d_model: 'n_embd',
      inner: 'n_inner',
      layers: 'n_layer',
      heads: 'n_head',
    },
    epsilon: 'layer_norm_epsilon',
    activation: ['activation_function', 'gelu_new'],
    config: {
      scale_attn_weights: [true],
      scale_attn_by_inverse_layer_idx: [false],
      add_cross_attention: [false],
    },
  },
  llama: {
    ...likeLlama,
    name: 'Llama',
    types: ['llama'],
    biases: { attention: 'attention_bias', output: 'attention_bias', mlp: 'mlp_bias' },
  },
  mistral: {
    ...likeLlama,
    name: 'Mistral',
    types: ['mistral'],
    biases: { attention: false, output: false, mlp: false },
    window: { member: 'sliding_window', usual: 4096 },
  },
  qwen2: {
    ...likeLlama,
    name: 'Qwen2',
    types: ['qwen2'],
    biases: { attention: true, output: false, mlp: false },
    window: qwenWindow,
  },
  qwen3: {
    ...likeLlama,
    name: 'Qwen3',
    types: ['qwen3'],
    layer: { ...llamaLayer, queryNorm: 'self_attn.q_norm', keyNorm: 'self_attn.k_norm' },
    biases: { attention: 'attention_bias', output: 'attention_bias', mlp: false },
    window: qwenWindow,
  },
} as const satisfies Record<string, Family>;

/** A family that can be opened. */
export type FamilyId = keyof typeof modelFamilies;

/** Their ids, in the order of the table. */
export const familyIds = Object.keys(modelFamilies) as FamilyId[];

/** Their names in prose: “BERT, RoBERTa and GPT-2”. */
export const namesOf = (families: readonly FamilyId[], last = 'and'): string =>
  listed(
    families.map((family) => modelFamilies[family].name),
    last,
  );

/** Texts with commas between them, and a word before the last. */
export const listed = (texts: readonly string[], last = 'and'): string =>
  texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(', ')} ${last} ${texts.at(-1)}`;
