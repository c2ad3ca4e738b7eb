// A layer on its way into a transformer stack: checked, and its maps placed or read.
import * as check from '../check.js';
import type { Linear, Table } from '../table.js';
import type { ResidentStack } from './residentStack.js';
import type { LayerRotary, ReadLayer, ReadMap, ReadTensor } from './transformerStackTypes.js';

const mapNames = ['query', 'key', 'value', 'output', 'up', 'gate', 'down'] as const;
/** A map of a layer. */
export type MapName = (typeof mapNames)[number];

const isRead = (map: unknown): map is ReadMap =>
  typeof (map as ReadMap | undefined)?.weight?.read === 'function';

/** Checks a map that is read later: its shape, where it is in its tensor, and its bias. */
function checkRead(name: string, map: ReadMap, shape: check.Extents): void {
  check.knownOptions(name, map, { weight: true, bias: true, place: true, of: true, transposed: true });
  check.knownOptions(`${name}.weight`, map.weight, { rows: true, columns: true, read: true });
  check.extents(`${name}.weight`, map.weight, shape);
  check.integer(`${name}.of`, map.of, 1);
  check.index(`${name}.place`, map.place, map.of);
  check.flag(`${name}.transposed`, map.transposed);
  if (map.bias !== undefined) check.floats(`${name}.bias`, map.bias, map.weight.rows);
  check.singles(`${name}.bias`, map.bias);
}

/** The maps that a layer has, checked where they are whole; those that are read, as far as is known. */
function checkedMaps(stack: ResidentStack, layer: ReadLayer) {
  const { d, ofQueries, ofKeys } = stack;
  check.knownOptions('layer', layer, {
    query: true,
    key: true,
    value: true,
    output: true,
    attentionNorm: true,
    up: true,
    gate: true,
    down: true,
    mlpNorm: true,
    queryNorm: true,
    keyNorm: true,
    rotary: true,
  });
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
    if (isRead(map)) checkRead(name, map, shape[name]);
    else {
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
export async function addedLayer(stack: ResidentStack, layer: ReadLayer): Promise<void> {
  const { raw, d, d_head, normOf } = stack;
  const address = stack.address();
  if (stack.newest?.isThrough === false)
    throw new Error('A forward pass of this transformer stack is running. Add layers when it has ended.');
  const { maps, inner, bytes, copied } = checkedMaps(stack, layer);
  const checked = {
    attentionNorm: normOf('attentionNorm', layer.attentionNorm, d),
    mlpNorm: normOf('mlpNorm', layer.mlpNorm, d),
    queryNorm: normOf('queryNorm', layer.queryNorm, d_head),
    keyNorm: normOf('keyNorm', layer.keyNorm, d_head),
    frequencies: checkedRotary(layer.rotary, d_head),
  };
  // While a map is placed, a copy exists beside what stays.
  check.fits(`A layer of ${d} channels`, bytes + copied);
  stack.hold(bytes);
  try {
    const tensors = new Map<ReadTensor, [name: MapName, map: ReadMap][]>();
    const read = (name: MapName, rows: Table, from: number) =>
      raw.readEncoderMap(stack.address(), name, rows, from);
    for (const [name, map] of maps) {
      const { rows, columns } = map.weight;
      const alone = { place: 0, of: 1, transposed: false };
      raw.beginEncoderMap(address, name, rows, columns, map.bias ?? [], isRead(map) ? map : alone);
      if (!isRead(map)) read(name, map.weight, 0);
      else tensors.set(map.weight.read, [...(tensors.get(map.weight.read) ?? []), [name, map]]);
    }
    for (const [tensor, maps] of tensors) {
      await readWhole(tensor, maps, (block, from) => {
        for (const [name] of maps) read(name, block, from);
      });
    }
    raw.addEncoderLayer(stack.address(), checked);
  } catch (error) {
    stack.hold(-bytes);
    stack.stop();
    throw error;
  }
  stack.widest = Math.max(stack.widest, (layer.gate ? 2 : 1) * inner);
  stack.layers += 1;
}

/** The extents of the tensor that a map is read from. */
const extentsOf = ({
  weight: { rows, columns },
  of,
  transposed,
}: ReadMap): [rows: number, columns: number] => (transposed ? [columns, of * rows] : [of * rows, columns]);

/** Reads a tensor to its end, and refuses blocks that are not its next rows: the module trusts their shapes. */
async function readWhole(
  tensor: ReadTensor,
  maps: readonly [name: MapName, map: ReadMap][],
  visit: Parameters<ReadTensor>[0],
): Promise<void> {
  const [rows, columns] = extentsOf(maps[0]?.[1] as ReadMap);
  for (const [name, map] of maps) {
    if (String(extentsOf(map)) === String([rows, columns])) continue;
    throw new RangeError(
      `${name} is read from a tensor of ${extentsOf(map).join(' by ')}, and another map from the same one of ${rows} by ${columns}.`,
    );
  }
  const name = `${maps[0]?.[0]}.weight.read`;
  let next = 0;
  await tensor((block, from) => {
    check.table(`A block of ${name}`, block, { columns });
    if (from !== next || from + block.rows > rows)
      throw new RangeError(
        `${name} must go on with row ${next} of ${rows}; it gives ${check.counted(block.rows, 'row')} from row ${check.shown(from)} on.`,
      );
    next += block.rows;
    visit(block, from);
  });
  if (next < rows) check.refuseCount(name, `all ${check.counted(rows, 'row')} of its tensor`, next);
}

function checkedRotary(given: LayerRotary | undefined, d_head: number) {
  if (given === undefined) return undefined;
  check.knownOptions('rotary', given, { frequencies: true });
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
