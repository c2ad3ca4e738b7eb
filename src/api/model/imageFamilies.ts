// Image models: patches mapped to rows, with extra rows before them. ViT and DeiT by Hugging Face's and
// timm's names, DINOv2, and CLIP's and SigLIP's vision.
import * as check from '../check.js';
import { clipNamesOf, ofClip, siglip } from './decoderFamilies.js';
import {
  bertConfig,
  type Config,
  type FamilyRow,
  membersOf,
  quoted,
  refuseSizes,
  sizes,
  type Tensors,
} from './headerTensors.js';
import { dinov2, namesIn, timm, vit } from './layerParts.js';
import type { Layout, LinearNames } from './layout.js';

const halves = [0.5, 0.5, 0.5];
const imageNet = { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };
const openAi = {
  mean: [0.48145466, 0.4578275, 0.40821073],
  deviation: [0.26862954, 0.26130258, 0.27577711],
};

export const imageFamilies: readonly FamilyRow[] = [
  {
    family: 'clip-vision',
    sign: ['vision_model.embeddings.class_embedding', 'vision_model.embeddings.patch_embedding.weight'],
    names: [
      ...clipNamesOf('vision_model'),
      'vision_model.embeddings.position_embedding.weight',
      'vision_model.{pre_layrnorm,post_layernorm}.{weight,bias}',
    ],
    read(of, config) {
      const before = [of.need('vision_model.embeddings.class_embedding', 'd')];
      const position = of.need('vision_model.embeddings.position_embedding.weight', 'L', 'd');
      const projection = patches(of, 'vision_model.embeddings.patch_embedding');
      const grid = gridOf(of, 1, membersOf(config, 'vision_config'));
      return {
        family: 'clip-vision',
        name: 'CLIP’s vision model',
        kind: 'patches',
        about:
          'Each patch is mapped to a row and its position is added; the sum is normalized, and once more by the layer that reads it.',
        position,
        embeddingNorm: of.norm('vision_model.pre_layrnorm'),
        ...ofClip(of, 'vision_model'),
        // The model normalizes the class row alone, of which it makes its embedding.
        finalNorm: `${of.prefix}vision_model.post_layernorm`,
        causal: false,
        apart: [0],
        config: { ...bertConfig, within: 'vision_config' },
        ...sizes(of),
        patch: {
          projection,
          side: of.size.p as number,
          before,
          labels: ['[class]'],
          unplaced: 0,
          grid,
          ...openAi,
        },
      };
    },
  },
  {
    family: 'siglip-vision',
    sign: ['vision_model.embeddings.patch_embedding.weight', 'vision_model.embeddings.patch_embedding.bias'],
    names: [
      ...clipNamesOf('vision_model'),
      'vision_model.embeddings.position_embedding.weight',
      'vision_model.post_layernorm.{weight,bias}',
      // Who makes the embedding of the last states.
      'vision_model.head.probe',
      'vision_model.head.attention.{in_proj_weight,in_proj_bias,out_proj.weight,out_proj.bias}',
      'vision_model.head.layernorm.{weight,bias}',
      'vision_model.head.mlp.{fc1,fc2}.{weight,bias}',
    ],
    read(of, config) {
      const position = of.need('vision_model.embeddings.position_embedding.weight', 'L', 'd');
      const projection = patches(of, 'vision_model.embeddings.patch_embedding', true);
      const grid = gridOf(of, 0, membersOf(config, 'vision_config'));
      return {
        family: 'siglip-vision',
        name: 'SigLIP’s vision model',
        kind: 'patches',
        about:
          'Each patch is mapped to a row and its position is added; each layer normalizes what it reads. There is no class row: a probe of its own reads the last states.',
        position,
        ...ofClip(of, 'vision_model'),
        finalNorm: `${of.prefix}vision_model.post_layernorm`,
        causal: false,
        apart: [],
        ...siglip,
        config: { ...bertConfig, within: 'vision_config' },
        ...sizes(of),
        patch: {
          projection,
          side: of.size.p as number,
          before: [],
          labels: [],
          unplaced: 0,
          grid,
          mean: halves,
          deviation: halves,
        },
      };
    },
  },
  {
    family: 'vit',
    sign: ['embeddings.cls_token', 'embeddings.patch_embeddings.projection.weight'],
    names: [
      'embeddings.{position_embeddings,distillation_token,mask_token}',
      'embeddings.patch_embeddings.projection.bias',
      ...namesIn('encoder.layer', vit),
      'layernorm.{weight,bias}',
    ],
    read: (of, config) =>
      imageModel(of, config, {
        first: 'embeddings.cls_token',
        second: 'embeddings.distillation_token',
        position: 'embeddings.position_embeddings',
        projection: 'embeddings.patch_embeddings.projection',
        norm: 'encoder.layer.0.layernorm_before',
        finalNorm: 'layernorm',
        maps: () => selfAttention(of, config),
      }),
  },
  {
    family: 'dinov2',
    sign: [
      'embeddings.cls_token',
      'embeddings.patch_embeddings.projection.weight',
      'encoder.layer.0.layer_scale1.lambda1',
    ],
    names: [
      'embeddings.{position_embeddings,register_tokens,mask_token}',
      'embeddings.patch_embeddings.projection.bias',
      ...namesIn('encoder.layer', dinov2),
      'encoder.layer.#.{layer_scale1,layer_scale2}.lambda1',
      'layernorm.{weight,bias}',
    ],
    read(of, config) {
      const { model_type, num_register_tokens } = config;
      const layout = imageModel(of, config, {
        first: 'embeddings.cls_token',
        registers: 'embeddings.register_tokens',
        position: 'embeddings.position_embeddings',
        projection: 'embeddings.patch_embeddings.projection',
        norm: 'encoder.layer.0.norm1',
        finalNorm: 'layernorm',
        maps: () => selfAttention(of, config),
      });
      const { d = 1, R = 0 } = of.size;
      of.need('encoder.layer.0.mlp.fc1.weight', 'f', 'd');
      refuseSizes(config, { mlp_ratio: (of.size.f as number) / d, num_register_tokens: R });
      if (
        model_type !== undefined &&
        R > 0 !== (model_type === 'dinov2_with_registers') &&
        num_register_tokens !== 0
      )
        throw new RangeError(
          `config.json has the model_type ${check.shown(model_type)}, but the file has ${R} registers.`,
        );
      return {
        ...layout,
        family: 'dinov2',
        name: R > 0 ? 'DINOv2 with registers' : 'DINOv2',
        about: `Each patch is mapped to a row and its position is added; each layer normalizes what it reads, and scales what it writes by a vector, which is multiplied into its weights here.${R > 0 ? ' Registers, which have no position, stand between the class row and the patches.' : ''} Rows that are no patches are one summand.`,
        epsilon: 1e-6,
      };
    },
  },
  {
    family: 'vit',
    sign: ['cls_token', 'pos_embed', 'patch_embed.proj.weight', 'blocks.0.attn.qkv.weight'],
    names: [
      'dist_token',
      'patch_embed.proj.bias',
      ...namesIn('blocks', timm),
      '{norm,fc_norm}.{weight,bias}',
    ],
    // Other tokens, and a norm before the first layer.
    never: ['reg_token', 'norm_pre', 'blocks_token_only'],
    read(of, config) {
      refuseArguments(config);
      return imageModel(of, config, {
        first: 'cls_token',
        second: 'dist_token',
        position: 'pos_embed',
        projection: 'patch_embed.proj',
        norm: 'blocks.0.norm1',
        // Where timm takes the mean of the patches, it normalizes that and nothing before.
        ...(!of.has('fc_norm.weight') && { finalNorm: 'norm' }),
        maps() {
          const weight = of.need('blocks.0.attn.qkv.weight', '3d', 'd');
          const bias = of.perhaps('blocks.0.attn.qkv.bias', '3d');
          const map = (place: number): LinearNames => ({ weight, bias, block: [place, 3] });
          return { query: map(0), key: map(1) };
        },
      });
    },
  },
];

/** What a vision transformer calls its tensors. */
interface ImageNames {
  /** The class token's row. */
  first: string;
  /** The distillation token's row, which DeiT has. */
  second?: string;
  /** Rows that have no position, which DINOv2 may have. */
  registers?: string;
  position: string;
  projection: string;
  norm: string;
  finalNorm?: string;
  maps(): { query: LinearNames; key: LinearNames };
}

/** Throws where timm’s config.json gives its model an argument that may change what it computes. */
function refuseArguments({ model_args = {} }: Config): void {
  const harmless = [
    'img_size',
    'num_classes',
    'global_pool',
    'drop_rate',
    'drop_path_rate',
    'dynamic_img_size',
  ];
  for (const [name, value] of Object.entries(model_args ?? {})) {
    if (!harmless.includes(name))
      throw new RangeError(
        `config.json says model_args.${name} ${check.shown(value)}, which is not read here, and may change what the model computes.`,
      );
  }
}

/** W_Q and W_K by Hugging Face’s names. */
function selfAttention(of: Tensors, { model_type, qkv_bias }: Config) {
  const biased = (qkv_bias ?? true) === true && model_type !== undefined;
  const map = (name: string) => of.linear(`encoder.layer.0.attention.attention.${name}`, 'd', 'd', biased);
  const maps = { query: map('query'), key: map('key') };
  if (qkv_bias === false && maps.query.bias)
    throw new RangeError(
      `config.json says qkv_bias false, but the file has a tensor ${quoted(maps.query.bias)}.`,
    );
  return maps;
}

function imageModel(of: Tensors, config: Config, names: ImageNames): Layout {
  const first = of.need(names.first, 1, 1, 'd');
  const second = names.second && of.perhaps(names.second, 1, 1, 'd');
  const registers = names.registers && of.perhaps(names.registers, 1, 'R', 'd');
  const placed = ['[class]', ...(second ? ['[distillation]'] : [])];
  const unplaced = registers ? (of.size.R as number) : 0;
  const labels = [...placed, ...Array.from({ length: unplaced }, (_, at) => `[register ${at + 1}]`)];
  const projection = patches(of, names.projection, true);
  const position = of.need(names.position, 1, 'L', 'd');
  const grid = gridOf(of, placed.length, config);
  return {
    family: 'vit',
    name: second ? 'DeiT' : 'ViT',
    kind: 'patches',
    about:
      'Each patch is mapped to a row and its position is added; each layer normalizes what it reads. The class row and its position only ever occur together and are one summand.',
    position,
    attentionNorm: of.norm(names.norm),
    ...names.maps(),
    ...(names.finalNorm && { finalNorm: of.prefix + names.finalNorm }),
    causal: false,
    apart: labels.map((_, row) => row),
    config: bertConfig,
    ...sizes(of),
    patch: {
      projection,
      side: of.size.p as number,
      before: [first, second, registers].filter((name) => name !== undefined),
      labels,
      unplaced,
      grid,
      ...(second || names.registers ? imageNet : { mean: halves, deviation: halves }),
    },
  };
}

function patches(of: Tensors, name: string, bias = false): LinearNames {
  return {
    weight: of.need(`${name}.weight`, 'd', 3, 'p', 'p'),
    ...(bias && { bias: of.need(`${name}.bias`, 'd') }),
  };
}

/** Rows and columns of the square grid of patches. Refuses a config.json that gives other sizes than the tensors. */
function gridOf({ size }: Tensors, before: number, config: Config): number {
  const count = (size.L as number) - before;
  const grid = Math.round(Math.sqrt(count));
  if (count < 1 || grid ** 2 !== count)
    throw new RangeError(
      `A position table of ${size.L} rows does not number the patches of a square picture after ${before === 1 ? 'the class row' : `${before} rows of their own`}.`,
    );
  const { d, p = 0 } = size;
  refuseSizes(config, { hidden_size: d, patch_size: p, image_size: p * grid });
  return grid;
}
