// Families that normalize before each layer, most of them causal: GPT-2, OPT, Whisper, CLIP's and SigLIP's text.
import {
  bertConfig,
  type Config,
  type FamilyRow,
  membersOf,
  refuseSizes,
  sizes,
  type Tensors,
} from './headerTensors.js';
import { clip, gpt2, namesIn, opt } from './layerParts.js';
import type { LinearNames } from './layout.js';

const whisperNames = [
  'encoder.{conv1,conv2}.{weight,bias}',
  '{encoder,decoder}.{embed_positions,embed_tokens}.weight',
  '{encoder,decoder}.layers.#.{self_attn,encoder_attn}.{q,v,out}_proj.{weight,bias}',
  '{encoder,decoder}.layers.#.{self_attn,encoder_attn}.k_proj.weight',
  '{encoder,decoder}.layers.#.{self_attn_layer_norm,encoder_attn_layer_norm,final_layer_norm}.{weight,bias}',
  '{encoder,decoder}.layers.#.{fc1,fc2}.{weight,bias}',
  '{encoder,decoder}.layer_norm.{weight,bias}',
];

/** What Whisper’s two models share, once their tables are known. */
const ofWhisper = (of: Tensors, model: string) => ({
  attentionNorm: of.norm(`${model}.layers.0.self_attn_layer_norm`),
  query: of.linear(`${model}.layers.0.self_attn.q_proj`, 'd', 'd', true),
  key: of.linear(`${model}.layers.0.self_attn.k_proj`, 'd', 'd'),
  epsilon: 1e-5,
  config: { heads: [`${model}_attention_heads`], epsilon: [] },
  ...sizes(of),
});

/** Each of CLIP’s two models has these names after its own. */
const clipNames = ['embeddings.position_ids', ...namesIn('encoder.layers', clip)];
export const clipNamesOf = (model: string) => clipNames.map((name) => `${model}.${name}`);

/** What CLIP’s and SigLIP’s layers share, after the name of one of their models. */
export const ofClip = (of: Tensors, model: string) => ({
  attentionNorm: of.norm(`${model}.encoder.layers.0.layer_norm1`),
  query: of.linear(`${model}.encoder.layers.0.self_attn.q_proj`, 'd', 'd', true),
  key: of.linear(`${model}.encoder.layers.0.self_attn.k_proj`, 'd', 'd', true),
});

/** What SigLIP’s config.json leaves out, since most of its files leave it out. */
export const siglip = { epsilon: 1e-6, usualHeads: 12 };

/** CLIP’s text model, and SigLIP’s. */
function clipText(of: Tensors, config: Config) {
  const token = of.need('text_model.embeddings.token_embedding.weight', 'V', 'd');
  const position = of.need('text_model.embeddings.position_embedding.weight', 'L', 'd');
  const { V, L, d } = of.size;
  const own = membersOf(config, 'text_config');
  refuseSizes(own, { vocab_size: V, max_position_embeddings: L, hidden_size: d });
  return {
    kind: 'tokens',
    token,
    position,
    ...ofClip(of, 'text_model'),
    finalNorm: `${of.prefix}text_model.final_layer_norm`,
    ended: true,
    config: { ...bertConfig, within: 'text_config' },
    ...sizes(of),
  } as const;
}

export const decoderFamilies: readonly FamilyRow[] = [
  {
    family: 'gpt2',
    sign: ['wte.weight', 'wpe.weight', 'h.0.attn.c_attn.weight'],
    names: [
      ...namesIn('h', gpt2),
      // Masks, as buffers.
      'h.#.attn.{bias,masked_bias}',
      'ln_f.{weight,bias}',
    ],
    read(of, config) {
      const token = of.need('wte.weight', 'V', 'd');
      const position = of.need('wpe.weight', 'L', 'd');
      const weight = of.need('h.0.attn.c_attn.weight', 'd', '3d');
      const bias = of.need('h.0.attn.c_attn.bias', '3d');
      const { V, L, d } = of.size;
      refuseSizes(config, { vocab_size: V, n_positions: L, n_embd: d });
      const map = (place: number): LinearNames => ({ weight, bias, transposed: true, block: [place, 3] });
      return {
        family: 'gpt2',
        name: 'GPT-2',
        kind: 'tokens',
        about:
          'Token and position rows are added; each layer normalizes what it reads. A query sees no later key.',
        token,
        position,
        attentionNorm: of.norm('h.0.ln_1'),
        query: map(0),
        key: map(1),
        causal: true,
        unscaled: config.scale_attn_weights === false,
        scaledByLayer: config.scale_attn_by_inverse_layer_idx === true,
        finalNorm: `${of.prefix}ln_f`,
        apart: [],
        config: { heads: ['n_head', 'num_attention_heads'], epsilon: ['layer_norm_epsilon'] },
        ...sizes(of),
      };
    },
  },
  {
    family: 'whisper-decoder',
    sign: ['encoder.conv1.weight', 'decoder.embed_positions.weight', 'decoder.embed_tokens.weight'],
    names: whisperNames,
    read: (of) => ({
      family: 'whisper-decoder',
      name: 'Whisper’s decoder',
      kind: 'tokens',
      about:
        'Token and position rows are added; each layer normalizes what it reads. Keys have no bias. A query sees no later key.',
      token: of.need('decoder.embed_tokens.weight', 'V', 'd'),
      position: of.need('decoder.embed_positions.weight', 'L', 'd'),
      causal: true,
      apart: [0],
      ...ofWhisper(of, 'decoder'),
    }),
  },
  {
    family: 'whisper-encoder',
    sign: ['encoder.conv1.weight', 'encoder.embed_positions.weight'],
    names: whisperNames,
    read(of, config) {
      const convolution = (name: string, channels: string): LinearNames => ({
        weight: of.need(`encoder.${name}.weight`, 'd', channels, 3),
        bias: of.need(`encoder.${name}.bias`, 'd'),
      });
      const convolutions = [convolution('conv1', 'B'), convolution('conv2', 'd')];
      const position = of.need('encoder.embed_positions.weight', 'L', 'd');
      const { B = 0, L, d } = of.size;
      refuseSizes(config, { num_mel_bins: B, max_source_positions: L, d_model: d });
      return {
        family: 'whisper-encoder',
        name: 'Whisper’s encoder',
        kind: 'frames',
        about:
          'What convolutions make of sound, and position rows, are added; each layer normalizes what it reads. Keys have no bias. Only a program can give it frames.',
        position,
        sound: { bins: B, convolutions },
        finalNorm: `${of.prefix}encoder.layer_norm`,
        causal: false,
        apart: [],
        ...ofWhisper(of, 'encoder'),
      };
    },
  },
  {
    family: 'opt',
    sign: ['embed_tokens.weight', 'embed_positions.weight', 'layers.0.self_attn.q_proj.bias'],
    names: [...namesIn('layers', opt), '{project_in,project_out}.weight', 'final_layer_norm.{weight,bias}'],
    // The final norm of BioGPT, and that of BART's embeddings.
    never: ['layer_norm', 'layernorm_embedding'],
    read(of, config) {
      const token = of.need('embed_tokens.weight', 'V', 'e');
      const position = of.need('embed_positions.weight', 'L', 'd');
      const projected = of.has('project_in.weight');
      if (!projected) of.need('embed_tokens.weight', 'V', 'd');
      // OPT-350m normalizes after each layer, so it has no final norm.
      const ends = of.has('final_layer_norm.weight');
      const pre = config.do_layer_norm_before ?? (config.model_type === undefined ? ends : true);
      if (ends !== (pre === true && config._remove_final_layer_norm !== true))
        throw new RangeError(
          `config.json says that the layers normalize ${pre ? 'before' : 'after'} what they do, which does not go with ${ends ? 'a' : 'no'} final_layer_norm.weight in the file.`,
        );
      const { V, L, d, e } = of.size;
      refuseSizes(config, {
        vocab_size: V,
        max_position_embeddings: (L as number) - 2,
        hidden_size: d,
        word_embed_proj_dim: e,
      });
      return {
        family: 'opt',
        name: 'OPT',
        kind: 'tokens',
        about: pre
          ? 'Token and position rows are added, the first position in row 2; each layer normalizes what it reads. A query sees no later key.'
          : 'Token and position rows are added, the first position in row 2, and nothing normalizes what the first layer reads. A query sees no later key.',
        token,
        position,
        ...(projected && { tokenProjection: { weight: of.need('project_in.weight', 'd', 'e') } }),
        ...(pre && { attentionNorm: of.norm('layers.0.self_attn_layer_norm') }),
        ...(ends && { finalNorm: `${of.prefix}final_layer_norm` }),
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
    names: [...clipNamesOf('text_model'), 'text_model.final_layer_norm.{weight,bias}'],
    read: (of, config) => ({
      family: 'clip-text',
      name: 'CLIP’s text model',
      about:
        'Token and position rows are added; each layer normalizes what it reads. A query sees no later key.',
      ...clipText(of, config),
      causal: true,
      apart: [0],
    }),
  },
  {
    family: 'siglip-text',
    sign: [
      'text_model.embeddings.token_embedding.weight',
      'text_model.embeddings.position_embedding.weight',
      'text_model.head.weight',
    ],
    names: [
      ...clipNamesOf('text_model'),
      'text_model.final_layer_norm.{weight,bias}',
      'text_model.head.bias',
    ],
    read(of, config) {
      const text = clipText(of, config);
      return {
        family: 'siglip-text',
        name: 'SigLIP’s text model',
        about: `Token and position rows are added; each layer normalizes what it reads. A text is filled up to ${text.positions} tokens with padding, which every query sees; ids are run as they are given.`,
        ...text,
        causal: false,
        apart: [],
        filler: (membersOf(config, 'text_config').pad_token_id as number | undefined) ?? 1,
        ...siglip,
      };
    },
  },
];
