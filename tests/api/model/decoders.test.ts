// GPT-2 and OPT through all their layers, against numpy: tests/reference/drawn_decoders.py draws models of each kind anew in
// each run, in the layouts of published files.
import type { CorpusMeans, Floats } from 'superpose';
import { beforeAll, describe, expect, test } from 'vitest';
import { withoutNumpy } from '../../tools/support/numpy.ts';
import { builds, plain } from '../support/builds.ts';
import type { Stored } from '../support/drawnModels.ts';
import { largestDifference } from '../support/numbers.ts';
import { type DrawnModel, drawing, refused as told, within } from './drawn.ts';

interface Drawn extends DrawnModel {
  shares: Record<string, Stored>;
}

const { seed, draw, stored, open, expectNear, changed } = drawing<
  Drawn,
  { layers: number; heads: number; cases: Drawn[] }
>('decoders');

(withoutNumpy ? describe.skip : describe)('models drawn at random', () => {
  let drawn: { layers: number; heads: number; cases: Drawn[] };
  const each = (run: (layer: number) => void) => {
    for (let layer = 0; layer < drawn.layers; layer++) run(layer);
  };

  beforeAll(async () => {
    drawn = await draw();
  }, 120_000);

  test.each(['float64', 'float32'] as const)(
    'states, logits, attention and the embedding, in %s',
    async (precision) => {
      const bound = within[precision];
      for (const by of precision === 'float64' ? [plain] : builds.map(({ superpose }) => superpose)) {
        for (const one of drawn.cases) {
          const model = await open(one.name, by);
          expect(model).toMatchObject({ family: one.family, layers: 3, causal: true, apart: one.apart });
          const run = await model.forward({ ids: one.ids }, { precision });
          const near = (what: string, ours: Floats, theirs: Float64Array) =>
            expectNear(what, one, ours, theirs, bound);
          near('state 0', run.state(0).data, stored(one.states, 0));
          each((layer) => {
            near(`state ${layer + 1}`, run.state(layer + 1).data, stored(one.states, layer + 1));
            near(`logits ${layer}`, run.logits(layer), stored(one.logits, layer));
            near(`attention ${layer}`, run.attention(layer), stored(one.attention, layer));
          });
          near('last', run.last().data, stored(one.last));
          near('embedding', run.embedding, stored(one.embedding));
          model.delete();
        }
      }
    },
    120_000,
  );

  test('every term of every layer, in all three ways and both gauges, and the shares', async () => {
    for (const one of drawn.cases) {
      const model = await open(one.name);
      const means = {
        states: Array.from({ length: drawn.layers + 1 }, (_, layer) => ({
          mean: stored(one.mean, layer),
          position: { data: stored(one.position, layer), rows: one.ids.length, columns: model.d_model },
          first: one.apart.length,
        })),
      } as unknown as CorpusMeans;
      for (const [kind, theirs] of Object.entries(one.terms)) {
        const [way, gauge] = kind.split(' ') as ['direct' | 'streams' | 'mean', 'canonical' | 'raw'];
        for (let layer = 0; layer < drawn.layers; layer++) {
          const scores = await model.decompose({ ids: one.ids }, { layer, way, gauge, means });
          expect(scores.parts).toEqual(
            way === 'mean'
              ? ['position', 'content', 'constant']
              : ['token', 'position', 'attention', 'mlp', 'constant'],
          );
          expect(Math.max(...scores.residuals)).toBeLessThan(within.float64);
          expectNear(`terms ${kind} ${layer}`, one, scores.terms, stored(theirs, layer), within.float64);
          const shares = one.shares[kind];
          // A share is divided by what may be small.
          if (shares) expectNear(`shares ${kind} ${layer}`, one, scores.shares, stored(shares, layer), 1e-8);
        }
      }
      // The short way to the first layer's scores.
      const short = await model.decompose({ ids: one.ids });
      expectNear('first scores', one, short.logits, stored(one.logits, 0), within.float64);
      model.delete();
    }
  }, 120_000);

  test('each wrong reading of these files gives other numbers', () => {
    for (const { name, wrong } of drawn.cases) {
      expect(Object.keys(wrong).length).toBeGreaterThanOrEqual(9);
      for (const [what, difference] of Object.entries(wrong))
        expect(difference, `seed ${seed}, ${name}: ${what}`).toBeGreaterThan(2 * within.float32);
    }
  });

  test('what config.json says is what is run: with another flag the numbers are other ones', async () => {
    const changes: Record<string, object[]> = {
      gpt2: [
        { scale_attn_weights: false },
        { scale_attn_by_inverse_layer_idx: true },
        { activation_function: 'gelu' },
        { activation_function: 'relu' },
        { n_head: 2 },
        { layer_norm_epsilon: 1e-5 },
      ],
      'gpt2-relu-head': [{ activation_function: undefined }],
      opt: [{ activation_function: 'gelu' }, { num_attention_heads: 5 }],
    };
    for (const [name, all] of Object.entries(changes)) {
      const one = drawn.cases.find((found) => found.name === name) as Drawn;
      const differs = async (change: object) => {
        const model = await changed(name, change);
        const run = await model.forward({ ids: one.ids }, { precision: 'float64', scores: false });
        const last = run.last().data;
        model.delete();
        return largestDifference(last, stored(one.last));
      };
      expect(await differs({})).toBeLessThan(within.float64);
      for (const change of all)
        expect(await differs(change), `${name} ${JSON.stringify(change)}`).toBeGreaterThan(within.float32);
    }
  });

  test('a config.json that contradicts the tensors is refused by its member', async () => {
    for (const [name, change, size] of [
      ['gpt2', { vocab_size: 50257 }, 23],
      ['gpt2', { n_positions: 1024 }, 17],
      ['gpt2', { n_embd: 768 }, 20],
      ['opt', { hidden_size: 768 }, 20],
      ['opt', { max_position_embeddings: 17 }, 15],
      ['opt', { word_embed_proj_dim: 12 }, 20],
      ['opt-350m', { word_embed_proj_dim: 20 }, 12],
    ] as const) {
      const [[member, value]] = Object.entries(change) as [[string, number]];
      expect(await told(changed(name, change))).toBe(
        `RangeError: config.json says ${member} ${value}, but by its tensors the model has ${size}.`,
      );
    }
    const more = await changed('gpt2', { n_layer: 12 });
    const [{ ids }] = drawn.cases as [Drawn];
    expect(await told(more.forward({ ids }))).toBe(
      'RangeError: config.json says n_layer 12, but by its tensors the model has 3.',
    );
    // The first scores need no more than the first layer.
    expect((await more.decompose({ ids })).n).toBe(ids.length);
    for (const [name, member] of [
      ['gpt2', 'n_inner'],
      ['opt', 'ffn_dim'],
    ] as const) {
      const wide = await changed(name, { [member]: 80 });
      expect(await told(wide.forward({ ids }))).toBe(
        `RangeError: config.json says ${member} 80, but by its tensors the model has 28.`,
      );
      // Published files of GPT-2 leave it open.
      const open = await changed(name, { [member]: null });
      expect((await open.forward({ ids }, { scores: false })).n).toBe(ids.length);
      open.delete();
    }
    const swish = await changed('opt', { activation_function: 'swish' });
    expect(await told(swish.forward({ ids }))).toBe(
      'RangeError: config.json names the activation "swish"; gelu, gelu_new, gelu_pytorch_tanh, relu, quick_gelu and silu can be run here.',
    );
  });
});
