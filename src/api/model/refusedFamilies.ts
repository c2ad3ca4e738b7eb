// Files that are refused: quantized ones, and families whose first scores are not the sums that are read here. They
// are told by the model_type of config.json, or by a name that only their tensors have.
import * as check from '../check.js';
import { type Header, quoted } from './headerTensors.js';
import { familyIds, listed, modelFamilies } from './layout.js';

/** Families that are refused: the tensor name and the model_types that tell them, and why. */
const refused: readonly (readonly [sign: RegExp, name: string, reason: string, ...types: string[]])[] = [
  [
    /(^|\.)x_position_embeddings\.weight$/,
    'LayoutLM',
    'its tokens also get rows for their place on the page',
    'layoutlm',
    'layoutlmv2',
    'layoutlmv3',
  ],
  [
    /(^|\.)intermediate\.LayerNorm\.weight$/,
    'RoBERTa-PreLayerNorm',
    'it has RoBERTa’s names, but normalizes before each layer',
    'roberta-prelayernorm',
  ],
  [
    /(^|\.)attention\.self\.conv\.weight$/,
    'Nyströmformer',
    'it has BERT’s names, but its scores are approximated and a convolution is added',
    'nystromformer',
    'yoso',
  ],
  [
    /(^|\.)attention\.self\.query_global\.weight$/,
    'Longformer',
    'some of its tokens have queries and keys of their own',
    'longformer',
    'led',
  ],
  [
    /^biogpt\./,
    'BioGPT',
    'it has OPT’s names, but multiplies its tokens by √d and has another final norm',
    'biogpt',
  ],
  [/(^|\.)task_type_embeddings\.weight$/, 'ERNIE with task ids', 'it adds a row for the task'],
  [
    /(^|\.)crossattention\./,
    'A model with cross-attention',
    'it is the decoder of another model, whose states it reads too',
    'encoder-decoder',
    'bert-generation',
  ],
  [/(^|\.)mlp\.weights_in\.weight$/, 'DINOv2 with gated MLPs', 'its MLPs multiply two maps with one another'],
  [
    /(^|\.)encoder\.block\.1\.layer\.0\.SelfAttention\.relative_attention_bias\.weight$/,
    'UMT5',
    'each of its layers has a bias of its own for distances',
    'umt5',
  ],
  [
    /(^|\.)attention\.self\.distance_embedding\.weight$/,
    'BERT with relative keys',
    'its positions enter the scores as offsets',
  ],
  [/(^|\.)h\.0\.ln_attn\.weight$/, 'Falcon', 'it adds no table of positions to its tokens', 'falcon'],
  [
    /(^|\.)(encoder\.layers|blocks)\.0\.attn\.Wqkv\.weight$/,
    'A model with one W_qkv, as nomic-bert,',
    'it turns queries and keys and adds no position',
    'nomic_bert',
    'mpt',
  ],
  [/(^|\.)layer\.0\.rel_attn\.q$/, 'XLNet', 'its positions are relative and enter the scores alone', 'xlnet'],
  [
    /(^|\.)h\.0\.attn\.attention\.q_proj\.weight$/,
    'GPT-Neo',
    'its scores are not divided by √d_h, which this reader assumes',
    'gpt_neo',
  ],
  [/(^|\.)h\.0\.attn\.q_proj\.weight$/, 'GPT-J', 'it turns queries and keys and adds no position', 'gptj'],
  [
    // Its names are SigLIP's.
    /(?!)/,
    'SigLIP 2',
    'its pictures may have any shape, so that its positions are stretched',
    'siglip2',
    'siglip2_text_model',
    'siglip2_vision_model',
  ],
  [
    /(^|\.)relative_position_bias_table$/,
    'Swin or BEiT',
    'its positions are a bias in the scores',
    'swin',
    'beit',
  ],
  [
    /(^|\.)layernorm_embedding\.weight$/,
    'BART',
    'its encoder and its decoder each have their own reading',
    'bart',
    'mbart',
  ],
  [/(^|\.)mixer\.A_log$/, 'Mamba', 'it has no attention', 'mamba', 'mamba2'],
  [
    /(^|\.)pos_conv_embed\./,
    'wav2vec 2.0',
    'its positions come of a convolution, not of a table',
    'wav2vec2',
  ],
  [/(^|\.)self_attn\.qkv_proj\.weight$/, 'Phi-3', 'it turns queries and keys and adds no position', 'phi3'],
];

const quantized =
  /\.(qweight|qzeros|g_idx|weight_scale|weight_scale_inv|input_scale|SCB|absmax|quant_map|nested_absmax)$|\.quant_state\./;

const because = (name: string, reason: string) =>
  new RangeError(`${name} is not among the models whose first scores can be read here: ${reason}.`);

/** Throws a RangeError for a file of weights that are not numbers as they stand. */
export function refuseQuantized(header: Header): void {
  for (const [name, { dtype }] of header) {
    if (quantized.test(name) || dtype.startsWith('F8'))
      throw new RangeError(
        `The file is quantized: ${quoted(name)} is of dtype ${quoted(dtype)}. Take the checkpoint of F32, F16 or BF16 that it was made of.`,
      );
  }
}

/** Throws a RangeError that says why a file with these tensors is not read. */
export function refuseTensors(header: Header): void {
  const any = new RegExp(refused.map(([sign]) => sign.source).join('|'));
  for (const name of header.keys()) {
    if (!any.test(name)) continue;
    const [, family, reason] = refused.find(([sign]) => sign.test(name)) as (typeof refused)[0];
    throw because(family, reason);
  }
}

/** Throws a RangeError that says why a model of this type, which no family has, is not read. */
export function refuseType(type: string): never {
  const found = refused.find(([, , , ...types]) => types.includes(type));
  if (found) throw because(found[1], found[2]);
  const types = [...new Set(familyIds.flatMap((family) => modelFamilies[family].types))];
  throw new RangeError(
    `config.json has the model_type ${check.shown(type)}, which is not among those that can be read here: ${listed(types)}.`,
  );
}
