// All layers of a reader's model of the BERT family, read one after another and run by the second module.
import * as check from '../check.js';
import type { FloatsOf, Linear, Precision } from '../table.js';
import { type Opened, tensorsOf } from './firstLayer.js';
import type { FamilyId, Layout } from './layout.js';
import type { EncoderParts } from './resident.js';
import type { CountedWatch } from './slices.js';

const bert = {
  query: 'attention.self.query',
  key: 'attention.self.key',
  value: 'attention.self.value',
  output: 'attention.output.dense',
  attentionNorm: 'attention.output.LayerNorm',
  up: 'intermediate.dense',
  down: 'output.dense',
  mlpNorm: 'output.LayerNorm',
};
const distilBert = {
  query: 'attention.q_lin',
  key: 'attention.k_lin',
  value: 'attention.v_lin',
  output: 'attention.out_lin',
  attentionNorm: 'sa_layer_norm',
  up: 'ffn.lin1',
  down: 'ffn.lin2',
  mlpNorm: 'output_layer_norm',
};

const mpnet = {
  ...bert,
  query: 'attention.attn.q',
  key: 'attention.attn.k',
  value: 'attention.attn.v',
  output: 'attention.attn.o',
  attentionNorm: 'attention.LayerNorm',
};
const byFamily: Partial<Record<FamilyId, typeof bert>> = {
  bert,
  roberta: bert,
  electra: bert,
  distilbert: distilBert,
  mpnet,
};

/** The names of a layer’s tensors, after its number; undefined for a family whose layers cannot be run. */
function namesOf({ family, query }: Layout) {
  const parts = byFamily[family];
  const [, before] = query?.weight.match(/^(.*\blayer\.)0\./) ?? [];
  return parts && before !== undefined ? { parts, before } : undefined;
}

/** How many layers can be run: 0 for families other than those of modelFamilies that say so. */
export function layersIn({ tensors }: Opened['checkpoint'], layout: Layout): number {
  const names = namesOf(layout);
  let count = 0;
  while (names && tensors.has(`${names.before}${count}.${names.parts.down}.weight`)) count += 1;
  return count;
}

/** The model’s layers, read one at a time, so that at most one of the file is in memory twice. */
export function ownLayers(
  { superpose, checkpoint, layout, heads, epsilon }: Opened,
  config: unknown,
): EncoderParts {
  const names = namesOf(layout);
  if (!names) throw new RangeError(`The layers after the first scores of ${layout.name} are not run here.`);
  let sizes: ReadonlyMap<number, number> | undefined;
  const reader = <P extends Precision>(precision: P, watch: CountedWatch) => {
    const of = tensorsOf(checkpoint, precision, watch);
    return {
      of,
      async norm(name: string) {
        const [gamma, beta] = checkpoint.tensors.has(`${name}.gamma`)
          ? ['gamma', 'beta']
          : ['weight', 'bias'];
        const whole = (kind: string) => of.whole(present(checkpoint, `${name}.${kind}`));
        return {
          kind: 'layer_norm' as const,
          gamma: (await whole(gamma as string)).data,
          beta: (await whole(beta as string)).data,
          epsilon,
        };
      },
      linear: (name: string): Promise<Linear<FloatsOf<P>>> =>
        of.linear({
          weight: present(checkpoint, `${name}.weight`),
          bias: present(checkpoint, `${name}.bias`),
        }),
    };
  };
  return {
    async begin(precision, watch) {
      const activation = activationOf(config);
      const { of, norm } = reader(precision, watch);
      const { embeddingNorm, projection, relativeBias } = layout;
      return superpose.encoder({
        d_model: layout.d_model,
        heads,
        precision,
        activation,
        ...(embeddingNorm && { embeddingNorm: await norm(embeddingNorm.gamma.replace(/\.\w+$/, '')) }),
        ...(projection && { projection: await of.linear(projection) }),
        ...(relativeBias && { relativeBias: await of.whole(relativeBias) }),
      });
    },
    async layer(number, precision, watch) {
      const { norm, linear } = reader(precision, watch);
      const name = (part: keyof typeof bert) => `${names.before}${number}.${names.parts[part]}`;
      return {
        query: await linear(name('query')),
        key: await linear(name('key')),
        value: await linear(name('value')),
        output: await linear(name('output')),
        attentionNorm: await norm(name('attentionNorm')),
        up: await linear(name('up')),
        down: await linear(name('down')),
        mlpNorm: await norm(name('mlpNorm')),
      };
    },
    bytes(number) {
      sizes ??= sizesOf(checkpoint, names.before);
      return sizes.get(number) ?? 0;
    },
    // A large model in double precision leaves no room for it in single.
    alone: true,
  };
}

/** The bytes of each layer, in one pass: a file may have thousands of both. */
function sizesOf({ tensors }: Opened['checkpoint'], before: string): ReadonlyMap<number, number> {
  const sizes = new Map<number, number>();
  for (const { name, begin, end } of tensors.values()) {
    if (!name.startsWith(before)) continue;
    const number = Number.parseInt(name.slice(before.length), 10);
    sizes.set(number, (sizes.get(number) ?? 0) + end - begin);
  }
  return sizes;
}

function present({ tensors }: Opened['checkpoint'], name: string): string {
  if (!tensors.has(name)) throw new RangeError(`The file lacks the tensor ${check.shown(name)}.`);
  return name;
}

/** Exact GELU unless config.json says otherwise: every published model of these families has it. */
function activationOf(config: unknown): 'gelu' | 'gelu_tanh' {
  const { hidden_act, activation } = (config ?? {}) as Record<string, unknown>;
  const name = hidden_act ?? activation ?? 'gelu';
  if (name === 'gelu') return 'gelu';
  if (name === 'gelu_new' || name === 'gelu_pytorch_tanh') return 'gelu_tanh';
  throw new RangeError(
    `config.json names the activation ${check.shown(name)}; gelu and gelu_new can be run here.`,
  );
}
