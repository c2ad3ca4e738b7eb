// Tiny models in memory: all their layers computed by hand, and the report of their tables.
import { type FamilyId, openModel, type Slices, type Table, type TransformerLayer } from 'add-or-concatenate';
import { describe, expect, test, vi } from 'vitest';
import { plain } from '../support/builds.ts';
import { fileOf } from '../support/files.ts';
import { dot, largestDifference, norm, rowOf, rowsOf, sumOf, tableOf } from '../support/numbers.ts';
import { drawn, drawnLayer, json, layerNorm, linear, residentBytes } from './tinyMinilm.ts';

const [d, heads, inner, vocabulary, positions] = [4, 2, 6, 12, 10];
type Tensors = Record<string, { dtype: string; shape: number[]; bytes: Uint8Array }>;

const tensor = (data: ArrayLike<number>, ...shape: number[]): Tensors[string] => ({
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(Float32Array.from(data).buffer),
});
const tensorOf = ({ data, rows, columns }: Table) => tensor(data, rows, columns);
const linearOf = (
  name: string,
  { weight, bias }: { weight: Table; bias?: Float64Array | undefined },
): Tensors => ({
  [`${name}.weight`]: tensorOf(weight),
  ...(bias && { [`${name}.bias`]: tensor(bias, bias.length) }),
});
const normOf = (name: string, { gamma, beta }: ReturnType<typeof layerNorm>): Tensors => ({
  [`${name}.weight`]: tensor(gamma, gamma.length),
  [`${name}.bias`]: tensor(beta, beta.length),
});

const inMemory = (name: string, bytes: Uint8Array): Slices => ({
  name,
  size: bytes.length,
  read: async (offset, length) => bytes.slice(offset, offset + length),
});
const open = (
  tensors: Tensors,
  config: object | undefined = { num_attention_heads: heads, layer_norm_eps: 1e-12 },
) =>
  openModel(
    plain,
    [
      inMemory('model.safetensors', fileOf(tensors)),
      ...(config ? [inMemory('config.json', json(config))] : []),
    ],
    { family: familyMeant(tensors) },
  );
/** Recognizes the family of a file without a config.json by its tensors. */
const familyMeant = (tensors: Tensors): FamilyId => {
  const names = Object.keys(tensors);
  if (names.includes('wpe.weight')) return 'gpt2';
  if (names.some((name) => name.endsWith('input_layernorm.weight'))) return 'qwen2';
  return tensors['embeddings.token_type_embeddings.weight']?.shape[0] === 1 ? 'roberta' : 'bert';
};
const outcomeOf = (run: Promise<unknown>) =>
  run.then(
    () => 'It did not fail.',
    (error: Error) => `${error.name}: ${error.message}`,
  );

const tables = {
  token: drawn(vocabulary, d, 1),
  position: drawn(positions, d, 2),
  segment: drawn(2, d, 3),
  embeddingNorm: layerNorm(d, 4),
};
const layers = [drawnLayer(d, inner, 100), drawnLayer(d, inner, 200)];
const bertNames = {
  query: 'attention.self.query',
  key: 'attention.self.key',
  value: 'attention.self.value',
  output: 'attention.output.dense',
  attentionNorm: 'attention.output.LayerNorm',
  up: 'intermediate.dense',
  down: 'output.dense',
  mlpNorm: 'output.LayerNorm',
};
const ofLayers: Tensors = {};
for (const [number, layer] of (layers as TransformerLayer[]).entries()) {
  for (const [member, name] of Object.entries(bertNames)) {
    const fullName = `encoder.layer.${number}.${name}`;
    const value = layer[member as keyof typeof bertNames];
    Object.assign(
      ofLayers,
      value && 'gamma' in value ? normOf(fullName, value as never) : linearOf(fullName, value as never),
    );
  }
}
const embeddings = (segments: number): Tensors => ({
  'embeddings.word_embeddings.weight': tensorOf(tables.token),
  'embeddings.position_embeddings.weight': tensorOf(tables.position),
  'embeddings.token_type_embeddings.weight': tensorOf(drawn(segments, d, 3)),
  ...normOf('embeddings.LayerNorm', tables.embeddingNorm),
});
const bert = { ...embeddings(2), ...ofLayers };
const gpt2: Tensors = {
  'wte.weight': tensorOf(tables.token),
  'wpe.weight': tensorOf(tables.position),
  'h.0.attn.c_attn.weight': tensorOf(drawn(d, 3 * d, 11)),
  'h.0.attn.c_attn.bias': tensor(drawn(1, 3 * d, 12).data, 3 * d),
  ...normOf('h.0.ln_1', layerNorm(d, 13)),
};
const gpt2Config = { n_head: heads, layer_norm_epsilon: 1e-12 };

const ids = [3, 7, 2, 7, 11];
const handStates = async (
  input: Parameters<typeof plain.transformerStack>[0],
  summands: Record<string, Table>,
) => {
  const stack = plain.transformerStack({ d_model: d, heads, ...(input as object) });
  for (const layer of layers) await stack.addLayer(layer);
  const run = await stack.forward(summands as never);
  const states = [0, 1, 2].map((count) => run.state(count).data);
  stack.delete();
  return states;
};
const pick = (table: Table<Float64Array>, rows: readonly number[]) =>
  tableOf(rows.map((row) => [...rowOf(table, row)]));

describe('all layers', () => {
  const summands = {
    token: pick(tables.token, ids),
    position: pick(
      tables.position,
      ids.map((_, place) => place),
    ),
    segment: pick(
      tables.segment,
      ids.map(() => 0),
    ),
  };

  test('the activation is the one that config.json gives the family; without one it is the exact GELU', async () => {
    const expected = async (activation: 'gelu' | 'gelu_tanh' | 'relu' | 'silu') => {
      const input = { d_model: d, heads, activation, embeddingNorm: tables.embeddingNorm };
      return (await handStates(input, summands))[2] as Float64Array;
    };
    for (const [config, activation] of [
      [{}, 'gelu'],
      [{ hidden_act: 'gelu' }, 'gelu'],
      [{ hidden_act: 'gelu_new' }, 'gelu_tanh'],
      [{ hidden_act: 'gelu_pytorch_tanh' }, 'gelu_tanh'],
      [{ hidden_act: 'relu' }, 'relu'],
      [{ hidden_act: 'silu' }, 'silu'],
      // The names that DistilBERT and GPT-2 have for the activation.
      [{ activation: 'gelu_new', activation_function: 'relu' }, 'gelu'],
    ] as const) {
      const model = await open(bert, { num_attention_heads: heads, layer_norm_eps: 1e-12, ...config });
      const forward = await model.forward({ ids });
      expect(forward.state(2).data, JSON.stringify(config)).toEqual(await expected(activation));
      model.delete();
    }
    expect(largestDifference(await expected('gelu'), await expected('gelu_tanh'))).toBeGreaterThan(1e-7);
    const model = await open(bert, {
      num_attention_heads: heads,
      layer_norm_eps: 1e-12,
      hidden_act: 'swish',
    });
    expect(await outcomeOf(model.forward({ ids }))).toBe(
      'RangeError: config.json names the activation "swish"; gelu, gelu_new, gelu_pytorch_tanh, relu and silu can be run here.',
    );
  });

  test('progress covers all that will be read, from the start', async () => {
    const model = await open(bert);
    const heard: [number, number][] = [];
    await model.forward({ ids }, { layers: 1, progress: (bytes, of) => heard.push([bytes, of]) });
    // Four maps of d by d and two of d by inner, their biases, and two norms; then the norm of the
    // embedding.
    const layer = 4 * (4 * (d * d + d) + (inner * d + inner) + (d * inner + d) + 4 * d);
    expect(heard.at(-1)).toEqual([layer + 8 * d, layer + 8 * d]);
    expect(heard.every(([, of]) => of >= layer)).toBe(true);
    expect(heard.map(([bytes]) => bytes)).toEqual([...heard.map(([bytes]) => bytes)].sort((a, b) => a - b));
    model.delete();
  });

  test('a failed forward pass or decomposition frees its memory, and so does delete()', async () => {
    const before = residentBytes();
    const bad = linear(d, d, 1);
    bad.weight.data[5] = Number.NaN;
    for (const part of ['value', 'query'] as const) {
      const name = `encoder.layer.0.attention.self.${part}`;
      const model = await open({ ...bert, ...linearOf(name, bad) });
      expect(await outcomeOf(model.forward({ ids }))).toContain('must be finite');
      expect(await outcomeOf(model.decompose({ ids }))).toContain(
        part === 'query' ? 'must be finite' : 'It did not',
      );
      model.delete();
      expect(residentBytes()).toBe(before);
    }
    const model = await open(bert);
    await model.decompose({ ids });
    await model.forward({ ids });
    expect(residentBytes()).toBeGreaterThan(before);
    model.delete();
    expect(residentBytes()).toBe(before);
  });

  test('a file without a complete layer has none that can be run, and a model with RoPE has tokens as its only summands', async () => {
    const model = await open(gpt2, gpt2Config);
    expect([model.layers, model.summands]).toEqual([0, ['token', 'position']]);
    expect(await outcomeOf(model.forward({ ids }))).toBe(
      'RangeError: The file lacks the tensor “h.0.mlp.c_proj.weight”.',
    );
    expect((await open(rope({}), undefined)).summands).toEqual(['token']);
    expect((await open(bert)).summands).toEqual(['token', 'position', 'token_type']);
  });

  test('a gap between layers is refused, and so is a model with RoPE without config.json', async () => {
    const moved = Object.entries(bert).map(([name, value]) => [
      name.replace('.layer.1.', '.layer.2.'),
      value,
    ]);
    const rotaryTensors = {
      ...rope({}),
      'model.layers.0.mlp.down_proj.weight': tensorOf(drawn(d, inner, 9)),
    };
    for (const [tensors, epsilon, why] of [
      [Object.fromEntries(moved), 'layer_norm_eps', 'The file lacks the tensor “encoder.layer.1.output'],
      [
        rotaryTensors,
        'rms_norm_eps',
        'Without a config.json with a model_type, nothing says what the layers do',
      ],
    ] as const) {
      const model = await open(tensors, { num_attention_heads: heads, [epsilon]: 1e-12 });
      expect(await outcomeOf(model.forward({ ids }))).toContain(`RangeError: ${why}`);
    }
  });
});

/** The tensors of a model with RoPE, with `q` channels of queries and `k` of keys. */
function rope({ q = 8, k = 4, queryBias = true, keyBias = true }): Tensors {
  const name = 'model.layers.0.self_attn';
  const [query, key] = [linear(q, d, 20), linear(k, d, 21)];
  return {
    'model.embed_tokens.weight': tensorOf(tables.token),
    'model.layers.0.input_layernorm.weight': tensor(new Float32Array(d).fill(1), d),
    ...linearOf(`${name}.q_proj`, queryBias ? query : { weight: query.weight }),
    ...linearOf(`${name}.k_proj`, keyBias ? key : { weight: key.weight }),
  };
}

test('the cost of reading a layer does not grow with the number of layers in the file', async () => {
  const many: Tensors = { ...bert };
  const count = 60;
  for (let layer = 2; layer < count; layer++)
    for (const [name, entry] of Object.entries(bert))
      if (name.includes('.layer.1.')) many[name.replace('.layer.1.', `.layer.${layer}.`)] = entry;
  const model = await open(many);
  expect(model.layers).toBe(count);
  const looks = vi.spyOn(String.prototype, 'startsWith');
  try {
    await model.forward({ ids: [1, 2] }, { scores: false });
    // Each tensor is looked at once, not once for each layer.
    expect(looks.mock.calls.length).toBeLessThan(2 * Object.keys(many).length);
  } finally {
    looks.mockRestore();
    model.delete();
  }
});

test('a model whose numbers overflow has no means, and says why', async () => {
  const name = 'encoder.layer.1.output.dense.weight';
  const large = tensorOf({ data: new Float64Array(d * inner).fill(3e38), rows: d, columns: inner });
  const sentences = Array.from({ length: 12 }, (_, at) => ({ ids: [1, 3 + (at % 5), 4, 5, 6, 2] }));
  const means = async (tensors: Tensors) => (await open({ ...bert, ...tensors })).corpusMeans({ sentences });
  expect(await outcomeOf(means({ [name]: large }))).toBe(
    'RangeError: After 2 layers the states overflow float32, in which a model runs; they have no means.',
  );
  expect(await outcomeOf(means({}))).toBe('It did not fail.');
});

describe('the report', () => {
  const product = (a: Table, b: Table) => rowsOf(a).flatMap((x) => rowsOf(b).map((y) => dot(x, y)));
  const less = (table: Table) => {
    const middle = sumOf(rowsOf(table)).map((value) => value / table.rows);
    return tableOf(rowsOf(table).map((row) => [...row].map((value, c) => value - (middle[c] as number))));
  };

  test('of all rows but the padding, positions from the first one in use', async () => {
    const model = await open({ ...embeddings(1), ...ofLayers });
    const all = await model.report();
    // Row 1 is padding, and positions begin in row 2.
    const [words, places] = [
      [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
      [2, 3, 4, 5, 6, 7, 8, 9],
    ];
    expect(all.token?.rows).toEqual(words);
    expect(all.position?.rows).toEqual(places);
    const rows = pick(tables.token, words);
    expect(all.token?.lengths.mean).toBeCloseTo(
      (sumOf(rowsOf(rows).map((row) => [norm(row)]))[0] as number) / words.length,
      12,
    );
    // Position 0 is excluded, so the rest are centred without it.
    const used = pick(tables.position, places.slice(1));
    const curve = plain.overlapCurve({ tokens: less(rows), positions: less(used), k: d });
    expect(all.curve?.dimensions).toBe(curve.dimensions);
    expect(largestDifference(all.curve?.shares as Float64Array, curve.shares)).toBeLessThan(1e-10);
    const rowsBy = { raw: pick(tables.position, places), centred: less(used) };
    for (const gauge of ['raw', 'centred'] as const) {
      const table = rowsBy[gauge];
      const square = {
        data: Float64Array.from(product(table, table)),
        rows: table.rows,
        columns: table.rows,
      };
      const { mean, means } = plain.offsetMeans(square);
      expect(all.offsets?.[gauge].mean).toBeCloseTo(mean, 13);
      expect(largestDifference(all.offsets?.[gauge].means as Float64Array, means)).toBeLessThan(1e-13);
    }
    expect(all.rotary).toBeUndefined();
    expect(await outcomeOf(model.report(3 as never))).toBe('TypeError: options must be an object; it is 3.');
  });

  test('of tokens alone', async () => {
    const words = await (await open(rope({}), {})).report();
    expect([words.position, words.cosines, words.curve, words.offsets]).toEqual(Array(4).fill(undefined));
    expect(words.token?.rows).toHaveLength(vocabulary);
  });

  describe('of a model with RoPE', () => {
    const rotary = async (tensors: Tensors, config?: object) =>
      (await (await open(tensors, config)).report()).rotary;
    const of = (count: number, more: object = {}) => ({ num_attention_heads: count, ...more });

    test('base and heads are those of config.json and of the shapes', async () => {
      expect(await rotary(rope({ queryBias: false, keyBias: false }), of(2))).toEqual({
        base: 10_000,
        keyHeads: 1,
      });
      const bare = await (
        await openModel(plain, [inMemory('model.safetensors', fileOf(rope({})))], { family: 'qwen2' })
      ).report();
      expect(bare.rotary).toEqual({
        base: 10_000,
        keyHeads: undefined,
      });
      expect((await rotary(rope({}), of(2, { rope_theta: 500 })))?.base).toBe(500);
      expect((await rotary(rope({}), of(2, { rope_parameters: { rope_theta: 70 } })))?.base).toBe(70);
    });

    test('heads that do not fit the shapes are refused', async () => {
      const why = (count: number, q: number, k: number) =>
        `RangeError: config.json gives ${count} heads, which do not fit queries of ${q} and keys of ${k} channels.`;
      expect(await outcomeOf(rotary(rope({}), of(3)))).toBe(why(3, 8, 4));
      expect(await outcomeOf(rotary(rope({ q: 9 }), of(2)))).toBe(why(2, 9, 4));
      for (const k of [2, 6]) expect(await outcomeOf(rotary(rope({ k }), of(2)))).toBe(why(2, 8, k));
      expect(await outcomeOf(rotary(rope({ q: 12, k: 8 }), of(3)))).toBe(why(3, 12, 8));
      expect((await rotary(rope({ q: 12, k: 12 }), of(3)))?.keyHeads).toBe(3);
    });
  });
});
