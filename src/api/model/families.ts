// The families of models that can be opened. One row says all of one: the names of its tensors, the members of its
// config.json, and what it computes. recognize.ts, firstLayer.ts and ownLayers.ts read every family alike by it.
// BERT's row is in family.ts, for the page's first model.
// Source: the reference implementations in Hugging Face's transformers.
import { listed } from '../listed.js';
import { bert, everywhere, type Family, likeBert, usualSizes } from './family.js';

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

/** What Llama and those that took over its names have in common. */
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

const qwenWindow = {
  member: 'sliding_window',
  usual: 4096,
  used: 'use_sliding_window',
  from: ['max_window_layers', 28],
} as const;

/** The families, by their names in the library. */
export const modelFamilies = {
  bert,
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

/** A model's family, its sizes, and what its tensors' names begin with. */
export interface Layout {
  /** The name of the family in the table. */
  readonly family: FamilyId;
  /** The family's row of the table. */
  readonly facts: Family;
  /** What every name begins with. */
  readonly prefix: string;
  /** The whole names of the tables. */
  readonly tables: Family['tables'];
  /** Width of a state. */
  readonly d_model: number;
  /** Rows of the token table. */
  readonly vocabulary: number;
  /** How many tokens it takes where no layer slides; 0 where nothing says it. */
  readonly positions: number;
  /** The id that fills up the shorter sentences of a batch; undefined where a family has none. */
  readonly padding: number | undefined;
  /** Rows of a sentence whose token the family fixes. */
  readonly excludedRows: readonly number[];
}

/** Their names in prose: “BERT, RoBERTa and GPT-2”. */
export const namesOf = (families: readonly FamilyId[], last = 'and'): string =>
  listed(
    families.map((family) => modelFamilies[family].name),
    last,
  );

/** Their ids, in the order of the table. */
export const familyIds = Object.keys(modelFamilies) as FamilyId[];
/** The names of all of them. */
export const familyNames = namesOf(familyIds);
