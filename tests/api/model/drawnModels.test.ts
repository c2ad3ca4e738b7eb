// Every family through all its layers, against numpy: tests/reference/drawn_models.py draws models of each
// family, in the layouts of published files. Another SUPERPOSE_SEED draws other models.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CorpusMeans, type FamilyId, type Floats, openModel, type Slices } from 'add-or-concatenate';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { familyIds } from '../../../build/package/model/families.js';
import { withoutNumpy } from '../../tools/support/numpy.ts';
import { builds, plain } from '../support/builds.ts';
import { drawnModels, type Stored, type StoredNumbers, drawnSeed as seed } from '../support/drawnModels.ts';
import { combined } from '../support/naive.ts';
import { largest, largestDifference } from '../support/numbers.ts';

interface Drawn extends Record<'states' | 'logits' | 'attention' | 'last' | 'embedding', Stored> {
  name: string;
  family: FamilyId;
  ids: number[];
  excludedRows: number[];
  causal: boolean;
  terms: Record<string, Stored>;
  shares: Record<string, Stored>;
  /** The means of states, and their means at each position; then the same for queries and keys. */
  mean: Stored;
  position: Stored;
  query: Stored;
  key: Stored;
  places: [query: Stored, key: Stored];
  /** How far the results of other readings of the same file are from these numbers. */
  wrong: Record<string, number>;
}

const within = 3e-5;
/** The epsilon of float32. */
const epsilon = 2 ** -23;
/** The published settings, except for the trained length. */
const llama3 = { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 };
const folder = mkdtempSync(join(tmpdir(), 'superpose-models-'));
afterAll(() => rmSync(folder, { recursive: true }));

(withoutNumpy ? describe.skip : describe)('models drawn at random', () => {
  let drawn: { names: string[]; layers: number; heads: number; cases: Drawn[] };
  let stored: StoredNumbers;
  beforeAll(async () => {
    ({ drawn, stored } = await drawnModels<typeof drawn>('models', seed, folder));
  }, 120_000);

  const open = (name: string, by = plain, options = {}) => openModel(by, join(folder, name), options);
  const caseOf = (name: string) => drawn.cases.find((model) => model.name === name) as Drawn;
  const expectNear = (what: string, { name }: Drawn, ours: Floats, theirs: Floats, bound: number) =>
    expect(largestDifference(ours, theirs), `seed ${seed}, ${name}, ${what}`).toBeLessThan(bound);
  const each = (run: (layer: number) => void) => {
    for (let layer = 0; layer < drawn.layers; layer++) run(layer);
  };

  test('every family is among them', () => {
    expect(new Set(drawn.cases.map(({ family }) => family))).toEqual(new Set(familyIds));
  });

  test.each(builds)(
    'states, logits, attention and the embedding, $simd',
    async ({ superpose: by }) => {
      for (const drawnModel of drawn.cases) {
        const { ids, family, causal, excludedRows } = drawnModel;
        const model = await open(drawnModel.name, by);
        expect(model).toMatchObject({ family, layers: drawn.layers, causal, excludedRows });
        const run = await model.forward({ ids });
        const near = (what: string, ours: Floats, theirs: Float64Array) =>
          expectNear(what, drawnModel, ours, theirs, within);
        near('state 0', run.state(0).data, stored(drawnModel.states, 0));
        each((layer) => {
          near(`state ${layer + 1}`, run.state(layer + 1).data, stored(drawnModel.states, layer + 1));
          near(`logits ${layer}`, run.logits(layer), stored(drawnModel.logits, layer));
          near(`attention ${layer}`, run.attention(layer), stored(drawnModel.attention, layer));
        });
        near('last', run.last().data, stored(drawnModel.last));
        near('embedding', run.embedding, stored(drawnModel.embedding));
        model.delete();
      }
    },
    120_000,
  );

  /** Means over a corpus, as corpusMeans() gives them. */
  const meansOf = ({ ids, excludedRows, mean, position, query, key, places }: Drawn) => {
    const at = (of: Stored, rows: Stored, layer: number) => ({
      mean: stored(of, layer),
      position: { data: stored(rows, layer), rows: ids.length, columns: of.shape[1] as number },
      first: excludedRows.length,
    });
    return {
      states: Array.from({ length: drawn.layers + 1 }, (_, layer) => at(mean, position, layer)),
      scores: Array.from({ length: drawn.layers }, (_, layer) => ({
        query: at(query, places[0], layer),
        key: at(key, places[1], layer),
      })),
    } as unknown as CorpusMeans;
  };

  /** Each sentence has different tokens. */
  const sentences = Array.from({ length: 12 }, (_, at) => ({
    ids: Array.from({ length: 12 }, (_, row) => 3 + ((5 * at + 7 * row + at * row) % 20)),
  }));

  test('every term of every layer by direct, streams and mean, in both gauges, and their shares', async () => {
    for (const drawnModel of drawn.cases) {
      const { ids } = drawnModel;
      const model = await open(drawnModel.name);
      const means = meansOf(drawnModel);
      for (const [kind, shares] of Object.entries(drawnModel.shares)) {
        const [way, gauge] = kind.split(' ') as ['direct' | 'streams' | 'mean', 'canonical' | 'raw'];
        // The oracle's raw shares are over all rows.
        const rows = gauge === 'raw' && { excludedRows: [] };
        for (let layer = 0; layer < drawn.layers; layer++) {
          const scores = await model.decompose({ ids }, { layer, way, gauge, means, ...rows });
          expect(scores.parts).toEqual(
            way === 'mean'
              ? ['position', 'content', 'constant']
              : [...model.summands, 'attention', 'mlp', 'constant'],
          );
          const theirs = stored(drawnModel.terms[kind] as Stored, layer);
          // Relative to the largest term, because large terms may cancel.
          const bound = 64 * epsilon * Math.max(1, largest(theirs));
          expect(Math.max(...scores.residuals)).toBeLessThan(bound);
          expectNear(`terms ${kind} ${layer}`, drawnModel, scores.terms, theirs, bound);
          // A share is divided by a variance, which may be small.
          expectNear(`shares ${kind} ${layer}`, drawnModel, scores.shares, stored(shares, layer), 4e-5);
        }
      }
      if (!model.summands.includes('position')) continue;
      // The shorter computation of the first layer's scores.
      const short = await model.decompose({ ids });
      expect(short.parts).toEqual([...model.summands, 'constant']);
      expectNear('first scores', drawnModel, short.logits, stored(drawnModel.logits, 0), within);
      const groups = { ...Object.fromEntries(model.summands.map((part) => [part, [part]])) };
      const long = await model.decompose(
        { ids },
        { layer: 0, groups: { ...groups, constant: ['constant', 'attention', 'mlp'] } },
      );
      expectNear('first terms', drawnModel, short.terms, long.terms, within);
      expectNear('first shares', drawnModel, short.shares, long.shares, 4e-5);
      model.delete();
    }
  }, 120_000);

  test('every term of every layer by mechanism, which is the default way of models with RoPE', async () => {
    const pairs: Record<string, [query: number, key: number]> = {
      'token-token': [0, 0],
      'token-position': [0, 1],
      'position-token': [1, 0],
      'position-position': [1, 1],
      'token-offset': [3, 3],
      key: [2, 0],
      query: [0, 2],
    };
    expect(Object.keys(pairs)).toEqual(drawn.names);
    for (const drawnModel of drawn.cases) {
      const { ids, excludedRows } = drawnModel;
      const [n, first] = [ids.length, excludedRows.length];
      const model = await open(drawnModel.name);
      const isRotary = !model.summands.includes('position');
      const options = { means: meansOf(drawnModel), ...(!isRotary && { way: 'mechanism' as const }) };
      for (let layer = 0; layer < drawn.layers; layer++) {
        const scores = await model.decompose({ ids }, { ...(layer > 0 && { layer }), ...options });
        expect(scores).toMatchObject({
          parts: ['token', 'position', 'constant', 'offset'],
          excludedRows,
          gauge: 'canonical',
        });
        expect(Math.max(...scores.residuals)).toBeLessThan(within);
        const expected = new Float64Array(drawn.heads * 16 * n * n);
        const theirs = stored(drawnModel.terms.mechanism as Stored, layer);
        const logits = stored(drawnModel.logits, layer);
        for (let head = 0; head < drawn.heads; head++) {
          for (const [term, [q, k]] of Object.values(pairs).entries()) {
            const at = (head * 7 + term) * n * n;
            expected.set(theirs.subarray(at, at + n * n), (head * 16 + 4 * q + k) * n * n);
          }
          // The scores of excluded rows are not split.
          for (let i = 0; i < n; i++) {
            for (let j = 0; j < n; j++) {
              if (i < first || j < first)
                expected[(head * 16 + 10) * n * n + i * n + j] = logits[(head * n + i) * n + j] as number;
            }
          }
        }
        expectNear(`terms by mechanism ${layer}`, drawnModel, scores.terms, expected, within);
        // All terms together give the attention of the model, under its mask.
        for (const head of scores.heads) {
          const { softmax } = combined(plain, scores, head, Array(16).fill(true));
          const attention = stored(drawnModel.attention, layer).subarray(head * n * n, (head + 1) * n * n);
          expectNear(`attention of all terms ${layer}`, drawnModel, softmax, attention, within);
        }
      }
      model.delete();
    }
  }, 120_000);

  test('layers that are released and read again give the same bits as those that stay', async () => {
    for (const drawnModel of drawn.cases) {
      const { name, ids } = drawnModel;
      const means = meansOf(drawnModel);
      const results = async (options: object) => {
        const model = await open(name, plain, options);
        const run = await model.forward({ ids });
        const each = Array.from({ length: drawn.layers }, (_, layer) => layer);
        const forward = {
          states: each.map((layer) => run.state(layer + 1)),
          logits: each.map((layer) => run.logits(layer)),
          attention: each.map((layer) => run.attention(layer)),
          last: run.last(),
          embeddings: run.embeddings,
        };
        const scores = [];
        for (const way of ['direct', 'streams', 'mean', 'mechanism'] as const)
          for (const layer of each) scores.push(await model.decompose({ ids }, { layer, way, means }));
        model.delete();
        return { forward, scores };
      };
      expect(await results({ layerBytes: 0 }), name).toEqual(await results({}));
    }
  }, 120_000);

  test('means after fewer layers are those of all layers, as far as they go', async () => {
    for (const name of ['bert', 'gpt2', 'llama']) {
      const { ids } = caseOf(name);
      const model = await open(name);
      const all = await model.corpusMeans({ sentences, scores: true });
      for (let layers = 0; layers < drawn.layers; layers++) {
        const some = await model.corpusMeans({ layers, sentences, scores: true });
        expect([some.states.length, some.scores?.length, some.heads.rows]).toEqual([
          layers + 1,
          layers + 1,
          layers,
        ]);
        expect(some.states).toEqual(all.states.slice(0, layers + 1));
        expect(some.scores).toEqual(all.scores?.slice(0, layers + 1));
        expect(some.heads.data).toEqual(all.heads.data.slice(0, some.heads.data.length));
        for (const way of ['mean', 'mechanism'] as const) {
          const question = { layer: layers, way } as const;
          const scores = await model.decompose({ ids }, { ...question, means: some });
          expect(scores).toEqual(await model.decompose({ ids }, { ...question, means: all }));
        }
      }
      model.delete();
    }
  }, 120_000);

  test('with means over a corpus, position → position depends on the distance alone in the first layer', async () => {
    for (const name of ['llama', 'qwen3']) {
      const { ids, excludedRows } = caseOf(name);
      const model = await open(name);
      const means = await model.corpusMeans({ sentences });
      const scores = await model.decompose({ ids }, { means });
      const [n, first] = [ids.length, excludedRows.length];
      for (let head = 0; head < drawn.heads; head++) {
        const term = scores.terms.subarray((head * 16 + 5) * n * n, (head * 16 + 6) * n * n);
        const at = (i: number, j: number) => term[i * n + j] as number;
        for (let i = first + 1; i < n; i++) {
          for (let j = first + 1; j < n; j++) expect(at(i, j)).toBeCloseTo(at(i - 1, j - 1), 10);
        }
        expect(at(first + 1, first)).not.toBeCloseTo(at(first + 2, first), 6);
      }
      // Without means, the error says how to get them for a model without a tokenizer.
      for (const options of [{}, { layer: 1 }, { way: 'mechanism' }] as const)
        await expect(model.decompose({ ids }, options)).rejects.toThrow(
          `The way 'mechanism' needs the means of ${model.name}’s queries and keys over a corpus. Gather them first: const means = await model.corpusMeans({ layers: ${'layer' in options ? 1 : 0}, sentences, scores: true }); await model.decompose(input, { layer: ${'layer' in options ? 1 : 0}, way: 'mechanism', means }). The ways 'direct' and 'streams' need none. Without tokenizer.json, sentences are lists of ids: [{ ids: [101, 2023, 102] }].`,
        );
      await expect(model.corpusMeans()).rejects.toThrow('pass sentences of ids');
      await expect(model.changed({ ids }, { mean: 'sentence' })).rejects.toThrow(
        `${model.name} adds no positions to its tokens, so there are none to change.`,
      );
      model.delete();
    }
  });

  test('each wrong reading of these files gives other numbers', () => {
    for (const { name, wrong } of drawn.cases) {
      expect(Object.keys(wrong).length).toBeGreaterThanOrEqual(9);
      for (const [what, difference] of Object.entries(wrong))
        expect(difference, `seed ${seed}, ${name}: ${what}`).toBeGreaterThan(2 * within);
    }
  });

  /** The same file with other members of its config.json. */
  const changed = (name: string, change: object) => {
    const read = (file: string) => new Uint8Array(readFileSync(join(folder, name, file)));
    const config = { ...JSON.parse(new TextDecoder().decode(read('config.json'))), ...change };
    return openModel(plain, [
      inMemory('model.safetensors', read('model.safetensors')),
      inMemory('config.json', new TextEncoder().encode(JSON.stringify(config))),
    ]);
  };

  test('config.json decides what is computed: other members give other numbers', async () => {
    const changes: Record<string, object[]> = {
      bert: [{ hidden_act: 'relu' }, { num_attention_heads: 2 }, { layer_norm_eps: 1e-5 }],
      distilbert: [{ activation: 'relu' }, { n_heads: 2 }],
      gpt2: [{ activation_function: 'gelu' }, { n_head: 2 }, { layer_norm_epsilon: 1e-5 }],
      llama: [
        { rope_theta: 10_000 },
        { rope_theta: undefined },
        { rope_scaling: { type: 'linear', factor: 2 } },
        { rope_theta: undefined, rope_parameters: { rope_type: 'default', rope_theta: 51 } },
        { rms_norm_eps: 1e-5 },
        { hidden_act: 'gelu' },
      ],
      'llama-3': [
        { rope_scaling: null },
        { rope_scaling: { ...llama3, original_max_position_embeddings: 8 } },
        { rope_scaling: { ...llama3, original_max_position_embeddings: 32, high_freq_factor: 2 } },
      ],
    };
    for (const [name, all] of Object.entries(changes)) {
      const { ids, last } = caseOf(name);
      const differs = async (change: object) => {
        const model = await changed(name, change);
        const run = await model.forward({ ids }, { scores: false });
        const result = run.last().data;
        model.delete();
        return largestDifference(result, stored(last));
      };
      expect(await differs({})).toBeLessThan(within);
      for (const change of all)
        expect(await differs(change), `${name} ${JSON.stringify(change)}`).toBeGreaterThan(within);
    }
  });

  test('a model with windows takes as many tokens as a window has keys; config.json says which layers have one', async () => {
    const all = [0, 1, 2];
    const full = 'full_attention';
    const sliding = 'sliding_attention';
    const used = { use_sliding_window: true };
    for (const [name, change, positions, layers] of [
      ['mistral', {}, 11, all],
      ['mistral', { sliding_window: 4 }, 4, all],
      ['mistral', { sliding_window: 4, layer_types: [sliding, sliding, sliding] }, 4, all],
      ['mistral', { sliding_window: null }, 64, undefined],
      ['mistral', { sliding_window: null, layer_types: [full, full, full] }, 64, undefined],
      ['mistral', { sliding_window: undefined, max_position_embeddings: 32768 }, 4096, all],
      // No window limits models that say that they use none, or all of whose layers come before the first
      // one with a window.
      ['qwen2', {}, 64, undefined],
      ['qwen2', { max_window_layers: 0 }, 64, undefined],
      ['qwen2', used, 64, undefined],
      ['qwen2', { ...used, max_window_layers: 3 }, 64, undefined],
      ['qwen2', { ...used, max_window_layers: 2 }, 4, [2]],
      ['qwen2', { ...used, max_window_layers: 0, sliding_window: 100 }, 64, all],
      ['qwen2', { ...used, max_window_layers: 0, max_position_embeddings: undefined }, 4, all],
      [
        'qwen2',
        { ...used, max_window_layers: 1, sliding_window: undefined, max_position_embeddings: 1e5 },
        4096,
        [1, 2],
      ],
      ['qwen2', { ...used, layer_types: [full, full, full] }, 64, undefined],
      // The list of layer_types decides, not max_window_layers.
      [
        'qwen3',
        { ...used, sliding_window: 7, max_window_layers: 0, layer_types: [full, sliding, full] },
        7,
        [1],
      ],
      ['qwen2', { max_position_embeddings: undefined }, 0, undefined],
    ] as const) {
      const model = await changed(name, change);
      const what = JSON.stringify(change);
      expect(model.positions, what).toBe(positions);
      expect(model.slidingWindow?.layers, what).toEqual(layers);
      expect(model.about.includes('(sliding_window)'), what).toBe(layers !== undefined);
    }
    const unlimited = await changed('qwen2', { max_position_embeddings: undefined });
    await expect(unlimited.forward({ ids: [] })).rejects.toThrow('needs at least 1 token; got 0.');
  });

  test('layers before the first window take longer sentences, and the refusal names the window', async () => {
    const { ids, last } = caseOf('qwen2');
    const unchanged = await changed('qwen2', {});
    const model = await changed('qwen2', { use_sliding_window: true, max_window_layers: 2 });
    expect(model.slidingWindow).toEqual({ keys: 4, layers: [2] });
    expect(model.about).toMatch(
      / In layer 2 a query sees 4 keys, itself and those before it \(sliding_window\)\.$/,
    );
    const states = async (of: typeof model) => (await of.forward({ ids }, { layers: 2 })).state(2).data;
    expect(await states(model)).toEqual(await states(unchanged));
    const sentence =
      'A sentence needs from 1 to 4 tokens; got 11. In layer 2 a query sees 4 keys (sliding_window), and a window is not computed here. Without that layer and those after it a sentence may be longer: forward() takes layers: 2.';
    const sentences = Array.from({ length: 40 }, () => ({ ids: ids.slice(0, 4) }));
    const means = await model.corpusMeans({ sentences });
    await expect(model.forward({ ids })).rejects.toThrow(new RangeError(sentence));
    await expect(model.decompose({ ids }, { layer: 2, means })).rejects.toThrow(new RangeError(sentence));
    await expect(model.withoutPositions({ ids })).rejects.toThrow('from 1 to 4 tokens');
    await expect(model.rows({ ids: Array(65).fill(ids[0]) })).rejects.toThrow('from 1 to 64 tokens; got 65');
    expect((await model.rows({ ids })).token?.rows).toBe(11);
    // A sentence that is no longer than the window gives the same with a window and without.
    const short = { ids: ids.slice(0, 4) };
    const numbers = async (of: typeof model) => (await of.forward(short)).last().data;
    expect(await numbers(model)).toEqual(await numbers(unchanged));
    expect((await unchanged.forward({ ids })).last().data.length).toBe(stored(last).length);
    await expect((await changed('mistral', { sliding_window: 4 })).forward({ ids })).rejects.toThrow(
      /a window is not computed here\.$/,
    );
    for (const drawnModel of [unchanged, model]) drawnModel.delete();
  });

  test.each<[string, object, string]>([
    [
      'llama',
      { rope_scaling: { rope_type: 'yarn', factor: 4 } },
      'config.json has the rope_type "yarn" in rope_scaling, whose angles are not computed here; those of default, linear and llama3 are. Open a model with one of these. This one',
    ],
    ...['dynamic', 'longrope', 'su', 'mrope', 'proportional', 7].map((type): [string, object, string] => [
      'qwen3',
      { rope_scaling: { type, factor: 4 } },
      `the rope_type ${JSON.stringify(type)} in rope_scaling, whose angles are not computed here`,
    ]),
    [
      'mistral',
      { rope_parameters: { rope_type: 'yarn', rope_theta: 50 } },
      '"yarn" in rope_parameters, whose',
    ],
    ['llama', { rope_scaling: { factor: 4 } }, 'config.json has a factor in rope_scaling and no rope_type'],
    [
      'llama',
      { rope_parameters: { full_attention: {} } },
      'by kind of layer, as "full_attention"; layers that',
    ],
    [
      'llama',
      { rope_scaling: { rope_type: 'llama3', factor: 8 } },
      'original_max_position_embeddings of rope_scaling',
    ],
    [
      'llama-3',
      { rope_scaling: { ...llama3, original_max_position_embeddings: 32, high_freq_factor: 1 } },
      'high_freq_factor of rope_scaling in config.json must be above low_freq_factor, 1; it is 1.',
    ],
    ['llama', { rope_theta: 0 }, 'rope_theta in config.json must be above 0; it is 0.'],
    ['llama', { partial_rotary_factor: 0.5 }, 'partial_rotary_factor 0.5; Llama can be read with 1 alone.'],
    ['qwen3', { layer_types: ['sliding_attention'] }, 'but no sliding_window in use.'],
    ['qwen3', { layer_types: ['chunked_attention'] }, "must be 'full_attention' or 'sliding_attention'"],
    ['qwen3', { layer_types: ['full_attention'] }, 'needs 3 entries, one for each layer; got 1.'],
    ['qwen3', { layer_types: 'full_attention' }, 'layer_types in config.json must be a list'],
    [
      'mistral',
      { num_hidden_layers: 2 ** 40 },
      'num_hidden_layers in config.json must be a whole number from 0 to',
    ],
    ['qwen2', { use_sliding_window: 'yes' }, 'use_sliding_window in config.json must be true or false'],
    [
      'qwen2',
      { use_sliding_window: true, sliding_window: 0 },
      'must be a whole number from 1 to 4194304; it is 0.',
    ],
    [
      'qwen2',
      { use_sliding_window: true, max_window_layers: -1 },
      'max_window_layers in config.json must be',
    ],
    [
      'mistral',
      { layer_types: ['full_attention', 'sliding_attention', 'full_attention'] },
      'a sliding_window, which Mistral has in all layers, and “full_attention” in layer_types. Keep the one',
    ],
  ])('%s with %j is refused when it is opened', async (name, change, sentence) => {
    await expect(changed(name, change)).rejects.toThrow(sentence);
  });

  test.each<[string, object, string]>([
    ['llama', { attention_bias: 'yes' }, 'attention_bias in config.json must be true or false'],
    ['llama', { hidden_size: 24 }, 'says hidden_size 24, but by its tensors the model has 20.'],
    ['llama', { head_dim: 5 }, 'says head_dim 5, but by its tensors the model has 6.'],
    ['llama', { num_key_value_heads: 4 }, 'num_key_value_heads 4, but by its tensors the model has 2.'],
    [
      'llama',
      { num_attention_heads: 8, num_key_value_heads: 4, head_dim: 3 },
      'The 3 channels of a head are rotated in pairs; their number must be even.',
    ],
    ['llama', { num_hidden_layers: 4 }, 'num_hidden_layers 4, but by its tensors the model has 3.'],
    ['llama', { intermediate_size: 80 }, 'intermediate_size 80, but by its tensors the model has 28.'],
    ['llama', { attention_bias: true }, 'lacks the tensor “model.layers.0.self_attn.q_proj.bias”.'],
    ['llama-biases', { mlp_bias: false }, 'but by its config.json this Llama has no such bias.'],
    ['qwen3', { model_type: 'llama' }, 'self_attn.k_norm.weight”, which Llama does not have'],
    ['gpt2', { scale_attn_weights: false }, 'scale_attn_weights false; GPT-2 can be read with true alone.'],
    ['gpt2', { scale_attn_by_inverse_layer_idx: true }, 'GPT-2 can be read with false alone.'],
    ['gpt2', { n_positions: 1024 }, 'says n_positions 1024, but by its tensors the model has 17.'],
    ['gpt2', { vocab_size: 50257 }, 'says vocab_size 50257, but by its tensors the model has 23.'],
    ['bert', { type_vocab_size: 3 }, 'says type_vocab_size 3, but by its tensors the model has 2.'],
    ['bert', { is_decoder: true }, 'config.json says is_decoder true; BERT can be read with false alone.'],
    ['bert', { position_embedding_type: 'relative_key' }, 'BERT can be read with "absolute" alone.'],
    ['roberta', { pad_token_id: 0 }, 'pad_token_id 0; RoBERTa can be read with 1 alone.'],
    ['llama', { is_causal: false }, 'config.json says is_causal false; Llama can be read with true alone.'],
    ['bert', { is_causal: true }, 'config.json says is_causal true; BERT can be read with false alone.'],
    ['bert', { position_embedding_type: null }, 'position_embedding_type null; BERT can be read with'],
    ['gpt2', { scale_attn_weights: null }, 'scale_attn_weights null; GPT-2 can be read with true alone.'],
    [
      'bert',
      { auto_map: { AutoModel: 'modeling.Own' } },
      'config.json has an auto_map: its model is custom code',
    ],
    ['bert', { quantization_config: { bits: 4 } }, 'its weights are quantized.'],
    [
      'gpt2',
      { num_attention_heads: 7 },
      'says num_attention_heads 7, which GPT-2 has as n_head, and that is 4. Give it as n_head alone.',
    ],
    [
      'llama',
      {
        rope_parameters: { rope_type: 'default', rope_theta: 50 },
        rope_scaling: { rope_type: 'linear', factor: 2 },
      },
      'rope_parameters and rope_scaling, and they disagree. Keep the one',
    ],
    ['llama', { rope_parameters: {}, rope_scaling: { rope_type: 'yarn', factor: 4 } }, 'rope_type "yarn"'],
    [
      'llama',
      { rope_scaling: { rope_type: 'default', type: 'linear' } },
      'rope_type "default" and type "linear" in rope_scaling. Keep one',
    ],
    ['llama', { rope_parameters: { rope_theta: 7 } }, 'and in rope_parameters rope_theta 7. Keep the one'],
    ['llama', { rope_parameters: { partial_rotary_factor: 0.5 } }, 'must be 1; it is 0.5.'],
    ['gpt2', { n_head: undefined, num_attention_heads: 4 }, 'has as n_head, and that is left out.'],
    ['bert', { model_type: 'gpt2' }, 'These are not the tensors of GPT-2'],
  ])('%s with %j is refused with the reason', async (name, change, sentence) => {
    const run = changed(name, change).then((model) => model.forward({ ids: caseOf(name).ids }));
    await expect(run).rejects.toThrow(sentence);
  });

  test('a member that changes the arithmetic is refused, or changes nothing', async () => {
    const members = fc.record({
      name: fc.constantFrom('bert', 'distilbert', 'gpt2', 'llama', 'mistral', 'qwen3'),
      member: fc.constantFrom(
        ...['is_causal', 'auto_map', 'position_embedding_type', 'is_decoder', 'add_cross_attention'],
        ...['quantization_config', 'rope_scaling', 'rope_parameters', 'partial_rotary_factor'],
        ...['hidden_size', 'num_attention_heads', 'scale_attn_weights', 'layer_types'],
      ),
      value: fc.constantFrom<unknown>(
        null,
        false,
        true,
        0,
        3,
        'relative_key',
        {},
        { type: 'yarn', factor: 2 },
      ),
    });
    let run = 0;
    const property = fc.asyncProperty(members, async ({ name, member, value }) => {
      const { ids, last } = caseOf(name);
      const opened = changed(name, { [member]: value });
      const forward = opened.then((model) => model.forward({ ids }, { scores: false }));
      const result = await forward.catch((error) => {
        if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
      });
      if (!result) return;
      run += 1;
      expect(largestDifference(result.last().data, stored(last))).toBeLessThan(within);
    });
    await fc.assert(property, { seed, numRuns: 150 });
    expect(run).toBeGreaterThan(30);
  });

  test('the width of GPT-2’s MLP may be missing in config.json', async () => {
    const model = await changed('gpt2', { n_inner: null });
    expect((await model.forward({ ids: [3, 4] }, { scores: false })).n).toBe(2);
    model.delete();
  });
});

const inMemory = (name: string, content: Uint8Array): Slices => ({
  name,
  size: content.length,
  read: async (from, length) => content.slice(from, from + length),
});
