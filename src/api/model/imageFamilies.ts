// Image models: patches mapped to rows, with extra rows before them. ViT and DeiT by Hugging Face's and
// timm's names, and CLIP's vision.
import { clipNamesOf } from './decoderFamilies.js';
import { bertConfig, type FamilyRow, sizes, type Tensors } from './headerTensors.js';
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
    names: [
      'embeddings.{position_embeddings,distillation_token,mask_token}',
      'embeddings.patch_embeddings.projection.bias',
      'encoder.layer.#.attention.attention.{query,key,value}.{weight,bias}',
      'encoder.layer.#.{attention.output,intermediate,output}.dense.{weight,bias}',
      'encoder.layer.#.{layernorm_before,layernorm_after}.{weight,bias}',
    ],
    read: (of) =>
      imageModel(of, {
        first: 'embeddings.cls_token',
        second: 'embeddings.distillation_token',
        position: 'embeddings.position_embeddings',
        projection: 'embeddings.patch_embeddings.projection',
        norm: 'encoder.layer.0.layernorm_before',
        maps: () => ({
          query: of.linear('encoder.layer.0.attention.attention.query', 'd', 'd'),
          key: of.linear('encoder.layer.0.attention.attention.key', 'd', 'd'),
        }),
      }),
  },
  {
    family: 'vit',
    sign: ['cls_token', 'pos_embed', 'patch_embed.proj.weight', 'blocks.0.attn.qkv.weight'],
    names: [
      'dist_token',
      'patch_embed.proj.bias',
      'blocks.#.{norm1,norm2,attn.qkv,attn.proj,mlp.fc1,mlp.fc2}.{weight,bias}',
    ],
    // Other tokens, and a norm before the first layer.
    never: ['reg_token', 'norm_pre', 'blocks_token_only'],
    read: (of) =>
      imageModel(of, {
        first: 'cls_token',
        second: 'dist_token',
        position: 'pos_embed',
        projection: 'patch_embed.proj',
        norm: 'blocks.0.norm1',
        maps() {
          const weight = of.need('blocks.0.attn.qkv.weight', '3d', 'd');
          const bias = of.perhaps('blocks.0.attn.qkv.bias', '3d');
          const map = (place: number): LinearNames => ({ weight, bias, block: [place, 3] });
          return { query: map(0), key: map(1) };
        },
      }),
  },
];

/** What a vision transformer calls its tensors. */
interface ImageNames {
  /** The class token's row. */
  first: string;
  /** The distillation token's row, which DeiT has. */
  second: string;
  position: string;
  projection: string;
  norm: string;
  maps(): { query: LinearNames; key: LinearNames };
}

function imageModel(of: Tensors, names: ImageNames): Layout {
  const second = of.perhaps(names.second, 1, 1, 'd');
  const before = [of.need(names.first, 1, 1, 'd'), ...(second ? [second] : [])];
  const projection = patches(of, names.projection, true);
  const position = of.need(names.position, 1, 'L', 'd');
  return {
    family: 'vit',
    name: second ? 'DeiT' : 'ViT',
    kind: 'patches',
    about:
      'Each patch is mapped to a row and its position is added; each layer normalises what it reads. The class row and its position only ever occur together and are one summand.',
    position,
    attentionNorm: of.norm(names.norm),
    ...names.maps(),
    causal: false,
    apart: before.map((_, row) => row),
    config: bertConfig,
    ...sizes(of),
    patch: {
      projection,
      side: of.size.p as number,
      before,
      grid: gridOf(of, before.length),
      ...(second ? imageNet : { mean: halves, deviation: halves }),
    },
  };
}

function patches(of: Tensors, name: string, bias = false): LinearNames {
  return {
    weight: of.need(`${name}.weight`, 'd', 3, 'p', 'p'),
    ...(bias && { bias: of.need(`${name}.bias`, 'd') }),
  };
}

/** Rows and columns of the square grid of patches. */
function gridOf({ size }: Tensors, before: number): number {
  const count = (size.L as number) - before;
  const grid = Math.round(Math.sqrt(count));
  if (count < 1 || grid ** 2 !== count)
    throw new RangeError(
      `A position table of ${size.L} rows does not number the patches of a square picture after ${before === 1 ? 'the class row' : `${before} rows of their own`}.`,
    );
  return grid;
}
