// What is said of a model by its header alone: of every family, made up with sizes that differ from each other.
import {
  type FamilyId,
  FamilyUnknown,
  familyIds,
  modelFamilies,
  namesOf,
  type OpenedModel,
  openModel,
  type Slices,
} from 'superpose';
import { describe, expect, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { familyMeant } from '../support/familyMeant.ts';
import { file } from '../support/safetensors.ts';

/** Sizes that a file is free to have: of tokens, positions, segments, heads, and channels that nothing else reads. */
const sizes = { V: 13, L: 9, S: 2, one: 1, H: 2, d: 8, Q: 12, K: 6, h: 3 };
/** Extents by name. */
type Shapes = Record<string, readonly (number | keyof typeof sizes)[]>;
const numbers = (shape: Shapes[string]) =>
  shape.map((extent) => (typeof extent === 'number' ? extent : sizes[extent]));

/** A file of these tensors, all of whose data are zeros. */
function headed(shapes: Shapes, dtypes: Record<string, string> = {}): Uint8Array {
  let at = 0;
  const widths: Record<string, number> = { F64: 8, F32: 4, I32: 4, F16: 2, BF16: 2 };
  const tensors = Object.entries(shapes).map(([name, shape]) => {
    const begin = at;
    const dtype = dtypes[name] ?? 'F16';
    at += (widths[dtype] ?? 1) * numbers(shape).reduce((count, extent) => count * extent, 1);
    return [name, { dtype, shape: numbers(shape), data_offsets: [begin, at] }];
  });
  return file(JSON.stringify(Object.fromEntries(tensors)), at);
}
const slices = (name: string, bytes: Uint8Array): Slices => ({
  name,
  size: bytes.length,
  read: async (from, length) => bytes.subarray(from, from + length),
});
/** Without a config.json, and with the family that is meant. */
const open = (shapes: Shapes, options = {}, dtypes = {}) =>
  openModel(plain, slices('model.safetensors', headed(shapes, dtypes)), {
    family: familyMeant(shapes),
    ...options,
  });
/** The same beside a config.json and a tokenizer.json. */
const configured = (shapes: Shapes, config: unknown, options = {}) =>
  openModel(
    plain,
    [
      slices('model.safetensors', headed(shapes)),
      slices('config.json', new TextEncoder().encode(JSON.stringify(config))),
      slices('tokenizer.json', new Uint8Array(2)),
    ],
    options,
  );
const refusal = (opening: Promise<OpenedModel>): Promise<string> =>
  opening.then(
    ({ name }) => `It is taken for ${name}.`,
    (error: Error) => (error instanceof RangeError ? error.message : `It is no RangeError: ${error}`),
  );

const linear = (name: string, out: number, into: number): Shapes => ({
  [`${name}.weight`]: [out, into],
  [`${name}.bias`]: [out],
});
const norm = (name: string, width = 8): Shapes => ({
  [`${name}.weight`]: [width],
  [`${name}.bias`]: [width],
});
const bertTables = (width: number): Shapes => ({
  'embeddings.word_embeddings.weight': ['V', width],
  'embeddings.position_embeddings.weight': ['L', width],
  ...norm('embeddings.LayerNorm', width),
});
const bert = (segments: 'one' | 'S' = 'S', width = 8): Shapes => ({
  ...bertTables(width),
  'embeddings.token_type_embeddings.weight': [segments, width],
  ...linear('encoder.layer.0.attention.self.query', 8, 8),
  ...linear('encoder.layer.0.attention.self.key', 8, 8),
});
const opt = (width: number): Shapes => ({
  'embed_tokens.weight': ['V', width],
  'embed_positions.weight': ['L', 8],
  ...linear('layers.0.self_attn.q_proj', 8, 8),
  ...linear('layers.0.self_attn.k_proj', 8, 8),
});
const clip: Shapes = {
  'text_model.embeddings.token_embedding.weight': ['V', 8],
  'text_model.embeddings.position_embedding.weight': ['L', 8],
  ...norm('text_model.encoder.layers.0.layer_norm1'),
  ...linear('text_model.encoder.layers.0.self_attn.q_proj', 8, 8),
  ...linear('text_model.encoder.layers.0.self_attn.k_proj', 8, 8),
};
const clipVision: Shapes = {
  'vision_model.embeddings.class_embedding': [8],
  'vision_model.embeddings.position_embedding.weight': [10, 8],
  'vision_model.embeddings.patch_embedding.weight': [8, 3, 4, 4],
  ...norm('vision_model.pre_layrnorm'),
  ...norm('vision_model.encoder.layers.0.layer_norm1'),
  ...linear('vision_model.encoder.layers.0.self_attn.q_proj', 8, 8),
  ...linear('vision_model.encoder.layers.0.self_attn.k_proj', 8, 8),
};
const whisper: Shapes = {
  'encoder.conv1.weight': [8, 4, 3],
  'decoder.embed_tokens.weight': ['V', 8],
  'decoder.embed_positions.weight': ['L', 8],
  ...norm('decoder.layers.0.self_attn_layer_norm'),
  ...linear('decoder.layers.0.self_attn.q_proj', 8, 8),
  'decoder.layers.0.self_attn.k_proj.weight': [8, 8],
};
const whisperEncoder: Shapes = {
  'encoder.conv1.weight': [8, 4, 3],
  'encoder.conv1.bias': [8],
  'encoder.conv2.weight': [8, 8, 3],
  'encoder.conv2.bias': [8],
  'encoder.embed_positions.weight': ['L', 8],
  ...norm('encoder.layers.0.self_attn_layer_norm'),
  ...linear('encoder.layers.0.self_attn.q_proj', 8, 8),
  'encoder.layers.0.self_attn.k_proj.weight': [8, 8],
};
const llama: Shapes = {
  'embed_tokens.weight': ['V', 8],
  'layers.0.input_layernorm.weight': [8],
  'layers.0.self_attn.q_proj.weight': ['Q', 8],
  'layers.0.self_attn.k_proj.weight': ['K', 8],
};
const qwen2: Shapes = {
  ...llama,
  'layers.0.self_attn.q_proj.bias': [12],
  'layers.0.self_attn.k_proj.bias': [6],
};
const neox: Shapes = {
  'embed_in.weight': ['V', 8],
  ...norm('layers.0.input_layernorm'),
  ...linear('layers.0.attention.query_key_value', 24, 8),
};
const bloom: Shapes = {
  'word_embeddings.weight': ['V', 8],
  ...norm('word_embeddings_layernorm'),
  ...norm('h.0.input_layernorm'),
  ...linear('h.0.self_attention.query_key_value', 24, 8),
};
const t5: Shapes = {
  'shared.weight': ['V', 8],
  'encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight': [32, 'H'],
  'encoder.block.0.layer.0.layer_norm.weight': [8],
  'encoder.block.0.layer.0.SelfAttention.q.weight': ['Q', 8],
  'encoder.block.0.layer.0.SelfAttention.k.weight': ['K', 8],
};
const vit = (before: number): Shapes => ({
  'embeddings.cls_token': [1, 1, 8],
  'embeddings.position_embeddings': [1, 9 + before, 8],
  'embeddings.patch_embeddings.projection.weight': [8, 3, 4, 4],
  'embeddings.patch_embeddings.projection.bias': [8],
  ...norm('encoder.layer.0.layernorm_before'),
  ...linear('encoder.layer.0.attention.attention.query', 8, 8),
  ...linear('encoder.layer.0.attention.attention.key', 8, 8),
});
const timm = (before: number): Shapes => ({
  cls_token: [1, 1, 8],
  pos_embed: [1, 9 + before, 8],
  'patch_embed.proj.weight': [8, 3, 4, 4],
  'patch_embed.proj.bias': [8],
  ...norm('blocks.0.norm1'),
  'blocks.0.attn.qkv.weight': [24, 8],
  'blocks.0.attn.qkv.bias': [24],
});

const added = 'Token and position rows are added; each layer normalizes what it reads.';
const causal = 'A query sees no later key.';
const three = 'Token, position and segment rows are added and normalized before W_Q and W_K read them.';
const apartBy = (how: string) =>
  `No table of positions is added: ${how} taken apart by the means of queries and keys over a corpus.`;
const turning = apartBy('queries and keys turn by angles that grow with their position. Scores are');
const patched = 'Each patch is mapped to a row and its position is added;';
const perLayer = `${patched} each layer normalizes what it reads. The class row and its position only ever occur together and are one summand.`;
const half = [0.5, 0.5, 0.5];
const imageNet = { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };
const openAi = {
  mean: [0.48145466, 0.4578275, 0.40821073],
  deviation: [0.26862954, 0.26130258, 0.27577711],
};
const tables = ['token', 'position'];
const ofText = { readsText: true, vocabulary: 13, positions: 9, d_model: 8, picture: undefined };
const ofEncoder = { ...ofText, causal: false, apart: [0] };
/** Tokens are all that is added, and the first stands apart. */
const alone = { summands: ['token'], causal: true, apart: [0], epsilon: 0.25 };
const ofPictures = {
  causal: false,
  apart: [0],
  readsText: false,
  vocabulary: 0,
  positions: 9,
  d_model: 8,
  summands: ['patch', 'position', 'class'],
};

interface Case {
  /** All that its scores need. */
  shapes: Shapes;
  /** Without these the file is another model’s, or nobody’s. */
  tells: readonly string[];
  /** What may be missing. */
  optional?: readonly string[];
  /** What config.json says of heads and ε, which are 2 and 0.25. */
  config: object;
  part?: string;
  wanted: Partial<OpenedModel> & { family: FamilyId };
}
const bertConfig = { num_attention_heads: 2, layer_norm_eps: 0.25 };

const cases: [string, Case][] = [
  [
    'BERT',
    {
      tells: ['embeddings.token_type_embeddings.weight', 'encoder.layer.0.attention.self.query.weight'],
      shapes: bert(),
      config: bertConfig,
      wanted: {
        ...ofEncoder,
        family: 'bert',
        name: 'BERT',
        about: three,
        summands: [...tables, 'token_type'],
        epsilon: 0.25,
      },
    },
  ],
  [
    'RoBERTa',
    {
      tells: ['embeddings.token_type_embeddings.weight', 'encoder.layer.0.attention.self.query.weight'],
      shapes: bert('one'),
      config: bertConfig,
      wanted: {
        ...ofEncoder,
        family: 'roberta',
        name: 'RoBERTa',
        about: `${three} The first position is in row 2.`,
        positions: 7,
        summands: [...tables, 'token_type'],
        epsilon: 0.25,
      },
    },
  ],
  [
    'ELECTRA',
    {
      tells: ['embeddings.token_type_embeddings.weight', 'encoder.layer.0.attention.self.query.weight'],
      shapes: { ...bert('S', 6), ...linear('embeddings_project', 8, 6) },
      config: bertConfig,
      wanted: {
        ...ofEncoder,
        family: 'electra',
        name: 'ELECTRA',
        about:
          'Token, position and segment rows are added, normalized and mapped to the model’s width before W_Q and W_K read them.',
        summands: [...tables, 'token_type'],
        epsilon: 0.25,
      },
    },
  ],
  [
    'MPNet',
    {
      tells: ['encoder.relative_attention_bias.weight', 'encoder.layer.0.attention.attn.q.weight'],
      shapes: {
        ...bertTables(8),
        'encoder.relative_attention_bias.weight': [32, 'H'],
        ...linear('encoder.layer.0.attention.attn.q', 8, 8),
        ...linear('encoder.layer.0.attention.attn.k', 8, 8),
      },
      config: bertConfig,
      wanted: {
        ...ofEncoder,
        family: 'mpnet',
        name: 'MPNet',
        about:
          'Token and position rows are added and normalized; a bias by the distance of two tokens is added to each head’s scores, the same in every layer.',
        positions: 7,
        summands: tables,
        epsilon: 0.25,
      },
    },
  ],
  [
    'DistilBERT',
    {
      tells: ['embeddings.word_embeddings.weight', 'transformer.layer.0.attention.q_lin.weight'],
      shapes: {
        ...bertTables(8),
        ...linear('transformer.layer.0.attention.q_lin', 8, 8),
        ...linear('transformer.layer.0.attention.k_lin', 8, 8),
      },
      config: { n_heads: 2, layer_norm_eps: 0.25 },
      wanted: {
        ...ofEncoder,
        family: 'distilbert',
        name: 'DistilBERT',
        about: 'Token and position rows are added and normalized before W_Q and W_K read them.',
        summands: tables,
        epsilon: 1e-12,
      },
    },
  ],
  [
    'GPT-2',
    {
      tells: ['wte.weight', 'wpe.weight', 'h.0.attn.c_attn.weight'],
      shapes: {
        'wte.weight': ['V', 8],
        'wpe.weight': ['L', 8],
        ...norm('h.0.ln_1'),
        'h.0.attn.c_attn.weight': [8, 24],
        'h.0.attn.c_attn.bias': [24],
      },
      config: { num_attention_heads: 2, layer_norm_epsilon: 0.25 },
      wanted: {
        ...ofText,
        family: 'gpt2',
        name: 'GPT-2',
        about: `${added} ${causal}`,
        summands: tables,
        causal: true,
        apart: [],
        epsilon: 0.25,
      },
    },
  ],
  [
    'Whisper’s decoder',
    {
      tells: ['decoder.embed_tokens.weight', 'decoder.embed_positions.weight'],
      shapes: { ...whisper, ...whisperEncoder },
      config: { decoder_attention_heads: 2, encoder_attention_heads: 3, layer_norm_eps: 0.25 },
      wanted: {
        ...ofText,
        family: 'whisper-decoder',
        name: 'Whisper’s decoder',
        about: `${added} Keys have no bias. ${causal}`,
        parts: ['whisper-decoder', 'whisper-encoder'],
        summands: tables,
        causal: true,
        apart: [0],
        epsilon: 1e-5,
      },
    },
  ],
  [
    'Whisper’s encoder',
    {
      tells: ['encoder.embed_positions.weight'],
      shapes: { ...whisper, ...whisperEncoder },
      part: 'whisper-encoder',
      config: { decoder_attention_heads: 3, encoder_attention_heads: 2, layer_norm_eps: 0.25 },
      wanted: {
        ...ofText,
        readsText: false,
        family: 'whisper-encoder',
        name: 'Whisper’s encoder',
        about:
          'What convolutions make of sound, and position rows, are added; each layer normalizes what it reads. Keys have no bias. Only a program can give it frames.',
        vocabulary: 0,
        summands: ['frame', 'position'],
        frames: { rows: 18, columns: 4 },
        causal: false,
        apart: [],
        epsilon: 1e-5,
      },
    },
  ],
  [
    'OPT',
    {
      tells: ['embed_tokens.weight', 'embed_positions.weight', 'layers.0.self_attn.q_proj.bias'],
      shapes: { ...opt(8), 'final_layer_norm.weight': [8], ...norm('layers.0.self_attn_layer_norm') },
      // Without it, a checkpoint normalizes after each layer.
      optional: ['final_layer_norm.weight'],
      config: bertConfig,
      wanted: {
        ...ofText,
        family: 'opt',
        name: 'OPT',
        about: `Token and position rows are added, the first position in row 2; each layer normalizes what it reads. ${causal}`,
        positions: 7,
        summands: tables,
        causal: true,
        apart: [0],
        epsilon: 1e-5,
      },
    },
  ],
  [
    'OPT with narrow tokens',
    {
      tells: [
        'embed_tokens.weight',
        'embed_positions.weight',
        'layers.0.self_attn.q_proj.bias',
        'project_in.weight',
      ],
      shapes: { ...opt(6), 'project_in.weight': [8, 6] },
      config: { ...bertConfig, do_layer_norm_before: false },
      wanted: {
        ...ofText,
        family: 'opt',
        name: 'OPT',
        about: `Token and position rows are added, the first position in row 2, and nothing normalizes what the first layer reads. ${causal}`,
        positions: 7,
        summands: tables,
        causal: true,
        apart: [0],
        epsilon: 1e-5,
      },
    },
  ],
  [
    'CLIP’s text',
    {
      tells: [
        'text_model.embeddings.token_embedding.weight',
        'text_model.embeddings.position_embedding.weight',
      ],
      shapes: clip,
      config: { text_config: bertConfig, num_attention_heads: 4, layer_norm_eps: 1 },
      wanted: {
        ...ofText,
        family: 'clip-text',
        name: 'CLIP’s text model',
        about: `${added} ${causal}`,
        parts: ['clip-text'],
        summands: tables,
        causal: true,
        apart: [0],
        epsilon: 0.25,
      },
    },
  ],
  [
    'CLIP’s vision',
    {
      tells: ['vision_model.embeddings.class_embedding', 'vision_model.embeddings.patch_embedding.weight'],
      shapes: clipVision,
      config: { vision_config: bertConfig, text_config: { num_attention_heads: 4 } },
      wanted: {
        ...ofPictures,
        family: 'clip-vision',
        name: 'CLIP’s vision model',
        about: `${patched} the sum is normalized, and once more by the layer that reads it.`,
        epsilon: 0.25,
        picture: { side: 12, ...openAi },
      },
    },
  ],
  [
    'ViT',
    {
      tells: ['embeddings.cls_token', 'embeddings.patch_embeddings.projection.weight'],
      shapes: vit(1),
      optional: [
        'encoder.layer.0.attention.attention.query.bias',
        'encoder.layer.0.attention.attention.key.bias',
      ],
      config: bertConfig,
      wanted: {
        ...ofPictures,
        family: 'vit',
        name: 'ViT',
        about: perLayer,
        epsilon: 0.25,
        picture: { side: 12, mean: half, deviation: half },
      },
    },
  ],
  [
    'DeiT',
    {
      tells: [
        'embeddings.cls_token',
        'embeddings.patch_embeddings.projection.weight',
        'embeddings.distillation_token',
      ],
      shapes: { ...vit(2), 'embeddings.distillation_token': [1, 1, 8] },
      optional: [
        'encoder.layer.0.attention.attention.query.bias',
        'encoder.layer.0.attention.attention.key.bias',
      ],
      config: bertConfig,
      wanted: {
        ...ofPictures,
        family: 'vit',
        name: 'DeiT',
        about: perLayer,
        apart: [0, 1],
        epsilon: 0.25,
        picture: { side: 12, ...imageNet },
      },
    },
  ],
  [
    'ViT by timm’s names',
    {
      tells: ['cls_token', 'pos_embed', 'patch_embed.proj.weight', 'blocks.0.attn.qkv.weight'],
      shapes: timm(1),
      optional: ['blocks.0.attn.qkv.bias'],
      config: bertConfig,
      wanted: {
        ...ofPictures,
        family: 'vit',
        name: 'ViT',
        about: perLayer,
        epsilon: 0.25,
        picture: { side: 12, mean: half, deviation: half },
      },
    },
  ],
  [
    'DeiT by timm’s names',
    {
      tells: ['cls_token', 'pos_embed', 'patch_embed.proj.weight', 'blocks.0.attn.qkv.weight', 'dist_token'],
      shapes: { ...timm(2), dist_token: [1, 1, 8] },
      optional: ['blocks.0.attn.qkv.bias'],
      config: bertConfig,
      wanted: {
        ...ofPictures,
        family: 'vit',
        name: 'DeiT',
        about: perLayer,
        apart: [0, 1],
        epsilon: 0.25,
        picture: { side: 12, ...imageNet },
      },
    },
  ],
  ...(
    [
      ['llama', 'Llama', llama],
      ['mistral', 'Mistral', llama],
      ['qwen2', 'Qwen2', qwen2],
      [
        'qwen3',
        'Qwen3',
        {
          ...llama,
          'layers.0.self_attn.q_norm.weight': ['h'],
          'layers.0.self_attn.k_norm.weight': ['h'],
        },
      ],
      ['smollm3', 'SmolLM3', llama],
      ['gemma', 'Gemma', llama],
    ] as const
  ).map(([family, name, shapes]): [string, Case] => [
    name,
    {
      shapes,
      tells: ['embed_tokens.weight', 'layers.0.input_layernorm.weight', 'layers.0.self_attn.q_proj.weight'],
      optional: ['layers.0.self_attn.q_proj.bias', 'layers.0.self_attn.k_proj.bias'],
      config: { num_attention_heads: 2, rms_norm_eps: 0.25, max_position_embeddings: 9 },
      wanted: { ...ofText, ...alone, family, name, about: `${turning} ${causal}`, parts: [family] },
    },
  ]),
  [
    'GPT-NeoX',
    {
      shapes: neox,
      tells: [
        'embed_in.weight',
        'layers.0.input_layernorm.weight',
        'layers.0.input_layernorm.bias',
        'layers.0.attention.query_key_value.weight',
      ],
      optional: ['layers.0.attention.query_key_value.bias'],
      config: { ...bertConfig, max_position_embeddings: 9 },
      wanted: { ...ofText, ...alone, family: 'gpt-neox', name: 'GPT-NeoX', about: `${turning} ${causal}` },
    },
  ],
  [
    'BLOOM',
    {
      shapes: bloom,
      tells: [
        'word_embeddings.weight',
        'word_embeddings_layernorm.weight',
        'h.0.input_layernorm.weight',
        'h.0.input_layernorm.bias',
        'h.0.self_attention.query_key_value.weight',
      ],
      optional: ['h.0.self_attention.query_key_value.bias'],
      config: { n_head: 2, layer_norm_epsilon: 0.25 },
      wanted: {
        ...ofText,
        ...alone,
        family: 'bloom',
        name: 'BLOOM',
        about: `${apartBy('the scores of each head fall with the distance, by a slope of its own. They are')} ${causal}`,
        positions: 0,
      },
    },
  ],
  [
    'T5',
    {
      shapes: t5,
      tells: ['encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight'],
      config: { layer_norm_epsilon: 0.25 },
      wanted: {
        ...ofText,
        ...alone,
        family: 't5',
        name: 'T5’s encoder',
        about: apartBy('each head’s scores get a number for the distance. They are'),
        positions: 0,
        causal: false,
        apart: [],
      },
    },
  ],
];

describe.each(cases)('%s', (_, { shapes, tells, optional = [], config, part, wanted }) => {
  const { family } = wanted;
  const options = { family, ...(part && { part }) };
  /** Tensors of the other model in the file, and what only has to be there. */
  const read = Object.keys(shapes).filter(
    (name) =>
      !['encoder.conv1.weight', 'final_layer_norm.weight'].includes(name) &&
      !name.startsWith(part === 'whisper-encoder' ? 'decoder.' : 'encoder.embed_positions'),
  );

  test('what its header and its config.json tell', async () => {
    // Each model_type that the family may have, and no other.
    for (const model_type of modelFamilies[family].types) {
      const given = await configured(shapes, { model_type, ...config }, part ? { part } : {});
      expect(given).toMatchObject({ ...wanted, heads: 2 });
    }
    const model = await configured(shapes, config, options);
    expect(model).toMatchObject({ ...wanted, heads: 2 });
  });

  test('a tensor that it needs and that is missing is named', async () => {
    for (const name of read) {
      const { [name]: gone, ...others } = shapes;
      expect(gone).toBeDefined();
      const sentence = await refusal(open(others, options));
      if (tells.includes(name)) expect(sentence, name).not.toBe(`It is taken for ${wanted.name}.`);
      else if (optional.includes(name)) expect(sentence, name).toMatch(/^It is taken for /);
      else expect(sentence).toBe(`The file lacks the tensor “${name}”.`);
    }
  });

  test('an extent that does not fit the others is refused', async () => {
    for (const name of read) {
      const shape = shapes[name] as Shapes[string];
      for (const [place, extent] of shape.entries()) {
        if (typeof extent !== 'number') continue;
        const changed = { ...shapes, [name]: shape.map((one, at) => (at === place ? extent + 1 : one)) };
        expect(await refusal(open(changed, options)), `${name}: ${changed[name]}`).toMatch(
          /^Tensor “.*” must have shape \[.*\] beside the others; it has \[.*\]\.$|^A position table of /,
        );
      }
    }
  });

  test('a weight and its bias that fit each other have to fit the rest too', async () => {
    for (const name of read) {
      const bias = name.replace(/weight$/, 'bias');
      const [weight, own] = [shapes[name], shapes[bias]] as [Shapes[string], Shapes[string] | undefined];
      if (bias === name || own === undefined) continue;
      // Of GPT-2’s maps the columns are the outputs.
      const place = weight.indexOf(own[0] as number);
      const wider = (own[0] as number) + 1;
      const changed = {
        ...shapes,
        [name]: weight.map((one, at) => (at === place ? wider : one)),
        [bias]: [wider],
      };
      expect(await refusal(open(changed, options)), name).toMatch(
        /^Tensor “.*” must have shape \[.*\] beside the others; it has \[.*\]\.$/,
      );
    }
  });
});

test('sizes that are free are the file’s own', async () => {
  const others: [Shapes, Partial<OpenedModel>][] = [
    [
      { ...bert(), 'embeddings.word_embeddings.weight': [20, 8] },
      { vocabulary: 20, positions: 9 },
    ],
    [
      { ...bert(), 'embeddings.position_embeddings.weight': [30, 8] },
      { vocabulary: 13, positions: 30 },
    ],
    [
      { ...timm(0), pos_embed: [1, 26, 8] },
      { positions: 25, picture: { side: 20, mean: half, deviation: half } },
    ],
  ];
  for (const [shapes, wanted] of others) expect(await open(shapes)).toMatchObject(wanted);
});

const behind = (prefix: string, shapes: Shapes): Shapes =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [`${prefix}${name}`, shape]));
const gpt2Shapes: Shapes = {
  'wte.weight': ['V', 8],
  'wpe.weight': ['L', 8],
  ...norm('h.0.ln_1'),
  'h.0.attn.c_attn.weight': [8, 24],
  'h.0.attn.c_attn.bias': [24],
};

test('names may stand behind a prefix; of two models the one with the shorter prefix is read', async () => {
  const longer = { ...bert(), 'embeddings.word_embeddings.weight': [20, 8] };
  const model = await open({ ...behind('a.student.', longer), ...behind('teacher.', bert()) });
  expect(model.vocabulary).toBe(13);
  expect((await open({ ...behind('teacher.', longer), ...behind('x.', bert()) })).vocabulary).toBe(13);
  // A prefix says nothing of the family.
  expect(await open(behind('electra.', bert()), { family: 'bert' })).toMatchObject({ name: 'BERT' });
  expect(await open(behind('bert.', bert()), { family: 'electra' })).toMatchObject({ name: 'ELECTRA' });
  // Not a prefix: it ends in no dot.
  expect(await refusal(open(behind('x', bert())))).toMatch(/^These are not the tensors of BERT \(“xembed/);
  const { 'encoder.layer.0.attention.self.key.bias': _, ...less } = bert();
  expect(await refusal(open(behind('bert.', less)))).toBe(
    'The file lacks the tensor “bert.encoder.layer.0.attention.self.key.bias”.',
  );
});

test('of the models that share a file one is read, of other files the one that is stated', async () => {
  const both = await open({ ...clip, ...clipVision });
  expect([both.family, both.parts]).toEqual(['clip-text', ['clip-text', 'clip-vision']]);
  const vision = await open({ ...clip, ...clipVision }, { part: 'clip-vision' });
  expect([vision.family, vision.parts]).toEqual(['clip-vision', ['clip-text', 'clip-vision']]);
  const other = { ...bert(), ...gpt2Shapes };
  for (const family of ['gpt2', 'bert'] as const) {
    const two = await open(other, { family });
    expect([two.family, two.parts]).toEqual([family, [family]]);
  }
});

test('RoPE: the width of a head is that of its norm, and otherwise the heads’ share of the queries', async () => {
  const rotary = async (shapes: Shapes, options: object) =>
    (await (await open(shapes, options)).report()).rotary;
  const normed = {
    'layers.0.self_attn.q_norm.weight': ['h'],
    'layers.0.self_attn.k_norm.weight': ['h'],
  } as const;
  const qwen3 = { ...llama, ...normed };
  expect(await rotary(qwen3, { heads: 4, family: 'qwen3' })).toMatchObject({
    d_head: 3,
    heads: 4,
    keyHeads: 2,
  });
  expect(await rotary(llama, { heads: 2 })).toMatchObject({ d_head: 6, heads: 2, keyHeads: 1 });
});

test('norms by BERT’s old names, and doubles', async () => {
  const old = Object.fromEntries(
    Object.entries(bert()).map(([name, shape]) => [
      name.replace('LayerNorm.weight', 'LayerNorm.gamma').replace('LayerNorm.bias', 'LayerNorm.beta'),
      shape,
    ]),
  );
  expect(await open(old)).toMatchObject({ family: 'bert' });
  for (const dtype of ['F64', 'F32', 'F16', 'BF16']) {
    const dtypes = { 'embeddings.word_embeddings.weight': dtype };
    expect(await open(bert(), {}, dtypes), dtype).toMatchObject({ vocabulary: 13 });
  }
  const query = 'bert.encoder.layer.0.attention.self.query.weight';
  const behind = Object.fromEntries(Object.entries(bert()).map(([name, shape]) => [`bert.${name}`, shape]));
  expect(await refusal(open(behind, {}, { [query]: 'I32' }))).toBe(
    `Tensor “${query}” has dtype “I32”; F64, F32, F16 and BF16 can be read.`,
  );
});

test('what an extent should have been is said, a letter where it may be any', async () => {
  expect(await refusal(open({ ...bert(), 'embeddings.LayerNorm.bias': [7] }))).toBe(
    'Tensor “embeddings.LayerNorm.bias” must have shape [8] beside the others; it has [7].',
  );
  const behind = Object.fromEntries(Object.entries(bert()).map(([name, shape]) => [`bert.${name}`, shape]));
  const table = 'bert.embeddings.word_embeddings.weight';
  expect(await refusal(open({ ...behind, [table]: [0, 8] }))).toBe(
    `Tensor “${table}” must have shape [V, e] beside the others; it has [0, 8].`,
  );
  expect(await refusal(open({ ...behind, [table]: [13, 8, 1] }))).toBe(
    `Tensor “${table}” must have shape [13, 8] beside the others; it has [13, 8, 1].`,
  );
  const { 'project_in.weight': _, ...narrow } = { ...opt(6), 'project_in.weight': [8, 6] as const };
  expect(await refusal(open(narrow))).toBe(
    'Tensor “embed_tokens.weight” must have shape [13, 8] beside the others; it has [13, 6].',
  );
});

test('a picture’s patches are as many as those of a square, after the rows that come before them', async () => {
  const { pos_embed: _, ...others } = timm(1);
  const sentence = async (rows: number, more: Shapes = {}) =>
    refusal(open({ ...others, ...more, pos_embed: [1, rows, 8] }));
  const one = (rows: number) =>
    `A position table of ${rows} rows does not number the patches of a square picture after the class row.`;
  expect(await sentence(1)).toBe(one(1));
  expect(await sentence(2)).toBe('It is taken for ViT.');
  expect(await sentence(9)).toBe(one(9));
  expect(await sentence(11)).toBe(one(11));
  expect(await sentence(10, { dist_token: [1, 1, 8] })).toBe(
    'A position table of 10 rows does not number the patches of a square picture after 2 rows of their own.',
  );
});

test('a long name is cut after 80 characters', async () => {
  const [long, longer] = ['n'.repeat(79), 'n'.repeat(80)].map((prefix) => `${prefix}.`);
  const sentence = async (prefix: string) => {
    const shapes = { [`${prefix}wte.weight`]: [13, 8], [`${prefix}wpe.weight`]: [9, 8] };
    return refusal(open({ ...shapes, [`${prefix}h.0.attn.c_attn.weight`]: [8, 24] }));
  };
  expect(await sentence(long as string)).toBe(`The file lacks the tensor “${long}…”.`);
  expect(await sentence(longer as string)).toBe(`The file lacks the tensor “${'n'.repeat(80)}…”.`);
  const exactly = 'm'.repeat(80 - 'h.0.attn.c_attn.bias'.length - 1);
  expect(await sentence(`${exactly}.`)).toBe(`The file lacks the tensor “${exactly}.h.0.attn.c_attn.bias”.`);
});

test('nobody’s file is told by its first three tensors', async () => {
  const known = `Families are ${namesOf(familyIds)}.`;
  const nothing = { family: undefined };
  const four = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, [1]]));
  expect(await refusal(open(four, nothing))).toBe(
    `No family of models that can be read here has these tensors (“a”, “b”, “c”). ${known}`,
  );
  expect(await refusal(open({}, nothing))).toBe(
    `No family of models that can be read here has these tensors (there are none). ${known}`,
  );
  expect(await refusal(open(four, { family: 'clip-text' }))).toBe(
    'These are not the tensors of CLIP’s text model or CLIP’s vision model (“a”, “b”, “c”).',
  );
});

const turns = 'it turns queries and keys and adds no position';
describe.each([
  [
    'encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight',
    'UMT5',
    'each of its layers has a bias of its own for distances',
  ],
  [
    'attention.self.distance_embedding.weight',
    'BERT with relative keys',
    'its positions enter the scores as offsets',
  ],
  ['h.0.ln_attn.weight', 'Falcon', 'it adds no table of positions to its tokens'],
  ['encoder.layers.0.attn.Wqkv.weight', 'A model with one W_qkv, as nomic-bert,', turns],
  ['layer.0.rel_attn.q', 'XLNet', 'its positions are relative and enter the scores alone'],
  [
    'h.0.attn.attention.q_proj.weight',
    'GPT-Neo',
    'its scores are not divided by √d_h, which this reader assumes',
  ],
  ['h.0.attn.q_proj.weight', 'GPT-J', turns],
  ['relative_position_bias_table', 'Swin or BEiT', 'its positions are a bias in the scores'],
  ['layernorm_embedding.weight', 'BART', 'its encoder and its decoder each have their own reading'],
  ['mixer.A_log', 'Mamba', 'it has no attention'],
  ['pos_conv_embed.conv.bias', 'wav2vec 2.0', 'its positions come of a convolution, not of a table'],
  ['self_attn.qkv_proj.weight', 'Phi-3', turns],
  ['x_position_embeddings.weight', 'LayoutLM', 'its tokens also get rows for their place on the page'],
  [
    'intermediate.LayerNorm.weight',
    'RoBERTa-PreLayerNorm',
    'it has RoBERTa’s names, but normalizes before each layer',
  ],
  [
    'attention.self.conv.weight',
    'Nyströmformer',
    'it has BERT’s names, but its scores are approximated and a convolution is added',
  ],
  [
    'attention.self.query_global.weight',
    'Longformer',
    'some of its tokens have queries and keys of their own',
  ],
  [
    'biogpt.embed_tokens.weight',
    'BioGPT',
    'it has OPT’s names, but multiplies its tokens by √d and has another final norm',
  ],
  ['task_type_embeddings.weight', 'ERNIE with task ids', 'it adds a row for the task'],
  [
    'crossattention.self.query.weight',
    'A model with cross-attention',
    'it is the decoder of another model, whose states it reads too',
  ],
  ['mlp.weights_in.weight', 'DINOv2 with gated MLPs', 'its MLPs multiply two maps with one another'],
])('%s', (sign, name, reason) => {
  const refused = `${name} is not among the models whose first scores can be read here: ${reason}.`;

  test(`tells ${name}, whatever else is in the file`, async () => {
    for (const family of ['bert', undefined])
      for (const prefix of sign.startsWith('biogpt.') ? [''] : ['', 'model.2.'])
        expect(await refusal(open({ ...bert(), [`${prefix}${sign}`]: [1] }, { family }))).toBe(refused);
  });

  test('another name that contains it tells nothing', async () => {
    const besides = (name: string) => refusal(open({ ...bert(), [name]: [1] }, { family: 'bert' }));
    expect(await besides(`x${sign}`)).toBe('It is taken for BERT.');
    // What stands among BERT's own tensors is none of it.
    if (!/^(pos_conv|biogpt|crossattention)/.test(sign))
      expect(await besides(`other.${sign}_x`)).toBe('It is taken for BERT.');
  });
});

test('a quantized file is told by its tensors’ names and dtypes', async () => {
  const advice = 'Take the checkpoint of F32, F16 or BF16 that it was made of.';
  const kinds = [
    'qweight',
    'qzeros',
    'g_idx',
    'weight_scale',
    'weight_scale_inv',
    'input_scale',
    'SCB',
    'absmax',
  ];
  for (const kind of [...kinds, 'quant_map', 'nested_absmax', 'quant_state.bitsandbytes__nf4']) {
    expect(await refusal(open({ ...bert(), [`x.${kind}`]: [1] }, {}, { [`x.${kind}`]: 'I32' }))).toBe(
      `The file is quantized: “x.${kind}” is of dtype “I32”. ${advice}`,
    );
    expect(await refusal(open({ ...bert(), [`x${kind}`]: [1] }))).toBe('It is taken for BERT.');
  }
  expect(await refusal(open({ ...bert(), 'x.qweights': [1] }))).toBe('It is taken for BERT.');
  const name = 'embeddings.LayerNorm.bias';
  for (const dtype of ['F8_E4M3', 'F8_E5M2'])
    expect(await refusal(open(bert(), {}, { [name]: dtype }))).toBe(
      `The file is quantized: “${name}” is of dtype “${dtype}”. ${advice}`,
    );
});

describe('nothing is guessed', () => {
  /** What a file without a config.json may be, as its error says. */
  const candidates = async (shapes: Shapes, options: object = {}) => {
    const error = await open(shapes, { family: undefined, ...options }).then(
      ({ name }) => `It is taken for ${name}.`,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof FamilyUnknown)) return error;
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toBe(
      `There is no config.json with a model_type, and tensors alone do not tell which model this is: it may be ${namesOf(error.families, 'or')}. Put its config.json beside it, or state the family: ${error.families.join(', ').replace(/, ([^,]*)$/, ' or $1')}.`,
    );
    return error.families;
  };

  test('a file without a config.json is not opened, and its error names the families that it fits', async () => {
    const three = ['bert', 'roberta', 'electra'];
    const llamas = ['llama', 'mistral', 'qwen2', 'qwen3', 'smollm3', 'gemma'];
    expect(await candidates(bert())).toEqual(three);
    expect(await candidates(bert('one'))).toEqual(three);
    const found = [];
    for (const [, { shapes }] of cases) found.push(await candidates(shapes));
    expect(found).toEqual([
      three,
      three,
      ['electra'],
      ['mpnet'],
      ['distilbert'],
      ['gpt2'],
      // Without the decoder's attention to the sound it might be OPT.
      ['opt', 'whisper-decoder', 'whisper-encoder'],
      ['opt', 'whisper-decoder', 'whisper-encoder'],
      ['opt'],
      ['opt'],
      ['clip-text'],
      ['clip-vision'],
      ...Array.from({ length: 4 }, () => ['vit']),
      llamas,
      llamas,
      llamas,
      ['qwen3'],
      llamas,
      llamas,
      ['gpt-neox'],
      ['bloom'],
      ['t5'],
    ]);
    const listens = { 'decoder.layers.0.encoder_attn.q_proj.weight': [8, 8] };
    expect(await candidates({ ...whisper, ...whisperEncoder, ...listens })).toEqual([
      'whisper-decoder',
      'whisper-encoder',
    ]);
    expect(await candidates({ ...clip, ...clipVision })).toEqual(['clip-text', 'clip-vision']);
    // Of two models in one file, both; and the one that has a tensor too many is none of them.
    const two = { ...bert(), ...behind('b.', llama) };
    expect(await candidates(two)).toEqual([...three, ...llamas]);
    expect(await candidates({ ...two, 'embeddings.other.weight': [1] })).toEqual(llamas);
  });

  test('nor is one whose config.json has no model_type, as timm’s', async () => {
    const config = { architecture: 'vit_base_patch16_224', num_classes: 0 };
    expect(await refusal(configured(timm(1), config))).toMatch(
      /^There is no config.json with a model_type, .* may be ViT\/DeiT/,
    );
    expect(await refusal(configured(timm(1), config, { family: 'vit' }))).toBe('It is taken for ViT.');
  });

  test('one tensor more in its own part of the file makes it another model', async () => {
    for (const [name, { shapes, part, wanted }] of cases) {
      const options = { family: wanted.family, ...(part && { part }) };
      for (const known of Object.keys(shapes)) {
        const stranger = `${known.split('.')[0]}.stranger.weight`;
        if (/^(wte|wpe|embed_|cls_token|pos_embed|project_in|final_layer_norm|dist_token)/.test(known))
          continue;
        if (part === 'whisper-encoder' && known.startsWith('decoder.')) continue;
        expect(await refusal(open({ ...shapes, [stranger]: [1] }, options)), `${name}, ${known}`).toMatch(
          new RegExp(
            `^The file has a tensor “${stranger}”, which .* has not; what it does to the scores is not known\\.$`,
          ),
        );
      }
    }
    // Beside it there may be anything: heads for a task, another model.
    for (const besides of [
      'pooler.dense.weight',
      'cls.predictions.bias',
      'lm_head.weight',
      'other.encoder.x',
    ])
      expect(await refusal(open({ ...bert(), [besides]: [1] }, { family: 'bert' }))).toBe(
        'It is taken for BERT.',
      );
  });

  test('all tensors of the published layouts are known', async () => {
    const layer = 'encoder.layer.11';
    const whole: [FamilyId, Shapes, string[]][] = [
      [
        'bert',
        bert(),
        [
          'embeddings.position_ids',
          `${layer}.attention.self.value.bias`,
          `${layer}.attention.output.dense.weight`,
          `${layer}.attention.output.LayerNorm.gamma`,
          `${layer}.intermediate.dense.bias`,
          `${layer}.output.dense.weight`,
          `${layer}.output.LayerNorm.bias`,
        ],
      ],
      ['gpt2', gpt2Shapes, ['h.0.attn.bias', 'h.11.attn.masked_bias', 'h.3.mlp.c_proj.bias', 'ln_f.weight']],
      [
        'qwen2',
        qwen2,
        [
          'layers.0.self_attn.o_proj.weight',
          'layers.31.mlp.gate_proj.weight',
          'norm.weight',
          'layers.0.self_attn.rotary_emb.inv_freq',
        ],
      ],
      [
        'vit',
        vit(1),
        ['embeddings.mask_token', `${layer}.attention.output.dense.bias`, `${layer}.layernorm_after.weight`],
      ],
      ['vit', timm(1), ['blocks.11.attn.proj.weight', 'blocks.0.mlp.fc2.bias', 'norm.weight', 'head.bias']],
      [
        'opt',
        { ...opt(8), ...norm('final_layer_norm'), ...norm('layers.0.self_attn_layer_norm') },
        ['layers.11.fc1.bias', 'layers.0.final_layer_norm.weight', 'layers.0.self_attn.out_proj.bias'],
      ],
    ];
    for (const [family, shapes, more] of whole) {
      const all = { ...shapes, ...Object.fromEntries(more.map((name) => [name, [1]])) };
      expect(await refusal(open(all, { family })), family).toMatch(/^It is taken for/);
    }
  });
});

describe('the model_type of config.json', () => {
  test('decides what the tensors do not: BERT, RoBERTa and ELECTRA have the same names', async () => {
    for (const [model_type, family, positions] of [
      ['bert', 'bert', 9],
      ['ernie', 'bert', 9],
      ['roberta', 'roberta', 7],
      ['camembert', 'roberta', 7],
      ['xlm-roberta', 'roberta', 7],
      ['electra', 'electra', 9],
    ] as const)
      for (const segments of ['one', 'S'] as const)
        expect(await configured(bert(segments), { model_type })).toMatchObject({ family, positions });
  });

  test('is of one family or two, each in the table once', () => {
    const all = familyIds.flatMap((family) => [...modelFamilies[family].types]);
    const shared = all.filter((type, at) => all.indexOf(type) !== at);
    expect(shared).toEqual(['clip', 'siglip', 'whisper']);
  });

  test('must agree with the family that is stated, and with the tensors', async () => {
    expect(await refusal(configured(bert(), { model_type: 'roberta' }, { family: 'bert' }))).toBe(
      'family is "bert", but config.json has the model_type "roberta": RoBERTa. Leave family out.',
    );
    expect(await refusal(configured(bert(), { model_type: 'bert' }, { family: 'bert' }))).toBe(
      'It is taken for BERT.',
    );
    expect(await refusal(configured(bert(), { model_type: 'gpt2' }))).toMatch(
      /^These are not the tensors of GPT-2 \(“/,
    );
    expect(await refusal(configured(bert(), { model_type: 5 }))).toContain(
      'model_type in config.json must be a text; it is 5.',
    );
    expect(await refusal(open(bert(), { family: 'banana' }))).toMatch(/^family must be 'bert' or /);
    const clipped = await configured(
      { ...clip, ...clipVision },
      { model_type: 'clip', text_config: bertConfig },
      { family: 'clip-vision' },
    );
    expect([clipped.family, clipped.parts]).toEqual(['clip-vision', ['clip-text', 'clip-vision']]);
  });

  test.each([
    [
      'layoutlm',
      'LayoutLM is not among the models whose first scores can be read here: its tokens also get rows for their place on the page.',
    ],
    ['roberta-prelayernorm', 'RoBERTa-PreLayerNorm is not among'],
    ['nystromformer', 'Nyströmformer is not among'],
    ['longformer', 'Longformer is not among'],
    ['umt5', 'UMT5 is not among'],
    ['mpt', 'A model with one W_qkv, as nomic-bert, is not among'],
    [
      'big_bird',
      'config.json has the model_type "big_bird", which is not among those that can be read here: bert, ernie, distilbert,',
    ],
    ['cohere', 'config.json has the model_type "cohere"'],
    ['granite', 'config.json has the model_type "granite"'],
    ['imagegpt', 'config.json has the model_type "imagegpt"'],
    ['__proto__', 'config.json has the model_type "__proto__"'],
  ])('%s is refused, though its tensors may have another family’s names', async (model_type, sentence) => {
    for (const shapes of [bert(), llama, gpt2Shapes])
      expect(await refusal(configured(shapes, { model_type }))).toContain(sentence);
  });

  test('BioGPT’s names are OPT’s', async () => {
    const pre = { ...opt(8), ...norm('layers.0.self_attn_layer_norm') };
    expect(await refusal(configured(behind('biogpt.', pre), { model_type: 'biogpt' }))).toMatch(
      /^BioGPT is not among/,
    );
    // Its final norm tells it even without its prefix.
    expect(await refusal(open({ ...pre, ...norm('layer_norm') }, { family: 'opt' }))).toMatch(
      /^The file has a tensor “layer_norm.weight”, which OPT has not/,
    );
  });
});

test.each<[FamilyId, object, string]>([
  ['bert', { is_decoder: true }, 'config.json says is_decoder true; BERT can be read with false alone.'],
  [
    'bert',
    { add_cross_attention: true },
    'config.json says add_cross_attention true; BERT can be read with false alone.',
  ],
  ['bert', { use_task_id: true }, 'config.json says use_task_id true; BERT can be read with false alone.'],
  [
    'bert',
    { position_embedding_type: 'relative_key' },
    'config.json says position_embedding_type "relative_key"; BERT can be read with "absolute" alone.',
  ],
  [
    'bert',
    { position_embedding_type: 'absolute', is_decoder: false, use_cache: true },
    'It is taken for BERT.',
  ],
  ['bert', { position_embedding_type: null }, 'It is taken for BERT.'],
  ['roberta', { pad_token_id: 0 }, 'config.json says pad_token_id 0; RoBERTa can be read with 1 alone.'],
  ['roberta', { pad_token_id: 1 }, 'It is taken for RoBERTa.'],
  [
    'roberta',
    { is_decoder: true },
    'config.json says is_decoder true; RoBERTa can be read with false alone.',
  ],
  [
    'electra',
    { position_embedding_type: 'relative_key_query' },
    'config.json says position_embedding_type "relative_key_query"; ELECTRA can be read with "absolute" alone.',
  ],
  [
    'mpnet',
    { relative_attention_num_buckets: 64 },
    'config.json says relative_attention_num_buckets 64; MPNet can be read with 32 alone.',
  ],
  [
    'gpt2',
    { scale_attn_weights: 'no' },
    'config.json says scale_attn_weights "no"; GPT-2 can be read with true or false alone.',
  ],
  [
    'gpt2',
    { add_cross_attention: true },
    'config.json says add_cross_attention true; GPT-2 can be read with false alone.',
  ],
  ['gpt2', { scale_attn_by_inverse_layer_idx: true }, 'It is taken for GPT-2.'],
  [
    'gpt2',
    { scale_attn_by_inverse_layer_idx: 2 },
    'config.json says scale_attn_by_inverse_layer_idx 2; GPT-2 can be read with false or true alone.',
  ],
  [
    'whisper-decoder',
    { scale_embedding: true },
    'config.json says scale_embedding true; Whisper’s decoder can be read with false alone.',
  ],
  ['opt', { enable_bias: false }, 'config.json says enable_bias false; OPT can be read with true alone.'],
  [
    'opt',
    { layer_norm_elementwise_affine: false },
    'config.json says layer_norm_elementwise_affine false; OPT can be read with true alone.',
  ],
  [
    'opt',
    { do_layer_norm_before: 'yes' },
    'config.json says do_layer_norm_before "yes"; OPT can be read with true or false alone.',
  ],
])('%s with %j', async (family, members, sentence) => {
  const [, { shapes }] = cases.find(([, { wanted }]) => wanted.family === family) as (typeof cases)[0];
  const model_type = modelFamilies[family].types[0];
  expect(await refusal(configured(shapes, { model_type, ...members }))).toBe(sentence);
  // Also where the caller states the family.
  expect(await refusal(configured(shapes, members, { family }))).toBe(sentence);
});

test('OPT normalizes before its layers, or after them if config.json says so; its final norm goes with that', async () => {
  const bare = { ...opt(8), ...norm('layers.0.self_attn_layer_norm') };
  const ended = { ...bare, ...norm('final_layer_norm') };
  const before = 'each layer normalizes what it reads';
  const after = 'nothing normalizes what the first layer reads';
  const about = async (shapes: Shapes, config: object | undefined) => {
    const opening = config ? configured(shapes, { model_type: 'opt', ...config }) : open(shapes);
    return opening.then(
      (model) => model.about.match(new RegExp(`${before}|${after}`))?.[0],
      (error: Error) => error.message,
    );
  };
  const mismatch = (says: string, has: string) =>
    `config.json says that the layers normalize ${says} what they do, which does not go with ${has} final_layer_norm.weight in the file.`;
  expect(await about(ended, {})).toBe(before);
  expect(await about(ended, { do_layer_norm_before: true })).toBe(before);
  // Some checkpoints of this kind have no final norm.
  expect(await about(bare, { do_layer_norm_before: true, _remove_final_layer_norm: true })).toBe(before);
  expect(await about(bare, { do_layer_norm_before: false })).toBe(after);
  expect(await about(bare, {})).toBe(mismatch('before', 'no'));
  expect(await about(ended, { do_layer_norm_before: false })).toBe(mismatch('after', 'a'));
  expect(await about(ended, { _remove_final_layer_norm: true })).toBe(mismatch('before', 'a'));
  // Without a config.json its final norm tells.
  expect(await about(ended, undefined)).toBe(before);
  expect(await about(bare, undefined)).toBe(after);
});

test('RoPE: angles of another kind leave no term of the biases', async () => {
  const heads = { num_attention_heads: 2, rms_norm_eps: 0.25 };
  const shapes = { ...qwen2, 'layers.0.self_attn.q_proj.bias': [12], 'layers.0.self_attn.k_proj.bias': [6] };
  const term = async (config: object) =>
    (await (await configured(shapes, { model_type: 'qwen2', ...heads, ...config })).report()).rotary
      ?.positionTerm;
  for (const plainly of [
    {},
    { rope_scaling: null },
    { rope_parameters: { rope_type: 'default', rope_theta: 500 } },
  ])
    expect(await term(plainly)).toMatchObject({ rows: 2 });
  for (const other of [
    { rope_scaling: { type: 'linear', factor: 2 } },
    {
      rope_parameters: {
        rope_type: 'llama3',
        factor: 8,
        low_freq_factor: 1,
        high_freq_factor: 4,
        original_max_position_embeddings: 16,
      },
    },
  ])
    expect(await term(other)).toBeUndefined();
});
