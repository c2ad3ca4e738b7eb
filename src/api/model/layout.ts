// What a file holds of a model: the names of the tensors that its first scores need, and what its family makes of them.
import type { Angles } from './angles.js';
import type { LayerParts } from './layerParts.js';

/** What the table of families says of one. */
interface FamilyFacts {
  /** Its name in prose. */
  readonly name: string;
  /** The model_type that its config.json may have. */
  readonly types: readonly string[];
  /** The member of config.json that holds those below, where they are not beside model_type. */
  readonly within?: string;
  /** Whether all of its layers can be run here, and not its first scores alone. */
  readonly layers?: true;
  /**
   * Members of config.json that change what such a model computes, each with the values under which it is what is
   * computed here. Left out, a member has the first.
   */
  readonly config: Readonly<Record<string, readonly unknown[]>>;
}

const ofBert = {
  position_embedding_type: ['absolute'],
  is_decoder: [false],
  add_cross_attention: [false],
};

/** A part of a head's channels that turns is GPT-NeoX's. */
const ofLlama = { partial_rotary_factor: [1] };

/**
 * The families that can be read. What their files hold, and must not hold, stands beside how they are read: see
 * FamilyRow.
 */
export const modelFamilies = {
  bert: {
    name: 'BERT',
    // ERNIE is BERT, unless it adds a row for the task.
    types: ['bert', 'ernie'],
    layers: true,
    config: { ...ofBert, use_task_id: [false] },
  },
  distilbert: { name: 'DistilBERT', types: ['distilbert'], layers: true, config: {} },
  roberta: {
    name: 'RoBERTa',
    types: ['roberta', 'xlm-roberta', 'camembert'],
    layers: true,
    // The first position is in the row after that of padding.
    config: { ...ofBert, pad_token_id: [1] },
  },
  electra: { name: 'ELECTRA', types: ['electra'], layers: true, config: ofBert },
  mpnet: {
    name: 'MPNet',
    types: ['mpnet'],
    layers: true,
    config: { relative_attention_num_buckets: [32] },
  },
  albert: {
    name: 'ALBERT',
    types: ['albert'],
    layers: true,
    config: ofBert,
  },
  gpt2: {
    name: 'GPT-2',
    types: ['gpt2'],
    layers: true,
    config: {
      scale_attn_weights: [true, false],
      add_cross_attention: [false],
      scale_attn_by_inverse_layer_idx: [false, true],
    },
  },
  opt: {
    name: 'OPT',
    types: ['opt'],
    layers: true,
    config: {
      do_layer_norm_before: [true, false],
      _remove_final_layer_norm: [false, true],
      enable_bias: [true],
      layer_norm_elementwise_affine: [true],
    },
  },
  vit: {
    name: 'ViT/DeiT',
    types: ['vit', 'deit'],
    layers: true,
    config: { qkv_bias: [true, false], num_channels: [3] },
  },
  'clip-text': {
    name: 'CLIP’s text model',
    types: ['clip', 'clip_text_model'],
    layers: true,
    config: {},
  },
  'clip-vision': {
    name: 'CLIP’s vision model',
    types: ['clip', 'clip_vision_model'],
    layers: true,
    config: {},
  },
  dinov2: {
    name: 'DINOv2',
    types: ['dinov2', 'dinov2_with_registers'],
    layers: true,
    config: { qkv_bias: [true, false], num_channels: [3], use_swiglu_ffn: [false] },
  },
  'siglip-text': {
    name: 'SigLIP’s text model',
    types: ['siglip', 'siglip_text_model'],
    layers: true,
    config: {},
  },
  'siglip-vision': {
    name: 'SigLIP’s vision model',
    types: ['siglip', 'siglip_vision_model'],
    layers: true,
    config: {},
  },
  'whisper-decoder': {
    name: 'Whisper’s decoder',
    types: ['whisper'],
    config: { scale_embedding: [false] },
  },
  'whisper-encoder': {
    name: 'Whisper’s encoder',
    types: ['whisper'],
    layers: true,
    config: { scale_embedding: [false] },
  },
  llama: { name: 'Llama', types: ['llama'], layers: true, config: ofLlama },
  mistral: { name: 'Mistral', types: ['mistral'], layers: true, config: ofLlama },
  qwen2: { name: 'Qwen2', types: ['qwen2'], layers: true, config: ofLlama },
  qwen3: { name: 'Qwen3', types: ['qwen3'], layers: true, config: ofLlama },
  smollm3: { name: 'SmolLM3', types: ['smollm3'], layers: true, config: ofLlama },
  'gpt-neox': { name: 'GPT-NeoX', types: ['gpt_neox'], layers: true, config: {} },
  bloom: {
    name: 'BLOOM',
    types: ['bloom'],
    layers: true,
    config: { apply_residual_connection_post_layernorm: [false] },
  },
  t5: {
    name: 'T5’s encoder',
    types: ['t5', 'mt5'],
    layers: true,
    config: { relative_attention_num_buckets: [32], relative_attention_max_distance: [128] },
  },
  gemma: { name: 'Gemma', types: ['gemma'], layers: true, config: ofLlama },
  gemma2: {
    name: 'Gemma 2',
    types: ['gemma2'],
    layers: true,
    config: { ...ofLlama, use_bidirectional_attention: [false] },
  },
  gemma3: {
    name: 'Gemma 3',
    types: ['gemma3', 'gemma3_text'],
    within: 'text_config',
    layers: true,
    config: {
      ...ofLlama,
      use_bidirectional_attention: [false],
      attn_logit_softcapping: [null],
      final_logit_softcapping: [null],
    },
  },
  deberta: {
    name: 'DeBERTa',
    types: ['deberta'],
    layers: true,
    config: { type_vocab_size: [0], talking_head: [false], position_buckets: [-1] },
  },
  'deberta-v2': {
    name: 'DeBERTa-v2/v3',
    types: ['deberta-v2'],
    layers: true,
    config: { type_vocab_size: [0], conv_kernel_size: [0] },
  },
  modernbert: {
    name: 'ModernBERT',
    types: ['modernbert'],
    layers: true,
    config: { norm_bias: [false], rope_scaling: [null] },
  },
  esm: {
    name: 'ESM-2',
    types: ['esm'],
    layers: true,
    config: {
      emb_layer_norm_before: [false],
      is_folding_model: [false],
      is_decoder: [false],
      add_cross_attention: [false],
    },
  },
} as const satisfies Record<string, FamilyFacts>;

/** A family that can be read. */
export type FamilyId = keyof typeof modelFamilies;

/** Their ids, in the order of the table. */
export const familyIds = Object.keys(modelFamilies) as FamilyId[];

/** Those whose layers can all be run. */
export const layeredFamilies = familyIds.filter((family) => 'layers' in modelFamilies[family]);

/** Their names in prose: “BERT, RoBERTa and OPT”. */
export function namesOf(families: readonly FamilyId[], last = 'and'): string {
  const names = families.map((family) => modelFamilies[family].name);
  return listed(names, last);
}

/** Texts with commas between them, and a word before the last. */
export const listed = (texts: readonly string[], last = 'and'): string =>
  texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(', ')} ${last} ${texts.at(-1)}`;

/** Norms without a bias, and what is added to their gains: Gemma's are stored less 1. */
export interface NormFacts {
  /** RMSNorm does not subtract the mean. */
  readonly kind: 'rms_norm' | 'layer_norm';
  /** Added to each gain as it is read. */
  readonly plus?: number;
}

/** The names of a norm's gamma and beta in the file. */
export interface NormNames {
  /** [d] */
  gamma: string;
  /** [d], if there is one. */
  beta?: string;
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
  /** Heads of one tensor whose rows are a block for each head, each of them the several maps' rows of that head. */
  byHead?: number;
}

/** What the layers of a model without a table of positions are, as its config.json has it. */
export interface LayerFacts {
  /** The names of a layer’s tensors. */
  readonly parts: LayerParts;
  /** By config.json's names. */
  readonly activation: unknown;
  /** The member that gives the width of the MLP, if any. */
  readonly inner: string | undefined;
  /** Which maps have biases. */
  readonly biases: { readonly attention: boolean; readonly output: boolean; readonly mlp: boolean };
  /** The members that give the width of a head, and the heads of keys. */
  readonly members: { readonly d_head: string | undefined; readonly keyHeads: string | undefined };
  /** Whether attention and MLP read the same state. */
  readonly parallel: boolean;
  /** By which angles a layer’s queries and keys turn, if they do. */
  turn(layer: number): Angles | undefined;
  /** What scores are divided by the root of, where it is not the width of a head. */
  readonly under: number | undefined;
  /** The largest size of a score. */
  readonly cap: number | undefined;
  /** Whether a tensor of all three maps has a block of rows for each head, not one for each map. */
  readonly byHead: boolean;
  /** Whether norms come before what a layer does, in the first layer too, or after it. */
  readonly norms: 'pre' | 'pre but the first' | 'post';
  /** How many products a score is the sum of: it is divided by the root of that too. */
  readonly products: number;
  /** A table of rows for distances, and which of the layers’ maps read it. */
  readonly distances?: {
    readonly rows: string;
    readonly norm?: NormNames;
    /** As the encoder’s DistanceTable has them. */
    readonly buckets: { readonly buckets: number; readonly furthest: number } | undefined;
    readonly key: boolean;
    readonly query: boolean;
    /** Whether the maps of queries and keys are those of the table too. */
    readonly shared: boolean;
  };
  /** How many keys a query of a layer sees, itself counted; undefined for no limit. */
  window(layer: number): number | undefined;
}

/** A table that is added; angles that queries and keys turn by; slopes times the distance; a bias, or a row, for each distance. */
export type PositionMechanism = 'table' | NonNullable<Layout['relative']>;

/** What a file holds of the first layer's scores, by the names of its tensors. */
export interface Layout {
  /** Its name in the library. */
  readonly family: FamilyId;
  /** Its usual name. */
  readonly name: string;
  /** What the input sums: rows of a table by id, patches of a picture, or what convolutions make of frames of sound. */
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
  /** Whether every sentence ends with the same token. */
  readonly ended?: true;
  /** What a text is filled up with, as long as there are positions; every query sees it. */
  readonly filler?: number;
  /** Whether a query sees no later key. */
  readonly causal: boolean;
  /** Whether scores are q · k as it is, not over √d_h. */
  readonly unscaled?: boolean;
  /** Whether they are divided by the number of their layer, from 1. */
  readonly scaledByLayer?: boolean;
  /** What every norm of the model does, where it is not LayerNorm with a bias. */
  readonly norms?: NormFacts;
  /** The norm of each head's queries and keys, [d_h]. */
  readonly headNorm?: string;
  /** Whether the rows of tokens are multiplied by √d. */
  readonly rootTimes?: true;
  /**
   * Whether rows of tokens are multiplied by 0.88 over the share of those that are no mask, whose rows are zero: what is
   * left of them in training. The id of the mask, if there is one.
   */
  readonly dropped?: { readonly mask: number | undefined };
  /** What there is in place of a table of positions. */
  readonly relative?: 'angles' | 'slopes' | 'bias' | 'rows';
  /** What the layers of a family of relativeFamilies are. */
  readonly layer?: LayerFacts;
  /** How many tokens the model takes, where no table says it. */
  readonly longest?: number;
  /** The number of heads, where the header tells. */
  readonly heads?: number;
  /** The number of heads where config.json leaves it out. */
  readonly usualHeads?: number;
  /** ε of the norms, where the implementation fixes it for the whole family. */
  readonly epsilon?: number;
  /** The members of config.json, or of its member `within`, that give heads and ε. Others are beside them. */
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
  /** Where layers share their weights: how many there are, in so many groups of so many, as config.json says. */
  readonly shared?: { readonly layers: number; readonly groups: number; readonly inner: number };
  /** After the last layer, without `.weight` and `.bias`. */
  readonly finalNorm?: string;
  /** How an image model turns patches into rows. */
  readonly patch?: {
    /** [d, 3, p, p]. */
    projection: LinearNames;
    /** Pixels of a side. */
    side: number;
    /** Rows and columns of the grid. */
    grid: number;
    /** The tensors of the rows before the patches. */
    before: readonly string[];
    /** What those rows are called. */
    labels: readonly string[];
    /** How many of them, the last, have no row of the position table. */
    unplaced: number;
    /**
     * Default normalization, without preprocessor_config.json: pixels from 0 to 1, minus mean, over
     * deviation.
     */
    mean: readonly number[];
    deviation: readonly number[];
  };
  /** How a model of sound turns frames into rows. */
  readonly sound?: {
    /** Channels of a frame. */
    readonly bins: number;
    /** [d, channels, 3] each, of three frames in a row; GELU follows each. The second takes every other frame. */
    readonly convolutions: readonly LinearNames[];
  };
  /** Channels of all keys, where keys have fewer heads than queries. */
  readonly keyChannels?: number;
  /** The width of a head, where the header tells. */
  readonly d_head?: number;
}

/** Where the norms of a model's layers are. */
export const placeOfNorms = ({ layer, attentionNorm }: Layout): 'pre' | 'post' =>
  (layer ? layer.norms !== 'post' : attentionNorm) ? 'pre' : 'post';
