// The families of models that can be opened, one descriptor each (descriptor.ts says what its fields mean).
// Source: the reference implementations in Hugging Face's transformers.
import { listed } from '../listed.js';
import { commonSizes, type FamilyDescriptor } from './descriptor.js';

const allBiases = { attention: true, output: true, mlp: true } as const;

/** What BERT and the families that took over its names have in common. */
const bertLike = {
  about: 'Token, position and segment rows are added and normalized before W_Q and W_K read them.',
  tensors: {
    tables: {
      token: 'embeddings.word_embeddings',
      position: 'embeddings.position_embeddings',
      segment: 'embeddings.token_type_embeddings',
    },
    embeddingNorm: 'embeddings.LayerNorm',
    layers: 'encoder.layer',
    layer: {
      query: 'attention.self.query',
      key: 'attention.self.key',
      value: 'attention.self.value',
      output: 'attention.output.dense',
      attentionNorm: 'attention.output.LayerNorm',
      up: 'intermediate.dense',
      down: 'output.dense',
      mlpNorm: 'output.LayerNorm',
    },
    ignored: ['embeddings.position_ids', 'embeddings.token_type_ids'],
  },
  positions: { kind: 'added', firstRow: 0 },
  norms: { kind: 'layer_norm', place: 'post', epsilon: 'layer_norm_eps' },
  biases: allBiases,
  activation: { member: 'hidden_act', default: 'gelu' },
  causal: false,
  markers: { before: 1, after: 1 },
  sizes: { ...commonSizes, segments: 'type_vocab_size' },
  config: { position_embedding_type: ['absolute'], is_decoder: [false], add_cross_attention: [false] },
} as const satisfies Partial<FamilyDescriptor>;

/** The names of Llama's tensors, and of those of the families that took over these names. */
const llamaTensors = {
  tables: { token: 'embed_tokens' },
  layers: 'layers',
  layer: {
    query: 'self_attn.q_proj',
    key: 'self_attn.k_proj',
    value: 'self_attn.v_proj',
    output: 'self_attn.o_proj',
    attentionNorm: 'input_layernorm',
    up: 'mlp.up_proj',
    gate: 'mlp.gate_proj',
    down: 'mlp.down_proj',
    mlpNorm: 'post_attention_layernorm',
  },
  finalNorm: 'norm',
  ignored: ['layers.#.self_attn.rotary_emb.inv_freq'],
} as const;

const llamaPositions = { kind: 'rotary', base: { member: 'rope_theta', default: 10_000 } } as const;

/** What Llama and the families that took over its names have in common. */
const llamaLike = {
  about:
    'No table of positions is added: queries and keys are rotated by angles that grow with their position. Scores are taken apart by the means of queries and keys over a corpus. A query sees no later key.',
  tensors: llamaTensors,
  positions: llamaPositions,
  norms: { kind: 'rms_norm', place: 'pre', epsilon: 'rms_norm_eps' },
  activation: { member: 'hidden_act', default: 'silu' },
  causal: true,
  // Later queries attend to the first token, whatever it is, so its rows are unlike all others.
  markers: { before: 1, after: 0 },
  sizes: { ...commonSizes, keyHeads: 'num_key_value_heads', d_head: 'head_dim' },
  config: { partial_rotary_factor: [1] },
} as const satisfies Partial<FamilyDescriptor>;

const windowKeys = { member: 'sliding_window', default: 4096 } as const;
const qwenPositions = {
  ...llamaPositions,
  window: {
    keys: windowKeys,
    flag: 'use_sliding_window',
    firstLayer: { member: 'max_window_layers', default: 28 },
  },
} as const;

/** The families, by their ids. */
export const modelFamilies = {
  bert: { ...bertLike, name: 'BERT', modelTypes: ['bert'] },
  roberta: {
    ...bertLike,
    name: 'RoBERTa',
    modelTypes: ['roberta', 'xlm-roberta', 'camembert'],
    about: `${bertLike.about} The first position is in row 2.`,
    positions: { kind: 'added', firstRow: 2 },
    config: { ...bertLike.config, pad_token_id: [1] },
  },
  distilbert: {
    ...bertLike,
    name: 'DistilBERT',
    modelTypes: ['distilbert'],
    about: 'Token and position rows are added and normalized before W_Q and W_K read them.',
    tensors: {
      ...bertLike.tensors,
      tables: { token: 'embeddings.word_embeddings', position: 'embeddings.position_embeddings' },
      layers: 'transformer.layer',
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
    },
    norms: { ...bertLike.norms, epsilon: 1e-12 },
    activation: { member: 'activation', default: 'gelu' },
    sizes: { ...commonSizes, d_model: 'dim', inner: 'hidden_dim', layers: 'n_layers', heads: 'n_heads' },
    config: {},
  },
  gpt2: {
    name: 'GPT-2',
    modelTypes: ['gpt2'],
    about:
      'Token and position rows are added; each layer normalizes what it reads. A query sees no later key.',
    tensors: {
      tables: { token: 'wte', position: 'wpe' },
      layers: 'h',
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
      ignored: ['h.#.attn.bias', 'h.#.attn.masked_bias'],
      transposed: true,
    },
    positions: { kind: 'added', firstRow: 0 },
    norms: { kind: 'layer_norm', place: 'pre', epsilon: 'layer_norm_epsilon' },
    biases: allBiases,
    activation: { member: 'activation_function', default: 'gelu_new' },
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
    config: {
      scale_attn_weights: [true],
      scale_attn_by_inverse_layer_idx: [false],
      add_cross_attention: [false],
    },
  },
  llama: {
    ...llamaLike,
    name: 'Llama',
    modelTypes: ['llama'],
    biases: { attention: 'attention_bias', output: 'attention_bias', mlp: 'mlp_bias' },
  },
  mistral: {
    ...llamaLike,
    name: 'Mistral',
    modelTypes: ['mistral'],
    positions: { ...llamaPositions, window: { keys: windowKeys } },
    biases: { attention: false, output: false, mlp: false },
  },
  qwen2: {
    ...llamaLike,
    name: 'Qwen2',
    modelTypes: ['qwen2'],
    positions: qwenPositions,
    biases: { attention: true, output: false, mlp: false },
  },
  qwen3: {
    ...llamaLike,
    name: 'Qwen3',
    modelTypes: ['qwen3'],
    tensors: {
      ...llamaTensors,
      layer: { ...llamaTensors.layer, queryNorm: 'self_attn.q_norm', keyNorm: 'self_attn.k_norm' },
    },
    positions: qwenPositions,
    biases: { attention: 'attention_bias', output: 'attention_bias', mlp: false },
  },
} as const satisfies Record<string, FamilyDescriptor>;

/** A family that can be opened. */
export type FamilyId = keyof typeof modelFamilies;

/** The ids of all families, in the order of the table. */
export const familyIds = Object.keys(modelFamilies) as FamilyId[];

/**
 * Says what each family that can be opened is called in prose, by its id.
 *
 * @category Decompose a model
 */
export const familyLabels = Object.fromEntries(
  familyIds.map((family) => [family, modelFamilies[family].name]),
) as Readonly<Record<FamilyId, string>>;

/** Names of families in prose: “BERT, RoBERTa and GPT-2”. */
export const namesOf = (families: readonly FamilyId[], last = 'and'): string =>
  listed(
    families.map((family) => modelFamilies[family].name),
    last,
  );

/**
 * Lists the names of all families that can be opened, as a phrase for a sentence.
 *
 * @category Decompose a model
 */
export const familyNames = namesOf(familyIds);
