// All layers of a reader's model, read one after another and run by the whole module.
import * as check from '../check.js';
import { type Floats, type FloatsOf, type Precision, rounded } from '../table.js';
import type { Angles } from './angles.js';
import { present, shaped } from './checkpoint.js';
import type { ActivationName } from './encoder.js';
import { beforeLayers, headsOf, type Opened, queryFactor, tensorsOf } from './firstLayer.js';
import { type Config, membersOf, quoted, refuseSizes } from './headerTensors.js';
import {
  albert,
  bert,
  clip,
  dinov2,
  distilBert,
  gpt2,
  type LayerParts,
  mpnet,
  opt,
  timm,
  vit,
} from './layerParts.js';
import { type FamilyId, type LayerFacts, type Layout, type LinearNames, listed } from './layout.js';
import type { EncoderParts } from './resident.js';
import type { CountedWatch } from './slices.js';
import type { ReadMap } from './steps.js';

interface FamilyLayers {
  /** The names of a layer’s tensors, after its number. */
  parts: LayerParts;
  /** The same where the file has other names than those. */
  or?: LayerParts;
  /** What multiplies each channel of what a layer writes, after its number. */
  scales?: { output: string; down: string };
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
  albert: { parts: albert, activation: ['hidden_act', 'gelu_new'] },
  mpnet: { parts: mpnet },
  gpt2: { parts: gpt2, activation: ['activation_function', 'gelu_new'], inner: 'n_inner' },
  opt: { parts: opt, activation: ['activation_function', 'relu'], inner: 'ffn_dim' },
  'whisper-encoder': {
    parts: opt,
    activation: ['activation_function', 'gelu'],
    inner: 'encoder_ffn_dim',
  },
  vit: { parts: vit, or: timm },
  dinov2: {
    parts: dinov2,
    scales: { output: 'layer_scale1.lambda1', down: 'layer_scale2.lambda1' },
  },
  'siglip-text': { parts: clip, activation: ['hidden_act', 'gelu_pytorch_tanh'] },
  'siglip-vision': { parts: clip, activation: ['hidden_act', 'gelu_pytorch_tanh'] },
  'clip-text': { parts: clip, activation: ['hidden_act', 'quick_gelu'] },
  'clip-vision': { parts: clip, activation: ['hidden_act', 'quick_gelu'] },
};

/** By config.json's names. */
const activations: Readonly<Record<string, ActivationName>> = {
  gelu: 'gelu',
  gelu_new: 'gelu_tanh',
  gelu_pytorch_tanh: 'gelu_tanh',
  relu: 'relu',
  quick_gelu: 'quick_gelu',
  silu: 'silu',
};

/** What the layers of a family are called; undefined for one whose layers cannot be run. */
function namesOf({ family, layer: own, query, shared }: Layout) {
  const found = byFamily[family];
  const [, root, middle = '', name = ''] =
    query?.weight.match(
      /^(.*?\b(?:layer|layers|h|block|blocks|albert_layer_groups)\.)0\.(albert_layers\.)?(.*)\.weight$/,
    ) ?? [];
  const usual = own?.parts ?? found?.parts;
  if (!usual || root === undefined) return undefined;
  const parts = found?.or && !name.endsWith(usual.query) ? found.or : usual;
  const inner = own ? own.inner : (found?.inner ?? 'intermediate_size');
  /** What the names of a layer’s tensors begin with. */
  const layer = (number: number) => {
    if (!shared) return `${root}${number}.`;
    const rounds = shared.layers / shared.inner;
    const group = Math.floor(Math.floor(number / shared.inner) / (rounds / shared.groups));
    return `${root}${group}.${middle}${number % shared.inner}.`;
  };
  return { parts, root, layer, inner, activation: found?.activation, scales: found?.scales };
}

/** How many layers can be run: 0 for families other than those of modelFamilies that say so. */
export function layersIn({ tensors }: Opened['checkpoint'], layout: Layout): number {
  const names = namesOf(layout);
  const has = (number: number) => names && tensors.has(`${names.layer(number)}${names.parts.down}.weight`);
  if (layout.shared) return has(0) ? layout.shared.layers : 0;
  let count = 0;
  while (has(count)) count += 1;
  return count;
}

/** The model’s layers; their maps are read when they are added. */
export function ownLayers(opened: Opened, all: Config): EncoderParts {
  const { superpose, checkpoint, layout, heads, epsilon } = opened;
  const config = membersOf(all, layout.config.within);
  const names = namesOf(layout);
  if (!names) throw new RangeError(`The layers after the first scores of ${layout.name} are not run here.`);
  const { parts } = names;
  const { layer: own, norms } = layout;
  if (layout.shared?.layers === 0)
    throw new RangeError(
      `The layers of ${layout.name} share their weights, so that num_hidden_layers in config.json must say how many there are.`,
    );
  present(checkpoint, `${names.layer(0)}${parts.down}.weight`);
  const joined = parts.query === parts.value;
  const d = layout.d_model;
  const { shape } = present(checkpoint, `${names.layer(0)}${parts.down}.weight`);
  const inner = shape[layout.query?.transposed ? 0 : 1] ?? 0;
  const { d_head, keyHeads } = own ? headsOf(opened) : { d_head: d / heads, keyHeads: heads };
  const [wide, narrow] = [heads * d_head, keyHeads * d_head];
  let sizes: ReadonlyMap<string, number> | undefined;
  const reader = <P extends Precision>(precision: P, watch: CountedWatch) => {
    const of = tensorsOf(checkpoint, precision, watch);
    return {
      of,
      norm(name: string, width = d, factor = 1) {
        const [gamma, beta] = checkpoint.tensors.has(`${name}.gamma`)
          ? ['gamma', 'beta']
          : ['weight', 'bias'];
        const shape = [width];
        return of.norm(
          {
            gamma: shaped(checkpoint, `${name}.${gamma}`, shape),
            ...(!norms && { beta: shaped(checkpoint, `${name}.${beta}`, shape) }),
          },
          epsilon,
          norms,
          factor,
        );
      },
      /** A map [out, in], or one of several in one tensor; in some families tensors are [in, out]. */
      map(
        name: string,
        [out, into]: readonly [number, number],
        {
          place,
          of: maps = 3,
          factors,
          biased = true,
        }: {
          place?: number | undefined;
          of?: number;
          factors?: Floats | readonly number[];
          biased?: boolean;
        } = {},
      ): Promise<ReadMap<FloatsOf<P>>> {
        const { transposed = false } = layout.query as LinearNames;
        const rows = place === undefined ? out : maps * out;
        if (!biased && checkpoint.tensors.has(`${name}.bias`))
          throw new RangeError(
            `The file has a tensor ${quoted(`${name}.bias`)}, but ${own ? `by its config.json ${layout.name}` : 'layer 0'} has no such bias.`,
          );
        const tensors = {
          weight: shaped(checkpoint, `${name}.weight`, transposed ? [into, rows] : [rows, into]),
          ...(biased && { bias: shaped(checkpoint, `${name}.bias`, [rows]) }),
        };
        const block =
          place === undefined ? {} : { block: [place, maps] as const, ...(own?.byHead && { byHead: heads }) };
        return of.map({ ...tensors, transposed, ...block }, factors);
      },
    };
  };
  return {
    async begin<P extends Precision>(precision: P, watch: CountedWatch) {
      // A file that was cut short may lack whole layers.
      const count = layersIn(checkpoint, layout);
      sizes ??= sizesOf(checkpoint, names.root);
      if (!layout.shared) {
        refuseSizes(config, {
          num_hidden_layers: count,
          n_layer: count,
          n_layers: count,
          num_layers: count,
          encoder_layers: count,
        });
        // A gap is no end.
        if (sizes.size > count) present(checkpoint, `${names.layer(count)}${parts.down}.weight`);
      }
      if (names.inner) refuseSizes(config, { [names.inner]: inner });
      if (own) refuseContradictions(config, own, { d_head, keyHeads, count });
      const activation = own ? activationNamed(own.activation) : activationOf(config, names.activation);
      const { of, norm } = reader(precision, watch);
      const { finalNorm, relative } = layout;
      const { distances } = own ?? {};
      const more = {
        ...(distances && {
          distances: {
            rows: await of.whole(distances.rows),
            ...(distances.norm && { norm: await of.norm(distances.norm, epsilon) }),
            ...distances.buckets,
          },
        }),
        activation,
        ...(finalNorm && { finalNorm: await norm(finalNorm) }),
        ...(own && { d_head, keyHeads, parallel: own.parallel, ...(own.cap && { cap: own.cap }) }),
        ...(relative === 'slopes' && {
          slopes: rounded<FloatsOf<P>>(superpose.alibiSlopes(heads), precision === 'float32'),
        }),
      };
      return beforeLayers(opened, of, precision, more);
    },
    async layer(number, precision, watch) {
      const { of, norm, map } = reader(precision, watch);
      const name = (part: keyof LayerParts) => names.layer(number) + parts[part];
      const { output = true, mlp = true } = own?.biases ?? {};
      const attended = async (part: 'query' | 'key' | 'value', at: number, factor = 1) => {
        const rows = part === 'query' ? wide : narrow;
        const found = await map(name(part), [rows, d], {
          place: joined ? at : undefined,
          factors: [factor],
          // Values have a bias where queries do.
          biased: own ? own.biases.attention : layout[part === 'key' ? 'key' : 'query']?.bias !== undefined,
        });
        const apart = part === 'key' ? undefined : parts[`${part}Bias`];
        if (!apart) return found;
        const { data } = await of.whole(shaped(checkpoint, names.layer(number) + apart, [rows]));
        return { ...found, bias: data };
      };
      /** Of the table of distances. */
      const ofDistances = (part: 'query' | 'key', at: number, factor = 1) => {
        const apart = part === 'query' ? 'distanceQuery' : 'distanceKey';
        if (own?.distances?.shared) return attended(part, at, factor);
        // Of DeBERTa's first version, that of keys has no bias.
        const biased = parts.queryBias === undefined || part === 'query';
        return map(name(apart), [wide, d], { factors: [factor], biased });
      };
      const scale = async (part: 'output' | 'down') => {
        if (!names.scales) return {};
        const scales = shaped(checkpoint, names.layer(number) + names.scales[part], [d]);
        return { factors: (await of.whole(scales)).data };
      };
      const window = own?.window(number);
      const turn = own?.turn(number);
      // A gate may stand above the map that it multiplies, in one tensor.
      const widened = (part: 'gate' | 'up') =>
        map(name(part), [inner, d], {
          ...(parts.gate === parts.up && { place: part === 'gate' ? 0 : 1, of: 2 }),
          biased: mlp,
        });
      const factor = queryFactor(opened, number, d_head);
      return {
        // A norm of queries would take it out again.
        query: await attended('query', 0, parts.queryNorm ? 1 : factor),
        key: await attended('key', 1),
        value: await attended('value', 2),
        output: await map(name('output'), [d, wide], { biased: output, ...(await scale('output')) }),
        ...(!(number === 0 && own?.norms === 'pre but the first') && {
          attentionNorm: await norm(name('attentionNorm')),
        }),
        up: await widened('up'),
        down: await map(name('down'), [d, inner], { biased: mlp, ...(await scale('down')) }),
        mlpNorm: await norm(name('mlpNorm')),
        ...(parts.gate && { gate: await widened('gate') }),
        ...(parts.queryNorm && { queryNorm: await norm(name('queryNorm'), d_head, factor) }),
        ...(parts.keyNorm && { keyNorm: await norm(name('keyNorm'), d_head) }),
        ...(own?.distances?.key && { distanceKey: await ofDistances('key', 1) }),
        ...(own?.distances?.query && { distanceQuery: await ofDistances('query', 0, factor) }),
        ...(parts.outputNorm && { outputNorm: await norm(name('outputNorm')) }),
        ...(parts.downNorm && { downNorm: await norm(name('downNorm')) }),
        ...(turn && { rotary: rotaryOf(superpose, turn, d_head) }),
        // A query counts among the keys that it sees.
        ...(window !== undefined && { window: window - 1 }),
      };
    },
    bytes(number) {
      sizes ??= sizesOf(checkpoint, names.root);
      return sizes.get(names.layer(number)) ?? 0;
    },
    // A large model in double precision leaves no room for it in single.
    alone: true,
  };
}

/** By how many radians a position turns each pair of the channels that turn. */
function rotaryOf(
  { rotaryFrequencies }: Opened['superpose'],
  { base, share, stretch }: Angles,
  d_head: number,
) {
  const channels = Math.floor(d_head * share);
  if (channels < 2 || channels % 2 !== 0)
    throw new RangeError(
      `By config.json ${channels} of the ${d_head} channels of a head turn; they must be an even number, from 2 up.`,
    );
  return { frequencies: rotaryFrequencies({ d_head: channels, base, ...(stretch && { stretch }) }) };
}

/** Throws where config.json does not say what the layers do, or says what the tensors do not. */
function refuseContradictions(
  config: Config,
  { members, turn, window }: LayerFacts,
  { d_head, keyHeads, count }: { d_head: number; keyHeads: number; count: number },
): void {
  if (config.model_type == null)
    throw new RangeError(
      'Without a config.json with a model_type, nothing says what the layers do with their positions. Put it beside the file.',
    );
  const said = Object.entries({ d_head, keyHeads }).flatMap(([size, value]) => {
    const member = members[size as keyof typeof members];
    return member ? [[member, value]] : [];
  });
  refuseSizes(config, Object.fromEntries(said));
  // All of them, before anything is read.
  for (let layer = 0; layer < count; layer++) {
    turn(layer);
    window(layer);
  }
}

/** The bytes of each layer, by what its names begin with, in one pass: a file may have thousands of both. */
function sizesOf({ tensors }: Opened['checkpoint'], root: string): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const { name, begin, end } of tensors.values()) {
    // Files of GPT-2 and GPT-NeoX hold masks too.
    if (!name.startsWith(root) || /\.(attn|attention)\.(masked_)?bias$/.test(name)) continue;
    const [layer] = name.slice(root.length).match(/^\d+\.(?:albert_layers\.\d+\.)?/) ?? [];
    if (layer) sizes.set(root + layer, (sizes.get(root + layer) ?? 0) + end - begin);
  }
  return sizes;
}

const activationOf = (
  config: Config,
  [member, usual]: readonly [string, string] = ['hidden_act', 'gelu'],
): ActivationName => activationNamed(config[member] ?? usual);

function activationNamed(name: unknown): ActivationName {
  const found = typeof name === 'string' && Object.hasOwn(activations, name) ? activations[name] : undefined;
  if (found) return found;
  throw new RangeError(
    `config.json names the activation ${check.shown(name)}; ${listed(Object.keys(activations))} can be run here.`,
  );
}
