// All layers of an opened model, read one after another and run by the whole module.

import * as check from '../check.js';
import { listed } from '../listed.js';
import type { Superpose } from '../whole.js';
import { anglesIn } from './angles.js';
import type { Config } from './family.js';
import type { Opened } from './firstLayer.js';
import type { StackSource } from './resident.js';
import type { MapName } from './stackLayer.js';
import {
  layersIn,
  type MapSize,
  nameIn,
  placeOf,
  present,
  refuseSizes,
  shapeOf,
  tensorsOf,
} from './tensors.js';
import type { ActivationName, ReadMap, ReadTensor } from './transformerStack.js';

/** By config.json's names. */
const activations: Readonly<Record<string, ActivationName>> = {
  gelu: 'gelu',
  gelu_new: 'gelu_tanh',
  gelu_pytorch_tanh: 'gelu_tanh',
  relu: 'relu',
  silu: 'silu',
};

/** Heads of keys, which several heads of queries may share, and the width of a head. */
export function headsOf({ checkpoint, layout, heads }: Pick<Opened, 'checkpoint' | 'layout' | 'heads'>): {
  keyHeads: number;
  d_head: number;
} {
  const { facts, d_model } = layout;
  if (facts.tables.position) return { keyHeads: heads, d_head: d_model / heads };
  const rows = (part: 'query' | 'key') =>
    shapeOf(checkpoint.tensors, `${nameIn(layout, 0, part)}.weight`, ['rows', d_model])[0] as number;
  const [ofQueries, ofKeys] = [rows('query'), rows('key')];
  const normed =
    facts.layer.queryNorm &&
    shapeOf(checkpoint.tensors, `${nameIn(layout, 0, 'queryNorm')}.weight`, ['d_head'])[0];
  const d_head = normed || ofQueries / heads;
  const keyHeads = ofKeys / d_head;
  if (heads * d_head !== ofQueries || ![d_head, keyHeads, heads / keyHeads].every(Number.isInteger))
    throw new RangeError(
      `config.json gives ${heads} heads, which do not fit queries of ${ofQueries} and keys of ${ofKeys} channels.`,
    );
  return { keyHeads, d_head };
}

/** The MLP's width, which is that of its first layer. */
function innerOf({ checkpoint, layout }: Opened): number {
  const { facts, d_model } = layout;
  const name = `${nameIn(layout, 0, 'down')}.weight`;
  const wanted = facts.transposed ? (['inner', d_model] as const) : ([d_model, 'inner'] as const);
  return shapeOf(checkpoint.tensors, name, wanted)[facts.transposed ? 0 : 1] as number;
}

/** The sizes of a layer’s maps. */
function sizesOf(opened: Opened): Record<MapName, MapSize> {
  const { layout, heads } = opened;
  const { keyHeads, d_head } = headsOf(opened);
  const [d, inner, wide, narrow] = [layout.d_model, innerOf(opened), heads * d_head, keyHeads * d_head];
  return {
    query: [wide, d],
    key: [narrow, d],
    value: [narrow, d],
    output: [d, wide],
    up: [inner, d],
    gate: [inner, d],
    down: [d, inner],
  };
}

/** The model’s layers; their maps are read when they are added. */
export function ownLayers(opened: Opened, superpose: Superpose): StackSource {
  const { checkpoint, layout, config, heads } = opened;
  const { facts, d_model, prefix } = layout;
  present(checkpoint.tensors, `${nameIn(layout, 0, 'down')}.weight`);
  const sizes = bytesIn(opened);
  const { d_head, keyHeads } = headsOf(opened);
  return {
    async begin(watch) {
      refuseContradictions(opened, sizes.size);
      const of = tensorsOf(checkpoint, watch);
      const { embeddingNorm, finalNorm, causal } = facts;
      const norm = (name: string) => of.norm(opened, prefix + name);
      return superpose.transformerStack({
        d_model,
        heads,
        keyHeads,
        d_head,
        causal,
        norm: finalNorm ? 'pre' : 'post',
        activation: activationIn(config, facts.activation),
        ...(embeddingNorm && { embeddingNorm: await norm(embeddingNorm) }),
        ...(finalNorm && { finalNorm: await norm(finalNorm) }),
      });
    },
    async layer(number, watch) {
      const of = tensorsOf(checkpoint, watch);
      // Maps of one tensor are read together.
      const blocks = new Map<string, ReadTensor>();
      const sizes = sizesOf(opened);
      const map = async (part: MapName): Promise<ReadMap> => {
        const found = placeOf(opened, number, part, sizes[part]);
        const { name, out, into, place, of: count, transposed } = found;
        const read: ReadTensor =
          blocks.get(name) ??
          ((visit) =>
            checkpoint.blocks(`${name}.weight`, watch, (block, from) => {
              check.singles(`${name}.weight`, block.data);
              visit(block, from);
            }));
        blocks.set(name, read);
        const bias = await of.biasOf(found);
        check.singles(`${name}.bias`, bias);
        const weight = { rows: out, columns: into, read };
        return { weight, ...(bias && { bias }), place, of: count, transposed };
      };
      const norm = (part: Parameters<typeof nameIn>[2], width?: number) =>
        of.norm(opened, nameIn(layout, number, part), width);
      return {
        query: await map('query'),
        key: await map('key'),
        value: await map('value'),
        output: await map('output'),
        attentionNorm: await norm('attentionNorm'),
        up: await map('up'),
        down: await map('down'),
        mlpNorm: await norm('mlpNorm'),
        ...(facts.layer.gate && { gate: await map('gate') }),
        ...(facts.layer.queryNorm && { queryNorm: await norm('queryNorm', d_head) }),
        ...(facts.layer.keyNorm && { keyNorm: await norm('keyNorm', d_head) }),
        ...(facts.angles && {
          rotary: { frequencies: frequenciesOf(opened, superpose, facts.angles, d_head) },
        }),
      };
    },
    bytes: (number) => sizes.get(number) ?? 0,
  };
}

/** By how many radians a position turns each pair of channels. */
function frequenciesOf(
  { config }: Opened,
  { rotaryFrequencies }: Superpose,
  angles: readonly [string, number],
  d_head: number,
): Float64Array {
  const { base, stretch } = anglesIn(config, angles);
  if (d_head % 2 !== 0)
    throw new RangeError(`The ${d_head} channels of a head turn in pairs; their number must be even.`);
  return rotaryFrequencies({ d_head, base, ...(stretch && { stretch }) });
}

/** Throws where config.json does not say what the layers do, or says what the tensors do not. */
function refuseContradictions(opened: Opened, highest: number): void {
  const { checkpoint, layout, config } = opened;
  const { sizes, angles, transposed } = layout.facts;
  if (angles && config.model_type == null)
    throw new RangeError(
      'Without a config.json with a model_type, nothing says what the layers do with their positions. Put it beside the file.',
    );
  const { d_head, keyHeads } = headsOf(opened);
  const { shape } = present(checkpoint.tensors, `${nameIn(layout, 0, 'down')}.weight`);
  const layers = layersIn(opened);
  refuseSizes(config, {
    [sizes.layers]: layers,
    [sizes.inner]: shape[transposed ? 0 : 1],
    ...(sizes.keyHeads && { [sizes.keyHeads]: keyHeads }),
    ...(sizes.d_head && { [sizes.d_head]: d_head }),
  });
  // A gap is no end.
  if (highest > layers) present(checkpoint.tensors, `${nameIn(layout, layers, 'down')}.weight`);
}

/** The bytes of each layer, in one pass: a file may have thousands of both. */
function bytesIn({ checkpoint, layout }: Pick<Opened, 'checkpoint' | 'layout'>): ReadonlyMap<number, number> {
  const { prefix, facts } = layout;
  const before = `${prefix}${facts.stack}.`;
  const besides = new Set((facts.besides ?? []).map((name) => name.split('#.')[1]));
  const sizes = new Map<number, number>();
  for (const { name, begin, end } of checkpoint.tensors.values()) {
    const [, layer, own] =
      (name.startsWith(before) && name.slice(before.length).match(/^(\d+)\.(.*)$/)) || [];
    if (layer === undefined || besides.has(own)) continue;
    sizes.set(Number(layer), (sizes.get(Number(layer)) ?? 0) + end - begin);
  }
  return sizes;
}

function activationIn(config: Config, [member, usual]: readonly [string, string]): ActivationName {
  const name = config[member] ?? usual;
  const found = typeof name === 'string' && Object.hasOwn(activations, name) ? activations[name] : undefined;
  if (found) return found;
  throw new RangeError(
    `config.json names the activation ${check.shown(name)}; ${listed(Object.keys(activations))} can be run here.`,
  );
}
