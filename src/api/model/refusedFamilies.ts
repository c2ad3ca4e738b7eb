// Files that are refused: quantised ones, and families whose first scores are not a sum of tables. They are
// told by their tensor names, with a reason for each.
import { type Header, quoted } from './headerTensors.js';

/** Families that are refused, with the tensor name that tells them. */
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

/** Throws a RangeError that says why a file with these tensors is not read. */
export function refuseOthers(header: Header): void {
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
}
