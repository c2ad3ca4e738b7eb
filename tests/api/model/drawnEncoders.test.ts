// Models of pictures, of sound, and of text that normalize before their layers, through all layers, against numpy:
// tests/reference/drawn_encoders.py draws models of each kind anew in each run, in the layouts of published files.
// SUPERPOSE_SEED repeats a failure; with SUPERPOSE_SHOWN set, the largest difference of each kind is printed.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CorpusMeans,
  type Floats,
  type ModelInput,
  type OpenedModel,
  openModel,
  type Slices,
  type Table,
} from 'superpose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withoutNumpy } from '../../tools/support/numpy.ts';
import { builds, plain } from '../support/builds.ts';
import {
  type DrawnEncoder,
  drawnFamilies,
  drawnModels,
  drawnOptions,
  drawnSeed,
  drawnSeen,
  type Stored,
} from '../support/drawnModels.ts';
import { largestDifference } from '../support/numbers.ts';
import { fileOf } from '../support/safetensors.ts';

const seed = drawnSeed;
const folder = mkdtempSync(join(tmpdir(), 'superpose-encoders-'));
afterAll(() => rmSync(folder, { recursive: true }));
const within = { float64: 1e-10, float32: 1e-4 };
const precisions = ['float64', 'float32'] as const;

(withoutNumpy ? describe.skip : describe)('models drawn at random', () => {
  let cases: DrawnEncoder[];
  let stored: (of: Stored, ...place: number[]) => Float64Array;
  const worst: Record<string, Record<string, number>> = {};

  beforeAll(async () => {
    const found = await drawnModels<{ cases: DrawnEncoder[] }>('encoders', seed, folder);
    ({ stored } = found);
    ({ cases } = found.drawn);
  }, 120_000);
  afterAll(() => {
    if (process.env.SUPERPOSE_SHOWN) console.log(worst);
  });

  const named = (name: string) => cases.find((one) => one.name === name) as DrawnEncoder;
  const open = (one: DrawnEncoder, by = plain) => openModel(by, join(folder, one.name), drawnOptions(one));
  const seenBy = (one: DrawnEncoder, place: number) => drawnSeen(one, stored, place);
  const inputOf = (one: DrawnEncoder): ModelInput => (one.ids ? { ids: one.ids } : seenBy(one, 0));
  const expectNear = (
    what: string,
    { name }: DrawnEncoder,
    ours: Floats,
    theirs: Float64Array,
    bound: number,
  ) => {
    const difference = largestDifference(ours, theirs);
    expect(difference, `seed ${seed}, ${name}, ${what}`).toBeLessThan(bound);
    worst[name] ??= {};
    const kind = `${what.replace(/ \d$/, '')} ${bound}`;
    worst[name][kind] = Math.max(worst[name][kind] ?? 0, difference);
  };
  const told = (run: Promise<unknown>) =>
    run.then(
      () => 'It did not fail.',
      (error: Error) => `${error.name}: ${error.message}`,
    );

  test.each(precisions)(
    'states, logits, attention and the embedding, in %s',
    async (precision) => {
      for (const by of precision === 'float64' ? [plain] : builds.map(({ superpose }) => superpose)) {
        for (const one of cases) {
          const model = await open(one, by);
          const { family, layers, causal, apart } = one;
          expect(model, one.name).toMatchObject({ family, layers, causal, apart });
          const run = await model.forward(inputOf(one), { precision });
          const near = (what: string, ours: Floats, theirs: Float64Array) =>
            expectNear(what, one, ours, theirs, within[precision]);
          near('state 0', run.state(0).data, stored(one.states, 0));
          for (let layer = 0; layer < layers; layer++) {
            near(`state ${layer + 1}`, run.state(layer + 1).data, stored(one.states, layer + 1));
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

  test('every term of every layer, in all three ways and both gauges, and the shares', async () => {
    for (const one of cases) {
      const model = await open(one);
      const input = inputOf(one);
      const [, , n] = one.logits.shape as [number, number, number];
      const means = {
        states: Array.from({ length: one.layers + 1 }, (_, layer) => ({
          mean: stored(one.mean, layer),
          position: { data: stored(one.position, layer), rows: n, columns: model.d_model },
          first: one.apart.length,
        })),
      } as unknown as CorpusMeans;
      for (const [kind, theirs] of Object.entries(one.terms)) {
        const [way, gauge] = kind.split(' ') as ['direct' | 'streams' | 'mean', 'canonical' | 'raw'];
        const parts = way === 'mean' ? ['position', 'content', 'constant'] : one.parts;
        for (let layer = 0; layer < one.layers; layer++) {
          const scores = await model.decompose(input, { layer, way, gauge, means });
          expect(scores.parts).toEqual(parts);
          expect(Math.max(...scores.residuals)).toBeLessThan(within.float64);
          expectNear(`terms ${kind} ${layer}`, one, scores.terms, stored(theirs, layer), within.float64);
          const shares = one.shares[kind];
          // A share is divided by what may be small.
          if (shares) expectNear(`shares ${kind} ${layer}`, one, scores.shares, stored(shares, layer), 1e-8);
        }
      }
      // The short way to the first layer's scores.
      const short = await model.decompose(input);
      expectNear('first scores', one, short.logits, stored(one.logits, 0), within.float64);
      expect(short.parts).toEqual(one.parts.filter((part) => !['attention', 'mlp'].includes(part)));
      model.delete();
    }
  }, 120_000);

  test('a forward names the same parts, and heads and constants add up to what attention writes', async () => {
    for (const one of cases) {
      const model = await open(one);
      const run = await model.forward(inputOf(one), { precision: 'float64' });
      for (let layer = 0; layer < one.layers; layer++) {
        const parts = run.parts({ layer, gauge: 'canonical', apart: one.apart });
        expect(Object.keys(parts)).toEqual(one.parts);
        expect(run.decompose({ layer }).parts).toEqual(one.parts);
        const written = run.headOutputs({ layer, way: 'streams', gauge: 'canonical', apart: one.apart });
        expect(written.parts.filter((part) => part !== 'apart')).toEqual(one.parts);
        expect(Math.max(...written.residuals)).toBeLessThan(within.float64);
        const shares = written.layer.fromUniform.shares;
        expect(shares.reduce((sum, share) => sum + share)).toBeCloseTo(1, 10);
      }
      model.delete();
    }
  }, 120_000);

  test('means over pictures, and over sounds', async () => {
    for (const one of cases) {
      const seen = one.patches ?? one.frames;
      if (!one.corpus || !seen) continue;
      const model = await open(one);
      const windows = Array.from({ length: seen.shape[0] as number }, (_, place) => seenBy(one, place));
      const found = await model.corpusMeans({ inputs: windows, precision: 'float64' });
      expect([found.windows, found.sentencesOfHeads]).toEqual([windows.length, windows.length]);
      for (const [layers, state] of found.states.entries()) {
        const near = (what: string, ours: Floats, theirs: Float64Array) =>
          expectNear(`${what} ${layers}`, one, ours, theirs, within.float64);
        near('mean', state.mean, stored(one.corpus.mean, layers));
        near('position', state.position.data, stored(one.corpus.position, layers));
        near('energy', Float64Array.of(state.positionEnergy), stored(one.corpus.energy, layers));
      }
      expectNear('heads', one, found.heads.data, stored(one.corpus.heads), 1e-8);
      // Without positions nothing of them is found beyond what four of seven have in common.
      const control = await model.corpusMeans({ inputs: windows, control: true });
      expect(control.states[0]?.position.data).not.toEqual(found.states[0]?.position.data);
      for (const few of [undefined, windows.slice(0, 3), 'pictures'])
        expect(await told(model.corpusMeans({ inputs: few as never }))).toContain(
          `inputs must be a list of at least four ${one.frames ? 'sounds' : 'pictures'}`,
        );
      model.delete();
    }
  }, 120_000);

  test('positions are taken, patches change places, and nothing else is changed', async () => {
    const one = named('vit');
    const model = await open(one);
    const input = seenBy(one, 0);
    const rows = await model.rows(input);
    expect(Object.keys(rows)).toEqual(['patch', 'position', 'class']);
    const d = model.d_model;
    const bare = await model.changed(input, { mean: 'sentence' });
    const row = (of: Table | undefined, at: number) =>
      Array.from(of?.data.subarray(at * d, (at + 1) * d) ?? []);
    // The class row keeps its position; all patches have one and the same.
    expect(row(bare.position, 0)).toEqual(row(rows.position, 0));
    expect(row(bare.position, 9)).toEqual(row(bare.position, 1));
    const mean = row(rows.position, 0).map(
      (_, c) =>
        Array.from({ length: 9 }, (_, at) => row(rows.position, at + 1)[c] as number).reduce(
          (a, b) => a + b,
        ) / 9,
    );
    expect(largestDifference(Float64Array.from(row(bare.position, 1)), Float64Array.from(mean))).toBeLessThan(
      1e-14,
    );
    const order = [0, 9, 8, 7, 6, 5, 4, 3, 2, 1];
    const turned = await model.changed(input, { order });
    expect(row(turned.patch, 1)).toEqual(row(rows.patch, 9));
    expect(turned.position?.data).toEqual(rows.position?.data);
    const states = async (summands?: typeof rows) =>
      (await model.forward(input, { precision: 'float64', ...(summands && { summands }) })).last().data;
    // Rows as they are change nothing, though the bias of the patches is none of them.
    expect(largestDifference(await states(rows), stored(one.last))).toBeLessThan(within.float64);
    expect(largestDifference(await states(turned), stored(one.last))).toBeGreaterThan(1e-3);
    const taken = await model.withoutPositions(input, { by: 'copied', precision: 'float64' });
    const whole = (await model.forward(input, { precision: 'float64', summands: bare })).embedding;
    const everything = taken.everything?.data.subarray(one.layers * d) as Floats;
    expect(largestDifference(everything, whole as Float64Array)).toBeLessThan(1e-12);
    for (const change of [{ shift: 1 }, { mean: 'table' }] as const)
      expect(await told(model.changed(input, change))).toBe(
        "RangeError: A picture takes all positions of ViT: give { mean: 'sentence' } or { order }.",
      );
    expect(await told(model.changed(input, { order: order.toReversed() }))).toBe(
      'RangeError: order must leave the first 1 rows in place: they are no patches.',
    );
    model.delete();
  });

  test('each of these families is drawn', () => {
    expect([...new Set(cases.map(({ family }) => family))]).toEqual(drawnFamilies);
  });

  test('each wrong reading of these files gives other numbers', () => {
    for (const { name, wrong } of cases) {
      expect(Object.keys(wrong).length).toBeGreaterThanOrEqual(9);
      for (const [what, difference] of Object.entries(wrong))
        expect(difference, `seed ${seed}, ${name}: ${what}`).toBeGreaterThan(2 * within.float32);
    }
  });

  type Tensors = Record<string, { dtype: string; shape: number[]; bytes: Uint8Array }>;
  const tensorsOf = (name: string): Tensors => {
    const bytes = new Uint8Array(readFileSync(join(folder, name, 'model.safetensors')));
    const data = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
    const { __metadata__, ...header } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, data)));
    return Object.fromEntries(
      Object.entries(
        header as Record<string, { dtype: string; shape: number[]; data_offsets: number[] }>,
      ).map(([tensor, { dtype, shape, data_offsets }]) => {
        const [from, to] = data_offsets as [number, number];
        return [tensor, { dtype, shape, bytes: bytes.subarray(data + from, data + to) }];
      }),
    );
  };
  const configOf = (name: string) => JSON.parse(readFileSync(join(folder, name, 'config.json'), 'utf8'));
  /** The model after a change of its file or its config.json; a nested member stays where it is. */
  const changed = (
    name: string,
    { tensors = tensorsOf(name), config = {} }: { tensors?: Tensors; config?: object },
  ): Promise<OpenedModel> => {
    const whole = configOf(name);
    const within = ['text_config', 'vision_config'].find(
      (member) => member in whole && !('model_type' in config),
    );
    const both = within ? { ...whole, [within]: { ...whole[within], ...config } } : { ...whole, ...config };
    // The second saying counts, so there is none.
    const { text_config_dict, ...once } = both;
    const source = (of: string, content: Uint8Array): Slices => ({
      name: of,
      size: content.length,
      read: async (from, length) => content.slice(from, from + length),
    });
    return openModel(
      plain,
      [
        source('model.safetensors', fileOf(tensors)),
        source('config.json', new TextEncoder().encode(JSON.stringify(once))),
      ],
      drawnOptions(named(name)),
    );
  };

  test('what config.json says is what is run, and what contradicts the tensors is refused by its member', async () => {
    const difference = async (name: string, config: object) => {
      const one = named(name);
      const model = await changed(name, { config });
      const run = await model.forward(inputOf(one), { precision: 'float64' });
      const found = largestDifference(run.last().data, stored(one.last));
      model.delete();
      return found;
    };
    for (const [name, right, others] of [
      ['vit', {}, [{ hidden_act: 'quick_gelu' }, { layer_norm_eps: 1e-6 }, { num_attention_heads: 5 }]],
      ['vit-tanh-unbiased', {}, [{ hidden_act: undefined }]],
      ['clip-text', { hidden_act: undefined }, [{ hidden_act: 'gelu' }]],
      ['clip-vision', { hidden_act: 'quick_gelu' }, [{ hidden_act: 'gelu_new' }]],
      ['dinov2', { hidden_act: undefined, qkv_bias: true }, [{ hidden_act: 'quick_gelu' }]],
      ['siglip-vision', { layer_norm_eps: 1e-6 }, [{ hidden_act: 'gelu' }, { layer_norm_eps: 0.01 }]],
      ['siglip-text', { hidden_act: undefined }, [{ hidden_act: 'quick_gelu' }]],
      ['albert', { hidden_act: undefined }, [{ hidden_act: 'gelu' }, { num_hidden_layers: 2 }]],
      ['albert-groups', {}, [{ num_hidden_layers: 4 }]],
      [
        'whisper',
        { activation_function: undefined, decoder_attention_heads: 10, encoder_layers: undefined },
        [{ activation_function: 'gelu_new' }, { encoder_attention_heads: 5 }],
      ],
      ['whisper-alone-tanh', {}, [{ activation_function: undefined }]],
    ] as const) {
      expect(await difference(name, right), name).toBeLessThan(within.float64);
      for (const config of others)
        expect(await difference(name, config), `${name} ${JSON.stringify(config)}`).toBeGreaterThan(
          within.float32,
        );
    }
    for (const [name, member, said, has] of [
      ['vit', 'hidden_size', 768, 20],
      ['vit', 'image_size', 224, 6],
      ['deit', 'patch_size', 16, 2],
      ['clip-vision', 'image_size', 224, 6],
      ['clip-text', 'vocab_size', 49408, 23],
      ['clip-text', 'max_position_embeddings', 77, 13],
      ['siglip-text', 'max_position_embeddings', 64, 11],
      ['siglip-vision', 'image_size', 224, 6],
      ['dinov2', 'mlp_ratio', 4, 1.4],
      ['dinov2-registers', 'num_register_tokens', 4, 2],
      ['whisper', 'num_mel_bins', 80, 5],
      ['whisper', 'max_source_positions', 1500, 11],
      ['whisper', 'd_model', 384, 20],
      ['albert', 'embedding_size', 128, 12],
      ['albert', 'num_hidden_groups', 2, 1],
      ['albert-groups', 'inner_group_num', 1, 2],
      ['albert-groups', 'num_hidden_groups', undefined, 2],
    ] as const)
      expect(await told(changed(name, { config: { [member]: said } }))).toBe(
        // One group is what it has where nothing is said.
        `RangeError: config.json says ${member} ${said ?? 1}, but by its tensors the model has ${has}.`,
      );
    for (const [name, member, said, has] of [
      ['vit', 'num_hidden_layers', 12, 3],
      ['clip-text', 'num_hidden_layers', 12, 3],
      ['clip-vision', 'intermediate_size', 3072, 28],
      ['whisper', 'encoder_layers', 4, 3],
      ['whisper', 'encoder_ffn_dim', 1536, 28],
    ] as const) {
      const model = await changed(name, { config: { [member]: said } });
      expect(await told(model.forward(inputOf(named(name))))).toBe(
        `RangeError: config.json says ${member} ${said}, but by its tensors the model has ${has}.`,
      );
    }
    for (const [name, member] of [
      ['clip-text', 'hidden_act'],
      ['whisper', 'activation_function'],
    ] as const) {
      const swish = await changed(name, { config: { [member]: 'swish' } });
      expect(await told(swish.forward(inputOf(named(name))))).toBe(
        'RangeError: config.json names the activation "swish"; gelu, gelu_new, gelu_pytorch_tanh, relu, quick_gelu and silu can be run here.',
      );
    }
    expect(await told(changed('whisper', { config: { encoder_attention_heads: 3 } }))).toBe(
      'RangeError: encoder_attention_heads in config.json must divide the model’s width 20; 3 does not.',
    );
    for (const [name, config, says] of [
      ['dinov2', { use_swiglu_ffn: true }, 'use_swiglu_ffn true; DINOv2 can be read with false alone'],
      [
        'dinov2',
        { model_type: 'dinov2_with_registers' },
        'model_type "dinov2_with_registers", but the file has 0 registers',
      ],
      ['dinov2-registers', { model_type: 'dinov2' }, 'model_type "dinov2", but the file has 2 registers'],
      [
        'albert',
        { position_embedding_type: 'relative_key' },
        'position_embedding_type "relative_key"; ALBERT can',
      ],
      [
        'albert',
        { num_hidden_layers: 1e9 },
        'num_hidden_layers in config.json must be a whole number from 1 to 1000',
      ],
      ['siglip-text', { model_type: 'siglip2' }, 'SigLIP 2 is not among the models'],
      [
        'whisper-alone-tanh',
        { scale_embedding: true },
        'scale_embedding true; Whisper’s encoder can be read with false alone',
      ],
    ] as const)
      expect(await told(changed(name, { config }))).toContain(says);
    const endless = await changed('albert', { config: { num_hidden_layers: undefined } });
    expect(endless.layers).toBe(0);
    expect(await told(endless.forward(inputOf(named('albert'))))).toBe(
      'RangeError: The layers of ALBERT share their weights, so that num_hidden_layers in config.json must say how many there are.',
    );
    expect(await told(changed('vit', { config: { qkv_bias: false } }))).toBe(
      'RangeError: config.json says qkv_bias false, but the file has a tensor “vit.encoder.layer.0.attention.attention.query.bias”.',
    );
    expect(await told(changed('timm', { config: { model_args: { act_layer: 'quick_gelu' } } }))).toBe(
      'RangeError: config.json says model_args.act_layer "quick_gelu", which is not read here, and may change what the model computes.',
    );
  });

  test('a text of SigLIP is filled up with padding, which ids are not', async () => {
    const one = named('siglip-text');
    const tokens = ['a', 'b', 'c', 'd', '</s>'];
    const tokenizer = {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: [],
      normalizer: null,
      pre_tokenizer: { type: 'WhitespaceSplit' },
      post_processor: null,
      decoder: null,
      model: {
        type: 'WordLevel',
        unk_token: 'a',
        vocab: Object.fromEntries(tokens.map((token, at) => [token, one.ids?.[at] as number])),
      },
    };
    writeFileSync(join(folder, one.name, 'tokenizer.json'), JSON.stringify(tokenizer));
    const model = await open(one);
    const run = await model.forward('a b c d </s>', { precision: 'float64' });
    expect([run.sentence.ids, run.sentence.tokens.at(-1)]).toEqual([one.ids, '[padding]']);
    expectNear('last', one, run.last().data, stored(one.last), within.float64);
    expect((await model.forward({ ids: one.ids?.slice(0, 5) ?? [] })).n).toBe(5);
    model.delete();
  });

  test('registers have no position, and stand between the class and the patches', async () => {
    const one = named('dinov2-registers');
    const model = await open(one);
    expect(model).toMatchObject({ name: 'DINOv2 with registers', positions: 9, apart: [0, 1, 2] });
    const rows = await model.rows(seenBy(one, 0));
    const d = model.d_model;
    expect(rows.position?.data.subarray(0, 3 * d).every((value) => value === 0)).toBe(true);
    expect(rows.position?.data.subarray(3 * d).every((value) => value === 0)).toBe(false);
    const { sentence } = await model.decompose(seenBy(one, 0));
    expect(sentence.tokens.slice(0, 4)).toEqual(['[class]', '[register 1]', '[register 2]', '0,0']);
    // One row of the table stands apart, that of the class.
    expect((await model.report()).position?.rows).toHaveLength(10);
    model.delete();
  });

  test('a sound has two frames for each position, all of them, and no text or picture is one', async () => {
    const one = named('whisper');
    const model = await open(one);
    expect(model).toMatchObject({
      parts: ['whisper-decoder', 'whisper-encoder'],
      frames: { rows: 22, columns: 5 },
      positions: 11,
      vocabulary: 0,
      summands: ['frame', 'position'],
      readsText: false,
      picture: undefined,
    });
    const { frames } = seenBy(one, 0) as { frames: Table };
    const { sentence } = await model.decompose({ frames });
    expect(sentence.tokens).toEqual(Array.from({ length: 11 }, (_, place) => String(place)));
    const single = { ...frames, data: Float32Array.from(frames.data) };
    const run = await model.forward({ frames: single });
    expectNear('last', one, run.last().data, stored(one.last), within.float32);
    const shorter = { data: frames.data.subarray(5), rows: 21, columns: 5 };
    const other = { data: frames.data.subarray(22), rows: 22, columns: 4 };
    const none = { ...frames, data: Float64Array.from(frames.data, (value, at) => (at === 9 ? NaN : value)) };
    for (const [input, says] of [
      [{ frames: shorter }, 'RangeError: frames must have 22 rows; it has 21.'],
      [{ frames: other }, 'RangeError: frames must have 5 columns; it has 4.'],
      [{ frames: none }, 'RangeError: frames.data must be finite; value 9 is NaN.'],
      [{ frames: 5 }, 'TypeError: frames must be an object; it is 5.'],
      [{ ids: [1] }, 'TypeError: input must be an object with frames; it is an object.'],
      [5, 'TypeError: input must be an object with frames; it is 5.'],
      [null, 'TypeError: input must be an object with frames; it is null.'],
      ['a text', 'RangeError: Whisper’s encoder reads no text; give frames.'],
    ] as const)
      expect(await told(model.forward(input as never))).toBe(says);
    expect(await told(model.changed({ frames }, { shift: 1 }))).toBe(
      "RangeError: A sound takes all positions of Whisper’s encoder: give { mean: 'sentence' } or { order }.",
    );
    const order = Array.from({ length: 11 }, (_, at) => 10 - at);
    const rows = await model.rows({ frames });
    const turned = await model.changed({ frames }, { order });
    expect(turned.position?.data).toEqual(rows.position?.data);
    expect(turned.frame?.data.subarray(0, 20)).toEqual(rows.frame?.data.subarray(200));
    const taken = await model.withoutPositions({ frames }, { by: 'copied' });
    expect(taken.everything?.rows).toBe(4);
    const vit = await open(named('vit'));
    expect(await told(vit.forward({ frames }))).toContain('an object with a picture or patches');
    const { token, position, gram } = await model.report();
    expect([token, position?.rows.length, gram?.raw.rows]).toEqual([undefined, 11, 11]);
    model.delete();
  });

  test('a tensor that is missing or that the family has not is refused by its name', async () => {
    const without = (name: string, tensor: string) => {
      const { [tensor]: taken, ...tensors } = tensorsOf(name);
      expect(taken, tensor).toBeDefined();
      return tensors;
    };
    for (const [name, tensor] of [
      ['vit', 'vit.encoder.layer.1.output.dense.weight'],
      ['vit', 'vit.encoder.layer.2.layernorm_after.bias'],
      ['vit', 'vit.encoder.layer.2.attention.attention.value.bias'],
      ['deit', 'deit.layernorm.weight'],
      ['timm', 'blocks.1.attn.qkv.bias'],
      ['timm', 'norm.bias'],
      ['clip-text', 'text_model.final_layer_norm.weight'],
      ['clip-text', 'text_model.encoder.layers.1.mlp.fc1.bias'],
      ['clip-vision', 'vision_model.post_layernorm.bias'],
      ['clip-vision', 'vision_model.encoder.layers.2.self_attn.out_proj.weight'],
      ['dinov2', 'dinov2.encoder.layer.1.layer_scale2.lambda1'],
      ['siglip-text', 'text_model.final_layer_norm.bias'],
      ['siglip-vision', 'vision_model.post_layernorm.weight'],
      ['albert-groups', 'albert.encoder.albert_layer_groups.1.albert_layers.1.ffn.weight'],
      ['albert', 'albert.encoder.embedding_hidden_mapping_in.bias'],
      ['whisper', 'model.encoder.conv1.bias'],
      ['whisper', 'model.encoder.conv2.weight'],
      ['whisper', 'model.encoder.layer_norm.weight'],
      ['whisper', 'model.encoder.layers.2.self_attn.v_proj.bias'],
    ] as const) {
      const ask = async () => {
        // Of a layer that is missing, config.json knows too.
        const config = name.startsWith('albert') ? {} : { num_hidden_layers: undefined };
        const model = await changed(name, { tensors: without(name, tensor), config });
        return model.forward(inputOf(named(name)));
      };
      expect(await told(ask())).toBe(`RangeError: The file lacks the tensor “${tensor}”.`);
    }
    expect(
      await told(
        changed('vit', { tensors: without('vit', 'vit.encoder.layer.0.attention.attention.key.bias') }),
      ),
    ).toContain('lacks the tensor “vit.encoder.layer.0.attention.attention.key.bias”');
    const like = (name: string) => tensorsOf(name);
    for (const [name, surplus] of [
      ['vit', 'vit.encoder.layer.1.layer_scale1.gamma'],
      ['timm', 'blocks.0.ls1.gamma'],
      ['timm', 'reg_token'],
      ['clip-text', 'text_model.embeddings.norm.weight'],
      ['clip-vision', 'vision_model.embeddings.patch_embedding.bias'],
      ['dinov2', 'dinov2.embeddings.camera'],
      ['siglip-text', 'text_model.encoder.layers.0.layer_norm3.weight'],
      ['siglip-vision', 'vision_model.embeddings.class_embedding'],
      ['albert', 'albert.encoder.albert_layer_groups.0.albert_layers.0.attention.self.weight'],
      ['whisper', 'model.encoder.conv3.weight'],
      ['whisper', 'model.encoder.layers.1.self_attn.k_proj.bias'],
    ] as const) {
      const { shape, ...rest } = Object.values(like(name))[0] as Tensors[string];
      expect(
        await told(changed(name, { tensors: { ...like(name), [surplus]: { ...rest, shape } } })),
      ).toMatch(new RegExp(`^RangeError: The file has a tensor “${surplus}”, which .* has not`));
    }
    // In one layer alone, a bias belongs to another model.
    const odd = 'vit.encoder.layer.2.attention.attention.key.bias';
    const tensors = { ...like('vit-tanh-unbiased'), [odd]: like('vit')[odd] as Tensors[string] };
    const model = await changed('vit-tanh-unbiased', { tensors });
    expect(await told(model.forward(inputOf(named('vit'))))).toBe(
      `RangeError: The file has a tensor “${odd}”, but layer 0 has no such bias.`,
    );
  });
});
