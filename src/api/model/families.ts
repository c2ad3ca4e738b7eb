// Model families, recognised by the names and shapes in a safetensors header alone: a row of the table a family.
// Sources: the reference implementations in Hugging Face's transformers, and timm for its vision transformers.
import type { SafetensorsEntry } from './safetensors.js';

export type Header = ReadonlyMap<string, Pick<SafetensorsEntry, 'name' | 'dtype' | 'shape'>>;

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
  /** [buckets, heads], added to the scores behind 1/√d_h. */
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

interface Row {
  family: FamilyId;
  /** Names that all must be there, behind one prefix. */
  sign: readonly string[];
  read(tensors: Tensors): Layout;
}

/** Names and shapes of one file behind a prefix, checked as they are asked for. */
interface Tensors {
  prefix: string;
  /** The sizes that shapes have bound, by their letter. */
  size: Record<string, number>;
  has(name: string): boolean;
  shape(name: string): readonly number[];
  /** The full name of a tensor that must be there with these extents: letters bind or compare, numbers compare. */
  need(name: string, ...extents: (string | number)[]): string;
  /** The same of one that may be missing. */
  perhaps(name: string, ...extents: (string | number)[]): string | undefined;
  norm(name: string, width?: string): NormNames;
  /** [out, in] and [out]. `bias` true: must be there; false: need not. */
  linear(name: string, out: string, into: string, bias?: boolean): LinearNames;
}

const bertConfig = { heads: ['num_attention_heads'], epsilon: ['layer_norm_eps'] };
const halves = [0.5, 0.5, 0.5];
const imageNet = { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };
const openAi = {
  mean: [0.48145466, 0.4578275, 0.40821073],
  deviation: [0.26862954, 0.26130258, 0.27577711],
};

/** What BERT and its relatives of the same names share. */
function bertTables(of: Tensors, segments: boolean) {
  return {
    kind: 'tokens',
    token: of.need('embeddings.word_embeddings.weight', 'V', 'e'),
    position: of.need('embeddings.position_embeddings.weight', 'L', 'e'),
    ...(segments && { segment: of.need('embeddings.token_type_embeddings.weight', 'S', 'e') }),
    embeddingNorm: of.norm('embeddings.LayerNorm', 'e'),
    causal: false,
    apart: [0],
    config: bertConfig,
  } as const;
}

const selfAttention = (of: Tensors, name = 'encoder.layer.0.attention.self') => ({
  query: of.linear(`${name}.query`, 'd', 'd', true),
  key: of.linear(`${name}.key`, 'd', 'd', true),
});

const sizes = ({ size }: Tensors, firstPosition = 0) => ({
  rowChannels: size.e ?? (size.d as number),
  d_model: size.d as number,
  vocabulary: size.V ?? 0,
  positions: (size.L ?? 0) - firstPosition,
  firstPosition,
});

const threeTables = 'Token, position and segment rows are added and normalised before W_Q and W_K read them.';

const rows: readonly Row[] = [
  {
    family: 'mpnet',
    sign: ['encoder.relative_attention_bias.weight', 'encoder.layer.0.attention.attn.q.weight'],
    read(of) {
      const tables = bertTables(of, false);
      const relativeBias = of.need('encoder.relative_attention_bias.weight', 32, 'H');
      of.size.d = of.size.e as number;
      return {
        family: 'mpnet',
        name: 'MPNet',
        about:
          'Token and position rows are added and normalised; a bias by the distance of two tokens is added to each head’s scores, the same in every layer.',
        ...tables,
        ...sizes(of, 2),
        padding: 1,
        relativeBias,
        heads: of.size.H as number,
        query: of.linear('encoder.layer.0.attention.attn.q', 'd', 'd', true),
        key: of.linear('encoder.layer.0.attention.attn.k', 'd', 'd', true),
      };
    },
  },
  {
    family: 'gpt2',
    sign: ['wte.weight', 'wpe.weight', 'h.0.attn.c_attn.weight'],
    read(of) {
      const token = of.need('wte.weight', 'V', 'd');
      const position = of.need('wpe.weight', 'L', 'd');
      const weight = of.need('h.0.attn.c_attn.weight', 'd', '3d');
      const bias = of.need('h.0.attn.c_attn.bias', '3d');
      const map = (place: number): LinearNames => ({ weight, bias, transposed: true, block: [place, 3] });
      return {
        family: 'gpt2',
        name: 'GPT-2',
        kind: 'tokens',
        about:
          'Token and position rows are added; each layer normalises what it reads. A query sees no later key.',
        token,
        position,
        attentionNorm: of.norm('h.0.ln_1'),
        query: map(0),
        key: map(1),
        causal: true,
        apart: [],
        config: { heads: ['n_head', 'num_attention_heads'], epsilon: ['layer_norm_epsilon'] },
        ...sizes(of),
      };
    },
  },
  {
    family: 'whisper-decoder',
    sign: ['encoder.conv1.weight', 'decoder.embed_positions.weight', 'decoder.embed_tokens.weight'],
    read: (of) => ({
      family: 'whisper-decoder',
      name: 'Whisper’s decoder',
      kind: 'tokens',
      about:
        'Token and position rows are added; each layer normalises what it reads. Keys have no bias. A query sees no later key.',
      token: of.need('decoder.embed_tokens.weight', 'V', 'd'),
      position: of.need('decoder.embed_positions.weight', 'L', 'd'),
      attentionNorm: of.norm('decoder.layers.0.self_attn_layer_norm'),
      query: of.linear('decoder.layers.0.self_attn.q_proj', 'd', 'd', true),
      key: of.linear('decoder.layers.0.self_attn.k_proj', 'd', 'd'),
      causal: true,
      apart: [0],
      epsilon: 1e-5,
      config: { heads: ['decoder_attention_heads'], epsilon: [] },
      ...sizes(of),
    }),
  },
  {
    family: 'whisper-encoder',
    sign: ['encoder.conv1.weight', 'encoder.embed_positions.weight'],
    read: (of) => ({
      family: 'whisper-encoder',
      name: 'Whisper’s encoder',
      kind: 'frames',
      about:
        'A stored sinusoid is added to what two convolutions make of the sound, which is no table: its report alone can be given.',
      position: of.need('encoder.embed_positions.weight', 'L', 'd'),
      causal: false,
      apart: [],
      epsilon: 1e-5,
      config: { heads: ['encoder_attention_heads'], epsilon: [] },
      ...sizes(of),
    }),
  },
  {
    family: 'opt',
    sign: ['embed_tokens.weight', 'embed_positions.weight', 'layers.0.self_attn.q_proj.bias'],
    read(of) {
      const token = of.need('embed_tokens.weight', 'V', 'e');
      const position = of.need('embed_positions.weight', 'L', 'd');
      const projected = of.has('project_in.weight');
      if (!projected) of.need('embed_tokens.weight', 'V', 'd');
      // The checkpoint of 350 million parameters normalises behind each layer, and so has no last norm.
      const pre = of.has('final_layer_norm.weight');
      return {
        family: 'opt',
        name: 'OPT',
        kind: 'tokens',
        about: pre
          ? 'Token and position rows are added, the first position in row 2; each layer normalises what it reads. A query sees no later key.'
          : 'Token and position rows are added, the first position in row 2, and nothing normalises what the first layer reads. A query sees no later key.',
        token,
        position,
        ...(projected && { tokenProjection: { weight: of.need('project_in.weight', 'd', 'e') } }),
        ...(pre && { attentionNorm: of.norm('layers.0.self_attn_layer_norm') }),
        query: of.linear('layers.0.self_attn.q_proj', 'd', 'd', true),
        key: of.linear('layers.0.self_attn.k_proj', 'd', 'd', true),
        causal: true,
        apart: [0],
        padding: 1,
        epsilon: 1e-5,
        config: { heads: ['num_attention_heads'], epsilon: [] },
        ...sizes(of, 2),
        rowChannels: of.size.d as number,
      };
    },
  },
  {
    family: 'clip-text',
    sign: ['text_model.embeddings.token_embedding.weight', 'text_model.embeddings.position_embedding.weight'],
    read: (of) => ({
      family: 'clip-text',
      name: 'CLIP’s text model',
      kind: 'tokens',
      about:
        'Token and position rows are added; each layer normalises what it reads. A query sees no later key.',
      token: of.need('text_model.embeddings.token_embedding.weight', 'V', 'd'),
      position: of.need('text_model.embeddings.position_embedding.weight', 'L', 'd'),
      attentionNorm: of.norm('text_model.encoder.layers.0.layer_norm1'),
      query: of.linear('text_model.encoder.layers.0.self_attn.q_proj', 'd', 'd', true),
      key: of.linear('text_model.encoder.layers.0.self_attn.k_proj', 'd', 'd', true),
      causal: true,
      apart: [0],
      config: { ...bertConfig, within: 'text_config' },
      ...sizes(of),
    }),
  },
  {
    family: 'clip-vision',
    sign: ['vision_model.embeddings.class_embedding', 'vision_model.embeddings.patch_embedding.weight'],
    read(of) {
      const before = [of.need('vision_model.embeddings.class_embedding', 'd')];
      const position = of.need('vision_model.embeddings.position_embedding.weight', 'L', 'd');
      const projection = patches(of, 'vision_model.embeddings.patch_embedding');
      return {
        family: 'clip-vision',
        name: 'CLIP’s vision model',
        kind: 'patches',
        about:
          'Each patch is mapped to a row and its position is added; the sum is normalised, and once more by the layer that reads it.',
        position,
        embeddingNorm: of.norm('vision_model.pre_layrnorm'),
        attentionNorm: of.norm('vision_model.encoder.layers.0.layer_norm1'),
        query: of.linear('vision_model.encoder.layers.0.self_attn.q_proj', 'd', 'd', true),
        key: of.linear('vision_model.encoder.layers.0.self_attn.k_proj', 'd', 'd', true),
        causal: false,
        apart: [0],
        config: { ...bertConfig, within: 'vision_config' },
        ...sizes(of),
        patch: { projection, side: of.size.p as number, before, grid: gridOf(of, 1), ...openAi },
      };
    },
  },
  {
    family: 'vit',
    sign: ['embeddings.cls_token', 'embeddings.patch_embeddings.projection.weight'],
    read(of) {
      const distilled = of.perhaps('embeddings.distillation_token', 1, 1, 'd');
      const before = [of.need('embeddings.cls_token', 1, 1, 'd'), ...(distilled ? [distilled] : [])];
      const projection = patches(of, 'embeddings.patch_embeddings.projection', true);
      return {
        ...imageModel(of, distilled !== undefined),
        position: of.need('embeddings.position_embeddings', 1, 'L', 'd'),
        attentionNorm: of.norm('encoder.layer.0.layernorm_before'),
        query: of.linear('encoder.layer.0.attention.attention.query', 'd', 'd'),
        key: of.linear('encoder.layer.0.attention.attention.key', 'd', 'd'),
        ...sizes(of),
        patch: {
          projection,
          side: of.size.p as number,
          before,
          grid: gridOf(of, before.length),
          ...(distilled ? imageNet : { mean: halves, deviation: halves }),
        },
      };
    },
  },
  {
    family: 'vit',
    sign: ['cls_token', 'pos_embed', 'patch_embed.proj.weight', 'blocks.0.attn.qkv.weight'],
    read(of) {
      const distilled = of.perhaps('dist_token', 1, 1, 'd');
      const before = [of.need('cls_token', 1, 1, 'd'), ...(distilled ? [distilled] : [])];
      const projection = patches(of, 'patch_embed.proj', true);
      const weight = of.need('blocks.0.attn.qkv.weight', '3d', 'd');
      const bias = of.perhaps('blocks.0.attn.qkv.bias', '3d');
      const map = (place: number): LinearNames => ({ weight, bias, block: [place, 3] });
      return {
        ...imageModel(of, distilled !== undefined),
        position: of.need('pos_embed', 1, 'L', 'd'),
        attentionNorm: of.norm('blocks.0.norm1'),
        query: map(0),
        key: map(1),
        ...sizes(of),
        patch: {
          projection,
          side: of.size.p as number,
          before,
          grid: gridOf(of, before.length),
          ...(distilled ? imageNet : { mean: halves, deviation: halves }),
        },
      };
    },
  },
  {
    family: 'distilbert',
    sign: ['embeddings.word_embeddings.weight', 'transformer.layer.0.attention.q_lin.weight'],
    read(of) {
      const tables = bertTables(of, false);
      of.size.d = of.size.e as number;
      return {
        family: 'distilbert',
        name: 'DistilBERT',
        about: 'Token and position rows are added and normalised before W_Q and W_K read them.',
        ...tables,
        ...sizes(of),
        epsilon: 1e-12,
        config: { heads: ['n_heads'], epsilon: [] },
        query: of.linear('transformer.layer.0.attention.q_lin', 'd', 'd', true),
        key: of.linear('transformer.layer.0.attention.k_lin', 'd', 'd', true),
      };
    },
  },
  {
    family: 'electra',
    sign: ['embeddings_project.weight', 'encoder.layer.0.attention.self.query.weight'],
    read(of) {
      const tables = bertTables(of, true);
      return {
        family: 'electra',
        name: 'ELECTRA',
        about:
          'Token, position and segment rows are added, normalised and mapped to the model’s width before W_Q and W_K read them.',
        ...tables,
        projection: of.linear('embeddings_project', 'd', 'e', true),
        ...selfAttention(of),
        ...sizes(of),
      };
    },
  },
  {
    family: 'bert',
    sign: ['embeddings.token_type_embeddings.weight', 'encoder.layer.0.attention.self.query.weight'],
    read(of) {
      const tables = bertTables(of, true);
      of.size.d = of.size.e as number;
      // Of BERT's names, and not of its numbering of positions.
      const roberta = of.size.S === 1;
      const electra = of.prefix.endsWith('electra.');
      return {
        family: roberta ? 'roberta' : electra ? 'electra' : 'bert',
        name: roberta ? 'RoBERTa' : electra ? 'ELECTRA' : 'BERT',
        about: roberta ? `${threeTables} The first position is in row 2.` : threeTables,
        ...tables,
        ...selfAttention(of),
        ...(roberta && { padding: 1 }),
        ...sizes(of, roberta ? 2 : 0),
      };
    },
  },
  {
    family: 'rope',
    sign: ['embed_tokens.weight', 'layers.0.input_layernorm.weight', 'layers.0.self_attn.q_proj.weight'],
    read(of) {
      const token = of.need('embed_tokens.weight', 'V', 'd');
      of.need('layers.0.input_layernorm.weight', 'd');
      const query = of.linear('layers.0.self_attn.q_proj', 'q', 'd');
      const key = of.linear('layers.0.self_attn.k_proj', 'k', 'd');
      const normed = of.perhaps('layers.0.self_attn.q_norm.weight', 'h');
      return {
        family: 'rope',
        name: `A model with RoPE and the names of ${normed ? 'Qwen3' : query.bias ? 'Qwen2' : 'Llama'}`,
        kind: 'tokens',
        about: `No table of positions is added: queries and keys are turned by angles that grow with the position, so a score depends on the difference of two positions. There is nothing to take apart into token and position${query.bias ? ', but for the biases of queries and keys, whose product is a term of the position alone' : ''}.`,
        token,
        query,
        key,
        causal: true,
        apart: [],
        config: { heads: ['num_attention_heads'], epsilon: ['rms_norm_eps'] },
        ...sizes(of),
        keyChannels: of.size.k as number,
        ...(normed && { d_head: of.size.h as number }),
      };
    },
  },
];

function imageModel(_: Tensors, distilled: boolean) {
  return {
    family: 'vit',
    name: distilled ? 'DeiT' : 'ViT',
    kind: 'patches',
    about:
      'Each patch is mapped to a row and its position is added; each layer normalises what it reads. The class row and its position only ever occur together and are one summand.',
    causal: false,
    apart: distilled ? [0, 1] : [0],
    config: bertConfig,
  } as const;
}

function patches(of: Tensors, name: string, bias = false): LinearNames {
  return {
    weight: of.need(`${name}.weight`, 'd', 3, 'p', 'p'),
    ...(bias && { bias: of.need(`${name}.bias`, 'd') }),
  };
}

/** Rows and columns of the square that the patches fill. */
function gridOf({ size }: Tensors, before: number): number {
  const count = (size.L as number) - before;
  const grid = Math.round(Math.sqrt(count));
  if (count < 1 || grid ** 2 !== count)
    throw new RangeError(
      `A position table of ${size.L} rows does not number the patches of a square picture behind ${before === 1 ? 'the class row' : `${before} rows of their own`}.`,
    );
  return grid;
}

/** Families of which a name tells why their first scores are not read. */
const refused: readonly (readonly [sign: RegExp, name: string, reason: string])[] = [
  [
    /(^|\.)block\.0\.layer\.0\.SelfAttention\.relative_attention_bias\.weight$/,
    'T5',
    'it adds no position to its tokens, only a bias by distance to its scores',
  ],
  [
    /(^|\.)embedding_hidden_mapping_in\.weight$/,
    'ALBERT',
    'all of its layers are one, under other names than BERT’s',
  ],
  [
    /(^|\.)rel_embeddings\.weight$/,
    'DeBERTa',
    'its positions are relative and meet the tokens in the scores, not in a sum',
  ],
  [
    /(^|\.)attention\.self\.distance_embedding\.weight$/,
    'BERT with relative keys',
    'its positions enter the scores as offsets',
  ],
  [/(^|\.)rotary_embeddings\.inv_freq$/, 'ESM', 'it turns queries and keys and adds no position'],
  [/(^|\.)word_embeddings_layernorm\.weight$/, 'BLOOM', 'its positions are ALiBi’s, a slope in the scores'],
  [
    /(^|\.)layers\.0\.attention\.query_key_value\.weight$/,
    'GPT-NeoX',
    'it turns queries and keys and adds no position',
  ],
  [
    /(^|\.)h\.0\.self_attention\.query_key_value\.weight$/,
    'Falcon',
    'it adds no table of positions to its tokens',
  ],
  [
    /(^|\.)embeddings\.tok_embeddings\.weight$/,
    'ModernBERT',
    'it turns queries and keys and adds no position',
  ],
  [
    /(^|\.)Wqkv\.weight$/,
    'A model with one W_qkv, as nomic-bert,',
    'it turns queries and keys and adds no position',
  ],
  [/(^|\.)layer\.0\.rel_attn\.q$/, 'XLNet', 'its positions are relative and enter the scores alone'],
  [
    /(^|\.)h\.0\.attn\.attention\.q_proj\.weight$/,
    'GPT-Neo',
    'its scores are not divided by √d_h, which this reader assumes',
  ],
  [/(^|\.)h\.0\.attn\.q_proj\.weight$/, 'GPT-J', 'it turns queries and keys and adds no position'],
  [
    /(^|\.)text_model\.head\.weight$|(^|\.)vision_model\.head\.probe$/,
    'SigLIP',
    'its names are CLIP’s, its masks are not',
  ],
  [/(^|\.)relative_position_bias_table$/, 'Swin or BEiT', 'its positions are a bias in the scores'],
  [/(^|\.)layernorm_embedding\.weight$/, 'BART', 'its encoder and its decoder each have their own reading'],
  [/(^|\.)mixer\.A_log$/, 'Mamba', 'it has no attention'],
  [/(^|\.)pos_conv_embed\./, 'wav2vec 2.0', 'its positions come of a convolution, not of a table'],
  [/(^|\.)self_attn\.qkv_proj\.weight$/, 'Phi-3', 'it turns queries and keys and adds no position'],
  [/(^|\.)pre_feedforward_layernorm\.weight$/, 'Gemma', 'it turns queries and keys and adds no position'],
];

const quantised =
  /\.(qweight|qzeros|g_idx|weight_scale|weight_scale_inv|input_scale|SCB|absmax|quant_map|nested_absmax)$|\.quant_state\./;

/** The row whose signs are all there, behind the shortest prefix. */
function matching(header: Header, sign: readonly string[]): string | undefined {
  const [first = '', ...others] = sign;
  const prefixes = [...header.keys()]
    .filter((name) => name === first || name.endsWith(`.${first}`))
    .map((name) => name.slice(0, name.length - first.length))
    .filter((prefix) => others.every((other) => header.has(prefix + other)));
  return prefixes.sort((a, b) => a.length - b.length)[0];
}

/**
 * What the tensors of a header are, one layout for each model in the file. Throws a RangeError whose sentence says
 * why the file is refused.
 */
export function recognised(header: Header): Layout[] {
  for (const [name, { dtype }] of header) {
    if (quantised.test(name) || dtype.startsWith('F8'))
      throw new RangeError(
        `The file is quantised: ${quoted(name)} is of dtype ${quoted(dtype)}. Take the checkpoint of F32, F16 or BF16 that it was made of.`,
      );
  }
  for (const [sign, name, reason] of refused) {
    if ([...header.keys()].some((one) => sign.test(one)))
      throw new RangeError(`${name} is not among the models whose first scores can be read here: ${reason}.`);
  }
  const found = rows.flatMap((row) => {
    const prefix = matching(header, row.sign);
    return prefix === undefined ? [] : [{ row, prefix }];
  });
  const [first] = found;
  if (!first) {
    const names = [...header.keys()].slice(0, 3).map(quoted).join(', ');
    throw new RangeError(
      `No family of models that can be read here has these tensors (${names || 'there are none'}). Families are BERT, DistilBERT, RoBERTa, ELECTRA, MPNet, GPT-2, OPT, ViT, DeiT, CLIP, Whisper and models with RoPE and Llama’s names.`,
    );
  }
  // Two models may share a file: CLIP's two, and Whisper's.
  const together = found.filter(({ row }) => pairs.get(row.family) === pairs.get(first.row.family));
  const chosen = pairs.has(first.row.family) ? together : [first];
  return chosen.map(({ row, prefix }) => row.read(tensorsBehind(header, prefix)));
}

const pairs = new Map<FamilyId, string>([
  ['clip-text', 'clip'],
  ['clip-vision', 'clip'],
  ['whisper-decoder', 'whisper'],
  ['whisper-encoder', 'whisper'],
]);

function tensorsBehind(header: Header, prefix: string): Tensors {
  const size: Record<string, number> = {};
  const expected = (extent: string | number) => (typeof extent === 'number' ? extent : sizeOf(extent));
  const sizeOf = (letter: string) => (letter === '3d' ? size.d && 3 * size.d : size[letter]);
  const of: Tensors = {
    prefix,
    size,
    has: (name) => header.has(prefix + name),
    shape: (name) => header.get(prefix + name)?.shape ?? [],
    need(name, ...extents) {
      const tensor = header.get(prefix + name);
      if (!tensor) throw new RangeError(`The file lacks the tensor ${quoted(prefix + name)}.`);
      const { shape, dtype } = tensor;
      if (!['F64', 'F32', 'F16', 'BF16'].includes(dtype))
        throw new RangeError(
          `Tensor ${quoted(prefix + name)} has dtype ${quoted(dtype)}; F32, F16 and BF16 can be read.`,
        );
      for (const [place, extent] of extents.entries()) {
        const given = shape[place] ?? 0;
        const wanted = expected(extent);
        if (wanted === undefined && typeof extent === 'string' && given > 0) size[extent] = given;
        else if (given !== wanted || given === 0) misshapen(prefix + name, shape, extents, expected);
      }
      if (shape.length !== extents.length) misshapen(prefix + name, shape, extents, expected);
      return prefix + name;
    },
    perhaps: (name, ...extents) => (of.has(name) ? of.need(name, ...extents) : undefined),
    norm(name, width = 'd') {
      const [gamma, beta] = of.has(`${name}.gamma`) ? ['gamma', 'beta'] : ['weight', 'bias'];
      return { gamma: of.need(`${name}.${gamma}`, width), beta: of.need(`${name}.${beta}`, width) };
    },
    linear(name, out, into, bias = false) {
      const weight = of.need(`${name}.weight`, out, into);
      return {
        weight,
        bias: bias ? of.need(`${name}.bias`, out) : of.perhaps(`${name}.bias`, out),
      };
    },
  };
  return of;
}

function misshapen(
  name: string,
  shape: readonly number[],
  extents: readonly (string | number)[],
  expected: (extent: string | number) => number | undefined,
): never {
  const wanted = extents.map((extent) => expected(extent) || extent).join(', ');
  throw new RangeError(
    `Tensor ${quoted(name)} must have shape [${wanted}] beside the others; it has [${shape.join(', ')}].`,
  );
}

/** Names come from the file; a hostile one must not fill the screen. */
const quoted = (name: string) => `“${name.length > 80 ? `${name.slice(0, 80)}…` : name}”`;
