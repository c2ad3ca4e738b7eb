// Models whose positions are relative, through all their layers, against numpy: tests/reference/drawn_relative.py draws models
// of each family anew in each run, in the layouts of published files.
import type { CorpusMeans, Floats } from 'superpose';
import { beforeAll, describe, expect, test } from 'vitest';
import { withoutNumpy } from '../../tools/support/numpy.ts';
import { builds, plain } from '../support/builds.ts';
import type { Stored } from '../support/drawnModels.ts';
import { largestDifference } from '../support/numbers.ts';
import { type DrawnModel, drawing, refused, within } from './drawn.ts';

interface Drawn extends DrawnModel {
  causal: boolean;
  heads: number;
  layers: number;
  query: Stored;
  key: Stored;
  /** What scores are multiplied by beside 1/√d_h: it is in the queries. */
  folded: number;
  /** Of queries, of keys. */
  places: [Stored, Stored];
}

const { seed, draw, stored, open, expectNear, changed } = drawing<Drawn, { names: string[]; cases: Drawn[] }>(
  'relative',
);

(withoutNumpy ? describe.skip : describe)('models with relative positions, drawn at random', () => {
  let drawn: { names: string[]; cases: Drawn[] };
  beforeAll(async () => {
    drawn = await draw();
  }, 120_000);

  test.each(['float64', 'float32'] as const)(
    'states, logits, attention and the embedding, in %s',
    async (precision) => {
      const bound = within[precision];
      for (const by of precision === 'float64' ? [plain] : builds.map(({ superpose }) => superpose)) {
        for (const one of drawn.cases) {
          const { ids, layers, causal, apart } = one;
          const model = await open(one.name, by);
          expect(model).toMatchObject({ family: one.family, layers, causal, apart, summands: ['token'] });
          const run = await model.forward({ ids }, { precision });
          const near = (what: string, ours: Floats, theirs: Float64Array) =>
            expectNear(what, one, ours, theirs, bound);
          for (let layer = 0; layer <= layers; layer++)
            near(`state ${layer}`, run.state(layer).data, stored(one.states, layer));
          for (let layer = 0; layer < layers; layer++) {
            near(`logits ${layer}`, run.logits(layer), stored(one.logits, layer));
            near(`attention ${layer}`, run.attention(layer), stored(one.attention, layer));
          }
          near('last', run.last().data, stored(one.last));
          near('embedding', run.embedding, stored(one.embedding));
          model.delete();
        }
      }
    },
    120_000,
  );

  /** Means over a corpus, as corpusMeans() gives them. */
  const meansOf = (one: Drawn, d: number) => {
    const scores = ([mean, places]: [Stored, Stored], layer: number, factor = 1) => ({
      mean: stored(mean, layer).map((value) => factor * value),
      position: {
        data: stored(places, layer).map((value) => factor * value),
        rows: one.ids.length,
        columns: mean.shape[1] as number,
      },
      first: one.apart.length,
    });
    return {
      scores: Array.from({ length: one.layers }, (_, layer) => ({
        query: scores([one.query, one.places[0]], layer, one.folded),
        key: scores([one.key, one.places[1]], layer),
      })),
      states: Array.from({ length: one.layers + 1 }, (_, layer) => ({
        mean: stored(one.mean, layer),
        position: { data: stored(one.position, layer), rows: one.ids.length, columns: d },
        first: one.apart.length,
      })),
    } as unknown as CorpusMeans;
  };

  test('by state: every term of every layer, in both gauges', async () => {
    for (const one of drawn.cases) {
      const { ids, layers, heads } = one;
      const n = ids.length;
      const model = await open(one.name);
      const means = meansOf(one, model.d_model);
      // Where nothing but a rotation tells the distance, the last part is not there.
      const count = ['bloom', 't5', 'deberta', 'deberta-v2'].includes(one.family) ? 4 : 3;
      for (const gauge of ['canonical', 'raw'] as const) {
        for (let layer = 0; layer < layers; layer++) {
          const scores = await model.decompose({ ids }, { layer, way: 'mean', gauge, means });
          const parts = ['position', 'content', 'constant', 'relative'].slice(0, count);
          expect(scores.parts).toEqual(parts);
          expect(Math.max(...scores.residuals)).toBeLessThan(within.float64);
          const theirs = stored(one.terms[`mean ${gauge}`] as Stored, layer);
          const wanted = new Float64Array(heads * count ** 2 * n * n);
          for (let head = 0; head < heads; head++) {
            for (let q = 0; q < count; q++) {
              for (let k = 0; k < count; k++) {
                const at = ((head * 4 + q) * 4 + k) * n * n;
                wanted.set(theirs.subarray(at, at + n * n), ((head * count + q) * count + k) * n * n);
              }
            }
          }
          expectNear(`terms by state, ${gauge} ${layer}`, one, scores.terms, wanted, within.float64);
        }
      }
      model.delete();
    }
  }, 120_000);

  test('by mechanism: every term of every layer, which is the way unless another is asked for', async () => {
    const parts = ['token', 'position', 'constant', 'offset'];
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
    for (const one of drawn.cases) {
      const { ids, layers, heads, apart } = one;
      const n = ids.length;
      const first = apart.length;
      const model = await open(one.name);
      const means = meansOf(one, model.d_model);
      for (let layer = 0; layer < layers; layer++) {
        const scores = await model.decompose({ ids }, { ...(layer > 0 && { layer }), means });
        expect(scores).toMatchObject({ parts, apart, gauge: 'canonical' });
        expect(Math.max(...scores.residuals)).toBeLessThan(within.float64);
        const wanted = new Float64Array(heads * 16 * n * n);
        const theirs = stored(one.terms.mechanism as Stored, layer);
        const logits = stored(one.logits, layer);
        for (let head = 0; head < heads; head++) {
          for (const [term, [q, k]] of Object.values(pairs).entries()) {
            const at = (head * 7 + term) * n * n;
            wanted.set(theirs.subarray(at, at + n * n), (head * 16 + 4 * q + k) * n * n);
          }
          // The scores of rows that stand apart are not split.
          for (let i = 0; i < n; i++) {
            for (let j = 0; j < n; j++) {
              if (i < first || j < first)
                wanted[(head * 16 + 10) * n * n + i * n + j] = logits[(head * n + i) * n + j] as number;
            }
          }
        }
        expectNear(`terms by mechanism ${layer}`, one, scores.terms, wanted, within.float64);
        // All of them together attend as the model does, under its mask, its window and its cap.
        for (const head of scores.heads) {
          const { softmax } = plain.combineTerms(scores, head, Array(16).fill(true));
          const attention = stored(one.attention, layer).subarray(head * n * n, (head + 1) * n * n);
          expectNear(`attention of all terms ${layer}`, one, softmax, attention, within.float64);
        }
      }
      model.delete();
    }
  }, 120_000);

  test('means over a corpus serve: position → position depends on the distance alone in the first layer', async () => {
    for (const name of [
      'llama',
      'qwen2-window',
      'qwen3',
      'neox',
      'bloom',
      't5',
      'gemma2',
      'gemma3',
      'deberta',
      'deberta-v3',
      'modernbert',
      'esm',
    ]) {
      const { ids, heads, apart } = drawn.cases.find((one) => one.name === name) as Drawn;
      const model = await open(name);
      // Each sentence is of other tokens.
      const sentences = Array.from({ length: 12 }, (_, at) => ({
        ids: Array.from({ length: 12 }, (_, row) => 3 + ((5 * at + 7 * row + at * row) % 20)),
      }));
      const means = await model.corpusMeans({ sentences, precision: 'float64' });
      const scores = await model.decompose({ ids }, { means });
      expect(Math.max(...scores.residuals)).toBeLessThan(within.float64);
      const n = ids.length;
      const first = apart.length;
      for (let head = 0; head < heads; head++) {
        const term = scores.terms.subarray((head * 16 + 5) * n * n, (head * 16 + 6) * n * n);
        const at = (i: number, j: number) => term[i * n + j] as number;
        for (let i = first + 1; i < n; i++) {
          for (let j = first + 1; j < n; j++) expect(at(i, j)).toBeCloseTo(at(i - 1, j - 1), 10);
        }
        expect(at(first + 1, first)).not.toBeCloseTo(at(first + 2, first), 6);
        // The shares are of all that varies.
        const shares = scores.shares.subarray(head * 16, (head + 1) * 16);
        expect(shares.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 10);
      }
      expect((await model.decompose({ ids }, { layer: 1, means })).parts).toContain('offset');
      expect(await refused(model.decompose({ ids }, { layer: 1 }))).toMatch(
        /^TypeError: means must be an object/,
      );
      expect(await refused(model.changed({ ids }, { mean: 'sentence' }))).toBe(
        `RangeError: ${model.name} adds no positions to its tokens, so there are none to change.`,
      );
      model.delete();
    }
  }, 60_000);

  test('each wrong reading of these files gives other numbers', () => {
    for (const { name, wrong } of drawn.cases) {
      expect(Object.keys(wrong).length).toBeGreaterThanOrEqual(9);
      for (const [what, difference] of Object.entries(wrong))
        expect(difference, `seed ${seed}, ${name}: ${what}`).toBeGreaterThan(2 * within.float32);
    }
  });

  /** How far what a model with another config.json says of its input is from the oracle's. */
  const differs = async (name: string, change: object) => {
    const { ids, last } = drawn.cases.find((one) => one.name === name) as Drawn;
    const model = await changed(name, change);
    const found = (await model.forward({ ids }, { precision: 'float64', scores: false })).last().data;
    model.delete();
    return largestDifference(found, stored(last));
  };

  test('what config.json says is what is run: with another flag the numbers are other ones', async () => {
    const llama3 = { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 };
    const changes: Record<string, object[]> = {
      llama: [
        { rope_theta: 10_000 },
        { rope_theta: undefined },
        { rope_scaling: { type: 'linear', factor: 2 } },
        { rope_parameters: { rope_type: 'default', rope_theta: 51 } },
        { rms_norm_eps: 1e-5 },
        { hidden_act: 'gelu' },
      ],
      'llama-3': [
        { rope_scaling: null },
        { rope_scaling: { ...llama3, original_max_position_embeddings: 8 } },
        { rope_scaling: { ...llama3, original_max_position_embeddings: 32, high_freq_factor: 2 } },
      ],
      mistral: [{ sliding_window: null }, { sliding_window: 5 }, { sliding_window: undefined }],
      'qwen2-window': [
        { use_sliding_window: false },
        { max_window_layers: 1 },
        { max_window_layers: undefined },
        { layer_types: ['full_attention', 'sliding_attention', 'full_attention'] },
      ],
      smollm3: [{ no_rope_layers: [1, 1, 1, 1, 1] }, { no_rope_layer_interval: 3 }],
      neox: [
        { rotary_pct: 1 },
        { use_parallel_residual: false },
        { rotary_emb_base: 10_000 },
        { hidden_act: 'relu' },
      ],
      gemma: [{ hidden_activation: 'gelu' }],
      gemma2: [
        { query_pre_attn_scalar: 6 },
        { query_pre_attn_scalar: undefined },
        { attn_logit_softcapping: undefined },
        { attn_logit_softcapping: null },
        { sliding_window: 5 },
        { rope_scaling: null },
      ],
      gemma3: [
        { query_pre_attn_scalar: undefined },
        { sliding_window_pattern: 3 },
        { sliding_window: undefined },
        { rope_local_base_freq: undefined },
        { rope_theta: undefined },
        { rope_scaling: null },
      ],
      deberta: [{ layer_norm_eps: 1e-5 }, { hidden_act: 'relu' }],
      // Whose tensors would fit too.
      'deberta-v3': [
        { max_position_embeddings: 20 },
        { max_relative_positions: 12 },
        { norm_rel_ebd: 'none' },
        { pos_att_type: ['c2p'] },
        { pos_att_type: 'p2c' },
      ],
      modernbert: [
        { local_attention: 8 },
        { local_attention: undefined },
        { global_rope_theta: 51 },
        { local_rope_theta: undefined },
        { global_attn_every_n_layers: 2 },
        { hidden_activation: 'silu' },
        { norm_eps: 1e-5 },
      ],
      'esm-masks': [{ mask_token_id: 3 }, { mask_token_id: null }, { token_dropout: undefined }],
    };
    for (const [name, all] of Object.entries(changes)) {
      expect(await differs(name, {})).toBeLessThan(within.float64);
      for (const change of all)
        expect(await differs(name, change), `${name} ${JSON.stringify(change)}`).toBeGreaterThan(
          within.float32,
        );
    }
    // What their models do not read changes nothing.
    for (const name of ['gemma', 'gemma2', 'esm'])
      expect(await differs(name, { hidden_act: 'silu' })).toBeLessThan(within.float64);
  }, 60_000);

  test('what is not run is refused by its member as the model is opened', async () => {
    for (const [name, change, sentence] of [
      [
        'llama',
        { rope_scaling: { rope_type: 'yarn', factor: 4 } },
        'RangeError: config.json has the rope_type "yarn" in rope_scaling; default, linear and llama3 can be run here.',
      ],
      [
        'llama',
        { rope_parameters: { full_attention: { rope_type: 'default' } } },
        'RangeError: config.json has rope_parameters by kind of layer, as “full_attention”; one for all layers can be run here.',
      ],
      [
        'modernbert',
        { rope_parameters: { rope_type: 'default', rope_theta: 50 } },
        'TypeError: full_attention of rope_parameters in config.json must be an object; it is undefined.',
      ],
      [
        'modernbert',
        { norm_bias: true },
        'RangeError: config.json says norm_bias true; ModernBERT can be read with false alone.',
      ],
      [
        'deberta',
        { position_biased_input: true },
        'RangeError: DeBERTa can be read with position_biased_input false in config.json alone, which is not what it says or leaves out.',
      ],
      [
        'deberta-v2',
        { relative_attention: undefined },
        'RangeError: DeBERTa can be read with relative_attention true in config.json alone, which is not what it says or leaves out.',
      ],
      [
        'deberta-v2',
        { conv_kernel_size: 3 },
        'RangeError: config.json says conv_kernel_size 3; DeBERTa-v2/v3 can be read with 0 alone.',
      ],
      [
        'deberta-v2',
        { pos_att_type: 'c2p|p2p' },
        "RangeError: an entry of pos_att_type in config.json must be 'c2p' or 'p2c'; it is \"p2p\".",
      ],
      [
        'deberta-v2',
        { position_buckets: 8 },
        'RangeError: config.json says position_buckets 8, but encoder.rel_embeddings.weight has 8 rows, not twice as many.',
      ],
      [
        'deberta',
        { talking_head: true },
        'RangeError: config.json says talking_head true; DeBERTa can be read with false alone.',
      ],
      [
        'esm',
        { position_embedding_type: 'absolute' },
        'RangeError: position_embedding_type in config.json must be \'rotary\'; it is "absolute".',
      ],
      [
        'esm',
        { position_embedding_type: undefined },
        'RangeError: position_embedding_type in config.json must be \'rotary\'; it is "absolute".',
      ],
      [
        'esm',
        { emb_layer_norm_before: true },
        'RangeError: config.json says emb_layer_norm_before true; ESM-2 can be read with false alone.',
      ],
      [
        'llama',
        { rope_scaling: { rope_type: 'llama3', factor: 8 } },
        'TypeError: original_max_position_embeddings of rope_scaling in config.json must be a number; it is undefined.',
      ],
      ['llama', { rope_theta: 0 }, 'RangeError: rope_theta in config.json must be above 0; it is 0.'],
      [
        'llama',
        { partial_rotary_factor: 0.5 },
        'RangeError: config.json says partial_rotary_factor 0.5; Llama can be read with 1 alone.',
      ],
      [
        'llama',
        { attention_bias: 'yes' },
        'TypeError: attention_bias in config.json must be true or false; it is "yes".',
      ],
      [
        'llama',
        { hidden_size: 24 },
        'RangeError: config.json says hidden_size 24, but by its tensors the model has 20.',
      ],
      [
        'bloom',
        { apply_residual_connection_post_layernorm: true },
        'RangeError: config.json says apply_residual_connection_post_layernorm true; BLOOM can be read with false alone.',
      ],
      [
        't5',
        { relative_attention_max_distance: 64 },
        'RangeError: config.json says relative_attention_max_distance 64; T5’s encoder can be read with 128 alone.',
      ],
      [
        'qwen3',
        { model_type: 'llama' },
        'RangeError: The file has a tensor “model.layers.0.self_attn.k_norm.weight”, which Llama has not; what it does to the scores is not known.',
      ],
      [
        't5',
        { model_type: 'umt5' },
        'RangeError: UMT5 is not among the models whose first scores can be read here: each of its layers has a bias of its own for distances.',
      ],
      [
        'gemma2',
        { model_type: 'gemma' },
        'RangeError: The file has a tensor “model.layers.0.post_feedforward_layernorm.weight”, which Gemma has not; what it does to the scores is not known.',
      ],
      [
        'gemma',
        { model_type: 'gemma2' },
        'RangeError: These are not the tensors of Gemma 2 (“model.embed_tokens.weight”, “model.layers.0.input_layernorm.weight”, “model.layers.0.mlp.down_proj.weight”).',
      ],
      [
        'gemma3',
        { use_bidirectional_attention: true },
        'RangeError: config.json says use_bidirectional_attention true; Gemma 3 can be read with false alone.',
      ],
      [
        'gemma3-pictures',
        { text_config: { final_logit_softcapping: 30 } },
        'RangeError: config.json says final_logit_softcapping 30; Gemma 3 can be read with null alone.',
      ],
      [
        'gemma2',
        { attn_logit_softcapping: 0 },
        'RangeError: attn_logit_softcapping in config.json must be above 0; it is 0.',
      ],
    ] as const)
      expect(await refused(changed(name, change)), JSON.stringify(change)).toBe(sentence);
  });

  test('what contradicts the tensors is refused before a layer is read', async () => {
    const { ids } = drawn.cases[0] as Drawn;
    for (const [name, change, sentence] of [
      [
        'llama',
        { head_dim: 5 },
        'RangeError: config.json says head_dim 5, but by its tensors the model has 6.',
      ],
      [
        'llama',
        { num_key_value_heads: 4 },
        'RangeError: config.json says num_key_value_heads 4, but by its tensors the model has 2.',
      ],
      [
        'llama',
        { num_attention_heads: 5 },
        'RangeError: config.json gives 5 heads, which do not fit queries of 24 and keys of 12 channels.',
      ],
      [
        'llama',
        { num_hidden_layers: 4 },
        'RangeError: config.json says num_hidden_layers 4, but by its tensors the model has 3.',
      ],
      ['t5', { d_ff: 80 }, 'RangeError: config.json says d_ff 80, but by its tensors the model has 28.'],
      [
        'llama',
        { attention_bias: true },
        'RangeError: The file lacks the tensor “model.layers.0.self_attn.q_proj.bias”.',
      ],
      [
        'llama-biases',
        { mlp_bias: false },
        'RangeError: The file has a tensor “model.layers.0.mlp.up_proj.bias”, but by its config.json Llama has no such bias.',
      ],
      [
        'llama',
        { hidden_act: 'swish' },
        'RangeError: config.json names the activation "swish"; gelu, gelu_new, gelu_pytorch_tanh, relu, quick_gelu and silu can be run here.',
      ],
      [
        't5',
        { feed_forward_proj: 'gated-gelu' },
        'RangeError: The file lacks the tensor “encoder.block.0.layer.1.DenseReluDense.wi_1.weight”.',
      ],
      [
        'neox',
        { rotary_pct: 0.5 },
        'RangeError: By config.json 3 of the 6 channels of a head turn; they must be an even number, from 2 up.',
      ],
      [
        'qwen3',
        { layer_types: ['full_attention', 'sliding_attention', 'full_attention'] },
        'RangeError: config.json has “sliding_attention” for layer 1, but no sliding_window in use. Give use_sliding_window true and a sliding_window.',
      ],
      [
        'qwen3',
        { layer_types: ['full_attention', 'full_attention'] },
        "TypeError: layer_types[2] in config.json must be 'full_attention' or 'sliding_attention'; it is undefined.",
      ],
    ] as const) {
      const model = await changed(name, change);
      expect(await refused(model.forward({ ids })), JSON.stringify(change)).toBe(sentence);
      model.delete();
    }
  });
});
