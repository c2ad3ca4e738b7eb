// All layers of a reader's model of the BERT family, read one after another and run by the second module.
import * as check from '../check.js';
import type { Linear, Precision } from '../table.js';
import type { Encoder, EncoderLayer } from './encoder.js';
import { type Opened, tensorsOf } from './firstLayer.js';
import type { FamilyId, Layout, LinearNames } from './layout.js';
import { counted, type SlicesWatch } from './slices.js';

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

/** How many layers can be run: 0 for families other than BERT, RoBERTa, ELECTRA, DistilBERT and MPNet. */
export function layersIn({ tensors }: Opened['checkpoint'], layout: Layout): number {
  const names = namesOf(layout);
  let count = 0;
  while (names && tensors.has(`${names.before}${count}.${names.parts.down}.weight`)) count += 1;
  return count;
}

/** An encoder with the model’s first layers. The caller must delete it. */
export async function ownEncoder<P extends Precision>(
  { superpose, checkpoint, layout, heads, epsilon }: Opened,
  config: unknown,
  layers: number,
  precision: P,
  waiting: SlicesWatch,
): Promise<Encoder<ArrayOf<P>>> {
  const names = namesOf(layout);
  if (!names) throw new RangeError(`The layers after the first scores of ${layout.name} are not run here.`);
  const activation = activationOf(config);
  const all = [...checkpoint.tensors.values()].filter(({ name }) =>
    Array.from({ length: layers }, (_, layer) => `${names.before}${layer}.`).some((own) =>
      name.startsWith(own),
    ),
  );
  const watch = counted(waiting);
  // Count all layers from the start, though they are read one at a time.
  watch.wanted(all.reduce((sum, { begin, end }) => sum + end - begin, 0));
  const reading = { ...watch, wanted: () => {} };
  const of = tensorsOf(checkpoint, precision, reading);
  const before = tensorsOf(checkpoint, precision, watch);
  const norm = async (name: string, from = of) => {
    const [gamma, beta] = checkpoint.tensors.has(`${name}.gamma`) ? ['gamma', 'beta'] : ['weight', 'bias'];
    const whole = (kind: string) => from.whole(present(checkpoint, `${name}.${kind}`));
    return {
      kind: 'layer_norm' as const,
      gamma: (await whole(gamma as string)).data,
      beta: (await whole(beta as string)).data,
      epsilon,
    };
  };
  const linear = (name: string): Promise<Linear<ArrayOf<P>>> =>
    of.linear({
      weight: present(checkpoint, `${name}.weight`),
      bias: present(checkpoint, `${name}.bias`),
    } satisfies LinearNames);
  const { embeddingNorm, projection, relativeBias } = layout;
  const encoder = superpose.encoder<P>({
    d_model: layout.d_model,
    heads,
    precision,
    activation,
    ...(embeddingNorm && { embeddingNorm: await norm(embeddingNorm.gamma.replace(/\.\w+$/, ''), before) }),
    ...(projection && { projection: await before.linear(projection) }),
    ...(relativeBias && { relativeBias: await before.whole(relativeBias) }),
  });
  try {
    for (let layer = 0; layer < layers; layer++) {
      const name = (part: keyof typeof bert) => `${names.before}${layer}.${names.parts[part]}`;
      // One layer at a time, so that at most one layer of the file is in memory twice.
      const next: EncoderLayer<ArrayOf<P>> = {
        query: await linear(name('query')),
        key: await linear(name('key')),
        value: await linear(name('value')),
        output: await linear(name('output')),
        attentionNorm: await norm(name('attentionNorm')),
        up: await linear(name('up')),
        down: await linear(name('down')),
        mlpNorm: await norm(name('mlpNorm')),
      };
      of.forget();
      encoder.addLayer(next);
    }
  } catch (error) {
    encoder.delete();
    throw error;
  }
  return encoder;
}

type ArrayOf<P extends Precision> = import('../table.js').FloatsOf<P>;

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
