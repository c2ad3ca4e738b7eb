// Reads the layers of an opened model, whose tensors the family's descriptor names, one after another while
// they are added to a transformer stack of the full module.
import * as check from '../check.js';
import type { Superpose } from '../fullModule.js';
import { listed } from '../listed.js';
import { present, shapeOf } from './checkpoint.js';
import type { Config, Member } from './descriptor.js';
import { layerTensors, type MapPlace, type MapSize, mapPlace } from './layerTensors.js';
import type { RunnableModel } from './model.js';
import type { ReadMap, ReadTensor } from './readLayer.js';
import { checkSizes, layersIn, nameIn } from './recognize.js';
import { anglesIn } from './rotaryConfig.js';
import type { LayerSource } from './sharedStack.js';
import type { MapName } from './stackLayer.js';
import type { ActivationName } from './transformerStack.js';
import type { CountedWatch } from './watch.js';

/** The activations, by config.json's names. */
const activations: Readonly<Record<string, ActivationName>> = {
  gelu: 'gelu',
  gelu_new: 'gelu_tanh',
  gelu_pytorch_tanh: 'gelu_tanh',
  relu: 'relu',
  silu: 'silu',
};

/** How many heads the keys have, each of which several query heads may share, and the width of a head. */
export function headSizes({
  checkpoint,
  layout,
  heads,
}: Pick<RunnableModel, 'checkpoint' | 'layout' | 'heads'>): { keyHeads: number; d_head: number } {
  const { descriptor, d_model } = layout;
  if (descriptor.positions.kind === 'added') return { keyHeads: heads, d_head: d_model / heads };
  const channelsOf = (part: 'query' | 'key') =>
    shapeOf(checkpoint.tensors, `${nameIn(layout, 0, part)}.weight`, ['rows', d_model])[0] as number;
  const [queries, keys] = [channelsOf('query'), channelsOf('key')];
  const normWidth =
    descriptor.tensors.layer.queryNorm &&
    shapeOf(checkpoint.tensors, `${nameIn(layout, 0, 'queryNorm')}.weight`, ['d_head'])[0];
  const d_head = normWidth || queries / heads;
  const keyHeads = keys / d_head;
  if (heads * d_head !== queries || ![d_head, keyHeads, heads / keyHeads].every(Number.isInteger)) {
    throw new RangeError(
      `config.json gives ${heads} heads, which do not fit queries of ${queries} and keys of ${keys} channels.`,
    );
  }
  return { keyHeads, d_head };
}

/** The width of the MLP, which is that of its first layer. */
function innerWidth({ checkpoint, layout }: RunnableModel): number {
  const { descriptor, d_model } = layout;
  const { transposed } = descriptor.tensors;
  const shape = shapeOf(
    checkpoint.tensors,
    `${nameIn(layout, 0, 'down')}.weight`,
    transposed ? ['inner', d_model] : [d_model, 'inner'],
  );
  return shape[transposed ? 0 : 1] as number;
}

/** The sizes of a layer's maps. */
function mapSizes(model: RunnableModel): Record<MapName, MapSize> {
  const { layout, heads } = model;
  const { keyHeads, d_head } = headSizes(model);
  const [d, inner, queries, keys] = [layout.d_model, innerWidth(model), heads * d_head, keyHeads * d_head];
  return {
    query: [queries, d],
    key: [keys, d],
    value: [keys, d],
    output: [d, queries],
    up: [inner, d],
    gate: [inner, d],
    down: [d, inner],
  };
}

/** Where a model's layers come from. Throws RangeError if the file lacks the first one. */
export function layerSource(model: RunnableModel, superpose: Superpose): LayerSource {
  const { checkpoint, layout, heads } = model;
  present(checkpoint.tensors, `${nameIn(layout, 0, 'down')}.weight`);
  const bytes = fileBytes(model);
  const { d_head, keyHeads } = headSizes(model);
  const hasGate = layout.descriptor.tensors.layer.gate !== undefined;
  const { gate, ...maps } = mapSizes(model);
  const sizes = [...Object.values(maps), ...(hasGate ? [gate] : [])];
  return {
    layers: model.layers,
    inner: innerWidth(model) * (hasGate ? 2 : 1),
    layerBytes: model.layerBytes,
    bytesInMemory: sizes.reduce((sum, [out, into]) => sum + 4 * out * into, 0),
    async begin(watch) {
      checkLayers(model, bytes.size);
      const { tensors, norms, activation, causal } = layout.descriptor;
      const read = layerTensors(checkpoint, watch);
      const normOf = async (name: string | undefined) =>
        name === undefined ? undefined : read.norm(model, layout.prefix + name);
      const embeddingNorm = await normOf(tensors.embeddingNorm);
      const finalNorm = await normOf(tensors.finalNorm);
      return superpose.transformerStack({
        d_model: layout.d_model,
        heads,
        keyHeads,
        d_head,
        causal,
        norm: norms.place,
        activation: activationIn(model.config, activation),
        ...(embeddingNorm && { embeddingNorm }),
        ...(finalNorm && { finalNorm }),
      });
    },
    layer: (number, watch) => readLayer(model, superpose, number, watch),
    bytes: (number) => bytes.get(number) ?? 0,
  };
}

/** The norms of a layer, and how to read its maps. */
async function readLayer(model: RunnableModel, superpose: Superpose, number: number, watch: CountedWatch) {
  const { checkpoint, layout } = model;
  const { tensors, positions } = layout.descriptor;
  const { d_head } = headSizes(model);
  const sizes = mapSizes(model);
  const read = layerTensors(checkpoint, watch);
  // Maps of one tensor share its reader, and so are read together.
  const readers = new Map<string, ReadTensor>();
  const readerOf = ({ name }: MapPlace): ReadTensor => {
    const reader: ReadTensor =
      readers.get(name) ??
      ((visit) =>
        checkpoint.blocks(`${name}.weight`, watch, (block, from) => {
          check.singles(`${name}.weight`, block.data);
          visit(block, from);
        }));
    readers.set(name, reader);
    return reader;
  };
  const map = async (part: MapName): Promise<ReadMap> => {
    const mapped = mapPlace(model, number, part, sizes[part]);
    const { name, out, into, place, of, transposed } = mapped;
    const weight = { rows: out, columns: into, read: readerOf(mapped) };
    const bias = await read.biasOf(mapped);
    check.singles(`${name}.bias`, bias);
    return { weight, ...(bias && { bias }), place, of, transposed };
  };
  const norm = (part: Parameters<typeof nameIn>[2], width?: number) =>
    read.norm(model, nameIn(layout, number, part), width);
  return {
    query: await map('query'),
    key: await map('key'),
    value: await map('value'),
    output: await map('output'),
    attentionNorm: await norm('attentionNorm'),
    up: await map('up'),
    down: await map('down'),
    mlpNorm: await norm('mlpNorm'),
    ...(tensors.layer.gate && { gate: await map('gate') }),
    ...(tensors.layer.queryNorm && { queryNorm: await norm('queryNorm', d_head) }),
    ...(tensors.layer.keyNorm && { keyNorm: await norm('keyNorm', d_head) }),
    ...(positions.kind === 'rotary' && {
      rotary: { frequencies: frequenciesOf(model.config, superpose, positions.base, d_head) },
    }),
  };
}

/** By how many radians each pair of channels is rotated per position. */
function frequenciesOf(
  config: Config,
  { rotaryFrequencies }: Superpose,
  member: Member<number>,
  d_head: number,
): Float64Array {
  const { base, stretch } = anglesIn(config, member);
  if (d_head % 2 !== 0) {
    throw new RangeError(`The ${d_head} channels of a head are rotated in pairs; their number must be even.`);
  }
  return rotaryFrequencies({ d_head, base, ...(stretch && { stretch }) });
}

/** Throws RangeError where config.json does not say what the layers do, or contradicts the tensors. */
function checkLayers(model: RunnableModel, layersWithTensors: number): void {
  const { checkpoint, layout, config } = model;
  const { sizes, positions } = layout.descriptor;
  if (positions.kind === 'rotary' && config.model_type == null) {
    throw new RangeError(
      'Without a config.json with a model_type, nothing says what the layers do with their positions. Put it beside the file.',
    );
  }
  const { d_head, keyHeads } = headSizes(model);
  const layers = layersIn(checkpoint.tensors, layout);
  checkSizes(config, {
    [sizes.layers]: layers,
    [sizes.inner]: innerWidth(model),
    ...(sizes.keyHeads && { [sizes.keyHeads]: keyHeads }),
    ...(sizes.d_head && { [sizes.d_head]: d_head }),
  });
  // A gap between layers must not be taken for the end of the model.
  if (layersWithTensors > layers) present(checkpoint.tensors, `${nameIn(layout, layers, 'down')}.weight`);
}

/**
 * The bytes of each layer in the files, counted in one pass because a file may have thousands of layers and
 * tensors.
 */
function fileBytes({
  checkpoint,
  layout,
}: Pick<RunnableModel, 'checkpoint' | 'layout'>): ReadonlyMap<number, number> {
  const { layers, ignored = [] } = layout.descriptor.tensors;
  const beginning = `${layout.prefix}${layers}.`;
  const ignoredInLayers = new Set(ignored.map((name) => name.split('#.')[1]));
  const bytes = new Map<number, number>();
  for (const { name, begin, end } of checkpoint.tensors.values()) {
    if (!name.startsWith(beginning)) continue;
    const [, layer, behind] = name.slice(beginning.length).match(/^(\d+)\.(.*)$/) ?? [];
    if (layer === undefined || ignoredInLayers.has(behind)) continue;
    bytes.set(Number(layer), (bytes.get(Number(layer)) ?? 0) + end - begin);
  }
  return bytes;
}

function activationIn(config: Config, { member, default: usual }: Member<string>): ActivationName {
  const name = config[member] ?? usual;
  const activation =
    typeof name === 'string' && Object.hasOwn(activations, name) ? activations[name] : undefined;
  if (activation) return activation;
  throw new RangeError(
    `config.json names the activation ${check.shown(name)}; ${listed(Object.keys(activations))} can be run here.`,
  );
}
