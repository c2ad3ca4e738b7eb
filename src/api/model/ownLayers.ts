// All layers of a reader's model, read one after another and run by the second module.
import * as check from '../check.js';
import type { FloatsOf, Linear, Precision } from '../table.js';
import { present, shaped } from './checkpoint.js';
import type { ActivationName } from './encoder.js';
import { beforeLayers, type Opened, queryFactor, tensorsOf } from './firstLayer.js';
import { type Config, refuseSizes } from './headerTensors.js';
import { bert, distilBert, gpt2, type LayerParts, mpnet, opt } from './layerParts.js';
import { type FamilyId, type Layout, type LinearNames, listed } from './layout.js';
import type { EncoderParts } from './resident.js';
import type { CountedWatch } from './slices.js';

interface FamilyLayers {
  /** The names of a layer’s tensors, after its number. */
  parts: LayerParts;
  /** The member of config.json that names the activation, and what it is where it does not; BERT’s unless given. */
  activation?: readonly [member: string, name: string];
  /** The member that gives the width of the MLP; BERT’s unless given. */
  inner?: string;
}
const byFamily: Partial<Record<FamilyId, FamilyLayers>> = {
  bert: { parts: bert },
  roberta: { parts: bert },
  electra: { parts: bert },
  distilbert: { parts: distilBert, activation: ['activation', 'gelu'], inner: 'hidden_dim' },
  mpnet: { parts: mpnet },
  gpt2: { parts: gpt2, activation: ['activation_function', 'gelu_new'], inner: 'n_inner' },
  opt: { parts: opt, activation: ['activation_function', 'relu'], inner: 'ffn_dim' },
};

/** By config.json's names. */
const activations: Readonly<Record<string, ActivationName>> = {
  gelu: 'gelu',
  gelu_new: 'gelu_tanh',
  gelu_pytorch_tanh: 'gelu_tanh',
  relu: 'relu',
};

/** What the layers of a family are called; undefined for one whose layers cannot be run. */
function namesOf({ family, query }: Layout) {
  const found = byFamily[family];
  const [, before] = query?.weight.match(/^(.*\b(?:layer|layers|h)\.)0\./) ?? [];
  return found && before !== undefined ? { ...found, before } : undefined;
}

/** How many layers can be run: 0 for families other than those of modelFamilies that say so. */
export function layersIn({ tensors }: Opened['checkpoint'], layout: Layout): number {
  const names = namesOf(layout);
  let count = 0;
  while (names && tensors.has(`${names.before}${count}.${names.parts.down}.weight`)) count += 1;
  return count;
}

/** The model’s layers, read one at a time, so that at most one of the file is in memory twice. */
export function ownLayers(opened: Opened, config: Config): EncoderParts {
  const { checkpoint, layout, epsilon } = opened;
  const names = namesOf(layout);
  if (!names) throw new RangeError(`The layers after the first scores of ${layout.name} are not run here.`);
  const { before, parts } = names;
  present(checkpoint, `${before}0.${parts.down}.weight`);
  const joined = parts.query === parts.value;
  const d = layout.d_model;
  const { shape } = present(checkpoint, `${before}0.${parts.up}.weight`);
  const inner = shape[layout.query?.transposed ? 1 : 0] ?? 0;
  let sizes: ReadonlyMap<number, number> | undefined;
  const reader = <P extends Precision>(precision: P, watch: CountedWatch) => {
    const of = tensorsOf(checkpoint, precision, watch);
    return {
      of,
      norm(name: string) {
        const [gamma, beta] = checkpoint.tensors.has(`${name}.gamma`)
          ? ['gamma', 'beta']
          : ['weight', 'bias'];
        const shape = [d];
        return of.norm(
          {
            gamma: shaped(checkpoint, `${name}.${gamma}`, shape),
            beta: shaped(checkpoint, `${name}.${beta}`, shape),
          },
          epsilon,
        );
      },
      /** A map [out, in], or one of three in one tensor; in some families tensors are [in, out]. */
      linear(
        name: string,
        out: number,
        into: number,
        place?: number,
        factor?: number,
      ): Promise<Linear<FloatsOf<P>>> {
        const { transposed = false } = layout.query as LinearNames;
        const rows = place === undefined ? out : 3 * out;
        const tensors = {
          weight: shaped(checkpoint, `${name}.weight`, transposed ? [into, rows] : [rows, into]),
          bias: shaped(checkpoint, `${name}.bias`, [rows]),
        };
        return of.linear(
          { ...tensors, transposed, ...(place !== undefined && { block: [place, 3] as const }) },
          factor,
        );
      },
    };
  };
  return {
    async begin(precision, watch) {
      // A file that was cut short may lack whole layers.
      const count = layersIn(checkpoint, layout);
      refuseSizes(config, { num_hidden_layers: count, n_layer: count, n_layers: count });
      refuseSizes(config, { [names.inner ?? 'intermediate_size']: inner });
      const activation = activationOf(config, names.activation);
      const { of, norm } = reader(precision, watch);
      const { finalNorm } = layout;
      return beforeLayers(opened, of, precision, {
        activation,
        ...(finalNorm && { finalNorm: await norm(finalNorm) }),
      });
    },
    async layer(number, precision, watch) {
      const { norm, linear } = reader(precision, watch);
      const name = (part: keyof LayerParts) => `${before}${number}.${parts[part]}`;
      const square = (part: 'query' | 'key' | 'value', place: number, factor?: number) =>
        linear(name(part), d, d, joined ? place : undefined, factor);
      return {
        query: await square('query', 0, queryFactor(opened, number)),
        key: await square('key', 1),
        value: await square('value', 2),
        output: await linear(name('output'), d, d),
        attentionNorm: await norm(name('attentionNorm')),
        up: await linear(name('up'), inner, d),
        down: await linear(name('down'), d, inner),
        mlpNorm: await norm(name('mlpNorm')),
      };
    },
    bytes(number) {
      sizes ??= sizesOf(checkpoint, before);
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
    // GPT-2's files hold masks too.
    if (!name.startsWith(before) || /\.attn\.(masked_)?bias$/.test(name)) continue;
    const number = Number.parseInt(name.slice(before.length), 10);
    sizes.set(number, (sizes.get(number) ?? 0) + end - begin);
  }
  return sizes;
}

function activationOf(
  config: Config,
  [member, usual]: readonly [string, string] = ['hidden_act', 'gelu'],
): ActivationName {
  const name = config[member] ?? usual;
  const found = typeof name === 'string' && Object.hasOwn(activations, name) ? activations[name] : undefined;
  if (found) return found;
  throw new RangeError(
    `config.json names the activation ${check.shown(name)}; ${listed(Object.keys(activations))} can be run here.`,
  );
}
