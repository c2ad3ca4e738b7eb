// How a model is recognized by its header and config.json, tested on files whose data are zeros. The numbers
// of each family are tested in drawnModels.test.ts.
import { type FamilyId, FamilyUnknown, type OpenedModel, openModel, type Slices } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import { type FamilyDescriptor, hasJointMap, layerTensor } from '../../../build/package/model/descriptor.js';
import { familyIds, modelFamilies, namesOf } from '../../../build/package/model/families.js';
import { plain } from '../support/builds.ts';
import { file } from '../support/files.ts';

type Shapes = Record<string, readonly number[]>;

/** A file of these tensors, all of whose data are zeros. */
function headed(shapes: Shapes, dtypes: Record<string, string> = {}): Uint8Array {
  let at = 0;
  const widths: Record<string, number> = { F64: 8, F32: 4, I32: 4, F16: 2, BF16: 2 };
  const tensors = Object.entries(shapes).map(([name, shape]) => {
    const begin = at;
    const dtype = dtypes[name] ?? 'F16';
    at += (widths[dtype] ?? 1) * shape.reduce((count, extent) => count * extent, 1);
    return [name, { dtype, shape, data_offsets: [begin, at] }];
  });
  return file(JSON.stringify(Object.fromEntries(tensors)), at);
}
const slices = (name: string, bytes: Uint8Array): Slices => ({
  name,
  size: bytes.length,
  read: async (from, length) => bytes.subarray(from, from + length),
});
/** Opens a model without a config.json, as the family that is stated. */
const open = (shapes: Shapes, family: FamilyId | undefined, dtypes = {}) =>
  openModel(plain, slices('model.safetensors', headed(shapes, dtypes)), family ? { family } : {});
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
    (error: Error) => error.message,
  );

const d = 8;
const behind = (prefix: string, shapes: Shapes): Shapes =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [`${prefix}${name}`, shape]));

/**
 * The smallest file of a family, by its descriptor: tables, a norm, and the first layer's queries and keys.
 */
function smallest(family: FamilyId): Shapes {
  const descriptor: FamilyDescriptor = modelFamilies[family];
  const { tables, embeddingNorm, layer, transposed } = descriptor.tensors;
  const isRotary = descriptor.positions.kind === 'rotary';
  const shapes: Shapes = {
    [`${tables.token}.weight`]: [13, d],
    ...(tables.position && { [`${tables.position}.weight`]: [9, d] }),
    ...(tables.segment && { [`${tables.segment}.weight`]: [2, d] }),
  };
  const norm = embeddingNorm ?? layerTensor(descriptor, 0, 'attentionNorm');
  shapes[`${norm}.weight`] = [d];
  if (descriptor.norms.kind === 'layer_norm') shapes[`${norm}.bias`] = [d];
  for (const [part, rotaryRows] of [
    ['query', 12],
    ['key', 6],
  ] as const) {
    const rows = isRotary ? rotaryRows : hasJointMap(descriptor) ? 3 * d : d;
    const name = layerTensor(descriptor, 0, part);
    shapes[`${name}.weight`] = transposed ? [d, rows] : [rows, d];
    if (descriptor.biases.attention === true && !isRotary) shapes[`${name}.bias`] = [rows];
  }
  for (const part of ['queryNorm', 'keyNorm'] as const)
    if (layer[part]) shapes[`${layerTensor(descriptor, 0, part)}.weight`] = [3];
  return shapes;
}
const layouts = Object.fromEntries(familyIds.map((family) => [family, smallest(family)])) as Record<
  FamilyId,
  Shapes
>;
const { bert, gpt2, llama, qwen3 } = layouts;
const bidirectional = { causal: false, excludedRows: [0], markers: { before: 1, after: 1 } };
const rotaryDecoder = {
  causal: true,
  excludedRows: [0],
  markers: { before: 1, after: 0 },
  summands: ['token'],
};
const three = ['token', 'position', 'token_type'];
const expected: Partial<Record<FamilyId, object>> = {
  bert: { ...bidirectional, summands: three, positions: 9 },
  roberta: { ...bidirectional, summands: three, positions: 7 },
  distilbert: { ...bidirectional, summands: ['token', 'position'], positions: 9, epsilon: 1e-12 },
  gpt2: {
    causal: true,
    excludedRows: [],
    markers: { before: 0, after: 0 },
    summands: ['token', 'position'],
    positions: 9,
  },
  llama: { ...rotaryDecoder, positions: 64 },
  mistral: { ...rotaryDecoder, positions: 64 },
  qwen2: { ...rotaryDecoder, positions: 64 },
  qwen3: { ...rotaryDecoder, positions: 64 },
};

test.each(familyIds)('%s: what its header and its config.json say', async (family) => {
  const { sizes, norms, modelTypes, name, about, positions }: FamilyDescriptor = modelFamilies[family];
  const config = {
    [sizes.heads]: 2,
    ...(positions.kind === 'rotary' && { [sizes.positions]: 64 }),
    ...(typeof norms.epsilon === 'string' && { [norms.epsilon]: 0.25 }),
  };
  const same = { family, name, about, d_model: d, heads: 2, vocabulary: 13, readsText: true };
  for (const model_type of modelTypes) {
    const model = await configured(layouts[family], { model_type, ...config });
    expect(model).toMatchObject({ epsilon: 0.25, ...same, ...expected[family] });
  }
  // The files contain no complete layer.
  expect((await open(layouts[family], family)).layers).toBe(0);
});

test('layers with a window are listed, consecutive ones by their ends and many by the first eight', async () => {
  const about = async (kinds: string) => {
    const layer_types = [...kinds].map((kind) => (kind === 's' ? 'sliding_attention' : 'full_attention'));
    const window = { use_sliding_window: true, sliding_window: 1, max_position_embeddings: 64 };
    const config = { model_type: 'qwen2', num_attention_heads: 2, num_hidden_layers: kinds.length };
    const model = await configured(llama, { ...config, ...window, layer_types });
    expect(model.positions).toBe(64);
    return model.about.slice(modelFamilies.qwen2.about.length);
  };
  const rest = 'a query sees 1 key, itself and those before it (sliding_window).';
  expect(await about('fff')).toBe('');
  expect(await about('fsf')).toBe(` In layer 1 ${rest}`);
  expect(await about('fsss')).toBe(` In layers 1 to 3 ${rest}`);
  expect(await about('sfsfs')).toBe(` In layers 0, 2 and 4 ${rest}`);
  expect(await about('sf'.repeat(10))).toBe(` In layers 0, 2, 4, 6, 8, 10, 12, 14 and 2 more ${rest}`);
});

test('a missing table is named, and so is an adapter', async () => {
  const { 'embeddings.word_embeddings.weight': _, ...without } = bert;
  expect(await refusal(open(without, 'bert'))).toBe(
    'The file lacks a tensor “embeddings.word_embeddings.weight”, which BERT has. Give the whole checkpoint, or another family.',
  );
  const adapter = { 'base_model.model.encoder.layer.0.attention.self.query.lora_A.weight': [2, d] };
  expect(await refusal(open(adapter, 'bert'))).toContain('of an adapter (LoRA). Merge it into the weights');
});

test('names may have a prefix; two models of one family in a file are refused', async () => {
  for (const [first, second] of [
    ['question_model.', 'ctx_model.'],
    ['', 'ema.'],
  ] as const)
    expect(await refusal(open({ ...behind(first, bert), ...behind(second, bert) }, 'bert'))).toBe(
      `The file has 2 models: their tensors begin with “${first}”, “${second}”. Save one of them in a file of its own.`,
    );
  // A prefix tells nothing about the family, and ends in a dot.
  for (const prefix of ['roberta.', '_orig_mod.', 'module._orig_mod.'])
    expect(await open(behind(prefix, bert), 'bert')).toMatchObject({ name: 'BERT' });
  expect(await refusal(open(behind('x', bert), 'bert'))).toMatch(
    /^These are not the tensors of BERT \(“xembed/,
  );
});

test('of two models of different families in a file, the stated one is read', async () => {
  for (const family of ['gpt2', 'bert'] as const)
    expect((await open({ ...bert, ...gpt2 }, family)).family).toBe(family);
});

test('the width of a head is that of its norm, or else its share of the queries', async () => {
  const rotary = async (shapes: Shapes, family: FamilyId, heads: number) =>
    (await (await openModel(plain, slices('model.safetensors', headed(shapes)), { family, heads })).report())
      .rotary;
  expect(await rotary(qwen3, 'qwen3', 4)).toEqual({ base: 10_000, keyHeads: 2 });
  expect(await rotary(llama, 'llama', 2)).toEqual({ base: 10_000, keyHeads: 1 });
});

test('dtypes and shapes of tables', async () => {
  const table = 'embeddings.word_embeddings.weight';
  for (const dtype of ['F64', 'F32', 'F16', 'BF16'])
    expect(await open(bert, 'bert', { [table]: dtype }), dtype).toMatchObject({ vocabulary: 13 });
  expect(await refusal(open(bert, 'bert', { [table]: 'I32' }))).toBe(
    `Tensor “${table}” has dtype “I32”; F64, F32, F16 and BF16 can be read.`,
  );
  expect(await refusal(open({ ...bert, [table]: [0, d] }, 'bert'))).toBe(
    `Tensor “${table}” must have shape [vocabulary, d] to fit the other tensors; it has [0, 8].`,
  );
  const position = 'embeddings.position_embeddings.weight';
  expect(await refusal(open({ ...bert, [position]: [9, 7] }, 'bert'))).toBe(
    `Tensor “${position}” must have shape [positions, 8] to fit the other tensors; it has [9, 7].`,
  );
  const { [position]: _, ...less } = bert;
  expect(await refusal(open(less, 'bert'))).toBe(`The file lacks the tensor “${position}”.`);
});

test('a long name is cut after 80 characters', async () => {
  const sentence = async (prefix: string) => {
    const { 'wpe.weight': _, ...less } = gpt2;
    return refusal(open(behind(prefix, less), 'gpt2'));
  };
  expect(await sentence(`${'n'.repeat(80)}.`)).toBe(`The file lacks the tensor “${'n'.repeat(80)}…”.`);
  const exactly = `${'m'.repeat(80 - 'wpe.weight'.length - 1)}.`;
  expect(await sentence(exactly)).toBe(`The file lacks the tensor “${exactly}wpe.weight”.`);
});

test('the refusal of an unknown file names its first three tensors', async () => {
  const four = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, [1]]));
  const all = `These are not the tensors of ${namesOf(familyIds, 'or')}`;
  expect(await refusal(open(four, undefined))).toBe(`${all} (“a”, “b”, “c”).`);
  expect(await refusal(open({}, undefined))).toBe(`${all} (there are none).`);
});

test('a quantized file is recognized by names and dtypes of its tensors', async () => {
  const advice = 'Take the checkpoint of F32, F16 or BF16 that it was made of.';
  for (const kind of [
    'qweight',
    'scales',
    'W_q',
    'weight_scale_inv',
    'SCB',
    'quant_state.bitsandbytes__nf4',
  ]) {
    expect(await refusal(open({ ...bert, [`x.${kind}`]: [1] }, 'bert', { [`x.${kind}`]: 'I32' }))).toBe(
      `The file is quantized: it has “x.${kind}”. ${advice}`,
    );
    expect(await refusal(open({ ...bert, [`x${kind}`]: [1] }, 'bert'))).toBe('It is taken for BERT.');
  }
  const name = 'embeddings.LayerNorm.bias';
  expect(await refusal(open(bert, 'bert', { [name]: 'F8_E4M3' }))).toBe(
    `The file is quantized: it has “${name}” of dtype “F8_E4M3”. ${advice}`,
  );
});

describe('a family is not guessed', () => {
  test('a file without a config.json is not opened, and its error names the families that it fits', async () => {
    const candidates = async (shapes: Shapes) => {
      const error = await open(shapes, undefined).catch((thrown: unknown) => thrown);
      if (!(error instanceof FamilyUnknown)) return error;
      expect(error).toBeInstanceOf(RangeError);
      expect(error.message).toBe(
        `There is no config.json with a model_type, and tensors alone do not tell which model this is: it may be ${namesOf(error.families, 'or')}. Put its config.json beside it, or state the family: ${error.families.join(', ').replace(/, ([^,]*)$/, ' or $1')}.`,
      );
      return error.families;
    };
    const alike = (name: string, value: string) =>
      familyIds.filter((family) => JSON.stringify(modelFamilies[family]).includes(`"${name}":"${value}"`));
    const berts = alike('segment', 'embeddings.token_type_embeddings');
    const normed = alike('queryNorm', 'self_attn.q_norm');
    const llamas = alike('token', 'embed_tokens').filter((family) => !normed.includes(family));
    expect([berts.slice(0, 2), llamas]).toEqual([
      ['bert', 'roberta'],
      ['llama', 'mistral', 'qwen2'],
    ]);
    for (const family of ['distilbert', 'gpt2', 'qwen3'] as const)
      expect(await candidates(layouts[family])).toEqual([family]);
    expect(await candidates(bert)).toEqual(berts);
    expect(await candidates(llama)).toEqual(llamas);
    // If a file has two models, both count; a model with an unknown tensor does not.
    const two = { ...bert, ...behind('b.', llama) };
    expect(await candidates(two)).toEqual([...berts, ...llamas]);
    expect(await candidates({ ...two, 'embeddings.other.weight': [1] })).toEqual(llamas);
    expect(await candidates({ ...bert, 'embeddings.other.weight': [1] })).toMatchObject({
      message: expect.stringContaining('“embeddings.other.weight”, which BERT does not have'),
    });
  });

  test('an unknown tensor among those of the model is refused, for every family', async () => {
    for (const family of familyIds) {
      for (const known of Object.keys(layouts[family])) {
        const stranger = `${known.split('.')[0]}.stranger.weight`;
        expect(await refusal(open({ ...layouts[family], [stranger]: [1] }, family)), known).toBe(
          `The file has a tensor “${stranger}”, which ${modelFamilies[family].name} does not have, so its effect on the scores is unknown. Pass a checkpoint without it.`,
        );
      }
    }
    // Beside the model there may be anything: heads for a task, or another model.
    for (const besides of ['pooler.dense.weight', 'cls.predictions.bias', 'lm_head.weight', 'o.encoder.x'])
      expect(await refusal(open({ ...bert, [besides]: [1] }, 'bert'))).toBe('It is taken for BERT.');
  });

  test('all tensors of published layouts are known', async () => {
    const published: [FamilyId, string[]][] = [
      [
        'bert',
        ['embeddings.position_ids', ...['value.bias', 'query.weight'].map((x) => `attention.self.${x}`)],
      ],
      ['bert', ['attention.output.LayerNorm.gamma', 'intermediate.dense.bias', 'output.LayerNorm.bias']],
      ['gpt2', ['h.0.attn.bias', 'h.11.attn.masked_bias', 'h.3.mlp.c_proj.bias', 'ln_f.weight']],
      ['qwen2', ['layers.0.self_attn.o_proj.weight', 'layers.31.mlp.gate_proj.weight', 'norm.weight']],
      ['llama', ['layers.0.self_attn.rotary_emb.inv_freq', 'layers.1.post_attention_layernorm.weight']],
      ['qwen3', ['layers.3.self_attn.k_norm.weight']],
    ];
    for (const [family, more] of published) {
      const named = more.map((name) =>
        /^(attention|intermediate|output)\./.test(name) ? `encoder.layer.11.${name}` : name,
      );
      const all = { ...layouts[family], ...Object.fromEntries(named.map((name) => [name, [1]])) };
      expect(await refusal(open(all, family)), family).toMatch(/^It is taken for/);
    }
  });
});

describe('the model_type of config.json', () => {
  const types = familyIds.flatMap((family): string[] => [...modelFamilies[family].modelTypes]);

  test('is of one family', () => {
    expect(new Set(types).size).toBe(types.length);
    expect(types).toContain('xlm-roberta');
  });

  test('must agree with the family that is stated, and with the tensors', async () => {
    const refusalOf = (config: object, options = {}) => refusal(configured(bert, config, options));
    expect(await refusalOf({ model_type: 'roberta' }, { family: 'bert' })).toBe(
      'family is "bert", but config.json has the model_type "roberta": RoBERTa. Leave family out.',
    );
    expect(await refusalOf({ model_type: 'bert' }, { family: 'bert' })).toBe('It is taken for BERT.');
    expect(await refusalOf({}, { family: 'roberta' })).toBe('It is taken for RoBERTa.');
    expect(await refusalOf({}, { family: 'banana' })).toMatch(/^family must be one of bert, /);
    await expect(configured(bert, { model_type: 7 })).rejects.toThrow(
      new TypeError('model_type in config.json must be a text; it is 7.'),
    );
  });

  test.each(['electra', 'opt', 't5', 'gemma', '__proto__'])('%s is refused by what is read', async (type) => {
    for (const shapes of [bert, llama, gpt2])
      expect(await refusal(configured(shapes, { model_type: type }))).toBe(
        `config.json has the model_type "${type}", which is not among those that can be read here: ${types.join(', ').replace(/, ([^,]*)$/, ' and $1')}.`,
      );
  });
});
