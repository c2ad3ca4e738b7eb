// A layer on its way into an encoder: checked, and its maps placed or read.
import * as check from '../check.js';
import type { Linear, Table } from '../table.js';
import type { LayerRotary, ReadLayer, ReadMap, ReadTensor } from './encoderTypes.js';
import type { HeldEncoder } from './heldEncoder.js';

const mapNames = ['query', 'key', 'value', 'output', 'up', 'gate', 'down'] as const;
/** A map of a layer. */
export type MapName = (typeof mapNames)[number];

const isRead = (map: unknown): map is ReadMap =>
  typeof (map as ReadMap | undefined)?.weight?.read === 'function';

/** The maps that a layer has, checked where they are whole. */
function checkedMaps(encoder: HeldEncoder, layer: ReadLayer) {
  const { d, ofQueries, ofKeys } = encoder;
  check.object('layer', layer);
  const inner = layer.up?.weight?.rows;
  const shape: Record<MapName, check.Extents> = {
    query: { rows: ofQueries, columns: d },
    key: { rows: ofKeys, columns: d },
    value: { rows: ofKeys, columns: d },
    output: { rows: d, columns: ofQueries },
    up: { columns: d },
    gate: { rows: inner, columns: d },
    down: { rows: d, columns: inner },
  };
  const maps: [name: MapName, map: Linear | ReadMap][] = [];
  let [bytes, copied] = [0, 0];
  for (const name of mapNames) {
    const map = layer[name];
    if (name === 'gate' && map === undefined) continue;
    if (!isRead(map)) {
      const { weight, bias } = check.linear(name, map, shape[name]);
      check.singles(`${name}.weight.data`, weight.data);
      check.singles(`${name}.bias`, bias);
      copied = Math.max(copied, 4 * weight.data.length);
    }
    const found = map as Linear | ReadMap;
    maps.push([name, found]);
    bytes += found.weight.rows * found.weight.columns * 4;
  }
  return { maps, inner: inner as number, bytes, copied };
}

/** Adds a layer: its maps are placed whole, or while they are read. When that fails, nothing of it stays. */
export async function addedLayer(encoder: HeldEncoder, layer: ReadLayer): Promise<void> {
  const { raw, d, d_head, normOf } = encoder;
  const address = encoder.address();
  if (encoder.newest?.isThrough === false)
    throw new Error('A forward of this encoder is under way; add a layer after it.');
  const { maps, inner, bytes, copied } = checkedMaps(encoder, layer);
  const checked = {
    attentionNorm: normOf('attentionNorm', layer.attentionNorm, d),
    mlpNorm: normOf('mlpNorm', layer.mlpNorm, d),
    queryNorm: normOf('queryNorm', layer.queryNorm, d_head),
    keyNorm: normOf('keyNorm', layer.keyNorm, d_head),
    frequencies: checkedRotary(layer.rotary, d_head),
  };
  // While a map is placed, a copy exists beside what stays.
  check.fits(`A layer of ${d} channels`, bytes + copied);
  encoder.hold(bytes);
  try {
    const tensors = new Map<ReadTensor, MapName[]>();
    const read = (name: MapName, rows: Table, from: number) =>
      raw.readEncoderMap(encoder.address(), name, rows, from);
    for (const [name, map] of maps) {
      const { rows, columns } = map.weight;
      const alone = { place: 0, of: 1, transposed: false };
      raw.beginEncoderMap(address, name, rows, columns, map.bias ?? [], isRead(map) ? map : alone);
      if (!isRead(map)) read(name, map.weight, 0);
      else tensors.set(map.weight.read, [...(tensors.get(map.weight.read) ?? []), name]);
    }
    for (const [tensor, names] of tensors)
      await tensor((block, from) => {
        for (const name of names) read(name, block, from);
      });
    raw.addEncoderLayer(encoder.address(), checked);
  } catch (error) {
    encoder.hold(-bytes);
    encoder.stop();
    throw error;
  }
  encoder.widest = Math.max(encoder.widest, (layer.gate ? 2 : 1) * inner);
  encoder.layers += 1;
}

function checkedRotary(given: LayerRotary | undefined, d_head: number) {
  if (given === undefined) return undefined;
  check.object('rotary', given);
  const frequencies = check.floats('rotary.frequencies', given.frequencies);
  const most = Math.floor(d_head / 2);
  if (frequencies.length < 1 || frequencies.length > most) {
    const pairs =
      most === 0
        ? 'no values: a head of 1 channel has no pair'
        : `from 1 to ${most} values, one for each pair of a head’s ${d_head} channels`;
    check.refuseCount('rotary.frequencies', pairs, frequencies.length);
  }
  return frequencies;
}
